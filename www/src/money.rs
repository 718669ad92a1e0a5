//! Prices of the shop: whole euro cents. The shop sells in euro only, so a currency is not carried along.

use crate::texts::Lang;

/// An amount in euro cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cents(pub u32);

impl Cents {
    /// The price of `quantity` pieces. Saturates, which the shop's prices and quantities are far from.
    pub fn times(self, quantity: u32) -> Self {
        Self(self.0.saturating_mul(quantity))
    }

    /// As the gateway writes amounts: `92.00`.
    pub fn wire(self) -> String {
        format!("{}.{:02}", self.0 / 100, self.0 % 100)
    }

    /// As a reader of `lang` writes amounts: `€92.00`, `92,00 €`.
    pub fn shown(self, lang: Lang) -> String {
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
        assert_eq!(Cents(9205).wire(), "92.05");
        assert_eq!(Cents(5).wire(), "0.05");
        assert_eq!(Cents(9205).shown(Lang::En), "€92.05");
        assert_eq!(Cents(9205).shown(Lang::De), "92,05\u{a0}€");
        assert_eq!(Cents(3650).times(3), Cents(10950));
    }
}
