//! The forms that await the merchant's confirmation, in memory only and never written, because they may contain a
//! security code. After a restart the shopper has to fill in the form again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use tillgate_domain::id::{CheckoutId, EntityId};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::Parameters;

/// Maximum memory in bytes for the forms of one entity, and of all entities together.
const ENTITY_BYTES: usize = 8 * 1024 * 1024;
const ALL_BYTES: usize = 64 * 1024 * 1024;
/// Memory in bytes that a form and each of its parameters need besides names and values.
const FORM_OVERHEAD: usize = 512;
const PARAMETER_OVERHEAD: usize = 96;

/// Saved forms by checkout. They are zeroed when dropped. Browsers fill this map, so its size is bounded, and each
/// entity has a limit of its own. The mutex is for concurrent requests.
#[derive(Default)]
pub struct SavedForms(Mutex<FormsByCheckout>);

/// Saved forms, and their memory by entity.
#[derive(Default)]
struct FormsByCheckout {
    forms: HashMap<CheckoutId, SavedForm>,
    /// Bytes by entity. An entity without forms has no entry.
    bytes: HashMap<EntityId, usize>,
}

/// A saved form, with the entity of its checkout, the shopper's address, and the time at which the form is dropped.
pub(super) struct SavedForm {
    pub(super) entity: EntityId,
    pub(super) form: Parameters,
    pub(super) shopper: IpAddr,
    pub(super) until: Timestamp,
}

impl SavedForm {
    /// Returns the estimated memory of the form: its names and values, and a fixed overhead.
    fn memory_bytes(&self) -> usize {
        let parameters = self.form.iter().map(|(name, value)| name.len() + value.len() + PARAMETER_OVERHEAD);
        FORM_OVERHEAD + parameters.sum::<usize>()
    }
}

impl FormsByCheckout {
    /// Removes the form of a checkout, and its bytes from the sum of its entity. `None` if there is no such form.
    fn remove(&mut self, id: &CheckoutId) -> Option<SavedForm> {
        let form = self.forms.remove(id)?;
        if let Some(bytes) = self.bytes.get_mut(&form.entity) {
            *bytes = bytes.saturating_sub(form.memory_bytes());
            if *bytes == 0 {
                self.bytes.remove(&form.entity);
            }
        }
        Some(form)
    }

    /// Adds the form of a checkout that has none, and its bytes to the sum of its entity. Does not check the limits.
    fn insert(&mut self, id: CheckoutId, form: SavedForm) {
        *self.bytes.entry(form.entity.clone()).or_default() += form.memory_bytes();
        self.forms.insert(id, form);
    }

    /// Returns true if this form fits into the memory of its entity and of all entities together.
    fn has_room(&self, form: &SavedForm) -> bool {
        let of_entity = self.bytes.get(&form.entity).copied().unwrap_or_default();
        let all: usize = self.bytes.values().sum();
        of_entity + form.memory_bytes() <= ENTITY_BYTES && all + form.memory_bytes() <= ALL_BYTES
    }

    /// Returns the seconds until the next form of this entity expires, or else the next of any, plus one. One if there
    /// is no form.
    fn seconds_until_expiry(&self, entity: &EntityId, now: Timestamp) -> u32 {
        let own = self.forms.values().filter(|form| form.entity == *entity).map(|form| form.until).min();
        let first = own.or_else(|| self.forms.values().map(|form| form.until).min());
        let seconds = first.map_or(0, |until| until.duration_since(now).as_secs());
        u32::try_from(seconds).unwrap_or_default() + 1
    }
}

