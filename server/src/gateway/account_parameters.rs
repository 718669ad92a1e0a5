//! Parameters of an account, and of the shopper who owns it, as a registration stores them.

use tillgate_shared::parameter::Parameters;
use zeroize::Zeroizing;

use super::sender::Sender;

/// Groups of parameters that describe an account.
const ACCOUNT_GROUPS: [&str; 3] = ["card.", "bankAccount.", "virtualAccount."];
/// Groups of parameters that describe the shopper. None of them is secret.
const SHOPPER_GROUPS: [&str; 3] = ["customer.", "billing.", "shipping."];
/// Parameters that prove, for one payment, that the account is the payer's. Never stored.
pub(super) const PROOFS: [&str; 2] = ["card.cvv", "virtualAccount.password"];

/// Returns true if a parameter describes the shopper.
pub(super) fn is_shopper_parameter(name: &str) -> bool {
    SHOPPER_GROUPS.iter().any(|group| name.starts_with(group))
}

/// Returns the names of the parameters of a new registration that the shopper's browser has set, sorted.
pub(super) fn find_browser_names(
    sender: Sender<'_>,
    account: &AccountParameters,
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
pub(super) fn is_account_parameter(name: &str) -> bool {
    ACCOUNT_GROUPS.iter().any(|group| name.starts_with(group))
}

/// Account parameters as a registration stores them, without the proofs for a single payment.
pub(super) struct AccountParameters(pub(super) Parameters);

impl AccountParameters {
    /// Selects the account parameters of a request, without security code and password.
    pub(super) fn from_request(parameters: &Parameters) -> Self {
        Self(parameters.iter().filter(|(name, _)| is_account_parameter(name) && !PROOFS.contains(name)).collect())
    }

    /// Returns the names of the parameters.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name)
    }

    /// Returns the account in a canonical form that does not depend on its notation, for its blind index: the number
    /// with, for national bank accounts, country and bank, and for virtual accounts the brand. `None` if the account is
    /// of a kind that cannot be stored.
    pub(super) fn canonical_form(&self, brand: &str) -> Option<Zeroizing<String>> {
        let get = |name: &str| self.0.get(name).filter(|value| !value.is_empty());
        let join = |parts: &[&str]| Zeroizing::new(parts.join("\n").to_uppercase());
        let account = if let Some(number) = get("card.number") {
            join(&["card", number])
        } else if let Some(iban) = get("bankAccount.iban") {
            let iban = Zeroizing::new(iban.split_whitespace().collect::<String>());
            join(&["iban", &iban])
        } else if let Some(number) = get("bankAccount.number") {
            let bank = get("bankAccount.bankCode").or(get("bankAccount.bic")).unwrap_or_default();
            join(&["bank", get("bankAccount.country").unwrap_or_default(), bank, number])
        } else {
            join(&["virtual", brand, get("virtualAccount.accountId")?])
        };
        Some(account)
    }
}
