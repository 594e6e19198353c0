//! Photos: which files faces come from, whether they are still there, and what they look like.

use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Value, json};

use crate::faces::{Added, NewFace, NewFrame};
use crate::ids::{FaceRow, PhotoRow};
use crate::log::{self, Kind, Saying};
use crate::meta::{BACKGROUND, BELIEVED, DIMENSION, EMBEDDING, MODEL, MODEL_FACES};
use crate::{Library, StoreError};

/// A photo that was looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewPhoto {
    /// The id that people use.
    pub key: String,
    /// Where it is.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// When it or what lies beside it was changed, in nanoseconds since 1970.
    pub modified: i64,
    /// A digest of its content.
    pub hash: String,
    /// Width and height of the upright picture.
    pub pixels: (usize, usize),
    /// EXIF's orientation of the stored picture.
    pub orientation: u8,
    /// When it was taken, as its file says.
    pub time: Option<String>,
    /// Latitude and longitude.
    pub place: Option<(f64, f64)>,
    /// With what.
    pub camera: Option<String>,
    /// Its faces, each with a small JPEG.
    pub faces: Vec<(NewFace, Vec<u8>)>,
}

/// A photo of the library.
#[derive(Clone, Debug, PartialEq)]
pub struct Photo {
    /// Its row.
    pub row: PhotoRow,
    /// The id that people use.
    pub key: String,
    /// Where it was last.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// When it or what lies beside it was changed.
    pub modified: i64,
    /// A digest of its content.
    pub hash: String,
    /// Width and height of the upright picture.
    pub pixels: (usize, usize),
    /// EXIF's orientation of the stored picture.
    pub orientation: u8,
    /// Whether it was not there when it was last looked for.
    pub is_gone: bool,
}

/// A face of a photo.
#[derive(Clone, Debug, PartialEq)]
pub struct PhotoFace {
    /// The face's row.
    pub row: FaceRow,
    /// The id that people use.
    pub key: String,
    /// Left, top, width and height as parts of the upright picture.
    pub bounds: [f32; 4],
}

/// A name that another program left at a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The face's row.
    pub face: FaceRow,
    /// Who.
    pub name: String,
    /// What kind of file or field says so.
    pub source: String,
}

/// A sidecar that kith wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    /// The photo's row.
    pub photo: PhotoRow,
    /// Where.
    pub path: String,
    /// What was there before; nothing where there was no file.
    pub before: Option<String>,
    /// What was written.
    pub after: String,
}

/// A face with the embedding of another network.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// The face's row.
    pub face: FaceRow,
    /// Its new embedding.
    pub embedding: Vec<f32>,
}

impl NewPhoto {
    fn frame(&self) -> NewFrame {
        NewFrame {
            key: Some(self.key.clone()),
            time: self.time.clone(),
            context: None,
            source: Some(self.path.clone()),
            faces: self.faces.iter().map(|(face, _)| face.clone()).collect(),
        }
    }
}

impl Library {
    /// Adds photos with their faces, or none of them.
    pub fn add_photos(&self, photos: &[NewPhoto], pipeline: &str) -> Result<Added, StoreError> {
        self.write(|_| {
            let mut added = Added::default();
            let act = log::next_act(self)?;
            for photo in photos {
                if !photo.faces.is_empty() {
                    self.check_network(Some(pipeline))?;
                    self.add_frame(&photo.frame(), act, &mut added)?;
                }
                self.add_photo(photo)?;
            }
            Ok(added)
        })
    }

    fn add_photo(&self, photo: &NewPhoto) -> Result<(), StoreError> {
        let connection = &self.connection;
        let insert = "INSERT INTO photos (key, frame, path, size, modified, hash, width, height, orientation, time, \
                      latitude, longitude, camera) VALUES (?1, (SELECT id FROM frames WHERE key = ?1), ?2, ?3, ?4, ?5, \
                      ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let (latitude, longitude) = photo.place.unzip();
        self.run(|| {
            connection.prepare_cached(insert)?.execute(params![
                photo.key,
                photo.path,
                photo.size as i64,
                photo.modified,
                photo.hash,
                photo.pixels.0 as i64,
                photo.pixels.1 as i64,
                photo.orientation,
                photo.time,
                latitude,
                longitude,
                photo.camera
            ])
        })?;
        for (face, jpeg) in &photo.faces {
            let row = self.face(&face.key)?;
            let insert = "INSERT OR REPLACE INTO thumbnails VALUES (?1, ?2)";
            self.run(|| connection.prepare_cached(insert)?.execute(params![row, jpeg]))?;
        }
        Ok(())
    }

    /// All photos that were looked at.
    pub fn photos(&self) -> Result<Vec<Photo>, StoreError> {
        let query = format!("{PHOTOS} ORDER BY id");
        self.run(|| self.connection.prepare(&query)?.query_map([], photo)?.collect())
    }

