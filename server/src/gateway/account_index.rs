//! Blind indexes of cards and accounts, the values of the keys `card` and `account` of risk checks.

use tillgate_shared::parameter::{Parameters, find_parameter};

use super::account_parameters::AccountParameters;
use crate::risk::VelocityKey;
use crate::vault::AccountIndexKey;

/// Returns the index of a card number, 64 hexadecimal digits. Spaces and hyphens in the number do not matter.
pub fn index_card(key: &AccountIndexKey, number: &str) -> String {
    let parameters: Parameters = [("card.number".to_owned(), strip_separators(number))].into_iter().collect();
    index_account(key, &parameters, "").unwrap_or_default()
}

/// Returns the index of the account in the parameters of a payment, 64 hexadecimal digits: of its card, bank account or
/// account at the brand. For a card it equals [`index_card`]. `None` if the parameters name no account.
pub fn index_account(key: &AccountIndexKey, parameters: &Parameters, brand: &str) -> Option<String> {
    let account = AccountParameters::from_request(parameters).canonical_form(brand)?;
    Some(key.index_account(&account).to_hex())
}

/// Returns true for the keys whose values are blind indexes.
pub fn is_account_key(key: &VelocityKey) -> bool {
    matches!(key, VelocityKey::Card | VelocityKey::Account)
}

/// Returns the value of a list entry for a card number, or for an account in one of the forms `iban:IBAN`,
/// `virtual:BRAND:ACCOUNT`, `bank:COUNTRY:BANK:NUMBER` and `card:NUMBER`. Other keys have no index.
///
/// # Errors
/// If the text is not of this form. The message follows the name of the value, and does not repeat it.
pub fn index_list_value(key: &AccountIndexKey, name: &VelocityKey, text: &str) -> Result<String, String> {
    let check = |parameter: &str, value: &str| {
        let format = find_parameter(parameter).map(|row| row.format);
        format.is_some_and(|format| format.check_value(value).is_ok())
    };
    if *name == VelocityKey::Card {
        let number = strip_separators(text);
        let valid = check("card.number", &number);
        return if valid { Ok(index_card(key, &number)) } else { Err("must be a card number".to_owned()) };
    }
    let forms = "must be iban:IBAN, virtual:BRAND:ACCOUNT, bank:COUNTRY:BANK:NUMBER or card:NUMBER";
    let (kind, rest) = text.trim().split_once(':').ok_or(forms)?;
    let parts: Vec<&str> = rest.split(':').collect();
    let (brand, pairs): (&str, Vec<(&str, String)>) = match (kind, parts.as_slice()) {
        ("iban", [iban]) => ("", vec![("bankAccount.iban", strip_separators(iban))]),
        ("card", [number]) => ("", vec![("card.number", strip_separators(number))]),
        ("virtual", [brand, _, ..]) if !brand.is_empty() => {
            let account = rest.split_once(':').map_or("", |(_, account)| account);
            (*brand, vec![("virtualAccount.accountId", account.to_owned())])
        }
        ("bank", [country, bank, number]) => {
            let names = ["bankAccount.country", "bankAccount.bankCode", "bankAccount.number"];
            let values = [country, bank, number].map(|value| (*value).to_owned());
            ("", names.into_iter().zip(values).collect())
        }
        _ => return Err(forms.to_owned()),
    };
    if let Some((name, _)) = pairs.iter().find(|(name, value)| !check(name, value)) {
        return Err(format!("has no valid {name}"));
    }
    index_account(key, &pairs.into_iter().collect(), brand).ok_or_else(|| forms.to_owned())
}

fn strip_separators(number: &str) -> String {
    number.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    #[test]
    fn an_index_is_that_of_the_number_whatever_its_notation_and_of_one_key() {
        let keys = [1, 2].map(|byte| AccountIndexKey::new(Zeroizing::new([byte; 32])));
        let index = index_card(&keys[0], "4200 0000-0000 0000");
        assert_eq!(index, index_card(&keys[0], "4200000000000000"));
        assert_eq!(index.len(), 64);
        assert_ne!(index, index_card(&keys[1], "4200000000000000"));
        let account = |pairs: &[(&str, &str)], brand| {
            let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            index_account(&keys[0], &pairs.collect(), brand)
        };
        assert_eq!(account(&[("card.number", "4200000000000000"), ("card.cvv", "123")], "VISA").unwrap(), index);
        let iban = account(&[("bankAccount.iban", "DE89 3704 0044 0532 0130 00")], "DIRECTDEBIT_SEPA").unwrap();
        assert_eq!(iban, account(&[("bankAccount.iban", "de89370400440532013000")], "").unwrap());
        let wallet = [("virtualAccount.accountId", "jo@shop.example")];
        assert_ne!(account(&wallet, "PAYPAL"), account(&wallet, "SKRILL"));
        assert_eq!(account(&[("customer.email", "jo@shop.example")], "VISA"), None);
    }
}
