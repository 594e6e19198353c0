//! What can be wrong with a request, in one shape: a status, a code for programs, a line for people.

use axum::http::StatusCode;
use kith_store::StoreError;
use serde_json::{Value, json};

/// Why a request was not done.
#[derive(Debug)]
pub struct Failure {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
}

impl Failure {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// The request cannot be understood.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", message)
    }

    /// Understood, and refused: it does not fit what is there.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", message)
    }

    /// There is nothing of that kind.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// There is such an address, and not for this method.
    pub fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", "found another method than this address takes")
    }

    /// Whoever asks has shown no token, or a wrong one.
    pub fn unknown_caller() -> Self {
        let wanted = "found no valid token, wanted the address that `kith serve` printed";
        Self::new(StatusCode::UNAUTHORIZED, "token", wanted)
    }

    /// Too many wrong tokens.
    pub fn guessing() -> Self {
        let wanted = "found too many wrong tokens, wanted a pause of a minute";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "guessing", wanted)
    }

    /// The request was meant for another host.
    pub fn host() -> Self {
        let wanted = "found another Host than this machine's, wanted 127.0.0.1 or localhost with the port";
        Self::new(StatusCode::MISDIRECTED_REQUEST, "host", wanted)
    }

    /// The request was sent by another page.
    pub fn origin() -> Self {
        Self::new(StatusCode::FORBIDDEN, "origin", "found a request of another page, wanted this one's")
    }

    /// More bytes than may be sent.
    pub fn too_large(most: usize) -> Self {
        let message = format!("found a body of more than {most} bytes, wanted fewer");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// The page only shows.
    pub fn read_only() -> Self {
        let message = "found a library that is only shown (--read-only), wanted one that can be written";
        Self::new(StatusCode::FORBIDDEN, "read_only", message)
    }

    /// What is asked for needs something that is not there now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }

    /// The one shape.
    pub fn to_json(&self) -> Value {
        json!({"error": {"code": self.code, "message": self.message}})
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (status, code) = match &error {
            StoreError::Refused(_)
            | StoreError::Nobody { .. }
            | StoreError::Data(_)
            | StoreError::Model(_) => (StatusCode::UNPROCESSABLE_ENTITY, "refused"),
            StoreError::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            StoreError::ReadOnly { .. } => (StatusCode::FORBIDDEN, "read_only"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "library"),
        };
        Self::new(status, code, error.to_string())
    }
}
