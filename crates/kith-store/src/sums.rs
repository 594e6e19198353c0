//! Checksums of embeddings and of what is remembered: a byte that a disk has changed is noticed.

use std::collections::HashMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{Library, StoreError};

/// What has a checksum: the table that its row is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Face,
    Chain,
    Draw,
    Base,
    Bounds,
    Envelope,
}

impl Of {
    fn table(self) -> &'static str {
        match self {
            Self::Face => "faces",
            Self::Chain => "chains",
            Self::Draw => "draws",
            Self::Base => "bases",
            Self::Bounds => "bounds",
            Self::Envelope => "envelopes",
        }
    }

    /// Whether bytes are those that were stored. Those of which nothing is known are believed where an
    /// earlier version may have stored them; bases and bounds are younger than checksums.
    fn agrees(self, sum: Option<Sum>, bytes: &[u8]) -> bool {
        match sum {
            Some(sum) => sum == Some(crc32fast::hash(bytes)),
            None => !matches!(self, Self::Base | Self::Bounds | Self::Envelope),
        }
    }
}

/// A checksum, where that is what the table has.
type Sum = Option<u32>;

/// Reads a checksum; of any other value, none.
fn sum_of(value: ValueRef<'_>) -> Sum {
    value.as_i64().ok().and_then(|sum| sum.try_into().ok())
}

/// The checksums of one table, by row.
pub(crate) struct Sums(Of, HashMap<i64, Sum>);

impl Sums {
    /// Whether the bytes of a row are those that were stored; see [`Of::agrees`].
    pub(crate) fn agree(&self, row: i64, bytes: &[u8]) -> bool {
        self.0.agrees(self.1.get(&row).copied(), bytes)
    }
}

impl Library {
    /// Keeps the checksum of a row that was just written, inside the caller's transaction.
    pub(crate) fn seal(&self, of: Of, row: i64, bytes: &[u8]) -> Result<(), StoreError> {
        self.run(|| seal(&self.connection, of, row, bytes))
    }

    /// Whether the bytes of one row are those that were stored, as [`Sums::agree`].
    pub(crate) fn agrees(&self, of: Of, row: i64, bytes: &[u8]) -> bool {
        let sum = self.run(|| {
            let mut query =
                self.connection.prepare_cached("SELECT sum FROM sums WHERE of = ?1 AND row = ?2")?;
            query.query_row(params![of.table(), row], |row| Ok(sum_of(row.get_ref(0)?))).optional()
        });
        sum.is_ok_and(|sum| of.agrees(sum, bytes))
    }

    /// The checksums of a table. A library of an earlier version that cannot be written has none.
    pub(crate) fn sums(&self, of: Of) -> Result<Sums, StoreError> {
        self.run(|| {
            let mut query = self.connection.prepare_cached("SELECT row, sum FROM sums WHERE of = ?1")?;
            let sums = query.query_map([of.table()], |row| Ok((row.get(0)?, sum_of(row.get_ref(1)?))))?;
            sums.collect::<rusqlite::Result<_>>().map(|sums| Sums(of, sums))
        })
    }
}

fn seal(connection: &Connection, of: Of, row: i64, bytes: &[u8]) -> rusqlite::Result<()> {
    let insert = "INSERT OR REPLACE INTO sums (of, row, sum) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(insert)?.execute(params![of.table(), row, crc32fast::hash(bytes)])?;
    Ok(())
}

