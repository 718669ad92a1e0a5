//! What is told of what was written, in the same commit: to the webhooks that listen, and to the address that a payment names
//! (`notificationUrl`).

use rusqlite::{Connection, params};
use tillgate_shared::result::ResultCode;

use super::StoreError;
use super::message::{self, NOTIFICATION, To};
use super::on_file::RegistrationRow;
use super::rows::PaymentRows;

/// Tells of a payment that was written. `before` is the result that it had; none where it is new. Returns whether anybody is
/// told.
pub(super) fn of_payment(
    connection: &Connection,
    payment: &PaymentRows,
    before: Option<&str>,
) -> Result<bool, StoreError> {
    let PaymentRows { entity, document, told, link, result, notification, .. } = payment;
    let document = told.as_ref().unwrap_or(document);
    let mut told = match before {
        None => publish(connection, entity, "PAYMENT CREATED", document)?,
        Some(before) if before != result.code() => publish(connection, entity, "PAYMENT UPDATED", document)?,
        Some(_) => false,
    };
    // Who asks for a payment is answered at once; what comes later has to be told, and what refers to a payment may be
    // somebody else's doing.
    let comes_later = match before {
        None => link.is_some(),
        Some(before) => was_pending(before) && !result.is_pending(),
    };
    if let Some(address) = notification.as_deref().filter(|_| comes_later) {
        message::write(connection, entity, NOTIFICATION, &To::Address(address))?;
        told = true;
    }
    Ok(told)
}

/// Whether a result as it is stored is that of a payment without an outcome.
pub(super) fn was_pending(result: &str) -> bool {
    ResultCode::find(result).is_some_and(|code| code.is_pending())
}

/// Tells of a registration that was written. Returns whether anybody is told.
pub(super) fn of_registration(
    connection: &Connection,
    registration: &RegistrationRow,
    is_new: bool,
) -> Result<bool, StoreError> {
    let what = match (is_new, registration.ended) {
        // What was rejected is not stored, and nothing that was refused becomes anything later.
        (true, _) if !registration.approved => return Ok(false),
        (true, _) => "REGISTRATION CREATED",
        (false, true) => "REGISTRATION DELETED",
        (false, false) => "REGISTRATION UPDATED",
    };
    publish(connection, &registration.entity, what, &registration.document)
}

/// Writes a message for every active webhook, of an entity or of its merchant, that tells of what this begins with. Returns
/// whether there is one.
fn publish(connection: &Connection, entity: &str, what: &str, document: &[u8]) -> Result<bool, StoreError> {
    // Two looks into an index, which is empty where nobody listens.
    let mut statement = connection.prepare_cached(
        "SELECT id FROM webhook WHERE entity = ?1 AND active AND instr(types, ?2) > 0 UNION ALL
         SELECT webhook.id FROM entity JOIN webhook ON webhook.entity = entity.merchant
             WHERE entity.id = ?1 AND active AND instr(types, ?2) > 0",
    )?;
    let mut rows = statement.query(params![entity, what.split(' ').next()])?;
    let mut told = false;
    while let Some(row) = rows.next()? {
        let webhook = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        message::write(connection, entity, what, &To::Webhook(webhook, document))?;
        told = true;
    }
    Ok(told)
}
