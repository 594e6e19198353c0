//! A library that cannot be written: looked at as it is on the disk, or read from a copy in memory.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::library::{beside, explained, the_file};
use crate::schema::{self, APPLICATION_ID};
use crate::{Library, StoreError};

/// The library itself; nobody can write it, so nobody will, and no lock is asked for.
pub(crate) fn on_disk(path: &Path) -> Result<Library, StoreError> {
    refuse_unfinished(path)?;
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(uri(path), flags).map_err(|error| explained(path, &error))?;
    let library = Library::of(connection, path);
    refuse_another_version(&library, "main", false)?;
    Ok(library)
}

/// A copy in memory: what is worked out there is forgotten at the end.
pub(crate) fn in_memory(path: &Path) -> Result<Library, StoreError> {
    refuse_unfinished(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags("file::memory:", flags).map_err(|error| explained(path, &error))?;
    let library = Library::of(connection, path);
    library.run(|| library.connection.execute("ATTACH ?1 AS disk", [&uri(path)]))?;
    refuse_another_version(&library, "disk", true)?;
    library.run(|| {
        let connection = &library.connection;
        schema::migrate(connection, 0)?;
        connection.pragma_update(None, "foreign_keys", false)?;
        for table in schema::TABLES {
            // Versions differ in tables alone.
            let is_there = "SELECT count(*) FROM disk.sqlite_master WHERE name = ?1";
            if connection.query_row(is_there, [table], |row| row.get::<_, i64>(0))? == 0 {
                continue;
            }
            connection.execute(&format!("INSERT INTO main.{table} SELECT * FROM disk.{table}"), [])?;
        }
        connection.execute_batch("DETACH disk")?;
        connection.pragma_update(None, "foreign_keys", true)
    })?;
    Ok(library)
}

/// Refuses a library of which a part is not in the file itself.
fn refuse_unfinished(path: &Path) -> Result<(), StoreError> {
    if beside(&the_file(path), "-wal").metadata().is_ok_and(|found| found.len() > 0) {
        let message = "found LIB-wal beside it, which a kith that ended early left, wanted to write: open it \
             once where it can be written";
        return Err(StoreError::Database { path: path.to_owned(), message: message.to_owned() });
    }
    Ok(())
}

fn refuse_another_version(library: &Library, database: &str, may_be_older: bool) -> Result<(), StoreError> {
    let path = library.path().to_owned();
    let number = |pragma: &str| {
        let query = format!("PRAGMA {database}.{pragma}");
        library.run(|| library.connection.query_row(&query, [], |row| row.get::<_, i64>(0)))
    };
    let (id, version) = (number("application_id")?, number("user_version")?);
    if id != i64::from(APPLICATION_ID) {
        let found = "a database of another program".to_owned();
        return Err(StoreError::NotALibrary { path, found });
    }
    let wanted = schema::VERSION;
    if version > wanted {
        return Err(StoreError::Newer { path, found: version, wanted });
    }
    if version < wanted && !may_be_older {
        let message = format!(
            "found schema version {version} where nothing can be written, wanted {wanted}: open it once \
             elsewhere"
        );
        return Err(StoreError::Database { path, message });
    }
    Ok(())
}

/// A path as SQLite opens what will not change.
fn uri(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped: String = bytes
        .map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("file:{escaped}?immutable=1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewFace, NewFrame};

    #[test]
    fn a_library_that_cannot_be_written_is_read_from_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a library? 100%.kith");
        let writer = Library::open_or_create(&path).unwrap();
        let face =
            |k: i16| NewFace { key: k.to_string(), embedding: vec![k.into(), 2.0], ..NewFace::default() };
        let frames = [1, 2, 3].map(|k| NewFrame { faces: vec![face(k)], ..NewFrame::default() });
        writer.add(&frames, None).unwrap();
        let said = crate::Saying {
            kind: crate::Kind::Name,
            face: crate::FaceRow(1),
            other: None,
            name: Some("Zo\u{eb}"),
        };
        writer.say("me", &[said]).unwrap();
        // What is not in the file itself yet cannot be read without writing.
        let refused = in_memory(&path).unwrap_err().to_string();
        assert!(refused.contains("LIB-wal"), "{refused}");
        drop(writer);
        let before = std::fs::read(&path).unwrap();
        let reader = in_memory(&path).unwrap();
        assert_eq!(reader.snapshot().unwrap().rows.keys[..], ["1", "2", "3"]);
        assert_eq!(reader.log().unwrap().len(), 1);
        crate::Believed::open(&reader).unwrap();
        assert_eq!(reader.people().unwrap()[0].name.as_deref(), Some("Zo\u{eb}"));
        assert_eq!(reader.check().unwrap().faults, [""; 0]);
        drop(reader);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
    }

    #[test]
    fn a_library_that_cannot_be_written_is_checked_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a library? 100%.kith");
        let writer = Library::open_or_create(&path).unwrap();
        let face = NewFace { key: "a".into(), embedding: vec![1.0, 2.0], ..NewFace::default() };
        writer.add(&[NewFrame { faces: vec![face], ..NewFrame::default() }], None).unwrap();
        drop(writer);
        let before = std::fs::read(&path).unwrap();
        let library = on_disk(&path).unwrap();
        let checked = library.check().unwrap();
        assert_eq!((checked.faults, checked.counts[0]), (vec![], ("faces", 1)));
        let refused = library.set(crate::meta::SEED, 7).unwrap_err();
        assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
        drop(library);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
        // What is wrong with the file is found there.
        let spoilt = Connection::open(&path).unwrap();
        spoilt
            .execute_batch("PRAGMA foreign_keys = OFF; UPDATE faces SET frame = 99, embedding = x'00'")
            .unwrap();
        drop(spoilt);
        let faults = on_disk(&path).unwrap().check().unwrap().faults;
        assert_eq!(faults.len(), 4, "{faults:?}");
        assert!(faults.iter().any(|fault| fault.contains("another length")), "{faults:?}");
    }
}
