//! Parameters of an account, and of the shopper who owns it, as a registration stores them.

use tillgate_connector::Order;
use tillgate_domain::payment::account_identity::AccountIdentity;
use tillgate_shared::parameter::Parameters;

use crate::access::sender::Sender;

/// Groups of parameters that describe an account.
const ACCOUNT_GROUPS: [&str; 3] = ["card.", "bankAccount.", "virtualAccount."];
/// Groups of parameters that describe the shopper. None of them is secret.
const SHOPPER_GROUPS: [&str; 3] = ["customer.", "billing.", "shipping."];
/// Parameters that prove, for one payment, that the account is the payer's. Never stored.
pub(crate) const PROOFS: [&str; 2] = ["card.cvv", "virtualAccount.password"];

/// Returns true if a parameter describes the shopper.
pub(crate) fn is_shopper_parameter(name: &str) -> bool {
    SHOPPER_GROUPS.iter().any(|group| name.starts_with(group))
}

/// Returns the names of the parameters of a new registration that the shopper's browser has set, sorted.
pub(crate) fn find_browser_names(
    sender: Sender<'_>,
    account: &StorableAccount,
    parameters: &Parameters,
) -> Vec<String> {
    let mut names: Vec<String> = account
        .names()
        .chain(parameters.iter().map(|(name, _)| name))
        .filter(|name| sender.is_from_browser(name))
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

/// Returns true if a parameter describes a card, a bank account or a virtual account, proofs included.
pub(crate) fn is_account_parameter(name: &str) -> bool {
    ACCOUNT_GROUPS.iter().any(|group| name.starts_with(group))
}

/// An account whose number is known, so that it can be stored.
pub(crate) struct StorableAccount {
    /// The number of the account, with what makes it unique.
    pub(crate) identity: AccountIdentity,
    /// The parameters that a registration stores: without the proofs for a single payment.
    pub(crate) parameters: Parameters,
}

impl StorableAccount {
    /// Selects the account parameters of a request, without security code and password. `order` is what was read from
    /// the request. `None` if its account is known to the provider only.
    pub(crate) fn from_request(order: &Order, parameters: &Parameters) -> Option<Self> {
        // A security code is never stored, and a password proves only the payment that it was sent with.
        let is_stored = |name: &str| is_account_parameter(name) && !PROOFS.contains(&name);
        Some(Self {
            identity: order.account.identity(order.brand.code)?,
            parameters: parameters.iter().filter(|(name, _)| is_stored(name)).collect(),
        })
    }

    /// Returns the names of the parameters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| name)
    }
}
