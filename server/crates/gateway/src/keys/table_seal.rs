//! The seal of the store for administrators.

use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_store::keys::table_seal::acceptance::{AcceptError, AcceptedTable, ChangedTables};

use crate::administration::{ActError, Administration};

/// Largest length of a reason in characters.
const MAX_REASON: usize = 500;

impl Administration {
    /// Accepts the rows of these tables as they are, as the snapshot of `changed` has them. Card numbers in the reason
    /// are masked, because the audit log keeps it for good.
    ///
    /// # Errors
    /// If the reason is empty or too long, or the named tables are not exactly those that differ from the seal.
    pub fn accept_rows(
        &self,
        changed: &ChangedTables,
        tables: &[String],
        reason: &str,
    ) -> Result<Vec<AcceptedTable>, ActError> {
        let reason = reason.trim();
        if !(1..=MAX_REASON).contains(&reason.chars().count()) {
            return Err(ActError::refuse("reason", format!("a reason must have 1 to {MAX_REASON} characters")));
        }
        let accepted = self.store.accept_rows(changed, tables, &mask_card_numbers(reason));
        accepted.map_err(|error| match error {
            AcceptError::Store(error) => error.into(),
            AcceptError::NeedsKey => ActError::NoVault(error.into()),
            refused => ActError::refuse("table", refused.to_string()),
        })
    }
}
