//! Bodies of GET requests in the compatibility mode: they may name the entity, and are bounded.

use reqwest::Method;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, PATIENCE, encode_form};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::request::compatibility::{FORM, compatible_shop, pay_by_card, send_with_body};
use crate::support::*;

#[tokio::test]
async fn a_get_may_name_its_entity_in_its_body() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let paid = pay_by_card(&shop, &[("merchantTransactionId", "get-with-body")]).await?;
    let made = shop.create_checkout(&[]).await?;
    for name in ["entityId", "authentication.entityId"] {
        let entity = [(name, shop.entity_id.as_str())];
        let read = send_with_body(&shop, Method::GET, &format!("v1/payments/{}", paid.id()), &entity).await?;
        assert_eq!((read.status, read.id()), (200, paid.id()), "{}", read.text);
        let read = send_with_body(&shop, Method::GET, &format!("v1/checkouts/{}/payment", made.id()), &entity).await?;
        assert_result(&read, 200, "000.200.000");
        let found = send_with_body(&shop, Method::GET, "v1/query?merchantTransactionId=get-with-body", &entity).await?;
        assert_eq!(found.json["payments"][0]["id"], paid.id(), "{}", found.text);
    }
    let stored = shop.post("v1/registrations", &CARD).await?;
    let entity = [("entityId", shop.entity_id.as_str())];
    let path = format!("v1/registrations/{}", stored.id());
    assert_result(&send_with_body(&shop, Method::DELETE, &path, &entity).await?, 200, "000.100.110");
    // Identical values in query and body are accepted, different ones are refused. Other parameters in the body are
    // ignored.
    let both = format!("v1/payments/{}?entityId={}", paid.id(), shop.entity_id);
    assert_result(&send_with_body(&shop, Method::GET, &both, &entity).await?, 200, "000.100.110");
    let more = [entity[0], ("merchantTransactionId", "get-with-body")];
    assert_errors(&send_with_body(&shop, Method::GET, "v1/query", &more).await?, &["merchantTransactionId"]);
    // Without the mode, the body of a GET is ignored.
    let strict = crate::support::sandbox_shop();
    let own = [("entityId", strict.entity_id.as_str())];
    let path = format!("v1/payments/{}", paid.id());
    assert_errors(&send_with_body(&strict, Method::GET, &path, &own).await?, &["entityId"]);
    let queried = format!("{path}?entityId={}", strict.entity_id);
    assert_result(&send_with_body(&strict, Method::GET, &queried, &entity).await?, 404, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn an_entity_in_the_body_of_a_get_is_authenticated_like_one_in_its_query() -> anyhow::Result<()> {
    let (shop, stranger) = (compatible_shop(), other_shop());
    let paid = pay_by_card(&shop, &[]).await?;
    let path = format!("v1/payments/{}", paid.id());
    let (own, foreign) = ([("entityId", shop.entity_id.as_str())], [("entityId", stranger.entity_id.as_str())]);
    // Another merchant's entity with the own token, and the own entity with another merchant's token.
    assert_result(&send_with_body(&shop, Method::GET, &path, &foreign).await?, 403, "800.900.201");
    let thief = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), stranger.token.clone());
    let refused = send_with_body(&thief, Method::GET, &path, &own).await?;
    assert!([400, 403].contains(&refused.status), "{}", refused.text);
    let wrong = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), "d3Jvbmd8d3Jvbmc=".to_owned());
    assert_result(&send_with_body(&wrong, Method::GET, &path, &own).await?, 403, "800.900.300");
    let bare = shop.bare_request(Method::GET, &path).header("content-type", FORM).body(encode_form(own));
    assert_result(&ApiResponse::read_from(bare.send().await?).await?, 401, "800.900.300");
    // Credentials in the body of a GET are ignored.
    let pair = [own[0], ("authentication.userId", "a"), ("authentication.password", "b")];
    let bare = shop.bare_request(Method::GET, &path).header("content-type", FORM).body(encode_form(pair));
    assert_result(&ApiResponse::read_from(bare.send().await?).await?, 401, "800.900.300");
    // Two different values: in query and body, within the body, under both names.
    let queried = format!("{path}?entityId={}", shop.entity_id);
    for body in [
        &foreign[..],
        &[own[0], foreign[0]],
        &[own[0], ("authentication.entityId", foreign[0].1)],
        &[("authentication.entityId", foreign[0].1)],
        &[("entityId", "nonsense")],
    ] {
        assert_errors(&send_with_body(&shop, Method::GET, &queried, body).await?, &["entityId"]);
    }
    assert_errors(&send_with_body(&shop, Method::GET, &path, &[own[0], foreign[0]]).await?, &["entityId"]);
    assert_errors(&send_with_body(&shop, Method::GET, &path, &[("entityId", "")]).await?, &["entityId"]);
    Ok(())
}

#[tokio::test]
async fn the_body_of_a_get_is_bounded_and_need_not_be_a_form() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let paid = pay_by_card(&shop, &[]).await?;
    let (path, queried) =
        (format!("v1/payments/{}", paid.id()), format!("v1/payments/{}?entityId={}", paid.id(), shop.entity_id));
    let large = format!("entityId={}&x={}", shop.entity_id, "x".repeat(1024 * 1024));
    let request = |path: &str| shop.bare_request(Method::GET, path).bearer_auth(&shop.token);
    let refused = ApiResponse::read_from(request(&path).header("content-type", FORM).body(large).send().await?).await?;
    assert_eq!(refused.status, 413, "{}", refused.text);
    for (kind, body) in [("application/json", r#"{"entityId":"x"}"#), ("text/plain", "entityId=x"), ("", "")] {
        let read = |path: &str| request(path).header("content-type", kind).body(body).send();
        assert_result(&ApiResponse::read_from(read(&queried).await?).await?, 200, "000.100.110");
        assert_errors(&ApiResponse::read_from(read(&path).await?).await?, &["entityId"]);
    }
    for junk in ["%", "a[=1", "=1", "\u{0}=1"] {
        let answer =
            ApiResponse::read_from(request(&path).header("content-type", FORM).body(junk).send().await?).await?;
        assert_result(&answer, 400, "200.300.404");
    }
    Ok(())
}

#[tokio::test]
async fn a_body_of_a_get_that_is_held_back_ends_and_a_stranger_waits_for_none() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let head = |entity: &str, token: &str| {
        format!(
            "GET /v1/query?merchantTransactionId=held-back{entity} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: {FORM}\r\nContent-Length: 1000\r\nConnection: close\r\n\r\nentityId="
        )
    };
    let strict = crate::support::sandbox_shop();
    for (head, status) in [
        (head("", &shop.token), "408"),
        (head("", "d3Jvbmd8d3Jvbmc="), "403"),
        (head("", &strict.token), "400"),
        (head(&format!("&entityId={}", strict.entity_id), &strict.token), "404"),
    ] {
        let address = shop.base.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.write_all(head.as_bytes()).await?;
        let mut answer = vec![0; 12];
        tokio::time::timeout(PATIENCE, stream.read_exact(&mut answer)).await??;
        assert_eq!(String::from_utf8_lossy(&answer), format!("HTTP/1.1 {status}"), "{head}");
    }
    Ok(())
}
