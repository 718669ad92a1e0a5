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
//! | [`attempt_check`] | attempts that a rule of the card's scheme forbids, under the lock | a declined payment |
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
pub mod addresses;
pub mod asynchronous;
mod attempt_check;
mod authorize;
pub mod challenge;
pub mod comment;
pub mod complete;
mod connector_request;
mod context;
pub mod daily_figures;
mod debit_steps;
pub mod deferred_effects;
pub mod duplicates;
pub mod echo;
pub mod follow_up;
pub(super) mod follow_up_draft;
mod follow_up_limits;
mod held_card;
mod identity;
mod in_flight;
pub(super) mod intake;
mod late_approval;
pub mod listing;
pub mod messages;
pub mod order;
pub mod page_visits;
mod partial_approval;
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

pub(super) use self::attempt_check::{AttemptCheck, is_authenticated, refused_result};
pub(super) use self::connector_request::{ConnectorRequest, wait_for_answer};
pub(super) use self::context::PaymentContext;
pub(super) use self::debit_steps::capture_debit;
pub(super) use self::held_card::HeldCard;
pub(super) use self::identity::PaymentIdentity;
pub use self::in_flight::PaymentsInFlight;
pub(super) use self::intake::{Intake, RoutedRequest};
pub(super) use self::record::PreparedPayment;
pub(super) use self::resolve::send_modification;
pub(super) use self::route::refuse_missing_capability;

use self::route::check_capabilities;
use self::three_ds::ThreeDsContext;
use super::{Failure, Gateway};
use crate::risk::velocity::AttemptGuard;

/// A payment that has passed all stages that need no lock.
pub(super) struct ReadyPayment {
    /// The payment to write. Boxed, because it moves through several futures to the writer's thread.
    pub(super) prepared: Box<PreparedPayment>,
    /// The request to an external connector, to be sent after the write.
    pub(super) request: Option<ConnectorRequest>,
    /// The payment attempt, to which the caller has to report the outcome of the write.
    pub(super) attempt: AttemptGuard,
}

impl Gateway {
    /// Runs all stages of a payment that need no lock. Writes nothing; [`PreparedPayment::decide_changes`] runs under
    /// the write lock.
    ///
    /// # Errors
    /// A refusal of any stage. Declines are payments, not errors.
    pub(super) async fn prepare_payment(
        &self,
        received: RoutedRequest,
        context: PaymentContext<'_>,
    ) -> Result<ReadyPayment, Failure> {
        let route = self.select_route(&received.payer, &received.parameters);
        let three_ds_context = ThreeDsContext::from_request(&received, route.as_ref().ok(), context).await;
        let needs_browser = three_ds_context.as_ref().is_some_and(ThreeDsContext::requires_browser);
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
        let public = context.addresses.public;
        let decision = self.decide_three_ds(three_ds_context.clone(), &mut intake, &route, &identity, public).await?;
        let in_form = context.is_in_form();
        let authorized = self.authorize(decision, three_ds_context, &intake, &route, &identity, in_form).await?;
        let (mut prepared, request) =
            self.prepare_write(intake, authorized, &route, identity, context, brand_return_url)?;
        // Reversal and capture are prepared here, because no connector may be asked under the write lock.
        if prepared.may_be_reversed() {
            prepared.reversal = Some(self.prepare_reversal(prepared.payment()).await?);
            prepared.capture = self.capture_in_process(prepared.payment()).await;
        }
        Ok(ReadyPayment { prepared: Box::new(prepared), request, attempt })
    }
}
