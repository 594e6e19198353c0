//! Numbers as bytes: embeddings as little-endian `f32`, seats as varints of differences of ids.

/// An embedding as it is stored.
pub fn to_bytes(embedding: &[f32]) -> Vec<u8> {
    embedding.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// An embedding as it was stored.
pub fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|chunk| f32::from_le_bytes(chunk.try_into().expect("four bytes"))).collect()
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

/// The pairs that were packed; `None` for bytes that are no pairs.
pub fn unpack<R: From<i64>>(bytes: &[u8]) -> Option<Vec<(R, u32)>> {
    let (mut out, mut at, mut last) = (Vec::new(), 0, 0i64);
    while at < bytes.len() {
        let step = take(bytes, &mut at)?;
        let number = take(bytes, &mut at)?;
        last = last.checked_add(i64::try_from(step).ok()?)?;
        out.push((R::from(last), u32::try_from(number).ok()?));
    }
    Some(out)
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
        assert_eq!(unpack(&bytes), Some(pairs));
        assert_eq!(unpack::<i64>(&bytes[..bytes.len() - 1]), None);
        assert_eq!(unpack::<i64>(&[0xff; 12]), None);
        assert_eq!(unpack::<i64>(&[]), Some(vec![]));
    }
}
