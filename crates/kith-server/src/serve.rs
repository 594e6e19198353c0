//! The server: what its parts share, how they start, and how they end.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant};

use kith_store::{Claim, EntryId, Library, StoreError};
use kith_vision::Vision;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::door::Door;
use crate::live::{Attention, Live};
use crate::scribe::{self, Request};
use crate::view::{Effect, View};
use crate::{routes, thinker};

/// How long the end waits for what is being learnt.
const PATIENCE: Duration = Duration::from_secs(10);

/// How to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// The library file.
    pub lib: PathBuf,
    /// The port on the loopback address; 0 is any that is free.
    pub port: u16,
    /// Nothing can be said, and nothing is learnt.
    pub is_read_only: bool,
    /// Who speaks.
    pub by: String,
    /// Where networks for photos are looked for.
    pub models: Vec<PathBuf>,
    /// Names of the owner's address book; they are not stored.
    pub names: Vec<String>,
}

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The library refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The port refuses.
    #[error("127.0.0.1:{port}: {error}, wanted a free port; --port 0 takes any")]
    Port {
        /// Which.
        port: u16,
        /// Why.
        error: std::io::Error,
    },
    /// The system refuses threads, sockets or random numbers.
    #[error("found no {what} on this system: {reason}")]
    System {
        /// What was wanted.
        what: &'static str,
        /// Why there is none.
        reason: String,
    },
}

/// What all parts share.
pub struct Desk {
    view: RwLock<Arc<View>>,
    /// Acts that belief has not taken in yet, each with its last entry.
    pending: Mutex<Vec<(EntryId, Effect)>>,
    pub live: Live,
    pub attention: Attention,
    /// For small reads: thumbnails, places of faces on photos.
    pub reader: Mutex<Library>,
    /// Where there is somebody who writes.
    pub scribe: Mutex<Option<Sender<Request>>>,
    pub options: Options,
    pub by: String,
    /// Names of the owner's address book.
    pub contacts: RwLock<Arc<Vec<String>>>,
    pub vision: OnceLock<Result<Vision, String>>,
    /// What the thinker is at, in a word.
    pub doing: Mutex<&'static str>,
    /// Tells the thinker to look.
    news: (Mutex<bool>, Condvar),
    /// Held while belief is worked out or learnt.
    pub thinking: Mutex<()>,
    /// While somebody waits for that to end, to forget.
    pub is_forgetting: AtomicBool,
    /// Tells learning to stop.
    pub interrupt: AtomicBool,
    pub is_ending: AtomicBool,
}

impl Desk {
    /// What is shown now.
    pub fn view(&self) -> Arc<View> {
        self.view.read().expect("nobody panics while holding it").clone()
    }

    /// Changes what is shown.
    pub fn change(&self, change: impl FnOnce(&mut View)) {
        let mut place = self.view.write().expect("nobody panics while holding it");
        let mut view = View::clone(&place);
        change(&mut view);
        view.number += 1;
        *place = Arc::new(view);
    }

    /// Shows what belief came to; acts that came meanwhile keep their effect.
    pub fn publish(&self, view: &View) {
        let mut pending = self.pending.lock().expect("nobody panics while holding it");
        pending.retain(|(entry, _)| *entry > view.last_entry());
        let mut next = pending.iter().fold(view.clone(), |view, (_, effect)| view.after(effect));
        let mut place = self.view.write().expect("nobody panics while holding it");
        if place.last_entry() > next.last_entry() {
            next.set_log(place.log.clone(), place.names.clone());
        }
        next.number = place.number + 1;
        let former = std::mem::replace(&mut *place, Arc::new(next));
        drop(place);
        // A whole belief may go with it, which takes its time.
        drop(pending);
        drop(former);
    }

    /// Shows this and nothing of what was shown before.
    pub fn replace(&self, view: View) {
        self.pending.lock().expect("nobody panics while holding it").clear();
        self.change(|place| {
            let number = place.number;
            *place = view;
            place.number = number;
        });
    }

    /// Something was said: it is shown at once, and the thinker is told.
    pub fn heard(&self, library: &Library, effect: Effect) -> Result<(), StoreError> {
        let log = library.log()?;
        let mut names = self.view().names.clone();
        for name in log.iter().filter_map(|entry| entry.name) {
            if let std::collections::hash_map::Entry::Vacant(place) = names.entry(name) {
                place.insert(library.name_of(name)?);
            }
        }
        let last = log.last().map_or(EntryId(0), |entry| entry.id);
        let mut pending = self.pending.lock().expect("nobody panics while holding it");
        let is_news = effect != Effect::Shown;
        self.change(|view| {
            *view = view.after(&effect);
            view.set_log(Arc::new(log), names);
        });
        if is_news {
            pending.push((last, effect));
            drop(pending);
            self.wake();
        }
        Ok(())
    }

