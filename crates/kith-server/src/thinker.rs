//! The one who believes: takes in what was seen and said, learns while nobody asks, and shows what it came
//! to.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kith::chain::Watch;
use kith_store::{Asked, Believed, Changes, EntryId, Library, Plan, StoreError, Told};
use serde_json::json;

use crate::scribe::trouble;
use crate::serve::Desk;
use crate::view::{View, asking, doubtful};
use crate::words;

/// Learning waits until nobody has asked for so long.
const QUIET: Duration = Duration::from_millis(400);
/// And begins when nothing was said for so long.
const CALM: Duration = Duration::from_secs(3);
/// How often another process is looked for that has added something.
const GLANCE: Duration = Duration::from_secs(2);
/// So many questions are thought of ahead: whoever passes over many is still asked.
const AHEAD: usize = 100;
/// Chains that have swept less often have not learnt yet.
const FEW_SWEEPS: u64 = 24;
/// A learning that was interrupted earlier is not kept.
const LEAST_SWEEPS: u64 = 16;

/// What has been taken in: the last entry, and how many faces there were.
type Moment = (EntryId, usize);

/// Thinks until the end.
pub fn run(library: &mut Library, desk: &Arc<Desk>) {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    // Learning has threads of its own, which it keeps while it waits for whoever asks.
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(cores).build() else { return };
    let [mut believed, mut reasoned, mut bounded, mut learnt]: [Option<Moment>; 4] = [None; 4];
    // Whether the library has been left as it is shown: an interrupted learning may have changed chains and
    // model.
    let mut is_as_shown = false;
    while !desk.is_ending() {
        let thought = (|| {
            if desk.is_forgetting.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
                return Ok(());
            }
            let thinking = desk.thinking.lock().expect("nobody panics while holding it");
            // Whatever is said from here on interrupts; what was said before is seen.
            desk.interrupt.store(desk.is_ending(), Ordering::Relaxed);
            let now = moment(library)?;
            if believed != Some(now) {
                let shown = desk.view().asked.clone().filter(|_| is_as_shown);
                let has_learnt = believe(library, desk, shown.as_deref(), believed.is_none())?;
                is_as_shown = true;
                learnt = learnt.or(has_learnt.then_some(now));
                (believed, reasoned, bounded) = (Some(now), None, None);
            } else if reasoned != Some(now) {
                // After what was said last: whoever answers quickly is asked on without reasons being thought
                // of in between.
                reason(desk);
                reasoned = Some(now);
            } else if bounded != Some(now) && !desk.options.is_read_only && is_calm(desk, now) {
                keep_bounds(library, desk)?;
                bounded = Some(now);
            } else if learnt != Some(now) && !desk.options.is_read_only && is_calm(desk, now) {
                is_as_shown = false;
                if pool.install(|| learn(&mut *library, desk))? {
                    (learnt, reasoned, bounded, is_as_shown) = (Some(now), None, None, true);
                }
            } else {
                drop(thinking);
                desk.wait(if learnt == Some(now) { GLANCE } else { QUIET });
            }
            Ok(())
        })();
        if let Err(error) = thought {
            trouble(desk, &error);
            desk.wait(GLANCE);
        }
    }
}

fn moment(library: &Library) -> Result<Moment, StoreError> {
    Ok((library.last_evidence()?, library.n_faces()?))
}

/// Whether it is time to learn: there is somebody to learn of, and nobody asks.
fn is_calm(desk: &Desk, (_, n_faces): Moment) -> bool {
    n_faces > 0 && desk.view().asked.is_some() && desk.attention.quiet() >= CALM
}

fn doing(desk: &Desk, what: &'static str) {
    *desk.doing.lock().expect("nobody panics while holding it") = what;
    desk.live.tell("doing", &json!({"doing": what}));
}

