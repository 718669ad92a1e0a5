//! Faults of an acquirer's host: what they leave in its ledger, and what the gateway's client makes of them.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillgate::clock::SystemClock;
use tillgate::connector::http::codes::{Decision, decide};
use tillgate::connector::http::wire::{AuthorizationRequest, EarlierRequest, HostOperation, HostOutcome};
use tillgate::connector::http::{CallFault, CallResult, Deadlines, HostAddress, HostClient, SharedKey};
use tillgate_tests::{AcquirerHost, until};
use tokio::net::TcpSocket;

use crate::acquirer_host::{assert_outcome, earlier, payment, with};

/// Short enough for a test, and long enough for a busy machine to answer.
const DEADLINES: Deadlines =
    Deadlines { connect: Duration::from_secs(20), head: Duration::from_secs(20), whole: Duration::from_secs(20) };
const IMPATIENT: Deadlines =
    Deadlines { connect: Duration::from_secs(20), head: Duration::from_secs(2), whole: Duration::from_secs(2) };

fn client(host: &AcquirerHost, address: &str, deadlines: Deadlines) -> anyhow::Result<HostClient> {
    let address = HostAddress::parse(&format!("http://{address}"))?;
    let key = SharedKey::read(&host.folder().join("acquirer.key"))?;
    Ok(HostClient::new(address, key, deadlines, Arc::new(SystemClock))?)
}

fn request(id: &str, amount: u64) -> anyhow::Result<AuthorizationRequest> {
    Ok(serde_json::from_value(with(payment(id), &[("/amount", json!(amount))]))?)
}

fn about(id: &str, amount: u64) -> anyhow::Result<EarlierRequest> {
    Ok(serde_json::from_value(with(earlier(id, id), &[("/amount", json!(amount))]))?)
}

async fn authorize(client: &HostClient, id: &str, amount: u64) -> anyhow::Result<CallResult> {
    Ok(client.authorize(HostOperation::Authorize, id, &request(id, amount)?).await)
}

fn answered(result: CallResult) -> anyhow::Result<HostOutcome> {
    match result {
        CallResult::Answered(answer) => Ok(answer.outcome),
        other => anyhow::bail!("{other:?}"),
    }
}

/// Inquires until a request is approved.
async fn until_approved(client: &HostClient, id: &str, amount: u64) -> anyhow::Result<()> {
    until("the request is booked", async || {
        let found = client.inquire(&format!("q-{id}"), &about(id, amount)?).await;
        Ok((answered(found)? == HostOutcome::Approved).then_some(()))
    })
    .await
}

async fn payments(host: &AcquirerHost) -> anyhow::Result<Vec<Value>> {
    let ledger = host.ledger().await?;
    Ok(ledger.into_iter().filter(|entry| entry["kind"] == json!("authorization")).collect())
}

#[tokio::test]
async fn every_fault_that_hides_the_answer_is_unknown_and_an_inquiry_finds_out() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&["--slow", "1ms"])?;
    let (patient, impatient) = (client(&host, &host.address, DEADLINES)?, client(&host, &host.address, IMPATIENT)?);
    assert_eq!(answered(authorize(&patient, "slow", 200_001).await?)?, HostOutcome::Approved);
    let silent = authorize(&impatient, "silent", 200_002).await?;
    assert_eq!(silent, CallResult::Unknown(CallFault::Late(2000)));
    let cut = authorize(&patient, "cut", 200_003).await?;
    assert!(matches!(cut, CallResult::Unknown(CallFault::Broken(_))), "{cut:?}");
    assert_eq!(answered(authorize(&patient, "twice", 200_004).await?)?, HostOutcome::Approved);
    // The second answer is taken by nobody.
    assert_eq!(answered(authorize(&patient, "after", 9200).await?)?, HostOutcome::Approved);
    let garbage = authorize(&patient, "garbage", 200_006).await?;
    assert_eq!(garbage, CallResult::Unknown(CallFault::Unsigned(200)));
    let forged = authorize(&patient, "forged", 200_008).await?;
    assert_eq!(forged, CallResult::Unknown(CallFault::Unsigned(200)));
    let mismatched = authorize(&patient, "mismatched", 200_009).await?;
    assert_eq!(mismatched, CallResult::Unknown(CallFault::Mismatch("amount")));
    for (id, amount) in
        [("silent", 200_002), ("cut", 200_003), ("garbage", 200_006), ("forged", 200_008), ("mismatched", 200_009)]
    {
        until_approved(&patient, id, amount).await?;
    }
    assert_eq!(payments(&host).await?.len(), 8, "each was booked once");
    Ok(())
}

