//! The thread that keeps the leases of a process. It has a separate connection, because a lease must not wait behind
//! the writes of payments.
//!
//! The clock of the database decides when a lease ends, so the clocks of the nodes do not matter. A process counts the
//! time of its leases from before it has asked for them, on a clock that is never set and that goes on while the
//! process is stopped. So it stops before the database lets another one begin.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tillgate_engine::postgres::{PostgresAddress, PostgresSession};
use tillgate_engine::{Session, params};
use tillgate_os::clock::time_since_boot;
use tokio::sync::oneshot;

use super::clock_check::ClockCheck;
use crate::cluster::background_work::{BackgroundWork, LEASE, RELIANCE, RENEWAL};
use crate::error::Cause;
use crate::{Sources, StoreError};

/// Takes or renews those of some leases that are free or that the process has. It looks first, because the nodes
/// without a lease ask every second and should write nothing.
const TAKE: &str = "INSERT INTO lease (work, holder, until)
     SELECT wanted.value, ?1, clock_milliseconds() + ?2 FROM json_each(?3) AS wanted
         WHERE NOT EXISTS (SELECT 1 FROM lease
             WHERE work = wanted.value AND holder <> ?1 AND until > clock_milliseconds())
         ORDER BY wanted.value
     ON CONFLICT (work) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE lease.holder = excluded.holder OR lease.until <= clock_milliseconds()
     RETURNING work";
/// Gives a lease back.
const RELEASE: &str = "DELETE FROM lease WHERE work = ?1 AND holder = ?2";

/// The leases of this process. Dropping it ends the thread; what it has not given back ends by itself.
pub(crate) struct LeaseKeeper {
    reliance: Arc<Reliance>,
    is_clock_off: Arc<AtomicBool>,
    /// `None` while it is being dropped, which ends the thread.
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

/// The times since the start of the machine until which this process relies on its leases, in milliseconds, in the
/// order of [`BackgroundWork::ALL`]. Written by the thread, read by the work.
#[derive(Default)]
struct Reliance([AtomicU64; BackgroundWork::ALL.len()]);

/// The sender of the answer to a request.
type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// A request to the thread.
enum Request {
    /// Takes a lease, and keeps it if it was free.
    Take(String, Answer<bool>),
    /// Begins to take leases on background work, as the node of this lease.
    BeginWork(String, Answer<()>),
    /// Gives back the lease on a kind of work.
    GiveBack(BackgroundWork, Answer<()>),
    /// Gives back a lease, without an answer.
    Release(String),
    /// Gives back everything.
    Leave(Answer<()>),
}

impl LeaseKeeper {
    /// Connects, and starts the thread. It has no lease yet.
    ///
    /// # Errors
    /// If the database cannot be reached.
    pub(crate) fn start(address: &PostgresAddress, sources: &Sources) -> Result<Self, StoreError> {
        let reliance = Arc::new(Reliance::default());
        let is_clock_off = Arc::new(AtomicBool::new(false));
        let (sender, requests) = channel();
        let keeper = KeeperThread {
            session: PostgresSession::connect(address)?,
            address: address.clone(),
            process: sources.process.as_deref().unwrap_or_default().to_owned(),
            node: None,
            has_name: false,
            kept: BTreeSet::new(),
            reliance: Arc::clone(&reliance),
            clock: ClockCheck::new(Arc::clone(&sources.clock), Arc::clone(&is_clock_off)),
            is_failing: false,
        };
        let thread = std::thread::Builder::new().name("leases".to_owned()).spawn(move || keeper.run(&requests));
        let thread = thread.map_err(|error| Cause::File("leases".into(), error))?;
        Ok(Self { reliance, is_clock_off, requests: Some(sender), thread: Some(thread) })
    }

    /// Returns true if this process has the lease on a kind of work.
    pub(crate) fn holds(&self, work: BackgroundWork) -> bool {
        milliseconds(time_since_boot()) < self.reliance.of(work).load(Ordering::Acquire)
    }

    /// Returns true if the clock of this machine differs from that of the database.
    pub(crate) fn is_clock_off(&self) -> bool {
        self.is_clock_off.load(Ordering::Acquire)
    }

    /// Takes a lease, and keeps it until it is released. Returns false if another process has it.
    pub(crate) async fn take(&self, name: &str) -> Result<bool, StoreError> {
        self.ask(|answer| Request::Take(name.to_owned(), answer)).await
    }

    /// Begins to take the leases on background work. `node` is the lease on the name of the node.
    pub(crate) async fn begin_work(&self, node: &str) -> Result<(), StoreError> {
        self.ask(|answer| Request::BeginWork(node.to_owned(), answer)).await
    }

    /// Gives back the lease on a kind of work, and does not take it again.
    pub(crate) async fn give_back(&self, work: BackgroundWork) -> Result<(), StoreError> {
        self.ask(|answer| Request::GiveBack(work, answer)).await
    }

