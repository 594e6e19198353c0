//! A server on a made-up library, and a client that can misbehave.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kith_server::{Options, Server};
use kith_store::{Library, NewFace, NewFrame};
use serde_json::Value;

/// A server in this process; it ends when this is dropped.
pub struct Running {
    pub port: u16,
    pub token: String,
    pub lib: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Goes with it.
    folder: Option<tempfile::TempDir>,
}

/// What was replied.
pub struct Answered {
    pub status: u16,
    pub headers: String,
    pub body: Vec<u8>,
}

impl Answered {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or("no error").to_owned()
    }
}

/// Three people, apart in four dimensions: one is on all eight frames, the others with them in turn.
pub fn library(path: &std::path::Path) -> Library {
    let library = Library::open_or_create(path).unwrap();
    let face = |person: usize, k: usize| {
        let mut embedding = vec![0.01 * k as f32, 0.02, -0.01 * k as f32, 0.1];
        embedding[person] += 5.0;
        NewFace { key: format!("p{person}/{k}.jpg#0"), embedding, ..NewFace::default() }
    };
    let frame = |k: usize| NewFrame {
        key: Some(format!("frame {k}")),
        context: Some(if k.is_multiple_of(2) { "home" } else { "work" }.to_owned()),
        time: Some(format!("2026-03-0{}T12:00:00Z", k + 1)),
        faces: [0, 1 + k % 2].map(|person| face(person, k)).to_vec(),
        ..NewFrame::default()
    };
    library.add(&Vec::from_iter((0..8).map(frame)), Some("made up")).unwrap();
    library
}

impl Running {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lib = folder.path().join("family.kith");
        drop(library(&lib));
        let mut running = Self::on(lib, false);
        running.folder = Some(folder);
        running
    }

    pub fn on(lib: PathBuf, is_read_only: bool) -> Self {
        let options = Options {
            lib: lib.clone(),
            port: 0,
            is_read_only,
            by: "me".to_owned(),
            models: Vec::new(),
            names: Vec::new(),
        };
        let server = Server::bind(options).unwrap();
        let address = server.address();
        let (base, token) = address.split_once("/enter/").unwrap();
        let port = base.rsplit_once(':').unwrap().1.parse().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let stop = stop.clone();
            std::thread::spawn(move || server.run(&stop).unwrap())
        };
        Self { port, token: token.to_owned(), lib, stop, thread: Some(thread), folder: None }
    }

    /// Sends bytes and reads what comes back.
    pub fn raw(&self, request: &[u8], patience: Duration) -> Answered {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(patience)).unwrap();
        // A server that has heard enough may close before everything is sent.
        let _cut = stream.write_all(request);
        let mut reply = Vec::new();
        let _cut = stream.read_to_end(&mut reply);
        let end =
            reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(reply.len().saturating_sub(4));
        let headers = String::from_utf8_lossy(&reply[..end]).to_lowercase();
        let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let rest = reply.get(end + 4..).unwrap_or_default().to_vec();
        Answered { status, headers, body: rest }
    }

    /// A request with headers of one's own.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if headers.iter().all(|(name, _)| *name != "Host") {
            request += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        headers.iter().for_each(|(name, value)| request += &format!("{name}: {value}\r\n"));
        let mut bytes = (request + "\r\n").into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes, Duration::from_secs(60))
    }

    pub fn get(&self, path: &str) -> Answered {
        self.send("GET", path, &[("Authorization", &format!("Bearer {}", self.token))], b"")
    }

    pub fn post(&self, path: &str, body: &str) -> Answered {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        self.send("POST", path, &headers, body.as_bytes())
    }

    /// Waits until what was said has been taken in.
    pub fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let value = self.get(path).json();
            if is_so(&value) {
                return value;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{path}: {value}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it as Ctrl-C does.
    pub fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().into_iter().for_each(|thread| thread.join().unwrap());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
