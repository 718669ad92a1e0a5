//! Routing: a line takes a payment that all its rules admit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tillgate_shared::brand::Brand;
use tillgate_shared::format::amount::parse_hundredths;
use tillgate_shared::money::{Amount, Currency};

use super::config_lines::LineEntities;
use crate::line::{GroupLine, LineGroup};
use crate::{EarlierPayment, Order};

/// Digits of a card number that a rule can look at.
const BIN_LENGTH: usize = 6;

/// Facts about a payment that rules look at. Those of a follow-up payment are of the earlier payment, so that both take
/// the same lines: another host does not know the earlier payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RoutedPayment<'a> {
    /// Code of the brand.
    pub(super) brand: &'a str,
    /// First digits of the card number.
    pub(super) bin: Option<&'a str>,
    /// Amount.
    pub(super) amount: Amount,
    /// Country of the merchant.
    pub(super) country: Option<&'a str>,
    /// True if real money moves.
    pub(super) is_live: bool,
}

impl<'a> RoutedPayment<'a> {
    /// Reads the facts of an order. `country` is the country in the configuration, for merchants without one.
    pub(super) fn of_order(order: &'a Order, country: Option<&'a str>, is_live: bool) -> Self {
        let named = order.context.merchant.iter().find(|(name, _)| name == "merchant.country");
        let country = named.map(|(_, value)| value.as_str()).or(country);
        Self { brand: order.brand.code, bin: order.account.bin(), amount: order.amount, country, is_live }
    }

    /// Reads the facts of an earlier payment.
    pub(super) fn of_earlier(earlier: &'a EarlierPayment, country: Option<&'a str>, is_live: bool) -> Self {
        let country = earlier.merchant_country.as_deref().or(country);
        Self { brand: &earlier.brand, bin: earlier.bin.as_deref(), amount: earlier.amount, country, is_live }
    }
}

/// The rules of a line. A missing rule admits everything.
#[derive(Debug, Clone, Default)]
pub(super) struct LineRules {
    brands: Option<Vec<String>>,
    /// First and last numbers of ranges, in six digits.
    bins: Option<Vec<(u32, u32)>>,
    currencies: Option<Vec<Currency>>,
    min_hundredths: Option<i64>,
    max_hundredths: Option<i64>,
    countries: Option<Vec<String>>,
}

impl LineRules {
    /// Returns the brands that the line takes. `None` for all.
    pub(super) fn brands(&self) -> Option<&[String]> {
        self.brands.as_deref()
    }

    /// Sets the brands.
    pub(super) fn set_brands(&mut self, brands: Option<Vec<String>>) -> Result<(), String> {
        if let Some(brand) = brands.iter().flatten().find(|code| Brand::find_card(code).is_none()) {
            return Err(format!("{brand:?} is no brand of cards"));
        }
        self.brands = brands;
        Ok(())
    }

    /// Sets the ranges of card numbers: `51` or `222100-272099`, up to six digits.
    pub(super) fn set_bins(&mut self, bins: Option<Vec<String>>) -> Result<(), String> {
        let ranges = bins.map(|bins| {
            let read = |text: &String| {
                parse_bin_range(text).ok_or_else(|| format!("{text:?} is no range such as \"51\" or \"222100-272099\""))
            };
            bins.iter().map(read).collect::<Result<_, _>>()
        });
        self.bins = ranges.transpose()?;
        Ok(())
    }

    /// Sets the currencies.
    pub(super) fn set_currencies(&mut self, currencies: Option<Vec<String>>) -> Result<(), String> {
        let parsed = currencies.map(|codes| {
            let read = |code: &String| Currency::parse(code).ok_or_else(|| format!("{code:?} is no currency"));
            codes.iter().map(read).collect::<Result<_, _>>()
        });
        self.currencies = parsed.transpose()?;
        Ok(())
    }

    /// Sets the lowest and the highest amount, with two decimals, in the currency of the payment.
    pub(super) fn set_amounts(&mut self, min: Option<&str>, max: Option<&str>) -> Result<(), String> {
        let read =
            |text: &str| parse_hundredths(text).ok_or_else(|| format!("{text:?} is no amount such as \"92.00\""));
        self.min_hundredths = min.map(read).transpose()?;
        self.max_hundredths = max.map(read).transpose()?;
        match (self.min_hundredths, self.max_hundredths) {
            (Some(min), Some(max)) if min > max => Err("the lowest amount is above the highest".to_owned()),
            _ => Ok(()),
        }
    }

