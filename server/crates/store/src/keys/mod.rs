//! Keys: sealed columns, the vault's keys, and the seal of the store.

pub mod audit_key;
pub mod key_retirement;
pub mod masked_index;
pub mod sealed;
pub mod sealed_key;
pub mod table_seal;
pub mod vault_keys;
pub mod wallet;
