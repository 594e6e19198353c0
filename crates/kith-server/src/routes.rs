//! Every address that is answered, in one table, and the way of a request through the door to its answer.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodFilter, on};

use crate::call::{Call, RETRY, Reply};
use crate::door::Door;
use crate::failure::Failure;
use crate::serve::Desk;
use crate::{assets, forget, history, names, newcomers, plain, reads};

/// The description of the API.
pub const OPENAPI: &str = include_str!("../openapi.json");

type Handler = fn(&Call) -> Result<Reply, Failure>;

/// Bytes of a body of JSON, of an address book (with its pictures), and of a photo.
const JSON: usize = 256 << 10;
const CONTACTS: usize = 32 << 20;
const PHOTO: usize = 64 << 20;

struct Route {
    method: Method,
    path: &'static str,
    handler: Handler,
    /// The most bytes of its body, and of which kind they are.
    body: Option<(usize, &'static str)>,
}

const fn get(path: &'static str, handler: Handler) -> Route {
    Route { method: Method::GET, path, handler, body: None }
}

const fn post(path: &'static str, handler: Handler) -> Route {
    Route { method: Method::POST, path, handler, body: Some((JSON, "application/json")) }
}

const fn photo(path: &'static str, handler: Handler) -> Route {
    Route { method: Method::POST, path, handler, body: Some((PHOTO, "image/")) }
}

const fn text(path: &'static str, handler: Handler) -> Route {
    Route { method: Method::POST, path, handler, body: Some((CONTACTS, "text/")) }
}

const EVENTS: &str = "/api/v1/events";

const ROUTES: &[Route] = &[
    get("/api/v1/status", reads::status),
    get("/api/v1/people", reads::people),
    get("/api/v1/people/{person}", reads::person),
    get("/api/v1/people/{person}/faces", reads::faces),
    post("/api/v1/people/{person}/picture", history::choose_picture),
    get("/api/v1/names", names::names),
    text("/api/v1/names", names::take),
    get("/api/v1/faces/{face}", reads::face),
    get("/api/v1/faces/{face}/picture", reads::face_picture),
    get("/api/v1/photos", reads::photos),
    photo("/api/v1/photos", newcomers::store),
    get("/api/v1/photos/{photo}", reads::photo),
    get("/api/v1/photos/{photo}/picture", newcomers::picture),
    post("/api/v1/photos/{photo}/faces", newcomers::add_face),
    photo("/api/v1/who", newcomers::who),
    get("/api/v1/questions", reads::questions),
    get("/api/v1/doubt", reads::doubt),
    get("/api/v1/history", history::history),
    post("/api/v1/acts", history::say),
    post("/api/v1/undo", history::undo),
    post("/api/v1/redo", history::redo),
    post("/api/v1/meant", history::mean),
    post("/api/v1/forget", forget::forget),
    get("/api/v1/openapi.json", described),
    get("/", plain::people),
    get("/people", plain::people),
    get("/people/{person}", plain::person),
    get("/photos", plain::photos),
    get("/photos/{photo}", plain::photo),
    get("/questions", plain::questions),
    get("/doubt", plain::doubt),
    get("/history", plain::history),
    get("/assets/{name}", assets::asset),
];

fn described(_: &Call) -> Result<Reply, Failure> {
    Ok(Reply::of("application/json", OPENAPI))
}

/// Method and path of everything under `/api`, for whoever compares it with the description.
pub fn described_routes() -> Vec<(String, &'static str)> {
    let routes = ROUTES.iter().filter(|route| route.path.starts_with("/api"));
    let routes = routes.map(|route| (route.method.as_str().to_lowercase(), route.path));
    routes.chain([("get".to_owned(), EVENTS)]).collect()
}

/// All addresses.
pub fn router(desk: &Arc<Desk>, door: &Arc<Door>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let filter = if route.method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        let (desk, door) = (desk.clone(), door.clone());
        let handler = move |places: RawPathParams, request: Request| {
            let (desk, door) = (desk.clone(), door.clone());
            async move { answer(desk, &door, route, places, request).await }
        };
        router = router.route(route.path, on(filter, handler));
    }
    let (listening, at) = (desk.clone(), door.clone());
    let listen = move |request: Request| {
        let (desk, door) = (listening.clone(), at.clone());
        async move {
            match admit(&door, &request) {
                Ok(()) => desk.live.listen(),
                Err(failure) => refusal(&failure, false),
            }
        }
    };
    let at = door.clone();
    let enter = move |places: RawPathParams, request: Request| {
        let door = at.clone();
        async move { enter(&door, &places, &request) }
    };
    router
        .route(EVENTS, on(MethodFilter::GET, listen))
        .route("/enter/{token}", on(MethodFilter::GET, enter))
        .method_not_allowed_fallback(|| async { Reply::from(Failure::method()).into_response() })
        .fallback(|| async { Reply::from(Failure::missing("found no such address")).into_response() })
}

