//! Brands by risk: the brands that a channel's active rules offer to the shopper of a checkout.
//!
//! The offer is evaluated whenever it is needed: for each document of the form, and for each submit. So it follows
//! every update of the checkout and every change of the rules, and nothing of it is stored.

use std::net::IpAddr;
use std::sync::Arc;

use tillgate_shared::brand::{Brand, detect};

use super::payment::RoutedRequest;
use super::{Gateway, order};
use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::refusal::Refusal;
use crate::domain::registration::Registration;
use crate::risk::{BrandOffer, CheckInput, Facts};

impl Gateway {
    /// Returns the brands that a channel's rules offer to the shopper at an address. Only the merchant's parameters of
    /// the checkout are read, never those of a browser. Everything is offered without a risk check, and if this release
    /// cannot read the active rules: then the check of each payment fails.
    pub(super) fn find_brand_offer(&self, checkout: &Checkout, channel: &Entity, shopper: IpAddr) -> BrandOffer {
        let rules = self.directory.risk.find_rules(&channel.id).filter(|_| channel.settings.channel.risk);
        let Some(rules) = rules else { return BrandOffer::default() };
        let Some(active) = rules.active.as_ref().filter(|active| !active.offers().offers().is_empty()) else {
            return BrandOffer::default();
        };
        let input = CheckInput {
            parameters: checkout.parameters.clone(),
            at: self.now_of(channel),
            amount: order::read_amount(&checkout.parameters).ok(),
            address: Some(shopper),
            ..CheckInput::default()
        };
        active.evaluate_offers(&Facts { input: &input, lists: &rules.lists })
    }

    /// Checks that a submitted form has a brand that its shopper is offered. A card whose number belongs to a hidden
    /// brand is refused under other names too, unless these have ranges with the number in it.
    ///
    /// # Errors
    /// 400 with 600.200.500 and `paymentBrand`.
    pub(super) fn check_offered_brand(
        &self,
        checkout: &Checkout,
        received: &RoutedRequest,
        shopper: IpAddr,
    ) -> Result<(), Refusal> {
        let offer = self.find_brand_offer(checkout, &received.payer, shopper);
        // An unknown brand is refused when the order is read.
        let Some(brand) = received.brand else { return Ok(()) };
        let cards: Vec<&'static Brand> = Brand::cards().iter().collect();
        let digits = received.number.as_ref().map_or("", |number| number.digits());
        let fitting: Vec<&'static Brand> = detect(digits, &cards).collect();
        let is_hidden_number = fitting.first().is_some_and(|first| offer.hides(first)) && !fitting.contains(&brand);
        if offer.allows(brand) && !is_hidden_number { Ok(()) } else { Err(Refusal::brand_not_offered(brand.code)) }
    }

    /// Returns true if a stored account of a checkout has a brand that the shopper is offered.
    pub(super) fn offers_registration(
        &self,
        checkout: &Checkout,
        entity: &Arc<Entity>,
        registration: &Registration,
        shopper: IpAddr,
    ) -> bool {
        let Some(brand) = Brand::find(&registration.brand) else { return true };
        let holder = self.channel_of_registration(entity, registration);
        let payer = self.find_payer(holder.as_ref().unwrap_or(entity), checkout, brand);
        payer.is_none_or(|payer| self.find_brand_offer(checkout, &payer, shopper).allows(brand))
    }
}
