//! Forms that wait for the merchant's confirmation, where the merchant shows a summary page first. They are kept until the
//! merchant confirms, and no longer than the checkout lives. In memory only: a security code may be among them, and nothing
//! of it is ever written; a restart forgets them, and the shopper is asked again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;

use super::checkout::{check_path, unknown};
use super::payment::Intake;
use super::sender::Sender;
use super::submit::Naming;
use super::{Failure, Gateway};
use crate::domain::checkout::{LIFETIME, State};
use crate::domain::entity::Entity;
use crate::domain::form_input::needed_of_form;
use crate::domain::id::{CheckoutId, EntityId};
use crate::domain::payment::Account;
use crate::domain::refusal::Refusal;

/// Most bytes that the forms of one entity take, and of all entities together.
const ENTITY_BYTES: usize = 8 * 1024 * 1024;
const ALL_BYTES: usize = 64 * 1024 * 1024;
/// Memory that a form and each of its parameters take besides names and values.
const FORM_OVERHEAD: usize = 512;
const PARAMETER_OVERHEAD: usize = 96;

/// Forms that wait, by checkout. They are zeroed when they go. Browsers fill this map, so its size is bounded, and one
/// entity's browsers cannot take the room of another's.
#[derive(Default)]
pub struct SavedForms(Mutex<Forms>);

#[derive(Default)]
struct Forms {
    forms: HashMap<CheckoutId, SavedForm>,
    /// Bytes by entity; an entity without forms is not in it.
    bytes: HashMap<EntityId, usize>,
}

struct SavedForm {
    entity: EntityId,
    form: Parameters,
    shopper: IpAddr,
    until: Timestamp,
}

/// Parts of a saved form that may be shown.
#[derive(Debug)]
pub struct Summary {
    /// The brand that the shopper wants to pay with.
    pub brand: &'static str,
    /// The account.
    pub account: Account,
}

impl SavedForm {
    fn bytes(&self) -> usize {
        let parameters = self.form.iter().map(|(name, value)| name.len() + value.len() + PARAMETER_OVERHEAD);
        FORM_OVERHEAD + parameters.sum::<usize>()
    }
}

impl Forms {
    fn remove(&mut self, id: &CheckoutId) -> Option<SavedForm> {
        let form = self.forms.remove(id)?;
        if let Some(bytes) = self.bytes.get_mut(&form.entity) {
            *bytes = bytes.saturating_sub(form.bytes());
            if *bytes == 0 {
                self.bytes.remove(&form.entity);
            }
        }
        Some(form)
    }

    fn insert(&mut self, id: CheckoutId, form: SavedForm) {
        *self.bytes.entry(form.entity.clone()).or_default() += form.bytes();
        self.forms.insert(id, form);
    }

    /// Returns true if one more form has room.
    fn has_room(&self, form: &SavedForm) -> bool {
        let of_entity = self.bytes.get(&form.entity).copied().unwrap_or_default();
        let all: usize = self.bytes.values().sum();
        of_entity + form.bytes() <= ENTITY_BYTES && all + form.bytes() <= ALL_BYTES
    }

    /// Seconds until a form expires that takes room from this entity's forms.
    fn wait(&self, entity: &EntityId, now: Timestamp) -> u32 {
        let own = self.forms.values().filter(|form| form.entity == *entity).map(|form| form.until).min();
        let first = own.or_else(|| self.forms.values().map(|form| form.until).min());
        let seconds = first.map_or(0, |until| until.duration_since(now).as_secs());
        u32::try_from(seconds).unwrap_or_default() + 1
    }
}

impl SavedForms {
    /// Keeps a form in place of an earlier one of its checkout.
    ///
    /// # Errors
    /// 429 where there is no room. The earlier form stays then.
    fn keep(&self, id: CheckoutId, form: SavedForm, now: Timestamp) -> Result<(), Refusal> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = all.remove(&id);
        if all.has_room(&form) {
            all.insert(id, form);
            return Ok(());
        }
        let seconds = all.wait(&form.entity, now);
        if let Some(earlier) = earlier {
            all.insert(id, earlier);
        }
        tracing::warn!(entity = form.entity.as_str(), "no room for the form of a summary page");
        Err(Refusal::too_many_forms(seconds))
    }

    /// Puts a form back that could not be paid with. Its room was its own a moment ago.
    fn put_back(&self, id: CheckoutId, form: SavedForm) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.forms.contains_key(&id) {
            all.insert(id, form);
        }
    }

    fn take(&self, id: &CheckoutId) -> Option<SavedForm> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// Forgets the forms of checkouts that have expired.
    pub fn forget(&self, now: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let expired: Vec<CheckoutId> =
            all.forms.iter().filter(|(_, form)| form.until <= now).map(|(id, _)| id.clone()).collect();
        for id in expired {
            all.remove(&id);
        }
    }
}

