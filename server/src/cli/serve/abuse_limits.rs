//! Options against card testing and against guessed credentials, for every command that runs the gateway.

use clap::Args;
use tillgate_gateway::risk::velocity::VelocityLimits;

/// Card-testing limits. A payment attempt above a limit gets 429 with the time to wait.
#[derive(Debug, Args)]
pub(in crate::cli) struct LimitOptions {
    /// Maximum number of payment attempts for one checkout. 0 means no limit.
    #[arg(long, value_name = "N", env = "TILLGATE_ATTEMPTS_PER_CHECKOUT", default_value_t = 10)]
    attempts_per_checkout: u32,
    /// Maximum number of declines per hour for one shopper's address; twenty approvals count as one decline. An IPv6
    /// /64 is one address, a /56 may have four times as many declines, and a /48 sixteen times. 0 means no limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_ADDRESS", default_value_t = 60)]
    declines_per_address: u32,
    /// Maximum number of declines per hour for the cards with one BIN, for each entity separately; twenty approvals
    /// count as one decline. 0 means no limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_BIN", default_value_t = 2_000)]
    declines_per_bin: u32,
    /// Maximum number of declines per hour for one entity; twenty approvals count as one decline. 0 means no limit.
    #[arg(long, value_name = "N", env = "TILLGATE_DECLINES_PER_ENTITY", default_value_t = 20_000)]
    declines_per_entity: u32,
    /// Maximum number of similar numbers per hour: different numbers with the same visible digits, such as the first
    /// six and last four of a card. Counted for each merchant with its channels, regardless of the outcome; above the
    /// limit a warning is logged. 0 means no limit.
    #[arg(long, value_name = "N", env = "TILLGATE_ALIKE_NUMBERS", default_value_t = 30)]
    alike_numbers: u32,
    /// Factor by which the limits of a sandbox entity are higher. 0 means no limit.
    #[arg(long, value_name = "N", env = "TILLGATE_SANDBOX_FACTOR", default_value_t = 1_000)]
    sandbox_factor: u32,
    /// Maximum number of wrong credentials per hour for one client address (IPv6: network); valid credentials always
    /// pass. 0 means no limit.
    #[arg(long, value_name = "N", env = "TILLGATE_WRONG_CREDENTIALS_PER_ADDRESS", default_value_t = 600)]
    pub(in crate::cli) wrong_credentials_per_address: u32,
}

impl LimitOptions {
    /// Returns the card-testing limits for the gateway. The limit of wrong credentials is not among them.
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
