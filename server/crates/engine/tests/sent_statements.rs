//! Statements that are sent to a real cluster of PostgreSQL, and whose answers are awaited later.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;
use std::time::Duration;

use tillgate_engine::postgres::{PostgresAddress, PostgresSession, SessionLimits};
use tillgate_engine::{ErrorKind, Result, Session};
use tillgate_test_cluster::Cluster;

/// The cluster of this program's tests. Each has a database of its own.
static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(&[]).unwrap());

/// Opens two sessions with an empty table of numbers.
fn open_twice(cluster: &Cluster) -> (PostgresSession, PostgresSession) {
    let limits = SessionLimits { lock: Duration::from_millis(100), ..SessionLimits::default() };
    let address = PostgresAddress::parse(&cluster.create_database().unwrap(), "tests", limits).unwrap();
    let connect = || PostgresSession::connect(&address).unwrap();
    let first = connect();
    first.run_script("CREATE TABLE number (n bigint PRIMARY KEY)").unwrap();
    (first, connect())
}

fn open() -> PostgresSession {
    open_twice(&CLUSTER).0
}

fn send(session: &dyn Session, number: i64) -> Result<()> {
    session.send("INSERT INTO number (n) VALUES (?1)", [number])
}

fn numbers(session: &dyn Session) -> Vec<i64> {
    session.query_all("SELECT n FROM number ORDER BY n", (), |row| row.get(0)).unwrap()
}

#[test]
fn statements_that_were_sent_have_run_before_the_next_one_however_many_they_are() {
    let session = open();
    session.begin_write().unwrap();
    for number in 0..200 {
        send(&session, number).unwrap();
    }
    assert_eq!(numbers(&session), (0..200).collect::<Vec<_>>());
    send(&session, 200).unwrap();
    let statement = "UPDATE number SET n = -n WHERE n = ?1";
    assert_eq!((&session as &dyn Session).execute(statement, [200]).unwrap(), 1, "it has been inserted before");
    send(&session, 201).unwrap();
    session.commit().unwrap();
    assert_eq!(numbers(&session).len(), 202);
}

#[test]
fn a_failure_of_what_was_sent_comes_with_the_next_question_and_nothing_of_the_transaction_stays() {
    let session = open();
    for question in [
        |session: &dyn Session| session.execute("INSERT INTO number (n) VALUES (7)", ()).map(drop),
        |session: &dyn Session| session.has_row("SELECT 1 FROM number", ()).map(drop),
        |session: &dyn Session| session.run_script("SELECT 1"),
        |session: &dyn Session| session.set_savepoint("part"),
        |session: &dyn Session| session.await_sent(),
        |session: &dyn Session| session.commit(),
    ] {
        session.begin_write().unwrap();
        for number in [1, 2, 1, 3] {
            send(&session, number).unwrap();
        }
        assert_eq!(question(&session).unwrap_err().kind(), ErrorKind::Constraint, "the first failure, not the last");
        if session.is_in_transaction() {
            assert!(session.commit().is_err());
        }
        assert!(!session.is_in_transaction());
        assert_eq!(numbers(&session), Vec::<i64>::new());
    }
}

#[test]
fn what_was_sent_is_undone_with_its_transaction_and_its_failure_with_it() {
    let session = open();
    for sent in [[1, 2], [1, 1]] {
        session.begin_write().unwrap();
        for number in sent {
            send(&session, number).unwrap();
        }
        session.roll_back().unwrap();
        session.begin_write().unwrap();
        send(&session, 5).unwrap();
        session.await_sent().unwrap();
        session.roll_back().unwrap();
        assert_eq!(numbers(&session), Vec::<i64>::new());
    }
}

#[test]
fn a_statement_outside_of_a_transaction_is_awaited_at_once() {
    let (session, other) = open_twice(&CLUSTER);
    send(&session, 1).unwrap();
    assert_eq!(numbers(&other), [1]);
    assert_eq!(send(&session, 1).unwrap_err().kind(), ErrorKind::Constraint);
}

#[test]
fn a_statement_that_was_sent_waits_for_a_lock_no_longer_than_it_may() {
    let (session, other) = open_twice(&CLUSTER);
    // Without the writers' lock, as another program does.
    other.run_script("BEGIN; INSERT INTO number (n) VALUES (1)").unwrap();
    session.begin_write().unwrap();
    send(&session, 1).unwrap();
    send(&session, 2).unwrap();
    assert_eq!(session.await_sent().unwrap_err().kind(), ErrorKind::Busy);
    session.roll_back().unwrap();
    other.run_script("COMMIT").unwrap();
    assert_eq!(numbers(&session), [1]);
}

#[test]
fn a_commit_is_unknown_if_the_connection_is_gone_with_what_was_sent() {
    let cluster = Cluster::start(&[]).unwrap();
    let (session, _) = open_twice(&cluster);
    session.begin_write().unwrap();
    send(&session, 1).unwrap();
    cluster.crash_and_restart().unwrap();
    assert_eq!(session.commit().unwrap_err().kind(), ErrorKind::UnknownCommit);
    assert!(session.is_lost());
}
