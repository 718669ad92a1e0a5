//! Effects of a payment on stored credentials, applied when it succeeds: immediately, or when its shopper returns from
//! the brand's page.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::payment::Payment;
use tillgate_domain::registration::standing_instruction::{
    INITIAL_TRANSACTION, PendingInstruction, StandingInstruction,
};
use tillgate_domain::registration::{Registration, new_date};
use tillgate_store::{Changes, DeferredEffects, NewRegistration, StoredCredentialKeys, StoredCredentials};

/// Time for which the account of a pending payment is stored. A payment that succeeds later stores no credential.
pub(crate) const LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Returns the keys of the records that [`settle_effects`] needs: the registration that the payment uses, and the
/// standing instruction that it charges.
pub(crate) fn required_keys(effects: &DeferredEffects, payment: &Payment) -> StoredCredentialKeys {
    StoredCredentialKeys {
        registration: payment.registration.clone().map(|id| (effects.owner.clone(), id)),
        standing_instruction: match &effects.instruction {
            Some(PendingInstruction::Charge { initial, .. }) => Some((effects.owner.clone(), initial.clone())),
            _ => None,
        },
        ..StoredCredentialKeys::default()
    }
}

/// Applies the effects of a payment that has succeeded, under the write lock: creates the registration, or sets the new
/// date of the stored card, and opens the standing instruction. A registration that has ended meanwhile gets neither.
/// Writes the new ids into the payment. Returns the changes to write besides the payment.
pub(crate) fn apply_on_success(
    effects: DeferredEffects,
    payment: &mut Payment,
    loaded: StoredCredentials,
    now: Timestamp,
) -> Changes {
    let mut changes = Changes::default();
    let mut registration = match effects.registration {
        Some(new) => {
            let registration = Registration { created: now, result: payment.result, ..new.registration };
            let written;
            (changes, written) = NewRegistration { registration, ..new }.write_to(changes);
            payment.registration = Some(written.id.clone());
            Some(written)
        }
        None => loaded.registration,
    };
    // A standing instruction ends with its registration, so it is not written if the registration was deleted
    // meanwhile.
    if registration.as_ref().is_some_and(|registration| registration.check_usable(now).is_err()) {
        return changes;
    }
    let mut is_changed = false;
    if let (Some(renewal), Some(current)) = (effects.renewal, &mut registration)
        && let Some(renewed) = renew(current, &renewal.registration)
    {
        *current = renewed;
        changes = changes.with_account_replaced(current, renewal.account);
        is_changed = true;
    }
    if let Some(PendingInstruction::First(instruction)) = effects.instruction {
        let id = registration.as_ref().map(|stored| stored.id.clone());
        let instruction = StandingInstruction { registration: id, ..instruction };
        payment.parameters.set(INITIAL_TRANSACTION, instruction.initial.as_str());
        if let Some(current) = &mut registration {
            current.initial = Some(instruction.initial.clone());
            is_changed = true;
        }
        changes = changes.with_standing_instruction(&instruction);
    }
    match registration.filter(|_| is_changed) {
        Some(changed) => changes.with_registration(&Registration { ndc: Some(payment.ndc()), ..changed }),
        None => changes,
    }
}

/// Returns a stored card with the date of its renewed version. The registration may have changed since the payment was
/// made, so only the date is taken over. `None` if another payment has renewed the card since.
fn renew(current: &Registration, renewed: &Registration) -> Option<Registration> {
    let date = current.find_new_date(&renewed.account).filter(|_| current.is_replaced_by(renewed))?;
    Some(current.with_new_date(date, renewed.is_from_browser(new_date::MONTH)))
}

/// Returns the changes that remove the charge of a failed payment from its standing instruction. Returns none if the
/// payment is no charge or the standing instruction is gone. Runs under the write lock.
fn revert_on_failure(effects: DeferredEffects, loaded: StoredCredentials) -> Changes {
    let changes = Changes::default();
    match (effects.instruction, loaded.standing_instruction) {
        (Some(PendingInstruction::Charge { day, before, .. }), Some(instruction)) => {
            changes.with_standing_instruction(&instruction.without_charge(day, before))
        }
        _ => changes,
    }
}

/// Keeps the deferred effects of an executed payment that is held. Its sealed card is stored for follow-up payments, as
/// that of an approved payment, unless a registration will store it.
pub(crate) fn keep_for_review(mut effects: DeferredEffects, payment: &Payment, card_window: SignedDuration) -> Changes {
    let is_stored_elsewhere = payment.registration.is_some() || effects.registration.is_some();
    let card = effects.card.take().filter(|_| !is_stored_elsewhere);
    let mut changes = Changes::default().without_deferred_effects(&payment.id);
    // Without these, the end of the review has nothing to apply or to revert.
    if effects.registration.is_some() || effects.renewal.is_some() || effects.instruction.is_some() {
        changes = changes.with_deferred_effects(payment, effects, payment.created + LIFETIME);
    }
    match card {
        Some(card) => changes.with_card(&payment.id, card, payment.created + card_window),
        None => changes,
    }
}

/// Applies the deferred effects of an approved payment, or reverts those of any other and of one that is reversed.
/// Deletes them in either case. Keeps the sealed card of an approved payment for follow-up payments, for `card_window`
/// after its creation, unless a registration stores it.
pub(crate) fn settle_effects(
    mut effects: DeferredEffects,
    payment: &mut Payment,
    loaded: StoredCredentials,
    must_reverse: bool,
    now: Timestamp,
    card_window: SignedDuration,
) -> Changes {
    let card = effects.card.take();
    let changes = Changes::default().without_deferred_effects(&payment.id);
    let changes = changes.merged_with(if payment.is_approved() && !must_reverse {
        apply_on_success(effects, payment, loaded, now)
    } else {
        revert_on_failure(effects, loaded)
    });
    // The account of a registration is stored there and nowhere else.
    match card.filter(|_| payment.is_approved() && payment.registration.is_none()) {
        Some(card) => changes.with_card(&payment.id, card, payment.created + card_window),
        None => changes,
    }
}
