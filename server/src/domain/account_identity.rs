//! Identity of an account: its number, whatever the notation.

use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::iban::Iban;
use zeroize::Zeroizing;

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
