//! The amount of the checkout, as the pay button shows it.

/// The place of the amount in a text.
pub const PLACE: &str = "{amount}";

/// The amount of a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownAmount {
    /// Amount and currency as the gateway compares them, such as `92.00 EUR`.
    pub exact: String,
    /// The same in the format of the form's language.
    pub text: String,
}
