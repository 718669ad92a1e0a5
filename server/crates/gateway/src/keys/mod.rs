//! Keys: encrypted tokens of wallets, the key pairs that wallets encrypt for, the vault's keys, and the seal of the
//! store.

pub mod table_seal;
pub mod vault_key;
pub mod wallet;
pub mod wallet_key;
