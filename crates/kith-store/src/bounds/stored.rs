//! Bounds in the library: read where they are of its model and as they were stored, and kept.

use kith::predict::KeptBounds;

use super::kept::{self, Kept, Odds};
use crate::meta::{MODEL, SETTINGS};
use crate::sums::Of;
use crate::{Library, StoreError};

/// Bounds as they are to be stored.
pub(super) enum BoundsNow {
    All(Vec<u8>),
    /// Those of groups that came since all were stored.
    Since(Vec<u8>),
}

impl Library {
    /// What says whether bounds are of the model that is there, and kept as they are kept now.
    pub(crate) fn model_sum(&self) -> Result<u32, StoreError> {
        let texts = [self.get(MODEL)?, self.get(SETTINGS)?].map(Option::unwrap_or_default);
        Ok(crc32fast::hash([&texts.join("\n"), kept::LAYOUT].concat().as_bytes()))
    }

    /// What is kept beside the draws, unless it is of another model, or not as it was stored: then it is made
    /// again. What is odd is known by the last part.
    pub(super) fn kept_bounds(&self) -> Result<Option<(Odds, Vec<KeptBounds>)>, StoreError> {
        let sums = self.sums(Of::Bounds)?;
        let parts: Option<Vec<Kept>> = self.run(|| {
            let mut query = self.connection.prepare("SELECT id, body FROM bounds ORDER BY id")?;
            let part = |row: &rusqlite::Row<'_>| {
                let (id, bytes) = (row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
                Ok(Kept::from_bytes(bytes).filter(|_| sums.agree(id, bytes)))
            };
            query.query_map([], part)?.collect()
        })?;
        let Some(mut parts) = parts else {
            self.note(
                "the library's bounds cannot be read; all faces are, and bounds are made again".to_owned(),
            );
            return Ok(None);
        };
        let sum = self.model_sum()?;
        let Some(last) = parts.last_mut() else { return Ok(None) };
        let odds = Odds { model: last.model, odd: std::mem::take(&mut last.odd) };
        let are_of_model = parts.iter().all(|part| part.model == sum);
        Ok(are_of_model.then(|| (odds, parts.into_iter().map(|part| part.bounds).collect())))
    }

    /// Keeps bounds, inside the caller's transaction.
    pub(super) fn put_bounds(&self, bounds: &BoundsNow) -> Result<(), StoreError> {
        let (of_others, body) = match bounds {
            BoundsNow::All(body) => ("DELETE FROM bounds", body),
            BoundsNow::Since(body) => ("DELETE FROM bounds WHERE id > (SELECT min(id) FROM bounds)", body),
        };
        self.run(|| {
            self.connection.execute(of_others, [])?;
            self.connection.execute("INSERT INTO bounds (body) VALUES (?1)", [body])
        })?;
        self.seal(Of::Bounds, self.connection.last_insert_rowid(), body)
    }

    /// How many bounds are not as they were stored.
    pub(crate) fn n_spoilt(&self, of: Of) -> Result<usize, StoreError> {
        let query = if of == Of::Bounds {
            "SELECT id, body FROM bounds"
        } else {
            "SELECT number, body FROM envelopes"
        };
        let sums = self.sums(of)?;
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            let is_spoilt = |row: &rusqlite::Row<'_>| {
                let (number, body) = body_of(row)?;
                let is_read = of != Of::Bounds || Kept::from_bytes(&body).is_some();
                Ok(!(is_read && sums.agree(number, &body)))
            };
            let spoilt: Vec<bool> = query.query_map([], is_spoilt)?.collect::<rusqlite::Result<_>>()?;
            Ok(spoilt.into_iter().filter(|&is_spoilt| is_spoilt).count())
        })
    }
}

/// A row's number and its body; what is no blob is no body.
fn body_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, Vec<u8>)> {
    Ok((row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default().to_vec()))
}
