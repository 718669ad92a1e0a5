//! Delivery: the acts of administrators on webhooks, on users of the FTP server, and on servers to which files are
//! pushed.

pub mod file_push;
pub mod ftp_user;
pub mod webhook;
