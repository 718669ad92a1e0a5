//! Cards and accounts in list entries of risk checks, the values of the keys `card` and `account`. Only their blind
//! indexes are stored.

use tillgate_domain::payment::account_identity::AccountIdentity;
use tillgate_risk::{VelocityKey, normalize_list_value};
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::iban::Iban;
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_shared::parameter::{Parameters, find_parameter};
use zeroize::Zeroizing;

/// Returns true for the keys whose values are blind indexes.
pub fn is_account_key(key: &VelocityKey) -> bool {
    matches!(key, VelocityKey::Card | VelocityKey::Account)
}

/// Normalizes the value of a list entry with a key. The value for the key of an account is its blind index.
///
/// # Errors
/// If no payment can have the value, or it is a card number for another key. The message follows the name of the value,
/// and does not repeat it.
pub fn normalize_value(key: &VelocityKey, value: &str) -> Result<String, String> {
    // A blind index may look like a card number.
    if !is_account_key(key) && has_card_number(value, Strictness::Allowed) {
        return Err("looks like a card number, which is stored under the key card only".to_owned());
    }
    normalize_list_value(key, value)
}

/// Reads the account of a list entry with this key: a card number, or an account in one of the forms `iban:IBAN`,
/// `virtual:BRAND:ACCOUNT`, `bank:COUNTRY:BANK:NUMBER` and `card:NUMBER`. Spaces and hyphens in a number do not matter.
///
/// # Errors
/// If the text is not of this form. The message follows the name of the value, and does not repeat it.
pub fn parse_listed_account(key: &VelocityKey, text: &str) -> Result<AccountIdentity, String> {
    if *key == VelocityKey::Card {
        return parse_card(text).ok_or_else(|| "must be a card number".to_owned());
    }
    let forms = "must be iban:IBAN, virtual:BRAND:ACCOUNT, bank:COUNTRY:BANK:NUMBER or card:NUMBER";
    let (kind, rest) = text.trim().split_once(':').ok_or(forms)?;
    let wrong = |parameter: &str| format!("has no valid {parameter}");
    let checked = |parameter: &'static str, value| {
        let format = find_parameter(parameter).map(|row| row.format);
        format.filter(|format| format.check_value(value).is_ok()).map(|_| value).ok_or_else(|| wrong(parameter))
    };
    match (kind, rest.split(':').collect::<Vec<_>>().as_slice()) {
        ("iban", [iban]) => parse_iban(iban).ok_or_else(|| wrong("bankAccount.iban")),
        ("card", [number]) => parse_card(number).ok_or_else(|| wrong("card.number")),
        ("virtual", [brand, _, ..]) if !brand.is_empty() => {
            let id = rest.split_once(':').map_or("", |(_, id)| id);
            Ok(AccountIdentity::from_provider(brand, checked("virtualAccount.accountId", id)?))
        }
        ("bank", [country, bank, number]) => Ok(AccountIdentity::from_national_number(
            checked("bankAccount.country", country)?,
            checked("bankAccount.bankCode", bank)?,
            checked("bankAccount.number", number)?,
        )),
        _ => Err(forms.to_owned()),
    }
}

/// Reads the account of a list entry from the parameters of a payment: its card, bank account or account at the brand,
/// in this order; with the key `card` its card only. `None` if they have none.
pub fn read_listed_account(key: &VelocityKey, parameters: &Parameters) -> Option<AccountIdentity> {
    let get = |name: &str| parameters.get(name).filter(|value| !value.is_empty());
    let card = get("card.number");
    if card.is_some() || *key == VelocityKey::Card {
        return parse_card(card?);
    }
    if let Some(iban) = get("bankAccount.iban") {
        return parse_iban(iban);
    }
    if let Some(number) = get("bankAccount.number") {
        let bank = get("bankAccount.bankCode").or(get("bankAccount.bic")).unwrap_or_default();
        return Some(AccountIdentity::from_national_number(
            get("bankAccount.country").unwrap_or_default(),
            bank,
            number,
        ));
    }
    let brand = get("paymentBrand").unwrap_or_default();
    get("virtualAccount.accountId").map(|id| AccountIdentity::from_provider(brand, id))
}

fn parse_card(number: &str) -> Option<AccountIdentity> {
    CardNumber::parse(&strip_separators(number)).ok().as_ref().map(AccountIdentity::from_card)
}

