//! Keys and secrets: seals, the vault, and places where no card number may be.

pub mod masking;
pub mod memory;
pub mod seal;
pub mod seal_keys;
pub mod secrets;
pub mod vault_rotation;
