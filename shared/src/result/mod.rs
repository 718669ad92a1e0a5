//! Result codes: the values of `result.code`. The table with our own descriptions is `resultcodes.csv`; the groups for
//! clients follow from the code alone.

pub mod codes;
mod group;

use std::fmt;
use std::sync::LazyLock;

pub use group::{ResultGroup, classify_code};

/// A known result code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultCode(&'static str);

/// Code and description, sorted by code.
static TABLE: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let rows = include_str!("../../resultcodes.csv").lines().skip(1);
    let mut table: Vec<(&str, &str)> = rows
        .filter_map(|row| {
            let mut columns = row.splitn(3, ';');
            Some((columns.next()?, columns.nth(1)?))
        })
        .collect();
    table.sort_unstable();
    table
});

/// Finds the row of a documented code. `None` for other codes, including undocumented chargebacks.
fn find_row(code: &str) -> Option<&'static (&'static str, &'static str)> {
    let index = TABLE.binary_search_by(|(known, _)| (*known).cmp(code)).ok()?;
    TABLE.get(index)
}

/// All chargeback codes, `000.100.200` to `000.100.299`. Acquirers use more of them than are documented.
static CHARGEBACKS: LazyLock<Vec<String>> = LazyLock::new(|| (0..100).map(|n| format!("000.100.2{n:02}")).collect());

/// Description of a chargeback code that is not documented.
const OTHER_CHARGEBACK: &str = "Chargeback: the bank gives a reason of its own";

impl ResultCode {
    /// Finds a documented code or any chargeback code. Returns `None` for anything else.
    pub fn find(code: &str) -> Option<Self> {
        find_row(code).map(|(code, _)| Self(code)).or_else(|| {
            let index = CHARGEBACKS.binary_search_by(|known| known.as_str().cmp(code)).ok()?;
            CHARGEBACKS.get(index).map(|code| Self(code))
        })
    }

    /// Returns all documented codes, ascending.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(code, _)| Self(code))
    }

    /// Returns the code, such as `000.100.110`.
    pub fn code(&self) -> &'static str {
        self.0
    }

    /// Returns its meaning, at most 255 characters. All undocumented chargebacks have the same.
    pub fn description(&self) -> &'static str {
        find_row(self.0).map_or(OTHER_CHARGEBACK, |(_, description)| description)
    }

    /// Returns its group.
    pub fn group(&self) -> ResultGroup {
        classify_code(self.0)
    }

    /// Returns true if the request succeeded: the money moved or is reserved, even if the merchant should review it.
    pub fn is_success(&self) -> bool {
        matches!(self.group(), ResultGroup::Success | ResultGroup::SuccessReview)
    }

    /// Returns true if there is no result yet.
    pub fn is_pending(&self) -> bool {
        matches!(self.group(), ResultGroup::Pending | ResultGroup::PendingLong)
    }

    /// Returns true if the request succeeded and the merchant should review it.
    pub fn is_review(&self) -> bool {
        self.group() == ResultGroup::SuccessReview
    }
}

impl fmt::Debug for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests;
