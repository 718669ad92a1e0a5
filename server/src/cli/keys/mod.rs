//! Keys: the vault's, and those of wallets.

pub mod vault;
pub mod vault_key;
pub mod wallet;
