//! The amount of the checkout.

use super::Session;
use crate::page::amount::ShownAmount;
use crate::page::bridge;

impl Session {
    /// Returns the amount that the checkout charges, as far as the form knows. `None` without a checkout, and for one
    /// without an amount. Formatting is slow in browsers, so the last one is kept.
    pub fn amount(&self) -> Option<ShownAmount> {
        let config = self.config.borrow();
        let property = |name| config.as_ref()?.find_checkout_property(name).filter(|value| !value.is_empty());
        let (amount, currency) = (property("amount")?, property("currency")?);
        let exact = [amount, " ", currency].concat();
        let known = self.last_amount.borrow().clone();
        if known.exact == exact {
            return Some(known);
        }
        let text = bridge::format_money(amount, currency, &self.loader.read_locale()).unwrap_or_else(|| exact.clone());
        let shown = ShownAmount { exact, text };
        self.last_amount.replace(shown.clone());
        Some(shown)
    }
}
