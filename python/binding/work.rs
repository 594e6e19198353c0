//! Long work: on threads of its own, while the calling thread listens for Ctrl-C and tells how far it is.
//!
//! Threads are made for every call. So `n_jobs` may differ from call to call, and a process that was forked
//! has threads too: nothing that uses threads is done outside of this, where they would be those of the
//! process and be gone in a forked one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use kith::chain::Watch;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The calling thread listens so often.
const LISTEN: Duration = Duration::from_millis(40);

/// How far work is, and whether it is to stop.
#[derive(Debug, Default)]
pub struct Progress {
    pub stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// There will be so many steps at most.
    pub fn begin(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// So many are done.
    pub fn reach(&self, done: f64) {
        self.done.store(done as u64, Ordering::Relaxed);
    }

    /// One more is done.
    pub fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Lets chains run under this watch.
    pub fn watch<T>(&self, work: impl FnOnce(&Watch<'_>) -> T) -> T {
        work(&Watch { stop: &self.stop, swept: &|| self.step() })
    }
}

/// Who works, and who is told of it.
pub struct Crew<'py> {
    pub py: Python<'py>,
    /// 0 is as many as there are cores.
    pub n_threads: usize,
    /// Called with what is done and the total.
    pub progress: Option<Bound<'py, PyAny>>,
}

impl<'py> Crew<'py> {
    pub fn new(py: Python<'py>, n_threads: usize, progress: Option<Bound<'py, PyAny>>) -> Self {
        Self { py, n_threads, progress }
    }

    /// Does work that owns what it needs. After Ctrl-C this returns at once, and the work ends at its next
    /// halt by itself.
    pub fn detached<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Progress) -> T + Send + 'static,
    ) -> PyResult<T> {
        let progress = Arc::new(Progress::default());
        let (sender, receiver) = channel();
        let (n_threads, shared) = (self.n_threads, Arc::clone(&progress));
        std::thread::spawn(move || drop(sender.send(pool(n_threads).install(|| work(&shared)))));
        self.listen(receiver, &progress)
    }

    /// Does work that borrows. After Ctrl-C this returns when the work has halted.
    pub fn scoped<T: Send>(&self, work: impl FnOnce(&Progress) -> T + Send) -> PyResult<T> {
        let progress = Progress::default();
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let (n_threads, shared) = (self.n_threads, &progress);
            let work = scope.spawn(move || drop(sender.send(pool(n_threads).install(|| work(shared)))));
            let done = self.listen(receiver, &progress);
            // A panic has been told of by then; without the join it would go on in this thread.
            self.py.detach(|| drop(work.join()));
            done
        })
    }

    fn listen<T: Send>(&self, mut receiver: Receiver<T>, progress: &Progress) -> PyResult<T> {
        let mut told = (0, 0);
        loop {
            let receiver = &mut receiver;
            let received = self.py.detach(move || receiver.recv_timeout(LISTEN));
            let tell = self.tell(progress, &mut told);
            match received {
                Ok(value) => return tell.map(|()| value),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("kith failed: this is a defect, please report it"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = tell.and_then(|()| self.py.check_signals()) {
                progress.stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
    }

    fn tell(&self, progress: &Progress, told: &mut (u64, u64)) -> PyResult<()> {
        let now = (progress.done.load(Ordering::Relaxed), progress.total.load(Ordering::Relaxed));
        if let Some(tell) = self.progress.as_ref().filter(|_| now != *told) {
            *told = now;
            tell.call1(now)?;
        }
        Ok(())
    }
}

/// Waits for something outside the interpreter, so long at a time, and listens for Ctrl-C in between.
pub fn wait<T: Send>(py: Python<'_>, look: impl Fn(Duration) -> Option<T> + Sync) -> PyResult<T> {
    loop {
        if let Some(found) = py.detach(|| look(LISTEN)) {
            return Ok(found);
        }
        py.check_signals()?;
    }
}

fn pool(n_threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads can be started")
}
