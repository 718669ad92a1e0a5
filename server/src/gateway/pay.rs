//! A payment server to server: with account data that the merchant sends, or with a stored credential.

use std::net::IpAddr;
use std::sync::Arc;

use tillgate_shared::format::url;
use tillgate_shared::parameter::Parameters;

use super::on_file::File;
use super::once::Once;
use super::payment::{Circumstances, Intake};
use super::sender::Sender;
use super::velocity::AttemptOutcome;
use super::{Failure, Gateway, order, reference};
use crate::domain::entity::Entity;
use crate::domain::payment::Payment;
use crate::domain::refusal::Refusal;

/// Where a shopper who has to leave for the brand's page goes, and comes back to.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a> {
    /// The address under which browsers reach this gateway, with a slash at its end.
    pub public: &'a str,
    /// The page that the form was on says that the shopper comes back here; the merchant's own `shopperResultUrl` stands
    /// above it.
    pub result: Option<&'a str>,
    /// Origin of the page that the form was in, as the form's frame tells it.
    pub shop_origin: Option<&'a str>,
    /// The shopper's own, where its browser talks to us; otherwise the merchant may tell it (`customer.ip`).
    pub shopper: Option<IpAddr>,
}

impl Addresses<'_> {
    /// Returns the page that the shopper comes back to: the merchant's own, or else the form's, if that is an address at all.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if nobody names a page, with the reason why somebody should.
    pub(super) fn way_back(self, parameters: &Parameters, reason: &str) -> Result<String, Refusal> {
        let own = self.result.filter(|address| url::check(address).is_ok());
        let address = parameters.get("shopperResultUrl").or(own).map(str::to_owned);
        address.ok_or_else(|| Refusal::parameter("shopperResultUrl", None, format!("may not be empty: {reason}")))
    }

    /// Returns the page that the shopper comes back to from the brand's page. `None` if the brand has no such page.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if nobody names a page.
    pub(super) fn way_back_of_brand(self, intake: &Intake) -> Result<Option<String>, Refusal> {
        let reason = "the shopper leaves for the brand's page and comes back";
        let leaves = intake.order.requires_redirect();
        leaves.then(|| self.way_back(&intake.parameters, reason)).transpose()
    }
}

impl Gateway {
    /// Makes a payment with account data that the merchant sends, or does to an earlier one what refers to it.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; declines are payments, not errors.
    pub async fn pay(
        &self,
        entity: &Arc<Entity>,
        parameters: Parameters,
        addresses: Addresses<'_>,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        if let Some(id) = reference::named(&parameters) {
            return self.refer(entity, &id, parameters, once).await;
        }
        let ndc = once.ndc().cloned();
        let sender = Sender::server(&parameters, ndc.as_ref());
        let file = File { owner: &entity.id, used: None };
        self.charge(entity, parameters, Circumstances { sender, file, addresses }, once).await
    }

    /// Makes a payment server to server, with the account among the parameters; it is a registration's when one is given.
    pub(super) async fn charge(
        &self,
        entity: &Arc<Entity>,
        parameters: Parameters,
        circumstances: Circumstances<'_>,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        reference::refuse_alone(&parameters)?;
        order::refuse_override(&parameters)?;
        let received = self.receive(entity, parameters)?;
        let (mut prepared, attempt) = self.prepare(received, circumstances).await?;
        let (ask, response) = (prepared.take_ask(), once.clone());
        let written = self
            .store
            .update(prepared.keys.clone(), move |loaded| {
                let (changes, payment) = prepared.settle(loaded)?;
                Ok((response.keep(changes, &payment, payment.created), payment))
            })
            .await;
        let outcome = match &written {
            Ok(Ok(payment)) => AttemptOutcome::of(payment),
            _ => AttemptOutcome::NotMade,
        };
        self.velocity.end(attempt, outcome, self.now());
        Ok(self.ask(ask, written??, once).await)
    }
}
