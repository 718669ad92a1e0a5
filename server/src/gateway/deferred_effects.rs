//! Effects of a payment on stored credentials, applied when it succeeds: immediately, or when its shopper returns from
//! the brand's page.

use jiff::{SignedDuration, Timestamp};

use crate::domain::payment::Payment;
use crate::domain::registration::Registration;
use crate::domain::standing_instruction::{INITIAL_TRANSACTION, PendingInstruction, StandingInstruction};
use crate::store::{Changes, DeferredEffects, NewRegistration, StoredCredentialKeys, StoredCredentials};

/// Time for which the account of a pending payment is stored. A payment that succeeds later stores no credential.
pub(super) const LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

impl DeferredEffects {
    /// Returns the keys of the records that `on_success` and `on_failure` need: the registration that the payment uses,
    /// and the standing instruction that it charges.
    pub(super) fn required_keys(&self, payment: &Payment) -> StoredCredentialKeys {
        StoredCredentialKeys {
            registration: payment.registration.clone().map(|id| (self.owner.clone(), id)),
            standing_instruction: match &self.instruction {
                Some(PendingInstruction::Charge { initial, .. }) => Some((self.owner.clone(), initial.clone())),
                _ => None,
            },
            ..StoredCredentialKeys::default()
        }
    }

    /// Applies the effects of a payment that has succeeded, under the write lock: creates the registration, and opens
    /// the standing instruction unless its registration has ended meanwhile. Writes the new ids into the payment.
    /// Returns the changes to write besides the payment.
    pub(super) fn on_success(self, payment: &mut Payment, loaded: StoredCredentials, now: Timestamp) -> Changes {
        let mut changes = Changes::default();
        let registration = match self.registration {
            Some(new) => {
                let registration = Registration { created: now, result: payment.result, ..new.registration };
                let written;
                (changes, written) = NewRegistration { registration, ..new }.write_to(changes);
                payment.registration = Some(written.id.clone());
                Some(written)
            }
            None => loaded.registration,
        };
        let Some(PendingInstruction::First(instruction)) = self.instruction else { return changes };
        // A standing instruction ends with its registration, so it is not written if the registration was deleted
        // meanwhile.
        if registration.as_ref().is_some_and(|registration| registration.check_usable(now).is_err()) {
            return changes;
        }
        let instruction =
            StandingInstruction { registration: registration.as_ref().map(|stored| stored.id.clone()), ..instruction };
        payment.parameters.set(INITIAL_TRANSACTION, instruction.initial.as_str());
        if let Some(registration) = registration {
            let initial = Some(instruction.initial.clone());
            changes = changes.with_registration(&Registration { initial, ndc: Some(payment.ndc()), ..registration });
        }
        changes.with_standing_instruction(&instruction)
    }

    /// Returns the changes that remove the charge of a failed payment from its standing instruction. Returns none if
    /// the payment is no charge or the standing instruction is gone. Runs under the write lock.
    pub(super) fn on_failure(self, loaded: StoredCredentials) -> Changes {
        let changes = Changes::default();
        match (self.instruction, loaded.standing_instruction) {
            (Some(PendingInstruction::Charge { day, before, .. }), Some(instruction)) => {
                changes.with_standing_instruction(&instruction.without_charge(day, before))
            }
            _ => changes,
        }
    }
}
