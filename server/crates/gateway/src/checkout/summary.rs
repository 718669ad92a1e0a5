//! Submitted forms that await the merchant's confirmation, for merchants that show a summary page first. A form is kept
//! until the merchant confirms, at most as long as its checkout lives.

use std::net::IpAddr;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::checkout::form_input::payment_form_parameters;
use tillgate_domain::checkout::{CHECKOUT_LIFETIME, CheckoutState};
use tillgate_domain::payment::Account;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::Parameters;

use crate::access::sender::Sender;
use crate::checkout::saved_forms::SavedForm;
use crate::checkout::submit::RecorderFactory;
use crate::checkout::{check_purpose_path, unknown_checkout};
use crate::payment::Intake;
use crate::{Failure, Gateway};

/// The parts of a saved form that may be shown.
#[derive(Debug)]
pub struct FormSummary {
    /// The brand that the shopper chose.
    pub brand: &'static str,
    /// The account.
    pub account: Account,
}

impl Gateway {
    /// Checks the form that a shopper posts like a payment, and saves it instead of paying with it. Saving again
    /// replaces the earlier form. Writes nothing to the store and counts as no attempt.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, or says that the checkout is unknown, paid or expired; 429 if the
    /// checkout has no attempt left or too many forms are saved.
    pub fn save_form(&self, id: &str, form: Parameters, shopper: IpAddr) -> Result<FormSummary, Failure> {
        let checkout = self.load_open_checkout(id)?;
        check_purpose_path(&checkout, false)?;
        let entity = self.directory.find_entity(&checkout.entity).ok_or_else(unknown_checkout)?;
        let now = self.now_of(&entity);
        self.check_attempt_limit(&checkout, &entity)?;
        let parameters = self.merge_form(&checkout, &entity, &form, shopper)?;
        let (used, received) = self.receive_payment(&checkout, entity, parameters, shopper)?;
        let Intake { payer, order, parameters, .. } =
            self.read_intake(received, Sender::Form(&checkout), used.is_some(), false)?;
        // A number that would be declined anyway is refused now instead of at the confirmation.
        if let Some(code) = self.select_route(&payer, &parameters)?.connector.refused_account(&order) {
            return Err(Refusal::not_configured(code).into());
        }
        let summary = FormSummary { brand: order.brand.code, account: order.account.summary() };
        let until = self.now() + (checkout.created + CHECKOUT_LIFETIME).duration_since(now);
        let form = payment_form_parameters(&checkout, &form);
        let saved = SavedForm { entity: checkout.entity.clone(), form, shopper, until };
        self.saved_forms.insert_form(checkout.id, saved, self.now())?;
        Ok(summary)
    }

    /// Pays a checkout with the form that its shopper saved, which is then no longer saved. Keeps it if the payment is
    /// refused, so that the merchant may confirm again. Does nothing if the checkout has been paid already. `scopes`
    /// are the access token's.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout; 403 if the scopes do not cover every payment that it can lead to; a
    /// refusal if it is expired or no form is saved, and any refusal of the payment.
    pub async fn confirm_checkout(
        &self,
        entity: &Entity,
        id: &str,
        scopes: Scopes,
        public_url: &str,
        create_recorder: RecorderFactory<'_>,
    ) -> Result<(), Failure> {
        let checkout = self.load_checkout(id)?;
        if !self.can_see(entity, &checkout.entity) {
            return Err(unknown_checkout().into());
        }
        scopes.check_checkout(&checkout.parameters)?;
        match (self.saved_forms.take_form(&checkout.id), checkout.state_at(self.now_of(entity))) {
            (_, CheckoutState::Paid) => Ok(()),
            (_, CheckoutState::Expired) => Err(Refusal::checkout_expired().into()),
            (None, CheckoutState::Open) => {
                Err(Refusal::malformed_body("The shopper has not filled in the form of this checkout").into())
            }
            (Some(saved), CheckoutState::Open) => {
                let submitted =
                    self.submit_form(id, false, saved.form.clone(), saved.shopper, public_url, create_recorder).await;
                // Nothing was charged: the merchant may confirm again.
                if submitted.is_err() {
                    self.saved_forms.restore_form(checkout.id, saved);
                }
                submitted.map(drop)
            }
        }
    }
}
