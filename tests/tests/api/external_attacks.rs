//! Attacks on the line to an acquirer's host: whoever answers in its place gets nothing believed, and a host that does not answer
//! keeps nobody else waiting.

use futures_util::future::join_all;
use tillgate_tests::{Receiver, Reply, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::external::{Scene, booked};
use crate::support::*;

const IMPATIENT: [&str; 2] = ["--acquirer-timeout", "1s"];

/// Answers every connection with these bytes, after the head of a request.
async fn impostor(answer: Vec<u8>) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(&answer).await;
            });
        }
    });
    Ok(address)
}

/// An answer with a body of so many bytes, signed by nobody or with a signature of zeros.
fn answer(status: &str, signature: Option<&str>, body: &str) -> Vec<u8> {
    let signature = signature.map(|signature| format!("tillgate-signature: {signature}\r\n")).unwrap_or_default();
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{signature}\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn answers_that_somebody_else_makes_up_are_neither_an_approval_nor_a_decline() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &IMPATIENT).await?;
    let approved = r#"{"operation":"authorize","outcome":"approved","responseCode":"00"}"#;
    let refused = r#"{"error":"malformed","message":"no"}"#;
    let zeros = "0".repeat(64);
    let mut pending = Vec::new();
    for bytes in [
        answer("200 OK", None, approved),
        answer("200 OK", Some(&zeros), approved),
        answer("400 Bad Request", Some(&zeros), refused),
        answer("404 Not Found", None, refused),
        answer("302 Found\r\nlocation: http://127.0.0.1:1/", None, ""),
        answer("200 OK", Some(&zeros), &"x".repeat(1 << 20)),
        b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\nx".to_vec(),
        format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(100_000)).into_bytes(),
        b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(),
        Vec::new(),
    ] {
        let impostor = impostor(bytes).await?;
        scene.line.lead_to(Some(&impostor));
        let paid = scene.pay("92.00", &[]).await?;
        assert_answer(&paid, 200, "000.200.000");
        pending.push(paid.id().to_owned());
    }
    scene.line.lead_to(Some(&scene.host.address));
    scene.shop.advance("31s").await?;
    for id in pending {
        assert_answer(&scene.settled(&id).await?, 400, "900.100.300");
    }
    assert!(scene.booked("debit").await?.is_empty());
    scene.reconcile().await
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &IMPATIENT).await?;
    let endless = Receiver::answering(|_| Reply::Endless).await?;
    let url = endless.url("");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    scene.line.lead_to(Some(address));
    let paid = scene.pay("92.00", &[]).await?;
    assert_answer(&paid, 200, "000.200.000");
    scene.line.lead_to(Some(&scene.host.address));
    scene.shop.advance("31s").await?;
    assert_answer(&scene.settled(paid.id()).await?, 400, "900.100.300");
    scene.reconcile().await
}

/// Takes requests to the host and answers every one with the first answer that it gave.
async fn replayer(host: String) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        let mut recorded: Vec<u8> = Vec::new();
        while let Ok((mut near, _)) = listener.accept().await {
            let mut buffer = vec![0; 64 * 1024];
            // A request is small, and comes at once.
            while let Ok(read @ 1..) = near.read(&mut buffer).await {
                if recorded.is_empty()
                    && let Ok(mut far) = TcpStream::connect(&host).await
                {
                    let _ = far.write_all(&buffer[..read]).await;
                    let mut answer = vec![0; 64 * 1024];
                    let length = far.read(&mut answer).await.unwrap_or_default();
                    recorded.extend_from_slice(&answer[..length]);
                }
                let _ = near.write_all(&recorded).await;
            }
        }
    });
    Ok(address)
}

#[tokio::test]
async fn an_answer_that_is_replayed_counts_for_its_own_request_only() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &IMPATIENT).await?;
    let replayer = replayer(scene.host.address.clone()).await?;
    scene.line.lead_to(Some(&replayer));
    let first = scene.pay("92.00", &[]).await?;
    let second = scene.pay("92.00", &[]).await?;
    assert_answer(&second, 200, "000.200.000");
    let refund = scene.modify(first.id(), "RF", "92.00").await?;
    scene.line.lead_to(Some(&scene.host.address));
    scene.shop.advance("31s").await?;
    assert_answer(&scene.settled(first.id()).await?, 200, "000.100.112");
    assert_answer(&scene.settled(second.id()).await?, 400, "900.100.300");
    if !refund.id().is_empty() {
        scene.settled(refund.id()).await?;
    }
    scene.reconcile().await
}

#[tokio::test]
async fn a_host_that_is_away_never_has_a_refund_declined_that_it_may_have_made() -> anyhow::Result<()> {
    let scene = Scene::start(&["--control"], &IMPATIENT).await?;
    let paid = scene.pay("92.00", &[]).await?;
    scene.host.plan_fault("refund", "cut", 1).await?;
    let refund = scene.modify(paid.id(), "RF", "92.00").await?;
    assert!(["000.200.000", "000.100.112"].contains(&refund.code()), "{}", refund.text);
    scene.line.lead_to(None);
    scene.shop.advance("1m").await?;
    assert_answer(&scene.pay("1.00", &[]).await?, 200, "000.200.000");
    let other = scene.shop.pay(&[]).await?;
    assert_answer(&other, 200, "000.100.110");
    scene.line.lead_to(Some(&scene.host.address));
    scene.shop.advance("31s").await?;
    assert_answer(&scene.settled(refund.id()).await?, 200, "000.100.112");
    scene.shop.advance("20m").await?;
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_never_answers_keeps_only_its_own_payments_waiting() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &["--acquirer-timeout", "50s"]).await?;
    let shop = scene.shop.clone();
    let silent = tokio::spawn(async move {
        let fields = [("testMode", "EXTERNAL"), ("amount", "2000.02")];
        join_all((0..100).map(|_| shop.pay(&fields))).await
    });
    let host = scene.host.caller();
    until("all wait for the host", async || Ok((booked(&host, "debit").await?.len() == 100).then_some(()))).await?;
    for _ in 0..10 {
        assert_answer(&scene.shop.pay(&[]).await?, 200, "000.100.110");
    }
    assert!(!silent.is_finished(), "the others waited for the host");
    // Connections of before end.
    scene.line.lead_to(Some(&scene.host.address));
    for paid in silent.await? {
        assert_answer(&scene.settled(paid?.id()).await?, 200, "000.100.112");
    }
    scene.reconcile().await
}
