//! Connectors: they execute orders and return outcomes.
//!
//! A [`Connector`] moves money; a [`ThreeDsAuthenticator`] authenticates cardholders. An in-process connector also has
//! pages and test data: its [`sandbox`]. Knows how acquirers are asked, and no store: what is sent is recorded by its
//! callers, before it is sent. The [`recorded_messages`] of external connectors are collected for the callers.
//! [`iso8583`] has the messages of card acquirers and their connector, [`line`] the connections. [`gateway_api`] pays
//! at another gateway of the same merchant API. [`web`] is the part that the connectors over HTTP share.

mod account;
mod capabilities;
pub mod gateway_api;
pub mod http;
pub mod iso8583;
pub mod line;
mod not_configured;
mod order;
mod outcome;
pub mod recorded_messages;
mod route;
pub mod sandbox;
pub mod three_ds;
pub mod web;

use async_trait::async_trait;
use tillgate_domain::payment::{Payment, RequestPlace};
use tillgate_domain::risk::RiskDecision;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

pub use account::{BankNumber, CardSource, Cryptogram, FullAccount, FullBank, FullCard, NationalNumber};
pub use capabilities::{Capabilities, CaptureSupport, MissingCapability};
pub use not_configured::NotConfigured;
pub use order::{
    AvsAddress, CaptureTerms, EarlierPayment, Inquiry, Modification, Order, OrderContext, OrderRequest,
    StandingInstructionParameters,
};
pub use outcome::{ConnectorOutcome, ConnectorResult, ShopperPage};
pub use route::PaymentRoute;
pub use three_ds::ThreeDsAuthenticator;

/// The names of the external connectors, for `--connector`. Each has its own folder.
pub const EXTERNAL: &[&str] = &[http::NAME, iso8583::connector::NAME, gateway_api::NAME];

/// A connection to an acquirer or another institution that moves money.
///
/// A request is executed once, however often it is sent with the same reference. [`ConnectorOutcome::Unknown`] means
/// that it is unknown whether the request was executed; [`Connector::inquire`] finds out.
#[async_trait]
pub trait Connector: Send + Sync {
    /// Returns the connector's name, for `--connector`.
    fn name(&self) -> &str;

    /// Returns the connector's capabilities.
    fn capabilities(&self) -> &Capabilities;

    /// Returns the result code with which the connector declines every order of this account, without asking or storing
    /// anything. `None` if it does not.
    fn refused_account(&self, _order: &Order) -> Option<ResultCode> {
        None
    }

    /// Returns the result code of a decline that the connector can determine without a request. The cardholder is then
    /// not authenticated. `None` if there is no such decline.
    fn known_decline(&self, _request: &OrderRequest<'_>) -> Option<ResultCode> {
        None
    }

    /// Returns the decision of a risk check that the parameters of a payment ask for. `None` if they ask for none, or
    /// the connector moves real money.
    fn predefined_risk(&self, _parameters: &Parameters) -> Option<RiskDecision> {
        None
    }

    /// Chooses the place of an order's request at the acquirer: the stored one as long as its system can be reached, or
    /// no other can. It has to be stored before the request is sent. `None` if the acquirer knows requests by their
    /// references.
    fn place_order(&self, _order: &Order, _stored: Option<&RequestPlace>) -> Option<RequestPlace> {
        None
    }

    /// Chooses the place of a follow-up payment's request at the acquirer: the system that knows the earlier payment.
    /// `None` if the acquirer knows requests by their references.
    fn place_follow_up(&self, _earlier: &Payment) -> Option<RequestPlace> {
        None
    }

    /// Authorizes or debits the amount of an order.
    async fn authorize(&self, request: &OrderRequest<'_>) -> ConnectorOutcome;

    /// Pays out the amount of an order to the account.
    async fn credit(&self, request: &OrderRequest<'_>) -> ConnectorOutcome;

    /// Verifies the account of an order without moving money. The shopper is not redirected: if the brand has a page of
    /// its own, the shopper confirms the account there with the first payment.
    async fn verify(&self, request: &OrderRequest<'_>) -> ConnectorOutcome;

    /// Captures a preauthorized amount, or a part of it.
    async fn capture(&self, modification: &Modification) -> ConnectorOutcome;

    /// Raises a preauthorized amount by the amount of the modification. Asked only if the capabilities have it.
    async fn increment(&self, modification: &Modification) -> ConnectorOutcome;

    /// Refunds an amount, or a part of it.
    async fn refund(&self, modification: &Modification) -> ConnectorOutcome;

    /// Reverses a payment as a whole, of a preauthorization with its increments, also one with an unknown outcome.
    /// After an approval the payment has no effect.
    async fn reverse(&self, modification: &Modification) -> ConnectorOutcome;

    /// Asks for the outcome of an earlier request. Returns `None` if the connector answers, but not with an outcome: it
    /// does not know the request, which may still arrive, or contradicts itself. Only a reversal ends such a request.
    /// The outcome is [`ConnectorOutcome::Unknown`] if there is no answer: the inquiry has to be repeated.
    async fn inquire(&self, inquiry: &Inquiry) -> Option<ConnectorOutcome>;

    /// Waits for the approval of a request whose caller does not wait any more. Returns its reference. The payment has
    /// to be reversed if it has ended without this approval. Waits for ever if no answer can come so late.
    async fn next_late_approval(&self) -> String {
        std::future::pending().await
    }
}
