//! Writing photos: new ones, changed ones, moved ones, and those that are gone.

use rusqlite::params;

use super::PhotoFace;
use super::read::bounds;
use crate::faces::{Added, NewFace, NewFrame};
use crate::ids::{FaceRow, PhotoRow};
use crate::log;
use crate::meta::{BACKGROUND, BELIEVED, DIMENSION, EMBEDDING, MODEL, MODEL_FACES};
use crate::sums::Of;
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
    /// Adds photos with their faces, or none of them; a photo that is there is brought up to date.
    pub fn add_photos(&self, photos: &[NewPhoto], pipeline: &str) -> Result<Added, StoreError> {
        self.write(|_| {
            let mut added = Added::default();
            let act = log::next_act(self)?;
            let frames: Vec<NewFrame> = photos.iter().map(NewPhoto::frame).collect();
            self.check_lengths(&frames)?;
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
        let insert = "INSERT INTO photos (key, frame, path, size, modified, hash, width, height, \
            orientation, time, latitude, longitude, camera) VALUES (?1, (SELECT id FROM frames WHERE key = \
            ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (key) DO UPDATE SET frame = \
            excluded.frame, path = excluded.path, size = excluded.size, modified = excluded.modified, \
                      hash = excluded.hash, width = excluded.width, height = excluded.height, \
                      orientation = excluded.orientation, time = excluded.time, latitude = \
                      excluded.latitude, longitude = excluded.longitude, camera = excluded.camera, is_gone = \
                      0";
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

    /// A photo was changed: faces that are where one was before are that one, all others are new.
    pub fn change_photo(
        &self,
        row: PhotoRow,
        mut photo: NewPhoto,
        pipeline: &str,
    ) -> Result<Added, StoreError> {
        let before = self.faces_of_photo(row)?;
        photo.faces.retain(|(face, _)| {
            let place = face.place.as_deref().and_then(bounds);
            before.iter().all(|old| place.is_none_or(|place| !is_near(&old.bounds, &place)))
        });
        // After every number that is taken; some in between may have been forgotten.
        let number = |face: &PhotoFace| face.key.rsplit_once('#').and_then(|(_, k)| k.parse::<usize>().ok());
        let free = before.iter().filter_map(number).max().map_or(0, |last| last + 1);
        for (k, (face, _)) in (free..).zip(&mut photo.faces) {
            face.key = format!("{}#{k}", photo.key);
        }
        self.add_photos(&[photo], pipeline)
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
                self.seal(Of::Face, face.0, &bytes)?;
            }
            self.usual.take();
            self.set(EMBEDDING, pipeline.to_owned())?;
            self.set(DIMENSION, dimension)?;
            self.unset(MODEL)?;
            self.unset(MODEL_FACES)?;
            self.unset(BACKGROUND)?;
            self.unset(BELIEVED)?;
            self.run(|| connection.execute_batch("DELETE FROM chains; DELETE FROM draws"))
        })
    }
}

/// Whether the centre of one box lies in the other, and they are of like size.
fn is_near(a: &[f32; 4], [x, y, w, h]: &[f32; 4]) -> bool {
    let (cx, cy) = (x + w / 2.0, y + h / 2.0);
    let is_within = (a[0]..a[0] + a[2]).contains(&cx) && (a[1]..a[1] + a[3]).contains(&cy);
    is_within && (0.25..4.0).contains(&(w * h / (a[2] * a[3])))
}
