//! Result codes: what came of a request, as `result.code` says it. The table with our own words is
//! `resultcodes.csv`; the groups that clients branch on follow from the code alone.

pub mod codes;
mod group;

use std::fmt;
use std::sync::LazyLock;

pub use group::{Group, group};

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

fn row(code: &str) -> Option<&'static (&'static str, &'static str)> {
    let index = TABLE.binary_search_by(|(known, _)| (*known).cmp(code)).ok()?;
    TABLE.get(index)
}

/// Every chargeback code, `000.100.200` to `000.100.299`. Acquirers use more of them than are documented.
static CHARGEBACKS: LazyLock<Vec<String>> = LazyLock::new(|| (0..100).map(|n| format!("000.100.2{n:02}")).collect());

/// Description of a chargeback code that is not documented.
const OTHER_CHARGEBACK: &str = "Chargeback: the bank gives a reason of its own";

impl ResultCode {
    /// Finds a documented code or any chargeback code. Returns `None` for anything else.
    pub fn find(code: &str) -> Option<Self> {
        row(code).map(|(code, _)| Self(code)).or_else(|| {
            let index = CHARGEBACKS.binary_search_by(|known| known.as_str().cmp(code)).ok()?;
            CHARGEBACKS.get(index).map(|code| Self(code))
        })
    }

    /// Every documented code, ascending.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(code, _)| Self(code))
    }

    /// The code, e.g. `000.100.110`.
    pub fn code(&self) -> &'static str {
        self.0
    }

    /// What it means, at most 255 characters.
    pub fn description(&self) -> &'static str {
        row(self.0).map_or(OTHER_CHARGEBACK, |(_, description)| description)
    }

    /// Its group.
    pub fn group(&self) -> Group {
        group(self.0)
    }

    /// Whether it was done: the money moved or is reserved, also where somebody should look at it.
    pub fn is_success(&self) -> bool {
        matches!(self.group(), Group::Success | Group::SuccessReview)
    }

    /// Whether it is not decided yet.
    pub fn is_pending(&self) -> bool {
        matches!(self.group(), Group::Pending | Group::PendingLong)
    }

    /// Whether it was done and somebody should look at it.
    pub fn is_review(&self) -> bool {
        self.group() == Group::SuccessReview
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
