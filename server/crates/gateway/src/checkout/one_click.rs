//! Stored accounts in a checkout, as the shopper's browser sees them.

use std::net::IpAddr;

use tillgate_domain::checkout::Checkout;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::Registration;
use tillgate_vault::Sealed;

use crate::checkout::unknown_checkout;
use crate::payment::response_recorder::ResponseRecorder;
use crate::{Failure, Gateway};

impl Gateway {
    /// Returns the registrations that a checkout offers and that are usable now, in the merchant's order. Leaves out
    /// those that were deleted or have expired since the checkout was created, those that cannot be read, and those of
    /// brands that the shopper at this address is not offered.
    pub fn offered_registrations(&self, checkout: &Checkout, shopper: IpAddr) -> Vec<Registration> {
        let Some(entity) = self.directory.find_entity(&checkout.entity) else { return Vec::new() };
        let offered = checkout.parameters.with_prefix("registrations[");
        let usable = offered.filter_map(|(name, id)| self.load_named_registration(&entity, name, id).ok());
        let is_offered = |registration: &Registration, sealed: Option<&Sealed>| {
            self.offers_registration(checkout, &entity, (registration, sealed), shopper)
        };
        let offered = usable.filter(|(registration, sealed)| is_offered(registration, sealed.as_ref()));
        offered.map(|(registration, _)| registration).collect()
    }

    /// Deletes a registration that a checkout offers, on behalf of the shopper.
    ///
    /// # Errors
    /// 404 for an unknown checkout and for a registration that the checkout does not offer; a refusal if the merchant
    /// does not allow deletion, if the checkout is no longer open, or if the registration has ended already.
    pub async fn delete_registration_in_checkout(&self, id: &str, registration: &str) -> Result<(), Failure> {
        let checkout = self.load_checkout(id)?;
        if !checkout.has_offered_registration(registration) {
            return Err(Refusal::not_found("This checkout offers no registration with this id").into());
        }
        if !checkout.allows_registration_deletion() {
            let message = "is not set: the shopper may not delete registrations in this checkout";
            return Err(Refusal::invalid_parameter("registrationsDeletable", None, message).into());
        }
        checkout.check_open(self.now_of_id(&checkout.entity))?;
        let entity = self.directory.find_entity(&checkout.entity).ok_or_else(unknown_checkout)?;
        let recorder = ResponseRecorder::disabled().with_ndc(Ndc::from_checkout(&checkout.id));
        self.delete_registration(&entity, registration, recorder).await?;
        Ok(())
    }
}
