//! A request that came in by the door, and what is replied.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;
use crate::serve::Desk;
use crate::view::View;

/// A request.
pub struct Call {
    pub desk: Arc<Desk>,
    /// The parts of the address that stand in braces in its route, in their order.
    pub places: Vec<String>,
    pub query: HashMap<String, String>,
    pub body: Bytes,
}

/// What is replied.
pub struct Reply {
    pub status: StatusCode,
    pub kind: &'static str,
    pub bytes: Vec<u8>,
    /// How long the browser may keep it.
    pub keeps: &'static str,
    /// The browser lets go of all that it kept.
    pub forgets: bool,
}

impl Reply {
    /// JSON, which is asked for anew each time.
    pub fn json(value: &Value) -> Self {
        Self::of("application/json", value.to_string().into_bytes())
    }

    /// Bytes of a kind, which are asked for anew each time.
    pub fn of(kind: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { status: StatusCode::OK, kind, bytes: bytes.into(), keeps: "no-store", forgets: false }
    }

    /// What does not change for a while.
    pub fn kept(self) -> Self {
        Self { keeps: "private, max-age=300", ..self }
    }

    /// As it goes out.
    pub fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.bytes));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.keeps));
        if self.forgets {
            headers.insert("clear-site-data", HeaderValue::from_static("\"cache\""));
        }
        crate::door::guard(headers);
        response
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self { status: failure.status, ..Self::json(&failure.to_json()) }
    }
}

/// A header that asks for a pause, for whoever guesses.
pub const RETRY: (HeaderName, HeaderValue) = (header::RETRY_AFTER, HeaderValue::from_static("60"));

impl Call {
    /// What is known now.
    pub fn view(&self) -> Arc<View> {
        self.desk.view()
    }

    /// A number in the address.
    pub fn number(&self, place: usize) -> Result<i64, Failure> {
        let text = self.places.get(place).map_or("", String::as_str);
        text.parse()
            .map_err(|_| Failure::missing(format!("found \"{text}\" in the address, wanted a number")))
    }

    /// A number of the query within bounds, or what it is where it is not given.
    pub fn count(&self, key: &str, default: usize, most: usize) -> Result<usize, Failure> {
        let Some(text) = self.query.get(key) else { return Ok(default) };
        let wrong = || Failure::malformed(format!("{key}: found \"{text}\", wanted 0 to {most}"));
        text.parse().ok().filter(|&n| n <= most).ok_or_else(wrong)
    }

    /// A word of the query.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.query.get(key).map(String::as_str).filter(|word| !word.is_empty())
    }

    /// The body, as JSON of a shape.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| Failure::malformed(format!("body: {error}")))
    }
}
