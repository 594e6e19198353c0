//! The largest JPEG inside a RAW file, found by its markers.

/// The largest JPEG among the bytes; cameras keep a preview as large as the picture, or nearly.
pub fn preview(bytes: &[u8]) -> Option<&[u8]> {
    let mut best: Option<&[u8]> = None;
    let mut at = 0;
    while let Some(offset) = bytes.get(at..)?.windows(3).position(|part| part == [0xff, 0xd8, 0xff]) {
        let start = at + offset;
        at = start + 2;
        if let Some(length) = length(&bytes[start..]) {
            let found = &bytes[start..start + length];
            if best.is_none_or(|best| best.len() < found.len()) {
                best = Some(found);
            }
            at = start + length;
        }
    }
    best
}

/// Whether a JPEG has its end; what was cut off on its way is decoded as far as it goes.
pub fn is_whole(bytes: &[u8]) -> bool {
    length(bytes).is_some()
}

/// How long the JPEG is that begins here; lossless ones, in which some cameras keep the RAW data, do not
/// count.
fn length(bytes: &[u8]) -> Option<usize> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        at += 2;
        match marker {
            0xd9 => return Some(at),
            0xff => at -= 1,
            0x01 | 0xd0..=0xd7 => {}
            0xc3 => return None,
            _ => {
                at += usize::from(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
                if marker == 0xda {
                    at = end_of_scan(bytes, at)?;
                }
            }
        }
    }
}

/// The first marker after coded data that is not part of it.
fn end_of_scan(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0xff)?;
        match *bytes.get(at + 1)? {
            0 | 0xd0..=0xd7 => at += 2,
            _ => return Some(at),
        }
    }
}
