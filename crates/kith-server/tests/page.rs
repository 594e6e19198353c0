//! The page over HTTP: who may come in, what is asked and said, and what is wrong with requests.

mod common;

use std::collections::BTreeSet;

use common::{Running, library};
use kith_store::{Kind, Library};
use serde_json::{Value, json};

#[test]
fn the_token_opens_and_nothing_else_does() {
    let page = Running::new();
    let code = |headers: &[(&str, &str)]| page.send("GET", "/api/v1/status", headers, b"").code();
    assert_eq!(code(&[]), "token");
    assert_eq!(code(&[("Authorization", "Bearer 0123")]), "token");
    assert_eq!(code(&[("Cookie", &format!("kith-{}=0123", page.port))]), "token");
    assert_eq!(page.send("GET", "/people", &[], b"").status, 401);
    let entered = page.send("GET", &format!("/enter/{}", page.token), &[], b"");
    assert_eq!(entered.status, 303);
    let cookie =
        entered.headers.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap().to_owned();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let inside = page.send("GET", "/api/v1/status", &[("Cookie", cookie)], b"");
    assert_eq!(inside.status, 200);
    assert!(inside.headers.contains("content-security-policy: default-src 'none'"), "{}", inside.headers);
    assert!(inside.headers.contains("cache-control: no-store"));
    // The cookie of one run is nothing to the next, nor is its token.
    let other = Running::new();
    assert_eq!(other.send("GET", "/api/v1/status", &[("Cookie", cookie)], b"").code(), "token");
    assert_eq!(other.send("GET", &format!("/enter/{}", page.token), &[], b"").status, 401);
}

#[test]
fn guessing_is_slowed_down_and_whoever_is_inside_stays() {
    let page = Running::new();
    let statuses: Vec<u16> =
        (0..12).map(|k| page.send("GET", &format!("/enter/{k:064}"), &[], b"").status).collect();
    assert_eq!(statuses[..10], [401; 10]);
    assert_eq!(statuses[10..], [429; 2]);
    let right = page.send("GET", &format!("/enter/{}", page.token), &[], b"");
    assert_eq!(right.status, 429, "a guesser is not told that a guess was right");
    assert!(right.headers.contains("retry-after: 60"));
    assert_eq!(page.get("/api/v1/status").status, 200);
}

#[test]
fn other_hosts_and_other_pages_are_refused() {
    let page = Running::new();
    let bearer = format!("Bearer {}", page.token);
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost:99999"] {
        let answered = page.send("GET", "/api/v1/people", &[("Host", host), ("Authorization", &bearer)], b"");
        assert_eq!((answered.status, &answered.code()[..]), (421, "host"), "{host}");
    }
    let act = br#"{"kind":"name","faces":[1],"name":"Eve"}"#;
    for (name, value) in
        [("Origin", "http://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")]
    {
        let headers = [(name, value), ("Authorization", &bearer), ("Content-Type", "application/json")];
        assert_eq!(page.send("POST", "/api/v1/acts", &headers, act).code(), "origin", "{name}: {value}");
    }
    // A form of another page cannot send JSON.
    let form = [("Authorization", &bearer[..]), ("Content-Type", "text/plain")];
    assert_eq!(page.send("POST", "/api/v1/acts", &form, act).code(), "malformed");
    assert_eq!(page.get("/api/v1/history").json()["total"], 0);
}