impl Gateway {
    /// Keeps the form that a shopper posts instead of paying with it. A form that cannot be paid with is refused as a
    /// payment would be. Saving again replaces the earlier form.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, or says that the checkout is unknown, paid or expired; 429 where too
    /// many forms wait.
    pub fn save(&self, id: &str, form: Parameters, shopper: IpAddr) -> Result<Summary, Failure> {
        let checkout = self.open_checkout(id)?;
        check_path(&checkout, false)?;
        let entity = self.directory.entity(&checkout.entity).ok_or_else(unknown)?;
        let now = self.now_of(&entity);
        checkout.may_be_tried(self.options.limits.checkout_attempts(&entity), now)?;
        let parameters = self.filled_in(&checkout, &entity, &form, shopper)?;
        let (used, received) = self.placed(&checkout, entity, parameters)?;
        let Intake { payer, order, parameters, .. } =
            self.read_intake(received, Sender::Form(&checkout), used.is_some(), false)?;
        // A number that would be declined anyway is not kept until then.
        if let Some(code) = self.route(&payer, &parameters)?.connector.refused_account(&order) {
            return Err(Refusal::not_set_up(code).into());
        }
        let summary = Summary { brand: order.brand.code, account: order.account.shown() };
        let until = self.now() + (checkout.created + LIFETIME).duration_since(now);
        let form = needed_of_form(&checkout, &form);
        let saved = SavedForm { entity: checkout.entity.clone(), form, shopper, until };
        self.saved.keep(checkout.id, saved, self.now())?;
        Ok(summary)
    }

    /// Pays a checkout with the form that its shopper saved. A checkout that has been paid already stays as it is.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout; a refusal where no form waits, and any refusal of the payment.
    pub async fn confirm(&self, entity: &Entity, id: &str, public_url: &str, once: Naming<'_>) -> Result<(), Failure> {
        let checkout = self.checkout_for_shopper(id)?;
        if !self.sees(entity, &checkout.entity) {
            return Err(unknown().into());
        }
        match (self.saved.take(&checkout.id), checkout.state(self.now_of(entity))) {
            (_, State::Paid) => Ok(()),
            (_, State::Expired) => Err(Refusal::checkout_expired().into()),
            (None, State::Open) => {
                Err(Refusal::malformed("The shopper has not filled in the form of this checkout").into())
            }
            (Some(saved), State::Open) => {
                let submitted = self.submit(id, false, saved.form.clone(), saved.shopper, public_url, once).await;
                // Nobody was asked for money: the merchant may confirm again.
                if submitted.is_err() {
                    self.saved.put_back(checkout.id, saved);
                }
                submitted.map(drop)
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn form(entity: u8, bytes: usize) -> SavedForm {
        SavedForm {
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [entity; 9]),
            form: Parameters::from_iter([("card.holder", "x".repeat(bytes))]),
            shopper: IpAddr::from([127, 0, 0, 1]),
            until: Timestamp::from_second(600).unwrap(),
        }
    }

    fn id(number: u8) -> CheckoutId {
        CheckoutId::new(Timestamp::UNIX_EPOCH, [number; 10], "tx01")
    }

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const HALF: usize = ENTITY_BYTES / 2;

    #[test]
    fn an_entity_has_a_share_and_all_together_a_bound() {
        let saved = SavedForms::default();
        assert!(saved.keep(id(1), form(1, HALF), NOW).is_ok());
        let refused = saved.keep(id(2), form(1, HALF), NOW).unwrap_err();
        assert_eq!((refused.status, refused.retry_after), (429, Some(601)));
        assert!(saved.keep(id(1), form(1, HALF), NOW).is_ok(), "in place of its own earlier one");
        assert!(saved.keep(id(3), form(2, HALF), NOW).is_ok(), "another entity has room");
        assert!(saved.take(&id(2)).is_none());
        for number in 10..60 {
            let _ = saved.keep(id(number), form(number, ENTITY_BYTES - 1024), NOW);
        }
        let all: usize = saved.0.lock().unwrap().bytes.values().sum();
        assert!(all <= ALL_BYTES && all > ALL_BYTES - ENTITY_BYTES, "{all}");
    }

    #[test]
    fn what_goes_gives_its_room_back() {
        let saved = SavedForms::default();
        for _ in 0..100 {
            saved.keep(id(1), form(1, HALF), NOW).unwrap();
            saved.take(&id(1)).unwrap();
            saved.keep(id(2), form(1, HALF), NOW).unwrap();
            saved.forget(Timestamp::from_second(600).unwrap());
        }
        assert!(saved.0.lock().unwrap().bytes.is_empty());
    }

    #[test]
    fn a_form_that_is_refused_leaves_the_earlier_one_in_its_place() {
        let saved = SavedForms::default();
        saved.keep(id(1), form(1, 10), NOW).unwrap();
        assert!(saved.keep(id(1), form(1, ENTITY_BYTES), NOW).is_err());
        assert_eq!(saved.take(&id(1)).unwrap().form.get("card.holder").map(str::len), Some(10));
    }
}
