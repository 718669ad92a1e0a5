//! Prices of the shop, in whole euro cents. The shop sells in euro only, so prices have no currency.

use crate::texts::Lang;

/// An amount in euro cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cents(pub u32);

impl Cents {
    /// Returns the price of `quantity` pieces. Saturates, far above the shop's prices and quantities.
    pub fn times(self, quantity: u32) -> Self {
        Self(self.0.saturating_mul(quantity))
    }

    /// Formats the amount for the gateway: `92.00`.
    pub fn to_amount_text(self) -> String {
        format!("{}.{:02}", self.0 / 100, self.0 % 100)
    }

    /// Formats the amount for a reader of `lang`: `€92.00`, `92,00 €`.
    pub fn format_for(self, lang: Lang) -> String {
        match lang {
            Lang::En => format!("€{}.{:02}", self.0 / 100, self.0 % 100),
            Lang::De => format!("{},{:02}\u{a0}€", self.0 / 100, self.0 % 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_are_written_for_the_wire_and_for_people() {
        assert_eq!(Cents(9205).to_amount_text(), "92.05");
        assert_eq!(Cents(5).to_amount_text(), "0.05");
        assert_eq!(Cents(9205).format_for(Lang::En), "€92.05");
        assert_eq!(Cents(9205).format_for(Lang::De), "92,05\u{a0}€");
        assert_eq!(Cents(3650).times(3), Cents(10950));
    }
}
