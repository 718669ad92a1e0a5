//! Scopes of access tokens: the kinds of requests that a token may make.

use std::fmt;
use std::str::FromStr;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Reads payments, checkouts and registrations.
    Read,
    /// Takes money and stores accounts: checkouts, payments, captures, registrations.
    Pay,
    /// Returns or pays out money: refunds, reversals, chargebacks, credits.
    Refund,
    /// Administers the entity, such as a sandbox's clock.
    Admin,
    /// Decides held payments: claims, notes, approvals and cancellations.
    Review,
}

/// Payment types that pay out money, and the reversal of a chargeback, which belongs to the same work. A stolen token
/// with the scope `pay` alone cannot send money elsewhere.
const PAY_OUT: [&str; 5] = ["RF", "RV", "CB", "CR", "CD"];

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 5] = [Self::Read, Self::Pay, Self::Refund, Self::Admin, Self::Review];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Pay => "pay",
            Self::Refund => "refund",
            Self::Admin => "admin",
            Self::Review => "review",
        }
    }

    /// Returns the scope that a request needs on a route with this scope. It is [`Self::Refund`] on a route of
    /// [`Self::Pay`] if the `paymentType` pays out money, and otherwise the route's own.
    #[must_use]
    pub fn for_payment_type(self, payment_type: Option<&str>) -> Self {
        match payment_type {
            Some(code) if self == Self::Pay && PAY_OUT.contains(&code) => Self::Refund,
            _ => self,
        }
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| "a scope is read, pay, refund, admin or review".to_owned())
    }
}

/// The scopes of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Returns every scope, which is the default of a token.
    pub fn all() -> Self {
        Self::from_iter(Scope::ALL)
    }

    /// Returns true if the scope is in the set.
    pub fn allows(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Parses scopes in their stored form, names with commas. Unknown names are ignored.
    pub fn parse(text: &str) -> Self {
        text.split(',').filter_map(|word| word.parse::<Scope>().ok()).collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | (1 << scope as u8)))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Scope::ALL.into_iter().filter(|scope| self.allows(*scope)).map(Scope::as_str).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for bits in 0..32_u8 {
            let scopes: Scopes = Scope::ALL.into_iter().filter(|scope| bits & (1 << *scope as u8) != 0).collect();
            assert_eq!(Scopes::parse(&scopes.to_string()), scopes);
        }
        assert_eq!(Scopes::parse("read,later"), Scopes::from_iter([Scope::Read]));
    }

    #[test]
    fn only_a_paying_route_asks_for_another_scope_by_the_type_of_the_payment() {
        for scope in Scope::ALL {
            for kind in ["RF", "RV", "CB", "CR", "CD"] {
                let needed = if scope == Scope::Pay { Scope::Refund } else { scope };
                assert_eq!(scope.for_payment_type(Some(kind)), needed);
            }
            for kind in [None, Some("PA"), Some("DB"), Some("CP"), Some("PA.CP"), Some("rf")] {
                assert_eq!(scope.for_payment_type(kind), scope);
            }
        }
    }
}
