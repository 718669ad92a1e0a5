//! Delivery: the acts of administrators on webhooks.

pub mod webhook;
