//! Scopes of access tokens: the kinds of requests that a token may make. The scope of a payment type is in its row
//! ([`PaymentType`]).

use std::fmt;
use std::str::FromStr;

use tillgate_shared::parameter::Parameters;

use crate::payment::PaymentType;
use crate::refusal::Refusal;

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

/// Beginning of the parameters that set the payment type for a brand.
pub const TYPE_OF_BRAND: &str = "overridePaymentType[";

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

    /// Returns the scope that a request with these parameters needs on a route with this scope. It is [`Self::Refund`]
    /// on a route of [`Self::Pay`] if any payment type in the parameters pays out money, and otherwise the route's own.
    #[must_use]
    pub fn for_parameters(self, parameters: &Parameters) -> Self {
        let pays_out = payment_types(parameters).any(|payment_type| payment_type.scope() == Self::Refund);
        if self == Self::Pay && pays_out { Self::Refund } else { self }
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| "a scope is read, pay, refund, admin or review".to_owned())
    }
}

/// Returns the payment types that parameters name: in `paymentType` and for each brand. Unknown ones are left out.
fn payment_types(parameters: &Parameters) -> impl Iterator<Item = PaymentType> {
    let of_brands = parameters.with_prefix(TYPE_OF_BRAND).map(|(_, code)| code);
    parameters.get("paymentType").into_iter().chain(of_brands).filter_map(PaymentType::parse)
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

    /// Checks that a payment of this type may be made. It is the type that runs, however the request names it.
    ///
    /// # Errors
    /// 403 with the name of the missing scope.
    pub fn check_payment_type(self, payment_type: PaymentType) -> Result<(), Refusal> {
        let needed = payment_type.scope();
        if self.allows(needed) { Ok(()) } else { Err(Refusal::missing_scope(needed)) }
    }

    /// Checks that every payment may be made that a checkout with these parameters can lead to.
    ///
    /// # Errors
    /// 403 with the name of the missing scope.
    pub fn check_checkout(self, parameters: &Parameters) -> Result<(), Refusal> {
        payment_types(parameters).try_for_each(|payment_type| self.check_payment_type(payment_type))
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
    use crate::access::scope::*;

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for bits in 0..32_u8 {
            let scopes: Scopes = Scope::ALL.into_iter().filter(|scope| bits & (1 << *scope as u8) != 0).collect();
            assert_eq!(Scopes::parse(&scopes.to_string()), scopes);
        }
        assert_eq!(Scopes::parse("read,later"), Scopes::from_iter([Scope::Read]));
    }

    #[test]
    fn only_a_paying_route_asks_for_another_scope_by_any_payment_type_of_the_request() {
        for scope in Scope::ALL {
            for payment_type in PaymentType::ALL {
                let code = payment_type.code();
                let pays_out = !["PA", "DB", "PA.CP", "CP"].contains(&code);
                let needed = if scope == Scope::Pay && pays_out { Scope::Refund } else { scope };
                for name in ["paymentType", "overridePaymentType[VISA]", "overridePaymentType[UNKNOWN]"] {
                    let parameters = [("paymentType", "DB"), (name, code)].into_iter().collect();
                    assert_eq!(scope.for_parameters(&parameters), needed, "{name}={code}");
                    let allowed = Scopes::from_iter([Scope::Pay]).check_checkout(&parameters).is_ok();
                    assert_eq!(allowed, !pays_out, "{name}={code}");
                }
            }
            for code in ["rf", "", "SD"] {
                assert_eq!(scope.for_parameters(&[("paymentType", code)].into_iter().collect()), scope);
            }
        }
    }
}
