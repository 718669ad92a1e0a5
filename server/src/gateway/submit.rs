//! The form's submit: one charge per checkout, whatever the browser sends and however often.

use std::net::IpAddr;
use std::sync::Arc;

use tillgate_shared::parameter::{Parameters, check_formats, normalize};

use super::checkout::unknown;
use super::pay::Addresses;
use super::{Failure, Gateway, wallet};
use crate::domain::checkout::{Checkout, State};
use crate::domain::entity::Entity;
use crate::domain::payment::Redirect;
use crate::domain::refusal::Refusal;
use crate::store::Keys;

/// What became of a submit.
#[derive(Debug)]
pub struct Submitted {
    /// The checkout.
    pub checkout: Checkout,
    /// The brand's page that the shopper has to visit first.
    pub redirect: Option<Redirect>,
}

/// What the write found.
enum Outcome {
    /// This attempt is written.
    Settled(Option<Redirect>),
    /// The checkout changed since the attempt was prepared, or has been paid by another.
    Stale,
}

impl Gateway {
    /// Takes what the hosted form posts. Returns the checkout once an attempt is durable, approved or declined alike,
    /// with the page that the shopper has to visit where the brand has one; a checkout that has been paid already
    /// answers the same way and charges nobody.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, or says that the checkout is unknown or expired.
    pub async fn submit(
        &self,
        id: &str,
        form: Parameters,
        shopper: IpAddr,
        public_url: &str,
    ) -> Result<Submitted, Failure> {
        let mut checkout = self.checkout_for_shopper(id)?;
        loop {
            match checkout.state(self.now()) {
                State::Paid => return self.submitted(checkout),
                State::Expired => return Err(Refusal::checkout_expired().into()),
                State::Open => {}
            }
            if let Outcome::Settled(redirect) = self.attempt(&checkout, &form, shopper, public_url).await? {
                return Ok(Submitted { checkout, redirect });
            }
            checkout = self.checkout_for_shopper(id)?;
        }
    }

    /// The answer about a checkout that somebody has paid, or is about to: its shopper may have lost the page.
    fn submitted(&self, checkout: Checkout) -> Result<Submitted, Failure> {
        let attempt = match &checkout.attempt {
            Some(id) => self.store.payment(checkout.owner_of_attempt(), id)?,
            None => None,
        };
        let redirect = attempt.filter(|payment| payment.result.is_pending()).and_then(|payment| payment.redirect);
        Ok(Submitted { checkout, redirect })
    }

    async fn attempt(
        &self,
        checkout: &Checkout,
        form: &Parameters,
        shopper: IpAddr,
        public_url: &str,
    ) -> Result<Outcome, Failure> {
        let entity: Arc<Entity> = self.directory.entity(&checkout.entity).ok_or_else(unknown)?;
        let (mut parameters, refused) = checkout.merged_with_form(form);
        if !refused.is_empty() {
            tracing::debug!(names = ?refused, "parameters that a browser may not set");
        }
        if !checkout.parameters.contains("customer.ip") {
            parameters.set("customer.ip", shopper.to_string());
        }
        normalize(&mut parameters);
        let errors = check_formats(&parameters);
        if !errors.is_empty() {
            return Err(Refusal::parameters(errors).into());
        }
        // The form's address is taken for the way back alone; it is not the merchant's word, and nothing repeats it.
        let addresses = Addresses { public: public_url, result: form.get("shopperResultUrl") };
        let (channel, parameters) = self.dispatched(&entity, parameters)?;
        let entity = channel.unwrap_or(entity);
        let decided = self.decide(&entity, Some(checkout), parameters, addresses)?;
        let changes = self.changes(&decided);
        let keys = decided.keys(Keys::checkout(&checkout.id));
        let (version, now) = (checkout.version, self.now());
        let outcome = self
            .store
            .update(keys, move |loaded| {
                let current = loaded.checkout.ok_or_else(unknown)?;
                if current.state(now) == State::Paid || current.version != version {
                    return Ok((Default::default(), Outcome::Stale));
                }
                if loaded.token_used {
                    return Err(wallet::used());
                }
                let next = current.attempted(&decided.payment, now)?;
                Ok((changes.checkout(&next), Outcome::Settled(decided.payment.redirect)))
            })
            .await??;
        Ok(outcome)
    }
}
