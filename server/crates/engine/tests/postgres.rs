//! Sessions with a real cluster of PostgreSQL.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;
use std::time::Duration;

use tillgate_engine::postgres::{
    ClusterMigration, PostgresAddress, PostgresSession, SessionLimits, SessionPool, migrate,
};
use tillgate_engine::{Error, ErrorKind, OwnedValue, Result, Session, WriteScope, params};
use tillgate_test_cluster::Cluster;

/// The cluster of this program's tests. Each has a database of its own.
static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(&[]).unwrap());

const TABLE: &str = "CREATE TABLE number (n bigint PRIMARY KEY, name text, data bytea)";

fn connect(address: &str, limits: SessionLimits) -> PostgresSession {
    PostgresSession::connect(&PostgresAddress::parse(address, "tests", limits).unwrap()).unwrap()
}

/// Opens two sessions with an empty table of numbers.
fn open_twice(limits: SessionLimits) -> (PostgresSession, PostgresSession) {
    let address = CLUSTER.create_database().unwrap();
    let first = connect(&address, limits);
    first.run_script(TABLE).unwrap();
    (first, connect(&address, limits))
}

fn open() -> PostgresSession {
    open_twice(SessionLimits::default()).0
}

fn insert(session: &dyn Session, number: i64) -> Result<usize> {
    session.execute("INSERT INTO number (n) VALUES (?1)", [number])
}

/// Changes the row of a number, which locks it.
fn lock(session: &dyn Session, number: i64) -> Result<usize> {
    session.execute("UPDATE number SET name = 'x' WHERE n = ?1", [number])
}

fn numbers(session: &dyn Session) -> Vec<i64> {
    session.query_all("SELECT n FROM number ORDER BY n", (), |row| row.get(0)).unwrap()
}

#[test]
fn values_are_read_as_they_were_written() {
    let session: &dyn Session = &open();
    let statement = "INSERT INTO number (n, name, data) VALUES (?1, ?2, ?3)";
    for (number, name, data) in
        [(i64::MAX, Some("it's a ?1 \u{1f600}"), Some(vec![0_u8, 255])), (-1, None, None), (0, Some(""), Some(vec![]))]
    {
        assert_eq!(session.execute(statement, params![number, name, data]).unwrap(), 1);
        let query = "SELECT n, name, data FROM number WHERE n = ?1";
        let read = session.query_one(query, [number], |row| Ok::<_, Error>((row.get(0)?, row.get(1)?, row.get(2)?)));
        assert_eq!(read.unwrap(), (number, name.map(str::to_owned), data));
    }
    let texts = session.query_one("SELECT count(*), EXISTS (SELECT 1), 1.5::float8, 7::int4 FROM number", (), |row| {
        (0..row.column_count()).map(|column| row.get::<OwnedValue>(column)).collect::<Result<Vec<_>>>()
    });
    assert_eq!(
        texts.unwrap(),
        [OwnedValue::Integer(3), OwnedValue::Integer(1), OwnedValue::Real(1.5), OwnedValue::Integer(7)]
    );
    let none = session.query_optional("SELECT n FROM number WHERE n = ?1", [9_i64], |row| row.get::<i64>(0));
    assert_eq!(none.unwrap(), None);
}

#[test]
fn a_value_of_the_wrong_type_or_out_of_range_is_an_error_and_the_session_goes_on() {
    let session: &dyn Session = &open();
    assert!(session.execute("INSERT INTO number (n) VALUES (?1)", ["text"]).is_err());
    assert!(session.execute("INSERT INTO number (n, name) VALUES (1, ?1)", [1_i64]).is_err());
    assert!(session.execute("INSERT INTO number (n) VALUES (?1)", [u64::MAX]).is_err());
    assert!(session.execute("INSERT INTO absent (n) VALUES (?1)", [1_i64]).is_err());
    insert(session, 1).unwrap();
    assert_eq!(insert(session, 1).unwrap_err().kind(), ErrorKind::Constraint);
    assert_eq!(numbers(session), [1]);
}

