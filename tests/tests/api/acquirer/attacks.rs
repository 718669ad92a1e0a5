//! Attacks on the connection to an acquirer's host: the gateway rejects forged responses, and a host that does not
//! respond does not delay other payments.

use futures_util::future::join_all;
use tillgate_tests::{Receiver, ReceiverReply, poll_until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::acquirer::payments::{AcquirerScene, booked_entries};
use crate::support::*;

const IMPATIENT: [&str; 2] = ["--acquirer-timeout", "1s"];

/// Starts a server that answers every connection with these bytes after one read, and closes it. Returns its address.
pub async fn start_impostor(response: Vec<u8>) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let response = response.clone();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(&response).await;
            });
        }
    });
    Ok(address)
}

/// Returns an HTTP response with this status line, signature and body. `None`: it is not signed.
fn host_response(status: &str, signature: Option<&str>, body: &str) -> Vec<u8> {
    let signature = signature.map(|signature| format!("tillgate-signature: {signature}\r\n")).unwrap_or_default();
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{signature}\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn answers_that_somebody_else_makes_up_are_neither_an_approval_nor_a_decline() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &IMPATIENT).await?;
    let approved = r#"{"operation":"authorize","outcome":"approved","responseCode":"00"}"#;
    let refused = r#"{"error":"malformed","message":"no"}"#;
    let zeros = "0".repeat(64);
    let mut pending = Vec::new();
    for bytes in [
        host_response("200 OK", None, approved),
        host_response("200 OK", Some(&zeros), approved),
        host_response("400 Bad Request", Some(&zeros), refused),
        host_response("404 Not Found", None, refused),
        host_response("302 Found\r\nlocation: http://127.0.0.1:1/", None, ""),
        host_response("200 OK", Some(&zeros), &"x".repeat(1 << 20)),
        b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\nx".to_vec(),
        format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(100_000)).into_bytes(),
        b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(),
        Vec::new(),
    ] {
        let impostor = start_impostor(bytes).await?;
        scene.line.set_target(Some(&impostor));
        let paid = scene.pay_by_card("92.00", &[]).await?;
        assert_result(&paid, 200, "000.200.000");
        pending.push(paid.id().to_owned());
    }
    scene.line.set_target(Some(&scene.host.address));
    scene.shop.advance_clock("31s").await?;
    for id in pending {
        assert_result(&scene.wait_for_outcome(&id).await?, 400, "900.100.300");
    }
    assert!(scene.booked_entries("debit").await?.is_empty());
    scene.reconcile().await
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &IMPATIENT).await?;
    let endless = Receiver::start_with(|_| ReceiverReply::Endless).await?;
    let url = endless.url("");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    scene.line.set_target(Some(address));
    let paid = scene.pay_by_card("92.00", &[]).await?;
    assert_result(&paid, 200, "000.200.000");
    scene.line.set_target(Some(&scene.host.address));
    scene.shop.advance_clock("31s").await?;
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 400, "900.100.300");
    scene.reconcile().await
}

/// Starts a server in front of the host. It forwards the first request, and answers every request with the response to
/// that one. Returns its address.
async fn start_replayer(host: String) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        let mut recorded: Vec<u8> = Vec::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let mut buffer = vec![0; 64 * 1024];
            // A request is small, and comes at once.
            while let Ok(read @ 1..) = client.read(&mut buffer).await {
                if recorded.is_empty()
                    && let Ok(mut upstream) = TcpStream::connect(&host).await
                {
                    let _ = upstream.write_all(&buffer[..read]).await;
                    let mut response = vec![0; 64 * 1024];
                    let length = upstream.read(&mut response).await.unwrap_or_default();
                    recorded.extend_from_slice(&response[..length]);
                }
                let _ = client.write_all(&recorded).await;
            }
        }
    });
    Ok(address)
}

#[tokio::test]
async fn an_answer_that_is_replayed_counts_for_its_own_request_only() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &IMPATIENT).await?;
    let replayer = start_replayer(scene.host.address.clone()).await?;
    scene.line.set_target(Some(&replayer));
    let first = scene.pay_by_card("92.00", &[]).await?;
    let second = scene.pay_by_card("92.00", &[]).await?;
    assert_result(&second, 200, "000.200.000");
    let refund = scene.modify(first.id(), "RF", "92.00").await?;
    scene.line.set_target(Some(&scene.host.address));
    scene.shop.advance_clock("31s").await?;
    assert_result(&scene.wait_for_outcome(first.id()).await?, 200, "000.100.112");
    assert_result(&scene.wait_for_outcome(second.id()).await?, 400, "900.100.300");
    if !refund.id().is_empty() {
        scene.wait_for_outcome(refund.id()).await?;
    }
    scene.reconcile().await
}

#[tokio::test]
async fn a_host_that_is_away_never_has_a_refund_declined_that_it_may_have_made() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &IMPATIENT).await?;
    let paid = scene.pay_by_card("92.00", &[]).await?;
    scene.host.schedule_fault("refund", "cut", 1).await?;
    let refund = scene.modify(paid.id(), "RF", "92.00").await?;
    assert!(["000.200.000", "000.100.112"].contains(&refund.result_code()), "{}", refund.text);
    scene.line.set_target(None);
    scene.shop.advance_clock("1m").await?;
    assert_result(&scene.pay_by_card("1.00", &[]).await?, 200, "000.200.000");
    let other = scene.shop.pay_by_card(&[]).await?;
    assert_result(&other, 200, "000.100.110");
    scene.line.set_target(Some(&scene.host.address));
    scene.shop.advance_clock("31s").await?;
    assert_result(&scene.wait_for_outcome(refund.id()).await?, 200, "000.100.112");
    scene.shop.advance_clock("20m").await?;
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_never_answers_keeps_only_its_own_payments_waiting() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-timeout", "50s"]).await?;
    let shop = scene.shop.clone();
    let silent = tokio::spawn(async move {
        let fields = [("testMode", "EXTERNAL"), ("amount", "2000.02")];
        join_all((0..100).map(|_| shop.pay_by_card(&fields))).await
    });
    let host = scene.host.client();
    poll_until(
        "all wait for the host",
        async || Ok((booked_entries(&host, "debit").await?.len() == 100).then_some(())),
    )
    .await?;
    for _ in 0..10 {
        assert_result(&scene.shop.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    assert!(!silent.is_finished(), "the others waited for the host");
    // Connections of before end.
    scene.line.set_target(Some(&scene.host.address));
    for paid in silent.await? {
        assert_result(&scene.wait_for_outcome(paid?.id()).await?, 200, "000.100.112");
    }
    scene.reconcile().await
}
