//! Attacks on 3-D Secure at a 3DS server: results that are forged, replayed or of other payments, browsers that claim
//! to be authenticated, and a server that is gone.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, HostReply, HostRequest, send_signed_message};

use super::server::{CHALLENGE, PAID, PENDING, ServerScene, answer_challenge, decode_message, hidden_value};
use super::{post_to_page, read_payment, redirect_field, visit_page};
use crate::support::*;

const CAVV: &str = "AAACAgSRBklmQCFgMpEGAAAAAAA=";

/// The ids of a challenged payment: of the 3DS server and of the access control server. The directory server's is
/// unknown to browsers.
async fn read_ids(scene: &ServerScene, url: &str) -> anyhow::Result<[Value; 2]> {
    let (_, page) = visit_page(&scene.shop, url).await?;
    let request = decode_message(hidden_value(&page, "creq"));
    Ok([request["threeDSServerTransID"].clone(), request["acsTransID"].clone()])
}

/// Returns the directory server's id of a pending payment, which only the store knows.
fn read_directory_id(scene: &ServerScene, payment: &ApiResponse) -> anyhow::Result<Value> {
    let query = "SELECT document FROM payment WHERE id = ?1";
    let document: Vec<u8> = open_database(&scene.gateway)?.query_row(query, [payment.id()], |row| row.get(0))?;
    let document: Value = serde_json::from_slice(&document)?;
    Ok(document["redirect"]["authentication"]["server"]["challenge"]["ds_transaction"].clone())
}

/// Makes a result that authenticates the cardholder.
fn make_result([server, acs]: &[Value; 2], directory: &Value) -> Value {
    json!({
        "messageType": "RReq", "messageVersion": "2.2.0", "threeDSServerTransID": server, "acsTransID": acs,
        "dsTransID": directory, "transStatus": "Y", "authenticationValue": CAVV, "eci": "05", "messageCategory": "01",
    })
}

async fn send_result(url: &str, result: &Value) -> anyhow::Result<HostReply> {
    send_signed_message(&format!("{url}/result"), result, |request| request.sign_with_test_key()).await
}

#[tokio::test]
async fn a_browser_cannot_say_that_it_is_authenticated() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    let paid = scene.pay(CHALLENGE, &[]).await?;
    let url = redirect_field(&paid, "url").to_owned();
    let [server, acs] = read_ids(&scene, &url).await?;
    let forged = json!({
        "messageType": "CRes", "messageVersion": "2.2.0", "threeDSServerTransID": server, "acsTransID": acs,
        "challengeCompletionInd": "Y", "transStatus": "Y",
    });
    let cres = URL_SAFE_NO_PAD.encode(forged.to_string());
    assert_eq!(post_to_page(&scene.shop, &format!("{url}/challenge"), &[("cres", &cres)]).await?.0, 200);
    let transaction = server.as_str().unwrap_or_default();
    for fields in [
        [("transaction", transaction), ("returnCode", "000.100.110")],
        [("transaction", transaction), ("passkey", "{}")],
        [("cres", &cres), ("transStatus", "Y")],
    ] {
        post_to_page(&scene.shop, &url, &fields).await?;
        assert_result(&read_payment(&scene.shop, paid.id()).await?, 200, PENDING);
    }
    // The issuer has no result either, so the page asks again, and does not begin the challenge by itself.
    let (status, page) = visit_page(&scene.shop, &format!("{url}?challenge=over")).await?;
    assert_eq!(status, 200);
    assert!(page.contains("has not confirmed") && !page.contains("data-auto"), "{page}");
    answer_challenge(&scene, &url, "forged").await?;
    visit_page(&scene.shop, &format!("{url}?challenge=over")).await?;
    assert_result(&read_payment(&scene.shop, paid.id()).await?, 200, PENDING);
    Ok(())
}

