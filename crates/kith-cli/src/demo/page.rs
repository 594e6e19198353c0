//! The week as one page without anything from elsewhere: pictures, tables, light or dark as the reader likes.

use std::fmt::Write;

use super::account::{Account, Person};
use super::diary::Entry;
use super::journal::Journal;
use super::text::{called, counted, in_truth, listed, of, percent, percent_of, title};
use super::timeline;
use super::week::{Week, at};

const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#fbfaf7;--card:#fff;--ink:#22262b;--soft:#686f78;--line:#e4e1da;\
--here:#e9eef3;--again:#3f6f9e;--first:#2f8f6b;--miss:#c2512f;--said:#8a6d1b}\
@media(prefers-color-scheme:dark){:root{--paper:#16181b;--card:#1d2024;--ink:#e6e6e3;--soft:#9aa1a9;\
--line:#30343a;--here:#252c34;--again:#7fb0de;--first:#5cc79c;--miss:#f08a66;--said:#d8b85a}}\
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,\
-apple-system,'Segoe UI',Roboto,Ubuntu,Cantarell,sans-serif}\
main{max-width:1020px;margin:0 auto;padding:40px 24px 64px}\
h1{font-size:30px;line-height:1.2;margin:0 0 12px;letter-spacing:-.01em}h2{font-size:19px;margin:44px 0 4px}\
p{margin:6px 0 12px;max-width:70ch}.note,figcaption,th{color:var(--soft)}.note{font-size:14px}\
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px;margin:24px 0 0}\
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}\
.card b{display:block;font-size:27px;line-height:1.2;font-weight:650}\
.card span{font-size:14px;color:var(--soft)}\
.box{background:var(--card);border:1px solid var(--line);border-radius:10px;\
padding:14px 16px;margin-top:12px;\
overflow-x:auto}.box>svg{display:block;width:100%;min-width:760px}svg text{font-size:11px;fill:var(--ink)}\
svg .place{font-size:12.5px;font-weight:650}svg .who{text-anchor:end}svg .unnamed,svg .day{fill:var(--soft)}\
svg .mid{text-anchor:middle;font-size:10px;fill:var(--soft)}.rule{stroke:var(--line)}.here{fill:var(--here)}\
.again,.bar{fill:var(--again)}.bar{opacity:.8}.first{fill:var(--card);stroke:var(--first);stroke-width:1.8}\
.miss{stroke:var(--miss);stroke-width:1.8;fill:none}.said{fill:var(--said)}.slip{fill:var(--miss)}\
.key{display:flex;flex-wrap:wrap;gap:4px 20px;font-size:13px;color:var(--soft);margin-top:8px}\
.key svg{width:14px;height:14px;vertical-align:-2px;margin-right:6px}\
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:8px 24px}figure{margin:0}\
figcaption{font-size:14px}figure svg{display:block;width:100%}\
table{border-collapse:collapse;width:100%;font-size:14.5px;font-variant-numeric:tabular-nums}\
th{font-weight:500;text-align:left;font-size:13px}\
td,th{padding:5px 24px 5px 0;border-bottom:1px solid var(--line)}\
tr:last-child td{border-bottom:0}.n{text-align:right}td.off{color:var(--miss)}\
.quiet td{color:var(--soft);padding-top:14px}\
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:0 32px}";

/// The page.
pub fn page(week: &Week, journal: &Journal, account: &Account, diary: &[Entry], seed: u64) -> String {
    let title = title(week.n_days);
    format!(
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport \
         content='width=device-width,initial-scale=1'><title>{title} with \
         kith</title><style>{STYLE}</style>\n\
         <main><h1>{title} with kith</h1>\n{}{}{}{}{}{}{}{}</main></html>\n",
        opening(week, account, seed),
        cards(account),
        who_when(week, journal, account),
        days(account),
        people(week, account),
        moments(diary),
        wrong_name(week, account),
        how_sure(account),
    )
}

/// Text that may stand in a page.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn opening(week: &Week, account: &Account, seed: u64) -> String {
    let n_said = week.faces().filter(|(_, face)| face.said.is_some()).count();
    format!(
        "<p>You wear a camera and move between {}. You meet {} people again and again and {} just once. kith \
         saw {} photos with {} faces, one after the other, heard {}, and said who is on a photo before it \
         learnt from it. <span class=note>Made-up people, seed {seed}.</span></p>\n",
        escaped(&listed(&week.contexts)),
        account.n_met_again,
        account.n_met_once,
        week.scenes.len(),
        week.n_faces(),
        counted(n_said, "name", "names"),
    )
}

fn cards(account: &Account) -> String {
    let all = [
        (percent_of(account.all()), "of the faces answered rightly".to_owned()),
        (of(account.strangers), "first meetings noticed as such".to_owned()),
        (of(account.called_by_name), "photos of people who had said their name, called by it".to_owned()),
        (of(account.places), "places guessed from who is there".to_owned()),
    ];
    let mut html = "<div class=cards>".to_owned();
    for (number, what) in all {
        // "33 of 37 (89 %)" is too long for a large figure.
        let (number, more) = match number.split_once(" (") {
            Some((count, share)) => (share.trim_end_matches(')').to_owned(), format!(" ({count})")),
            None => (number, String::new()),
        };
        let _ = write!(html, "<div class=card><b>{}</b><span>{what}{more}</span></div>", escaped(&number));
    }
    html + "</div>\n"
}

