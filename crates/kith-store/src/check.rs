//! Whether a library is sound: the database, every reference, every embedding, every draw.

use crate::{Library, StoreError};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Faces, frames, people, entries of the log, draws.
    pub counts: Vec<(&'static str, i64)>,
    /// What is wrong, one line each.
    pub faults: Vec<String>,
}

impl Library {
    /// Reads everything and says what is wrong.
    pub fn check(&self) -> Result<Checked, StoreError> {
        let connection = &self.connection;
        let mut checked = Checked::default();
        for table in ["faces", "frames", "people", "evidence", "chains", "draws"] {
            let query = format!("SELECT count(*) FROM {table}");
            let n = self.run(|| connection.query_row(&query, [], |row| row.get(0)))?;
            checked.counts.push((table, n));
        }
        let lines = |query: &str| -> Result<Vec<String>, StoreError> {
            self.run(|| connection.prepare(query)?.query_map([], |row| row.get(0))?.collect())
        };
        let sound = lines("PRAGMA integrity_check(10)")?;
        checked.faults.extend(sound.into_iter().filter(|line| line != "ok"));
        let broken: Vec<(String, Option<i64>)> = self.run(|| {
            let mut query = connection.prepare("PRAGMA foreign_key_check")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        checked.faults.extend(broken.into_iter().map(|(table, row)| {
            format!("{table} row {}: refers to something that is not there", row.unwrap_or_default())
        }));
        if let Some(dimension) = self.dimension()? {
            let query = format!("SELECT key FROM faces WHERE length(embedding) != {}", 4 * dimension);
            let wanted = format!("wanted {dimension} numbers");
            checked.faults.extend(
                lines(&query)?
                    .iter()
                    .map(|key| format!("face {key}: found an embedding of another length, {wanted}")),
            );
        }
        let lonely = "SELECT CAST(id AS TEXT) FROM frames WHERE id NOT IN (SELECT frame FROM faces)";
        checked.faults.extend(lines(lonely)?.iter().map(|id| format!("frame row {id}: has no face")));
        let about = "SELECT CAST(id AS TEXT) FROM evidence WHERE CASE kind \
                     WHEN 'name' THEN face IS NULL OR name IS NULL WHEN 'not' THEN face IS NULL OR name IS NULL \
                     WHEN 'ignore' THEN face IS NULL WHEN 'undo' THEN undoes IS NULL WHEN 'redo' THEN undoes IS NULL \
                     ELSE face IS NULL OR other IS NULL END";
        checked.faults.extend(lines(about)?.iter().map(|id| format!("evidence {id}: does not say of what")));
        if checked.counts[0].1 > 0 && checked.faults.is_empty() {
            let rows = self.snapshot()?.rows;
            let aside = |(face, why): &(String, _)| format!("face {face}: {why}; it is set aside");
            checked.faults.extend(rows.set_aside.iter().map(aside));
            for found in [self.memories(&rows).err(), self.draws(&rows).err()].into_iter().flatten() {
                checked.faults.push(found.to_string());
            }
        }
        Ok(checked)
    }
}
