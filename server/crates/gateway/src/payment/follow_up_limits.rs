//! Limits of the follow-up payments of a payment: those of the gateway, of its connector, and of its entity.

use jiff::SignedDuration;
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::inheritance::find_setting;
use tillgate_domain::access::level::Level;
use tillgate_domain::payment::{FollowUpLimits, Payment, TimeLimits};

use crate::Gateway;

/// Hours of a day.
const HOURS: i64 = 24;

impl Gateway {
    /// Returns the limits of the follow-up payments of a payment: the gateway's own, with the reversal window of its
    /// external connector and the settings of its entity, if they have any.
    pub(crate) fn follow_up_limits_of(&self, payment: &Payment) -> FollowUpLimits {
        let TimeLimits { authorization_lifetime, reversal_window } = self.options.time_limits;
        let entity = self.directory.find_entity(&payment.entity);
        let entity = entity.as_deref();
        let days = entity.and_then(|entity| {
            self.read_deciding_setting(entity, "authorization-days", |settings| settings.authorization_days)
        });
        let lifetime = days.map(|days| SignedDuration::from_hours(i64::from(days) * HOURS));
        let overcapture =
            entity.map(|entity| self.read_deciding_setting(entity, "overcapture", |settings| settings.overcapture));
        FollowUpLimits {
            times: TimeLimits {
                authorization_lifetime: lifetime.unwrap_or(authorization_lifetime),
                reversal_window: self.connector_reversal_window(payment).unwrap_or(reversal_window),
            },
            overcapture: overcapture.unwrap_or_default(),
        }
    }

    /// Reads a setting that covers channels: a channel without its own value has that of its merchant.
    fn read_deciding_setting<T>(&self, entity: &Entity, name: &str, read: fn(&EntitySettings) -> T) -> T {
        let is_own = find_setting(name).is_none_or(|setting| setting.is_own(&entity.settings));
        let merchant = entity.parent.as_ref().filter(|_| entity.level == Level::Channel && !is_own);
        match merchant.and_then(|merchant| self.directory.find_entity(merchant)) {
            Some(merchant) => read(&merchant.settings),
            None => read(&entity.settings),
        }
    }
}
