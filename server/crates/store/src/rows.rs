//! Loading of aggregates from their rows, and their encoding.

use rusqlite::{Connection, OptionalExtension as _};
use tillgate_domain::id::{EntityId, PageId, PaymentId};
use tillgate_domain::payment::{EarlierState, FollowUpSummary, Payment, PaymentType};
use tillgate_domain::risk::rules::RiskState;

use super::{LoadedRecords, RecordKeys, StoreError, checkout, dispute, schedule};
use crate::access::entity;
use crate::keys::wallet;
use crate::payment::queries;
use crate::payment::shared_parameters;
use crate::registration::stored_credentials;
use crate::review::queue;
use crate::risk::counters;
use crate::risk::rules;

/// Encodes an aggregate as JSON.
pub(super) fn encode_document<T: serde::Serialize>(aggregate: &T) -> Vec<u8> {
    // Aggregates are structs of strings and numbers, which serde_json always encodes.
    #[allow(clippy::expect_used)]
    serde_json::to_vec(aggregate).expect("an aggregate is JSON")
}

/// Loads the records with these keys. Records that are not requested or not stored are `None`, empty or false.
pub(super) fn load_records(connection: &Connection, keys: &RecordKeys) -> Result<LoadedRecords, StoreError> {
    let checkout = match &keys.checkout {
        Some(id) => checkout::load_checkout(connection, id)?,
        None => None,
    };
    let entity = match &keys.entity {
        Some(id) => entity::load_entity(connection, id)?,
        None => None,
    };
    let payment = match (&keys.known_payment, &keys.payment) {
        (Some(known), _) => known.reload_payment(connection)?,
        (None, Some((entity, id))) => load_payment(connection, entity, id)?,
        (None, None) => None,
    };
    let follow_ups = match &payment {
        Some(payment) if keys.follow_ups => load_follow_ups(connection, &payment.id)?,
        _ => Vec::new(),
    };
    let reference_paid = match &keys.reference {
        Some((entity, reference)) => {
            queries::is_reference_paid(connection, entity, reference, keys.ignored_payment.as_ref())?
        }
        None => false,
    };
    let token_used = match &keys.wallet_token {
        Some(token) => wallet::is_token_used(connection, token)?,
        None => false,
    };
    let stored_credentials = stored_credentials::load_requested(connection, &keys.stored_credentials)?;
    let review = match &keys.review {
        Some(payment) => queue::load_status(connection, payment)?,
        None => None,
    };
    let risk = match &keys.risk {
        Some(keys) => rules::load_state_for_change(connection, keys)?,
        None => RiskState::default(),
    };
    let risk_counters = counters::load_rows(connection, &keys.risk_counters)?;
    let schedule = keys.schedule.as_ref().map(|id| schedule::load_schedule(connection, id)).transpose()?.flatten();
    let dispute = keys.dispute.as_ref().map(|key| dispute::load_requested(connection, key)).transpose()?.flatten();
    Ok(LoadedRecords {
        checkout,
        entity,
        payment,
        follow_ups,
        reference_paid,
        token_used,
        stored_credentials,
        review,
        risk,
        risk_counters,
        schedule,
        dispute,
    })
}

/// Loads a payment of an entity by id, with the parameters that it shares with an earlier attempt.
pub(super) fn load_payment(
    connection: &Connection,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<Payment>, StoreError> {
    shared_parameters::load_payment(connection, [entity.as_str(), id.as_str()])
}

/// Loads the state of a payment of an entity by id, from which the effects of its next write are computed.
pub(super) fn load_earlier_state(
    connection: &Connection,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<EarlierState>, StoreError> {
    shared_parameters::load_document(connection, [entity.as_str(), id.as_str()])
}

/// Loads the payment of a shopper's page, of any entity, with the parameters that it shares.
pub(super) fn load_payment_of_page(connection: &Connection, id: &PageId) -> Result<Option<Payment>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT document FROM page JOIN payment ON payment.entity = page.entity AND payment.id = page.payment
         WHERE page.id = ?1",
    )?;
    let document: Option<Vec<u8>> = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
    document.map(|document| shared_parameters::decode_payment(connection, &document)).transpose()
}

/// Loads the direct follow-up payments of a payment, oldest first. Leaves out unknown payment types.
pub(super) fn load_follow_ups(
    connection: &Connection,
    referenced: &PaymentId,
) -> Result<Vec<FollowUpSummary>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT type, hundredths, approved FROM payment_link WHERE referenced = ?1")?;
    let mut rows = statement.query([referenced.as_str()])?;
    let mut follow_ups = Vec::new();
    while let Some(row) = rows.next()? {
        let code = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let Some(payment_type) = PaymentType::parse(code) else { continue };
        follow_ups.push(FollowUpSummary { payment_type, hundredths: row.get(1)?, is_approved_or_pending: row.get(2)? });
    }
    Ok(follow_ups)
}

/// Decodes a JSON document. Validates its UTF-8 once for the whole document, not for each of its strings.
pub(super) fn decode_document<'a, T: serde::Deserialize<'a>>(document: &'a [u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(document) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(document),
    }
}
