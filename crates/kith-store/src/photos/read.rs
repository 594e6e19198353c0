//! Reading photos: which there are, the faces on each, and the small picture of a face.

use rusqlite::{OptionalExtension, Row};

use crate::ids::{FaceRow, FrameRow, PhotoRow};
use crate::{Library, NewFace, NewPhoto, StoreError};

/// A photo of the library.
#[derive(Clone, Debug, PartialEq)]
pub struct Photo {
    /// Its row.
    pub row: PhotoRow,
    /// The frame of its faces, where it has any.
    pub frame: Option<FrameRow>,
    /// The id that people use: its path from the folder that was added.
    pub key: String,
    /// Where it was last.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// When it or what lies beside it was changed, in nanoseconds since 1970.
    pub modified: i64,
    /// The SHA-256 of its content.
    pub hash: String,
    /// Width and height of the upright picture.
    pub pixels: (usize, usize),
    /// EXIF's orientation of the stored picture.
    pub orientation: u8,
    /// When it was taken, as its file says.
    pub time: Option<String>,
    /// Latitude and longitude.
    pub place: Option<(f64, f64)>,
    /// With what it was taken.
    pub camera: Option<String>,
    /// Whether it was not there when it was last looked for.
    pub is_gone: bool,
}

impl Photo {
    /// The same photo as it is given to the library again, with more faces.
    pub fn with_faces(&self, faces: Vec<(NewFace, Vec<u8>)>) -> NewPhoto {
        let Self { key, path, hash, time, camera, .. } = self.clone();
        let Self { size, modified, pixels, orientation, place, .. } = *self;
        NewPhoto { key, path, size, modified, hash, pixels, orientation, time, place, camera, faces }
    }
}

/// A face on a photo.
#[derive(Clone, Debug, PartialEq)]
pub struct PhotoFace {
    /// The face's row.
    pub row: FaceRow,
    /// The id that people use.
    pub key: String,
    /// Left, top, width and height as parts of the upright picture.
    pub bounds: [f32; 4],
    /// How sure the detector was, 0 to 1.
    pub quality: Option<f32>,
}

impl Library {
    /// How many photos were looked at.
    pub fn n_photos(&self) -> Result<usize, StoreError> {
        let count = "SELECT count(*) FROM photos";
        let n: i64 = self.run(|| self.connection.query_row(count, [], |row| row.get(0)))?;
        Ok(n as usize)
    }

    /// All photos that were looked at, in the order in which they came.
    pub fn photos(&self) -> Result<Vec<Photo>, StoreError> {
        let query = format!("{PHOTOS} ORDER BY id");
        self.run(|| self.connection.prepare(&query)?.query_map([], photo)?.collect())
    }

    /// A photo, where there is one with this row.
    pub fn photo(&self, row: PhotoRow) -> Result<Option<Photo>, StoreError> {
        let query = format!("{PHOTOS} WHERE id = ?1");
        self.run(|| self.connection.prepare_cached(&query)?.query_row([row], photo).optional())
    }

    /// The photo that a face is on; faces of datasets are on none.
    pub fn photo_of(&self, face: FaceRow) -> Result<Option<Photo>, StoreError> {
        let query = format!("{PHOTOS} WHERE frame = (SELECT frame FROM faces WHERE id = ?1)");
        self.run(|| self.connection.prepare_cached(&query)?.query_row([face], photo).optional())
    }

    /// The faces of a photo, from left to right as it was when it was first looked at.
    pub fn faces_of_photo(&self, photo: PhotoRow) -> Result<Vec<PhotoFace>, StoreError> {
        let query = "SELECT faces.id, faces.key, box, quality FROM faces JOIN photos ON photos.frame = \
                     faces.frame WHERE photos.id = ?1 ORDER BY faces.id";
        // A face without a box, of a dataset that has the photo's id, is on no photo.
        let face = |row: &Row<'_>| {
            let (place, quality) = (row.get::<_, Option<String>>(2)?, row.get::<_, Option<String>>(3)?);
            let quality = quality.and_then(|text| text.parse().ok());
            let Some(bounds) = place.as_deref().and_then(bounds) else { return Ok(None) };
            Ok(Some(PhotoFace { row: row.get(0)?, key: row.get(1)?, bounds, quality }))
        };
        let faces: Vec<Option<PhotoFace>> =
            self.run(|| self.connection.prepare_cached(query)?.query_map([photo], face)?.collect())?;
        Ok(faces.into_iter().flatten().collect())
    }

    /// A small upright JPEG of a face, where there is one.
    pub fn thumbnail(&self, face: FaceRow) -> Result<Option<Vec<u8>>, StoreError> {
        let query = "SELECT jpeg FROM thumbnails WHERE face = ?1";
        self.run(|| self.connection.prepare_cached(query)?.query_row([face], |row| row.get(0)).optional())
    }
}

const PHOTOS: &str = "SELECT id, key, path, size, modified, hash, width, height, orientation, time, \
                      latitude, longitude, camera, is_gone, frame FROM photos";

fn photo(row: &Row<'_>) -> rusqlite::Result<Photo> {
    Ok(Photo {
        row: row.get(0)?,
        frame: row.get(14)?,
        key: row.get(1)?,
        path: row.get(2)?,
        size: row.get::<_, i64>(3)? as u64,
        modified: row.get(4)?,
        hash: row.get(5)?,
        pixels: (row.get::<_, i64>(6)? as usize, row.get::<_, i64>(7)? as usize),
        orientation: row.get(8)?,
        time: row.get(9)?,
        place: row.get::<_, Option<f64>>(10)?.zip(row.get(11)?),
        camera: row.get(12)?,
        is_gone: row.get(13)?,
    })
}

/// A box from its text.
pub(super) fn bounds(place: &str) -> Option<[f32; 4]> {
    let numbers: Vec<f32> = place.split_whitespace().map_while(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}
