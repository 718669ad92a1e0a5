//! Payments that begin a standing instruction in another system, from which a registration is migrated.

use jiff::civil::Date;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::standing_instruction::INITIAL_TRANSACTION;
use tillgate_shared::parameter::Parameters;

/// The first payment of a registration that is migrated from another system.
pub(super) struct MigratedPayment {
    pub(super) initial_transaction_id: String,
    pub(super) latest: Option<Date>,
}

/// Reads `recurringMigration.*`. Returns `None` if no such parameter was sent. The initial transaction is the one of
/// `standingInstruction.initialTransactionId`, or else `recurringMigration.connectorTxId1`.
///
/// # Errors
/// The missing payment type or transaction, by name.
pub(super) fn read_migration(parameters: &Parameters) -> Result<Option<MigratedPayment>, Refusal> {
    if parameters.with_prefix("recurringMigration.").next().is_none() {
        return Ok(None);
    }
    let missing = |name: &str| Refusal::invalid_parameter(name, None, "may not be empty");
    let get = |name: &str| parameters.get(&format!("recurringMigration.{name}"));
    get("paymentType").ok_or_else(|| missing("recurringMigration.paymentType"))?;
    let initial = parameters
        .get(INITIAL_TRANSACTION)
        .or_else(|| get("connectorTxId1"))
        .ok_or_else(|| missing("recurringMigration.connectorTxId1"))?;
    // The format has been checked. Only the date is needed.
    let latest = get("requestTimestamp").and_then(|text| text.get(..10)?.parse().ok());
    Ok(Some(MigratedPayment { initial_transaction_id: initial.to_owned(), latest }))
}
