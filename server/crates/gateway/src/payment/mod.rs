//! The pipeline of a payment. Each stage is a file, takes the output of the stage before, and returns a small struct:
//!
//! | Stage | Decides | Makes |
//! |---|---|---|
//! | [`intake`] | the entity that processes the payment; brand, account, amount | [`RoutedRequest`], then [`Intake`] |
//! | [`route`] | connector and authenticator | a [`tillgate_connector::PaymentRoute`] |
//! | [`screen`] | card-testing limits, then risk checks before the payment | an [`AttemptGuard`] |
//! | [`risk_challenge`] | challenges that risk rules demand | the context of the next stage |
//! | [`three_ds`] | cardholder authentication before the payment | a decision: authorize, wait or decline |
//! | [`authorize`] | the connector's result | [`authorize::AuthorizationResult`] |
//! | [`record`] | the changes to write, under the write lock | [`PreparedPayment`], then the payment |
//! | [`screen`] | risk checks of an approved payment | a [`RiskCheck`](crate::risk::check::RiskCheck) |
//!
//! The intake has two steps, with the routing between them: the key of a wallet's token and the required fields depend
//! on the channel and on the card's enrolment. After the intake no code reads brand or account from the text of
//! parameters.
//!
//! An external connector is asked between two transactions, in [`connector_request`]. The first one reserves the
//! amount, with the same checks as for every payment, and records the intent. The second one writes the outcome. An
//! unknown outcome is resolved in [`resolve`].
//!
//! A `PA.CP` is screened between its two steps, in [`debit_steps`].
//!
//! A payment that its risk check holds for review ends in [`super::review`].
//!
//! A pending payment continues in [`challenge`] (the page on which a cardholder is authenticated) and ends in
//! [`complete`], whatever the source of its outcome. An approved payment is screened after the connector's approval and
//! before the approval is written: in [`record`], or in [`complete`].

pub mod account_parameters;
pub mod asynchronous;
mod authorize;
pub mod challenge;
pub mod comment;
pub mod complete;
mod connector_request;
pub mod daily_figures;
mod debit_steps;
pub mod deferred_effects;
pub mod duplicates;
pub mod echo;
pub mod follow_up;
pub(super) mod follow_up_draft;
pub(super) mod intake;
pub mod listing;
pub mod messages;
pub mod order;
pub mod page_visits;
pub mod pay;
pub mod query;
mod record;
mod redirect;
mod resolve;
pub mod response_recorder;
mod reversal;
mod risk_challenge;
mod route;
mod screen;
pub mod security_codes;
mod stand_alone_check;
pub mod story;
mod three_ds;
pub mod user_act;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use jiff::Timestamp;

pub use self::connector_request::PaymentsInFlight;
pub(super) use self::connector_request::{ConnectorRequest, wait_for_answer};
pub(super) use self::debit_steps::capture_debit;
pub(super) use self::intake::{Intake, RoutedRequest};
pub(super) use self::record::PreparedPayment;
pub(super) use self::resolve::send_modification;
pub(super) use self::three_ds::HeldCard;
use tillgate_connector::{MissingCapability, Order, OrderRequest, PaymentRoute};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::{Payment, statement_descriptor};
use tillgate_domain::refusal::Refusal;

use self::three_ds::ThreeDsContext;
use super::{Failure, Gateway};
use crate::access::sender::Sender;
use crate::payment::pay::Addresses;
use crate::registration::stored_credentials::CredentialOwner;
use crate::risk::velocity::AttemptGuard;

/// Context of a payment request.
#[derive(Clone, Copy)]
pub(super) struct PaymentContext<'a> {
    /// The sender.
    pub(super) sender: Sender<'a>,
    /// The stored credential, if one is used.
    pub(super) credential_owner: CredentialOwner<'a>,
    /// Addresses of the shopper and of the pages.
    pub(super) addresses: Addresses<'a>,
    /// The time of the payment by the clock of its entity. `None` for the current time.
    pub(super) at: Option<Timestamp>,
}

impl PaymentContext<'_> {
    /// Returns true if the account is a registration's.
    fn has_stored_account(self) -> bool {
        self.credential_owner.used.is_some()
    }

    /// Returns true if the shopper uses the hosted form.
    fn is_in_form(self) -> bool {
        self.sender.checkout().is_some()
    }
}

/// Data that identify a new payment.
#[derive(Clone)]
pub(super) struct PaymentIdentity {
    id: PaymentId,
    descriptor: String,
    /// The acquirer's id of the merchant.
    merchant_id: String,
    /// The current time by the entity's clock.
    now: Timestamp,
}

