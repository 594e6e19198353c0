//! What happens, told to whoever listens: server-sent events, in people's words.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::Value;
use tokio::sync::broadcast::{self, error::RecvError};

/// Tells everybody who listens.
pub struct Live {
    send: broadcast::Sender<(&'static str, String)>,
}

impl Live {
    pub fn new() -> Self {
        Self { send: broadcast::channel(64).0 }
    }

    /// Tells of something; nobody need be there.
    pub fn tell(&self, what: &'static str, value: &Value) {
        let _nobody = self.send.send((what, value.to_string()));
    }

    /// What is told from now on, until the browser goes.
    pub fn listen(&self) -> Response {
        let events = stream::unfold(self.send.subscribe(), |mut heard| async move {
            let event = match heard.recv().await {
                Ok((what, text)) => Event::default().event(what).data(text),
                // Whoever was too slow asks anew.
                Err(RecvError::Lagged(_)) => Event::default().event("view").data("{}"),
                Err(RecvError::Closed) => return None,
            };
            Some((Ok::<_, Infallible>(event), heard))
        });
        let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
        crate::door::guard(response.headers_mut());
        response
    }
}

/// When somebody last asked: learning makes room.
pub struct Attention {
    start: Instant,
    last: AtomicU64,
}

impl Attention {
    pub fn new() -> Self {
        Self { start: Instant::now(), last: AtomicU64::new(0) }
    }

    /// Somebody asks.
    pub fn attend(&self) {
        self.last.store(self.start.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    /// How long nobody has asked.
    pub fn quiet(&self) -> Duration {
        let last = self.last.load(Ordering::Relaxed);
        if last == 0 {
            return Duration::MAX;
        }
        self.start.elapsed().saturating_sub(Duration::from_millis(last))
    }
}
