//! Brands: ways to pay, as `paymentBrand` names them, and how card numbers tell theirs.
//!
//! Brands are data: a new one is a row in `table.rs`, and, where its numbers are known, a scheme in `scheme.rs`.

mod method;
mod range;
mod scheme;
mod table;

pub use method::{FormKind, Method};
pub use range::Range;
pub use scheme::{CodePosition, EciFamily, Elsewhere, Scheme};

/// The kind of account that a brand charges, which decides the form that the shopper fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A card with number and expiry date.
    Card,
    /// A bank account.
    Bank,
    /// An account at the brand itself.
    Virtual,
    /// A wallet that hands out card data or tokens.
    Wallet,
}

impl Kind {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Bank => "bank",
            Self::Virtual => "virtual",
            Self::Wallet => "wallet",
        }
    }
}

/// How a payment of a brand gets its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flow {
    /// At once.
    Now,
    /// Later: the shopper leaves for the brand's page, in the same window, and comes back.
    Redirect,
    /// Later: the brand's page opens in a window of its own, and the shop's page stays.
    Popup,
}

impl Flow {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Redirect => "redirect",
            Self::Popup => "popup",
        }
    }
}

/// A brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brand {
    /// What `paymentBrand` says: letters, digits and underscores.
    pub code: &'static str,
    /// What shoppers know it as.
    pub name: &'static str,
    /// What it charges.
    pub kind: Kind,
    /// Where the shopper is until there is an answer.
    pub flow: Flow,
    /// How the money moves.
    pub method: Method,
    /// The form in which the shopper pays.
    pub form: FormKind,
    /// What the form asks for, by the keys of its fields, in order; empty for a brand that has a button alone. A key that
    /// ends with `?` may stay empty. Card forms have fields of their own.
    pub fields: &'static [&'static str],
    /// Fields that the merchant may switch on, by the same keys.
    pub extras: &'static [&'static str],
    /// How its numbers look, for cards of a known scheme.
    pub scheme: Option<&'static Scheme>,
}

impl Brand {
    /// Finds a brand by its code.
    pub fn find(code: &str) -> Option<&'static Self> {
        let index = table::BRANDS.binary_search_by(|brand| brand.code.cmp(code)).ok()?;
        table::BRANDS.get(index)
    }

    /// Finds a card brand by its code. The frames of the form use this one: it leaves the other brands out of the
    /// program.
    pub fn find_card(code: &str) -> Option<&'static Self> {
        table::CARDS.iter().find(|brand| brand.code == code)
    }

    /// Every brand, by code.
    pub fn all() -> &'static [Self] {
        &table::BRANDS
    }

    /// The cards among them, by code.
    pub fn cards() -> &'static [Self] {
        &table::CARDS
    }

    /// Whether the answer is there at once.
    pub fn synchronous(&self) -> bool {
        self.flow == Flow::Now
    }

    /// Whether a card number can be this brand's. Only a brand that has ranges of its own refuses numbers outside of
    /// them; cards of regional programmes are issued on the ranges of the big schemes.
    pub fn accepts(&self, digits: &str) -> bool {
        self.scheme.is_none_or(|scheme| scheme.elsewhere == Elsewhere::Anywhere || scheme.rank(digits) > 0)
    }

    /// How many digits its card numbers can have, ascending.
    pub fn number_lengths(&self) -> &'static [u8] {
        self.scheme.map_or(scheme::ANY_LENGTH, |scheme| scheme.number_lengths)
    }

    /// How many digits its security codes can have, ascending.
    pub fn code_lengths(&self) -> &'static [u8] {
        self.scheme.map_or(&[3, 4], |scheme| scheme.code_lengths)
    }

    /// Whether there are cards of this brand without a security code.
    pub fn code_optional(&self) -> bool {
        self.scheme.is_some_and(|scheme| scheme.code_optional)
    }

    /// Returns the side of the card that bears the security code.
    pub fn code_position(&self) -> CodePosition {
        self.scheme.map_or(CodePosition::Back, |scheme| scheme.code_position)
    }

    /// Returns the family of commerce indicators that its 3-D Secure authentications end with.
    pub fn eci_family(&self) -> EciFamily {
        self.scheme.map_or(EciFamily::Visa, |scheme| scheme.eci_family)
    }

    /// Returns true if its form cannot be sent without the field of this key.
    pub fn requires_field(&self, key: &str) -> bool {
        self.fields.contains(&key)
    }
}

/// The brands among the given ones that a card number can belong to, also while it is typed; the most specific first,
/// and those that fit equally well in the order given. Nothing typed belongs to nobody.
pub fn detect(digits: &str, among: &[&'static Brand]) -> impl Iterator<Item = &'static Brand> {
    (1..=scheme::BEST).rev().flat_map(move |rank| {
        among.iter().copied().filter(move |brand| {
            brand.scheme.is_some_and(|scheme| !scheme.is_too_long(digits) && scheme.rank(digits) == rank)
        })
    })
}

/// How many digits stand together when a card number is shown. The groups cover nineteen digits or the scheme's
/// length; a shorter number ends within a group.
pub fn groups(digits: &str) -> &'static [u8] {
    let is = |scheme: &Scheme| !scheme.is_too_long(digits) && scheme.rank(digits) > 3;
    if is(&scheme::AMEX) {
        &[4, 6, 5]
    } else if digits.len() <= 14 && is(&scheme::DINERS) {
        &[4, 6, 4]
    } else {
        &[4, 4, 4, 4, 3]
    }
}

#[cfg(test)]
mod tests;
