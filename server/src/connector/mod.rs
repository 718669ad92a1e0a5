//! Connectors: an order goes to one of them, and an outcome comes back.
//!
//! A [`Connector`] moves money; an [`Authenticator`] authenticates cardholders. The [`registry`] picks both for a payment, by the
//! mode that it is processed in and the setting of its channel. [`simulator`] implements both inside this process.

mod account;
mod capabilities;
pub mod http;
mod not_configured;
mod order;
mod outcome;
pub mod registry;
pub mod simulator;
pub mod three_ds;

use async_trait::async_trait;
use tillgate_shared::result::ResultCode;

pub use account::{BankNumber, Cryptogram, Entry, FullAccount, FullBank, FullCard, NationalNumber};
pub use capabilities::Capabilities;
pub use order::{Address, Inquiry, Modification, Order, OrderContext, OrderRequest, StandingInstructionData};
pub use outcome::{ConnectorResult, Outcome, ShopperPage};
pub use registry::{Registry, Route};
pub use three_ds::Authenticator;

/// A connection to somebody who moves money.
///
/// A request is carried out once, however often it is sent with the same reference. [`Outcome::Unknown`] says that nobody knows
/// whether it was; [`Connector::inquire`] finds out.
#[async_trait]
pub trait Connector: Send + Sync {
    /// Returns its name, which `--connector` takes.
    fn name(&self) -> &str;

    /// Returns its abilities.
    fn capabilities(&self) -> &Capabilities;

    /// Returns the result code with which every order of this account is declined, without anything being asked or kept; or
    /// `None` if there is no such reason.
    fn refused_account(&self, _order: &Order) -> Option<ResultCode> {
        None
    }

    /// Returns the result code of the decline if the connector knows without asking anybody that an order is declined. The
    /// cardholder is then not authenticated.
    fn known_decline(&self, _request: &OrderRequest<'_>) -> Option<ResultCode> {
        None
    }

    /// Reserves or takes the amount of an order.
    async fn authorize(&self, request: &OrderRequest<'_>) -> Outcome;

    /// Pays the amount of an order out to the account.
    async fn credit(&self, request: &OrderRequest<'_>) -> Outcome;

    /// Verifies the account of an order, which moves nothing. The shopper is sent nowhere: an account with a brand that has a
    /// page of its own is confirmed there when it pays.
    async fn verify(&self, request: &OrderRequest<'_>) -> Outcome;

    /// Takes a preauthorized amount, or a part of it.
    async fn capture(&self, modification: &Modification) -> Outcome;

    /// Gives back what was taken, or a part of it.
    async fn refund(&self, modification: &Modification) -> Outcome;

    /// Undoes a payment as a whole, also one whose own outcome is unknown: an approval says that nothing of it stands.
    async fn reverse(&self, modification: &Modification) -> Outcome;

    /// Finds out what has become of an earlier request. The outcome is unknown if the connector does not know the request: it
    /// may still be on its way.
    async fn inquire(&self, inquiry: &Inquiry) -> Outcome;
}
