//! What the server says in words: changes, acts and contexts, in one place so that others can be added.

use kith_store::{Changes, Kind};

/// What changed, in people's terms, a line each.
pub fn changes(changes: &Changes) -> Vec<String> {
    const MOST: usize = 4;
    let mut lines = Vec::new();
    match changes.new_people {
        0 => {}
        1 => lines.push("somebody new".to_owned()),
        n => lines.push(format!("{n} new people")),
    }
    match changes.gone_people {
        0 => {}
        1 => lines.push("one person turned out to be another".to_owned()),
        n => lines.push(format!("{n} people turned out to be others")),
    }
    for (who, n) in changes.gained.iter().take(MOST) {
        lines.push(format!("{who} gained {}", count(*n, "face")));
    }
    if changes.gained.len() > MOST {
        lines.push(format!("and {} others gained faces", changes.gained.len() - MOST));
    }
    lines
}

/// "1 face", "2 faces".
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// What was said.
pub fn said(kind: Kind, face: &str, other: &str, name: &str) -> String {
    match kind {
        Kind::Undo => "an act was taken back".to_owned(),
        Kind::Redo => "an act was restored".to_owned(),
        kind => kind.in_words(face, other, name),
    }
}
