//! Embeddings and envelopes of a library, read one by one, as they were when a second connection began to
//! read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kith::data::Source;
use kith::predict::Envelopes;
use rusqlite::OptionalExtension;

use crate::ids::FaceRow;
use crate::sums::Of;
use crate::{Library, StoreError, codec};

/// The embeddings of a library as they were at a moment, read when they are asked for.
#[derive(Debug)]
pub(super) struct Reader {
    library: Arc<Mutex<Library>>,
    rows: Vec<FaceRow>,
    dimension: usize,
    is_sound: Arc<AtomicBool>,
    /// How many were read one by one, and all of them once those were many.
    n_read: AtomicUsize,
    all: OnceLock<Vec<f32>>,
}

/// From so many on that were read one by one, all are read in the order of the file, which takes less time.
const ONE_BY_ONE: usize = 1 << 15;

impl Reader {
    pub(super) fn of(
        library: Arc<Mutex<Library>>,
        rows: Vec<FaceRow>,
        dimension: usize,
        is_sound: Arc<AtomicBool>,
    ) -> Self {
        Self { library, rows, dimension, is_sound, n_read: AtomicUsize::new(0), all: OnceLock::new() }
    }

    fn is_whole(&self, embedding: &[f32]) -> bool {
        embedding.len() == self.dimension && embedding.iter().all(|value| value.is_finite())
    }

    /// The embedding of a row, when it is the one that was stored.
    fn read(&self, row: FaceRow) -> Option<Vec<f32>> {
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let query = "SELECT embedding FROM faces WHERE id = ?1";
        let bytes: Option<Vec<u8>> = library
            .run(|| library.connection.prepare_cached(query)?.query_row([row], |row| row.get(0)).optional())
            .ok()?;
        let bytes = bytes.filter(|bytes| library.agrees(Of::Face, row.0, bytes))?;
        let embedding = codec::from_bytes(&bytes);
        self.is_whole(&embedding).then_some(embedding)
    }
}

impl Source for Reader {
    fn len(&self) -> usize {
        self.rows.len()
    }

    /// What cannot be read is nowhere in particular: [`Library::asked`] throws away what was answered with
    /// it.
    fn row(&self, row: usize) -> Vec<f32> {
        if self.n_read.fetch_add(1, Ordering::Relaxed) >= ONE_BY_ONE {
            return self.all.get_or_init(|| self.all())[row * self.dimension..][..self.dimension].to_vec();
        }
        self.read(self.rows[row]).unwrap_or_else(|| {
            self.is_sound.store(false, Ordering::Relaxed);
            vec![0.0; self.dimension]
        })
    }

    fn all(&self) -> Vec<f32> {
        let mut all = vec![0.0; self.len() * self.dimension];
        let place_of: HashMap<FaceRow, usize> = self.rows.iter().copied().zip(0..).collect();
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let n_read = library.each_embedding(|row, embedding| {
            let Some(&place) = place_of.get(&row) else { return 0 };
            let is_whole = self.is_whole(&embedding);
            if is_whole {
                all[place * self.dimension..][..self.dimension].copy_from_slice(&embedding);
            }
            usize::from(is_whole)
        });
        if n_read.ok() != Some(self.len()) {
            self.is_sound.store(false, Ordering::Relaxed);
        }
        all
    }
}

/// The envelopes of a library, read when they are asked for.
#[derive(Debug)]
pub(super) struct StoredEnvelopes(pub(super) Arc<Mutex<Library>>);

impl Envelopes for StoredEnvelopes {
    fn read(&self, number: u32) -> Option<Vec<u8>> {
        let library = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let query = "SELECT body FROM envelopes WHERE number = ?1";
        let body: Option<Vec<u8>> = library
            .run(|| {
                library.connection.prepare_cached(query)?.query_row([number], |row| row.get(0)).optional()
            })
            .ok()?;
        body.filter(|body| library.agrees(Of::Envelope, number.into(), body))
    }
}

impl Library {
    /// Tells somebody every embedding that is as it was stored; adds up what that returns.
    fn each_embedding(&self, mut tell: impl FnMut(FaceRow, Vec<f32>) -> usize) -> Result<usize, StoreError> {
        let sums = self.sums(Of::Face)?;
        self.run(|| {
            let mut query = self.connection.prepare("SELECT id, embedding FROM faces")?;
            let mut rows = query.query([])?;
            let mut total = 0;
            while let Some(row) = rows.next()? {
                let (id, bytes): (FaceRow, &[u8]) =
                    (row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
                if sums.agree(id.0, bytes) {
                    total += tell(id, codec::from_bytes(bytes));
                }
            }
            Ok(total)
        })
    }
}
