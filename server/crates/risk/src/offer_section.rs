//! Reader of the `[[offer]]` sections of a rules file.

use tillgate_shared::brand::{Brand, FormKind};
use toml::de::{DeTable, DeValue};

use super::condition::{ConditionScope, Symbols};
use super::fact::suggest_among;
use super::offer::{Offer, OfferEffect};
use super::rules_file::{FileReader, TomlValue, describe_type};

impl FileReader<'_> {
    /// Reads an offer. `symbols` are the facts of all offers.
    pub(super) fn read_offer(&mut self, value: &TomlValue<'_>, symbols: &mut Symbols) -> Option<Offer> {
        let at = value.span().start;
        let DeValue::Table(table) = value.get_ref() else {
            self.add_error(at, format!("an offer is a table, and this is {}", describe_type(value.get_ref())));
            return None;
        };
        self.check_keys(table, &["name", "note", "when", "hide", "only"], "an offer");
        let name = self.read_name(at, table.get("name"));
        let note = table.get("note").and_then(|value| self.read_note(value));
        let condition = self.read_condition(at, table.get("when"), ConditionScope::Offer, symbols);
        let effect = self.read_offer_effect(at, table);
        Some(Offer { name: name?, note, effect: effect?, condition: condition? })
    }

    fn read_offer_effect(&mut self, at: usize, table: &DeTable<'_>) -> Option<OfferEffect> {
        match (table.get("hide"), table.get("only")) {
            (Some(hide), None) => self.read_brands(hide, "hide").map(OfferEffect::Hide),
            (None, Some(only)) => self.read_brands(only, "only").map(OfferEffect::Only),
            (Some(_), Some(only)) => {
                self.add_error(only.span().start, "an offer has either `hide` or `only`: remove one of them");
                None
            }
            (None, None) => {
                self.add_error(at, "this offer has no effect: write `hide` or `only`, such as hide = [\"PAYPAL\"]");
                None
            }
        }
    }

    /// Reads a list of brands, sorted by code, each once. Direct debits are listed under all of their codes, so that a
    /// browser cannot bring a hidden one back under the other.
    fn read_brands(&mut self, value: &TomlValue<'_>, name: &str) -> Option<Vec<&'static Brand>> {
        let at = value.span().start;
        let DeValue::Array(list) = value.get_ref() else {
            let found = describe_type(value.get_ref());
            self.add_error(at, format!("`{name}` is a list of brands, such as [\"PAYPAL\"], not {found}"));
            return None;
        };
        if list.is_empty() {
            self.add_error(at, format!("`{name}` lists no brand"));
            return None;
        }
        let mut brands: Vec<&'static Brand> =
            list.iter().map(|value| self.read_brand(value, name)).collect::<Option<_>>()?;
        if brands.iter().any(|brand| brand.form == FormKind::DirectDebit) {
            brands.extend(Brand::all().iter().filter(|brand| brand.form == FormKind::DirectDebit));
        }
        brands.sort_by_key(|brand| brand.code);
        brands.dedup();
        Some(brands)
    }

    fn read_brand(&mut self, value: &TomlValue<'_>, name: &str) -> Option<&'static Brand> {
        let code = self.read_string(value, name)?;
        let brand = Brand::find(&code);
        if brand.is_none() {
            let similar = suggest_among(&code, Brand::all().iter().map(|brand| brand.code));
            let hint = similar.map_or_else(String::new, |code| format!("; did you mean `{code}`?"));
            let shown: String = code.chars().take(super::MAX_NAME).collect();
            self.add_error(value.span().start, format!("there is no brand `{}`{hint}", shown.escape_debug()));
        }
        brand
    }
}
