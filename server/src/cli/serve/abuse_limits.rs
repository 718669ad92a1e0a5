//! Options against card testing and against guessed credentials, for every command that runs the gateway.

use clap::Args;
use tillgate_gateway::risk::velocity::VelocityLimits;

/// Limits on payment attempts. Beyond a limit the answer is 429, with the time to wait.
#[derive(Debug, Args)]
pub(in crate::cli) struct LimitOptions {
    /// Attempts to pay that one checkout allows; 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_ATTEMPTS_PER_CHECKOUT", default_value_t = 10)]
    attempts_per_checkout: u32,
    /// Declines an hour of one shopper's address; twenty approvals count as one. An IPv6 /64 is one address, a /56 may
    /// have four times as many, a /48 sixteen times. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_ADDRESS", default_value_t = 60)]
    declines_per_address: u32,
    /// Declines an hour of the cards with one BIN, for each entity by itself; twenty approvals count as one. 0 is
    /// without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_BIN", default_value_t = 2_000)]
    declines_per_bin: u32,
    /// Declines an hour of one entity; twenty approvals count as one. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_ENTITY", default_value_t = 20_000)]
    declines_per_entity: u32,
    /// Different numbers an hour that show the same digits, such as the first six and last four of a card, for each
    /// merchant with its channels, whatever becomes of them; beyond it a warning is logged. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_ALIKE_NUMBERS", default_value_t = 30)]
    alike_numbers: u32,
    /// The factor by which the limits of a sandbox entity are higher; 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_SANDBOX_FACTOR", default_value_t = 1_000)]
    sandbox_factor: u32,
    /// Wrong credentials an hour of one client address (IPv6: network); right ones always pass. 0 is without a limit.
    #[arg(long, value_name = "N", env = "TILLGATE_WRONG_CREDENTIALS_PER_ADDRESS", default_value_t = 600)]
    pub(in crate::cli) wrong_credentials_per_address: u32,
}

impl LimitOptions {
    /// Returns the limits on payment attempts for the gateway. That on wrong credentials is not among them.
    pub(in crate::cli) fn velocity_limits(&self) -> VelocityLimits {
        VelocityLimits {
            per_checkout: self.attempts_per_checkout,
            per_address: self.declines_per_address,
            per_bin: self.declines_per_bin,
            per_entity: self.declines_per_entity,
            alike_numbers: self.alike_numbers,
            sandbox_factor: self.sandbox_factor,
        }
    }
}
