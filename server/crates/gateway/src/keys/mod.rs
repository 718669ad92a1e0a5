//! Keys: encrypted tokens of wallets.

pub mod wallet;
