//! Requests that `tillgate acquirer-host` refuses: unsigned, late, malformed and oversized ones.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use tillgate_tests::{HostRequest, TestAcquirerHost};

use crate::acquirer::host::{assert_outcome, assert_refused, authorization_request, with_changes};

#[tokio::test]
async fn what_is_not_signed_or_not_of_now_is_refused_and_books_nothing() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let good = HostRequest::new("authorize", "p1", &authorization_request("p1"));
    let signature = good.sign_with_test_key();
    let moved = |seconds: i64| {
        let date = good.date.parse::<i64>().unwrap_or_default() + seconds;
        HostRequest { date: date.to_string(), ..good.clone() }
    };
    let changed = HostRequest { body: good.body.replace("9200", "9300"), ..good.clone() };
    let renamed = HostRequest { key: "p2".to_owned(), ..good.clone() };
    let redirected = HostRequest { path: "/v1/credit".to_owned(), ..good.clone() };
    let queried = HostRequest { path: "/v1/authorize?a".to_owned(), ..good.clone() };
    for wrong in [changed, renamed, redirected, queried, moved(1)] {
        let reply = host.send_with_signature(&wrong, &signature).await?;
        assert_refused(&reply, 401, "signature");
        assert!(!reply.is_signed);
    }
    for text in ["", "0", &"0".repeat(64), &signature[1..], &format!("{signature}{signature}")] {
        assert_refused(&host.send_with_signature(&good, text).await?, 401, "signature");
    }
    for seconds in [-301, 400, -1_000_000_000] {
        let reply = host.sign_and_send(&moved(seconds)).await?;
        assert_refused(&reply, 401, "date");
        assert!(reply.is_signed, "the host knows the key");
    }
    for text in ["", "now", "1e9", "99999999999999999999"] {
        assert_refused(&host.sign_and_send(&HostRequest { date: text.to_owned(), ..good.clone() }).await?, 401, "date");
    }
    assert!(host.read_ledger().await?.is_empty());
    assert_outcome(&host.send_with_signature(&good, &signature).await?, "approved", "00");
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_the_place_and_without_the_value() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&["--control"])?;
    for (path, value) in [
        ("/amount", json!(-1)),
        ("/amount", json!(92.5)),
        ("/amount", json!("9200")),
        ("/amount", json!(null)),
        ("/amount", json!(10_000_000_000_000_000_u64)),
        ("/amount", json!(u64::MAX)),
        ("/amount", json!(1e300)),
        ("/currency", json!("eur")),
        ("/currency", json!("XXX")),
        ("/currency", json!(978)),
        ("/merchantId", json!("")),
        ("/merchantId", json!("a b")),
        ("/merchantId", json!("x".repeat(65))),
        ("/paymentId", json!("\u{0}")),
        ("/paymentId", json!(["p1"])),
        ("/account", json!({ "type": "card" })),
        ("/account", json!({ "type": "cash" })),
        ("/account", json!({ "type": "bank" })),
        ("/account", json!("4200000000000000")),
        ("/account/number", json!(4_200_000_000_000_000_u64)),
        ("/account/number", json!("4200 0000 0000 0000")),
        ("/account/number", json!("")),
        ("/account/expiryMonth", json!("13")),
        ("/account/expiryYear", json!("٢٠٣٤")),
        ("/account/entry", json!("stolen")),
        ("/billing", json!("Kiln Lane 4")),
        ("/shopperPresent", json!("yes")),
    ] {
        let reply = host
            .send_operation("authorize", "p1", &with_changes(authorization_request("p1"), &[(path, value.clone())]))
            .await?;
        assert_refused(&reply, 400, "malformed");
        assert!(reply.is_signed && !reply.json.to_string().contains("4200"), "{path} {value}: {}", reply.json);
    }
    let good = HostRequest::new("authorize", "p1", &authorization_request("p1"));
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let double = good.body.replacen('{', "{\"amount\":1,", 1);
    for body in ["", "null", "[]", "{}", "{", "\u{feff}{}", &nested, &double] {
        assert_refused(
            &host.sign_and_send(&HostRequest { body: body.to_owned(), ..good.clone() }).await?,
            400,
            "malformed",
        );
    }
    for key in ["", "a b", "ä", &"x".repeat(65)] {
        let reply = host.sign_and_send(&HostRequest { key: key.to_owned(), ..good.clone() }).await;
        assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status >= 400), "{key}");
    }
    for (method, path, status, error) in [
        ("GET", "/v1/authorize", 405, "method"),
        ("DELETE", "/v1/authorize", 405, "method"),
        ("POST", "/ledger", 405, "method"),
        ("POST", "/v1/other", 404, "route"),
        ("POST", "/v1/authorize/", 404, "route"),
        ("GET", "/", 404, "route"),
        ("POST", "/control/faults", 400, "malformed"),
        ("GET", "/ledger?after=x", 400, "malformed"),
    ] {
        let request =
            HostRequest { method: method.parse()?, path: path.to_owned(), body: "{}".to_owned(), ..good.clone() };
        assert_refused(&host.sign_and_send(&request).await?, status, error);
    }
    assert!(host.read_ledger().await?.is_empty());
    let without_control = TestAcquirerHost::start(&[])?;
    assert!(without_control.schedule_fault("inquire", "silent", 1).await.is_err());
    Ok(())
}

#[tokio::test]
async fn giant_bodies_and_heads_are_cut_off_and_others_are_served() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let good = HostRequest::new("authorize", "p1", &authorization_request("p1"));
    let giant = HostRequest { body: format!("{}{}", good.body, " ".repeat(64 * 1024)), ..good.clone() };
    let reply = host.sign_and_send(&giant).await;
    assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 413));
    // Announced or sent sizes beyond the limits.
    for head in [
        "POST /v1/authorize HTTP/1.1\r\nhost: a\r\ncontent-length: 18446744073709551615\r\n\r\n".to_owned(),
        format!("POST /v1/authorize HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "x".repeat(64 * 1024)),
        "\0\0\0\0\r\n\r\n".to_owned(),
    ] {
        let mut stream = TcpStream::connect(&host.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        // The host may close the connection during the write, so errors are ignored.
        let mut answer = Vec::new();
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.read_to_end(&mut answer));
        let text = String::from_utf8_lossy(&answer);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 4"), "{text}");
    }
    // Idle connections do not prevent other requests.
    let idle: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&host.address)).collect::<Result<_, _>>()?;
    assert_outcome(&host.sign_and_send(&good).await?, "approved", "00");
    drop(idle);
    Ok(())
}
