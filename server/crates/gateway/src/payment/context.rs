//! Context of a payment request, which all stages of the pipeline share.

use jiff::Timestamp;

use super::addresses::Addresses;
use crate::access::sender::Sender;
use crate::registration::stored_credentials::CredentialOwner;

/// Context of a payment request.
#[derive(Clone, Copy)]
pub(crate) struct PaymentContext<'a> {
    /// The sender.
    pub(crate) sender: Sender<'a>,
    /// The stored credential, if one is used.
    pub(crate) credential_owner: CredentialOwner<'a>,
    /// Addresses of the shopper and of the pages.
    pub(crate) addresses: Addresses<'a>,
    /// The time of the payment by the clock of its entity. `None` for the current time.
    pub(crate) at: Option<Timestamp>,
}

impl PaymentContext<'_> {
    /// Returns true if the account is a registration's.
    pub(super) fn has_stored_account(self) -> bool {
        self.credential_owner.used.is_some()
    }

    /// Returns true if the shopper uses the hosted form.
    pub(super) fn is_in_form(self) -> bool {
        self.sender.checkout().is_some()
    }
}