impl PaymentIdentity {
    /// Returns the data of a stored payment, at a time of its entity's clock.
    pub(super) fn of_payment(payment: &Payment, now: Timestamp) -> Self {
        Self {
            id: payment.id.clone(),
            descriptor: payment.descriptor.clone(),
            merchant_id: payment.acquirer_merchant_id().to_owned(),
            now,
        }
    }

    /// Makes the request to a connector for an order of this payment, without an address to return to.
    pub(super) fn order_request<'a>(&'a self, order: &'a Order) -> OrderRequest<'a> {
        let (reference, merchant_id) = (self.id.as_str(), self.merchant_id.as_str());
        OrderRequest { reference, merchant_id, return_url: None, descriptor: &self.descriptor, now: self.now, order }
    }
}

/// Checks that a connector offers payment type, brand and currency of an order, before any request is sent.
///
/// # Errors
/// A refusal that names the parameter.
fn check_capabilities(order: &Order, route: &PaymentRoute) -> Result<(), Refusal> {
    let checked =
        route.connector.capabilities().check_payment(order.payment_type, order.brand, order.amount.currency());
    checked.map_err(refuse_missing_capability)
}

/// Converts a missing capability of a connector to a refusal.
pub(super) fn refuse_missing_capability(missing: MissingCapability) -> Refusal {
    let MissingCapability { code, parameter, value, message } = missing;
    Refusal::not_configured(code).with_parameter(parameter, &value, message)
}

impl Gateway {
    /// Runs all stages of a payment that need no lock. Writes nothing; [`PreparedPayment::decide_changes`] runs under
    /// the write lock. The caller must report the outcome of the write to the returned attempt.
    ///
    /// # Errors
    /// A refusal of any stage. Declines are payments, not errors.
    pub(super) async fn prepare_payment(
        &self,
        received: RoutedRequest,
        context: PaymentContext<'_>,
    ) -> Result<(Box<PreparedPayment>, AttemptGuard), Failure> {
        let route = self.select_route(&received.payer, &received.parameters);
        let three_ds_context = ThreeDsContext::from_request(&received, route.as_ref().ok(), context).await;
        let needs_browser = three_ds_context.is_some_and(ThreeDsContext::requires_browser);
        let mut intake = self.read_intake(received, context.sender, context.has_stored_account(), needs_browser)?;
        context.sender.check_payment_type(intake.order.payment_type)?;
        let route = route?;
        check_capabilities(&intake.order, &route)?;
        let brand_return_url = context.addresses.brand_return_url(&intake)?;
        // The limits come before any request to the issuer or the connector, because their answers would help a card
        // tester.
        let attempt = self.screen_request(&intake, context)?;
        let identity = self.identify_payment(&intake, context.at)?;
        // The rules come before the issuer is asked, because a challenge can be demanded only in that request.
        let three_ds_context = self.demand_challenge(three_ds_context, &intake, &route, &identity, context);
        let decision = self.decide_three_ds(three_ds_context, &mut intake, &route, &identity).await?;
        let in_form = context.is_in_form();
        let authorized = self.authorize(decision, three_ds_context, &intake, &route, &identity, in_form).await?;
        let mut prepared = self.prepare_write(intake, authorized, &route, identity, context, brand_return_url)?;
        // Reversal and capture are prepared here, because no connector may be asked under the write lock.
        if prepared.may_be_reversed() {
            prepared.reversal = Some(self.prepare_reversal(prepared.payment()).await?);
            prepared.capture = self.capture_in_process(prepared.payment()).await;
        }
        // Boxed, because it moves through several futures to the writer's thread.
        Ok((Box::new(prepared), attempt))
    }

    /// Makes the id of a payment and the text on the shopper's statement: the merchant's own text, or else the entity's
    /// name. A payment that a clock has jumped over is dated, named and listed `at` its own time.
    fn identify_payment(&self, intake: &Intake, at: Option<Timestamp>) -> Result<PaymentIdentity, Failure> {
        let payer = &intake.payer;
        let now = self.now_of(payer);
        let id = match at.filter(|at| *at < now) {
            Some(at) => Self::new_payment_id(at)?,
            None => Self::new_payment_id(self.next_id_time(payer))?,
        };
        let descriptor = statement_descriptor(&id, order::statement_text(&intake.parameters).unwrap_or(&payer.name));
        let merchant_id = payer.acquirer_merchant_id().to_owned();
        Ok(PaymentIdentity { id, descriptor, merchant_id, now: at.unwrap_or(now) })
    }
}
