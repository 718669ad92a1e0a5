//! End of the review decisions that earlier versions stored as rows. The migration 55 refuses those that still wait.

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Session, params};

use crate::StoreError;
use crate::ledger;
use crate::schedule::clock;

/// The analyst of the notes, as of reviews that end by themselves.
const ANALYST: &str = "tillgate";

/// A request that waits.
struct WaitingRequest {
    payment: String,
    entity: String,
    decision: String,
    analyst: String,
}

/// Drops the table of requests. Each that waits gets an entry in the audit log, and a note for the analysts of its
/// payment. One that was carried out and lacks only its answer gets none.
pub(crate) fn refuse_requests(session: &dyn Session) -> Result<(), StoreError> {
    // Not carried out at the next start, because an analyst who waited in vain may have decided otherwise meanwhile.
    for request in load_waiting(session)? {
        refuse_request(session, &request)?;
    }
    Ok(session.run_script("DROP TABLE review_request")?)
}

fn load_waiting(session: &dyn Session) -> Result<Vec<WaitingRequest>, StoreError> {
    let query = "SELECT payment, entity, coalesce(decision, 'decision'), coalesce(analyst, '')
         FROM (SELECT request.payment, review.entity, lower(document ->> 'decision') AS decision,
                      document ->> 'analyst' AS analyst, coalesce(document ->> 'after', 0) AS after, at
               FROM review_request AS request JOIN review ON review.payment = request.payment
               WHERE answered IS NULL) AS waiting
         WHERE NOT EXISTS (
             SELECT 1 FROM review_action AS done
             WHERE done.payment = waiting.payment AND done.number > waiting.after
                 AND done.action = CASE waiting.decision WHEN 'pending' THEN 'pend' ELSE waiting.decision END
                 AND done.analyst = waiting.analyst)
         ORDER BY at";
    session.query_all(query, (), |row| {
        Ok(WaitingRequest { payment: row.get(0)?, entity: row.get(1)?, decision: row.get(2)?, analyst: row.get(3)? })
    })
}

fn refuse_request(session: &dyn Session, request: &WaitingRequest) -> Result<(), StoreError> {
    let WaitingRequest { payment, entity, decision, analyst } = request;
    let (owner, now) = (EntityId::parse(entity), Timestamp::now());
    let ahead = owner.as_ref().map(|owner| clock::load_clock_advance(session, owner)).transpose()?;
    let time = now + ahead.unwrap_or_default();
    let note =
        format!("The {decision} of {analyst} had not been carried out before an update of the gateway: decide again");
    session.execute(
        "INSERT INTO review_action (payment, at, action, analyst, note) VALUES (?1, ?2, 'note', ?3, ?4)",
        params![payment, time.as_millisecond(), ANALYST, note],
    )?;
    let entry = AuditEntry::new(time, "review request refuse", payment.as_str())
        .with_detail("decision", decision.as_str())
        .with_detail("analyst", analyst.as_str());
    ledger::write_entry(session, owner.as_ref(), &entry, now)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::schema::migrations::{migrate, migrate_to};
    use tillgate_engine::sqlite::SqliteSession;

    fn read_column(session: &dyn Session, query: &str) -> Vec<String> {
        session.query_all(query, (), |row| row.get(0)).unwrap()
    }

    #[test]
    fn only_requests_that_wait_are_refused_and_the_log_and_the_analysts_are_told() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate_to(&session, 54);
        let content = r#"
            INSERT INTO entity (id, name, live, settings, created) VALUES ('8a000000000000000000000000000000', 'A', 0, '{}', 0);
            INSERT INTO review (payment, entity, since) SELECT column1, '8a000000000000000000000000000000', 0
                FROM (VALUES ('waits'), ('done'), ('answered'), ('broken'));
            INSERT INTO review_action (number, payment, at, action, analyst) VALUES
                (1, 'waits', 0, 'pend', 'ann'), (2, 'done', 0, 'pend', 'ann');
            INSERT INTO review_request (payment, document, at, answered, answer) VALUES
                ('waits', '{"decision":"APPROVE","analyst":"ann","after":1}', 1, NULL, NULL),
                ('done', '{"decision":"PENDING","analyst":"ann","after":1}', 2, NULL, NULL),
                ('answered', '{"decision":"CANCEL","analyst":"ann","after":0}', 3, 4, '{}'),
                ('broken', '{"decision":"MAYBE"}', 5, NULL, NULL);"#;
        session.run_script(content).unwrap();
        migrate(&session).unwrap();
        let entries = "SELECT concat_ws(' ', entity, document ->> 'action', document ->> 'subject',
                document ->> '$.details.decision', document ->> '$.details.analyst')
            FROM (SELECT number, entity, CAST(document AS TEXT) AS document FROM audit_entry) ORDER BY number";
        let entity = "8a000000000000000000000000000000";
        assert_eq!(
            read_column(&session, entries),
            [
                format!("{entity} review request refuse waits approve ann"),
                format!("{entity} review request refuse broken maybe ")
            ]
        );
        let notes = "SELECT payment || ': ' || note FROM review_action WHERE analyst = 'tillgate' ORDER BY number";
        let notes = read_column(&session, notes);
        assert!(notes.len() == 2 && notes[0].starts_with("waits: The approve of ann had not been"), "{notes:?}");
        let left = "SELECT name FROM sqlite_schema WHERE name LIKE 'review_request%'";
        assert!(read_column(&session, left).is_empty());
    }
}
