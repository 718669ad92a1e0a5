//! Faults of an acquirer host: their effects on its ledger, and their results in the gateway's client.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillgate_connector::http::codes::{ResponseMeaning, interpret_response};
use tillgate_connector::http::protocol::{AuthorizationRequest, EarlierRequest, HostOperation, HostOutcome};
use tillgate_connector::http::{CallFault, CallResult, Deadlines, HostAddress, HostClient, SharedKey};
use tillgate_connector::web::WebFault;
use tillgate_os::clock::SystemClock;
use tillgate_tests::{TestAcquirerHost, poll_until};
use tokio::net::TcpSocket;

use crate::acquirer::host::{assert_outcome, authorization_request, earlier_request, with_changes};

/// Short enough for a test, and long enough for a busy machine to answer.
const DEADLINES: Deadlines =
    Deadlines { connect: Duration::from_secs(20), head: Duration::from_secs(20), whole: Duration::from_secs(20) };
/// Deadlines of a client that gives up after two seconds.
const IMPATIENT: Deadlines =
    Deadlines { connect: Duration::from_secs(20), head: Duration::from_secs(2), whole: Duration::from_secs(2) };

/// Creates a client with the host's own key. `address` may be that of a forwarder in front of the host.
fn build_client(host: &TestAcquirerHost, address: &str, deadlines: Deadlines) -> anyhow::Result<HostClient> {
    let address = HostAddress::parse(&format!("http://{address}"))?;
    let key = SharedKey::read_from_file(&host.folder().join("acquirer.key"))?;
    Ok(HostClient::new(address, key, deadlines, Arc::new(SystemClock))?)
}

/// Returns the test authorization with this payment id and amount in cents.
fn authorization_of(id: &str, amount: u64) -> anyhow::Result<AuthorizationRequest> {
    Ok(serde_json::from_value(with_changes(authorization_request(id), &[("/amount", json!(amount))]))?)
}

/// Returns the body of a reversal of, or an inquiry about, a request with this amount in cents. `id` is both its
/// payment id and its idempotency key.
fn earlier_request_of(id: &str, amount: u64) -> anyhow::Result<EarlierRequest> {
    Ok(serde_json::from_value(with_changes(earlier_request(id, id), &[("/amount", json!(amount))]))?)
}

/// Sends an authorization. `id` is both its payment id and its idempotency key, `amount` is in cents.
async fn send_authorization(client: &HostClient, id: &str, amount: u64) -> anyhow::Result<CallResult> {
    Ok(client.authorize(HostOperation::Authorize, id, &authorization_of(id, amount)?).await)
}

/// Returns the outcome in the host's response. Fails if there was no valid response.
fn answered_outcome(result: CallResult) -> anyhow::Result<HostOutcome> {
    match result {
        CallResult::Responded(response) => Ok(response.outcome),
        other => anyhow::bail!("{other:?}"),
    }
}

/// Inquires until the host reports the authorization as approved. Fails at once if an inquiry gets no response.
async fn wait_until_approved(client: &HostClient, id: &str, amount: u64) -> anyhow::Result<()> {
    poll_until("the request is booked", async || {
        let found = client.inquire(&format!("q-{id}"), &earlier_request_of(id, amount)?).await;
        Ok((answered_outcome(found)? == HostOutcome::Approved).then_some(()))
    })
    .await
}

/// Returns the ledger's entries of the kind `authorization`.
async fn booked_authorizations(host: &TestAcquirerHost) -> anyhow::Result<Vec<Value>> {
    let ledger = host.read_ledger().await?;
    Ok(ledger.into_iter().filter(|entry| entry["kind"] == json!("authorization")).collect())
}