#[test]
fn requests_that_are_wrong_are_refused_in_one_shape_and_change_nothing() {
    let page = Running::new();
    let bodies = [
        "",
        "{",
        "[]",
        "null",
        "\"name\"",
        "{}",
        r#"{"kind":"fly"}"#,
        r#"{"kind":"name","faces":["1"],"name":"A"}"#,
        r#"{"kind":"name","faces":[1]}"#,
        r#"{"kind":"name","faces":[1],"name":7}"#,
        r#"{"kind":"name","faces":[],"name":"A"}"#,
        r#"{"kind":"name","faces":[1],"person":1,"name":"A"}"#,
        r#"{"kind":"name","faces":[1],"name":"A","more":1}"#,
        r#"{"kind":"name","faces":[99999],"name":"A"}"#,
        r#"{"kind":"name","faces":[1],"name":"  "}"#,
        r#"{"kind":"name","faces":[1],"name":"a\nb"}"#,
        r#"{"kind":"same","face":1,"other":1}"#,
        r#"{"kind":"join","person":1,"into":1}"#,
        r#"{"kind":"name","faces":[1e99],"name":"A"}"#,
        r#"{"kind":"ignore"}"#,
    ];
    page.until("/api/v1/status", |status| status["believes"] == true);
    for body in bodies {
        let answered = page.post("/api/v1/acts", body);
        assert!((400..500).contains(&answered.status), "{body}: {}", answered.status);
        assert!(["malformed", "refused", "not_found"].contains(&&answered.code()[..]), "{body}");
    }
    let name = format!(r#"{{"kind":"name","faces":[1],"name":"{}"}}"#, "x".repeat(300 << 10));
    assert_eq!(page.post("/api/v1/acts", &name).status, 413);
    for path in ["/api/v1/undo", "/api/v1/redo"] {
        assert_eq!(page.post(path, r#"{"act":"x"}"#).code(), "malformed");
        assert_eq!(page.post(path, r#"{"act":77}"#).code(), "refused");
    }
    assert_eq!(page.get("/api/v1/history").json()["total"], 0);
    let log = Library::open_to_read(&page.lib).unwrap().log().unwrap();
    assert_eq!(log, []);
}

#[test]
fn addresses_that_are_not_there_lead_nowhere() {
    let page = Running::new();
    for path in [
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/lib.rs",
        "/assets//etc/passwd",
        "/assets/app.js%00",
        "/api/v1/faces/1%2F..",
        "/api/v1/faces/-1",
        "/api/v1/faces/999999",
        "/api/v1/people/9223372036854775808",
        "/api/v1/photos/x/picture",
        "/api/v2/people",
        "/api/v1/people/1/faces/2",
        "//",
    ] {
        let answered = page.get(path);
        let is_drawn = path == "/api/v1/faces/-1/picture";
        assert!((400..500).contains(&answered.status) || is_drawn, "{path}: {}", answered.status);
    }
    for path in
        ["/api/v1/people?n=-1", "/api/v1/people?n=5000", "/api/v1/people?sort=x", "/api/v1/people?standing=x"]
    {
        assert_eq!(page.get(path).code(), "malformed", "{path}");
    }
    assert_eq!(page.post("/api/v1/people", "{}").status, 405);
    for bytes in [
        &b"GET\r\n\r\n"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"BREW / HTCPCP/1.0\r\n\r\n",
    ] {
        assert!(page.raw(bytes, std::time::Duration::from_secs(2)).status < 500);
    }
    assert_eq!(page.get("/api/v1/status").status, 200);
}

#[test]
fn nearly_right_bodies_never_break_it() {
    let page = Running::new();
    page.until("/api/v1/status", |status| status["believes"] == true);
    let corpus = [
        r#"{"kind":"name","faces":[1,2],"name":"Ann"}"#,
        r#"{"kind":"join","person":1,"into":2}"#,
        r#"{"kind":"take_out","faces":[3]}"#,
        r#"{"kind":"different","face":1,"other":9}"#,
    ];
    let mut rng = kith::random::driver(5);
    for round in 0..300 {
        let mut bytes = corpus[rng.below(corpus.len())].as_bytes().to_vec();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len());
            match rng.below(4) {
                0 => bytes[at] = rng.below(256) as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"{}[]\",:0-9e"[rng.below(11)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let bearer = format!("Bearer {}", page.token);
        let headers = [("Authorization", &bearer[..]), ("Content-Type", "application/json")];
        let answered = page.send("POST", "/api/v1/acts", &headers, &bytes);
        assert!(
            answered.status == 200 || (400..500).contains(&answered.status),
            "{round}: {}",
            answered.status
        );
    }
    assert_eq!(page.get("/api/v1/people").status, 200);
}

fn person_of(page: &Running, face: i64) -> i64 {
    page.get(&format!("/api/v1/faces/{face}")).json()["person"].as_i64().unwrap()
}

#[test]
fn what_is_said_is_shown_at_once_believed_later_and_taken_back() {
    let page = Running::new();
    let people = page.until("/api/v1/people", |people| people["total"] == 3);
    let person = people["people"][0]["person"].as_i64().unwrap();
    let act = page
        .post("/api/v1/acts", &json!({"kind": "name", "person": person, "name": "Ann"}).to_string())
        .json();
    let shown = page.get("/api/v1/people?q=ann").json();
    assert_eq!((&shown["total"], &shown["people"][0]["person"]), (&json!(1), &json!(person)));
    page.until("/api/v1/status", |status| status["doing"] == "resting" && status["named"] == 1);
    let renamed =
        page.post("/api/v1/acts", &json!({"kind": "name", "person": person, "name": "Anna"}).to_string());
    assert_eq!(renamed.status, 200);
    page.until("/api/v1/people?standing=named", |named| named["people"][0]["name"] == "Anna");
    let detail = page.get(&format!("/api/v1/people/{person}")).json();
    assert!(detail["together"].as_array().is_some_and(|together| !together.is_empty()), "{detail}");
    // A name, and a name for every face that had another: the face that shows a person may have changed
    // between.
    assert!(detail["said"].as_array().unwrap().len() >= 2, "{detail}");
    // Any act can be taken back, not only the last.
    for number in [&renamed.json()["act"], &act["act"]] {
        assert_eq!(page.post("/api/v1/undo", &json!({"act": number}).to_string()).json()["undone"], *number);
    }
    page.until("/api/v1/status", |status| status["named"] == 0);
    assert_eq!(
        page.post("/api/v1/redo", &json!({"act": act["act"]}).to_string()).json()["redone"],
        act["act"]
    );
    page.until("/api/v1/people?standing=named", |named| named["people"][0]["name"] == "Ann");
    let history = page.get("/api/v1/history").json();
    assert_eq!(
        history["acts"].as_array().unwrap().iter().map(|act| act["stands"] == true).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn people_are_joined_and_faces_taken_out_and_ignored() {
    let page = Running::new();
    let people = page.until("/api/v1/people", |people| people["total"] == 3);
    let ids: Vec<i64> =
        people["people"].as_array().unwrap().iter().map(|p| p["person"].as_i64().unwrap()).collect();
    let act = page
        .post("/api/v1/acts", &json!({"kind": "join", "person": ids[2], "into": ids[1]}).to_string())
        .json();
    assert_eq!(page.get("/api/v1/people").json()["total"], 2, "shown at once");
    page.until("/api/v1/status", |status| status["doing"] == "resting" && status["n_people"] == 2);
    page.post("/api/v1/undo", &json!({"act": act["act"]}).to_string());
    page.until("/api/v1/status", |status| status["doing"] == "resting" && status["n_people"] == 3);
    let faces = page.get(&format!("/api/v1/people/{}/faces", ids[0])).json();
    let row = faces["faces"][0]["row"].as_i64().unwrap();
    assert_eq!(person_of(&page, row), ids[0]);
    page.post("/api/v1/acts", &json!({"kind": "take_out", "faces": [row]}).to_string());
    page.until(&format!("/api/v1/faces/{row}"), |face| face["person"] != ids[0]);
    let chosen = faces["faces"][1]["row"].as_i64().unwrap();
    let picture = format!("/api/v1/people/{}/picture", ids[0]);
    assert_eq!(page.post(&picture, &json!({"face": chosen}).to_string()).status, 200);
    assert_eq!(page.get(&format!("/api/v1/people/{}", ids[0])).json()["picture"], chosen);
    assert_eq!(page.post(&picture, &json!({"face": 99}).to_string()).code(), "refused");
    page.post("/api/v1/acts", &json!({"kind": "ignore", "faces": [chosen]}).to_string());
    assert_eq!(page.get(&format!("/api/v1/faces/{chosen}")).code(), "not_found");
}

#[test]
fn people_who_are_on_photos_together_are_not_joined_and_may_share_a_name() {
    let page = Running::new();
    page.until("/api/v1/people", |people| people["total"] == 3);
    let ids = [1, 2].map(|face| person_of(&page, face));
    let refused =
        page.post("/api/v1/acts", &json!({"kind": "join", "person": ids[1], "into": ids[0]}).to_string());
    assert_eq!(refused.code(), "refused");
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("together on 4 photos"), "{message}");
    assert_eq!(page.get("/api/v1/history").json()["total"], 0);
    for id in ids {
        page.post("/api/v1/acts", &json!({"kind": "name", "person": id, "name": "Ann"}).to_string());
    }
    page.until("/api/v1/status", |status| status["doing"] == "resting" && status["n_named"] == 12);
    assert_eq!(page.get("/api/v1/people?q=ann").json()["total"], 2);
    assert_eq!(page.get("/api/v1/doubt").json()["conflicts"], json!([]));
}

#[test]
fn several_are_joined_in_one_act_and_names_are_offered() {
    let page = Running::new();
    page.until("/api/v1/people", |people| people["total"] == 3);
    let ids = [2, 4].map(|face| person_of(&page, face));
    let act =
        |pairs: Value| page.post("/api/v1/acts", &json!({"kind": "join_all", "pairs": pairs}).to_string());
    assert_eq!(act(json!([])).code(), "malformed");
    assert_eq!(act(json!([[ids[0], ids[1]], [ids[1], ids[0]]])).code(), "malformed");
    assert_eq!(act(json!([[ids[0], 99]])).code(), "not_found");
    assert_eq!(act(json!([[ids[0], ids[1]]])).status, 200);
    assert_eq!(page.get("/api/v1/people").json()["total"], 2, "shown at once");
    let bearer = format!("Bearer {}", page.token);
    let book = |kind: &str, body: &str| {
        let headers = [("Authorization", &bearer[..]), ("Content-Type", kind)];
        page.send("POST", "/api/v1/names", &headers, body.as_bytes())
    };
    assert_eq!(book("application/json", "Ann").code(), "malformed");
    assert_eq!(book("text/plain", "\n \n").code(), "refused");
    let cards = "BEGIN:VCARD\nFN:Ann Lee\nEND:VCARD\nBEGIN:VCARD\nFN:Lea Ann\nEND:VCARD\n\
                 BEGIN:VCARD\nFN:Lea Bo\nEND:VCARD\n";
    assert_eq!(book("text/vcard", cards).json()["names"], 3);
    let names = |query: &str| -> Vec<String> {
        let found = page.get(&format!("/api/v1/names?{query}")).json();
        found["names"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("q=le"), ["Lea Ann", "Lea Bo", "Ann Lee"], "whose name begins so comes first");
    page.post("/api/v1/acts", &json!({"kind": "name", "faces": [1], "name": "Lea Ann"}).to_string());
    assert_eq!(names("q=lea"), ["Lea Ann", "Lea Bo"]);
    assert_eq!(names("q=lea&face=2"), ["Lea Bo", "Lea Ann"], "whoever is seen already would have this face");
    assert_eq!(page.get("/api/v1/status").json()["contacts"], 3);
    assert_eq!(names("face=2"), [""; 0], "nobody looks like that");
}

#[test]
fn somebody_is_forgotten_for_good_while_it_learns() {
    let mut page = Running::new();
    page.until("/api/v1/people", |people| people["total"] == 3);
    let id = person_of(&page, 2);
    page.post("/api/v1/acts", &json!({"kind": "name", "person": id, "name": "Zephyrine"}).to_string());
    let forget = |page: &Running, body: Value| page.post("/api/v1/forget", &body.to_string());
    assert_eq!(forget(&page, json!({})).code(), "malformed");
    assert_eq!(forget(&page, json!({"person": 99})).code(), "refused");
    let would = forget(&page, json!({"person": id, "dry_run": true})).json();
    assert_eq!((&would["faces"], &would["names"]), (&json!(4), &json!(["Zephyrine"])));
    assert_eq!(page.get("/api/v1/status").json()["n_faces"], 16, "only said");
    let gone = forget(&page, json!({"person": id}));
    assert!(gone.headers.contains("clear-site-data: \"cache\""), "{}", gone.headers);
    assert_eq!((&gone.json()["faces"], &gone.json()["dry_run"]), (&json!(4), &json!(false)));
    let status = page.get("/api/v1/status").json();
    assert_eq!((&status["n_faces"], &status["n_named"]), (&json!(12), &json!(0)));
    assert_eq!(page.get("/api/v1/history").json()["total"], 0);
    assert_eq!(page.get("/api/v1/names?q=z").json()["names"], json!([]));
    page.until("/api/v1/status", |status| status["believes"] == true && status["doing"] == "resting");
    let lib = page.lib.clone();
    page.end();
    let bytes = std::fs::read(&lib).unwrap();
    assert!(!bytes.windows(9).any(|bytes| bytes == b"Zephyrine"), "no trace");
    assert_eq!(Library::open(&lib).unwrap().check().unwrap().faults, [""; 0]);
}

#[test]
fn what_was_meant_so_is_kept_in_the_library() {
    let page = Running::new();
    page.until("/api/v1/people", |people| people["total"] == 3);
    page.post("/api/v1/acts", r#"{"kind":"name","faces":[1],"name":"Ann"}"#);
    assert_eq!(page.post("/api/v1/meant", r#"{"entry":77,"meant":true}"#).code(), "not_found");
    assert_eq!(page.post("/api/v1/meant", r#"{"entry":1,"meant":true}"#).status, 200);
    let kept = || {
        let log = Library::open_to_read(&page.lib).unwrap().log().unwrap();
        log.iter().filter(|entry| entry.kind == kith_store::Kind::Meant && entry.stands).count()
    };
    assert_eq!(kept(), 1);
    assert_eq!(page.post("/api/v1/meant", r#"{"entry":1,"meant":true}"#).status, 200);
    assert_eq!(kept(), 1, "once is enough");
    assert_eq!(page.post("/api/v1/meant", r#"{"entry":1,"meant":false}"#).status, 200);
    assert_eq!(kept(), 0);
    assert_eq!(page.post("/api/v1/redo", "{}").status, 200);
    assert_eq!(kept(), 1, "an act like others");
}

#[test]
fn a_chosen_picture_is_an_act_like_others() {
    let mut page = Running::new();
    let people = page.until("/api/v1/people", |people| people["total"] == 3);
    let id = people["people"][0]["person"].as_i64().unwrap();
    let picture =
        |page: &Running| page.get(&format!("/api/v1/people/{id}")).json()["picture"].as_i64().unwrap();
    let faces = page.get(&format!("/api/v1/people/{id}/faces")).json();
    let rows = faces["faces"].as_array().unwrap().iter().map(|face| face["row"].as_i64().unwrap());
    let first = picture(&page);
    let chosen = rows.clone().find(|&row| row != first).unwrap();
    let choose = |page: &Running, row: i64| {
        page.post(&format!("/api/v1/people/{id}/picture"), &json!({"face": row}).to_string())
    };
    let done = choose(&page, chosen).json();
    assert_eq!((&done["before"], picture(&page)), (&json!(first), chosen));
    let history = page.get("/api/v1/history").json();
    assert_eq!((&history["total"], &history["acts"][0]["kind"]), (&json!(1), &json!("picture")));
    page.post("/api/v1/undo", &json!({"act": done["act"]}).to_string());
    assert_eq!(picture(&page), first);
    page.post("/api/v1/redo", "{}");
    assert_eq!(picture(&page), chosen);
    let foreign = (1..=16).find(|row| !rows.clone().any(|own| own == *row)).unwrap();
    assert_eq!(choose(&page, foreign).code(), "refused");
    // It goes with the face, wherever that is, and is there when the page is opened again.
    page.until("/api/v1/status", |status| status["doing"] == "resting");
    let lib = page.lib.clone();
    page.end();
    let log = Library::open_to_read(&lib).unwrap().log().unwrap();
    let kinds: Vec<&str> = log.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["picture", "undo", "redo"]);
}

#[test]
fn everything_that_can_be_asked_is_answered_without_photos() {
    let page = Running::new();
    page.until("/api/v1/status", |status| status["believes"] == true);
    let face = page.get("/api/v1/faces/1").json();
    let sum =
        ["acquainted", "familiar", "stranger"].iter().map(|key| face[key].as_f64().unwrap()).sum::<f64>();
    assert!((sum - 1.0).abs() < 1e-9, "{face}");
    assert!(!face["why"].as_array().unwrap().is_empty());
    let picture = page.get("/api/v1/faces/1/picture");
    assert!(picture.headers.contains("image/jpeg") && picture.body.starts_with(b"\xff\xd8"));
    let photo = page.get("/api/v1/photos/1").json();
    assert_eq!((photo["drawn"].as_bool(), photo["faces"].as_array().unwrap().len()), (Some(true), 2));
    assert!(page.get("/api/v1/photos/1/picture").body.starts_with(b"\xff\xd8"));
    let questions = page.get("/api/v1/questions").json();
    assert_eq!(questions["questions"][0]["ask"], "who", "{questions}");
    for path in ["/api/v1/doubt", "/api/v1/history", "/api/v1/names?q=a", "/api/v1/openapi.json"] {
        assert_eq!(page.get(path).status, 200, "{path}");
    }
    // A photo that nobody can look at: there are no networks.
    let bearer = format!("Bearer {}", page.token);
    let headers = [("Authorization", &bearer[..]), ("Content-Type", "image/jpeg")];
    assert_eq!(page.send("POST", "/api/v1/who", &headers, b"\xff\xd8\xff").code(), "unavailable");
}

#[test]
fn looking_works_without_scripts_and_names_are_text() {
    let page = Running::new();
    page.until("/api/v1/people", |people| people["total"] == 3);
    let name = r#"<img src=x onerror=alert(1)>"#;
    page.post("/api/v1/acts", &json!({"kind": "name", "faces": [1], "name": name}).to_string());
    for path in ["/", "/people", "/photos", "/photos/1", "/history", "/questions", "/doubt"] {
        let text = String::from_utf8(page.get(path).body).unwrap();
        assert!(text.starts_with("<!doctype html>") && text.contains("<h1>"), "{path}");
        assert!(!text.contains(name), "{path}");
    }
    let text = String::from_utf8(page.get("/people").body).unwrap();
    assert!(text.contains("&lt;img src=x"), "{text}");
    let person = person_of(&page, 1);
    assert!(String::from_utf8(page.get(&format!("/people/{person}")).body).unwrap().contains("% sure"));
}

#[test]
fn a_library_that_is_only_shown_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let lib = folder.path().join("family.kith");
    drop(library(&lib));
    let page = Running::on(lib, true);
    page.until("/api/v1/people", |people| people["total"] == 3);
    for (path, body) in [
        ("/api/v1/acts", r#"{"kind":"name","faces":[1],"name":"Ann"}"#),
        ("/api/v1/undo", "{}"),
        ("/api/v1/redo", "{}"),
        ("/api/v1/people/1/picture", r#"{"face":1}"#),
    ] {
        assert_eq!(page.post(path, body).code(), "read_only", "{path}");
    }
    assert_eq!(page.get("/api/v1/status").json()["read_only"], true);
}

#[test]
fn others_are_told_that_it_is_busy_and_everything_is_stored_at_the_end() {
    let mut page = Running::new();
    page.until("/api/v1/people", |people| people["total"] == 3);
    let other = Library::open(&page.lib).unwrap();
    assert!(other.claim().unwrap_err().to_string().contains("another kith is"));
    page.post("/api/v1/acts", r#"{"kind":"name","faces":[1],"name":"Ann"}"#);
    page.end();
    other.claim().unwrap();
    let log = other.log().unwrap();
    assert_eq!((log.len(), log[0].kind), (1, Kind::Name));
    assert_eq!(other.check().unwrap().faults, [""; 0]);
}

#[test]
fn a_thousand_requests_at_once_are_answered_while_it_learns() {
    let page = Running::new();
    page.until("/api/v1/status", |status| status["believes"] == true);
    let paths = ["/api/v1/people", "/api/v1/faces/3", "/api/v1/doubt", "/api/v1/questions", "/people"];
    std::thread::scope(|scope| {
        for worker in 0..50 {
            let page = &page;
            scope.spawn(move || {
                for k in 0..20 {
                    let answered = if (worker + k) % 10 == 0 {
                        page.post("/api/v1/acts", r#"{"kind":"confirm","faces":[2]}"#)
                    } else {
                        page.get(paths[(worker + k) % paths.len()])
                    };
                    assert_eq!(answered.status, 200, "{}", String::from_utf8_lossy(&answered.body));
                }
            });
        }
    });
    assert_eq!(page.get("/api/v1/history").json()["total"], 100);
}

#[test]
fn events_say_what_happens() {
    use std::io::{Read, Write};
    let page = Running::new();
    page.until("/api/v1/people", |people| people["total"] == 3);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", page.port)).unwrap();
    let (port, token) = (page.port, &page.token);
    write!(
        stream,
        "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    .unwrap();
    let mut heard = String::new();
    let mut read = |until: &str| {
        let mut bytes = [0; 4096];
        while !heard.contains(until) {
            let n = stream.read(&mut bytes).unwrap();
            heard += &String::from_utf8_lossy(&bytes[..n]);
        }
    };
    read("text/event-stream");
    page.post("/api/v1/acts", r#"{"kind":"name","faces":[1],"name":"Ann"}"#);
    read("event: said");
    read("event: view");
}

#[test]
fn every_address_is_described_and_every_description_is_an_address() {
    let description: Value = serde_json::from_str(kith_server::OPENAPI).unwrap();
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        described.extend(methods.as_object().unwrap().keys().map(|method| (method.clone(), path.clone())));
    }
    let routes = kith_server::described_routes().into_iter().map(|(method, path)| (method, path.to_owned()));
    assert_eq!(described, routes.collect::<BTreeSet<_>>());
}

/// What an answer has is described, as far as keys go.
#[test]
fn answers_have_the_keys_that_are_described() {
    let page = Running::new();
    page.until("/api/v1/status", |status| status["believes"] == true);
    page.post("/api/v1/acts", r#"{"kind":"name","faces":[1],"name":"Ann"}"#);
    let description: Value = serde_json::from_str(kith_server::OPENAPI).unwrap();
    let person = person_of(&page, 1);
    for (path, schema) in [
        ("/api/v1/status".to_owned(), "Status"),
        ("/api/v1/people".to_owned(), "People"),
        (format!("/api/v1/people/{person}"), "Person"),
        (format!("/api/v1/people/{person}/faces"), "Faces"),
        ("/api/v1/names".to_owned(), "Names"),
        ("/api/v1/faces/1".to_owned(), "FaceWhy"),
        ("/api/v1/photos".to_owned(), "Photos"),
        ("/api/v1/photos/1".to_owned(), "PhotoWithFaces"),
        ("/api/v1/questions".to_owned(), "Questions"),
        ("/api/v1/doubt".to_owned(), "Doubt"),
        ("/api/v1/history".to_owned(), "History"),
    ] {
        fits(
            &page.get(&path).json(),
            &json!({"$ref": format!("#/components/schemas/{schema}")}),
            &description,
            &path,
        );
    }
}

/// Panics where a value has a key that is not described, or lacks one that is required.
fn fits(value: &Value, schema: &Value, description: &Value, at: &str) {
    let schema = match schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str()) {
        Some(name) => &description["components"]["schemas"][name.rsplit('/').next().unwrap()],
        None => schema,
    };
    match value {
        Value::Object(object) => {
            for key in schema["required"].as_array().into_iter().flatten() {
                assert!(object.contains_key(key.as_str().unwrap()), "{at}: {key} is missing in {value}");
            }
            for (key, value) in object {
                let inner = schema["properties"].get(key).or_else(|| schema.get("additionalProperties"));
                let inner = inner.unwrap_or_else(|| panic!("{at}: {key} is not described"));
                fits(value, inner, description, &format!("{at} {key}"));
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fits(value, &schema["items"], description, at)),
        _ => assert!(value.is_null() || schema.get("properties").is_none(), "{at}: {value}"),
    }
}
