//! Requests for a second person as rows, each change with its entry in the audit log.

use jiff::Timestamp;
use tillgate_domain::access::approval::act::ApprovalKind;
use tillgate_domain::access::approval::{ApprovalRequest, ApprovalState};
use tillgate_domain::id::{ApprovalId, EntityId, UserId};
use tillgate_engine::{Row, Session, params};

use super::approval_act::{format_act, parse_act};
use crate::admin::Act;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::{AdminStore, Store, StoreError};

/// Columns of a request, in the order in which [`read_request`] reads them.
const COLUMNS: &str = "id, entity, kind, act, asker, created, state, decider, decided, outcome";
/// Returns the condition of requests of a kind that still wait: for a decision, or for the user who asked. `?2` is the
/// time from which they have not expired. The states come first, so that an index finds them among all that have ended.
fn waiting(kind: ApprovalKind) -> &'static str {
    match kind {
        ApprovalKind::Refund | ApprovalKind::Rules => "(state = 'open' AND created > ?2)",
        ApprovalKind::Credential | ApprovalKind::Receiver => {
            "(state IN ('open', 'approved') AND CASE state WHEN 'open' THEN created ELSE decided END > ?2)"
        }
    }
}

fn read_request(row: &Row<'_>) -> tillgate_engine::Result<ApprovalRequest> {
    let text = |column: usize| row.get::<String>(column);
    let decider: Option<String> = row.get(7)?;
    Ok(ApprovalRequest {
        id: ApprovalId::parse(&text(0)?).ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of a request"))?,
        entity: EntityId::parse(&text(1)?).ok_or_else(|| tillgate_engine::Error::unreadable(1, "id of an entity"))?,
        act: parse_act(&text(2)?, &text(3)?).ok_or_else(|| tillgate_engine::Error::unreadable(3, "act"))?,
        asker: UserId::parse(&text(4)?).ok_or_else(|| tillgate_engine::Error::unreadable(4, "id of a user"))?,
        created: timestamp_from_milliseconds(row.get(5)?),
        stored_state: ApprovalState::parse(&text(6)?).ok_or_else(|| tillgate_engine::Error::unreadable(6, "state"))?,
        decider: decider.and_then(|id| UserId::parse(&id)),
        decided: row.get::<Option<i64>>(8)?.map(timestamp_from_milliseconds),
        outcome: text(9)?,
    })
}

fn load_request(session: &dyn Session, id: &ApprovalId) -> Result<Option<ApprovalRequest>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM approval WHERE id = ?1");
    Ok(session.query_optional(&query, [id.as_str()], read_request)?)
}

/// Sorts requests by their time, the latest first, and leaves out those beyond a limit.
fn keep_latest(requests: &mut Vec<ApprovalRequest>, limit: u32) {
    requests.sort_by(|one, other| (other.created, &other.id).cmp(&(one.created, &one.id)));
    requests.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
}

fn load_request_of_form(
    session: &dyn Session,
    asker: &UserId,
    form: &str,
) -> Result<Option<ApprovalRequest>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM approval WHERE asker = ?1 AND form = ?2");
    Ok(session.query_optional(&query, [asker.as_str(), form], read_request)?)
}

impl Store {
    /// Loads the request that a form of a user has made. Returns `None` if there is none.
    pub fn load_approval_of_form(&self, asker: &UserId, form: &str) -> Result<Option<ApprovalRequest>, StoreError> {
        self.run_read(|session| load_request_of_form(session, asker, form))
    }

    /// Loads a request. Returns `None` if there is none with this id.
    pub fn load_approval(&self, id: &ApprovalId) -> Result<Option<ApprovalRequest>, StoreError> {
        self.run_read(|session| load_request(session, id))
    }

    /// Loads the requests of some entities and of one kind, the latest first, at most `limit`: those that
    /// wait and whose time began after `since`, or all others.
    pub fn load_approvals(
        &self,
        (entities, kind): (&[EntityId], ApprovalKind),
        is_open: bool,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<ApprovalRequest>, StoreError> {
        let not = if is_open { "" } else { "NOT" };
        let query = format!(
            "SELECT {COLUMNS} FROM approval WHERE entity = ?1 AND kind = ?4 AND {not} {}
             ORDER BY created DESC LIMIT ?3",
            waiting(kind)
        );
        let mut found = self.run_read(|session| {
            let mut found = Vec::new();
            for entity in entities {
                let parameters = params![entity.as_str(), since.as_millisecond(), limit, kind.as_str()];
                let mut rows = session.query(&query, parameters)?;
                while let Some(row) = rows.next()? {
                    found.push(read_request(&row)?);
                }
                // No more is kept than may be shown, however many entities there are.
                keep_latest(&mut found, limit);
            }
            Ok(found)
        })?;
        keep_latest(&mut found, limit);
        Ok(found)
    }
}

impl AdminStore {
    /// Loads a request. Returns `None` if there is none with this id.
    pub fn load_approval(&self, id: &ApprovalId) -> Result<Option<ApprovalRequest>, StoreError> {
        load_request(&*self.session, id)
    }

    /// Loads the request that a form of a user has made. Returns `None` if there is none.
    pub fn load_approval_of_form(&self, asker: &UserId, form: &str) -> Result<Option<ApprovalRequest>, StoreError> {
        load_request_of_form(&*self.session, asker, form)
    }

