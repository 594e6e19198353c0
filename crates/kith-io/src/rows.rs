//! From columns of text to faces in frames, with every check that needs no embedding.

use crate::columns::Columns;
use crate::error::IoError;
use crate::time;
use kith::ids::FrameId;
use std::collections::HashMap;

/// A dataset but for its embeddings.
pub(crate) struct Rows {
    pub(crate) faces: Vec<String>,
    pub(crate) frame_of: Vec<FrameId>,
    /// The id of each frame, empty for one that has none.
    pub(crate) frames: Vec<String>,
    /// Of each frame.
    pub(crate) contexts: Vec<Option<String>>,
    pub(crate) names: Vec<Option<String>>,
    pub(crate) truth: Option<Vec<Option<String>>>,
    pub(crate) other: Vec<(String, Vec<String>)>,
}

impl Rows {
    pub(crate) fn new(mut columns: Columns) -> Result<Self, IoError> {
        let n_rows = columns.n_rows();
        if n_rows == 0 {
            return Err(IoError::NoFaces { at: columns.file().clone() });
        }
        let faces = faces(columns.take("face"), &columns)?;
        check_times(&faces, &columns)?;
        let (frame_of, frames) = frames(columns.take("frame"), n_rows);
        let layout = Layout { faces: &faces, frame_of: &frame_of, frames: &frames };
        let contexts = layout.of_frames("context", columns.take("context"), &columns)?;
        layout.of_frames("time", columns.get("time").map(<[String]>::to_vec), &columns)?;
        let names = columns.take("name").map_or_else(|| vec![None; n_rows], given);
        let truth = columns.take("truth").map(given);
        Ok(Self { faces, frame_of, frames, contexts, names, truth, other: columns.rest() })
    }
}

/// Where an id comes twice, first and second row; of several such pairs the one whose second row is first.
pub(crate) fn first_repeat(ids: &[String]) -> Option<(usize, usize)> {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(ids.len());
    ids.iter().enumerate().find_map(|(row, id)| seen.insert(id, row).map(|first| (first, row)))
}

/// A face without an id has its row number.
fn faces(cells: Option<Vec<String>>, columns: &Columns) -> Result<Vec<String>, IoError> {
    let mut faces = cells.unwrap_or_else(|| vec![String::new(); columns.n_rows()]);
    for (row, face) in faces.iter_mut().enumerate() {
        if face.is_empty() {
            *face = row.to_string();
        }
    }
    match first_repeat(&faces) {
        None => Ok(faces),
        Some((first, second)) => Err(IoError::RepeatedFace {
            at: columns.origin_of("face"),
            face: faces[second].clone(),
            first: columns.place(first, &[]).into(),
            second: columns.place(second, &[]).into(),
        }),
    }
}

fn check_times(faces: &[String], columns: &Columns) -> Result<(), IoError> {
    let times = columns.get("time").unwrap_or_default();
    match times.iter().position(|text| !text.is_empty() && time::seconds(text).is_none()) {
        None => Ok(()),
        Some(row) => Err(IoError::Time {
            at: columns.origin_of("time"),
            place: columns.place(row, faces),
            found: times[row].clone(),
        }),
    }
}

/// Rows with the same cell are one frame, a row without one is a frame of its own; numbered by first
/// appearance.
fn frames(cells: Option<Vec<String>>, n_rows: usize) -> (Vec<FrameId>, Vec<String>) {
    let cells = cells.unwrap_or_else(|| vec![String::new(); n_rows]);
    let mut known: HashMap<&str, FrameId> = HashMap::new();
    let mut frames: Vec<String> = Vec::new();
    let mut frame_of = Vec::with_capacity(n_rows);
    for cell in &cells {
        let next = FrameId::new(frames.len());
        let frame = if cell.is_empty() { next } else { *known.entry(cell).or_insert(next) };
        if frame == next {
            frames.push(cell.clone());
        }
        frame_of.push(frame);
    }
    (frame_of, frames)
}

/// Which rows are in which frames.
struct Layout<'r> {
    faces: &'r [String],
    frame_of: &'r [FrameId],
    frames: &'r [String],
}

