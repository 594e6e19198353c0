//! The week told in words, for a terminal of 80 columns.

use super::account::{Account, Person, Share};
use super::diary::Entry;
use super::week::{Week, at, day_name};

const WIDTH: usize = 78;

/// The summary.
pub fn summary(week: &Week, account: &Account, diary: &[Entry], seed: u64) -> String {
    let mut page = Page::default();
    opening(&mut page, week, account, seed);
    moments(&mut page, diary);
    who_you_met(&mut page, week, account);
    strangers(&mut page, account);
    where_you_are(&mut page, account);
    wrong_name(&mut page, week, account);
    how_sure(&mut page, account);
    day_by_day(&mut page, account);
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text += line.as_ref().trim_end();
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        self.line("");
        self.line(title);
    }

    /// Words, broken into lines that fit.
    fn say(&mut self, words: &str) {
        self.say_after("  ", words);
    }

    /// Words behind something that stands before the first line.
    fn say_after(&mut self, first: &str, words: &str) {
        let indent = " ".repeat(first.chars().count());
        let mut line = first.to_owned();
        let mut is_empty = true;
        for word in words.split_whitespace() {
            // A number stays with its unit, as in "97 %".
            let space = usize::from(!is_empty);
            if !is_empty && line.chars().count() + space + word.chars().count() > WIDTH && word != "%" {
                self.line(&line);
                line = indent.clone();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line += word;
            is_empty = false;
        }
        self.line(&line);
    }
}

fn opening(page: &mut Page, week: &Week, account: &Account, seed: u64) {
    let named = week.name_of.iter().flatten().count();
    let n_said = week.faces().filter(|(_, face)| face.said.is_some()).count();
    let n_wrong = week.faces().filter(|(_, face)| week.is_wrong(face)).count();
    page.line(format!("{} WITH KITH", title(week.n_days).to_uppercase()));
    page.say(&format!(
        "You wear a camera and move between {}. You meet {} people again and again and {} just once. kith \
         sees {} photos with {} faces, one photo after the other. Nobody tells it who is who, except that {} \
         introduce themselves: {} said in all{}. Before it learns from a photo, it says who is on it. \
         (Made-up people, seed {seed}.)",
        listed(&week.contexts),
        account.n_met_again,
        account.n_met_once,
        week.scenes.len(),
        week.n_faces(),
        counted(named, "person", "people"),
        counted(n_said, "name is", "names are"),
        match n_wrong {
            0 => "",
            _ => ", one of them wrong",
        },
    ));
    page.line("");
    let all = account.all();
    page.say(&format!(
        "It was right about {} of the faces: it knew the person again, or that it had never seen them.",
        percent_of(all)
    ));
    if account.called_by_name.of > 0 {
        page.say(&format!(
            "Once somebody had said their name, kith called them by it on {} of their next {} photos.",
            account.called_by_name.n, account.called_by_name.of
        ));
    }
}

fn moments(page: &mut Page, diary: &[Entry]) {
    page.title("FROM THE DIARY  what kith said before it was told");
    for entry in diary {
        let place = entry.place.as_deref().unwrap_or("?");
        page.say_after(&format!("  {}  {place:<6}", entry.time), &entry.text);
    }
}

fn who_you_met(page: &mut Page, week: &Week, account: &Account) {
    page.title("WHO YOU MET  as kith has sorted the faces");
    page.line("                           faces  first met  looked new    sure  in truth");
    for (title, is_named) in
        [("acquainted: you know their names", true), ("familiar: met before, no name yet", false)]
    {
        page.line(format!("  {title}"));
        let is_here = |person: &&Person| person.name.is_some() == is_named && !person.is_seen_once();
        let mut here = account.people.iter().filter(is_here).peekable();
        if here.peek().is_none() {
            page.line("    nobody yet");
        }
        for person in here {
            page.line(format!(
                "    {:<23} {:>4}  {:<9}  {:>10}  {:>6}  {}",
                called(person, week),
                person.n_faces,
                person.first.to_string(),
                person.at_first.map_or("-".to_owned(), percent),
                percent(person.sure),
                in_truth(person)
            ));
        }
    }
    let once: Vec<&Person> = account.people.iter().filter(|person| person.is_seen_once()).collect();
    if !once.is_empty() {
        let n_right = once.iter().filter(|person| person.n_missing == 0).count();
        page.line("  strangers: seen once");
        page.say_after(
            "    ",
            &format!(
                "{}; {} of them are, in truth, people you met just once",
                counted(once.len(), "person", "people"),
                if n_right == once.len() { "all".to_owned() } else { n_right.to_string() }
            ),
        );
    }
    page.say(&format!(
        "kith counts {} people; in truth there were {}. \"Looked new\": when they first came, how probably \
         kith had never seen them. \"Sure\": how probably two of their faces are the same person.",
        account.people.len(),
        account.n_met_again + account.n_met_once,
    ));
}

fn strangers(page: &mut Page, account: &Account) {
    page.title("STRANGERS  did it notice when it had never seen somebody?");
    if account.strangers.of == 0 {
        page.say("Nobody new came after the first photo.");
        return;
    }
    page.line(format!("  first meetings, noticed as such   {}", of(account.strangers)));
    page.line(format!("  people met before, known again    {}", of(account.known)));
    page.say(&format!(
        "Mistakes: {} taken for somebody known, {} of known people for strangers, {} mixed up.",
        counted(account.mistaken_strangers, "stranger", "strangers"),
        counted(account.forgotten, "face", "faces"),
        counted(account.known.of - account.known.n - account.forgotten, "face", "faces"),
    ));
    if account.known.of > 0 {
        page.say(&format!(
            "Of a first meeting and any other face, the first meeting looked stranger to kith in {} of all \
             such pairs.",
            percent(account.order)
        ));
        page.say(&format!(
            "For comparison: going by the most similar earlier photo alone, {} of those met before are known \
             again and every stranger is taken for a friend; with the best limit of similarity that \
             hindsight can choose for this very week, {} of all faces come out right. kith, without \
             hindsight: {}.",
            percent_of(account.nearest),
            percent_of(account.nearest_with_limit),
            percent_of(account.all()),
        ));
    }
}

