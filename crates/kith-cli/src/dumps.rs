//! No core dump holds faces: a process that dies leaves nothing of its memory on a disk.

/// Asks the system for no dump of this process; where it has no such thing to ask for, nothing is lost.
pub fn forbid() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
    // A program that the kernel pipes dumps to is asked in spite of the limit, but not for a process that
    // says this. It keeps other programs of the same account from reading this one's memory too.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