    /// Sets the countries of merchants.
    pub(super) fn set_countries(&mut self, countries: Option<Vec<String>>) -> Result<(), String> {
        let is_country = |code: &str| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        if let Some(country) = countries.iter().flatten().find(|code| !is_country(code)) {
            return Err(format!("{country:?} is no country of two capital letters"));
        }
        self.countries = countries;
        Ok(())
    }

    /// Returns true if all rules admit a payment. A rule about a fact that is not known admits nothing.
    fn allows_payment(&self, payment: &RoutedPayment<'_>) -> bool {
        let hundredths = payment.amount.hundredths();
        let bin = payment.bin.and_then(|bin| bin.get(..BIN_LENGTH)).and_then(|bin| bin.parse::<u32>().ok());
        self.brands.as_ref().is_none_or(|brands| brands.iter().any(|code| code == payment.brand))
            && self.bins.as_ref().is_none_or(|ranges| {
                bin.is_some_and(|bin| ranges.iter().any(|(first, last)| (*first..=*last).contains(&bin)))
            })
            && self.currencies.as_ref().is_none_or(|known| known.contains(&payment.amount.currency()))
            && self.min_hundredths.is_none_or(|min| hundredths >= min)
            && self.max_hundredths.is_none_or(|max| hundredths <= max)
            && self.countries.as_ref().is_none_or(|countries| {
                payment.country.is_some_and(|country| countries.iter().any(|code| code.eq_ignore_ascii_case(country)))
            })
    }
}

/// Reads a range of card numbers, and fills both ends to six digits.
fn parse_bin_range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let is_bin = |bin: &str| (1..=BIN_LENGTH).contains(&bin.len()) && bin.bytes().all(|byte| byte.is_ascii_digit());
    if !is_bin(first) || !is_bin(last) {
        return None;
    }
    let range = (format!("{first:0<BIN_LENGTH$}").parse().ok()?, format!("{last:9<BIN_LENGTH$}").parse().ok()?);
    Some(range).filter(|(first, last)| first <= last)
}

/// A line with everything that routing looks at.
#[derive(Debug)]
pub(super) struct RoutedLine {
    /// The line with its priority.
    pub(super) member: GroupLine,
    /// Name of the acquirer's system that the line leads to. Another system does not know the payments of this one.
    pub(super) system: Arc<str>,
    /// Entities whose payments the line takes.
    pub(super) entities: LineEntities,
    /// Rules about payments.
    pub(super) rules: LineRules,
}

/// The lines of a connector, with the groups that payments need.
#[derive(Debug)]
pub(super) struct RoutedLines {
    lines: Vec<RoutedLine>,
    /// Groups by the set of their lines, one bit each. A group has to live on, because it balances the load and holds
    /// the keys in use. Locked for a few instructions.
    groups: Mutex<HashMap<u32, Arc<LineGroup>>>,
}

impl RoutedLines {
    /// Makes the lines.
    pub(super) fn new(lines: Vec<RoutedLine>) -> Self {
        Self { lines, groups: Mutex::default() }
    }

    /// Returns all lines.
    pub(super) fn all(&self) -> impl Iterator<Item = &GroupLine> {
        self.lines.iter().map(|line| &line.member)
    }

    /// Returns the system of the line that should take a payment now: one that is connected, if there is one, of the
    /// first priority. The stored system of the payment comes before others. `None` if no line takes such payments.
    pub(super) fn choose_system(&self, payment: &RoutedPayment<'_>, stored: Option<&str>) -> Option<&Arc<str>> {
        let lines = self.lines.iter().filter(|line| line.takes_payment(payment));
        let order = |line: &&RoutedLine| {
            let handle = &line.member.line;
            let is_other = stored.is_some_and(|stored| *line.system != *stored);
            (!handle.can_take_request(), is_other, line.member.priority, handle.count_in_flight())
        };
        lines.min_by_key(order).map(|line| &line.system)
    }

