//! Transactions that the database undoes for reasons that have nothing to do with their requests: they are made again,
//! all requests of the group are answered as if nothing had happened, and each has its effect once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::channel;

use tillgate_engine::Session;
use tillgate_engine::postgres::PostgresSession;

use super::{CLUSTER, open_node, parse};
use crate::write::job_queue::Lane;
use crate::{DiskFault, Store, StoreError, StoreErrorKind};

/// The number that the request in the middle of a group inserts.
const MIDDLE: i64 = 2;

/// A node, and another session of its database, which has an empty table of numbers and two rows to lock.
struct Installation {
    address: String,
    node: Arc<Store>,
    other: PostgresSession,
}

impl Installation {
    fn start() -> Self {
        let address = CLUSTER.create_database().unwrap();
        let (node, other) = (open_node(&address), connect(&address));
        let tables = "CREATE TABLE number (n BIGINT CHECK (n <> 13)); CREATE SEQUENCE faults;
            CREATE TABLE locked (n BIGINT); INSERT INTO locked VALUES (1), (2)";
        other.run_script(tables).unwrap();
        Self { address, node, other }
    }

    /// Lets each insertion of [`MIDDLE`] fail with an error of the database until it has done so as often as this.
    fn fail_insertions(&self, code: &str, times: u8) {
        self.other
            .run_script(&format!(
                "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF new.n = {MIDDLE} AND nextval('faults') <= {times} THEN
                        RAISE EXCEPTION 'it failed' USING ERRCODE = '{code}';
                    END IF;
                    RETURN new;
                END $$;
                CREATE TRIGGER fail BEFORE INSERT ON number FOR EACH ROW EXECUTE FUNCTION fail()"
            ))
            .unwrap();
    }

    /// Commits three requests as one group, each of which inserts its number. The one in the middle then does
    /// `in_the_middle`, with the number of its run. Returns their outcomes, and how often each has run.
    async fn commit_group(
        &self,
        mut in_the_middle: impl FnMut(&dyn Session, u8) -> Result<(), StoreError> + Send + 'static,
    ) -> ([Result<(), StoreErrorKind>; 3], [u8; 3]) {
        let runs: [Arc<AtomicU8>; 3] = std::array::from_fn(|_| Arc::default());
        let (release, released) = channel();
        let counted = runs.each_ref().map(Arc::clone);
        let insert = move |session: &dyn Session, number: i64, counted: &AtomicU8| -> Result<u8, StoreError> {
            session.execute("INSERT INTO number (n) VALUES (?1)", [number])?;
            Ok(counted.fetch_add(1, Ordering::Relaxed) + 1)
        };
        let [first, middle, last] = counted;
        let first = self.node.writer.run_write(Lane::Everything, move |session| {
            let run = insert(session, 1, &first)?;
            if run == 1 {
                // Until the others wait, and so belong to the same group.
                released.recv().unwrap();
            }
            Ok(())
        });
        let middle = self.node.writer.run_write(Lane::Everything, move |session| {
            let run = insert(session, MIDDLE, &middle)?;
            in_the_middle(session, run)
        });
        let last = self.node.writer.run_write(Lane::Everything, move |session| insert(session, 3, &last).map(drop));
        release.send(()).unwrap();
        let (first, middle, last) = tokio::join!(first, middle, last);
        let outcomes = [first, middle, last].map(|outcome| outcome.map_err(|error| error.kind()));
        (outcomes, runs.map(|runs| runs.load(Ordering::Relaxed)))
    }

    fn load_numbers(&self) -> Vec<i64> {
        let session: &dyn Session = &self.other;
        session.query_all("SELECT n FROM number ORDER BY n", (), |row| row.get(0)).unwrap()
    }

    /// Returns how often an insertion has failed.
    fn count_faults(&self) -> i64 {
        let session: &dyn Session = &self.other;
        session.query_one("SELECT last_value FROM faults", (), |row| row.get(0)).unwrap()
    }
}

fn connect(address: &str) -> PostgresSession {
    PostgresSession::connect(&parse(address)).unwrap()
}

/// Returns the number of the process of the database for a session.
fn load_process(session: &dyn Session) -> i64 {
    session.query_one("SELECT CAST(pg_backend_pid() AS BIGINT)", (), |row| row.get::<i64>(0)).unwrap()
}

