//! Limits of the follow-up payments of a payment: those of the gateway, of its connector, and of its entity.

use jiff::SignedDuration;
use tillgate_domain::payment::{FollowUpLimits, Payment, TimeLimits};

use crate::Gateway;

/// Hours of a day.
const HOURS: i64 = 24;

impl Gateway {
    /// Returns the limits of the follow-up payments of a payment: the gateway's own, with the reversal window of its
    /// external connector and the settings of its entity, if they have any.
    pub(crate) fn follow_up_limits_of(&self, payment: &Payment) -> FollowUpLimits {
        let TimeLimits { authorization_lifetime, reversal_window } = self.options.time_limits;
        let deciding = |setting| self.directory.find_deciding_entity(&payment.entity, setting);
        let days = deciding("authorization-days").and_then(|entity| entity.settings.authorization_days);
        let lifetime = days.map(|days| SignedDuration::from_hours(i64::from(days) * HOURS));
        let overcapture = deciding("overcapture").map(|entity| entity.settings.overcapture);
        FollowUpLimits {
            times: TimeLimits {
                authorization_lifetime: lifetime.unwrap_or(authorization_lifetime),
                reversal_window: self.connector_reversal_window(payment).unwrap_or(reversal_window),
            },
            overcapture: overcapture.unwrap_or_default(),
        }
    }
}