    /// The thinker looks whether there is news.
    pub fn wake(&self) {
        self.interrupt.store(true, Ordering::Relaxed);
        *self.news.0.lock().expect("nobody panics while holding it") = true;
        self.news.1.notify_all();
    }

    /// Waits for news, not longer than this.
    pub fn wait(&self, most: Duration) {
        let has_news = self.news.0.lock().expect("nobody panics while holding it");
        let waited = self.news.1.wait_timeout_while(has_news, most, |has_news| !*has_news);
        *waited.expect("nobody panics while holding it").0 = false;
    }

    /// Whether everything is to end.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }
}

/// A server that listens, and has not answered yet.
pub struct Server {
    desk: Arc<Desk>,
    door: Arc<Door>,
    writer: Option<(Library, Claim)>,
    thinking: Library,
    runtime: Runtime,
    listener: TcpListener,
}

impl Server {
    /// Opens the library and the port.
    pub fn bind(options: Options) -> Result<Self, ServeError> {
        let open = if options.is_read_only { Library::open_to_read } else { Library::open };
        let (thinking, reader) = (open(&options.lib)?, open(&options.lib)?);
        let writer = if options.is_read_only {
            None
        } else {
            let library = Library::open(&options.lib)?;
            let claim = library.claim()?;
            Some((library, claim))
        };
        let wanted =
            |what| move |error: std::io::Error| ServeError::System { what, reason: error.to_string() };
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).max_blocking_threads(16).enable_all();
        let runtime = builder.build().map_err(wanted("threads"))?;
        let port = options.port;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.map_err(|error| ServeError::Port { port, error })?;
        let port = listener.local_addr().map_err(wanted("port"))?.port();
        let door = Door::new(port);
        let door =
            door.map_err(|error| ServeError::System { what: "random numbers", reason: error.to_string() })?;
        let desk = Desk {
            view: RwLock::new(Arc::new(View::stored(&thinking)?)),
            pending: Mutex::default(),
            live: Live::new(),
            attention: Attention::new(),
            reader: Mutex::new(reader),
            scribe: Mutex::new(None),
            by: options.by.clone(),
            contacts: RwLock::new(Arc::new(options.names.clone())),
            options,
            vision: OnceLock::new(),
            doing: Mutex::new("waking"),
            news: (Mutex::new(true), Condvar::new()),
            thinking: Mutex::new(()),
            is_forgetting: AtomicBool::new(false),
            interrupt: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
        };
        Ok(Self { desk: Arc::new(desk), door: Arc::new(door), writer, thinking, runtime, listener })
    }

    /// The address to open, with the token.
    pub fn address(&self) -> String {
        self.door.address()
    }

    /// Answers until `stop`; then everything is stored.
    pub fn run(self, stop: &AtomicBool) -> Result<(), ServeError> {
        let Self { desk, door, writer, mut thinking, runtime, listener } = self;
        let (send, jobs) = mpsc::channel();
        let claim = writer.map(|(library, claim)| {
            *desk.scribe.lock().expect("nobody panics while holding it") = Some(send);
            let desk = desk.clone();
            std::thread::spawn(move || {
                // The claim goes when the last act is written.
                let _claim = claim;
                scribe::run(&library, &desk, &jobs);
            })
        });
        let thoughts = {
            let desk = desk.clone();
            std::thread::spawn(move || thinker::run(&mut thinking, &desk))
        };
        let router = routes::router(&desk, &door);
        runtime.block_on(async {
            let server = tokio::spawn(async move { axum::serve(listener, router).await });
            while !stop.load(Ordering::Relaxed) && !server.is_finished() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            server.abort();
        });
        runtime.shutdown_timeout(Duration::from_secs(2));
        desk.is_ending.store(true, Ordering::Relaxed);
        desk.wake();
        // What is learnt is kept at the next sweep; a first look at many faces is not waited for, and is
        // begun again.
        let end = Instant::now() + PATIENCE;
        while !thoughts.is_finished() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        desk.scribe.lock().expect("nobody panics while holding it").take();
        claim.into_iter().for_each(|scribe| drop(scribe.join()));
        Ok(())
    }
}