#[tokio::test]
async fn a_request_that_is_dropped_is_not_booked_and_can_be_given_up() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&[])?;
    let client = client(&host, &host.address, DEADLINES)?;
    let dropped = authorize(&client, "dropped", 200_007).await?;
    assert!(matches!(dropped, CallResult::Unknown(CallFault::Broken(_))), "{dropped:?}");
    let found = client.inquire("q", &about("dropped", 200_007)?).await;
    assert_eq!(answered(found)?, HostOutcome::NotFound);
    assert_eq!(answered(client.reverse("v", &about("dropped", 200_007)?).await)?, HostOutcome::Approved);
    assert!(payments(&host).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_request_that_arrives_after_its_reversal_takes_no_money() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&["--late", "10s"])?;
    let client = client(&host, &host.address, DEADLINES)?;
    let body = serde_json::to_value(request("late", 200_005)?)?;
    let about = about("late", 200_005)?;
    let (late, reversed) = tokio::join!(host.ask("authorize", "late", &body), client.reverse("v", &about));
    assert_eq!(answered(reversed)?, HostOutcome::Approved);
    assert_outcome(&late?, "declined", "21");
    assert!(payments(&host).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_late_success_of_what_was_not_given_up_is_found() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&["--late", "3s"])?;
    let (client, impatient) = (client(&host, &host.address, DEADLINES)?, client(&host, &host.address, IMPATIENT)?);
    assert_eq!(authorize(&impatient, "late", 200_005).await?, CallResult::Unknown(CallFault::Late(2000)));
    until_approved(&client, "late", 200_005).await?;
    assert_eq!(answered(client.reverse("v", &about("late", 200_005)?).await)?, HostOutcome::Approved);
    assert_eq!(payments(&host).await?[0]["reversed"], json!(true));
    Ok(())
}

#[tokio::test]
async fn a_planned_fault_meets_an_inquiry() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&["--control"])?;
    let client = client(&host, &host.address, DEADLINES)?;
    authorize(&client, "p1", 9200).await?;
    host.plan_fault("inquire", "forged", 1).await?;
    assert_eq!(client.inquire("q1", &about("p1", 9200)?).await, CallResult::Unknown(CallFault::Unsigned(200)));
    assert_eq!(answered(client.inquire("q2", &about("p1", 9200)?).await)?, HostOutcome::Approved);
    Ok(())
}

#[tokio::test]
async fn a_host_that_is_not_there_has_certainly_not_done_anything() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&[])?;
    // Nobody listens at a port that is taken and not listened at.
    let nobody = TcpSocket::new_v4()?;
    nobody.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let nobody_at = nobody.local_addr()?.to_string();
    let away = client(&host, &nobody_at, DEADLINES)?;
    let result = authorize(&away, "p1", 9200).await?;
    assert!(matches!(result, CallResult::NotExecuted(CallFault::Connection(_))), "{result:?}");
    // Somebody accepts the connection, and says nothing.
    let mute = TcpListener::bind("127.0.0.1:0")?;
    let silent = client(&host, &mute.local_addr()?.to_string(), IMPATIENT)?;
    assert_eq!(authorize(&silent, "p1", 9200).await?, CallResult::Unknown(CallFault::Late(2000)));
    // A gateway with another key learns nothing from the answer, so it does not know.
    let address = HostAddress::parse(&format!("http://{}", host.address))?;
    let stranger = HostClient::new(address, SharedKey::random()?, DEADLINES, Arc::new(SystemClock))?;
    assert_eq!(authorize(&stranger, "p1", 9200).await?, CallResult::Unknown(CallFault::Unsigned(401)));
    // A request that the host cannot read was certainly not carried out.
    let malformed = client(&host, &host.address, DEADLINES)?;
    let result = authorize(&malformed, "p 1", 9200).await?;
    assert!(matches!(result, CallResult::NotExecuted(CallFault::Refused(_))), "{result:?}");
    assert!(host.ledger().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_decline_is_a_result_code_of_the_gateway() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&[])?;
    let client = client(&host, &host.address, DEADLINES)?;
    for (amount, code) in [(100_051, "800.100.155"), (100_099, "800.100.100")] {
        let CallResult::Answered(answer) = authorize(&client, &format!("p{amount}"), amount).await? else {
            anyhow::bail!("no answer to {amount}");
        };
        let Decision::Declined(result) = decide(&answer) else { anyhow::bail!("{answer:?}") };
        assert_eq!(result.code(), code);
    }
    Ok(())
}

#[tokio::test]
async fn a_killed_host_has_kept_everything_that_it_answered() -> anyhow::Result<()> {
    let mut host = AcquirerHost::start(&[])?;
    let mut known: Vec<String> = Vec::new();
    for round in 0..3 {
        let (sender, mut answered) = tokio::sync::mpsc::unbounded_channel();
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..8 {
            let (caller, sender) = (host.caller(), sender.clone());
            clients.spawn(async move {
                for number in 0.. {
                    let id = format!("p-{round}-{client}-{number}");
                    match caller.ask("authorize", &id, &payment(&id)).await {
                        Ok(reply) if reply.outcome() == ("approved", "00") && sender.send(id).is_ok() => {}
                        _ => return,
                    }
                }
            });
        }
        drop(sender);
        for _ in 0..40 {
            known.extend(answered.recv().await);
        }
        host = host.restart()?;
        clients.join_all().await;
        while let Some(id) = answered.recv().await {
            known.push(id);
        }
        let ledger = host.ledger().await?;
        for id in &known {
            let entries = ledger.iter().filter(|entry| entry["paymentId"] == json!(id)).count();
            assert_eq!(entries, 1, "{id}");
            assert_outcome(&host.ask("inquire", "q", &earlier(id, id)).await?, "approved", "00");
        }
    }
    Ok(())
}
