//! The page without JavaScript: for looking, and for the first paint; scripts then take its place.

use std::fmt::Write;

use kith_store::{FrameRow, Person};

use crate::call::{Call, Reply};
use crate::failure::Failure;
use crate::reads::{self, Found};
use crate::view::View;
use crate::words::count;

/// So many people, faces or photos stand on one plain page.
const MOST: usize = 60;

const PLACES: [(&str, &str); 5] = [
    ("/people", "People"),
    ("/questions", "Questions"),
    ("/photos", "Photos"),
    ("/doubt", "Doubt"),
    ("/history", "History"),
];

/// Text that may stand in a page.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c => safe.push(c),
        }
    }
    safe
}

fn percent(p: f64) -> String {
    // Nothing that was counted over draws is certain.
    if p > 0.99 { "over 99 %".to_owned() } else { format!("{:.0} %", (100.0 * p).floor()) }
}

/// A whole page around something.
fn page(title: &str, here: &str, main: &str) -> Reply {
    let mut links = String::new();
    for (path, name) in PLACES {
        let current = if path == here { " aria-current=\"page\"" } else { "" };
        let _ = write!(links, "<a href=\"{path}\"{current}>{name}</a>");
    }
    let title = escaped(title);
    let text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title} \u{b7} kith</title>\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"/assets/icon.svg\">\
         <link rel=\"stylesheet\" href=\"/assets/style.css\">\
         <script type=\"module\" src=\"/assets/app.js\"></script></head>\
         <body><a class=\"skip\" href=\"#main\">Skip to the content</a>\
         <header class=\"top\"><a class=\"brand\" href=\"/people\">kith</a>\
         <nav aria-label=\"Views\">{links}</nav></header>\
         <main id=\"main\" tabindex=\"-1\">{main}<noscript><p class=\"soft\">Scripts are off: you can look, \
         and to say something they are needed.</p></noscript></main></body></html>\n"
    );
    Reply::of("text/html; charset=utf-8", text)
}

/// A refusal as a page.
pub fn refusal(failure: &Failure) -> Vec<u8> {
    let main = format!("<h1>This door is closed</h1><p>{}</p>", escaped(&failure.message));
    page("Closed", "", &main).bytes
}

fn card(view: &View, person: &Person) -> String {
    let (title, n) = (escaped(&person.title()), count(person.faces.len(), "face"));
    let picture = view.picture(person);
    format!(
        "<a class=\"card\" href=\"/people/{}\"><img src=\"/api/v1/faces/{picture}/picture\" alt=\"\" \
         width=\"160\" height=\"160\" loading=\"lazy\">\
         <span class=\"name\">{title}</span><span class=\"soft\">{n}</span></a>",
        person.id
    )
}

/// Links to the pages before and after.
fn turning(path: &str, from: usize, total: usize) -> String {
    let mut links = String::new();
    if from > 0 {
        let _ = write!(links, "<a href=\"{path}?from={}\">Earlier</a> ", from.saturating_sub(MOST));
    }
    if from + MOST < total {
        let _ = write!(links, "<a href=\"{path}?from={}\">More</a>", from + MOST);
    }
    format!("<p class=\"turn\">{links}</p>")
}

/// Everybody.
pub fn people(call: &Call) -> Result<Reply, Failure> {
    let view = call.view();
    let from = call.count("from", 0, usize::MAX)?;
    let chosen = reads::chosen(&view, call)?;
    let cards: String = chosen.iter().skip(from).take(MOST).map(|person| card(&view, person)).collect();
    let main = format!(
        "<h1>People</h1><p class=\"soft\">{} people, {}</p><div class=\"cards\">{cards}</div>{}",
        chosen.len(),
        count(view.n_faces(), "face"),
        turning("/people", from, chosen.len())
    );
    Ok(page("People", "/people", &main))
}

