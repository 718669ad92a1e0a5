//! Delivery: the outbox, its receivers, and files that are pushed.

pub mod event;
pub mod file_delivery;
pub mod file_push;
pub mod ftp_user;
pub mod message;
pub mod message_selection;
pub mod webhook;