fn admit(door: &Door, request: &Request) -> Result<(), Failure> {
    door.check_source(request.method(), request.headers())?;
    door.check_caller(request.headers())
}

/// The token becomes a cookie, and leaves the address.
fn enter(door: &Door, places: &RawPathParams, request: &Request) -> Response {
    let token = places.iter().next().map_or("", |(_, token)| token);
    let source = door.check_source(request.method(), request.headers());
    match source.and_then(|()| door.enter(token)) {
        Ok(cookie) => {
            let mut response = Reply::of("text/plain; charset=utf-8", "come in").into_response();
            *response.status_mut() = StatusCode::SEE_OTHER;
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
            response
        }
        Err(failure) => refusal(&failure, true),
    }
}

/// A refusal, as a page for people and in the one shape for programs.
fn refusal(failure: &Failure, is_page: bool) -> Response {
    let reply = if is_page {
        Reply { status: failure.status, ..Reply::of("text/html; charset=utf-8", plain::refusal(failure)) }
    } else {
        Reply { status: failure.status, ..Reply::json(&failure.to_json()) }
    };
    let mut response = reply.into_response();
    if failure.status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(RETRY.0, RETRY.1);
    }
    response
}

async fn answer(
    desk: Arc<Desk>,
    door: &Door,
    route: &'static Route,
    places: RawPathParams,
    request: Request,
) -> Response {
    let is_page = !route.path.starts_with("/api");
    // The page's own files say nothing of anybody.
    let admitted = if route.path.starts_with("/assets") {
        door.check_source(request.method(), request.headers())
    } else {
        admit(door, &request)
    };
    if let Err(failure) = admitted {
        return refusal(&failure, is_page);
    }
    desk.attention.attend();
    let places = places.iter().map(|(_, value)| value.to_owned()).collect();
    let query = query(request.uri().query().unwrap_or_default());
    let body = match body(route, request).await {
        Ok(body) => body,
        Err(failure) => return refusal(&failure, is_page),
    };
    let call = Call { desk, places, query, body };
    let done = tokio::task::spawn_blocking(move || {
        let done = (route.handler)(&call);
        call.desk.attention.attend();
        done
    });
    match done.await {
        Ok(Ok(reply)) => reply.into_response(),
        Ok(Err(failure)) => refusal(&failure, is_page),
        Err(_) => refusal(&Failure::unavailable("found a fault of kith itself, wanted an answer"), is_page),
    }
}

/// The body, of the kind that the route wants and not larger.
async fn body(route: &Route, request: Request) -> Result<axum::body::Bytes, Failure> {
    let Some((most, kind)) = route.body else { return Ok(axum::body::Bytes::new()) };
    let found =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if !found.starts_with(kind) {
        return Err(Failure::malformed(format!("content-type: found \"{found}\", wanted {kind}")));
    }
    let body: Body = request.into_body();
    axum::body::to_bytes(body, most).await.map_err(|_| Failure::too_large(most))
}

/// The query, decoded; of a key that is given twice the last counts.
fn query(text: &str) -> HashMap<String, String> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(key), decoded(value))
    };
    text.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

/// Without `%41` and `+`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let (byte, left) = match (first, after) {
            (b'%', [a, b, left @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                (hex(&[*a, *b]).unwrap_or(b'?'), left)
            }
            (b'+', left) => (b' ', left),
            (byte, left) => (*byte, left),
        };
        bytes.push(byte);
        rest = left;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let found = query("q=Zo%C3%AB+A&n=5&empty&%zz=%4");
        assert_eq!(found["q"], "Zo\u{eb} A");
        assert_eq!((&found["n"][..], &found["empty"][..], &found["%zz"][..]), ("5", "", "%4"));
    }
}
