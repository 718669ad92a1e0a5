//! 3-D Secure: the gateway's own page of an issuer.

pub mod issuer_page;