    /// Photos by their rows.
    pub fn photos_at(&self, rows: &[PhotoRow]) -> Result<Vec<Photo>, StoreError> {
        let query = format!("{PHOTOS} WHERE id = ?1");
        let photo = |row: &PhotoRow| {
            self.run(|| self.connection.prepare_cached(&query)?.query_row([row], photo).optional())
        };
        Ok(rows.iter().map(photo).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// A photo was changed: faces that are where one was before are that one, all others are new.
    pub fn change_photo(
        &self,
        row: PhotoRow,
        before: &[PhotoFace],
        mut photo: NewPhoto,
        pipeline: &str,
    ) -> Result<Added, StoreError> {
        let n_before = before.len();
        let numbers = |place: &Option<String>| -> Vec<f32> {
            place.iter().flat_map(|text| text.split_whitespace()).map_while(|n| n.parse().ok()).collect()
        };
        let is_new = |face: &NewFace| {
            let bounds = numbers(&face.place);
            before.iter().all(|old| !is_near(&old.bounds, &bounds))
        };
        photo.faces.retain(|(face, _)| is_new(face));
        for (k, (face, _)) in photo.faces.iter_mut().enumerate() {
            face.key = format!("{}#{}", photo.key, n_before + k);
        }
        self.write(|connection| {
            let mut added = Added::default();
            self.run(|| connection.execute("DELETE FROM photos WHERE id = ?1", [row]))?;
            if !photo.faces.is_empty() {
                self.check_network(Some(pipeline))?;
                self.add_frame(&photo.frame(), log::next_act(self)?, &mut added)?;
            }
            self.add_photo(&photo)?;
            Ok(added)
        })
    }

    /// The faces of a photo, from left to right.
    pub fn faces_of_photo(&self, photo: PhotoRow) -> Result<Vec<PhotoFace>, StoreError> {
        let query = "SELECT faces.id, faces.key, box FROM faces JOIN photos ON photos.frame = faces.frame \
                     WHERE photos.id = ?1 ORDER BY faces.id";
        let rows: Vec<(FaceRow, String, Option<String>)> = self.run(|| {
            let mut query = self.connection.prepare_cached(query)?;
            query.query_map([photo], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
        })?;
        let face = |(row, key, place): (FaceRow, String, Option<String>)| {
            let numbers: Vec<f32> =
                place?.split_whitespace().map_while(|number| number.parse().ok()).collect();
            Some(PhotoFace { row, key, bounds: numbers.try_into().ok()? })
        };
        Ok(rows.into_iter().filter_map(face).collect())
    }

    /// A photo was found at a path, unchanged or changed in what does not matter.
    pub fn photo_is_at(
        &self,
        photo: PhotoRow,
        path: &str,
        size: u64,
        modified: i64,
    ) -> Result<(), StoreError> {
        let update = "UPDATE photos SET path = ?2, size = ?3, modified = ?4, is_gone = 0 WHERE id = ?1";
        let update = || self.connection.execute(update, params![photo, path, size as i64, modified]);
        self.run(update).map(|_| ())
    }

    /// Photos were not found; what was said about them stays.
    pub fn photos_are_gone(&self, photos: &[PhotoRow]) -> Result<(), StoreError> {
        self.write(|connection| {
            let update = "UPDATE photos SET is_gone = 1 WHERE id = ?1";
            photos.iter().try_for_each(|photo| self.run(|| connection.execute(update, [photo]).map(|_| ())))
        })
    }

    /// A small JPEG of a face, where there is one.
    pub fn thumbnail(&self, face: FaceRow) -> Result<Option<Vec<u8>>, StoreError> {
        let query = "SELECT jpeg FROM thumbnails WHERE face = ?1";
        self.run(|| self.connection.prepare_cached(query)?.query_row([face], |row| row.get(0)).optional())
    }

    /// The sidecars that kith wrote.
    pub fn sidecars(&self) -> Result<Vec<Sidecar>, StoreError> {
        let query = "SELECT photo, path, before, after FROM sidecars ORDER BY photo";
        let sidecar = |row: &Row<'_>| {
            Ok(Sidecar { photo: row.get(0)?, path: row.get(1)?, before: row.get(2)?, after: row.get(3)? })
        };
        self.run(|| self.connection.prepare(query)?.query_map([], sidecar)?.collect())
    }

    /// Keeps what a sidecar was, and what was written.
    pub fn set_sidecar(&self, sidecar: &Sidecar) -> Result<(), StoreError> {
        let Sidecar { photo, path, before, after } = sidecar;
        let insert = "INSERT OR REPLACE INTO sidecars VALUES (?1, ?2, ?3, ?4)";
        self.run(|| self.connection.execute(insert, params![photo, path, before, after]).map(|_| ()))
    }

    /// A sidecar is as it was before.
    pub fn unset_sidecar(&self, photo: PhotoRow) -> Result<(), StoreError> {
        self.run(|| self.connection.execute("DELETE FROM sidecars WHERE photo = ?1", [photo]).map(|_| ()))
    }

    /// Replaces all embeddings by those of another network, or none. What was said stays, and so do the
    /// people until they are learnt anew.
    pub fn embed_again(&self, faces: &[Embedded], pipeline: &str) -> Result<(), StoreError> {
        let n_faces = self.n_faces()?;
        let dimension = faces.first().map_or(0, |face| face.embedding.len());
        if faces.len() != n_faces || faces.iter().any(|face| face.embedding.len() != dimension) {
            let found = faces.len();
            return Err(StoreError::refused(format!(
                "found {found} new embeddings, wanted {n_faces} of one length"
            )));
        }
        self.write(|connection| {
            let update = "UPDATE faces SET embedding = ?2 WHERE id = ?1";
            for Embedded { face, embedding } in faces {
                let bytes = crate::codec::to_bytes(embedding);
                self.run(|| connection.prepare_cached(update)?.execute(params![face, bytes]))?;
            }
            self.set(EMBEDDING, pipeline.to_owned())?;
            self.set(DIMENSION, dimension)?;
            self.unset(MODEL)?;
            self.unset(MODEL_FACES)?;
            self.unset(BACKGROUND)?;
            self.unset(BELIEVED)?;
            self.run(|| connection.execute_batch("DELETE FROM chains; DELETE FROM draws"))
        })
    }

    /// Keeps the name that another program left at a face, until it is taken in (see [`Library::take_told`]).
    pub fn tell(&self, told: &Told) -> Result<(), StoreError> {
        let query = "SELECT other FROM faces WHERE id = ?1";
        let other: Option<String> =
            self.run(|| self.connection.query_row(query, [told.face], |row| row.get(0)))?;
        let mut other: Value =
            other.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_else(|| json!({}));
        other["told"] = json!(told.name);
        other["told_by"] = json!(told.source);
        let update = "UPDATE faces SET other = ?2 WHERE id = ?1";
        self.run(|| self.connection.execute(update, params![told.face, other.to_string()]).map(|_| ()))
    }

    /// Takes the names that other programs left into the log, as one act, each once and never again after it
    /// was taken back. Returns how many.
    pub fn take_told(&self) -> Result<usize, StoreError> {
        let query = "SELECT id, json_extract(other, '$.told'), json_extract(other, '$.told_by') FROM faces \
                     WHERE other LIKE '%\"told\"%' AND NOT EXISTS (SELECT 1 FROM evidence JOIN names ON names.id = evidence.name \
                     WHERE evidence.face = faces.id AND kind = 'name' \
                     AND names.name = json_extract(faces.other, '$.told') \
                     AND by = json_extract(faces.other, '$.told_by')) ORDER BY id";
        self.write(|connection| {
            let told: Vec<(FaceRow, Option<String>, Option<String>)> = self.run(|| {
                let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
                connection.prepare(query)?.query_map([], row)?.collect()
            })?;
            let (act, now) = (log::next_act(self)?, log::now());
            let mut n = 0;
            for (face, name, by) in told {
                if let (Some(name), Some(by)) = (name, by) {
                    let saying = Saying { kind: Kind::Name, face, other: None, name: Some(&name) };
                    self.append(act, &by, now, &saying)?;
                    n += 1;
                }
            }
            Ok(n)
        })
    }
}

const PHOTOS: &str =
    "SELECT id, key, path, size, modified, hash, width, height, orientation, is_gone FROM photos";

fn photo(row: &Row<'_>) -> rusqlite::Result<Photo> {
    Ok(Photo {
        row: row.get(0)?,
        key: row.get(1)?,
        path: row.get(2)?,
        size: row.get::<_, i64>(3)? as u64,
        modified: row.get(4)?,
        hash: row.get(5)?,
        pixels: (row.get::<_, i64>(6)? as usize, row.get::<_, i64>(7)? as usize),
        orientation: row.get(8)?,
        is_gone: row.get(9)?,
    })
}

/// Whether the centre of one box lies in the other, and they are of like size.
fn is_near(a: &[f32; 4], b: &[f32]) -> bool {
    let [x, y, w, h] = *b else { return false };
    let (cx, cy) = (x + w / 2.0, y + h / 2.0);
    let is_within = (a[0]..a[0] + a[2]).contains(&cx) && (a[1]..a[1] + a[3]).contains(&cy);
    is_within && (0.25..4.0).contains(&(w * h / (a[2] * a[3])))
}
