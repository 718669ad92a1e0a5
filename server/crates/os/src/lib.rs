//! The machine of a process: the time, random bytes, text files of operators, its limits and its user.
//!
//! Knows nothing of payments, and holds no state but the last time that an id was made at.

pub mod clock;
pub mod id_clock;
pub mod process;
pub mod randomness;
pub mod text_file;
