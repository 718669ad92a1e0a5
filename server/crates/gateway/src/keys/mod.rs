//! Keys: encrypted tokens of wallets, and the key pairs that wallets encrypt for.

pub mod wallet;
pub mod wallet_key;
