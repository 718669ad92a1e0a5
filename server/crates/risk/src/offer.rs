//! Offers: the rules that decide which brands a shopper is offered, before there is a payment.

use std::fmt;

use tillgate_shared::brand::Brand;

use super::condition::{Condition, Evaluation, PrintedCondition, Symbols};
use super::{Counters, Facts, RuleSet};

/// A rule that restricts the offered brands.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Its name, unique in the file; 1 to 64 characters.
    pub name: String,
    /// Its purpose, at most 1,000 characters.
    pub note: Option<String>,
    /// Its effect.
    pub effect: OfferEffect,
    /// Its condition.
    pub(super) condition: Condition,
}

/// Effect of an offer whose condition is true. The brands are sorted by code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferEffect {
    /// These brands are not offered.
    Hide(Vec<&'static Brand>),
    /// No others than these are offered.
    Only(Vec<&'static Brand>),
}

impl fmt::Display for OfferEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, brands) = match self {
            Self::Hide(brands) => ("hide", brands),
            Self::Only(brands) => ("only", brands),
        };
        f.write_str(word)?;
        brands.iter().try_for_each(|brand| write!(f, " {}", brand.code))
    }
}

/// The offers of a file. Their facts are not those of its rules, so that neither reads what only the other needs.
#[derive(Debug, Clone, Default)]
pub struct OfferSet {
    /// Sorted by name, so that the order in the file is irrelevant.
    pub(super) offers: Vec<Offer>,
    pub(super) symbols: Symbols,
}

/// The brands that a shopper is offered, as far as offers restrict them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrandOffer {
    /// Brands that an offer hides.
    hidden: Vec<&'static Brand>,
    /// The brands of all offers with `only`. `None` if there is none.
    only: Option<Vec<&'static Brand>>,
    /// Names of the offers whose conditions are true, sorted.
    fired: Vec<String>,
}

impl BrandOffer {
    /// Returns the names of the offers that restrict the brands, sorted.
    pub fn fired(&self) -> &[String] {
        &self.fired
    }

    /// Returns true if a brand is offered.
    pub fn allows(&self, brand: &Brand) -> bool {
        !self.hides(brand) && self.only.as_ref().is_none_or(|only| only.iter().any(|other| other.code == brand.code))
    }

    /// Returns true if an offer with `hide` names a brand.
    pub fn hides(&self, brand: &Brand) -> bool {
        self.hidden.iter().any(|hidden| hidden.code == brand.code)
    }

    fn restrict(&mut self, offer: &Offer) {
        self.fired.push(offer.name.clone());
        match &offer.effect {
            OfferEffect::Hide(brands) => self.hidden.extend(brands),
            OfferEffect::Only(brands) => match &mut self.only {
                Some(only) => only.retain(|brand| brands.contains(brand)),
                None => self.only = Some(brands.clone()),
            },
        }
    }
}

impl OfferSet {
    /// Returns the offers, sorted by name.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Returns the condition of an offer in its canonical form.
    pub fn print_condition(&self, offer: &Offer) -> String {
        PrintedCondition { condition: &offer.condition, symbols: &self.symbols }.to_string()
    }
}

impl RuleSet {
    /// Returns the brands that a shopper is offered. `facts` are those that are known before there is a payment;
    /// `counters` have the payments until now.
    pub fn evaluate_offers(&self, facts: &Facts<'_>, counters: &impl Counters) -> BrandOffer {
        let OfferSet { offers, symbols } = &self.offers;
        let mut offered = BrandOffer::default();
        if offers.is_empty() {
            return offered;
        }
        let known = Evaluation::begin(symbols, facts, &self.zone).into_values();
        let mut evaluation = Evaluation::resume(symbols, facts, &self.zone, counters, known);
        for offer in offers {
            // An offer that cannot be evaluated any more restricts: a brand is hidden rather than offered by mistake.
            if evaluation.is_true(&offer.condition).unwrap_or(true) {
                offered.restrict(offer);
            }
        }
        offered
    }
}
