//! Requests for a second person as rows, each change with its entry in the audit log.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tillgate_domain::access::approval::{ApprovalRequest, ApprovalState, PendingRefund};
use tillgate_domain::id::{ApprovalId, EntityId, PaymentId, UserId};
use tillgate_shared::money::{Amount, Currency};

use crate::admin::Act;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::error::unreadable_column;
use crate::{AdminStore, Store, StoreError};

/// Columns of a request, in the order in which [`read_request`] reads them.
const COLUMNS: &str =
    "id, entity, payment, reversal, amount, sum, currency, asker, created, state, decider, decided, outcome";

fn read_request(row: &Row<'_>) -> rusqlite::Result<ApprovalRequest> {
    let text = |column: usize| row.get::<_, String>(column);
    let code = text(6)?;
    let currency = Currency::parse(&code).ok_or_else(|| unreadable_column(6, "currency"))?;
    let amount = |column: usize| -> rusqlite::Result<Amount> {
        Amount::from_hundredths(row.get(column)?, currency).ok_or_else(|| unreadable_column(column, "amount"))
    };
    let decider: Option<String> = row.get(10)?;
    Ok(ApprovalRequest {
        id: ApprovalId::parse(&text(0)?).ok_or_else(|| unreadable_column(0, "id of a request"))?,
        entity: EntityId::parse(&text(1)?).ok_or_else(|| unreadable_column(1, "id of an entity"))?,
        refund: PendingRefund {
            payment: PaymentId::parse(&text(2)?).ok_or_else(|| unreadable_column(2, "id of a payment"))?,
            is_reversal: row.get(3)?,
            amount: amount(4)?,
            sum: amount(5)?,
        },
        asker: UserId::parse(&text(7)?).ok_or_else(|| unreadable_column(7, "id of a user"))?,
        created: timestamp_from_milliseconds(row.get(8)?),
        stored_state: ApprovalState::parse(&text(9)?).ok_or_else(|| unreadable_column(9, "state"))?,
        decider: decider.and_then(|id| UserId::parse(&id)),
        decided: row.get::<_, Option<i64>>(11)?.map(timestamp_from_milliseconds),
        outcome: text(12)?,
    })
}

fn load_request(connection: &Connection, id: &ApprovalId) -> Result<Option<ApprovalRequest>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM approval WHERE id = ?1"))?;
    Ok(statement.query_row([id.as_str()], read_request).optional()?)
}

impl Store {
    /// Loads a request. Returns `None` if there is none with this id.
    pub fn load_approval(&self, id: &ApprovalId) -> Result<Option<ApprovalRequest>, StoreError> {
        self.run_read(|connection| load_request(connection, id))
    }

    /// Loads the requests of some entities, the latest first, at most `limit` of each entity: those that are open and
    /// were made after `since`, or all others.
    pub fn load_approvals(
        &self,
        entities: &[EntityId],
        is_open: bool,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<ApprovalRequest>, StoreError> {
        let compared =
            if is_open { "state = 'open' AND created > ?2" } else { "NOT (state = 'open' AND created > ?2)" };
        let query =
            format!("SELECT {COLUMNS} FROM approval WHERE entity = ?1 AND {compared} ORDER BY created DESC LIMIT ?3");
        let mut found = self.run_read(|connection| {
            let mut statement = connection.prepare_cached(&query)?;
            let mut found = Vec::new();
            for entity in entities {
                let rows =
                    statement.query_map(params![entity.as_str(), since.as_millisecond(), limit], read_request)?;
                for row in rows {
                    found.push(row?);
                }
            }
            Ok(found)
        })?;
        found.sort_by(|one, other| (other.created, &other.id).cmp(&(one.created, &one.id)));
        Ok(found)
    }
}

impl AdminStore {
    /// Loads a request. Returns `None` if there is none with this id.
    pub fn load_approval(&self, id: &ApprovalId) -> Result<Option<ApprovalRequest>, StoreError> {
        load_request(&self.connection, id)
    }

    /// Loads the request that a form of a user has made. Returns `None` if there is none.
    pub fn load_approval_of_form(&self, asker: &UserId, form: &str) -> Result<Option<ApprovalRequest>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM approval WHERE asker = ?1 AND form = ?2");
        let mut statement = self.connection.prepare_cached(&query)?;
        Ok(statement.query_row([asker.as_str(), form], read_request).optional()?)
    }

    /// Counts the requests of an entity that are open and were made after `since`.
    pub fn count_open_approvals(&self, entity: &EntityId, since: Timestamp) -> Result<u64, StoreError> {
        let query = "SELECT count(*) FROM approval WHERE entity = ?1 AND state = 'open' AND created > ?2";
        let mut statement = self.connection.prepare_cached(query)?;
        let count: i64 = statement.query_row(params![entity.as_str(), since.as_millisecond()], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Adds a request.
    pub fn add_approval(&self, request: &ApprovalRequest, form: &str) -> Result<(), StoreError> {
        let ApprovalRequest { id, entity, refund, asker, created, .. } = request;
        let (sum, code) = (refund.sum.hundredths(), refund.amount.currency().code());
        self.record_approval(request, "approval request", |connection| {
            connection.execute(
                "INSERT INTO approval (id, entity, payment, reversal, amount, sum, currency, asker, form, created, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'open')",
                params![
                    id.as_str(),
                    entity.as_str(),
                    refund.payment.as_str(),
                    refund.is_reversal,
                    refund.amount.hundredths(),
                    sum,
                    code,
                    asker.as_str(),
                    form,
                    created.as_millisecond()
                ],
            )?;
            Ok(())
        })
    }

    /// Writes a decision about an open request, with its entry.
    pub fn decide_approval(
        &self,
        request: &ApprovalRequest,
        state: ApprovalState,
        (decider, at): (&UserId, Timestamp),
        outcome: &str,
    ) -> Result<(), StoreError> {
        let action = match state {
            ApprovalState::Approved => "approval approve",
            ApprovalState::Declined => "approval decline",
            ApprovalState::Withdrawn | ApprovalState::Open | ApprovalState::Expired => "approval withdraw",
        };
        self.record_approval(request, action, |connection| {
            connection.execute(
                "UPDATE approval SET state = ?2, decider = ?3, decided = ?4, outcome = ?5 WHERE id = ?1",
                params![request.id.as_str(), state.as_str(), decider.as_str(), at.as_millisecond(), outcome],
            )?;
            Ok(())
        })
    }

    /// Writes the result of a refund that was approved.
    pub fn set_approval_outcome(&self, id: &ApprovalId, outcome: &str) -> Result<(), StoreError> {
        self.connection.execute("UPDATE approval SET outcome = ?2 WHERE id = ?1", [id.as_str(), outcome])?;
        Ok(())
    }

    /// Runs a change of a request, and writes its entry, which names the user who asked beside the one who acts.
    fn record_approval(
        &self,
        request: &ApprovalRequest,
        action: &'static str,
        change: impl FnOnce(&Connection) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let refund = &request.refund;
        let amount = format!("{} {}", refund.amount, refund.amount.currency().code());
        let details = [
            ("act", if refund.is_reversal { "reversal" } else { "refund" }),
            ("payment", refund.payment.as_str()),
            ("amount", &amount),
            ("asker", request.asker.as_str()),
        ];
        let act = Act { action, subject: request.id.as_str(), entity: Some(&request.entity), details: &details };
        self.record_act(&act, change)
    }
}
