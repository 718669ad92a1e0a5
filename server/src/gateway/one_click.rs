//! Stored accounts in a checkout, as its shopper's browser sees them.

use super::checkout::unknown;
use super::once::Once;
use super::{Failure, Gateway};
use crate::domain::checkout::Checkout;
use crate::domain::ndc::Ndc;
use crate::domain::refusal::Refusal;
use crate::domain::registration::Registration;

impl Gateway {
    /// The registrations that a checkout offers and that can be used now, in the merchant's order. What was deleted or has
    /// expired since the checkout was made is left out.
    pub fn offered_registrations(&self, checkout: &Checkout) -> Vec<Registration> {
        let Some(entity) = self.directory.entity(&checkout.entity) else { return Vec::new() };
        let offered = checkout.parameters.with_prefix("registrations[");
        offered.filter_map(|(name, id)| Some(self.named_registration(&entity, name, id).ok()?.0)).collect()
    }

    /// Deletes a stored account in the name of the shopper.
    ///
    /// # Errors
    /// 404 for an unknown checkout and for a registration that it does not offer; a refusal where the merchant has not
    /// allowed it, where the checkout is no longer open, or the registration has ended already.
    pub async fn deregister_in_checkout(&self, id: &str, registration: &str) -> Result<(), Failure> {
        let checkout = self.checkout_for_shopper(id)?;
        if !checkout.offers(registration) {
            return Err(Refusal::not_found("This checkout offers no registration with this id").into());
        }
        if !checkout.lets_delete() {
            let message = "is not set: the shopper may not delete registrations in this checkout";
            return Err(Refusal::parameter("registrationsDeletable", None, message).into());
        }
        checkout.check_open(self.now_of_id(&checkout.entity))?;
        let entity = self.directory.entity(&checkout.entity).ok_or_else(unknown)?;
        let once = Once::unnamed().with_ndc(Ndc::of_checkout(&checkout.id));
        self.deregister(&entity, registration, once).await?;
        Ok(())
    }
}
