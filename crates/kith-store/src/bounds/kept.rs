//! What is kept beside draws, as bytes.

use std::collections::{BTreeMap, BTreeSet};

use kith::ids::FaceId;
use kith::model::face::Odd;
use kith::predict::KeptBounds;

use crate::codec;
use crate::ids::FaceRow;
use crate::snapshot::Rows;

/// Another text whenever bytes are laid out otherwise.
pub(super) const LAYOUT: &str = "groups by their faces";

/// What is kept beside draws, for the model that it was made with: of the groups that there were when all
/// were kept, or of those that came since.
pub(super) struct Kept {
    pub(super) model: u32,
    pub(super) odd: Vec<(FaceRow, Odd, FaceRow)>,
    pub(super) bounds: KeptBounds,
}

impl Kept {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let KeptBounds { groups, envelopes, values } = &self.bounds;
        let mut out = Vec::with_capacity(64 + 40 * self.odd.len() + 12 * groups.len() + 4 * values.len());
        out.extend(self.model.to_le_bytes());
        out.extend((self.odd.len() as u32).to_le_bytes());
        for (face, odd, look_alike) in &self.odd {
            out.extend(face.0.to_le_bytes());
            [odd.ln_p, odd.ln_usual, odd.ln_density].iter().for_each(|value| out.extend(value.to_le_bytes()));
            out.extend(look_alike.0.to_le_bytes());
        }
        out.extend((groups.len() as u32).to_le_bytes());
        groups.iter().for_each(|key| out.extend(key.to_le_bytes()));
        envelopes.iter().for_each(|number| out.extend(number.to_le_bytes()));
        values.iter().for_each(|value| out.extend(value.to_le_bytes()));
        out
    }

    /// `None` for bytes that are nothing of the kind.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let model = u32::from_le_bytes(next(&mut bytes)?);
        let n_odd = u32::from_le_bytes(next(&mut bytes)?);
        let mut odd = Vec::new();
        for _ in 0..n_odd {
            let face = FaceRow(i64::from_le_bytes(next(&mut bytes)?));
            let mut number = || Some(f64::from_le_bytes(next(&mut bytes)?));
            let (ln_p, ln_usual, ln_density) = (number()?, number()?, number()?);
            let look_alike = FaceRow(i64::from_le_bytes(next(&mut bytes)?));
            odd.push((face, Odd { ln_p, ln_usual, ln_density, look_alike: FaceId(0) }, look_alike));
        }
        let n_groups = u32::from_le_bytes(next(&mut bytes)?) as usize;
        let (keys, rest) = bytes.split_at_checked(n_groups.checked_mul(8)?)?;
        let (numbers, values) = rest.split_at_checked(4 * n_groups)?;
        let groups = keys.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let envelopes = numbers.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        Some(Self { model, odd, bounds: KeptBounds { groups, envelopes, values: codec::from_bytes(values) } })
    }
}

/// What may be odd about faces, under a model.
pub(super) struct Odds {
    pub(super) model: u32,
    pub(super) odd: Vec<(FaceRow, Odd, FaceRow)>,
}

impl Odds {
    /// What may be odd about faces that are there, and those that it is to be found out of anew: what they
    /// look like is there no more.
    pub(super) fn odd(&self, rows: &Rows) -> (BTreeMap<FaceId, Odd>, BTreeSet<FaceId>) {
        let (mut known, mut again) = (BTreeMap::new(), BTreeSet::new());
        for &(face, odd, look_alike) in &self.odd {
            match (rows.face_of(face), rows.face_of(look_alike)) {
                (Some(face), Some(look_alike)) => _ = known.insert(face, Odd { look_alike, ..odd }),
                (Some(face), None) => _ = again.insert(face),
                (None, _) => {}
            }
        }
        (known, again)
    }
}

fn next<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}