#[tokio::test]
async fn every_fault_that_hides_the_answer_is_unknown_and_an_inquiry_finds_out() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&["--slow", "1ms"])?;
    let (patient, impatient) =
        (build_client(&host, &host.address, DEADLINES)?, build_client(&host, &host.address, IMPATIENT)?);
    assert_eq!(answered_outcome(send_authorization(&patient, "slow", 200_001).await?)?, HostOutcome::Approved);
    let silent = send_authorization(&impatient, "silent", 200_002).await?;
    assert_eq!(silent, CallResult::Unknown(WebFault::Late(2000).into()));
    let cut = send_authorization(&patient, "cut", 200_003).await?;
    assert!(matches!(cut, CallResult::Unknown(CallFault::Web(WebFault::Broken(_)))), "{cut:?}");
    assert_eq!(answered_outcome(send_authorization(&patient, "twice", 200_004).await?)?, HostOutcome::Approved);
    // The client must discard the second response of the previous request.
    assert_eq!(answered_outcome(send_authorization(&patient, "after", 9200).await?)?, HostOutcome::Approved);
    let garbage = send_authorization(&patient, "garbage", 200_006).await?;
    assert_eq!(garbage, CallResult::Unknown(CallFault::Unsigned(200)));
    let forged = send_authorization(&patient, "forged", 200_008).await?;
    assert_eq!(forged, CallResult::Unknown(CallFault::Unsigned(200)));
    let mismatched = send_authorization(&patient, "mismatched", 200_009).await?;
    assert_eq!(mismatched, CallResult::Unknown(CallFault::Mismatch("amount")));
    for (id, amount) in
        [("silent", 200_002), ("cut", 200_003), ("garbage", 200_006), ("forged", 200_008), ("mismatched", 200_009)]
    {
        wait_until_approved(&patient, id, amount).await?;
    }
    assert_eq!(booked_authorizations(&host).await?.len(), 8, "each was booked once");
    Ok(())
}

#[tokio::test]
async fn a_request_that_is_dropped_is_not_booked_and_can_be_given_up() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let client = build_client(&host, &host.address, DEADLINES)?;
    let dropped = send_authorization(&client, "dropped", 200_007).await?;
    assert!(matches!(dropped, CallResult::Unknown(CallFault::Web(WebFault::Broken(_)))), "{dropped:?}");
    let found = client.inquire("q", &earlier_request_of("dropped", 200_007)?).await;
    assert_eq!(answered_outcome(found)?, HostOutcome::NotFound);
    assert_eq!(
        answered_outcome(client.reverse("v", &earlier_request_of("dropped", 200_007)?).await)?,
        HostOutcome::Approved
    );
    assert!(booked_authorizations(&host).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_request_that_arrives_after_its_reversal_takes_no_money() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&["--late", "10s"])?;
    let client = build_client(&host, &host.address, DEADLINES)?;
    let body = serde_json::to_value(authorization_of("late", 200_005)?)?;
    let about = earlier_request_of("late", 200_005)?;
    let (late, reversed) = tokio::join!(host.send_operation("authorize", "late", &body), client.reverse("v", &about));
    assert_eq!(answered_outcome(reversed)?, HostOutcome::Approved);
    assert_outcome(&late?, "declined", "21");
    assert!(booked_authorizations(&host).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_late_success_of_what_was_not_given_up_is_found() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&["--late", "3s"])?;
    let (client, impatient) =
        (build_client(&host, &host.address, DEADLINES)?, build_client(&host, &host.address, IMPATIENT)?);
    assert_eq!(
        send_authorization(&impatient, "late", 200_005).await?,
        CallResult::Unknown(WebFault::Late(2000).into())
    );
    wait_until_approved(&client, "late", 200_005).await?;
    assert_eq!(
        answered_outcome(client.reverse("v", &earlier_request_of("late", 200_005)?).await)?,
        HostOutcome::Approved
    );
    assert_eq!(booked_authorizations(&host).await?[0]["reversed"], json!(true));
    Ok(())
}

