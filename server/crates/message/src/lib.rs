//! Messages to merchants' receivers: webhooks and review callbacks, with their encryption, their signatures, and the
//! meaning of an answer.
//!
//! Pure: keys, time and randomness are arguments. Never sends anything, and knows no store.

pub mod review_callback;
pub mod webhook;
