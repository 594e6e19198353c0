//! Numbers as bytes: embeddings as little-endian `f32`, seats as varints of differences of ids.

/// An embedding as it is stored.
pub fn to_bytes(embedding: &[f32]) -> Vec<u8> {
    embedding.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// An embedding as it was stored.
pub fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    numbers(bytes).collect()
}

/// Its numbers, one by one.
pub fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk))
}

/// Pairs (id, number), the ids ascending.
pub fn pack<R: Into<i64>>(pairs: impl Iterator<Item = (R, u32)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut last = 0i64;
    for (row, number) in pairs {
        let id = row.into();
        put(&mut out, (id - last) as u64);
        put(&mut out, u64::from(number));
        last = id;
    }
    out
}

/// The pairs that were packed, one by one; `None` is what is no pair, and the end.
pub fn pairs<R: From<i64>>(bytes: &[u8]) -> impl Iterator<Item = Option<(R, u32)>> {
    let (mut at, mut last) = (0, 0i64);
    let mut next = move || {
        let (step, number) = (take(bytes, &mut at)?, take(bytes, &mut at)?);
        last = last.checked_add(i64::try_from(step).ok()?)?;
        Some((R::from(last), u32::try_from(number).ok()?, at))
    };
    let (mut read, mut is_over) = (0, false);
    std::iter::from_fn(move || {
        if is_over || read == bytes.len() {
            return None;
        }
        let pair = next();
        (read, is_over) = (pair.as_ref().map_or(0, |pair| pair.2), pair.is_none());
        Some(pair.map(|(row, number, _)| (row, number)))
    })
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_survive_packing_and_other_bytes_are_refused() {
        let pairs = vec![(1i64, 0), (2, 300), (1_000_000_007, u32::MAX), (i64::MAX, 5)];
        let bytes = pack(pairs.iter().copied());
        let unpack = |bytes: &[u8]| super::pairs::<i64>(bytes).collect::<Option<Vec<_>>>();
        assert_eq!(unpack(&bytes), Some(pairs));
        assert_eq!(unpack(&bytes[..bytes.len() - 1]), None);
        assert_eq!(unpack(&[0xff; 12]), None);
        assert_eq!(unpack(&[]), Some(vec![]));
    }
}