impl Layout<'_> {
    /// What a column says of each frame: any row of it may say it, none may contradict.
    fn of_frames(
        &self,
        column: &'static str,
        cells: Option<Vec<String>>,
        columns: &Columns,
    ) -> Result<Vec<Option<String>>, IoError> {
        let Some(cells) = cells else { return Ok(vec![None; self.frames.len()]) };
        let mut given_by: Vec<Option<usize>> = vec![None; self.frames.len()];
        for (second, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let frame = self.frame_of[second].index();
            let first = *given_by[frame].get_or_insert(second);
            if cells[first] != *cell {
                return Err(IoError::TwoOfFrame {
                    at: columns.origin_of(column),
                    column,
                    frame: self.frames[frame].as_str().into(),
                    found: cell.as_str().into(),
                    wanted: cells[first].as_str().into(),
                    first: columns.place(first, self.faces).into(),
                    second: columns.place(second, self.faces).into(),
                });
            }
        }
        Ok(given_by.into_iter().map(|row| row.map(|row| cells[row].clone())).collect())
    }
}

fn given(cells: Vec<String>) -> Vec<Option<String>> {
    cells.into_iter().map(|cell| (!cell.is_empty()).then_some(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Origin;

    fn rows(header: &str, lines: &[&str]) -> Result<Rows, IoError> {
        let column =
            |at: usize| lines.iter().map(|line| line.split(',').nth(at).unwrap().to_owned()).collect();
        let cells = header.split(',').enumerate().map(|(at, name)| (name.to_owned(), column(at))).collect();
        let numbers = (2..2 + lines.len() as u64).collect();
        Rows::new(Columns::of_text(Origin::file("faces.csv".as_ref()), numbers, cells))
    }

    fn refusal(header: &str, lines: &[&str]) -> String {
        rows(header, lines).err().expect("refused").to_string()
    }

    #[test]
    fn frames_are_numbered_by_first_appearance_and_empty_ones_stay_apart() {
        let rows = rows("frame,context", &["b,", ",", "a,", "b,home", ",work"]).unwrap();
        assert_eq!(rows.frame_of, [0, 1, 2, 0, 3].map(FrameId));
        assert_eq!(rows.frames, ["b", "", "a", ""]);
        assert_eq!(rows.contexts, [Some("home".into()), None, None, Some("work".into())]);
        assert_eq!(rows.faces, ["0", "1", "2", "3", "4"]);
    }

    #[test]
    fn a_frame_with_two_contexts_is_refused_naming_both_rows() {
        let wanted = "faces.csv line 4 (face z): found context \"work\" in frame \"a\", \
                      wanted \"home\" as at line 3 (face y)";
        assert_eq!(refusal("face,frame,context", &["x,a,", "y,a,home", "z,a,work"]), wanted);
    }

    #[test]
    fn a_frame_with_two_times_is_refused_too() {
        let wanted = "faces.csv line 4 (face z): found time \"13\" in frame \"a\", wanted \"12\" as at line \
                      3 (face y)";
        assert_eq!(refusal("face,frame,time", &["x,a,", "y,a,12", "z,a,13"]), wanted);
    }

    #[test]
    fn a_repeated_face_is_refused_naming_both_rows() {
        let wanted = "faces.csv line 4: found the face id \"x\" again, wanted an id of its own; it is \
                      already at line 2";
        assert_eq!(refusal("face", &["x", "y", "x", "x"]), wanted);
        let wanted = "faces.csv line 3: found the face id \"1\" again, wanted an id of its own; it is \
                      already at line 2";
        assert_eq!(refusal("face", &["1", ""]), wanted);
    }

    #[test]
    fn text_that_is_no_time_is_refused_with_its_row() {
        let wanted = "faces.csv line 4 (face z): found time \"noon\", \
                      wanted RFC 3339 (2024-05-01T12:30:00Z) or seconds";
        assert_eq!(refusal("face,time", &["x,12", "y,", "z,noon"]), wanted);
    }

    #[test]
    fn empty_cells_are_missing_and_other_columns_keep_their_order() {
        let rows = rows("quality,name,camera,truth,time", &["0.5,,front,Ann,3", ",Ann,,,"]).unwrap();
        assert_eq!(rows.names, [None, Some("Ann".into())]);
        assert_eq!(rows.truth, Some(vec![Some("Ann".into()), None]));
        let names: Vec<&str> = rows.other.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["quality", "camera", "time"]);
        assert_eq!(rows.other[2].1, ["3", ""]);
    }

    #[test]
    fn zero_faces_are_refused() {
        assert_eq!(refusal("face", &[]), "faces.csv: found zero faces, wanted at least one");
    }
}
