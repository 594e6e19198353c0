//! The tables, their version, and the steps from older versions to this one. FORMAT.md explains each table.

use rusqlite::Connection;

use crate::sums::seal_all;

/// "kith" in ASCII: says whose database it is.
pub const APPLICATION_ID: i32 = 0x6b69_7468;

/// Step k brings a library from version k to k + 1.
const STEPS: [&str; 6] = [VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6];

/// All tables.
pub const TABLES: [&str; 17] = [
    "meta",
    "contexts",
    "names",
    "frames",
    "faces",
    "evidence",
    "people",
    "members",
    "chains",
    "draws",
    "bases",
    "bounds",
    "envelopes",
    "photos",
    "thumbnails",
    "sidecars",
    "sums",
];

/// The version that this program writes.
pub const VERSION: i64 = STEPS.len() as i64;

/// Makes or updates all tables, inside the caller's transaction.
pub fn migrate(connection: &Connection, from: i64) -> rusqlite::Result<()> {
    for step in &STEPS[from as usize..] {
        connection.execute_batch(step)?;
    }
    // Checksums came with version 3.
    if from < 3 {
        seal_all(connection)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}

const VERSION_1: &str = "
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE contexts (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE names (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE frames (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    key     TEXT UNIQUE,
    context INTEGER REFERENCES contexts (id),
    time    TEXT,
    source  TEXT
);

CREATE TABLE faces (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    key       TEXT NOT NULL UNIQUE,
    frame     INTEGER NOT NULL REFERENCES frames (id),
    embedding BLOB NOT NULL,
    box       TEXT,
    quality   TEXT,
    source    TEXT,
    other     TEXT
);
CREATE INDEX faces_of_frame ON faces (frame);

CREATE TABLE evidence (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    act    INTEGER NOT NULL,
    at     REAL NOT NULL,
    by     TEXT NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('name', 'not', 'same', 'different', 'ignore', 'undo', 'redo')),
    face   INTEGER REFERENCES faces (id),
    other  INTEGER REFERENCES faces (id),
    name   INTEGER REFERENCES names (id),
    undoes INTEGER
);
CREATE INDEX evidence_of_face ON evidence (face);
CREATE INDEX evidence_of_other ON evidence (other);
CREATE INDEX evidence_of_name ON evidence (name);

CREATE TABLE people (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    name   INTEGER REFERENCES names (id),
    name_p REAL NOT NULL DEFAULT 0
);
CREATE INDEX people_of_name ON people (name);

CREATE TABLE members (
    face   INTEGER PRIMARY KEY REFERENCES faces (id),
    person INTEGER NOT NULL REFERENCES people (id),
    p      REAL NOT NULL
);
CREATE INDEX members_of_person ON members (person);

CREATE TABLE chains (
    number INTEGER PRIMARY KEY,
    body   BLOB NOT NULL
);

CREATE TABLE draws (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    body BLOB NOT NULL
);
";

const VERSION_2: &str = "
CREATE TABLE photos (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    key         TEXT NOT NULL UNIQUE,
    frame       INTEGER REFERENCES frames (id),
    path        TEXT NOT NULL,
    size        INTEGER NOT NULL,
    modified    INTEGER NOT NULL,
    hash        TEXT NOT NULL,
    width       INTEGER NOT NULL,
    height      INTEGER NOT NULL,
    orientation INTEGER NOT NULL,
    time        TEXT,
    latitude    REAL,
    longitude   REAL,
    camera      TEXT,
    is_gone     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX photos_of_frame ON photos (frame);
CREATE INDEX photos_of_hash ON photos (hash);

CREATE TABLE thumbnails (
    face INTEGER PRIMARY KEY REFERENCES faces (id),
    jpeg BLOB NOT NULL
);

CREATE TABLE sidecars (
    photo  INTEGER PRIMARY KEY REFERENCES photos (id) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    before TEXT,
    after  TEXT NOT NULL
);
";

const VERSION_3: &str = "
CREATE TABLE sums (
    of  TEXT NOT NULL,
    row INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (of, row)
) WITHOUT ROWID;
CREATE TRIGGER sum_of_face AFTER DELETE ON faces BEGIN DELETE FROM sums WHERE of = 'faces' AND row = OLD.id; \
END;
CREATE TRIGGER sum_of_chain AFTER DELETE ON chains BEGIN DELETE FROM sums WHERE of = 'chains' AND row = \
OLD.number; END;
CREATE TRIGGER sum_of_draw AFTER DELETE ON draws BEGIN DELETE FROM sums WHERE of = 'draws' AND row = OLD.id; \
END;
";

/// The picture that somebody chose, and what was meant so, came into the log: they were values in `meta`.
const VERSION_4: &str = "
CREATE TABLE said (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    act    INTEGER NOT NULL,
    at     REAL NOT NULL,
    by     TEXT NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN
           ('name', 'not', 'same', 'different', 'ignore', 'picture', 'meant', 'undo', 'redo')),
    face   INTEGER REFERENCES faces (id),
    other  INTEGER REFERENCES faces (id),
    name   INTEGER REFERENCES names (id),
    undoes INTEGER
);
INSERT INTO said SELECT * FROM evidence;
DELETE FROM sqlite_sequence WHERE name = 'said';
INSERT INTO sqlite_sequence (name, seq) SELECT 'said', seq FROM sqlite_sequence WHERE name = 'evidence';
DROP TABLE evidence;
ALTER TABLE said RENAME TO evidence;
CREATE INDEX evidence_of_face ON evidence (face);
CREATE INDEX evidence_of_other ON evidence (other);
CREATE INDEX evidence_of_name ON evidence (name);

INSERT INTO evidence (act, at, by, kind, face)
SELECT (SELECT coalesce(max(act), 0) FROM evidence) + row_number() OVER (ORDER BY chosen.value),
       strftime('%s', 'now'), 'page', 'picture', chosen.value
FROM meta, json_each(CASE WHEN json_valid(meta.value) THEN meta.value ELSE '{}' END) AS chosen
WHERE meta.key = 'pictures' AND chosen.value IN (SELECT id FROM faces);
INSERT INTO evidence (act, at, by, kind, face, other, name)
SELECT (SELECT coalesce(max(act), 0) FROM evidence) + row_number() OVER (ORDER BY entry.id),
       strftime('%s', 'now'), 'page', 'meant', entry.face, entry.other, entry.name
FROM meta, json_each(CASE WHEN json_valid(meta.value) THEN meta.value ELSE '[]' END) AS meant
JOIN evidence AS entry ON entry.id = meant.value
WHERE meta.key = 'meant';
DELETE FROM meta WHERE key IN ('pictures', 'meant');
";

/// Bounds of what the groups of all draws say of a face, which go with the draws.
const VERSION_5: &str = "
CREATE TABLE bounds (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    body BLOB NOT NULL
);
CREATE TABLE envelopes (
    number INTEGER PRIMARY KEY,
    body   BLOB NOT NULL
);
CREATE TRIGGER bounds_of_draws AFTER DELETE ON draws BEGIN DELETE FROM bounds; DELETE FROM envelopes; END;
CREATE TRIGGER sum_of_bounds AFTER DELETE ON bounds BEGIN DELETE FROM sums WHERE of = 'bounds' AND row = \
OLD.id; END;
CREATE TRIGGER sum_of_envelope AFTER DELETE ON envelopes
BEGIN DELETE FROM sums WHERE of = 'envelopes' AND row = OLD.number; END;
";

/// Lists that chains and draws are written by, which go with the last of them.
const VERSION_6: &str = "
CREATE TABLE bases (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    body BLOB NOT NULL
);
CREATE TRIGGER bases_of_draws AFTER DELETE ON draws
WHEN NOT EXISTS (SELECT 1 FROM draws) AND NOT EXISTS (SELECT 1 FROM chains) BEGIN DELETE FROM bases; END;
CREATE TRIGGER bases_of_chains AFTER DELETE ON chains
WHEN NOT EXISTS (SELECT 1 FROM draws) AND NOT EXISTS (SELECT 1 FROM chains) BEGIN DELETE FROM bases; END;
CREATE TRIGGER sum_of_base AFTER DELETE ON bases BEGIN DELETE FROM sums WHERE of = 'bases' AND row = OLD.id; \
END;
";

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::{Believed, Kind, Library, PhotoRow, read_only};

    /// A library as version `version` left it: the golden one of version 1 with the steps until then, and a row
    /// of everything that they brought.
    fn left_by(version: i64, folder: &Path) -> PathBuf {
        let path = folder.join(format!("version-{version}"));
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/full.kith"), &path).unwrap();
        let file = Connection::open(&path).unwrap();
        for step in &STEPS[1..version as usize] {
            file.execute_batch(step).unwrap();
        }
        if version >= 2 {
            let photo =
                "INSERT INTO photos (key, frame, path, size, modified, hash, width, height, orientation) \
                         VALUES ('a.jpg', 1, '/a.jpg', 1, 1, 'h', 4, 3, 1);
                         INSERT INTO thumbnails VALUES (1, x'ffd8');
                         INSERT INTO sidecars VALUES (1, '/a.xmp', NULL, '<x/>')";
            file.execute_batch(photo).unwrap();
        }
        if version >= 3 {
            seal_all(&file).unwrap();
        }
        if version >= 4 {
            let chosen =
                "INSERT INTO evidence (act, at, by, kind, face) VALUES (99, 1.7e9, 'page', 'picture', 3)";
            file.execute_batch(chosen).unwrap();
        }
        file.pragma_update(None, "user_version", version).unwrap();
        path
    }

    /// What is to be in it, whoever opened it.
    fn assert_whole(library: &Library, version: i64) {
        let kinds: Vec<Kind> = library.log().unwrap().iter().map(|entry| entry.kind).collect();
        assert_eq!(
            (kinds.len(), kinds.contains(&Kind::Picture)),
            (9 + usize::from(version >= 4), version >= 4)
        );
        let people = library.people().unwrap();
        assert_eq!((people.len(), people[0].name.as_deref()), (6, Some("Ann")), "{version}");
        assert_eq!(library.n_photos().unwrap(), usize::from(version >= 2));
        if version >= 2 {
            assert_eq!(library.photo(PhotoRow(1)).unwrap().unwrap().key, "a.jpg");
        }
        let snapshot = library.snapshot().unwrap();
        let draws = library.draws(&snapshot.rows).unwrap().expect("the draws are current");
        assert_eq!(Believed::open(library).unwrap().belief.draws(), draws, "{version}: none is made anew");
        assert_eq!(library.check().unwrap().faults, [""; 0], "{version}");
    }

    #[test]
    fn libraries_of_every_earlier_version_are_read_where_they_cannot_be_written_and_grow_up_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        for version in 1..VERSION {
            let path = left_by(version, folder.path());
            let before = std::fs::read(&path).unwrap();
            assert_whole(&read_only::in_memory(&path).unwrap(), version);
            let refused = read_only::on_disk(&path).unwrap_err().to_string();
            assert!(refused.contains(&format!("found schema version {version}")), "{refused}");
            assert!(std::fs::read(&path).unwrap() == before, "{version}: reading changes nothing");

            let library = Library::open(&path).unwrap();
            assert_whole(&library, version);
            let n =
                |query: &str| -> i64 { library.connection.query_row(query, [], |row| row.get(0)).unwrap() };
            assert_eq!(n("PRAGMA user_version"), VERSION);
            let sealed = "SELECT count(*) FROM sums";
            assert_eq!(
                n(sealed),
                n("SELECT count(*) FROM faces") + 2 + 18,
                "{version}: chains and draws too"
            );
        }
    }
}
