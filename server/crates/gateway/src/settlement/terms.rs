//! The terms by which sandboxes are settled, and rates of exchange.

use jiff::civil::Date;
use rust_decimal::Decimal;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::SettlementTerms;
use tillgate_shared::money::Currency;

use crate::administration::{ActError, Administration};

/// Largest rate that is accepted.
const MAX_RATE: u32 = 1_000_000;

/// A rate of exchange: the number of units of the second currency for one unit of the first one, from a day on.
pub type DatedRate = (Currency, Currency, Date, Decimal);

impl Administration {
    /// Stores the terms of an entity, which apply from its next batch. `None` removes them, so that the terms of the
    /// entity above apply.
    ///
    /// # Errors
    /// If there is no such entity, or it is live and would get terms.
    pub fn set_settlement_terms(&self, entity: &EntityId, terms: Option<&SettlementTerms>) -> Result<Entity, ActError> {
        let entity = self.load_entity(entity)?;
        if terms.is_some() && entity.live {
            let message = format!(
                "{} is live: its institute settles it, and terms for a sandbox would have no effect. Import the \
                 institute's settlement files instead",
                entity.id
            );
            return Err(ActError::refuse("entity", message));
        }
        self.store.save_settlement_terms(&entity.id, terms)?;
        Ok(entity)
    }

    /// Loads the own terms of an entity. `None` if the terms of an entity above apply.
    pub fn load_settlement_terms(&self, entity: &EntityId) -> Result<Option<SettlementTerms>, ActError> {
        Ok(self.store.load_settlement_terms(entity)?)
    }

    /// Stores rates of exchange, all or none. A rate of the same currencies and day replaces the earlier one.
    pub fn save_fx_rates(&self, rates: &[DatedRate]) -> Result<(), ActError> {
        Ok(self.store.in_transaction(|store| store.save_fx_rates(rates))?)
    }
}

/// Reads a CSV file with the columns date, from, to and rate. `name` names it in error texts.
///
/// # Errors
/// If the first line or any other line is wrong.
pub fn parse_fx_rates(text: &str, name: &str) -> Result<Vec<DatedRate>, ActError> {
    let refuse = |message: String| ActError::refuse("file", message);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| refuse(error.to_string()))?;
    if !headers.iter().eq(["date", "from", "to", "rate"]) {
        return Err(refuse(format!("{name}: the first line must be date,from,to,rate")));
    }
    let mut rates = Vec::new();
    for (number, line) in (2..).zip(reader.records()) {
        let rate = line.map_err(|error| error.to_string()).and_then(|line| parse_rate(&line));
        rates.push(rate.map_err(|error| refuse(format!("{name}, line {number}: {error}")))?);
    }
    Ok(rates)
}

/// Parses a line with a rate. Fails with a message that names the column.
fn parse_rate(line: &csv::StringRecord) -> Result<DatedRate, String> {
    let column = |index| line.get(index).unwrap_or_default().trim();
    let date = column(0).parse().map_err(|_| "date: must be yyyy-MM-dd".to_owned())?;
    let currency = |name: &str, text: &str| {
        Currency::parse(text).ok_or_else(|| format!("{name}: {text} is no currency of ISO 4217"))
    };
    let (from, to) = (currency("from", column(1))?, currency("to", column(2))?);
    let rate: Decimal = column(3).parse().map_err(|_| "rate: must be a number such as 0.8641".to_owned())?;
    if rate <= Decimal::ZERO || rate > Decimal::from(MAX_RATE) || from == to {
        return Err("rate: must be above 0, at most 1000000, and between two currencies".to_owned());
    }
    Ok((from, to, date, rate))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_wrong_line_is_refused_with_its_place() {
        let head = "date,from,to,rate\n2026-11-01,USD,EUR,0.8641\n";
        assert_eq!(parse_fx_rates(head, "rates.csv").unwrap().len(), 1);
        for (line, message) in [
            ("01.11.2026,USD,EUR,1", "rates.csv, line 3: date: must be yyyy-MM-dd"),
            ("2026-11-01,XXY,EUR,1", "rates.csv, line 3: from: XXY is no currency of ISO 4217"),
            (
                "2026-11-01,USD,USD,1",
                "rates.csv, line 3: rate: must be above 0, at most 1000000, and between two currencies",
            ),
            (
                "2026-11-01,USD,EUR,0",
                "rates.csv, line 3: rate: must be above 0, at most 1000000, and between two currencies",
            ),
        ] {
            assert_eq!(parse_fx_rates(&format!("{head}{line}\n"), "rates.csv").unwrap_err().to_string(), message);
        }
        let error = parse_fx_rates("day,from,to,rate\n", "rates.csv").unwrap_err();
        assert_eq!(error.to_string(), "rates.csv: the first line must be date,from,to,rate");
    }
}
