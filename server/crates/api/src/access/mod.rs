//! Access: credentials of requests, requests of browsers, and rules about HTTPS.

pub mod browsers;
pub mod credentials;
pub mod transport;
