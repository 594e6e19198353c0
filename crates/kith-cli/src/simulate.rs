//! `kith simulate`: a dataset with `truth`, made up by the camera simulator, as a gallery, or by the model
//! itself.

use anyhow::{Context, bail, ensure};
use kith::data::{Dataset, NewFace};
use kith::model::{FaceModel, Isotropic, Model};
use kith::random::{self, Rng};
use kith::simulate::{Camera, Cycled, Drawn, Source, prior};
use kith::target::Target;
use kith_io::dataset::{self, FaceTable};
use kith_io::model_file;
use kith_lab::experiment::Gallery;

use crate::Outcome;
use crate::args::{Made, SimulateOptions};
use crate::evaluate::truth_of;
use crate::progress::{count, note};

/// Faces, and who is on each.
struct Scene {
    data: Dataset,
    people: Vec<usize>,
    names: Vec<String>,
}

/// Runs the verb.
pub fn run(options: &SimulateOptions) -> anyhow::Result<Outcome> {
    for (option, share) in [("--named", options.named), ("--wrong", options.wrong)] {
        ensure!((0.0..=1.0).contains(&share), "{option}: found {share}, wanted a share from 0 to 1");
    }
    ensure!(options.spread > 0.0, "--spread: found {}, wanted a positive number", options.spread);
    let is_drawn = options.kind == Made::Model;
    ensure!(options.model.is_none() || is_drawn, "--model is for --kind model alone");
    ensure!(
        options.data.is_none() || !is_drawn,
        "--data is not for --kind model, which draws its own people"
    );
    let mut rng = random::driver(options.seed);
    let mut scene = match (&options.data, options.kind) {
        (_, Made::Model) => from_model(options, &mut rng)?,
        (None, _) => {
            let people = Drawn::new(FaceModel::isotropic(looks(options)), options.people as usize, &mut rng);
            let names = (1..=options.people).map(|number| format!("person-{number}")).collect();
            before_camera(options, people, names, &mut rng)?
        }
        (Some(path), _) => {
            let table = dataset::read(path)?;
            let truth = truth_of(&table).with_context(|| path.display().to_string())?;
            let gallery = Gallery::new(table.dataset.embeddings(), truth);
            let people = gallery.with_photos(options.least as usize);
            if people.is_empty() {
                bail!(
                    "{}: found nobody with {} photos or more, wanted somebody",
                    path.display(),
                    options.least
                );
            }
            let rows: Vec<Vec<usize>> = people.iter().map(|person| person.rows.clone()).collect();
            let names = people.into_iter().map(|person| person.name).collect();
            before_camera(options, Cycled::new(table.dataset.embeddings(), &rows), names, &mut rng)?
        }
    };
    scene.give_names(options, &mut rng);
    let (n_faces, n_frames) = (scene.data.n_faces(), scene.data.n_frames());
    let mut seen = scene.people.clone();
    seen.sort_unstable();
    seen.dedup();
    let mut table = FaceTable::new(scene.data);
    table.truth = Some(scene.people.iter().map(|&person| Some(scene.names[person].clone())).collect());
    dataset::write(&options.out, &table)?;
    note(format!(
        "{}: {} of {} on {}",
        options.out.display(),
        count(n_faces, "face"),
        count(seen.len(), "person"),
        count(n_frames, "frame")
    ));
    Ok(Outcome::Done)
}

/// People whose means vary by `--spread`, their photos by about one.
fn looks(options: &SimulateOptions) -> Isotropic {
    let mean = vec![0.0; options.dimension as usize];
    Isotropic { mean, kappa: 1.0 / options.spread, shape: 20.0, rate: 19.0 }
}