fn where_you_are(page: &mut Page, account: &Account) {
    page.title("WHERE ARE YOU?  the place, guessed from who is there");
    match account.places.of {
        0 => {
            page.say("The place was known all the time; from the second day on it is left out now and then.")
        }
        n => page.say(&format!(
            "For {} kith was not told the place. It guessed {} of them right.",
            counted(n, "photo", "photos"),
            percent_of(account.places)
        )),
    }
}

fn wrong_name(page: &mut Page, week: &Week, account: &Account) {
    page.title("A WRONG NAME  what a slip of the tongue does");
    let Some(slip) = &account.wrong_name else {
        page.say("Nobody was called by a wrong name.");
        return;
    };
    let (right, wrong) = (slip.right, slip.wrong);
    page.say(&format!(
        "{} {} you called {right} \"{wrong}\". A moment before, kith was {} sure that it was {right}. At the \
         end:",
        slip.time,
        at(&week.contexts[slip.context]),
        percent(slip.before),
    ));
    page.line(format!("    {:<24}{right:>8}{wrong:>8}", ""));
    for (photos, [p_right, p_wrong]) in slip.rows() {
        page.line(format!("    {photos:<24}{:>8}{:>8}", percent(p_right), percent(p_wrong)));
    }
    page.say(slip.moral());
}

fn how_sure(page: &mut Page, account: &Account) {
    page.title("HOW SURE IS SURE?  what it said of each face, and how often it was right");
    page.line("    it was sure      on average    right");
    for band in &account.bands {
        page.line(format!("    {:<15}  {:>10}    {}", band.range(), percent(band.mean), of(band.right)));
    }
}

fn day_by_day(page: &mut Page, account: &Account) {
    page.title("DAY BY DAY");
    page.line("                       strangers    others        places     agreement");
    page.line("       photos  faces   noticed      known again   guessed    with the truth");
    for (day, row) in account.days.iter().enumerate() {
        page.line(format!(
            "  {}  {:>6}  {:>5}   {:<11}  {:<12}  {:<9}  {:.3}",
            day_name(day),
            row.n_photos,
            row.n_faces,
            plainly(row.strangers),
            plainly(row.known),
            plainly(row.places),
            row.agreement
        ));
    }
    page.say(&format!(
        "Agreement: over all faces so far, are the same pairs of faces the same person? 1 is perfect, 0 is \
         chance (the adjusted Rand index). That is for the one way of sorting that is shown; over all the \
         ways kith thinks possible in the end it is {:.3} on average.",
        account.agreement_of_draws
    ));
}

/// How a person is called: by name, or as the how many-th of a place.
pub fn called(person: &Person, week: &Week) -> String {
    let place = at(&week.contexts[person.context]);
    match person.name {
        Some(name) => format!("{name}, {place}"),
        None => format!("{} person {place}", ordinal(person.number)),
    }
}

/// What a person as kith has them is in truth.
pub fn in_truth(person: &Person) -> String {
    let n_wrong = person.n_faces - person.n_right;
    let mut text = match n_wrong {
        0 if person.n_missing == 0 => "all right".to_owned(),
        0 => String::new(),
        n => format!("{n} wrong"),
    };
    if person.n_missing > 0 {
        text += if text.is_empty() { "" } else { ", " };
        text += &format!("{} missing", person.n_missing);
    }
    text
}

/// "1st", "2nd", "11th".
pub fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// "A week", "3 days".
pub fn title(n_days: usize) -> String {
    match n_days {
        1 => "A day".to_owned(),
        7 => "A week".to_owned(),
        n => format!("{n} days"),
    }
}

pub fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// "home, work and gym".
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A percentage that is 100 or 0 only when it is.
pub fn percent(p: f64) -> String {
    match p {
        p if p > 0.995 && p < 1.0 => "> 99 %".to_owned(),
        p if p > 0.0 && p < 0.005 => "< 1 %".to_owned(),
        p => format!("{:.0} %", 100.0 * p),
    }
}

pub fn percent_of(share: Share) -> String {
    format!("{:.1} %", 100.0 * share.ratio())
}

/// "35 of 37 (95 %)".
pub fn of(share: Share) -> String {
    match share.of {
        0 => "-".to_owned(),
        _ => format!("{} ({})", plainly(share), percent(share.ratio())),
    }
}

pub fn plainly(share: Share) -> String {
    if share.of == 0 { "-".to_owned() } else { format!("{} of {}", share.n, share.of) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_before_they_get_too_wide() {
        let mut page = Page::default();
        page.say_after("  Mon  ", &"word ".repeat(40));
        assert!(page.text.lines().all(|line| line.len() <= WIDTH));
        assert!(page.text.lines().skip(1).all(|line| line.starts_with("       word")));
        assert_eq!(page.text.split_whitespace().count(), 41);
    }

    #[test]
    fn places_in_a_row_have_their_endings() {
        let all = [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal);
        assert_eq!(all, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]);
    }

    #[test]
    fn only_certainty_is_rounded_to_certainty() {
        assert_eq!([1.0, 0.999, 0.5, 0.001, 0.0].map(percent), ["100 %", "> 99 %", "50 %", "< 1 %", "0 %"]);
    }
}