#[tokio::test]
async fn a_result_needs_the_servers_signature_for_this_payment() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    let paid = scene.pay(CHALLENGE, &[]).await?;
    let url = redirect_field(&paid, "url").to_owned();
    let other = scene.pay(CHALLENGE, &[]).await?;
    let other_url = redirect_field(&other, "url").to_owned();
    let ids = read_ids(&scene, &url).await?;
    let result = make_result(&ids, &read_directory_id(&scene, &paid)?);
    let address = format!("{url}/result");
    type Sign = fn(&mut HostRequest) -> String;
    let forgeries: [(&str, Sign); 5] = [
        ("no signature", |_| String::new()),
        ("a wrong one", |_| "0".repeat(64)),
        ("an old date", |request| {
            let date: u64 = request.date.parse().unwrap_or_default();
            request.date = (date - 400).to_string();
            request.sign_with_test_key()
        }),
        ("another body", |request| {
            let signature = request.sign_with_test_key();
            request.body = request.body.replace("\"05\"", "\"06\"");
            signature
        }),
        ("another path", |request| {
            let path = std::mem::replace(&mut request.path, "/v1/threeDSecure/x/result".to_owned());
            let signature = request.sign_with_test_key();
            request.path = path;
            signature
        }),
    ];
    for (name, sign) in forgeries {
        let reply = send_signed_message(&address, &result, sign).await?;
        assert_eq!((reply.status, reply.is_signed), (401, false), "{name}");
    }
    // A signed result of this payment, sent to the address of another.
    let reply = send_result(&other_url, &result).await?;
    assert_eq!(
        (reply.status, &reply.json["messageType"], &reply.json["errorCode"]),
        (200, &json!("Erro"), &json!("301"))
    );
    let missing =
        send_result(&url.replace(url.rsplit('/').next().unwrap_or_default(), &"0".repeat(32)), &result).await?;
    assert_eq!(missing.status, 404);
    for (name, value, code) in [
        ("threeDSServerTransID", json!("8a880dc0-d2d2-4067-bcb1-b08d1690b26e"), "301"),
        ("dsTransID", json!("8a880dc0-d2d2-4067-bcb1-b08d1690b26e"), "301"),
        ("acsTransID", json!("8a880dc0-d2d2-4067-bcb1-b08d1690b26e"), "301"),
        ("messageVersion", json!("2.3.1"), "102"),
        ("messageType", json!("ARes"), "101"),
        ("transStatus", json!("C"), "203"),
        ("eci", json!(5), "203"),
    ] {
        let mut wrong = result.clone();
        wrong[name] = value;
        let reply = send_result(&url, &wrong).await?;
        assert_eq!((reply.status, reply.is_signed, &reply.json["errorCode"]), (200, true, &json!(code)), "{name}");
    }
    for payment in [&paid, &other] {
        assert_result(&read_payment(&scene.shop, payment.id()).await?, 200, PENDING);
    }
    Ok(())
}

#[tokio::test]
async fn the_first_result_counts_and_a_replay_changes_nothing() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    let paid = scene.pay(CHALLENGE, &[]).await?;
    let url = redirect_field(&paid, "url").to_owned();
    let ids = read_ids(&scene, &url).await?;
    let mut failed = make_result(&ids, &read_directory_id(&scene, &paid)?);
    let passed = failed.clone();
    for (name, value) in [("transStatus", json!("N")), ("transStatusReason", json!("01"))] {
        failed[name] = value;
    }
    for _ in 0..2 {
        let reply = send_result(&url, &failed).await?;
        assert_eq!((&reply.json["messageType"], reply.is_signed), (&json!("RRes"), true), "{}", reply.json);
    }
    let reply = send_result(&url, &passed).await?;
    assert_eq!(reply.json["errorCode"], "305", "{}", reply.json);
    visit_page(&scene.shop, &url).await?;
    assert_result(&read_payment(&scene.shop, paid.id()).await?, 400, "100.390.100");
    // The payment has ended, and its receipt stays the same.
    assert_eq!(send_result(&url, &failed).await?.json["messageType"], "RRes");
    assert_eq!(send_result(&url, &passed).await?.json["errorCode"], "305");
    assert_result(&read_payment(&scene.shop, paid.id()).await?, 400, "100.390.100");
    Ok(())
}

#[tokio::test]
async fn a_result_that_contradicts_itself_shifts_no_liability() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    for (name, value) in [("eci", json!("06")), ("eci", json!("07")), ("authenticationValue", Value::Null)] {
        let paid = scene.pay(CHALLENGE, &[]).await?;
        let url = redirect_field(&paid, "url").to_owned();
        let mut result = make_result(&read_ids(&scene, &url).await?, &read_directory_id(&scene, &paid)?);
        match value {
            Value::Null => drop(result.as_object_mut().map(|fields| fields.remove(name))),
            value => result[name] = value,
        }
        assert_eq!(send_result(&url, &result).await?.json["messageType"], "RRes");
        visit_page(&scene.shop, &url).await?;
        let read = read_payment(&scene.shop, paid.id()).await?;
        assert_result(&read, 400, "100.390.107");
        assert!(read.json["threeDSecure"]["eci"].is_null(), "{}", read.text);
    }
    Ok(())
}

#[tokio::test]
async fn without_the_server_nobody_is_authenticated() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    let required = scene.gateway.create_merchant_with(&["--connector", "http", "--3d", "required"])?;
    let ServerScene { gateway, server, shop } = scene;
    drop(server);
    let external = [("testMode", "EXTERNAL")];
    let paid = super::pay_by_card(&shop, "VISA", CHALLENGE, &external).await?;
    assert_result(&paid, 200, PAID);
    assert!(paid.json["threeDSecure"]["eci"].is_null(), "{}", paid.text);
    let declined = super::pay_by_card(&required, "VISA", CHALLENGE, &external).await?;
    assert_result(&declined, 400, "000.400.103");
    drop(gateway);
    Ok(())
}
