//! How a collection of faces grows up: what is done with how many of them. All sizes that decide anything are
//! here.
//!
//! | faces | face model | after every frame, and after everything said |
//! |---|---|---|
//! | up to [`NEIGHBOURS`] | the paper's, within-person variance held near half of the total ([`Isotropic::from_few`]) | all faces are swept |
//! | up to [`ALL_SWEPT`] | covariances, learnt anew with every doubling, whoever asks | all faces are swept, and anybody may become another person |
//! | up to [`COVARIANCES_AT_ONCE`] | the same | the faces concerned and some of their people |
//! | up to [`PRIOR_AT_ONCE`] | covariances are learnt anew only by `learn`, the paper's prior by whoever asks | the same |
//! | more | learnt anew only by `learn` | the same |

use super::{Kind, Settings};
use crate::chain::Start;
use crate::data::{Dataset, Lengths, OtherUnits, Strange};
#[cfg(doc)]
use crate::model::Isotropic;
use crate::model::Model;
use crate::target::Target;

/// From fewer faces than this, with no people known, nothing can be learnt of their covariances, and the
/// nearest neighbour of a face is not trusted to be another photo of the same person.
pub const NEIGHBOURS: usize = 64;
/// While there are no more faces, all are swept with every frame and all may change to another person with
/// everything that is said.
pub const ALL_SWEPT: usize = 200;
/// While there are no more faces, covariances are learnt without `learn` too: it takes a moment.
pub const COVARIANCES_AT_ONCE: usize = 300;
/// While there are fewer faces, so is an isotropic prior, with every doubling.
pub const PRIOR_AT_ONCE: usize = 1000;
/// Full covariances of faces were measured on embeddings of 128 dimensions and more, and count to a power
/// that fits those. In a few dimensions a face says too little to be counted half, and the paper's model is
/// the better one; covariances that are asked for there count whole ([`Settings::for_points`]).
pub const FEW_DIMENSIONS: usize = 32;

/// While there are no more faces, chains with covariances begin dispersed unless it is said where: seated one by
/// one, apart, at random and together. Of more that takes longer than somebody waits for first people: a minute
/// at 20,000, where seating one by one takes some seconds.
pub const DISPERSED: usize = 10_000;
/// The same of a library, whose owner looks at a screen.
pub const DISPERSED_AWAITED: usize = 2_000;

/// Where chains begin, by turns; of at most `most` faces dispersed.
pub fn starts(target: &Target, most: usize) -> &'static [Start] {
    let is_dispersed = target.model().face.has_covariances() && target.data().n_faces() <= most;
    if is_dispersed { &DISPERSED_STARTS } else { &[Start::Sequential] }
}

const DISPERSED_STARTS: [Start; 4] = [Start::Sequential, Start::Apart, Start::Random, Start::Together];

/// Which of some embeddings cannot be of one dataset with those beside them, ascending, and why: by how long
/// embeddings usually are, or else for being in other units than the rest where the paper's model will be
/// taken, which has one variance for all and takes the short ones for one person. Covariances know the length
/// of every face by itself.
pub fn strange(new: &[&[f32]], beside: &[&[f32]], usual: &Lengths) -> Vec<(usize, Strange)> {
    let by_length = |(row, x): (usize, &&[f32])| Some((row, usual.strange(x)?));
    let strange: Vec<(usize, Strange)> = new.iter().enumerate().filter_map(by_length).collect();
    let all = [new, beside].concat();
    let has_one_variance = all.len() < NEIGHBOURS || all.first().is_some_and(|x| x.len() < FEW_DIMENSIONS);
    if !strange.is_empty() || !has_one_variance {
        return strange;
    }
    let Some(units) = OtherUnits::among(&all) else { return strange };
    let why = Strange::Units { n: units.rows.len(), times: units.times };
    units.rows.into_iter().filter(|&row| row < new.len()).map(|row| (row, why)).collect()
}

/// A model that was worked out before.
#[derive(Clone, Copy, Debug)]
pub struct Known<'m> {
    /// The model.
    pub model: &'m Model,
    /// From so many faces.
    pub n_faces: usize,
    /// Whether its face prior is that of other people, and stays.
    pub has_background: bool,
}

/// The settings by which the model is to be worked out anew; `None` where the known one is as good. It is
/// learnt anew when there are twice as many faces as when it was learnt, or when there are enough for the
/// better kind. Who cannot wait gets what takes a moment.
pub fn due(
    mut settings: Settings,
    data: &Dataset,
    known: Option<Known<'_>>,
    can_wait: bool,
) -> Option<Settings> {
    let n_faces = data.n_faces();
    let may_be_full = can_wait || n_faces <= COVARIANCES_AT_ONCE;
    if let Some(known) = known {
        let is_full = known.model.face.has_covariances();
        let at_once = if is_full { COVARIANCES_AT_ONCE } else { PRIOR_AT_ONCE };
        let is_stale = n_faces >= 2 * known.n_faces && (can_wait || n_faces < at_once);
        let wants_full = may_be_full && settings.is_full(n_faces, data.dimension(), known.has_background);
        if known.has_background || !(is_stale || wants_full && !is_full) {
            return None;
        }
        // In a few dimensions covariances were asked for: they stay.
        if is_full {
            settings.kind = settings.kind.or(Some(Kind::Full));
        }
    }
    Some(if may_be_full { settings } else { settings.or_isotropic() })
}
