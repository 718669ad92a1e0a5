//! Fees: rates by event, brand and currency, with percentage, fixed part, minimum and tiers.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use tillgate_shared::money::{Amount, Currency};

use super::terms::{check_percent, round_amount, to_decimal};
use crate::settlement::reconciliation::TransactionType;

/// The event that a fee is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeeEvent {
    /// A debit or a capture. Its fee is on the line of the payment.
    Charge,
    /// A preauthorization.
    Authorization,
    /// A capture, in addition to the fee of the charge.
    Capture,
    /// A reversal.
    Cancel,
    /// A refund.
    Refund,
    /// A month, with its first settlement.
    Monthly,
    /// A month of a submerchant.
    Submerchant,
    /// A month of a payment facilitator.
    PaymentFacilitator,
}

impl FeeEvent {
    /// Events of a month.
    pub const PERIODIC: [Self; 3] = [Self::Monthly, Self::Submerchant, Self::PaymentFacilitator];

    /// Returns the transaction type of the record of a fee. `None` for a charge, whose fee is on the payment's line.
    pub fn transaction_type(self) -> Option<TransactionType> {
        match self {
            Self::Charge => None,
            Self::Authorization => Some(TransactionType::AuthFee),
            Self::Capture => Some(TransactionType::CaptureFee),
            Self::Cancel => Some(TransactionType::CancelFee),
            Self::Refund => Some(TransactionType::RefundFee),
            Self::Monthly => Some(TransactionType::Monthly),
            Self::Submerchant => Some(TransactionType::Submerchant),
            Self::PaymentFacilitator => Some(TransactionType::PaymentFacilitator),
        }
    }
}

/// A rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeRule {
    /// The event.
    pub on: FeeEvent,
    /// Code of the brand. `None` for every brand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// Code of the payment's currency. `None` for every currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Percentage of the settled amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<Decimal>,
    /// A fixed part, in the currency of the settlement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Decimal>,
    /// The least fee, in the currency of the settlement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Decimal>,
    /// Percentages for higher monthly volumes, lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<FeeTier>,
}

/// A percentage for payments after a volume of the month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeTier {
    /// The settled volume of the rule in this month from which the percentage applies, in the settlement's currency.
    pub from: Decimal,
    /// The percentage.
    pub percent: Decimal,
}

impl FeeRule {
    /// Checks the rule. `settlement` is the currency of all payouts, if there is one. Fails with a message that names
    /// the key at fault.
    pub(super) fn check(&self, settlement: Option<&str>) -> Result<(), String> {
        let is_periodic = FeeEvent::PERIODIC.contains(&self.on);
        if let Some(currency) = &self.currency {
            Currency::parse(currency).ok_or_else(|| format!("currency: {currency} is not a currency of ISO 4217"))?;
        }
        if self.percent.is_none() && self.fixed.is_none() && self.minimum.is_none() {
            return Err("needs percent, fixed or minimum".to_owned());
        }
        if let Some(percent) = self.percent {
            check_percent("percent", percent)?;
        }
        let has_more =
            self.percent.is_some() || self.minimum.is_some() || self.brand.is_some() || !self.tiers.is_empty();
        if is_periodic && has_more {
            return Err("a fee for a month has only fixed and currency".to_owned());
        }
        for (key, value) in [("fixed", self.fixed), ("minimum", self.minimum)] {
            let Some(value) = value else { continue };
            let currency = settlement.or(self.currency.as_deref()).and_then(Currency::parse);
            let Some(currency) = currency else {
                return Err(format!("{key}: needs the currency of the rule or of the settlement"));
            };
            if value <= Decimal::ZERO || round_amount(value, currency).map(to_decimal) != Some(value) {
                return Err(format!("{key}: must be above 0 and an amount in {currency}"));
            }
        }
        if self.tiers.iter().any(|tier| tier.from <= Decimal::ZERO)
            || !self.tiers.is_sorted_by(|one, next| one.from < next.from)
        {
            return Err("tiers: from must be above 0 and rise from tier to tier".to_owned());
        }
        self.tiers.iter().try_for_each(|tier| check_percent("tiers.percent", tier.percent))
    }

    /// Returns the name by which the volume of the rule in a settlement currency is kept. It does not depend on the
    /// place of the rule, so that other rules may be added during a month.
    pub fn volume_name(&self, settlement: Currency) -> String {
        let Self { on, brand, currency, .. } = self;
        format!("{on:?} {} {} {settlement}", brand.as_deref().unwrap_or("*"), currency.as_deref().unwrap_or("*"))
    }

    /// Returns true if the rule is for an event of a payment. `brand` is `None` for a fee without a payment.
    pub fn applies_to(&self, on: FeeEvent, brand: Option<&str>, currency: Currency) -> bool {
        self.on == on
            && self.brand.as_deref().is_none_or(|own| Some(own) == brand)
            && self.currency.as_deref().is_none_or(|own| own == currency.code())
    }

    /// Computes the fee for a settled amount. `volume` is the rule's volume in this month before the payment, in
    /// hundredths. The fee may be higher than the amount.
    pub fn compute_fee(&self, settled: Amount, volume: i64) -> Option<Amount> {
        let volume = Decimal::new(volume, 2);
        let tier = self.tiers.iter().rev().find(|tier| tier.from <= volume);
        let percent = tier.map(|tier| tier.percent).or(self.percent).unwrap_or_default();
        let part = to_decimal(settled).checked_mul(percent)?.checked_div(Decimal::ONE_HUNDRED)?;
        let fee = part.checked_add(self.fixed.unwrap_or_default())?.max(self.minimum.unwrap_or_default());
        round_amount(fee, settled.currency())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn fee(rule: &str, settled: &str, volume: i64) -> String {
        let rule: FeeRule = toml::from_str(rule).unwrap();
        let euro = Currency::parse("EUR").unwrap();
        rule.compute_fee(Amount::parse(settled, euro).unwrap(), volume).unwrap().to_string()
    }

    #[test]
    fn a_fee_is_a_percentage_and_a_fixed_part_and_at_least_its_minimum() {
        let rule = "on = \"charge\"\npercent = \"1.4\"\nfixed = \"0.10\"\nminimum = \"0.25\"";
        assert_eq!(fee(rule, "92.00", 0), "1.39");
        assert_eq!(fee(rule, "1.00", 0), "0.25");
        assert_eq!(fee(rule, "0.00", 0), "0.25");
    }

    #[test]
    fn a_tier_applies_once_the_volume_of_the_month_has_reached_it() {
        let rule = "on = \"charge\"\npercent = \"2\"\ntiers = [{ from = \"100\", percent = \"1.5\" }, { from = \"1000\", percent = \"1\" }]";
        assert_eq!(fee(rule, "100.00", 9_999), "2.00");
        assert_eq!(fee(rule, "100.00", 10_000), "1.50");
        assert_eq!(fee(rule, "100.00", 100_000), "1.00");
    }

    #[test]
    fn volumes_of_two_currencies_are_not_added() {
        let rule: FeeRule = toml::from_str("on = \"charge\"\npercent = \"2\"").unwrap();
        let name = |code| rule.volume_name(Currency::parse(code).unwrap());
        assert_ne!(name("EUR"), name("JPY"));
    }
}
