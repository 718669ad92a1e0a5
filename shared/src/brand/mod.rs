//! Brands: the values of `paymentBrand`, and the detection of a card's brand from its number.
//!
//! Brands are data: a new one is a row in `table.rs` and, if its numbers are known, a scheme in `scheme.rs` with the
//! first digits in `first_digits.rs`.

mod bin_range;
mod detection;
mod digit_groups;
mod first_digits;
mod method;
mod scheme;
mod table;

pub use bin_range::BinRange;
pub use detection::detect;
pub use digit_groups::digit_groups;
pub use method::{FormKind, PaymentMethod};
pub use scheme::{CodePosition, EciFamily, OtherRanges, Scheme};

/// The kind of account that a brand charges. It decides the form that the shopper fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountType {
    /// A card with number and expiry date.
    Card,
    /// A bank account.
    Bank,
    /// An account at the brand.
    Virtual,
    /// A wallet that provides card data or tokens.
    Wallet,
}

impl AccountType {
    /// Returns its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Bank => "bank",
            Self::Virtual => "virtual",
            Self::Wallet => "wallet",
        }
    }

    /// Finds a kind of account by its name on the wire.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Card, Self::Bank, Self::Virtual, Self::Wallet].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The way in which a payment of a brand gets its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flow {
    /// At once.
    Now,
    /// Later: the shopper is redirected to the brand's page in the same window, and comes back.
    Redirect,
    /// Later: the brand's page opens in a separate window, and the shop's page stays.
    Popup,
}

impl Flow {
    /// Returns its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Redirect => "redirect",
            Self::Popup => "popup",
        }
    }

    /// Finds a flow by its name on the wire.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Now, Self::Redirect, Self::Popup].into_iter().find(|flow| flow.as_str() == name)
    }
}

/// A brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brand {
    /// Its value of `paymentBrand`: letters, digits and underscores.
    pub code: &'static str,
    /// Its name for shoppers.
    pub name: &'static str,
    /// The kind of account that it charges.
    pub kind: AccountType,
    /// The way in which its payments get their results.
    pub flow: Flow,
    /// Its payment method.
    pub method: PaymentMethod,
    /// The form in which the shopper pays.
    pub form: FormKind,
    /// Keys of the form's fields, in order; empty for a brand with only a button. A field whose key ends with `?` may
    /// stay empty. Card forms have their own fields.
    pub fields: &'static [&'static str],
    /// Keys of fields that the merchant may switch on.
    pub extras: &'static [&'static str],
    /// The format of its numbers, for cards of a known scheme.
    pub scheme: Option<&'static Scheme>,
}

impl Brand {
    /// Finds a brand by its code.
    pub fn find(code: &str) -> Option<&'static Self> {
        let index = table::BRANDS.binary_search_by(|brand| brand.code.cmp(code)).ok()?;
        table::BRANDS.get(index)
    }

    /// Finds a card brand by its code. The frames of the form use this function, because it leaves the other brands out
    /// of the program.
    pub fn find_card(code: &str) -> Option<&'static Self> {
        table::CARDS.iter().find(|brand| brand.code == code)
    }

    /// Returns all brands, sorted by code.
    pub fn all() -> &'static [Self] {
        &table::BRANDS
    }

    /// Returns all card brands, sorted by code.
    pub fn cards() -> &'static [Self] {
        &table::CARDS
    }

    /// Returns true if its payments get their results at once.
    pub fn is_synchronous(&self) -> bool {
        self.flow == Flow::Now
    }

    /// Returns true if a card number can belong to this brand, complete or still being typed. Only a brand with its own
    /// ranges refuses numbers, those outside of them and empty ones; cards of regional programmes are issued on the
    /// ranges of the big schemes. Lengths are not checked.
    pub fn allows_number(&self, digits: &str) -> bool {
        self.scheme.is_none_or(|scheme| scheme.other_ranges == OtherRanges::Unknown || scheme.match_rank(digits) > 0)
    }

    /// Returns true if the number of a card tells that it may be of this brand, so that nobody has to say so. False for
    /// brands without ranges of their own, and for those that may be issued outside of theirs.
    pub fn is_told_by_number(&self) -> bool {
        self.scheme.is_some_and(|scheme| !scheme.ranges.is_empty() && scheme.other_ranges != OtherRanges::Unknown)
    }

    /// Returns the possible lengths of its card numbers, ascending: 12 to 19 without a known scheme.
    pub fn number_lengths(&self) -> &'static [u8] {
        self.scheme.map_or(scheme::ANY_LENGTH, |scheme| scheme.number_lengths)
    }

    /// Returns the possible lengths of its security codes, ascending: 3 and 4 without a known scheme.
    pub fn code_lengths(&self) -> &'static [u8] {
        self.scheme.map_or(&[3, 4], |scheme| scheme.code_lengths)
    }

    /// Returns true if some cards of this brand have no security code. False for a brand without a known scheme.
    pub fn is_code_optional(&self) -> bool {
        self.scheme.is_some_and(|scheme| scheme.code_optional)
    }

    /// Returns the side of the card with the security code: the back without a known scheme.
    pub fn code_position(&self) -> CodePosition {
        self.scheme.map_or(CodePosition::Back, |scheme| scheme.code_position)
    }

    /// Returns the family of its electronic commerce indicators in 3-D Secure: that of Visa without a known scheme.
    pub fn eci_family(&self) -> EciFamily {
        self.scheme.map_or(EciFamily::Visa, |scheme| scheme.eci_family)
    }

    /// Returns true if its form cannot be sent without the field with this key.
    pub fn requires_field(&self, key: &str) -> bool {
        self.fields.contains(&key)
    }
}

#[cfg(test)]
mod tests;
