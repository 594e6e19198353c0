//! An answer in words and as JSON: the same for every verb, which may add keys of its own.

use kith::predict::Answer;
use serde_json::{Map, Value, json};

/// What every answer says of a face; `names` are the known ones, of which at most `top` are told.
pub fn to_json(face: &str, answer: &Answer, names: &[String], top: usize) -> Map<String, Value> {
    let told: Vec<Value> = answer
        .names
        .iter()
        .take(top)
        .map(|name| json!({"name": names[name.label.index()], "p": name.p, "hdi": name.hdi}))
        .collect();
    let Value::Object(object) = json!({
        "face": face,
        "acquainted": answer.acquainted,
        "familiar": answer.familiar,
        "stranger": answer.stranger,
        "names": told,
        "unknown_name": answer.unknown_name,
    }) else {
        unreachable!("it is an object")
    };
    object
}

/// The same in one line without its end.
pub fn in_words(face: &str, answer: &Answer, names: &[String], top: usize) -> String {
    let [acquainted, familiar, stranger] = [answer.acquainted, answer.familiar, answer.stranger].map(percent);
    let mut text = format!("{face}: acquainted {acquainted}, familiar {familiar}, stranger {stranger}");
    for name in answer.names.iter().take(top).filter(|name| name.p >= 0.01) {
        let [low, high] = name.hdi.map(percent);
        text += &format!("; {} {} [{low}, {high}]", names[name.label.index()], percent(name.p));
    }
    text
}

/// "97 %".
pub fn percent(p: f64) -> String {
    format!("{:.0} %", 100.0 * p)
}
