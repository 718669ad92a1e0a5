//! Merchants and their channels: which records an entity may see, and routing of payments to channels.

use std::net::IpAddr;
use std::sync::Arc;

use tillgate_domain::access::channel::ChannelRequest;
use tillgate_domain::access::channel::select_channel;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::{CheckoutId, EntityId, PaymentId};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::Registration;
use tillgate_risk::BrandOffer;
use tillgate_shared::brand::{AccountType, Brand, detect};
use tillgate_shared::parameter::Parameters;

use crate::checkout::requirements;
use crate::{Failure, Gateway};

impl Gateway {
    /// Returns the entities whose payments, checkouts and registrations an entity sees: itself and its channels.
    pub(crate) fn visible_entities(&self, entity: &Entity) -> Vec<EntityId> {
        let channels = self.directory.merchant_channels(&entity.id);
        std::iter::once(entity.id.clone()).chain(channels.iter().map(|channel| channel.id.clone())).collect()
    }

    /// Returns true if an entity sees the payments of `owner`: its own and those of its channels.
    pub fn can_see(&self, entity: &Entity, owner: &EntityId) -> bool {
        *owner == entity.id || self.directory.merchant_channels(&entity.id).iter().any(|channel| channel.id == *owner)
    }

    /// Returns the channel of an entity that owns a payment. `None` if the entity owns the payment itself, or neither
    /// it nor a channel does.
    pub(crate) fn channel_of_payment(
        &self,
        entity: &Entity,
        payment: &PaymentId,
    ) -> Result<Option<Arc<Entity>>, Failure> {
        let channels = self.directory.merchant_channels(&entity.id);
        if channels.is_empty() {
            return Ok(None);
        }
        let payment = self.store.load_payment_of_any(&self.visible_entities(entity), payment)?;
        Ok(payment.and_then(|payment| channels.iter().find(|channel| channel.id == payment.entity).cloned()))
    }

    /// Returns the entity that holds a registration, if it is another one: a channel of `entity`. `None` if `entity`
    /// holds it itself, or the channel is gone.
    pub(crate) fn channel_of_registration(&self, entity: &Entity, registration: &Registration) -> Option<Arc<Entity>> {
        if registration.entity == entity.id { None } else { self.directory.find_entity(&registration.entity) }
    }

    /// Returns the owner of a checkout if it is one of the entity's channels, or else the entity itself, also for an
    /// unknown or foreign checkout.
    pub(crate) fn owner_of_checkout(&self, entity: &Entity, id: &CheckoutId) -> Result<Arc<Entity>, Failure> {
        let channels = self.directory.merchant_channels(&entity.id);
        if !channels.is_empty()
            && let Some(checkout) = self.store.load_checkout(id)?
            && let Some(channel) = channels.iter().find(|channel| channel.id == checkout.entity)
        {
            return Ok(Arc::clone(channel));
        }
        Ok(Arc::new(entity.clone()))
    }

    /// Returns those of some brands that a checkout can be paid with: it offers them, a channel accepts them with its
    /// currency, and the rules of that channel offer them to the shopper at this address. Returns none if its entity is
    /// gone.
    pub fn payable_brands(
        &self,
        checkout: &Checkout,
        brands: impl Iterator<Item = &'static Brand>,
        shopper: IpAddr,
    ) -> Vec<&'static Brand> {
        let Some(entity) = self.directory.find_entity(&checkout.entity) else { return Vec::new() };
        let payers = self.possible_payers(&entity);
        let offers: Vec<BrandOffer> =
            payers.iter().map(|payer| self.find_brand_offer(checkout, payer, shopper, None)).collect();
        let restricted = requirements::offered_brands(&checkout.parameters);
        let is_payable = |brand: &&'static Brand| {
            if restricted.as_ref().is_some_and(|offered| !offered.contains(brand)) {
                return false;
            }
            let request = channel_request(&entity, &checkout.parameters, vec![*brand]);
            // A brand that its channel hides does not move to another channel.
            let payer = payers.iter().position(|payer| payer.settings.channel.allows_request(&request));
            payer.and_then(|payer| offers.get(payer)).is_some_and(|offer| offer.allows(brand))
        };
        brands.filter(is_payable).collect()
    }

    /// Returns the channel that takes a payment of a checkout with this brand, requested of `entity`. `None` if no
    /// channel accepts it.
    pub(crate) fn find_payer(
        &self,
        entity: &Arc<Entity>,
        checkout: &Checkout,
        brand: &'static Brand,
    ) -> Option<Arc<Entity>> {
        let request = channel_request(entity, &checkout.parameters, vec![brand]);
        self.possible_payers(entity).into_iter().find(|payer| payer.settings.channel.allows_request(&request))
    }

    /// Returns the channels of an entity in the order in which they are tried: the entity itself if it has none.
    fn possible_payers(&self, entity: &Arc<Entity>) -> Vec<Arc<Entity>> {
        let channels = self.directory.merchant_channels(&entity.id);
        if channels.is_empty() { vec![Arc::clone(entity)] } else { channels.to_vec() }
    }
}

