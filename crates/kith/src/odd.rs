//! Which faces may have odd looks, by what was said of them, and what they show then (MODEL.md §7).

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::data::{Dataset, Statement};
use crate::ids::FaceId;
use crate::model::FaceUpdate;
use crate::model::face::{self, Centred, Odd};
use crate::target::Target;

/// Of how many look-alikes a face may show the looks.
const NEAREST: usize = 8;
/// Who is nearer than this, squared and per axis, is a copy and no look-alike; photos of a person are 2 apart.
const COPIES: f64 = 0.3;
/// Among how many faces, evenly spaced, they are looked for; all of them while they are no more.
const GALLERY: usize = 10_000;

/// All faces that something was said of.
pub(crate) fn spoken_of(data: &Dataset) -> BTreeSet<FaceId> {
    let named = data.faces().filter(|&face| data.label(face).is_some_and(|label| label.is_word));
    named.chain(data.evidence().statements().iter().flat_map(Statement::faces)).collect()
}

/// rho of a face: `odd` for one that something was said of, its cube for the first of a name. Whoever
/// corrects something says that looks mislead; whoever makes a person known chooses a face that shows them.
fn rho(face: FaceId, odd: f64, data: &Dataset) -> Option<f64> {
    let evidence = data.evidence();
    if data.introduces(face) {
        return Some(odd.powi(3));
    }
    let is_named = data.label(face).is_some_and(|label| label.is_word);
    let is_spoken_of = is_named || !evidence.denials(face).is_empty() || !evidence.links(face).is_empty();
    is_spoken_of.then_some(odd)
}

/// What may be odd about some faces.
pub(crate) fn of(faces: &BTreeSet<FaceId>, target: &Target) -> BTreeMap<FaceId, Option<Odd>> {
    let (model, data) = target.parts();
    let odd = if model.face.update == FaceUpdate::Collapsed { model.evidence.odd } else { 0.0 };
    let said: Vec<(FaceId, Option<f64>)> =
        faces.iter().map(|&face| (face, rho(face, odd, data).filter(|&rho| rho > 0.0))).collect();
    let asked: Vec<FaceId> = said.iter().filter(|said| said.1.is_some()).map(|said| said.0).collect();
    let mut shown = look_alikes(&asked, target).into_iter();
    let of_face = |(face, rho): (FaceId, Option<f64>)| {
        let shown = rho.and_then(|_| shown.next().flatten());
        (face, rho.zip(shown).map(|(rho, (ln_density, look_alike))| Odd::new(rho, ln_density, look_alike)))
    };
    said.into_iter().map(of_face).collect()
}

/// ln g of some faces, and their nearest face; nothing where there is nobody else. Whom a face shows if it is
/// not its person is the nearest face and those around that one. The faces nearest to itself would be chosen
/// for being near, and denser than its own person by some nats, so that whoever was spoken of would rather be
/// odd.
fn look_alikes(asked: &[FaceId], target: &Target) -> Vec<Option<(f64, FaceId)>> {
    let usual = |face: FaceId| {
        let mut x = Centred::default();
        target.look(face, &mut x);
        x.set_odd(None);
        x
    };
    let n_faces = target.data().n_faces();
    let n_gallery = if asked.is_empty() { 0 } else { n_faces.min(GALLERY) };
    let gallery: Vec<FaceId> = (0..n_gallery).map(|k| FaceId::new(k * n_faces / n_gallery)).collect();
    // The costly part of a look is done once, and by all cores.
    gallery.par_iter().for_each(|&other| drop(usual(other)));
    let alone: Vec<_> = asked.iter().map(|&face| (face, face)).collect();
    let copies = if target.model().face.has_covariances() { COPIES } else { 0.0 };
    let nearest = nearest(&alone, (1, copies), &gallery, usual);
    let alike: Vec<(FaceId, FaceId)> =
        nearest.iter().zip(asked).filter_map(|(near, &face)| Some((*near.first()?, face))).collect();
    let around = self::nearest(&alike, (NEAREST - 1, 0.0), &gallery, usual);
    let ln_density = |(&(alike, face), around): (&(FaceId, FaceId), Vec<FaceId>)| {
        let near: Vec<Centred> = std::iter::once(alike).chain(around).map(usual).collect();
        let ln_density = face::ln_look_alikes(&target.model().face, &usual(face), &near, n_faces);
        (face, (ln_density, alike))
    };
    let shown: BTreeMap<FaceId, (f64, FaceId)> = alike.iter().zip(around).map(ln_density).collect();
    asked.iter().map(|face| shown.get(face).copied()).collect()
}

/// Of each face the `count` nearest in the gallery, none nearer than `least` per axis, another face left out.
fn nearest(
    faces: &[(FaceId, FaceId)],
    (count, least): (usize, f64),
    gallery: &[FaceId],
    usual: impl Fn(FaceId) -> Centred,
) -> Vec<Vec<FaceId>> {
    let xs: Vec<Centred> = faces.iter().map(|&(face, _)| usual(face)).collect();
    let mut nearest: Vec<Vec<(f64, FaceId)>> = vec![Vec::new(); faces.len()];
    for &other in gallery {
        let y = usual(other);
        let asked = xs.iter().zip(&mut nearest).zip(faces);
        for ((x, near), _) in asked.filter(|(_, (face, not))| ![*face, *not].contains(&other)) {
            let distance: f64 = x.values().iter().zip(y.values()).map(|(x, y)| (x - y) * (x - y)).sum();
            let is_copy = distance < least * x.values().len() as f64;
            if is_copy {
                continue;
            }
            if near.len() < count || distance < near[count - 1].0 {
                let at = near.partition_point(|&(known, _)| known <= distance);
                near.insert(at, (distance, other));
                near.truncate(count);
            }
        }
    }
    nearest.into_iter().map(|near| near.into_iter().map(|(_, other)| other).collect()).collect()
}