    /// Gives back a lease soon.
    pub(crate) fn release(&self, name: &str) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(Request::Release(name.to_owned()));
        }
    }

    /// Gives back everything.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        self.ask(Request::Leave).await
    }

    async fn ask<T>(&self, request: impl FnOnce(Answer<T>) -> Request) -> Result<T, StoreError> {
        let (sender, answer) = oneshot::channel();
        let sent = self.requests.as_ref().map(|requests| requests.send(request(sender)));
        match sent {
            Some(Ok(())) => answer.await.map_err(|_| Cause::Stopped)?,
            _ => Err(Cause::Stopped.into()),
        }
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Reliance {
    fn of(&self, work: BackgroundWork) -> &AtomicU64 {
        // The discriminant is the place in the list of all kinds.
        &self.0[work as usize]
    }

    fn forget(&self, work: BackgroundWork) {
        self.of(work).store(0, Ordering::Release);
    }
}

/// State of the thread.
struct KeeperThread {
    session: PostgresSession,
    address: PostgresAddress,
    process: String,
    /// The lease on the name of the node.
    node: Option<String>,
    /// True if the last renewal has found that lease to be this process's.
    has_name: bool,
    /// The leases that this process has or wants.
    kept: BTreeSet<String>,
    reliance: Arc<Reliance>,
    clock: ClockCheck,
    /// True if the last renewal has failed, so that a failure is logged once.
    is_failing: bool,
}

impl KeeperThread {
    /// Handles requests and renews until the keeper is dropped.
    fn run(mut self, requests: &Receiver<Request>) {
        let mut next = time_since_boot();
        loop {
            match requests.recv_timeout(next.saturating_sub(time_since_boot())) {
                Ok(request) => self.handle_request(request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // Checked after each request as well, because many requests must not keep a renewal back.
            if time_since_boot() >= next {
                self.renew_or_log();
                next = time_since_boot() + RENEWAL;
            }
        }
    }

    fn handle_request(&mut self, request: Request) {
        // The caller may have stopped waiting. A lease that has no caller any more is not kept.
        match request {
            Request::Take(name, answer) => {
                let taken = self.take(&BTreeSet::from([name.clone()])).map(|taken| !taken.is_empty());
                if taken.as_ref().is_ok_and(|taken| *taken) {
                    self.kept.insert(name.clone());
                }
                if answer.send(taken).is_err() {
                    let _ = self.release(&name);
                }
            }
            Request::BeginWork(node, answer) => {
                let _ = answer.send(self.begin_work(node));
            }
            Request::GiveBack(work, answer) => {
                self.reliance.forget(work);
                let _ = answer.send(self.release(work.as_str()));
            }
            Request::Release(name) => {
                if let Err(error) = self.release(&name) {
                    tracing::warn!(%error, "releasing a lease failed; it ends by itself within seconds");
                }
            }
            Request::Leave(answer) => {
                BackgroundWork::ALL.iter().for_each(|work| self.reliance.forget(*work));
                self.kept.clear();
                let _ = answer.send(self.leave());
            }
        }
    }

    fn leave(&mut self) -> Result<(), StoreError> {
        let process = self.process.clone();
        self.session()?.execute("DELETE FROM lease WHERE holder = ?1", [process])?;
        Ok(())
    }

    /// Takes or renews those of some leases that are free or that this process has. Returns their names.
    fn take(&mut self, names: &BTreeSet<String>) -> Result<BTreeSet<String>, StoreError> {
        let (list, process) = (serde_json::to_string(names)?, self.process.clone());
        let parameters = params![process, milliseconds(LEASE).cast_signed(), list];
        self.session()?.query_all(TAKE, parameters, |row| Ok(row.get(0)?))
    }

    fn release(&mut self, name: &str) -> Result<(), StoreError> {
        // It is not renewed from now on, also if the database cannot be told.
        self.kept.remove(name);
        let process = self.process.clone();
        self.session()?.execute(RELEASE, [name, &process])?;
        Ok(())
    }

    /// Adds the leases on all background work to those that are kept, and takes what is free.
    fn begin_work(&mut self, node: String) -> Result<(), StoreError> {
        self.node = Some(node);
        self.kept.extend(BackgroundWork::ALL.map(|work| work.as_str().to_owned()));
        // Names of nodes that have ended, and turns that were never given back.
        self.session()?.execute("DELETE FROM lease WHERE until <= clock_milliseconds()", ())?;
        self.renew()
    }

    fn renew_or_log(&mut self) {
        let failed = self.renew();
        if let Err(error) = &failed
            && !self.is_failing
        {
            tracing::warn!(%error, "renewing leases failed; background work stops until it succeeds");
        }
        self.is_failing = failed.is_err();
    }

    /// Renews the leases that this process has, and takes those that are free.
    fn renew(&mut self) -> Result<(), StoreError> {
        if self.kept.is_empty() {
            return Ok(());
        }
        // Read before the question, so that this process never relies on a lease for longer than the database keeps it.
        let until = milliseconds(time_since_boot() + RELIANCE);
        let held = self.take(&self.kept.clone())?;
        for work in BackgroundWork::ALL {
            if held.contains(work.as_str()) {
                self.reliance.of(work).store(until, Ordering::Release);
            } else {
                self.reliance.forget(work);
            }
        }
        let has_name = self.node.as_ref().is_none_or(|node| held.contains(node));
        if self.has_name && !has_name {
            // It has ended while this process was stopped or had no connection.
            tracing::error!("another server has taken the name of this one: name each server with its own --node");
        }
        self.has_name = has_name;
        self.clock.compare_if_due(&self.session)
    }

    /// Returns the session, a new one if the connection is gone.
    fn session(&mut self) -> Result<&dyn Session, StoreError> {
        if self.session.is_lost() {
            self.session = PostgresSession::connect(&self.address)?;
        }
        Ok(&self.session)
    }
}

/// Returns whole milliseconds, or the maximum if they are out of range.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
