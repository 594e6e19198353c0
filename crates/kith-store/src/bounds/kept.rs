//! What is kept beside draws, as bytes.

use std::collections::BTreeMap;

use kith::ids::FaceId;
use kith::model::face::Odd;
use kith::predict::KeptBounds;

use crate::codec;
use crate::ids::FaceRow;
use crate::snapshot::Rows;

/// What is kept beside draws, for the model that it was made with.
pub(super) struct Kept {
    pub(super) model: u32,
    pub(super) odd: Vec<(FaceRow, Odd, FaceRow)>,
    pub(super) bounds: KeptBounds,
}

impl Kept {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 40 * self.odd.len() + 4 * self.bounds.values.len());
        out.extend(self.model.to_le_bytes());
        out.extend(self.bounds.digest.to_le_bytes());
        out.extend((self.odd.len() as u32).to_le_bytes());
        for (face, odd, look_alike) in &self.odd {
            out.extend(face.0.to_le_bytes());
            [odd.ln_p, odd.ln_usual, odd.ln_density].iter().for_each(|value| out.extend(value.to_le_bytes()));
            out.extend(look_alike.0.to_le_bytes());
        }
        self.bounds.values.iter().for_each(|value| out.extend(value.to_le_bytes()));
        out
    }

    /// `None` for bytes that are nothing of the kind.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let model = u32::from_le_bytes(next(&mut bytes)?);
        let digest = u64::from_le_bytes(next(&mut bytes)?);
        let n_odd = u32::from_le_bytes(next(&mut bytes)?);
        let mut odd = Vec::new();
        for _ in 0..n_odd {
            let face = FaceRow(i64::from_le_bytes(next(&mut bytes)?));
            let mut number = || Some(f64::from_le_bytes(next(&mut bytes)?));
            let (ln_p, ln_usual, ln_density) = (number()?, number()?, number()?);
            let look_alike = FaceRow(i64::from_le_bytes(next(&mut bytes)?));
            odd.push((face, Odd { ln_p, ln_usual, ln_density, look_alike: FaceId(0) }, look_alike));
        }
        Some(Self { model, odd, bounds: KeptBounds { digest, values: codec::from_bytes(bytes) } })
    }

    /// What may be odd about faces.
    pub(super) fn odd(&self, rows: &Rows) -> Option<BTreeMap<FaceId, Odd>> {
        let of_face = |&(face, odd, look_alike): &(FaceRow, Odd, FaceRow)| {
            Some((rows.face_of(face)?, Odd { look_alike: rows.face_of(look_alike)?, ..odd }))
        };
        self.odd.iter().map(of_face).collect()
    }
}

fn next<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}