    /// Returns the lines that take a payment, of this system if it is known. `None` if no line does.
    pub(super) fn find_group(&self, payment: &RoutedPayment<'_>, system: Option<&str>) -> Option<Arc<LineGroup>> {
        self.group_where(|line| line.takes_payment(payment) && system.is_none_or(|system| *line.system == *system))
    }

    /// Returns the lines of a system for these entities, whatever their rules say about new payments. `None` if there
    /// are none.
    pub(super) fn find_system(&self, system: &str, is_live: bool) -> Option<Arc<LineGroup>> {
        self.group_where(|line| *line.system == *system && line.entities.admit(is_live))
    }

    /// Returns true if a line takes a payment.
    pub(super) fn has_line_for(&self, payment: &RoutedPayment<'_>) -> bool {
        self.lines.iter().any(|line| line.takes_payment(payment))
    }

    fn group_where(&self, is_member: impl Fn(&RoutedLine) -> bool) -> Option<Arc<LineGroup>> {
        let members: Vec<(u32, &RoutedLine)> = (0_u32..).zip(&self.lines).filter(|(_, line)| is_member(line)).collect();
        let set = members.iter().fold(0, |set, (place, _)| set | 1_u32.checked_shl(*place).unwrap_or(0));
        if set == 0 {
            return None;
        }
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let group = groups.entry(set).or_insert_with(|| {
            Arc::new(LineGroup::new(members.into_iter().map(|(_, line)| line.member.clone()).collect()))
        });
        Some(Arc::clone(group))
    }
}

impl RoutedLine {
    fn takes_payment(&self, payment: &RoutedPayment<'_>) -> bool {
        self.entities.admit(payment.is_live) && self.rules.allows_payment(payment)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns true if rules admit a payment of this brand, BIN, amount, currency and country.
    fn allows(rules: &LineRules, brand: &str, bin: &str, amount: (&str, &str), country: Option<&str>) -> bool {
        let amount = Amount::parse(amount.0, Currency::parse(amount.1).unwrap()).unwrap();
        rules.allows_payment(&RoutedPayment { brand, bin: Some(bin), amount, country, is_live: true })
    }

    #[test]
    fn a_line_takes_a_payment_that_all_its_rules_admit() {
        let mut rules = LineRules::default();
        assert!(allows(&rules, "VISA", "411111", ("92.00", "EUR"), None));
        rules.set_brands(Some(vec!["MASTER".to_owned()])).unwrap();
        rules.set_bins(Some(vec!["51-55".to_owned(), "222100-272099".to_owned()])).unwrap();
        rules.set_currencies(Some(vec!["EUR".to_owned(), "JPY".to_owned()])).unwrap();
        rules.set_amounts(Some("1.00"), Some("100.00")).unwrap();
        rules.set_countries(Some(vec!["DE".to_owned()])).unwrap();
        let de = Some("DE");
        for bin in ["510000", "559999", "222100", "272099"] {
            assert!(allows(&rules, "MASTER", bin, ("1.00", "EUR"), de), "{bin}");
        }
        assert!(allows(&rules, "MASTER", "510000", ("100.00", "JPY"), de));
        for bin in ["500000", "560000", "222099", "272100"] {
            assert!(!allows(&rules, "MASTER", bin, ("1.00", "EUR"), de), "{bin}");
        }
        assert!(!allows(&rules, "VISA", "510000", ("1.00", "EUR"), de));
        assert!(!allows(&rules, "MASTER", "510000", ("0.99", "EUR"), de));
        assert!(!allows(&rules, "MASTER", "510000", ("100.01", "EUR"), de));
        assert!(!allows(&rules, "MASTER", "510000", ("1.00", "USD"), de));
        assert!(!allows(&rules, "MASTER", "510000", ("1.00", "EUR"), Some("AT")));
        assert!(!allows(&rules, "MASTER", "510000", ("1.00", "EUR"), None), "an unknown country");
    }

    #[test]
    fn a_range_has_up_to_six_digits_and_is_in_order() {
        assert_eq!(parse_bin_range("4"), Some((400_000, 499_999)));
        assert_eq!(parse_bin_range("51-55"), Some((510_000, 559_999)));
        for text in ["", "-", "4-", "5555555", "55-51", "4x", "4-5-6"] {
            assert_eq!(parse_bin_range(text), None, "{text}");
        }
    }
}
