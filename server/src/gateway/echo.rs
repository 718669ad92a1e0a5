//! Which parameters of a request are kept with what it made, and shown again.

use tillgate_shared::parameter::find;

use crate::domain::payment::Account;

/// Whether a parameter is kept with the payment and shown again. Secrets never are, card data in their reduced form
/// only, and what has a field of its own is not kept twice.
pub(super) fn is_echoed(name: &str, account: &Account) -> bool {
    let own_field = matches!(
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
    let of_account = match account {
        Account::Bank(_) => name.starts_with("bankAccount.") && !name.starts_with("bankAccount.mandate."),
        Account::Virtual(_) => name.starts_with("virtualAccount."),
        Account::Card(_) | Account::Unknown => false,
    };
    let secret = find(name).is_some_and(|row| row.secret);
    !own_field && !of_account && !secret && !name.starts_with("card.") && !name.starts_with("authentication.")
}

#[cfg(test)]
mod tests {
    use tillgate_shared::parameter::catalogue;

    use super::*;
    use crate::domain::payment::BankSummary;

    #[test]
    fn no_secret_of_the_catalogue_is_kept() {
        let unknown = Account::Unknown;
        let kept: Vec<&str> =
            catalogue().filter(|row| row.secret).map(|row| row.name).filter(|n| is_echoed(n, &unknown)).collect();
        assert!(kept.is_empty(), "{kept:?}");
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
