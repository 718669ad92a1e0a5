//! Delivery: webhooks, notifications and files that leave the gateway, and the addresses that they go to.

pub mod file_push;
pub mod file_push_attacks;
pub mod file_push_servers;
pub mod file_push_settings;
pub mod notifications;
pub mod outgoing;
pub mod receiver_addresses;
pub mod webhook_events;
pub mod webhooks;