/// Routing of a payment.
pub(crate) struct SelectedChannel {
    /// The channel of the merchant. `None` if the entity has no channels and processes the payment itself.
    pub(crate) channel: Option<Arc<Entity>>,
    /// The brand that was sent or that the card number determines, if it is offered.
    pub(crate) brand: Option<&'static Brand>,
    /// True if no brand was sent and the checkout or the channel restricts the brands. The detected brand is then
    /// treated as if it had been sent.
    pub(crate) is_brand_implied: bool,
}

/// Selects the first channel of an entity that accepts a payment, and the first possible brand that it allows. An
/// entity without channels is its own channel.
///
/// # Errors
/// A refusal that names what no channel accepts, or a brand that the checkout does not offer.
pub(crate) fn select_channel_and_brand(
    entity: &Entity,
    channels: &[Arc<Entity>],
    parameters: &Parameters,
) -> Result<SelectedChannel, Refusal> {
    let mut request = channel_request(entity, parameters, possible_brands(parameters));
    let offered = requirements::offered_brands(parameters);
    if let (Some(offered), false) = (&offered, request.brands.is_empty()) {
        request.brands.retain(|brand| offered.contains(brand));
        if request.brands.is_empty() {
            let sent = parameters.get("paymentBrand");
            return Err(Refusal::invalid_parameter("paymentBrand", sent, "is not offered in this checkout"));
        }
    }
    let channel = if channels.is_empty() {
        select_channel(&[entity], &request)?;
        None
    } else {
        Some(Arc::clone(select_channel(channels, &request)?))
    };
    let settings = &channel.as_deref().unwrap_or(entity).settings.channel;
    let is_brand_implied =
        parameters.get("paymentBrand").is_none() && (offered.is_some() || !settings.brands.is_empty());
    let brand = request.brands.into_iter().find(|brand| settings.allows_brand(brand));
    Ok(SelectedChannel { channel, brand, is_brand_implied })
}

/// Returns the possible brands of a payment: the one that was sent, or those that its card number matches. Returns none
/// if the sent brand is unknown, or if neither was sent.
fn possible_brands(parameters: &Parameters) -> Vec<&'static Brand> {
    match (parameters.get("paymentBrand"), parameters.get("card.number")) {
        // An unknown brand is refused by name when the order is read.
        (Some(code), _) => Brand::find(code).into_iter().collect(),
        (None, Some(number)) => {
            let cards: Vec<&'static Brand> =
                Brand::all().iter().filter(|brand| brand.kind == AccountType::Card).collect();
            detect(number, &cards).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// Makes the request for a channel that accepts one of these brands, with the currency. The test mode of a sandbox is
/// `INTERNAL` if none was sent; a live entity has none.
fn channel_request<'a>(entity: &Entity, parameters: &'a Parameters, brands: Vec<&'static Brand>) -> ChannelRequest<'a> {
    let test_mode = (!entity.live).then(|| parameters.get("testMode").unwrap_or("INTERNAL"));
    ChannelRequest { brands, currency: parameters.get("currency"), test_mode }
}
