//! Options for the time limits of payments: how long a payment may be captured, reversed, reviewed or awaited.

use clap::Args;
use jiff::SignedDuration;
use tillgate_domain::payment::TimeLimits;

use super::value_parsers::parse_duration;

/// Time in which an analyst decides about a held payment, unless the operator sets another.
const REVIEW_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// Time limits of payments.
#[derive(Debug, Args)]
pub(in crate::cli) struct PaymentLifetimeOptions {
    /// Time for which the encrypted number of an unregistered card is kept after a successful payment.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_CARD_WINDOW", default_value = "24h", value_parser = parse_duration)]
    pub(super) card_window: SignedDuration,
    /// Time in which a preauthorization may be captured or reversed. Afterwards the remaining amount is released.
    #[arg(
        long,
        value_name = "DURATION",
        env = "TILLGATE_AUTHORIZATION_LIFETIME",
        default_value = "168h",
        value_parser = parse_duration
    )]
    authorization_lifetime: SignedDuration,
    /// Time in which a debit or credit may be reversed. Afterwards it can only be refunded.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_REVERSAL_WINDOW", default_value = "24h", value_parser = parse_duration)]
    reversal_window: SignedDuration,
    /// Time for which a pending payment waits for its shopper to return from the brand's page or to complete a 3-D
    /// Secure challenge. Afterwards it fails.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_PENDING_LIFETIME", default_value = "30m", value_parser = parse_duration)]
    pub(super) pending_lifetime: SignedDuration,
    /// Time in which an analyst has to decide about a held payment. Afterwards it is cancelled. At most
    /// `--card-window`. Default: 24h, or the card window if it is shorter.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_REVIEW_LIFETIME", value_parser = parse_duration)]
    review_lifetime: Option<SignedDuration>,
}

impl PaymentLifetimeOptions {
    /// Refuses a lifetime of reviews beyond that of the cards.
    ///
    /// # Errors
    /// If it is longer.
    pub(super) fn check_review(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.review_lifetime.is_none_or(|lifetime| lifetime <= self.card_window),
            "--review-lifetime must not exceed --card-window, because the card of a held payment is not kept longer"
        );
        Ok(())
    }

    /// Returns the limits for captures and reversals.
    pub(super) fn time_limits(&self) -> TimeLimits {
        let (authorization_lifetime, reversal_window) = (self.authorization_lifetime, self.reversal_window);
        TimeLimits { authorization_lifetime, reversal_window }
    }

    /// Returns the time in which an analyst decides about a held payment.
    pub(super) fn review_lifetime(&self) -> SignedDuration {
        self.review_lifetime.unwrap_or(REVIEW_LIFETIME).min(self.card_window)
    }
}