/// Ends the connection of a session from another one, and waits until its process is gone.
fn end_connection(other: &PostgresSession, session: &dyn Session) {
    other.run_script(&format!("SELECT pg_terminate_backend({}, 60000)", load_process(session))).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_serialization_failure_is_repeated_and_every_request_has_its_effect_once() {
    let installation = Installation::start();
    installation.fail_insertions("40001", 1);
    let (outcomes, runs) = installation.commit_group(|_, _| Ok(())).await;
    assert_eq!(outcomes, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(runs, [2, 1, 1], "the one that failed had not got as far as to be counted");
    assert_eq!(installation.load_numbers(), [1, 2, 3]);
    assert_eq!(installation.count_faults(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_repeats_ends_in_its_error_for_the_whole_group_after_three_attempts() {
    let installation = Installation::start();
    installation.fail_insertions("40001", u8::MAX);
    let (outcomes, runs) = installation.commit_group(|_, _| Ok(())).await;
    let busy = Err(StoreErrorKind::Disk(DiskFault::Busy));
    assert_eq!((outcomes, runs), ([busy, busy, Ok(())], [3, 0, 1]), "the last one is in the next group");
    assert_eq!(installation.load_numbers(), [3]);
    assert_eq!(installation.count_faults(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_at_fault_itself_is_not_repeated_and_the_others_succeed() {
    const REFUSED: &str = "INSERT INTO number (n) VALUES (13)";
    let executes = |session: &dyn Session, _: u8| Ok(session.execute(REFUSED, ()).map(drop)?);
    // Its failure is known only after the request.
    let sends = |session: &dyn Session, _: u8| Ok(session.send(REFUSED, ())?);
    for fail in [executes as fn(&dyn Session, u8) -> Result<(), StoreError>, sends] {
        let installation = Installation::start();
        let (outcomes, runs) = installation.commit_group(fail).await;
        let refused = Err(StoreErrorKind::ConstraintViolated);
        assert_eq!((outcomes, runs), ([Ok(()), refused, Ok(())], [2, 1, 1]));
        assert_eq!(installation.load_numbers(), [1, 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_with_another_session_is_repeated() {
    let installation = Installation::start();
    let other = connect(&installation.address);
    // It never looks for deadlocks itself, so the node's transaction is the one that is undone.
    other.run_script("SET deadlock_timeout = '1h'; BEGIN; UPDATE locked SET n = n WHERE n = 2").unwrap();
    let is_crossed = format!("SELECT pg_backend_pid() = ANY (pg_blocking_pids({}))", load_process(&other));
    let ((begin, begun), (end, ended)) = (channel(), channel());
    let crossing = std::thread::spawn(move || {
        begun.recv().unwrap();
        other.run_script("UPDATE locked SET n = n WHERE n = 1; COMMIT").unwrap();
        end.send(()).unwrap();
    });
    let (outcomes, runs) = installation
        .commit_group(move |session, run| {
            if run == 2 {
                // The node could be faster than the other session, which waits for the same row, and meet it again.
                ended.recv().unwrap();
            }
            session.execute("UPDATE locked SET n = n WHERE n = 1", ())?;
            if run == 1 {
                begin.send(()).unwrap();
                while !session.query_one(&is_crossed, (), |row| row.get::<bool>(0))? {}
            }
            Ok(session.execute("UPDATE locked SET n = n WHERE n = 2", ()).map(drop)?)
        })
        .await;
    crossing.join().unwrap();
    assert_eq!(outcomes, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(runs, [2, 2, 1]);
    assert_eq!(installation.load_numbers(), [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_whose_connection_ends_in_the_middle_is_repeated_on_another_one() {
    let installation = Installation::start();
    let other = connect(&installation.address);
    // The request does not notice: the next statement does.
    let end_once = move |session: &dyn Session, run| {
        if run == 1 {
            end_connection(&other, session);
        }
        Ok(())
    };
    let (outcomes, runs) = installation.commit_group(end_once).await;
    assert_eq!(outcomes, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(runs, [2, 2, 1]);
    assert_eq!(installation.load_numbers(), [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_connection_ends_before_its_commit_is_repeated_but_not_for_ever() {
    let installation = Installation::start();
    for (endings, expected) in [(1, Ok(())), (2, Ok(())), (u8::MAX, Err(StoreErrorKind::Disk(DiskFault::Unreachable)))]
    {
        let other = connect(&installation.address);
        let mut runs = 0;
        let write = move |session: &dyn Session| {
            session.execute("INSERT INTO number (n) VALUES (?1)", [i64::from(endings)])?;
            runs += 1;
            if runs <= endings {
                end_connection(&other, session);
            }
            Ok(runs)
        };
        let written = installation.node.writer.run_write(Lane::Everything, write).await;
        assert_eq!(written.map_err(|error| error.kind()), expected.map(|()| endings + 1));
    }
    assert_eq!(installation.load_numbers(), [1, 2]);
}
