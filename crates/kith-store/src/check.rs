//! Whether a library is sound: the database, every reference, and everything that any verb would read of it.

use std::collections::BTreeSet;

use kith::target::Target;

use crate::meta::{BACKGROUND, BELIEVED, EMBEDDING, MODEL_FACES, SEED, UNWIPED};
use crate::schema::TABLES;
use crate::sums::Of;
use crate::{Library, StoreError};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Faces, frames, people, entries of the log, chains, draws.
    pub counts: Vec<(&'static str, i64)>,
    /// What is wrong, one line each.
    pub faults: Vec<String>,
}

impl Checked {
    /// What something that was read came to, or one more fault.
    fn note<T>(&mut self, read: Result<T, StoreError>) -> Option<T> {
        let ends = ["; nothing was changed", "; `kith check` says more"];
        let told = |error: StoreError| ends.iter().fold(error.to_string(), |line, end| line.replace(end, ""));
        read.map_err(|error| self.faults.push(told(error))).ok()
    }
}

impl Library {
    /// Reads everything and says what is wrong.
    pub fn check(&self) -> Result<Checked, StoreError> {
        let mut checked = Checked::default();
        let others = TABLES.iter().filter(|table| !COUNTED.contains(table));
        for &table in COUNTED.iter().chain(others) {
            let query = format!("SELECT count(*) FROM {table}");
            let n = checked.note(self.run(|| self.connection.query_row(&query, [], |row| row.get(0))));
            checked.counts.push((table, n.unwrap_or(0)));
        }
        checked.counts.truncate(COUNTED.len());
        // Without its tables nothing else can be asked.
        if checked.faults.is_empty() {
            let found = self.check_rows(&mut checked);
            checked.note(found);
            self.check_reading(&mut checked);
        }
        Ok(checked)
    }

    /// The database and every reference in it.
    fn check_rows(&self, checked: &mut Checked) -> Result<(), StoreError> {
        let connection = &self.connection;
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
            let query =
                format!("SELECT key FROM faces WHERE length(embedding) != {}", dimension.saturating_mul(4));
            let wanted = format!("wanted {dimension} numbers");
            checked.faults.extend(
                lines(&query)?
                    .iter()
                    .map(|key| format!("face {key}: found an embedding of another length, {wanted}")),
            );
        }
        let lonely = "SELECT CAST(id AS TEXT) FROM frames WHERE id NOT IN (SELECT frame FROM faces)";
        checked.faults.extend(lines(lonely)?.iter().map(|id| format!("frame row {id}: has no face")));
        let about = "SELECT CAST(id AS TEXT) FROM evidence WHERE CASE kind WHEN 'name' THEN face IS NULL OR \
                     name IS NULL WHEN 'not' THEN face IS NULL OR name IS NULL WHEN 'ignore' THEN face IS \
                     NULL WHEN 'picture' THEN face IS NULL WHEN 'meant' THEN face IS NULL WHEN 'undo' THEN \
                     undoes IS NULL WHEN 'redo' THEN undoes IS NULL ELSE face IS NULL OR other IS NULL END";
        checked.faults.extend(lines(about)?.iter().map(|id| format!("evidence {id}: does not say of what")));
        // Beyond that SQLite gives no more ids, and nothing can be added.
        let spent = "SELECT CAST(name AS TEXT) FROM sqlite_sequence \
                     WHERE typeof(seq) != 'integer' OR seq NOT BETWEEN 0 AND 1000000000000000";
        let mut spent: BTreeSet<String> = lines(spent)?.into_iter().collect();
        // What was written past that count is as much in the way.
        for table in NUMBERED {
            let last = format!("SELECT '{table}' FROM {table} WHERE id > 1000000000000000 LIMIT 1");
            spent.extend(lines(&last)?);
        }
        spent.extend(lines("SELECT 'evidence' FROM evidence WHERE act > 1000000000000000 LIMIT 1")?);
        checked.faults.extend(spent.iter().map(|table| format!("{table}: found no ids left to give")));
        Ok(())
    }

    /// What the verbs would read, as they do.
    fn check_reading(&self, checked: &mut Checked) {
        checked.note(self.get(SEED));
        checked.note(self.get(BELIEVED));
        checked.note(self.get(EMBEDDING));
        checked.note(self.get(MODEL_FACES));
        checked.note(self.get(BACKGROUND));
        checked.note(self.log());
        checked.note(self.people());
        if checked.note(self.get(UNWIPED)).flatten().is_some() {
            checked.faults.push("bytes of what was forgotten are still in the file".to_owned());
        }
        for (table, of) in [("chains", Of::Chain), ("draws", Of::Draw)] {
            if let Some((_, n)) = checked.note(self.readable_bodies(of)).filter(|(_, n)| *n > 0) {
                let again = "`kith learn` throws them away and learns them again";
                checked.faults.push(format!("found {n} of the {table} that cannot be read; {again}"));
            }
        }
        for of in [Of::Bounds, Of::Envelope] {
            if let Some(n) = checked.note(self.n_spoilt(of)).filter(|n| *n > 0) {
                checked.faults.push(format!(
                    "found {n} of the bounds that cannot be read; `kith learn` makes them again"
                ));
            }
        }
        if checked.counts.iter().all(|&(table, n)| table != "faces" || n == 0) {
            return;
        }
        let Some(snapshot) = checked.note(self.snapshot()) else { return };
        checked.faults.extend(snapshot.rows.set_aside.iter().cloned());
        checked.note(self.columns(&snapshot.rows));
        checked.note(self.person_of_faces(&snapshot.rows));
        checked.note(self.draws(&snapshot.rows));
        checked.note(self.settings());
        if let Some(Some(model)) = checked.note(self.stored_model(&snapshot.data)) {
            checked.note(Target::new(model, snapshot.data).map_err(StoreError::from));
        }
    }
}

/// Tables whose rows have ids that are never given twice.
const NUMBERED: [&str; 10] =
    ["contexts", "names", "frames", "faces", "evidence", "people", "draws", "bases", "bounds", "photos"];

/// Tables whose rows are counted for people.
const COUNTED: [&str; 6] = ["faces", "frames", "people", "evidence", "chains", "draws"];
