//! `kith ask`: the questions whose answers are expected to settle most faces.

use std::io::{BufRead, Write};

use kith::belief::{About, Question};
use kith::ids::FaceId;
use kith_store::{Believed, Kind, Library, Saying};
use serde_json::{Value, json};

use super::args::AskOptions;
use super::speaker;
use crate::Outcome;
use crate::answer::percent;
use crate::progress::note;

/// Runs the verb.
pub fn run(options: &AskOptions) -> anyhow::Result<Outcome> {
    if options.interactive {
        return converse(&Library::open(&options.lib)?);
    }
    let believed = Library::read(&options.lib, super::believed)?;
    let questions = believed.belief.ask(options.n);
    let mut out = crate::progress::stdout();
    for question in &questions {
        match options.json {
            true => writeln!(out, "{}", to_json(question, &believed))?,
            false => writeln!(out, "{}", in_words(question, &believed))?,
        }
    }
    if questions.is_empty() {
        note("there is nothing that an answer would settle");
    }
    Ok(if questions.is_empty() { Outcome::Negative } else { Outcome::Done })
}

fn key(believed: &Believed, face: FaceId) -> &str {
    &believed.rows.keys[face.index()]
}

fn to_json(question: &Question, believed: &Believed) -> Value {
    let (gain, settles) = (question.gain, question.settles);
    match question.about {
        About::Who(face) => {
            json!({"ask": "who", "face": key(believed, face), "gain": gain, "settles": settles})
        }
        About::Same(a, b, p) => json!({
            "ask": "same", "face": key(believed, a), "other": key(believed, b), "p": p,
            "gain": gain, "settles": settles,
        }),
    }
}

fn in_words(question: &Question, believed: &Believed) -> String {
    let asked = match question.about {
        About::Who(face) => format!("Who is {}?", key(believed, face)),
        About::Same(a, b, p) => {
            let (a, b) = (key(believed, a), key(believed, b));
            format!("Are {a} and {b} the same person? ({} probable)", percent(p))
        }
    };
    format!("{asked}  about {:.0} more faces named right", question.gain)
}

/// Questions and answers, line by line.
fn converse(library: &Library) -> anyhow::Result<Outcome> {
    let mut lines = std::io::stdin().lock().lines();
    let mut skipped: Vec<String> = Vec::new();
    let mut n_answers = 0;
    loop {
        let believed = Believed::open(library)?;
        let questions = believed.belief.ask(skipped.len() + 1);
        let fresh = questions.iter().find(|question| !skipped.contains(&in_words(question, &believed)));
        let Some(question) = fresh else {
            note("there is nothing more that an answer would settle");
            break;
        };
        let keys = match question.about {
            About::Who(_) => "a name, s(kip), u(ndo), i(gnore), q(uit)",
            About::Same(..) => "y(es), n(o), s(kip), u(ndo), q(uit)",
        };
        note(format!("{}  [{keys}]", in_words(question, &believed)));
        let Some(line) = lines.next().transpose()? else { break };
        let row = |face: FaceId| believed.rows.faces[face.index()];
        let saying = match (question.about, line.trim()) {
            (_, "q") => break,
            (_, "s" | "") => {
                skipped.push(in_words(question, &believed));
                continue;
            }
            (_, "u") => {
                let undone = library.undo(&speaker(), 1)?;
                note(if undone.is_empty() { "nothing to take back" } else { "taken back" });
                continue;
            }
            (About::Who(face), "i") => {
                Saying { kind: Kind::Ignore, face: row(face), other: None, name: None }
            }
            (About::Who(face), name) => {
                Saying { kind: Kind::Name, face: row(face), other: None, name: Some(name) }
            }
            (About::Same(a, b, _), "y" | "yes") => {
                Saying { kind: Kind::Same, face: row(a), other: Some(row(b)), name: None }
            }
            (About::Same(a, b, _), "n" | "no") => {
                Saying { kind: Kind::Different, face: row(a), other: Some(row(b)), name: None }
            }
            (About::Same(..), other) => {
                note(format!("found \"{other}\", wanted y, n, s, u or q"));
                continue;
            }
        };
        library.say(&speaker(), std::slice::from_ref(&saying))?;
        n_answers += 1;
    }
    writeln!(crate::progress::stdout(), "{n_answers} answers")?;
    Ok(Outcome::Done)
}