#[test]
fn several_queries_are_read_side_by_side_and_end_where_their_reader_stops() {
    let session: &dyn Session = &open();
    session.execute("INSERT INTO number (n) SELECT generate_series(1, 1000)", ()).unwrap();
    let query = "SELECT n FROM number WHERE n % 2 = ?1 ORDER BY n";
    for is_in_transaction in [false, true] {
        if is_in_transaction {
            session.begin_read().unwrap();
        }
        for _ in 0..3 {
            let (mut odd, mut even) = (session.query(query, [1_i64]).unwrap(), session.query(query, [0_i64]).unwrap());
            assert!(odd.current().is_none());
            for number in 0..200 {
                assert_eq!(odd.next().unwrap().unwrap().get::<i64>(0).unwrap(), 2 * number + 1);
                assert_eq!(even.next().unwrap().unwrap().get::<i64>(0).unwrap(), 2 * number + 2);
            }
        }
        let mut rows = session.query(query, [1_i64]).unwrap();
        let mut count = 0;
        while rows.next().unwrap().is_some() {
            count += 1;
        }
        assert_eq!((count, rows.current().is_none()), (500, true));
        drop(rows);
        session.roll_back().unwrap();
    }
}

#[test]
fn what_a_request_undoes_is_gone_and_what_came_before_stays() {
    let session: &dyn Session = &open();
    let transaction = session.begin().unwrap();
    insert(&*transaction, 1).unwrap();
    transaction.set_savepoint("part").unwrap();
    insert(&*transaction, 2).unwrap();
    assert_eq!(insert(&*transaction, 1).unwrap_err().kind(), ErrorKind::Constraint);
    transaction.return_to_savepoint("part").unwrap();
    insert(&*transaction, 3).unwrap();
    transaction.release_savepoint("part").unwrap();
    transaction.commit().unwrap();
    assert_eq!(numbers(session), [1, 3]);
    drop(session.begin().unwrap());
    assert!(!session.is_in_transaction());
}

#[test]
fn a_transaction_with_a_failure_in_it_is_never_reported_as_committed() {
    let session: &dyn Session = &open();
    let transaction = session.begin().unwrap();
    insert(&*transaction, 1).unwrap();
    insert(&*transaction, 1).unwrap_err();
    assert!(transaction.commit().is_err());
    assert!(!session.is_in_transaction());
    insert(session, 2).unwrap();
    assert_eq!(numbers(session), [2]);
}

#[test]
fn a_reader_sees_one_state_however_many_statements_it_takes() {
    let (first, second) = open_twice(SessionLimits::default());
    insert(&first, 1).unwrap();
    second.begin_read().unwrap();
    assert_eq!(numbers(&second), [1]);
    insert(&first, 2).unwrap();
    assert_eq!(numbers(&second), [1]);
    assert!(insert(&second, 3).is_err(), "a reader writes nothing");
    second.roll_back().unwrap();
    assert_eq!(numbers(&second), [1, 2]);
}

#[test]
fn a_writer_that_does_not_end_keeps_the_others_out_and_they_wait_no_longer_than_they_may() {
    let limits = SessionLimits { lock: Duration::from_millis(100), ..SessionLimits::default() };
    let (first, second) = open_twice(limits);
    first.begin_write().unwrap();
    assert_eq!(second.begin_write().unwrap_err().kind(), ErrorKind::Busy);
    assert!(!second.is_in_transaction());
    first.roll_back().unwrap();
    second.begin_write().unwrap();
    second.roll_back().unwrap();
}

#[test]
fn a_transaction_does_not_begin_inside_of_another_one() {
    let session = open();
    session.begin_write().unwrap();
    assert!(session.begin_write().is_err() && session.begin_read().is_err());
    insert(&session, 1).unwrap();
    session.commit().unwrap();
    assert_eq!(numbers(&session), [1]);
}