#[tokio::test]
async fn a_planned_fault_meets_an_inquiry() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&["--control"])?;
    let client = build_client(&host, &host.address, DEADLINES)?;
    send_authorization(&client, "p1", 9200).await?;
    host.schedule_fault("inquire", "forged", 1).await?;
    assert_eq!(
        client.inquire("q1", &earlier_request_of("p1", 9200)?).await,
        CallResult::Unknown(CallFault::Unsigned(200))
    );
    assert_eq!(answered_outcome(client.inquire("q2", &earlier_request_of("p1", 9200)?).await)?, HostOutcome::Approved);
    Ok(())
}

#[tokio::test]
async fn a_host_that_is_not_there_has_certainly_not_done_anything() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    // A port that is bound but not listening refuses connections.
    let nobody = TcpSocket::new_v4()?;
    nobody.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let nobody_at = nobody.local_addr()?.to_string();
    let away = build_client(&host, &nobody_at, DEADLINES)?;
    let result = send_authorization(&away, "p1", 9200).await?;
    assert!(matches!(result, CallResult::NotExecuted(CallFault::Web(WebFault::Connection(_)))), "{result:?}");
    // This port accepts connections but never answers.
    let mute = TcpListener::bind("127.0.0.1:0")?;
    let silent = build_client(&host, &mute.local_addr()?.to_string(), IMPATIENT)?;
    assert_eq!(send_authorization(&silent, "p1", 9200).await?, CallResult::Unknown(WebFault::Late(2000).into()));
    // A gateway with another key cannot verify the response, so the outcome is unknown.
    let address = HostAddress::parse(&format!("http://{}", host.address))?;
    let stranger = HostClient::new(address, SharedKey::random()?, DEADLINES, Arc::new(SystemClock))?;
    assert_eq!(send_authorization(&stranger, "p1", 9200).await?, CallResult::Unknown(CallFault::Unsigned(401)));
    // A request that the host cannot read was certainly not carried out.
    let malformed = build_client(&host, &host.address, DEADLINES)?;
    let result = send_authorization(&malformed, "p 1", 9200).await?;
    assert!(matches!(result, CallResult::NotExecuted(CallFault::Refused(_))), "{result:?}");
    assert!(host.read_ledger().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_decline_is_a_result_code_of_the_gateway() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let client = build_client(&host, &host.address, DEADLINES)?;
    for (amount, code) in [(100_051, "800.100.155"), (100_099, "800.100.100")] {
        let CallResult::Responded(answer) = send_authorization(&client, &format!("p{amount}"), amount).await? else {
            anyhow::bail!("no answer to {amount}");
        };
        let ResponseMeaning::Declined(result) = interpret_response(&answer) else { anyhow::bail!("{answer:?}") };
        assert_eq!(result.code(), code);
    }
    Ok(())
}

#[tokio::test]
async fn a_killed_host_has_kept_everything_that_it_answered() -> anyhow::Result<()> {
    let mut host = TestAcquirerHost::start(&[])?;
    let mut known: Vec<String> = Vec::new();
    for round in 0..3 {
        let (sender, mut answered) = tokio::sync::mpsc::unbounded_channel();
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..8 {
            let (caller, sender) = (host.client(), sender.clone());
            clients.spawn(async move {
                for number in 0.. {
                    let id = format!("p-{round}-{client}-{number}");
                    match caller.send_operation("authorize", &id, &authorization_request(&id)).await {
                        Ok(reply) if reply.outcome_and_code() == ("approved", "00") && sender.send(id).is_ok() => {}
                        _ => return,
                    }
                }
            });
        }
        drop(sender);
        for _ in 0..40 {
            known.extend(answered.recv().await);
        }
        host = host.kill_and_restart()?;
        clients.join_all().await;
        while let Some(id) = answered.recv().await {
            known.push(id);
        }
        let ledger = host.read_ledger().await?;
        for id in &known {
            let entries = ledger.iter().filter(|entry| entry["paymentId"] == json!(id)).count();
            assert_eq!(entries, 1, "{id}");
            assert_outcome(&host.send_operation("inquire", "q", &earlier_request(id, id)).await?, "approved", "00");
        }
    }
    Ok(())
}