/// Takes in what was seen and said since what is `shown`; returns whether it had learnt before.
fn believe(
    library: &Library,
    desk: &Arc<Desk>,
    shown: Option<&Asked>,
    is_first: bool,
) -> Result<bool, StoreError> {
    doing(desk, "thinking");
    let before = desk.view();
    let opened = open(library, shown)?;
    let Some(opened) = opened else {
        desk.publish(&View::stored(library)?);
        doing(desk, "resting");
        return Ok(true);
    };
    let n_sweeps = library.memories(&opened.rows)?.first().map_or(0, |chain| chain.sweep);
    show(library, desk, opened)?;
    let changes = Changes::between(&before.people, &desk.view().people);
    tell(desk, &changes, is_first);
    Ok(n_sweeps >= FEW_SWEEPS)
}

/// What is believed now: what was before with what was said since, where that is all; `None` where there is
/// no face to believe anything of.
fn open(library: &Library, before: Option<&Asked>) -> Result<Option<Believed>, StoreError> {
    if let Some(before) = before
        && let Some(believed) = before.believed.after_news(library)?
    {
        return Ok(Some(believed));
    }
    match library.n_faces()? {
        0 => Ok(None),
        _ => match Believed::open(library) {
            Err(StoreError::Nobody { .. }) => Ok(None),
            opened => opened.map(Some),
        },
    }
}

/// Shows what is believed: people first, then questions; reasons are those from before for a while.
fn show(library: &Library, desk: &Desk, believed: Believed) -> Result<(), StoreError> {
    let earlier = desk.view();
    let stored = View::stored(library)?.filed_as(&earlier);
    desk.publish(&stored.clone().thinking_as(&earlier));
    let asked = Arc::new(Asked::new(believed, library)?);
    let mut view = stored.believing(asked.clone());
    let questions = asked.believed.belief.ask(AHEAD);
    view.questions = Arc::new(questions.iter().map(|question| asking(question, &asked)).collect());
    (view.doubtful, view.reasons) = (earlier.doubtful.clone(), earlier.reasons.clone());
    desk.publish(&view);
    Ok(())
}

/// Works out reasons and what is doubted, which takes longest in a large library, and shows them.
fn reason(desk: &Desk) {
    if let Some(asked) = desk.view().asked.clone() {
        asked.prepare();
        let doubtful = Arc::new(doubtful(&desk.view().log, &asked));
        desk.change(|view| (view.reasons, view.doubtful) = (Some(asked), doubtful));
        desk.live.tell("view", &json!({"view": desk.view().number, "changes": []}));
    }
    doing(desk, "resting");
}

/// Keeps what the next word needs, where it is not there: without it a large library is gone through as a
/// whole for each.
fn keep_bounds(library: &Library, desk: &Desk) -> Result<(), StoreError> {
    match desk.view().asked.as_ref().map(|asked| asked.believed.keep_bounds(library)) {
        // Another process writes; the next calm moment is as good.
        None | Some(Err(StoreError::Busy { .. })) => Ok(()),
        Some(kept) => kept,
    }
}

/// Says what changed.
fn tell(desk: &Desk, changes: &Changes, is_first: bool) {
    let lines = if is_first { Vec::new() } else { words::changes(changes) };
    desk.live.tell("view", &json!({"view": desk.view().number, "changes": lines}));
}

/// Learns until the chains agree; returns whether it came to an end.
fn learn(library: &mut Library, desk: &Desk) -> Result<bool, StoreError> {
    doing(desk, "learning");
    let wait = || {
        while desk.attention.quiet() < QUIET && !desk.interrupt.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let watch = Watch { stop: &desk.interrupt, swept: &wait };
    let plan = Plan { sweeps: None, chains: None, seed: None, least: LEAST_SWEEPS };
    let mut told = Told { prior: &mut |_| wait(), begins: &mut |_| (), goes_on: &mut |_| () };
    let (believed, changes) = Believed::learn(library, &plan, &watch, &mut told)?;
    let is_done = !changes.is_interrupted;
    if is_done {
        show(library, desk, believed)?;
        tell(desk, &changes, false);
    }
    doing(desk, "resting");
    Ok(is_done)
}