#[test]
fn of_two_transactions_that_wait_for_each_other_one_can_be_repeated() {
    let (first, second) = open_twice(SessionLimits::default());
    for (session, number) in [(&first, 1), (&second, 2)] {
        // Without the writers' lock, as another program does.
        session.run_script("SET deadlock_timeout = '20ms'").unwrap();
        insert(session, number).unwrap();
        session.run_script("BEGIN").unwrap();
        lock(session, number).unwrap();
    }
    let outcomes = std::thread::scope(|scope| {
        let lock_and_end = |session: PostgresSession, number| {
            let outcome = lock(&session, number);
            session.run_script("ROLLBACK").unwrap();
            outcome.map_err(|error| error.kind())
        };
        let threads =
            [(first, 2), (second, 1)].map(|(session, number)| scope.spawn(move || lock_and_end(session, number)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(outcomes.contains(&Ok(1)) && outcomes.contains(&Err(ErrorKind::Conflict)), "{outcomes:?}");
}

#[test]
fn the_numbers_of_a_transaction_rise_and_are_larger_than_all_of_earlier_ones() {
    let (first, second) = open_twice(SessionLimits::default());
    first.run_script("CREATE TABLE entry (number bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY)").unwrap();
    let mut last = 0;
    for round in 0..4 {
        for session in [&first, &second] {
            let owner = format!("owner {round}");
            session.begin_write_within(WriteScope::Owner(&owner)).unwrap();
            for _ in 0..20 {
                let number = session.next_number("entry").unwrap();
                assert!(number > last, "{number} after {last}");
                last = number;
            }
            session.commit().unwrap();
            let outside = session.next_number("entry").unwrap();
            assert!(outside > last, "{outside} after {last}");
            last = outside;
        }
    }
}

#[test]
fn a_session_whose_connection_is_gone_says_so_and_a_commit_on_it_is_unknown() {
    let cluster = Cluster::start(&[]).unwrap();
    let address = cluster.create_database().unwrap();
    let session = connect(&address, SessionLimits::default());
    session.run_script(TABLE).unwrap();
    session.begin_write().unwrap();
    insert(&session, 1).unwrap();
    cluster.crash_and_restart().unwrap();
    assert_eq!(session.commit().unwrap_err().kind(), ErrorKind::UnknownCommit);
    assert_eq!(insert(&session, 2).unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(session.is_lost());
    assert_eq!(numbers(&connect(&address, SessionLimits::default())), Vec::<i64>::new());
}

#[test]
fn a_session_that_does_nothing_in_a_transaction_loses_its_locks() {
    let (stopped, other) = open_twice(SessionLimits::default());
    insert(&other, 1).unwrap();
    stopped.begin_write().unwrap();
    lock(&stopped, 1).unwrap();
    // The limit begins to count when the lock is there, so that a busy machine is not too slow for it.
    stopped.run_script("SET LOCAL idle_in_transaction_session_timeout = '100ms'").unwrap();
    // Waits for the lock, which the database takes from the session that does nothing.
    let session: &dyn Session = &other;
    session.execute("UPDATE number SET name = 'x' WHERE n = 1", ()).unwrap();
    assert_eq!(insert(&stopped, 2).unwrap_err().kind(), ErrorKind::Unavailable);
}

const FIRST: ClusterMigration = ClusterMigration { version: 67, script: "CREATE TABLE number (n bigint PRIMARY KEY)" };
const SECOND: ClusterMigration = ClusterMigration { version: 68, script: "ALTER TABLE number ADD COLUMN name text" };

#[test]
fn of_several_nodes_that_start_at_once_one_migrates() {
    let address = CLUSTER.create_database().unwrap();
    let versions = std::thread::scope(|scope| {
        let start = || migrate(&connect(&address, SessionLimits::default()), &[FIRST, SECOND]).unwrap();
        let nodes: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
        nodes.into_iter().map(|node| node.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(versions.iter().filter(|version| **version == 0).count(), 1, "{versions:?}");
    assert_eq!(versions.iter().filter(|version| **version == 68).count(), 3, "{versions:?}");
}

#[test]
fn a_node_waits_for_the_migration_of_another_one_however_long_that_takes() {
    let limits = SessionLimits { lock: Duration::from_millis(50), ..SessionLimits::default() };
    let address = CLUSTER.create_database().unwrap();
    let (first, second) = (connect(&address, limits), connect(&address, limits));
    first.begin_write().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || migrate(&second, &[FIRST]));
        first.run_script("SELECT pg_sleep(1)").unwrap();
        assert!(!waiting.is_finished());
        first.roll_back().unwrap();
        assert_eq!(waiting.join().unwrap().unwrap(), 0);
    });
}

#[test]
fn a_statement_that_may_take_long_is_awaited_longer_than_others() {
    let limits = SessionLimits {
        statement: Duration::from_millis(50),
        answer: Duration::from_millis(100),
        ..SessionLimits::default()
    };
    let session = connect(&CLUSTER.create_database().unwrap(), limits);
    session.lift_statement_limit().unwrap();
    session.run_script("SELECT pg_sleep(0.5)").unwrap();
    assert_eq!(migrate(&session, &[FIRST]).unwrap(), 0);
    // A migration brings the limits of the address back.
    assert_eq!(session.run_script("SELECT pg_sleep(0.5)").unwrap_err().kind(), ErrorKind::Busy);
}

#[test]
fn a_step_that_fails_leaves_the_earlier_schema_and_a_later_schema_is_refused() {
    let session = connect(&CLUSTER.create_database().unwrap(), SessionLimits::default());
    assert_eq!(migrate(&session, &[FIRST]).unwrap(), 0);
    let failing = ClusterMigration { version: 69, script: "CREATE TABLE other (n bigint); SELECT 1 / 0" };
    assert!(migrate(&session, &[FIRST, SECOND, failing]).is_err());
    session.run_script("INSERT INTO number (n) VALUES (1)").unwrap();
    let columns: &dyn Session = &session;
    let count = "SELECT count(*) FROM information_schema.columns WHERE table_name IN ('number', 'other')";
    assert_eq!(columns.query_one(count, (), |row| row.get::<i64>(0)).unwrap(), 1);
    assert_eq!(migrate(&session, &[FIRST, SECOND]).unwrap(), 67);
    let error = migrate(&session, &[FIRST]).unwrap_err();
    assert!(error.to_string().contains("version 68"), "{error}");
}

#[test]
fn a_database_that_orders_texts_in_another_way_is_refused_with_the_remedy() {
    CLUSTER.run_sql("postgres", "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'").unwrap();
    let session = connect(&CLUSTER.address("latin"), SessionLimits::default());
    let error = migrate(&session, &[FIRST]).unwrap_err();
    assert!(error.to_string().contains("CREATE DATABASE"), "{error}");
}

#[test]
fn threads_share_the_sessions_of_a_pool_and_wait_no_longer_than_they_may() {
    let (address, limits) = (CLUSTER.create_database().unwrap(), SessionLimits::default());
    let parsed = PostgresAddress::parse(&address, "tests", limits).unwrap();
    let pool = SessionPool::new(parsed, 2, Duration::from_secs(30));
    let ask = |session: &PostgresSession| {
        let session: &dyn Session = session;
        session.query_one("SELECT pg_backend_pid()", (), |row| row.get::<i64>(0))
    };
    let backends: std::collections::BTreeSet<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| pool.with_session(ask).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!((1..=2).contains(&backends.len()), "{backends:?}");
    // One that is left in a transaction, or loses its connection, harms nobody after it.
    pool.with_session(|session| session.begin_write()).unwrap();
    assert!(!pool.with_session(|session| Ok::<_, Error>(session.is_in_transaction())).unwrap());
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tests'";
    CLUSTER.run_sql(&database_name(&address), &format!("{end} AND datname = current_database()")).unwrap();
    let outcomes: Vec<_> = (0..3).map(|_| pool.with_session(ask).map_err(|error| error.kind())).collect();
    assert!(outcomes.last().unwrap().is_ok(), "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| !matches!(outcome, Err(kind) if *kind != ErrorKind::Unavailable)));
}

#[test]
fn a_session_that_the_server_has_ended_is_replaced_before_it_is_lent() {
    let address = CLUSTER.create_database().unwrap();
    let parsed = PostgresAddress::parse(&address, "tests", SessionLimits::default()).unwrap();
    let pool = SessionPool::new(parsed, 1, Duration::from_secs(30));
    let ask = |session: &PostgresSession| {
        let session: &dyn Session = session;
        session.query_one("SELECT pg_backend_pid()", (), |row| row.get::<i64>(0))
    };
    let first = pool.with_session(ask).unwrap();
    CLUSTER.run_sql("postgres", &format!("SELECT pg_terminate_backend({first}, 10000)")).unwrap();
    assert_ne!(pool.with_session(ask).unwrap(), first);
}

#[test]
fn a_pool_whose_sessions_are_all_in_use_refuses_after_the_wait() {
    let parsed =
        PostgresAddress::parse(&CLUSTER.create_database().unwrap(), "tests", SessionLimits::default()).unwrap();
    let pool = SessionPool::new(parsed, 1, Duration::from_millis(20));
    let inner = pool.with_session(|_| {
        let refused = pool.with_session(|_| Ok::<_, Error>(()));
        Ok::<_, Error>(refused.unwrap_err().kind())
    });
    assert_eq!(inner.unwrap(), ErrorKind::Unavailable);
    pool.with_session(|_| Ok::<_, Error>(())).unwrap();
}

#[test]
fn a_zero_character_is_stored_and_searched_for_as_one_that_cannot_be_shown() {
    let session = connect(&CLUSTER.create_database().unwrap(), SessionLimits::default());
    let session: &dyn Session = &session;
    session.run_script("CREATE TABLE note (text text NOT NULL)").unwrap();
    assert!(!session.has_row("SELECT 1 FROM note WHERE text = ?1", ["a\0"]).unwrap());
    session.execute("INSERT INTO note (text) VALUES (?1)", ["a\0"]).unwrap();
    assert!(session.has_row("SELECT 1 FROM note WHERE text = ?1", ["a\0"]).unwrap());
}

/// Returns the name of the database in an address of the cluster.
fn database_name(address: &str) -> String {
    let (_, rest) = address.split_once(":///").unwrap();
    rest.split_once('?').unwrap().0.to_owned()
}

#[test]
fn an_encrypted_connection_needs_a_certificate_that_is_trusted() {
    let cluster = Cluster::start_encrypted().unwrap();
    let (address, file) = (cluster.network_address("postgres"), cluster.certificate().unwrap());
    let connect = |parameters: &str| {
        let parsed = PostgresAddress::parse(&format!("{address}?{parameters}"), "tests", SessionLimits::default());
        PostgresSession::connect(&parsed.unwrap()).map_err(|error| error.to_string())
    };
    let is_encrypted = |session: PostgresSession| {
        let session: &dyn Session = &session;
        let query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        session.query_one(query, (), |row| row.get::<bool>(0)).unwrap()
    };
    assert!(is_encrypted(connect(&format!("sslmode=require&sslrootcert={}", file.display())).unwrap()));
    assert!(!is_encrypted(connect("").unwrap()), "this machine's own network");
    let error = connect("sslmode=require").err().unwrap();
    assert!(error.contains("certificate"), "{error}");
}
