//! Ids as types: a face is never mistaken for a frame, nor a context for a name.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the thing at this place in a list.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("at most 4,294,967,295 things of one kind"))
            }

            /// Its place in a list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A face `n`: a row of the embeddings.
    FaceId;
    /// A frame `m`: a photo or a video still, with all the faces on it.
    FrameId;
    /// A context `c`: home, work, ...
    ContextId;
    /// An identity `i`. It is a slot of one state of one chain and means nothing outside it.
    IdentityId;
    /// A name `l` that somebody has given.
    LabelId;
}
