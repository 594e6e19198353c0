//! Numbers that no choice can be made by: an error that names the face, for whoever asks by [`guarded`].
//!
//! Weights are finite for faces of one network (see [`crate::data::Lengths`]) and settings within their
//! ranges. Where they are not, deep inside a scan, there is no sensible seat, and no caller on the way could
//! do anything: the computation unwinds to the guard, and what it was moving is lost.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};

use crate::ids::FaceId;

/// All weights of a choice are zero, infinite or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unweighable {
    /// Of whom something was to be drawn, where it was of a face.
    pub face: Option<FaceId>,
}

/// Ends the computation.
pub(crate) fn give_up(face: Option<FaceId>) -> ! {
    panic_any(Unweighable { face })
}

/// Runs a computation that may find no weights. Whatever it was moving must not be used afterwards.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Unweighable> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|thrown| match thrown.downcast::<Unweighable>() {
        Ok(unweighable) => *unweighable,
        Err(other) => resume_unwind(other),
    })
}

/// Keeps quiet about what a guard tells; every other panic is told as before.
pub fn leave_to_guards() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<Unweighable>() {
            told(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn weights_that_are_no_numbers_become_an_error_and_other_panics_stay() {
        leave_to_guards();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let drawn = guarded(|| driver(1).categorical_ln(&mut [bad, bad]));
            assert_eq!(drawn, Err(Unweighable { face: None }), "{bad}");
        }
        assert_eq!(guarded(|| driver(1).categorical_ln(&mut [f64::NAN, 0.0])), Ok(1));
        let drawn = guarded(|| rayon::join(|| give_up(Some(FaceId(7))), || 1));
        assert_eq!(drawn.err(), Some(Unweighable { face: Some(FaceId(7)) }), "from another thread too");
        assert!(catch_unwind(|| guarded(|| panic!("another"))).is_err());
    }
}
