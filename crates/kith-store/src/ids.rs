//! Rows of the library's tables, each kind a type of its own: a person is never taken for a face.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

macro_rules! row {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<i64> for $name {
            fn from(row: i64) -> Self {
                Self(row)
            }
        }

        impl From<$name> for i64 {
            fn from(row: $name) -> Self {
                row.0
            }
        }
    };
}

row!(
    /// A face.
    FaceRow
);
row!(
    /// A photo.
    PhotoRow
);
row!(
    /// A frame.
    FrameRow
);
row!(
    /// A name.
    NameRow
);
row!(
    /// A person: it stays the same when learning goes on.
    PersonId
);
row!(
    /// What somebody said at once, and can take back at once.
    ActId
);
row!(
    /// An entry of the log.
    EntryId
);

impl std::str::FromStr for EntryId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
