//! The options against card testing and against guessed credentials, of every command that serves.

use clap::Args;

use crate::gateway::velocity::Limits;

/// How often somebody may try to pay. Beyond it the answer is 429, with the time to wait.
#[derive(Debug, Args)]
pub(super) struct LimitOptions {
    /// How often one checkout may be tried; 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_ATTEMPTS_PER_CHECKOUT", default_value_t = 10)]
    attempts_per_checkout: u32,
    /// Declines an hour of one shopper's address; twenty approvals count as one. An IPv6 /64 is one address, a /56 may four times
    /// as much, a /48 sixteen times. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_ADDRESS", default_value_t = 60)]
    declines_per_address: u32,
    /// Declines an hour of the cards with one BIN, for each entity by itself; twenty approvals count as one. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_BIN", default_value_t = 2_000)]
    declines_per_bin: u32,
    /// Declines an hour of one entity; twenty approvals count as one. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_ENTITY", default_value_t = 20_000)]
    declines_per_entity: u32,
    /// Different card numbers an hour with the same first six and last four digits, for each entity by itself, whatever comes
    /// of them; beyond it a warning is logged. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_ALIKE_NUMBERS", default_value_t = 30)]
    alike_numbers: u32,
    /// How many times as often a sandbox entity may; 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_SANDBOX_FACTOR", default_value_t = 1_000)]
    sandbox_factor: u32,
    /// Wrong credentials an hour of one client address (IPv6: network); right ones always pass. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_WRONG_CREDENTIALS_PER_ADDRESS", default_value_t = 600)]
    pub(super) wrong_credentials_per_address: u32,
}

impl LimitOptions {
    /// The options as the gateway takes them.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            per_checkout: self.attempts_per_checkout,
            per_address: self.declines_per_address,
            per_bin: self.declines_per_bin,
            per_entity: self.declines_per_entity,
            alike_numbers: self.alike_numbers,
            sandbox_factor: self.sandbox_factor,
        }
    }
}
