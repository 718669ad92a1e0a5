//! The only customer of the demo: she is signed in, and her address is known.

/// Given name.
pub const GIVEN_NAME: &str = "Jane";
/// Surname.
pub const SURNAME: &str = "Jones";
/// The address of her account, to which orders are delivered.
pub const HOME: Address = Address { street: "Lange Reihe 12", city: "Hamburg", postcode: "20099", country: "DE" };
/// The address for the delivery of a suspicious order.
const ABROAD: Address = Address { street: "12 Harbor Street", city: "Portland", postcode: "04101", country: "US" };

/// A postal address.
pub struct Address {
    /// Street and number.
    pub street: &'static str,
    /// City.
    pub city: &'static str,
    /// Postcode.
    pub postcode: &'static str,
    /// Country code.
    pub country: &'static str,
}

/// Returns the e-mail address of an order. That of a suspicious one is disposable.
pub fn email(suspicious: bool) -> &'static str {
    if suspicious { "jane@trash.example" } else { "jane.jones@example.com" }
}

/// Returns the address of the delivery. That of a suspicious order is in another country than the bill.
pub fn delivery(suspicious: bool) -> &'static Address {
    if suspicious { &ABROAD } else { &HOME }
}