    /// Loads the requests of a user about an entity that are of one kind, still wait, and whose time began after
    /// `since`.
    pub fn load_own_approvals(
        &self,
        (asker, entity): (&UserId, &EntityId),
        kind: ApprovalKind,
        since: Timestamp,
    ) -> Result<Vec<ApprovalRequest>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM approval WHERE entity = ?1 AND kind = ?3 AND asker = ?4 AND {} ORDER BY created",
            waiting(kind)
        );
        let parameters = params![entity.as_str(), since.as_millisecond(), kind.as_str(), asker.as_str()];
        Ok(self.session.query_all(&query, parameters, read_request)?)
    }

    /// Counts the requests of an entity and of one kind that wait and whose time began after `since`.
    pub fn count_waiting_approvals(
        &self,
        entity: &EntityId,
        kind: ApprovalKind,
        since: Timestamp,
    ) -> Result<u64, StoreError> {
        let query = format!("SELECT count(*) FROM approval WHERE entity = ?1 AND kind = ?3 AND {}", waiting(kind));
        let parameters = params![entity.as_str(), since.as_millisecond(), kind.as_str()];
        let count: i64 = self.session.query_one(&query, parameters, |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Adds a request.
    pub fn add_approval(&self, request: &ApprovalRequest, form: &str) -> Result<(), StoreError> {
        let ApprovalRequest { id, entity, act, asker, created, .. } = request;
        let (kind, text) = (act.kind().as_str(), format_act(act)?);
        self.record_approval(request, "approval request", |session| {
            session.execute(
                "INSERT INTO approval (id, entity, kind, act, asker, form, created, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'open')",
                params![id.as_str(), entity.as_str(), kind, text, asker.as_str(), form, created.as_millisecond()],
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
            _ => "approval withdraw",
        };
        self.record_approval(request, action, |session| {
            session.execute(
                "UPDATE approval SET state = ?2, decider = ?3, decided = ?4, outcome = ?5 WHERE id = ?1",
                params![request.id.as_str(), state.as_str(), decider.as_str(), at.as_millisecond(), outcome],
            )?;
            Ok(())
        })
    }

    /// Marks an approved request as carried out by the user who asked, with its entry.
    pub fn use_approval(&self, request: &ApprovalRequest) -> Result<(), StoreError> {
        self.record_approval(request, "approval use", |session| {
            session.execute("UPDATE approval SET state = 'used' WHERE id = ?1", [request.id.as_str()])?;
            Ok(())
        })
    }

    /// Writes the result of an act that was approved.
    pub fn set_approval_outcome(&self, id: &ApprovalId, outcome: &str) -> Result<(), StoreError> {
        self.session.execute("UPDATE approval SET outcome = ?2 WHERE id = ?1", [id.as_str(), outcome])?;
        Ok(())
    }

    /// Runs a change of a request, and writes its entry, which names the user who asked and the one who approved beside
    /// the one who acts.
    fn record_approval(
        &self,
        request: &ApprovalRequest,
        action: &'static str,
        change: impl FnOnce(&dyn Session) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let act = request.act.details();
        let mut details: Vec<(&str, &str)> = act.iter().map(|(name, value)| (*name, value.as_str())).collect();
        details.push(("asker", request.asker.as_str()));
        details.extend(request.decider.as_ref().map(|decider| ("decider", decider.as_str())));
        let act = Act { action, subject: request.id.as_str(), entity: Some(&request.entity), details: &details };
        self.record_act(&act, change)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_domain::access::approval::act::ApprovalAct;
    use tillgate_engine::sqlite::SqliteSession;

    use super::*;
    use crate::schema::migrations;

    #[test]
    fn refunds_from_before_other_acts_could_wait_are_read_as_they_were() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrations::migrate_to(&session, 65);
        let (id, entity, payment, user) = ("8a".repeat(16), "8b".repeat(16), "8c".repeat(16), "8d".repeat(16));
        for (number, reversal, state) in [(0, 0, "open"), (1, 1, "approved")] {
            let id = format!("{}{number}", &id[1..]);
            let old = "INSERT INTO approval (id, entity, payment, reversal, amount, sum, currency, asker, form, created, state)
                       VALUES (?1, ?2, ?3, ?4, 6000, 9000, 'EUR', ?5, ?1, 7, ?6)";
            session.execute(old, params![id, entity, payment, reversal, user, state]).unwrap();
        }
        migrations::migrate(&session).unwrap();
        let query = format!("SELECT {COLUMNS} FROM approval ORDER BY id");
        let read: Vec<ApprovalRequest> = session.query_all(&query, (), read_request).unwrap();
        let states: Vec<&str> = read.iter().map(|request| request.stored_state.as_str()).collect();
        assert_eq!(states, ["open", "approved"]);
        for (request, is_reversal) in read.iter().zip([false, true]) {
            let ApprovalAct::Refund(refund) = &request.act else { panic!("{request:?}") };
            assert_eq!((refund.is_reversal, refund.payment.as_str()), (is_reversal, payment.as_str()));
            assert_eq!((refund.amount.hundredths(), refund.sum.hundredths()), (6000, 9000));
        }
    }
}
