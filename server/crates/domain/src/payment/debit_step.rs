//! The step of a debit in two steps, in its stored form. Its rules are in `two_step_debit.rs`.

use serde::{Deserialize, Serialize};

/// The step of a debit that is preauthorized first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DebitStep {
    /// Its connector is asked to preauthorize it, or has done so. Nothing is captured.
    Authorization,
    /// Its connector is asked to capture the preauthorization, or has done so.
    Capture,
}