/// Gives everything a checksum that an earlier version wrote without, inside the migration's transaction.
pub(crate) fn seal_all(connection: &Connection) -> rusqlite::Result<()> {
    let columns = [(Of::Face, "id, embedding"), (Of::Chain, "number, body"), (Of::Draw, "id, body")];
    for (of, columns) in columns {
        let mut query = connection.prepare(&format!("SELECT {columns} FROM {}", of.table()))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            seal(connection, of, row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Believed, Forget, NewFace, NewFrame};

    fn library(folder: &tempfile::TempDir) -> Library {
        let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
        let face = |k: i16| NewFace {
            key: format!("f{k}"),
            embedding: vec![f32::from(k % 2) * 4.0 + 0.01 * f32::from(k), 1.5],
            ..NewFace::default()
        };
        let frames: Vec<NewFrame> =
            (0..8).map(|k| NewFrame { faces: vec![face(k)], ..NewFrame::default() }).collect();
        library.add(&frames, None).unwrap();
        Believed::open(&library).unwrap();
        library
    }

    #[test]
    fn a_flipped_bit_of_an_embedding_is_noticed_and_the_face_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(&folder);
        assert_eq!(library.check().unwrap().faults, [""; 0]);
        let flip =
            "UPDATE faces SET embedding = CAST(x'0000a03f' || substr(embedding, 5) AS BLOB) WHERE key = 'f3'";
        library.connection.execute(flip, []).unwrap();
        let faults = library.check().unwrap().faults;
        assert_eq!(faults, ["face f3: found an embedding that is not the one that was stored"]);
        library.take_notes();
        let believed = Believed::open(&library).unwrap();
        assert_eq!(believed.rows.keys.len(), 7, "the others are there");
        assert!(library.take_notes()[0].starts_with("face f3: found an embedding that is not the one"));
    }

    #[test]
    fn an_embedding_or_a_sum_that_is_no_such_thing_keeps_nobody_from_coming() {
        let changes = [
            "UPDATE faces SET embedding = 'words' WHERE key = 'f3'",
            "UPDATE faces SET embedding = 7 WHERE key = 'f3'",
            "UPDATE sums SET sum = 'words' WHERE of = 'faces' AND row = 4",
            "UPDATE sums SET sum = x'00' WHERE of = 'faces' AND row = 4",
        ];
        for change in changes {
            let folder = tempfile::tempdir().unwrap();
            let library = library(&folder);
            library.connection.execute(change, []).unwrap();
            let faults = library.check().unwrap().faults;
            let told = "face f3: found an embedding that is not the one that was stored";
            assert!(faults.iter().any(|fault| fault == told), "{change}: {faults:?}");
            let face = NewFace { key: "new".to_owned(), embedding: vec![4.0, 1.5], ..NewFace::default() };
            library.add(&[NewFrame { faces: vec![face], ..NewFrame::default() }], None).unwrap();
            assert_eq!(Believed::open(&library).unwrap().rows.keys.len(), 8, "{change}");
        }
    }

    #[test]
    fn chains_and_draws_whose_bits_flipped_are_learnt_again() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(&folder);
        let n = |table: &str| -> i64 {
            let query = format!("SELECT count(*) FROM {table}");
            library.connection.query_row(&query, [], |row| row.get(0)).unwrap()
        };
        assert!(n("chains") > 0 && n("sums") == n("faces") + n("chains") + n("draws") + n("bases"));
        // A seat of the first list: what can be read, and is not what was written.
        for table in ["chains", "draws"] {
            let flip = format!(
                "UPDATE {table} SET body = CAST(substr(body, 1, 5) || x'01' || substr(body, 7) AS BLOB)"
            );
            library.connection.execute(&flip, []).unwrap();
        }
        let faults = library.check().unwrap().faults;
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].contains("of the chains that cannot be read"), "{faults:?}");
        let believed = Believed::open(&library).unwrap();
        assert_eq!(believed.rows.keys.len(), 8);
        assert!(library.take_notes().iter().any(|note| note.contains("are thrown away")));
        assert_eq!(library.check().unwrap().faults, [""; 0], "they were learnt and written again");
        library.forget(&Forget::Face("f0".to_owned()), false).unwrap();
        assert_eq!(n("bases"), 0);
        assert_eq!(n("sums"), n("faces") + n("chains") + n("draws"), "sums go with their rows");
    }
}