/// People in front of the camera, or one photo after the other.
fn before_camera(
    options: &SimulateOptions,
    mut source: impl Source,
    names: Vec<String>,
    rng: &mut Rng,
) -> anyhow::Result<Scene> {
    let mut data: Option<Dataset> = None;
    let mut people = Vec::new();
    let mut push = |context: Option<&str>, who: &[usize], photos: &[Vec<f32>]| -> anyhow::Result<()> {
        let data = match &mut data {
            Some(data) => data,
            None => data.insert(Dataset::empty(photos[0].len())?),
        };
        let faces: Vec<NewFace<'_>> = photos.iter().map(|x| NewFace { embedding: x, name: None }).collect();
        data.push_frame(context, &faces)?;
        people.extend(who);
        Ok(())
    };
    if options.kind == Made::Gallery {
        for person in 0..source.n_people() {
            for _ in 0..options.photos {
                push(None, &[person], &[source.photo(person, rng)])?;
            }
        }
    } else {
        let (switch, enter, leave) = (options.switch, options.enter, options.leave);
        let camera = Camera { switch, enter, leave, ..Camera::default() };
        let contexts = camera.contexts.clone();
        // A stream of its own: names are dealt from the driver's.
        let encounters = camera.start(source, random::stream(options.seed, 0))?;
        for frame in encounters.take(options.frames.unwrap_or(200) as usize) {
            push(Some(&contexts[frame.context]), &frame.people, &frame.embeddings)?;
        }
    }
    let data = data.expect("there is at least one person with a photo");
    Ok(Scene { data, people, names })
}

/// Draws of the model are given up after so many faces have been seated: some seconds.
const MOST_SEATED: usize = 10_000_000;

/// One to three faces a frame, the frames dealt over three contexts, everything else from the model.
fn from_model(options: &SimulateOptions, rng: &mut Rng) -> anyhow::Result<Scene> {
    let model = match &options.model {
        Some(path) => {
            let settings = model_file::read(path)?;
            let place = path.display();
            ensure!(
                settings.prior.is_some(),
                "{place}: found no face prior, wanted face.mean, kappa, shape and rate to draw from"
            );
            let nothing = Dataset::empty(1)?;
            settings.resolve(&nothing, None, &mut |_| ()).with_context(|| place.to_string())?
        }
        None => Model::new(FaceModel::isotropic(looks(options))),
    };
    let blank = vec![0.0; model.face.dimension()];
    let mut layout = Dataset::empty(blank.len())?;
    let n_frames = options.frames.unwrap_or(60) as usize;
    for frame in 0..n_frames {
        let context = ["home", "work", "gym"][frame % 3];
        let faces = vec![NewFace { embedding: &blank, name: None }; 1 + rng.below(3)];
        layout.push_frame(Some(context), &faces)?;
    }
    let repeat = model.repeat;
    let n_draws = MOST_SEATED.div_ceil(layout.n_faces());
    let drawn = prior::draw_within(n_draws, &Target::new(model, layout)?, rng);
    let (state, target) = drawn.with_context(|| {
        format!(
            "found somebody twice in a frame in each of {n_draws} draws of {n_frames} frames, wanted fewer \
             --frames, or frame.repeat nearer to 1 than {repeat} in --model"
        )
    })?;
    let data = target.into_data();
    let slot = |face| state.seating().identity_of(face).expect("every face is seated").index();
    let slots: Vec<u32> = data.faces().map(|face| slot(face) as u32).collect();
    let people: Vec<usize> =
        kith::predict::partition::canonical(&slots).into_iter().map(|person| person as usize).collect();
    let n_people = people.iter().max().map_or(0, |last| last + 1);
    let names = (1..=n_people).map(|number| format!("person-{number}")).collect();
    Ok(Scene { data, people, names })
}

impl Scene {
    /// Names a share of the faces, some of them wrongly.
    fn give_names(&mut self, options: &SimulateOptions, rng: &mut Rng) {
        let n_people = self.names.len();
        for face in self.data.faces() {
            if !rng.bernoulli(options.named) {
                continue;
            }
            let own = self.people[face.index()];
            let is_wrong = n_people > 1 && rng.bernoulli(options.wrong);
            let shown = if is_wrong { (own + 1 + rng.below(n_people - 1)) % n_people } else { own };
            self.data.set_name(face, Some(&self.names[shown]));
        }
    }
}
