//! Delivery: webhooks, and files that are pushed.

pub mod file_push;
pub mod file_push_status;
pub mod webhook;
pub mod webhook_rotation;