fn who_when(week: &Week, journal: &Journal, account: &Account) -> String {
    let key = [
        ("<rect class=again x=6 y=2 width=3 height=10 />", "known again"),
        ("<circle class=first cx=7 cy=7 r=3.6 />", "first meeting, noticed"),
        ("<path class=miss d='M4 4l6 6m0 -6l-6 6'/>", "mistake"),
        ("<path class=said d='M7 10l-5 -6h10z'/>", "name said"),
        ("<path class=slip d='M7 10l-5 -6h10z'/>", "wrong name said"),
        ("<rect class=here x=0 y=2 width=14 height=10 rx=2 />", "you were there"),
    ];
    let key = key.map(|(mark, what)| format!("<span><svg viewBox='0 0 14 14'>{mark}</svg>{what}</span>"));
    format!(
        "<h2>Who was there, when</h2><p class=note>A row per person, those met first on top, and one for the \
         people who passed by once.</p><div class=box>{}<div class=key>{}</div></div>\n",
        timeline::timeline(week, journal, account),
        key.concat()
    )
}

fn days(account: &Account) -> String {
    format!(
        "<h2>Day by day</h2><p class=note>Agreement: over all faces so far, are the same pairs of faces the \
         same person? 1 is perfect, 0 is chance (the adjusted Rand index).</p><div class='box \
         panels'>{}</div>\n",
        timeline::days(account)
    )
}

fn people(week: &Week, account: &Account) -> String {
    let mut rows = String::new();
    for person in account.people.iter().filter(|person| !person.is_seen_once()) {
        rows += &row(person, week);
    }
    let once: Vec<&Person> = account.people.iter().filter(|person| person.is_seen_once()).collect();
    if !once.is_empty() {
        let n_right = once.iter().filter(|person| person.n_missing == 0).count();
        let _ = write!(
            rows,
            "<tr class=quiet><td colspan=6>and {} seen once; {n_right} of them are, in truth, people you met \
             just once</td></tr>",
            counted(once.len(), "stranger", "strangers")
        );
    }
    format!(
        "<h2>Who you met</h2><p class=note>As kith has sorted the faces. It counts {} people; in truth there \
         were {}. Looked new: when they first came, how probably kith had never seen them. Sure: how \
         probably two of their faces are the same person.</p><div class=box><table><tr><th>who<th \
         class=n>faces<th>first met<th class=n>\
         looked new<th class=n>sure<th>in truth</tr>{rows}</table></div>\n",
        account.people.len(),
        account.n_met_again + account.n_met_once
    )
}

fn row(person: &Person, week: &Week) -> String {
    let class = if person.n_right == person.n_faces && person.n_missing == 0 { "" } else { " class=off" };
    format!(
        "<tr><td>{}<td class=n>{}<td>{}<td class=n>{}<td class=n>{}<td{class}>{}</tr>",
        escaped(&called(person, week)),
        person.n_faces,
        person.first,
        escaped(&person.at_first.map_or("-".to_owned(), percent)),
        escaped(&percent(person.sure)),
        in_truth(person)
    )
}

fn moments(diary: &[Entry]) -> String {
    let mut rows = String::new();
    for entry in diary {
        let place = escaped(entry.place.as_deref().unwrap_or("?"));
        let _ = write!(rows, "<tr><td>{}<td>{place}<td>{}</tr>", entry.time, escaped(&entry.text));
    }
    format!(
        "<h2>From the diary</h2><p class=note>What kith said before it was told.</p><div \
         class=box><table>{rows}\
         </table></div>\n"
    )
}

fn wrong_name(week: &Week, account: &Account) -> String {
    let Some(slip) = &account.wrong_name else { return String::new() };
    let mut rows = String::new();
    for (photos, [p_right, p_wrong]) in slip.rows() {
        let (p_right, p_wrong) = (escaped(&percent(p_right)), escaped(&percent(p_wrong)));
        let _ = write!(rows, "<tr><td>{photos}<td class=n>{p_right}<td class=n>{p_wrong}</tr>");
    }
    let (right, wrong) = (slip.right, slip.wrong);
    format!(
        "<div class=two><section><h2>A wrong name</h2><p class=note>{} {} you called {right} \
         &ldquo;{wrong}&rdquo;. A moment before, kith was {} sure that it was {right}. {} At the \
         end:</p><div class=box><table><tr><th>\
         <th class=n>{right}<th class=n>{wrong}</tr>{rows}</table></div></section>\n",
        slip.time,
        escaped(&at(&week.contexts[slip.context])),
        escaped(&percent(slip.before)),
        slip.moral(),
    )
}

fn how_sure(account: &Account) -> String {
    let mut rows = String::new();
    for band in &account.bands {
        let (said, was) = (escaped(&percent(band.mean)), escaped(&of(band.right)));
        let _ = write!(rows, "<tr><td>{}<td class=n>{said}<td class=n>{was}</tr>", band.range());
    }
    let (open, close) =
        if account.wrong_name.is_some() { ("", "</div>") } else { ("<div class=two>", "</div>") };
    format!(
        "{open}<section><h2>How sure is sure?</h2><p class=note>How sure kith was of its answer for each \
         face, and how often it was right. For comparison: the most similar earlier photo alone, with the \
         best limit of similarity that hindsight can choose, is right about {} of all faces; kith, without \
         hindsight, about {}.</p>\
         <div class=box><table><tr><th>it was sure<th class=n>on average<th \
         class=n>right</tr>{rows}</table></div>\
         </section>{close}\n",
        percent_of(account.nearest_with_limit),
        percent_of(account.all()),
    )
}
