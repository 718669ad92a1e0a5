//! Tests of groups in which requests fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use tillgate_engine::sqlite::SqliteSession;

use super::*;
use crate::StoreErrorKind;
use crate::write::job_queue::WriteJob;
use crate::write::request::PendingWrite;

/// A number that no request may insert.
const REFUSED: i64 = 100;

/// Queues a write that reports its outcome.
fn queue(
    jobs: &JobQueue,
    write: impl FnMut(&dyn Session) -> Result<(), StoreError> + Send + 'static,
    answer: impl FnOnce(Result<(), StoreError>) + Send + 'static,
) {
    let request = Box::new(PendingWrite::new(write, answer));
    jobs.add(Lane::Everything, WriteJob { request, is_later: false }).unwrap();
}

/// Queues a request that inserts a number, and reports its outcome with the number of its runs.
fn add(jobs: &JobQueue, number: i64, tell: &Sender<(i64, Option<StoreErrorKind>, u8)>) {
    let runs = Arc::new(AtomicU8::new(0));
    let counted = Arc::clone(&runs);
    let write = move |session: &dyn Session| {
        counted.fetch_add(1, Ordering::Relaxed);
        // A request that fails has written something before.
        session.execute("INSERT INTO number (n) VALUES (?1)", [number])?;
        Ok(session.execute("INSERT INTO checked (n) VALUES (?1)", [number]).map(drop)?)
    };
    let tell = tell.clone();
    let answer = move |outcome: Result<(), StoreError>| {
        let kind = outcome.err().map(|error| error.kind());
        tell.send((number, kind, runs.load(Ordering::Relaxed))).unwrap();
    };
    queue(jobs, write, answer);
}

/// Commits requests that insert these numbers. Returns the stored numbers, the number of requests with each run, and
/// the number of commits.
fn commit_all(numbers: &[i64]) -> (Vec<i64>, Vec<u8>, u8) {
    let session = SqliteSession::open_in_memory().unwrap();
    let tables = format!("CREATE TABLE number (n); CREATE TABLE checked (n INTEGER CHECK (n <> {REFUSED}))");
    session.run_script(&tables).unwrap();
    let (session, jobs, (tell, told)): (&dyn Session, _, _) = (&session, JobQueue::new(64, false), channel());
    numbers.iter().for_each(|number| add(&jobs, *number, &tell));
    let mut commits = 0;
    while let Ok(lane) = jobs.take_lane(Duration::ZERO) {
        let mut group = WriteGroup::new();
        session.begin_write().unwrap();
        while group.run(session, &jobs, &lane).unwrap() == GroupRun::Spoiled {
            session.roll_back().unwrap();
            session.begin_write().unwrap();
        }
        session.commit().unwrap();
        commits += 1;
        group.answer_all(Ok(()));
        jobs.put_back(lane);
    }
    let answered: Vec<_> = told.try_iter().collect();
    assert_eq!(answered.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), numbers, "each is answered once");
    for (number, kind, _) in &answered {
        let expected = (*number == REFUSED).then_some(StoreErrorKind::ConstraintViolated);
        assert_eq!(*kind, expected, "request {number}");
    }
    let stored = session.query_all("SELECT n FROM number ORDER BY rowid", (), |row| row.get(0)).unwrap();
    (stored, answered.into_iter().map(|(.., runs)| runs).collect(), commits)
}

#[test]
fn requests_that_succeed_run_once_and_are_committed_together() {
    assert_eq!(commit_all(&[1, 2, 3]), (vec![1, 2, 3], vec![1, 1, 1], 1));
}

#[test]
fn a_request_that_fails_leaves_nothing_and_does_not_run_again_but_those_before_it_do() {
    assert_eq!(commit_all(&[1, 2, REFUSED, 3, 4]), (vec![1, 2, 3, 4], vec![2, 2, 1, 1, 1], 2));
}

#[test]
fn no_request_runs_more_than_twice_however_many_fail() {
    let (stored, runs, _) = commit_all(&[REFUSED, 1, REFUSED, REFUSED, 2, 3, REFUSED, 4, REFUSED]);
    assert_eq!(stored, [1, 2, 3, 4]);
    assert_eq!(runs, [1, 2, 1, 1, 2, 2, 1, 2, 1]);
}

#[test]
fn a_request_that_has_failed_beside_rows_that_were_undone_decides_anew() {
    let session: &dyn Session = &SqliteSession::open_in_memory().unwrap();
    session.run_script("CREATE TABLE number (n INTEGER PRIMARY KEY)").unwrap();
    let (jobs, (tell, told)) = (JobQueue::new(64, false), channel());
    let insert = |session: &dyn Session, number: i64| -> Result<(), StoreError> {
        Ok(session.execute("INSERT INTO number (n) VALUES (?1)", [number]).map(drop)?)
    };
    // The first one decides otherwise in the transaction after the one that the database undoes.
    let (undone, tell_other) = (Arc::new(AtomicU8::new(0)), tell.clone());
    let number = Arc::clone(&undone);
    queue(
        &jobs,
        move |session| insert(session, i64::from(number.load(Ordering::Relaxed))),
        move |outcome| tell_other.send(outcome.map_err(|error| error.kind())).unwrap(),
    );
    queue(
        &jobs,
        move |session| insert(session, 0),
        move |outcome| tell.send(outcome.map_err(|error| error.kind())).unwrap(),
    );
    let lane = jobs.take_lane(Duration::ZERO).unwrap();
    let mut group = WriteGroup::new();
    for expected in [GroupRun::Spoiled, GroupRun::Complete] {
        session.begin_write().unwrap();
        assert_eq!(group.run(session, &jobs, &lane).unwrap(), expected);
        session.roll_back().unwrap();
    }
    undone.store(1, Ordering::Relaxed);
    group.renew();
    session.begin_write().unwrap();
    assert_eq!(group.run(session, &jobs, &lane).unwrap(), GroupRun::Complete);
    session.commit().unwrap();
    group.answer_all(Ok(()));
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [Ok(()), Ok(())]);
    let stored: Vec<i64> =
        session.query_all::<_, StoreError, _>("SELECT n FROM number ORDER BY n", (), |row| Ok(row.get(0)?)).unwrap();
    assert_eq!(stored, [0, 1]);
}