/// A person.
pub fn person(call: &Call) -> Result<Reply, Failure> {
    let view = call.view();
    let person = reads::known(&view, call)?;
    let from = call.count("from", 0, usize::MAX)?;
    let mut faces = String::new();
    for face in person.faces.iter().skip(from).take(MOST) {
        let _ = write!(
            faces,
            "<a class=\"card\" href=\"/photos/{}\"><img src=\"/api/v1/faces/{}/picture\" alt=\"{}\" \
             width=\"160\" height=\"160\" loading=\"lazy\"><span class=\"soft\">{} sure</span></a>",
            view.photo_number(face.frame),
            face.row,
            escaped(&face.key),
            percent(face.p)
        );
    }
    let places: Vec<String> =
        person.contexts.iter().map(|(place, n)| format!("{} ({n})", escaped(place))).collect();
    let title = person.title();
    let main = format!(
        "<h1>{}</h1><p class=\"soft\">{}{}{}</p><div class=\"cards\">{faces}</div>{}",
        escaped(&title),
        count(person.faces.len(), "face"),
        if places.is_empty() { "" } else { " \u{b7} " },
        places.join(", "),
        turning(&format!("/people/{}", person.id), from, person.faces.len())
    );
    Ok(page(&title, "/people", &main))
}

/// All photos.
pub fn photos(call: &Call) -> Result<Reply, Failure> {
    let view = call.view();
    let from = call.count("from", 0, usize::MAX)?;
    let frames: Vec<FrameRow> = view.frames.keys().rev().copied().collect();
    let numbers: Vec<i64> = match view.photos.is_empty() {
        true => frames.iter().map(|frame| frame.0).collect(),
        false => view.photos.iter().rev().map(|photo| photo.row.0).collect(),
    };
    let mut cards = String::new();
    for number in numbers.iter().skip(from).take(MOST) {
        let _ = write!(
            cards,
            "<a class=\"shot\" href=\"/photos/{number}\"><img \
             src=\"/api/v1/photos/{number}/picture?size=small\" alt=\"Photo {number}\" loading=\"lazy\"></a>"
        );
    }
    let turning = turning("/photos", from, numbers.len());
    let main = format!("<h1>Photos</h1><div class=\"shots\">{cards}</div>{turning}");
    Ok(page("Photos", "/photos", &main))
}

/// A photo, and who is on it.
pub fn photo(call: &Call) -> Result<Reply, Failure> {
    let view = call.view();
    let (number, frame) = match reads::found(&view, call)? {
        Found::Photo(photo) => (photo.row.0, photo.frame),
        Found::Frame(frame) => (frame.0, Some(frame)),
    };
    let rows = frame.and_then(|frame| view.frames.get(&frame)).map_or(&[][..], Vec::as_slice);
    let mut who = String::new();
    for (person, face) in rows.iter().filter_map(|&row| view.face(row)) {
        let _ = write!(
            who,
            "<li><a href=\"/people/{}\">{}</a> <span class=\"soft\">{} sure</span></li>",
            person.id,
            escaped(&person.title()),
            percent(face.p)
        );
    }
    let main = format!(
        "<h1>Photo</h1><img class=\"whole\" src=\"/api/v1/photos/{number}/picture\" alt=\"Photo {number}\">\
         <h2>Who is on it</h2><ul>{who}</ul>"
    );
    Ok(page("Photo", "/photos", &main))
}

/// What was said.
pub fn history(call: &Call) -> Result<Reply, Failure> {
    let mut lines = String::new();
    let value = crate::history::list(call)?;
    for act in value["acts"].as_array().into_iter().flatten() {
        let (text, by) = (act["text"].as_str().unwrap_or_default(), act["by"].as_str().unwrap_or_default());
        let undone = if act["stands"] == false { " (taken back)" } else { "" };
        let _ =
            write!(lines, "<li>{}{undone} <span class=\"soft\">{}</span></li>", escaped(text), escaped(by));
    }
    Ok(page("History", "/history", &format!("<h1>History</h1><ol class=\"acts\">{lines}</ol>")))
}

/// A place that is nothing without scripts.
pub fn questions(_: &Call) -> Result<Reply, Failure> {
    Ok(page("Questions", "/questions", "<h1>Questions</h1>"))
}

/// A place that is nothing without scripts.
pub fn doubt(_: &Call) -> Result<Reply, Failure> {
    Ok(page("Doubt", "/doubt", "<h1>Doubt</h1>"))
}
