//! A place for something that one call at a time may replace, and that many may look at meanwhile or wait
//! for.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub struct Slot<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    is_busy: bool,
    value: Option<Arc<T>>,
}

/// The right to replace what is in a slot. Dropped without [`Turn::end`], it leaves what was there.
pub struct Turn<T> {
    slot: Arc<Slot<T>>,
    value: Option<Arc<T>>,
}

impl<T> Slot<T> {
    pub fn new(value: Option<T>) -> Arc<Self> {
        let state = State { is_busy: false, value: value.map(Arc::new) };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    /// What is there, once nobody is replacing it; `None` where that takes longer.
    pub fn get(&self, longest: Duration) -> Option<Option<Arc<T>>> {
        Some(self.when_free(longest)?.value.clone())
    }

    /// The right to replace it, once nobody else is doing so; `None` where that takes longer.
    pub fn turn(self: &Arc<Self>, longest: Duration) -> Option<Turn<T>> {
        let mut state = self.when_free(longest)?;
        state.is_busy = true;
        Some(Turn { slot: Arc::clone(self), value: state.value.take() })
    }

    fn when_free(&self, longest: Duration) -> Option<MutexGuard<'_, State<T>>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(state, longest, |state| state.is_busy);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (!state.is_busy).then_some(state)
    }
}

impl<T: Clone> Turn<T> {
    /// A copy of what is there, or the thing itself where nobody else looks at it.
    pub fn take(&mut self) -> Option<T> {
        self.value.take().map(Arc::unwrap_or_clone)
    }
}

impl<T> Turn<T> {
    /// Puts something there.
    pub fn end(mut self, value: T) {
        self.value = Some(Arc::new(value));
    }
}

impl<T> Drop for Turn<T> {
    fn drop(&mut self) {
        let mut state = self.slot.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_busy = false;
        state.value = self.value.take();
        self.slot.changed.notify_all();
    }
}
