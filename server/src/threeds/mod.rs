//! 3D authentication of cardholders: the words of a request for authentication ([`request`]), and in place of the schemes'
//! directories and the issuers' servers a simulation of both, by documented test cards ([`directory`], [`issuer`]).
//!
//! What comes of an answer is decided in `domain::authentication`.

pub mod directory;
pub mod issuer;
pub mod request;