fn parse_iban(iban: &str) -> Option<AccountIdentity> {
    Iban::parse(&strip_separators(iban)).ok().as_ref().map(AccountIdentity::from_iban)
}

fn strip_separators(number: &str) -> Zeroizing<String> {
    Zeroizing::new(number.chars().filter(|c| !c.is_whitespace() && *c != '-').collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::brand::Brand;
    use tillgate_shared::parameter::{Presence, Requirements};

    use crate::payment::order::read_order;
    use crate::risk::listed_account::*;

    /// A payment of one account, and list entries with the same account.
    struct ListedCase {
        parameters: &'static [(&'static str, &'static str)],
        entries: &'static [&'static str],
    }

    const CASES: [ListedCase; 5] = [
        ListedCase {
            parameters: &[("paymentBrand", "VISA"), ("card.number", "4200000000000000"), ("card.cvv", "123")],
            entries: &["card:4200 0000-0000 0000"],
        },
        ListedCase {
            parameters: &[("paymentBrand", "DIRECTDEBIT_SEPA"), ("bankAccount.iban", "DE89370400440532013000")],
            entries: &["iban:DE89 3704 0044 0532 0130 00", "iban:de89370400440532013000"],
        },
        ListedCase {
            parameters: &[
                ("paymentBrand", "DIRECTDEBIT_SEPA"),
                ("bankAccount.number", "1234567890"),
                ("bankAccount.bankCode", "10000000"),
                ("bankAccount.country", "DE"),
            ],
            entries: &["bank:DE:10000000:1234567890"],
        },
        ListedCase {
            parameters: &[("paymentBrand", "PAYPAL"), ("virtualAccount.accountId", "jo@shop.example")],
            entries: &["virtual:PAYPAL:jo@shop.example", "virtual:paypal:JO@shop.example"],
        },
        ListedCase {
            parameters: &[("paymentBrand", "AFFIRM"), ("virtualAccount.accountId", "jo@shop.example")],
            entries: &["virtual:AFFIRM:jo@shop.example"],
        },
    ];

    /// Reads the account of a payment as the gateway does.
    fn identity_of_payment(case: &ListedCase) -> AccountIdentity {
        let order = [
            ("amount", "1.00"),
            ("currency", "EUR"),
            ("paymentType", "DB"),
            ("card.expiryMonth", "12"),
            ("card.expiryYear", "2050"),
            ("shopperResultUrl", "https://shop.example/"),
            ("bankAccount.holder", "Jane Jones"),
        ];
        let kind = case.parameters[1].0.split('.').next().unwrap();
        let fits = |name: &str| !name.contains("card.") && !name.contains("Account.") || name.starts_with(kind);
        let order = order.into_iter().filter(|(name, _)| fits(name));
        let parameters: Parameters = case.parameters.iter().copied().chain(order).collect();
        let brand = Brand::find(case.parameters[0].1);
        let requirements = Requirements { presence: Presence::Merchant, ..Requirements::default() };
        let order = read_order(&requirements, &parameters, brand, true, |_| unreachable!()).unwrap();
        order.account.identity(order.brand.code).unwrap()
    }

    #[test]
    fn a_list_entry_is_the_account_of_the_payment_whatever_its_notation() {
        for (row, case) in CASES.iter().enumerate() {
            let identity = identity_of_payment(case);
            let parameters = case.parameters.iter().copied().collect();
            assert!(read_listed_account(&VelocityKey::Account, &parameters).unwrap() == identity, "{row}");
            for entry in case.entries {
                assert!(parse_listed_account(&VelocityKey::Account, entry).unwrap() == identity, "{entry}");
            }
            for other in CASES[..row].iter().flat_map(|other| other.entries) {
                assert!(parse_listed_account(&VelocityKey::Account, other).unwrap() != identity, "{other}");
            }
        }
    }

    #[test]
    fn the_key_card_takes_a_card_only() {
        let card = parse_listed_account(&VelocityKey::Card, "4200 0000 0000 0000").unwrap();
        assert!(card == identity_of_payment(&CASES[0]));
        assert!(parse_listed_account(&VelocityKey::Card, "iban:DE89370400440532013000").is_err());
        let bank = CASES[1].parameters.iter().copied().collect();
        assert!(read_listed_account(&VelocityKey::Card, &bank).is_none());
    }
}
