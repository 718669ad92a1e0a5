//! Tests of long reads: order, shares of tenants, and the end of what nobody waits for.

use std::sync::mpsc;

use super::*;
use crate::StoreErrorKind;

fn tenant_id(number: u8) -> EntityId {
    EntityId::new(jiff::Timestamp::UNIX_EPOCH, [number; 9])
}

/// Starts a read of a tenant that runs until the returned sender is dropped. The receiver gets a value when the
/// read starts; the task ends with its result.
fn start_blocking_read(
    reads: &Arc<LongReads>,
    id: &EntityId,
) -> (mpsc::Sender<()>, mpsc::Receiver<()>, tokio::task::JoinHandle<Result<(), StoreError>>) {
    let (hold, held) = mpsc::channel::<()>();
    let (running, runs) = mpsc::channel();
    let (reads, id) = (Arc::clone(reads), id.clone());
    let task = tokio::spawn(async move {
        reads
            .run_read(&id, move |_| {
                running.send(()).unwrap();
                let _ = held.recv();
            })
            .await
    });
    (hold, runs, task)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_fills_the_queue_delays_no_other_one() {
    let reads = Arc::new(LongReads::default());
    let (greedy, modest) = (tenant_id(1), tenant_id(2));
    let (hold, runs, first) = start_blocking_read(&reads, &greedy);
    tokio::task::spawn_blocking(move || runs.recv().unwrap()).await.unwrap();
    let waiting: Vec<_> = (0..MAX_WAITING).map(|_| start_blocking_read(&reads, &greedy)).collect();
    while reads.shared.lock_state().waiting < MAX_WAITING {
        tokio::task::yield_now().await;
    }
    // The other tenant's read runs at once, and one more read of the greedy tenant is refused.
    assert_eq!(reads.run_read(&modest, |_| 7).await.unwrap(), 7);
    assert_eq!(reads.run_read(&greedy, |_| ()).await.unwrap_err().kind(), StoreErrorKind::TooManyReads);
    drop(hold);
    first.await.unwrap().unwrap();
    // Release all reads before awaiting any of them, because they may have queued in any order.
    let (holds, reads_of_greedy): (Vec<_>, Vec<_>) =
        waiting.into_iter().map(|(hold, runs, task)| (hold, (runs, task))).unzip();
    drop(holds);
    for (_runs, task) in reads_of_greedy {
        task.await.unwrap().unwrap();
    }
    // The last thread removes its tenant shortly after it has sent the result.
    let forgotten = async {
        while !reads.shared.lock_state().tenants.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), forgotten).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_is_told_that_its_client_is_gone_and_one_that_waits_does_not_start() {
    let reads = Arc::new(LongReads::default());
    let id = tenant_id(1);
    let (running, runs) = oneshot::channel();
    let (ended, ends) = oneshot::channel();
    let client = tokio::spawn({
        let (reads, id) = (Arc::clone(&reads), id.clone());
        async move {
            let read = move |cancelled: &Cancellation<'_>| {
                running.send(()).unwrap();
                while !cancelled.is_cancelled() {
                    thread::yield_now();
                }
                ended.send(()).unwrap();
            };
            reads.run_read(&id, read).await
        }
    });
    runs.await.unwrap();
    let never = tokio::spawn({
        let (reads, id) = (Arc::clone(&reads), id.clone());
        async move { reads.run_read(&id, |_| panic!("it has started")).await }
    });
    while reads.shared.lock_state().waiting < 1 {
        tokio::task::yield_now().await;
    }
    never.abort();
    assert!(never.await.unwrap_err().is_cancelled());
    client.abort();
    ends.await.unwrap();
    assert_eq!(reads.run_read(&id, |_| 7).await.unwrap(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_disconnected_clients_leave_their_places_at_once() {
    let reads = Arc::new(LongReads::default());
    let id = tenant_id(1);
    let (hold, runs, first) = start_blocking_read(&reads, &id);
    tokio::task::spawn_blocking(move || runs.recv().unwrap()).await.unwrap();
    let waiting: Vec<_> = (0..MAX_WAITING).map(|_| start_blocking_read(&reads, &id)).collect();
    while reads.shared.lock_state().waiting < MAX_WAITING {
        tokio::task::yield_now().await;
    }
    for (_hold, _runs, task) in waiting {
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    {
        let state = reads.shared.lock_state();
        assert_eq!((state.waiting, state.turns.len(), state.tenants[&ReadTenant::from(&id)].waiting.len()), (0, 0, 0));
    }
    let next = tokio::spawn({
        let (reads, id) = (Arc::clone(&reads), id.clone());
        async move { reads.run_read(&id, |_| 7).await }
    });
    drop(hold);
    first.await.unwrap().unwrap();
    assert_eq!(next.await.unwrap().unwrap(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_panics_fails_and_the_next_one_runs() {
    let reads = LongReads::default();
    let panics = |_: &Cancellation<'_>| if thread::current().name().is_some() { panic!("as it must") } else { 1 };
    assert_eq!(reads.run_read(&tenant_id(1), panics).await.unwrap_err().kind(), StoreErrorKind::Internal);
    assert_eq!(reads.run_read(&tenant_id(1), |_| 7).await.unwrap(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_waits_for_no_read_of_an_entity_even_with_the_same_id() {
    let reads = Arc::new(LongReads::default());
    let id = tenant_id(1);
    let (hold, runs, held) = start_blocking_read(&reads, &id);
    tokio::task::spawn_blocking(move || runs.recv().unwrap()).await.unwrap();
    let user = UserId::parse(id.as_str()).unwrap();
    assert_eq!(reads.run_read(&user, |_| 7).await.unwrap(), 7);
    drop(hold);
    held.await.unwrap().unwrap();
}
