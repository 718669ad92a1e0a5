//! What a shopper has filled in where the merchant shows a summary page first: kept until the merchant confirms it, and no
//! longer than the checkout lives. In memory alone: a security code may be among it, and nothing of it is ever written; a
//! restart forgets it, and the shopper is asked again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;

use super::checkout::{check_path, unknown};
use super::sender::Sender;
use super::submit::Naming;
use super::{Failure, Gateway, demands, order};
use crate::domain::checkout::{LIFETIME, State};
use crate::domain::entity::Entity;
use crate::domain::id::CheckoutId;
use crate::domain::payment::Account;
use crate::domain::refusal::Refusal;

/// How many forms are kept at most; beyond, the oldest goes.
const MOST: usize = 2000;

/// The forms that wait, by checkout. They are zeroed when they go.
#[derive(Default)]
pub struct Saved(Mutex<HashMap<CheckoutId, Kept>>);

struct Kept {
    form: Parameters,
    shopper: IpAddr,
    until: Timestamp,
}

/// What may be shown of a form that was kept.
#[derive(Debug)]
pub struct Summary {
    /// The brand that the shopper wants to pay with.
    pub brand: &'static str,
    /// The account.
    pub account: Account,
}

impl Saved {
    fn keep(&self, id: CheckoutId, kept: Kept) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST
            && !all.contains_key(&id)
            && let Some(oldest) = all.iter().min_by_key(|(_, kept)| kept.until).map(|(id, _)| id.clone())
        {
            all.remove(&oldest);
        }
        all.insert(id, kept);
    }

    fn take(&self, id: &CheckoutId) -> Option<Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// Forgets what belongs to checkouts that are over.
    pub fn forget(&self, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, kept| kept.until > now);
    }
}

impl Gateway {
    /// Keeps what the hosted form posts, in place of paying with it. What cannot be paid with is refused as it would be by a
    /// payment. Saving again takes the place of what was saved before.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, or says that the checkout is unknown, paid or expired.
    pub fn save(&self, id: &str, form: Parameters, shopper: IpAddr) -> Result<Summary, Failure> {
        let checkout = self.open_checkout(id)?;
        check_path(&checkout, false)?;
        let entity = self.directory.entity(&checkout.entity).ok_or_else(unknown)?;
        let now = self.now_of(&entity);
        checkout.may_be_tried(self.options.limits.checkout_attempts(&entity), now)?;
        let parameters = self.filled_in(&checkout, &entity, &form, shopper)?;
        let (used, payer, mut parameters) = self.placed(&checkout, entity, parameters)?;
        let requirements = Sender::Form(&checkout).requirements(&payer);
        let (order, _) = self.read_order(&payer, &requirements, &mut parameters, used.is_some())?;
        demands::check(&checkout, &payer.settings.channel, &order, &parameters, used.is_some())?;
        // A number that would be declined anyway is not kept until then.
        if let Some(code) = order::route(payer.live, &parameters)?.refused_account(&order) {
            return Err(Refusal::not_set_up(code).into());
        }
        let summary = Summary { brand: order.brand.code, account: order.account.shown() };
        let until = self.now() + (checkout.created + LIFETIME).duration_since(now);
        self.saved.keep(checkout.id, Kept { form, shopper, until });
        Ok(summary)
    }

    /// Pays a checkout with what its shopper has filled in. One that has been paid already stays as it is.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout; a refusal where nothing is kept, and what a payment would be refused with.
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
            (Some(kept), State::Open) => {
                let submitted = self.submit(id, false, kept.form.clone(), kept.shopper, public_url, once).await;
                // Nobody was asked for money: the merchant may confirm again.
                if submitted.is_err() {
                    self.saved.keep(checkout.id, kept);
                }
                submitted.map(drop)
            }
        }
    }
}
