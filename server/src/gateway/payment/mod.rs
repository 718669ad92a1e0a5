//! The pipeline of a payment. Each stage is a file, takes what the one before has made, and hands on a small struct:
//!
//! | Stage | Decides | Makes |
//! |---|---|---|
//! | [`intake`] | who takes the payment, brand, account, amount | [`Received`], then [`Intake`] |
//! | [`route`] | which connector and which authenticator | a [`crate::connector::Route`] |
//! | [`screen`] | whether it may be tried: velocity limits, then risk | an [`AttemptGuard`] |
//! | [`three_ds`] | whether the cardholder is authenticated first | a decision: authorise, wait or decline |
//! | [`authorize`] | asks the connector | [`Authorized`] |
//! | [`screen`] | whether an authorised payment is good | nothing yet |
//! | [`record`] | what is written, under the write lock | [`Prepared`], then the payment |
//!
//! The intake comes in two steps, and the route between them: the key of a wallet's token and the fields that have to be there
//! depend on the channel and on the card's enrolment. After the intake nobody reads brand or account from the text of
//! parameters.
//!
//! A connector that leaves this process is asked between two commits, in [`ask`]: the first reserves the amount, under the same
//! checks as any payment's, and records the intent; the second brings the outcome. What stays unknown is found out in
//! [`resolve`].
//!
//! A payment that is still pending then goes on in [`challenge`] (the page on which a cardholder is authenticated) and ends in
//! [`complete`], whoever brings its outcome.

mod ask;
mod authorize;
pub mod challenge;
pub mod complete;
pub(super) mod intake;
mod record;
mod resolve;
mod route;
mod screen;
mod three_ds;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use self::ask::Asking;
pub(super) use self::ask::{Ask, with_patience};
use self::authorize::Authorized;
pub(super) use self::intake::{Intake, Received};
pub(super) use self::record::Prepared;
pub(super) use self::resolve::modify;
pub(super) use self::three_ds::HeldCard;
use self::three_ds::ThreeDsContext;
use super::on_file::File;
use super::pay::Addresses;
use super::sender::Sender;
use super::velocity::AttemptGuard;
use super::{Failure, Gateway, order};
use crate::connector::{Order, OrderRequest};
use crate::domain::id::PaymentId;
use crate::domain::payment::descriptor;

/// The circumstances of a request to pay.
#[derive(Clone, Copy)]
pub(super) struct Circumstances<'a> {
    /// The sender.
    pub(super) sender: Sender<'a>,
    /// The stored credential, if one is used.
    pub(super) file: File<'a>,
    /// Addresses of the shopper and of the pages.
    pub(super) addresses: Addresses<'a>,
}

impl Circumstances<'_> {
    /// Returns true if a registration holds the account.
    fn is_stored(self) -> bool {
        self.file.used.is_some()
    }

    /// Returns true if the shopper sits before the hosted form.
    fn is_in_form(self) -> bool {
        self.sender.checkout().is_some()
    }
}

/// The new payment's own data.
struct Identity {
    id: PaymentId,
    descriptor: String,
    /// Now, by the clock of the entity.
    now: Timestamp,
}

impl Identity {
    /// Returns the request to a connector about an order of this payment.
    fn request<'a>(&'a self, order: &'a Order) -> OrderRequest<'a> {
        let today = self.now.to_zoned(TimeZone::UTC).date();
        OrderRequest { reference: self.id.as_str(), descriptor: &self.descriptor, today, order }
    }
}

impl Gateway {
    /// Takes a request to pay through all stages that need no lock; writes nothing. [`Prepared::settle`] runs under the write
    /// lock. The attempt has to be told how the write ended.
    ///
    /// # Errors
    /// A refusal of any stage; declines are payments, not errors.
    pub(super) async fn prepare(
        &self,
        received: Received,
        circumstances: Circumstances<'_>,
    ) -> Result<(Prepared, AttemptGuard), Failure> {
        let route = self.route(&received.payer, &received.parameters);
        let context = ThreeDsContext::of(&received, route.as_ref().ok(), circumstances).await;
        let needs_browser = context.is_some_and(ThreeDsContext::needs_browser);
        let mut intake = self.read_intake(received, circumstances.sender, circumstances.is_stored(), needs_browser)?;
        let route = route?;
        let brand_way_back = circumstances.addresses.way_back_of_brand(&intake)?;
        let attempt = self.screen_before(&intake, circumstances)?;
        let identity = self.identify(&intake)?;
        let decision = self.authenticate(context, &mut intake, &route, &identity).await?;
        let in_form = circumstances.is_in_form();
        let authorized = self.authorize(decision, context, &intake, &route, &identity, in_form).await?;
        self.screen_after(&intake, &authorized);
        let prepared = self.record(intake, authorized, &route, identity, circumstances, brand_way_back)?;
        Ok((prepared, attempt))
    }

    /// Gives a payment its id and the text on the shopper's statement.
    fn identify(&self, intake: &Intake) -> Result<Identity, Failure> {
        let payer = &intake.payer;
        let id = Self::new_payment_id(self.next_id_time(payer))?;
        let descriptor = descriptor(&id, order::statement_text(&intake.parameters).unwrap_or(&payer.name));
        Ok(Identity { id, descriptor, now: self.now_of(payer) })
    }
}
