//! What names and ids may be, at every door of a library: one line, not endless, nothing that a terminal
//! would obey.

use crate::StoreError;

/// The longest name, in characters.
const LONGEST_NAME: usize = 1000;
/// The longest id of a face or a frame, context or speaker: ids are often paths.
const LONGEST_ID: usize = 4096;

/// A name without the blanks around it.
pub(crate) fn name(name: &str) -> Result<&str, StoreError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(StoreError::refused("found an empty name, wanted at least one character"));
    }
    one_line("name", name, LONGEST_NAME)
}

/// An id of a kind, as it is.
pub(crate) fn id<'t>(kind: &str, id: &'t str) -> Result<&'t str, StoreError> {
    one_line(kind, id, LONGEST_ID)
}

fn one_line<'t>(kind: &str, text: &'t str, longest: usize) -> Result<&'t str, StoreError> {
    let n = text.chars().count();
    if n > longest {
        return Err(StoreError::refused(format!(
            "found a {kind} of {n} characters, wanted at most {longest}"
        )));
    }
    if text.chars().any(char::is_control) {
        return Err(StoreError::refused(format!(
            "found the {kind} {text:?}, wanted one line without control characters"
        )));
    }
    Ok(text)
}
