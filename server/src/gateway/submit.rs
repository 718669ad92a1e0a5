//! The form's submit: one charge per checkout, whatever the browser sends and however often.

use std::net::IpAddr;
use std::sync::Arc;

use tillgate_shared::parameter::{Parameters, check_formats, normalize};

use super::checkout::unknown;
use super::{Failure, Gateway};
use crate::domain::checkout::{Checkout, State};
use crate::domain::entity::Entity;
use crate::domain::refusal::Refusal;
use crate::store::Keys;

/// What the write found.
enum Outcome {
    /// This attempt is written, or an earlier one had paid already.
    Settled,
    /// The checkout changed since the attempt was prepared.
    Stale,
}

impl Gateway {
    /// Takes what the hosted form posts. Returns the checkout once an attempt is durable, approved or declined alike;
    /// a checkout that has been paid already answers the same way and charges nobody.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, or says that the checkout is unknown or expired.
    pub async fn submit(&self, id: &str, form: Parameters, shopper: IpAddr) -> Result<Checkout, Failure> {
        let mut checkout = self.checkout_for_shopper(id)?;
        loop {
            match checkout.state(self.now()) {
                State::Paid => return Ok(checkout),
                State::Expired => return Err(Refusal::checkout_expired().into()),
                State::Open => {}
            }
            let outcome = self.attempt(&checkout, &form, shopper).await?;
            if matches!(outcome, Outcome::Settled) {
                return Ok(checkout);
            }
            checkout = self.checkout_for_shopper(id)?;
        }
    }

    async fn attempt(&self, checkout: &Checkout, form: &Parameters, shopper: IpAddr) -> Result<Outcome, Failure> {
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
        let decided = self.decide(&entity, Some(checkout), parameters)?;
        let changes = self.changes(&decided);
        let (version, now) = (checkout.version, self.now());
        let outcome = self
            .store
            .update(Keys::checkout(&checkout.id), move |loaded| {
                let current = loaded.checkout.ok_or_else(unknown)?;
                if current.state(now) == State::Paid {
                    return Ok((Default::default(), Outcome::Settled));
                }
                if current.version != version {
                    return Ok((Default::default(), Outcome::Stale));
                }
                let next = current.attempted(&decided.payment, now)?;
                Ok((changes.checkout(&next), Outcome::Settled))
            })
            .await??;
        Ok(outcome)
    }
}
