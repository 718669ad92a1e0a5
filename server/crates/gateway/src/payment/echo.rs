//! Selects the parameters of a request that are stored with its payment or registration and returned in responses.

use tillgate_domain::payment::Account;
use tillgate_shared::parameter::find_parameter;

/// Returns true if a parameter is stored with the payment and returned in responses. Secrets, card data and credentials
/// are not, nor are parameters that the payment or its account summary has in a field of its own. Unknown parameters
/// are echoed.
pub(crate) fn is_echoed(name: &str, account: &Account) -> bool {
    let has_own_field = matches!(
        name,
        "amount"
            | "currency"
            | "paymentType"
            | "paymentBrand"
            | "descriptor"
            | "entityId"
            | "integrity"
            | "shopOrigin"
            | "forceUtf8"
            | "registrationId"
    );
    let is_of_account = match account {
        Account::Bank(_) => name.starts_with("bankAccount.") && !name.starts_with("bankAccount.mandate."),
        Account::Virtual(_) => name.starts_with("virtualAccount."),
        Account::Card(_) | Account::Unknown => false,
    };
    // Unknown parameters are echoed, so the groups with secrets are excluded as a whole, whether a name is known or
    // not.
    let is_secret = find_parameter(name).is_some_and(|row| row.secret);
    !has_own_field && !is_of_account && !is_secret && !name.starts_with("card.") && !name.starts_with("authentication.")
}

#[cfg(test)]
mod tests {
    use tillgate_domain::payment::BankSummary;
    use tillgate_shared::parameter::all_parameters;

    use crate::payment::echo::*;

    #[test]
    fn no_secret_of_the_catalogue_is_kept() {
        let unknown = Account::Unknown;
        let echoed: Vec<&str> =
            all_parameters().filter(|row| row.secret).map(|row| row.name).filter(|n| is_echoed(n, &unknown)).collect();
        assert!(echoed.is_empty(), "{echoed:?}");
        for account in ["bankAccount.number", "bankAccount.iban", "walletPay.paymentToken", "card.number", "card.cvv"] {
            assert!(!is_echoed(account, &unknown), "{account}");
        }
        for shown in ["bankAccount.holder", "bankAccount.bic", "cart.items[17].name", "merchant.data[abc]"] {
            assert!(is_echoed(shown, &unknown), "{shown}");
        }
    }

    #[test]
    fn what_the_account_shows_by_itself_is_not_kept_twice() {
        let bank = Account::Bank(BankSummary::default());
        assert!(!is_echoed("bankAccount.holder", &bank));
        assert!(is_echoed("bankAccount.mandate.id", &bank));
        assert!(is_echoed("virtualAccount.accountId", &bank));
    }
}
