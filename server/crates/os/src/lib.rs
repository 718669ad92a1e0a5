//! The machine of a process: the time, random bytes, text files of operators, its disk, its limits, its user and its
//! latest warnings.
//!
//! Knows nothing of payments, and holds no state but the last time that an id was made at, and those warnings.

pub mod clock;
pub mod disk;
pub mod id_clock;
pub mod process;
pub mod randomness;
pub mod text_file;
pub mod warning_log;
