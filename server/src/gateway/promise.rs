//! What a payment puts on file when it succeeds: at once, or when its shopper comes back from the brand's page.

use jiff::{SignedDuration, Timestamp};

use crate::domain::payment::Payment;
use crate::domain::registration::Registration;
use crate::domain::standing_instruction::{Chain, INITIAL_TRANSACTION, Pending};
use crate::store::{Changes, NewRegistration, OnFile, OnFileKeys, Promise};

/// How long a pending payment's account waits for the answer. One that succeeds still later puts nothing on file.
pub(super) const LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

impl Promise {
    /// What has to be loaded to keep it.
    pub(super) fn keys(&self, payment: &Payment) -> OnFileKeys {
        OnFileKeys {
            registration: payment.registration.clone().map(|id| (self.owner.clone(), id)),
            chain: match &self.agreement {
                Some(Pending::Charge { initial, .. }) => Some((self.owner.clone(), initial.clone())),
                _ => None,
            },
            ..OnFileKeys::default()
        }
    }

    /// Decides under the write lock what is written besides the payment, which has succeeded, and tells the payment of it.
    pub(super) fn keep(self, payment: &mut Payment, on_file: OnFile, now: Timestamp) -> Changes {
        let mut changes = Changes::default();
        let registration = match self.registration {
            Some(new) => {
                let registration = Registration { created: now, result: payment.result, ..new.registration };
                let kept;
                (changes, kept) = NewRegistration { registration, ..new }.write(changes);
                payment.registration = Some(kept.id.clone());
                Some(kept)
            }
            None => on_file.registration,
        };
        let Some(Pending::First(agreement)) = self.agreement else { return changes };
        // With a registration that was deleted meanwhile went what was agreed for it.
        if registration.as_ref().is_some_and(|registration| registration.check_usable(now).is_err()) {
            return changes;
        }
        let agreement = Chain { registration: registration.as_ref().map(|kept| kept.id.clone()), ..agreement };
        payment.parameters.set(INITIAL_TRANSACTION, agreement.initial.as_str());
        if let Some(registration) = registration {
            let initial = Some(agreement.initial.clone());
            changes = changes.registration(&Registration { initial, ndc: Some(payment.ndc()), ..registration });
        }
        changes.chain(&agreement)
    }

    /// Decides under the write lock what is taken back, the payment having failed.
    pub(super) fn fail(self, on_file: OnFile) -> Changes {
        let changes = Changes::default();
        match (self.agreement, on_file.chain) {
            (Some(Pending::Charge { day, before, .. }), Some(chain)) => changes.chain(&chain.given_back(day, before)),
            _ => changes,
        }
    }
}
