//! Who may come in: the right host, the right token, no other page; and what every answer forbids the
//! browser.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use crate::failure::Failure;

/// So many wrong tokens within [`WINDOW`] are a guesser.
const MOST_GUESSES: usize = 10;
const WINDOW: Duration = Duration::from_secs(60);

/// Nothing from elsewhere, nothing inline, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                      connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// What decides.
pub struct Door {
    port: u16,
    /// Stands in the address that is printed.
    token: String,
    /// Stands in the cookie of whoever came in by that address.
    session: String,
    guesses: Mutex<Vec<Instant>>,
}

impl Door {
    /// New secrets for each run.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        Ok(Self { port, token: secret()?, session: secret()?, guesses: Mutex::default() })
    }

    /// The address to open.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/enter/{}", self.port, self.token)
    }

    /// Checks everything but the token: addresses, and whether another page is behind it.
    pub fn check_source(&self, method: &Method, headers: &HeaderMap) -> Result<(), Failure> {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{}", self.port));
        if !text(header::HOST).is_some_and(|host| hosts.iter().any(|known| known == host)) {
            return Err(Failure::host());
        }
        let is_ours =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|host| hosts.iter().any(|h| h == host));
        if text(header::ORIGIN).is_some_and(|origin| !is_ours(origin)) {
            return Err(Failure::origin());
        }
        let site = text(HeaderName::from_static("sec-fetch-site"));
        let is_looking = *method == Method::GET || *method == Method::HEAD;
        match site {
            Some("cross-site" | "same-site") if !is_looking => Err(Failure::origin()),
            _ => Ok(()),
        }
    }

    /// Whether the caller has shown that it may: by the cookie, or, for programs, `Authorization: Bearer
    /// TOKEN`.
    pub fn check_caller(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let name = self.cookie_name();
        let shown: Vec<&str> = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(found, _)| *found == name)
            .map(|(_, value)| value)
            .collect();
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.map(|value| value.strip_prefix("Bearer ").unwrap_or(value));
        if shown.iter().any(|value| is_equal(value, &self.session))
            || bearer.is_some_and(|value| is_equal(value, &self.token))
        {
            return Ok(());
        }
        if shown.is_empty() && bearer.is_none() {
            return Err(Failure::unknown_caller());
        }
        Err(self.wrong_guess())
    }

    /// The cookie for whoever shows the token.
    pub fn enter(&self, token: &str) -> Result<HeaderValue, Failure> {
        // A guesser is not told whether the next guess was right.
        if self.is_guessed_at() {
            return Err(Failure::guessing());
        }
        if !is_equal(token, &self.token) {
            return Err(self.wrong_guess());
        }
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.session);
        HeaderValue::from_str(&cookie).map_err(|_| Failure::unknown_caller())
    }

    /// Cookies are shared by all ports of a host.
    fn cookie_name(&self) -> String {
        format!("kith-{}", self.port)
    }

    fn is_guessed_at(&self) -> bool {
        let mut guesses = self.guesses.lock().expect("nobody panics while holding it");
        guesses.retain(|guess| guess.elapsed() < WINDOW);
        guesses.len() >= MOST_GUESSES
    }

    fn wrong_guess(&self) -> Failure {
        if self.is_guessed_at() {
            return Failure::guessing();
        }
        self.guesses.lock().expect("nobody panics while holding it").push(Instant::now());
        Failure::unknown_caller()
    }
}

/// What every answer says to the browser.
pub fn guard(headers: &mut HeaderMap) {
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    };
    set("content-security-policy", POLICY);
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    set("permissions-policy", "camera=(), microphone=(), geolocation=()");
}

/// 256 random bits.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Takes as long wherever the first difference is.
fn is_equal(found: &str, wanted: &str) -> bool {
    let differences = found.bytes().zip(wanted.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    found.len() == wanted.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_this_machines_host_and_this_page_come_in() {
        let door = Door::new(7777).unwrap();
        let code = |method: Method, pairs: &[(&'static str, &str)]| {
            door.check_source(&method, &headers(pairs)).err().map(|failure| failure.code)
        };
        assert_eq!(code(Method::GET, &[("host", "127.0.0.1:7777")]), None);
        for host in ["evil.example:7777", "127.0.0.1:7778", "127.0.0.1", "localhost.evil.example:7777", ""] {
            assert_eq!(code(Method::GET, &[("host", host)]), Some("host"), "{host}");
        }
        assert_eq!(code(Method::GET, &[]), Some("host"));
        let origin = |origin| code(Method::POST, &[("host", "localhost:7777"), ("origin", origin)]);
        assert_eq!(origin("http://localhost:7777"), None);
        for foreign in ["http://localhost:8888", "https://localhost:7777", "null", "http://evil.example"] {
            assert_eq!(origin(foreign), Some("origin"), "{foreign}");
        }
        let site = [("host", "localhost:7777"), ("sec-fetch-site", "cross-site")];
        assert_eq!(code(Method::POST, &site), Some("origin"));
    }

    #[test]
    fn wrong_tokens_are_counted_and_right_ones_are_not() {
        let door = Door::new(1).unwrap();
        let cookie = door.enter(&door.token).unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        let with_cookie = headers(&[("cookie", &format!("a=b; {}", cookie.split(';').next().unwrap()))]);
        let with_bearer = headers(&[("authorization", &format!("Bearer {}", door.token))]);
        for _ in 0..3 * MOST_GUESSES {
            door.check_caller(&with_cookie).unwrap();
            door.check_caller(&with_bearer).unwrap();
            assert_eq!(door.check_caller(&HeaderMap::new()).unwrap_err().code, "token");
        }
        for _ in 0..MOST_GUESSES {
            assert_eq!(door.enter("0").unwrap_err().code, "token");
        }
        assert_eq!(door.enter(&door.token).unwrap_err().code, "guessing");
        let wrong = headers(&[("authorization", "Bearer x")]);
        assert_eq!(door.check_caller(&wrong).unwrap_err().code, "guessing");
        door.check_caller(&with_cookie).unwrap();
    }
}
