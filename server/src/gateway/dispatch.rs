//! Merchants and their channels: whose things an entity sees, and which channel a payment goes to.

use std::sync::Arc;

use tillgate_shared::brand::{Brand, Kind, detect};
use tillgate_shared::parameter::Parameters;

use super::{Failure, Gateway, demands};
use crate::domain::channel::{Wanted, dispatch};
use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::id::{CheckoutId, EntityId, PaymentId};
use crate::domain::refusal::Refusal;
use crate::domain::registration::Registration;

impl Gateway {
    /// Whose payments, checkouts and registrations an entity sees: its own, and those of its channels.
    pub(super) fn entities_of(&self, entity: &Entity) -> Vec<EntityId> {
        let channels = self.directory.channels(&entity.id);
        std::iter::once(entity.id.clone()).chain(channels.iter().map(|channel| channel.id.clone())).collect()
    }

    /// Returns true if an entity sees the payments of another one: its own, and those of its channels.
    pub fn sees(&self, entity: &Entity, owner: &EntityId) -> bool {
        *owner == entity.id || self.directory.channels(&entity.id).iter().any(|channel| channel.id == *owner)
    }

    /// The channel of an entity that a payment belongs to; none where it is the entity's own, or nobody's.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn channel_of(&self, entity: &Entity, payment: &PaymentId) -> Result<Option<Arc<Entity>>, Failure> {
        let channels = self.directory.channels(&entity.id);
        if channels.is_empty() {
            return Ok(None);
        }
        let payment = self.store.payment_of(&self.entities_of(entity), payment)?;
        Ok(payment.and_then(|payment| channels.iter().find(|channel| channel.id == payment.entity).cloned()))
    }

    /// The channel of an entity that holds a registration; none where the entity does itself.
    pub(super) fn holder(&self, entity: &Entity, registration: &Registration) -> Option<Arc<Entity>> {
        if registration.entity == entity.id { None } else { self.directory.entity(&registration.entity) }
    }

    /// Whose a checkout is that an entity asks for: its own, or that of one of its channels.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn owner_of_checkout(&self, entity: &Entity, id: &CheckoutId) -> Result<Arc<Entity>, Failure> {
        let channels = self.directory.channels(&entity.id);
        if !channels.is_empty()
            && let Some(checkout) = self.store.checkout(id)?
            && let Some(channel) = channels.iter().find(|channel| channel.id == checkout.entity)
        {
            return Ok(Arc::clone(channel));
        }
        Ok(Arc::new(entity.clone()))
    }

    /// The brands, of some, that can be paid with in a checkout.
    pub fn offered(&self, checkout: &Checkout, brands: impl Iterator<Item = &'static Brand>) -> Vec<&'static Brand> {
        let Some(entity) = self.directory.entity(&checkout.entity) else { return Vec::new() };
        let channels = self.directory.channels(&entity.id);
        let restricted = demands::offered_brands(&checkout.parameters);
        let takes = |brand: &&'static Brand| {
            if restricted.as_ref().is_some_and(|offered| !offered.contains(brand)) {
                return false;
            }
            let wanted = wanted(&entity, &checkout.parameters, vec![*brand]);
            if channels.is_empty() {
                entity.settings.channel.takes(&wanted)
            } else {
                channels.iter().any(|channel| channel.settings.channel.takes(&wanted))
            }
        };
        brands.filter(takes).collect()
    }
}

/// Where a payment goes.
pub(super) struct Dispatched {
    /// The channel of the merchant; none where the entity takes it itself.
    pub(super) channel: Option<Arc<Entity>>,
    /// The brand that was sent, or the one that the card number tells, among those on offer.
    pub(super) brand: Option<&'static Brand>,
    /// True if none was sent and not every brand is on offer: the brand counts as sent then.
    pub(super) is_told: bool,
}

/// Chooses among the channels of an entity, in their order; one without channels takes what it offers itself.
///
/// # Errors
/// A refusal that says what none of them takes.
pub(super) fn choose(
    entity: &Entity,
    channels: &[Arc<Entity>],
    parameters: &Parameters,
) -> Result<Dispatched, Refusal> {
    let mut wanted = wanted(entity, parameters, brands(parameters));
    let offered = demands::offered_brands(parameters);
    if let (Some(offered), false) = (&offered, wanted.brands.is_empty()) {
        wanted.brands.retain(|brand| offered.contains(brand));
        if wanted.brands.is_empty() {
            let sent = parameters.get("paymentBrand");
            return Err(Refusal::parameter("paymentBrand", sent, "is not offered in this checkout"));
        }
    }
    let channel = if channels.is_empty() {
        dispatch(&[entity], &wanted)?;
        None
    } else {
        Some(Arc::clone(dispatch(channels, &wanted)?))
    };
    let settings = &channel.as_deref().unwrap_or(entity).settings.channel;
    let is_told = parameters.get("paymentBrand").is_none() && (offered.is_some() || !settings.brands.is_empty());
    let brand = wanted.brands.into_iter().find(|brand| settings.offers(brand));
    Ok(Dispatched { channel, brand, is_told })
}

/// The brands that a payment may be of: the one that was sent, or those that its card number tells.
fn brands(parameters: &Parameters) -> Vec<&'static Brand> {
    match (parameters.get("paymentBrand"), parameters.get("card.number")) {
        // One that nobody knows is refused by name when the order is read.
        (Some(code), _) => Brand::find(code).into_iter().collect(),
        (None, Some(number)) => {
            let cards: Vec<&'static Brand> = Brand::all().iter().filter(|brand| brand.kind == Kind::Card).collect();
            detect(number, &cards).collect()
        }
        (None, None) => Vec::new(),
    }
}

fn wanted<'a>(entity: &Entity, parameters: &'a Parameters, brands: Vec<&'static Brand>) -> Wanted<'a> {
    let test_mode = (!entity.live).then(|| parameters.get("testMode").unwrap_or("INTERNAL"));
    Wanted { brands, currency: parameters.get("currency"), test_mode }
}
