//! The use cases: load → decide (domain) → connector → commit. One file each.

pub mod checkout;
pub mod once;
pub mod order;
pub mod pay;
pub mod reference;
pub mod submit;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::clock::Clock;
use crate::connector::Order;
use crate::directory::Directory;
use crate::domain::id::PaymentId;
use crate::domain::payment::{CardSummary, Terms};
use crate::domain::refusal::Refusal;
use crate::store::{Store, StoreError};
use crate::vault::{Vault, VaultError};

/// The gateway without its HTTP edge.
pub struct Gateway {
    /// Who may ask.
    pub directory: Arc<Directory>,
    /// The data.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Card data at rest.
    pub vault: Vault,
    /// What the operator chose.
    pub options: Options,
}

/// The gateway's own options.
#[derive(Debug, Clone)]
pub struct Options {
    /// This node's name, the end of the checkout ids that it makes.
    pub node: String,
    /// How long the sealed number of an unregistered card is kept after a successful payment.
    pub card_window: SignedDuration,
    /// How long what was paid can be captured and reversed.
    pub terms: Terms,
}

/// No answer can be given: a refusal, which is an answer of its own, or a failure of ours.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The request is refused.
    #[error("refused with {}", .0.code.code())]
    Refused(Box<Refusal>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Gateway {
    /// Now, by the gateway's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn new_payment_id(now: Timestamp) -> Result<PaymentId, Failure> {
        Ok(PaymentId::new(now, random()?))
    }

    /// The card number, sealed for the payment's record. Padded, so that the record's length tells nothing.
    fn seal_number(&self, id: &PaymentId, order: &Order) -> Result<Vec<u8>, Failure> {
        let padded = zeroize::Zeroizing::new(format!("{:<19}", order.number.digits()));
        Ok(self.vault.seal(id.as_str(), padded.as_bytes())?)
    }
}

/// Random bytes from the system's generator.
///
/// # Errors
/// When it has none to give.
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Failure::Random)?;
    Ok(bytes)
}

impl CardSummary {
    /// What may be kept of an order's card.
    pub fn of(order: &Order) -> Self {
        Self {
            bin: order.number.bin().to_owned(),
            last4: order.number.last4().to_owned(),
            holder: order.holder.clone(),
            expiry_month: format!("{:02}", order.expiry.month),
            expiry_year: format!("{:04}", order.expiry.year),
        }
    }
}
