//! Identity of an account: its number, whatever the notation.

use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::iban::Iban;
use zeroize::Zeroizing;

/// Number of the first digits of a card that responses show.
const CARD_FIRST: usize = 6;

/// The number of an account with what makes it unique: for a national number country and bank, for an account with a
/// provider the brand. Two notations of one account are equal. A secret: it has no `Display`, and its `Debug` shows a
/// mask.
#[derive(Clone, PartialEq, Eq)]
pub struct AccountIdentity(Zeroizing<String>);

impl AccountIdentity {
    /// Returns the identity of a card, also of one from a wallet.
    pub fn from_card(number: &CardNumber) -> Self {
        Self::join_parts(&["card", number.digits()])
    }

    /// Returns the identity of a bank account with an IBAN.
    pub fn from_iban(iban: &Iban) -> Self {
        Self::join_parts(&["iban", iban.characters()])
    }

    /// Returns the identity of a bank account with a national number. `bank` is the bank's national code, or else its
    /// BIC.
    pub fn from_national_number(country: &str, bank: &str, number: &str) -> Self {
        Self::join_parts(&["bank", country, bank, number])
    }

    /// Returns the identity of an account with the provider of a brand.
    pub fn from_provider(brand: &str, account_id: &str) -> Self {
        Self::join_parts(&["virtual", brand, account_id])
    }

    /// Returns the two parts of the identity that responses show: of a card the first six and last four digits, of an
    /// IBAN the first and last four characters, of a national number bank and last four characters. Returns `None` for
    /// an account with a provider, which has no hidden part.
    pub fn visible_parts(&self) -> Option<[&str; 2]> {
        let (kind, _) = self.0.split_once('\n')?;
        let first = match kind {
            "CARD" => CARD_FIRST,
            "IBAN" => 4,
            "BANK" => 0,
            _ => return None,
        };
        let number = self.0.rfind('\n')? + 1;
        let hidden = (number + first).min(self.0.len());
        let last = self.0.len().saturating_sub(4).max(hidden);
        Some([self.0.get(..hidden)?, self.0.get(last..)?])
    }

    /// Returns the first six digits of a card. `None` for another account.
    pub fn bin(&self) -> Option<&str> {
        self.0.strip_prefix("CARD\n")?.get(..CARD_FIRST)
    }

    /// Returns the text of the identity, for its index. The caller must protect it.
    pub fn characters(&self) -> &str {
        &self.0
    }

    fn join_parts(parts: &[&str]) -> Self {
        Self(Zeroizing::new(parts.join("\n").to_uppercase()))
    }
}

impl std::fmt::Debug for AccountIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccountIdentity(****)")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::payment::account_identity::*;

    fn card(digits: &str) -> AccountIdentity {
        AccountIdentity::from_card(&CardNumber::parse(digits).unwrap())
    }

    #[test]
    fn accounts_that_differ_only_in_hidden_characters_have_the_same_visible_parts() {
        let iban = |text: &str| AccountIdentity::from_iban(&Iban::parse(text).unwrap());
        let national = |number: &str| AccountIdentity::from_national_number("DE", "10000000", number);
        for (one, other, is_same) in [
            (card("4200000000000000"), card("4200001111110000"), true),
            (card("4200000000000000"), card("4200010000000000"), false),
            (card("4200000000000000"), card("4200000000000001"), false),
            (iban("DE23100000001234567890"), card("4200000000000000"), false),
            (national("1234567890"), national("9994567890"), true),
            (national("1234567890"), national("1234567891"), false),
            (national("1234567890"), national("9999997890"), true),
            (national("123"), national("123"), true),
        ] {
            assert_eq!(one.visible_parts() == other.visible_parts(), is_same, "{:?}", one.visible_parts());
        }
        assert_eq!(card("4200000000000000").visible_parts(), Some(["CARD\n420000", "0000"]));
        assert_eq!(card("4200000000000000").bin(), Some("420000"));
        assert_eq!(AccountIdentity::from_provider("PAYPAL", "jo@shop.example").visible_parts(), None);
    }
}