impl SavedForms {
    /// Saves a form and replaces an earlier one of the same checkout.
    ///
    /// # Errors
    /// 429 with the time until a form expires, if there is no room. The earlier form is then kept.
    pub(super) fn insert_form(&self, id: CheckoutId, form: SavedForm, now: Timestamp) -> Result<(), Refusal> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = all.remove(&id);
        if all.has_room(&form) {
            all.insert(id, form);
            return Ok(());
        }
        let seconds = all.seconds_until_expiry(&form.entity, now);
        if let Some(earlier) = earlier {
            all.insert(id, earlier);
        }
        tracing::warn!(
            entity = form.entity.as_str(),
            "a form is not kept for its summary page: too many wait for a confirmation"
        );
        Err(Refusal::too_many_forms(seconds))
    }

    /// Restores a form whose payment was refused, unless the shopper has saved another one meanwhile. Ignores the
    /// limits: the form was removed only a moment ago.
    pub(super) fn restore_form(&self, id: CheckoutId, form: SavedForm) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.forms.contains_key(&id) {
            all.insert(id, form);
        }
    }

    /// Removes and returns the form of a checkout, also an expired one until the next [`Self::remove_expired`].
    pub(super) fn take_form(&self, id: &CheckoutId) -> Option<SavedForm> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// Drops the forms of expired checkouts.
    pub fn remove_expired(&self, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let expired: Vec<CheckoutId> =
            all.forms.iter().filter(|(_, form)| form.until <= now).map(|(id, _)| id.clone()).collect();
        for id in expired {
            all.remove(&id);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::checkout::saved_forms::*;

    /// Creates the form of an entity with a text of this many bytes. It expires after ten minutes.
    fn saved_form(entity: u8, bytes: usize) -> SavedForm {
        SavedForm {
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [entity; 9]),
            form: Parameters::from_iter([("card.holder", "x".repeat(bytes))]),
            shopper: IpAddr::from([127, 0, 0, 1]),
            until: Timestamp::from_second(600).unwrap(),
        }
    }

    fn checkout_id(number: u8) -> CheckoutId {
        CheckoutId::new(Timestamp::UNIX_EPOCH, [number; 10], "tx01")
    }

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const HALF: usize = ENTITY_BYTES / 2;

    #[test]
    fn an_entity_has_a_share_and_all_together_a_bound() {
        let saved = SavedForms::default();
        assert!(saved.insert_form(checkout_id(1), saved_form(1, HALF), NOW).is_ok());
        let refused = saved.insert_form(checkout_id(2), saved_form(1, HALF), NOW).unwrap_err();
        assert_eq!((refused.status, refused.retry_after), (429, Some(601)));
        assert!(saved.insert_form(checkout_id(1), saved_form(1, HALF), NOW).is_ok(), "in place of its own earlier one");
        assert!(saved.insert_form(checkout_id(3), saved_form(2, HALF), NOW).is_ok(), "another entity has room");
        assert!(saved.take_form(&checkout_id(2)).is_none());
        for number in 10..60 {
            let _ = saved.insert_form(checkout_id(number), saved_form(number, ENTITY_BYTES - 1024), NOW);
        }
        let all: usize = saved.0.lock().unwrap().bytes.values().sum();
        assert!(all <= ALL_BYTES && all > ALL_BYTES - ENTITY_BYTES, "{all}");
    }

    #[test]
    fn what_goes_gives_its_room_back() {
        let saved = SavedForms::default();
        for _ in 0..100 {
            saved.insert_form(checkout_id(1), saved_form(1, HALF), NOW).unwrap();
            saved.take_form(&checkout_id(1)).unwrap();
            saved.insert_form(checkout_id(2), saved_form(1, HALF), NOW).unwrap();
            saved.remove_expired(Timestamp::from_second(600).unwrap());
        }
        assert!(saved.0.lock().unwrap().bytes.is_empty());
    }

    #[test]
    fn a_form_that_is_refused_leaves_the_earlier_one_in_its_place() {
        let saved = SavedForms::default();
        saved.insert_form(checkout_id(1), saved_form(1, 10), NOW).unwrap();
        assert!(saved.insert_form(checkout_id(1), saved_form(1, ENTITY_BYTES), NOW).is_err());
        assert_eq!(saved.take_form(&checkout_id(1)).unwrap().form.get("card.holder").map(str::len), Some(10));
    }
}
