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
    /// The identity of a card, also of one from a wallet.
    pub fn card(number: &CardNumber) -> Self {
        Self::join(&["card", number.digits()])
    }

    /// The identity of a bank account with an IBAN.
    pub fn iban(iban: &Iban) -> Self {
        Self::join(&["iban", iban.characters()])
    }

    /// The identity of a bank account with a national number. `bank` is the bank's national code, or else its BIC.
    pub fn national(country: &str, bank: &str, number: &str) -> Self {
        Self::join(&["bank", country, bank, number])
    }

    /// The identity of an account with the provider of a brand.
    pub fn provider(brand: &str, account_id: &str) -> Self {
        Self::join(&["virtual", brand, account_id])
    }

    /// Returns the text of the identity, for its index. The caller must protect it.
    pub fn characters(&self) -> &str {
        &self.0
    }

    fn join(parts: &[&str]) -> Self {
        Self(Zeroizing::new(parts.join("\n").to_uppercase()))
    }
}

impl std::fmt::Debug for AccountIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccountIdentity(****)")
    }
}
