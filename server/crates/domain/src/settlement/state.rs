//! The state of an entity's settlements between two commits.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::id::EntityId;

/// The state of an entity's settlements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettlementState {
    /// The entity.
    pub entity: EntityId,
    /// Grows by 1 with each write, so that only one of several processes continues from a state.
    pub version: u64,
    /// Number of the last entry of the ledger that was settled.
    pub settled: i64,
    /// The latest cut-off whose batch is complete.
    pub cut_off: Timestamp,
    /// The day of the latest complete batch. A day has one batch, so a changed cut-off or time zone never gives it a
    /// second one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// The month of `volumes` and of the latest fees for a month: `2026-11`.
    pub month: String,
    /// Settled volume of the month in hundredths, by [`FeeRule::volume_name`](super::FeeRule::volume_name).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub volumes: BTreeMap<String, i64>,
    /// Reserves that are not paid out yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserves: Vec<HeldReserve>,
    /// The batch of which some parts are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenBatch>,
}

/// A part of a payout that is kept for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldReserve {
    /// The day of the batch that pays it out.
    pub until: Date,
    /// Code of its currency.
    pub currency: String,
    /// The amount.
    pub hundredths: i64,
}

/// A batch that is being written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenBatch {
    /// Its settlement cut-off.
    pub cut_off: Timestamp,
    /// The day that ends with it.
    pub day: Date,
    /// True if it is the first one of a month, which has the fees for the month.
    #[serde(default)]
    pub begins_month: bool,
    /// Number of the last entry of the ledger before the batch.
    pub begins_after: i64,
    /// Number of its last entry.
    pub ends_at: i64,
    /// The last postponed entry that the batch has tried again.
    #[serde(default)]
    pub resumed: i64,
    /// The totals of its parts so far, by the code of the settlement's currency.
    pub totals: BTreeMap<String, BatchTotals>,
}

/// Totals of a batch in one settlement currency, in hundredths and without signs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BatchTotals {
    /// Number of lines, without those that failed.
    pub lines: u64,
    /// Number of lines that failed.
    pub failed: u64,
    /// Debits and captures.
    pub charged: i64,
    /// Refunds and reversals.
    pub refunded: i64,
    /// Credits.
    pub credited: i64,
    /// Chargebacks.
    pub charged_back: i64,
    /// Reversed chargebacks.
    pub chargebacks_reversed: i64,
    /// Fees.
    pub fees: i64,
    /// The part that is kept as a reserve.
    pub reserved: i64,
    /// Earlier reserves that are paid out.
    pub released: i64,
}

impl BatchTotals {
    /// Returns the amount that is paid out; negative if the merchant owes it.
    pub fn net(&self) -> i64 {
        self.charged - self.refunded - self.credited - self.charged_back + self.chargebacks_reversed
            - self.fees
            - self.reserved
            + self.released
    }
}

impl SettlementState {
    /// Creates the state before the first settlement of an entity, whose payments begin after `cut_off`.
    pub fn new(entity: EntityId, cut_off: Timestamp) -> Self {
        Self {
            entity,
            version: 0,
            settled: 0,
            cut_off,
            day: None,
            month: String::new(),
            volumes: BTreeMap::new(),
            reserves: Vec::new(),
            open: None,
        }
    }

    /// Begins the month of a day, if it has not begun. Returns true if it begins now; the volumes then start at 0.
    pub fn begin_month(&mut self, day: Date) -> bool {
        let month = format!("{:04}-{:02}", day.year(), day.month());
        if self.month == month {
            return false;
        }
        self.month = month;
        self.volumes.clear();
        true
    }

    /// Removes and returns the reserves of a currency that are paid out on or before a day.
    pub fn release_reserves(&mut self, currency: &str, day: Date) -> i64 {
        let is_due = |reserve: &HeldReserve| reserve.currency == currency && reserve.until <= day;
        let released = self.reserves.iter().filter(|reserve| is_due(reserve)).map(|reserve| reserve.hundredths).sum();
        self.reserves.retain(|reserve| !is_due(reserve));
        released
    }
}
