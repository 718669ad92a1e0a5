//! 3-D Secure at a 3DS server in a process of its own: the card ranges, the method page and the challenge at the origin
//! of the issuer, and the result, which the gateway takes from the server alone.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, TestThreeDsServer};

use super::{post_to_page, read_payment, redirect_field, visit_page};
use crate::support::*;

pub const PAID: &str = "000.100.112";
pub const PENDING: &str = "000.200.000";
/// A card that is challenged, without a method page.
pub const CHALLENGE: &str = "4200000000000018";
/// A card that is challenged after a method page.
const CHALLENGE_WITH_METHOD: &str = "4200000000000042";

/// A gateway with a 3DS server, and a merchant whose channel uses the external connector.
pub struct ServerScene {
    pub gateway: TestGateway,
    pub server: TestThreeDsServer,
    pub shop: MerchantClient,
}

impl ServerScene {
    /// Starts a 3DS server and a gateway that uses it, and waits for its card ranges.
    pub async fn start(merchant_arguments: &[&str]) -> anyhow::Result<Self> {
        let server = TestThreeDsServer::start()?;
        let arguments = server.gateway_arguments();
        let gateway = TestGateway::start_with(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        gateway.wait_for_log("the card ranges of the 3DS server are loaded").await?;
        let shop = gateway.create_merchant_with(&[&["--connector", "http"], merchant_arguments].concat())?;
        Ok(Self { gateway, server, shop })
    }

    /// Pays with a Visa card, with all data that 3-D Secure needs. Returns any response.
    pub async fn pay(&self, number: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        super::pay_by_card(&self.shop, "VISA", number, &[&[("testMode", "EXTERNAL")], fields].concat()).await
    }
}

/// Returns the value of the hidden input with a name on a page, or an empty text.
pub fn hidden_value<'a>(page: &'a str, name: &str) -> &'a str {
    let part = format!(r#"name="{name}" value=""#);
    page.split_once(&part).map_or("", |(_, rest)| rest).split('"').next().unwrap_or_default()
}

/// Returns the address to which the first form of a page posts, or an empty text.
pub fn form_action(page: &str) -> &str {
    page.split_once(r#"action=""#).map_or("", |(_, rest)| rest).split('"').next().unwrap_or_default()
}

/// Decodes a message in base64url. Null if it is none.
pub fn decode_message(text: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Answers the challenge of a payment at the issuer, and returns the issuer's page that leads back.
pub async fn answer_challenge(scene: &ServerScene, url: &str, answer: &str) -> anyhow::Result<String> {
    let (status, page) = visit_page(&scene.shop, url).await?;
    assert_eq!(status, 200, "{page}");
    let acs = form_action(&page).to_owned();
    assert!(acs.starts_with(&format!("http://{}/acs/", scene.server.address)), "{page}");
    let (status, challenge) = post_to_page(&scene.shop, &acs, &[("creq", hidden_value(&page, "creq"))]).await?;
    assert_eq!(status, 200, "{challenge}");
    let transaction = hidden_value(&challenge, "transaction");
    let action = format!("http://{}{}", scene.server.address, form_action(&challenge));
    let (status, back) =
        post_to_page(&scene.shop, &action, &[("transaction", transaction), ("answer", answer)]).await?;
    assert_eq!(status, 200, "{back}");
    Ok(back)
}

#[tokio::test]
async fn cards_without_a_challenge_are_authenticated_by_the_server() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    for (number, status, eci) in [("4200000000000026", "Y", "05"), ("4200000000000059", "A", "06")] {
        let paid = scene.pay(number, &[]).await?;
        assert_result(&paid, 200, PAID);
        let result = &paid.json["threeDSecure"];
        assert_eq!((&result["authenticationStatus"], &result["eci"]), (&status.into(), &eci.into()), "{}", paid.text);
        assert_eq!(result["version"], "2.2.0");
        assert_eq!(result["verificationId"].as_str().map(str::len), Some(28), "{}", paid.text);
    }
    let rejected = scene.pay("4200000000000034", &[]).await?;
    assert_result(&rejected, 400, "100.390.114");
    let unavailable = scene.pay("4012001037461114", &[]).await?;
    assert_result(&unavailable, 200, PAID);
    assert!(unavailable.json["threeDSecure"]["eci"].is_null(), "{}", unavailable.text);
    // No range has this card.
    let unknown = scene.pay("4200000000000000", &[]).await?;
    assert_result(&unknown, 200, PAID);
    assert!(unknown.json["threeDSecure"]["authenticationStatus"].is_null(), "{}", unknown.text);
    let mastercard = super::pay_by_card(&scene.shop, "MASTER", "5200000000000056", &[("testMode", "EXTERNAL")]).await?;
    assert_eq!(mastercard.json["threeDSecure"]["version"], "2.3.1", "{}", mastercard.text);
    assert_eq!(mastercard.json["threeDSecure"]["eci"], "02", "{}", mastercard.text);
    Ok(())
}

#[tokio::test]
async fn a_challenge_at_the_issuer_ends_the_payment_by_the_servers_result() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    for (answer, code) in [
        ("confirm", PAID),
        ("attempt", PAID),
        ("fail", "100.390.100"),
        ("cancel", "100.396.101"),
        ("reject", "100.390.118"),
        ("unavailable", "100.390.107"),
        // The result got lost on its way. The gateway asks for it.
        ("lost", PAID),
    ] {
        let paid = scene.pay(CHALLENGE, &[]).await?;
        assert_result(&paid, 200, PENDING);
        let url = redirect_field(&paid, "url").to_owned();
        let back = answer_challenge(&scene, &url, answer).await?;
        assert_eq!(form_action(&back), format!("{url}/challenge"));
        assert_result(&read_payment(&scene.shop, paid.id()).await?, 200, PENDING);
        let (status, notice) = post_to_page(&scene.shop, form_action(&back), &[("cres", "x")]).await?;
        assert_eq!(status, 200, "{notice}");
        let (status, ended) = visit_page(&scene.shop, &format!("{url}?challenge=over")).await?;
        assert_eq!(status, 200, "{ended}");
        let read = read_payment(&scene.shop, paid.id()).await?;
        let passes = code == PAID;
        assert_result(&read, if passes { 200 } else { 400 }, code);
        assert_eq!(read.json["threeDSecure"]["verificationId"].is_null(), !passes, "{answer} {}", read.text);
    }
    Ok(())
}

#[tokio::test]
async fn pages_of_the_issuer_are_in_frames_of_ours_that_allow_its_origin_only() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    let issuer = format!("http://{}", scene.server.address);
    let paid = scene.pay(CHALLENGE_WITH_METHOD, &[]).await?;
    assert_result(&paid, 200, PENDING);
    let url = redirect_field(&paid, "url").to_owned();
    let precondition = paid.json["redirect"]["preconditions"][0]["url"].as_str().unwrap_or_default();
    assert_eq!(precondition, format!("{url}/method"));
    let policy = async |page: &str| -> anyhow::Result<(String, String)> {
        let response = scene.shop.client.get(page).send().await?;
        let header = |name: &str| response.headers()[name].to_str().unwrap_or_default().to_owned();
        Ok((header("content-security-policy"), header("cross-origin-embedder-policy")))
    };
    let allowed = format!("form-action 'self' {issuer}; frame-src 'self' {issuer}; base-uri");
    for page in [&url, precondition] {
        let (policy, embedder) = policy(page).await?;
        assert!(policy.contains(&allowed), "{policy}");
        assert_eq!(embedder, "unsafe-none");
    }
    let (_, method) = visit_page(&scene.shop, precondition).await?;
    let data = decode_message(hidden_value(&method, "threeDSMethodData"));
    assert_eq!(data["threeDSMethodNotificationURL"], format!("{url}/method"));
    let fields = [("threeDSMethodData", hidden_value(&method, "threeDSMethodData"))];
    let (status, posted) = post_to_page(&scene.shop, form_action(&method), &fields).await?;
    assert_eq!((status, form_action(&posted)), (200, format!("{url}/method").as_str()), "{posted}");
    assert_eq!(post_to_page(&scene.shop, form_action(&posted), &[]).await?.0, 200);
    // The method page has run, so the visit goes on to the challenge.
    let (_, page) = visit_page(&scene.shop, &url).await?;
    let request = decode_message(hidden_value(&page, "creq"));
    assert_eq!((&request["messageType"], &request["messageVersion"]), (&"CReq".into(), &"2.2.0".into()), "{page}");
    assert_eq!(request["threeDSServerTransID"], data["threeDSServerTransID"]);
    assert!(page.contains(r#"<iframe class="issuer" name="issuer""#), "{page}");
    assert!(policy(&url).await?.0.contains(&allowed));
    answer_challenge(&scene, &url, "confirm").await?;
    visit_page(&scene.shop, &url).await?;
    assert_result(&read_payment(&scene.shop, paid.id()).await?, 200, PAID);
    assert!(policy(&url).await?.0.contains("form-action 'self'; frame-src 'self'"));
    Ok(())
}

#[tokio::test]
async fn a_payment_continues_without_its_shopper() -> anyhow::Result<()> {
    let scene = ServerScene::start(&[]).await?;
    let paid = scene.pay(CHALLENGE, &[]).await?;
    answer_challenge(&scene, redirect_field(&paid, "url"), "confirm").await?;
    // The browser never comes back.
    tillgate_tests::poll_until("the payment has an outcome", async || {
        let read = read_payment(&scene.shop, paid.id()).await?;
        Ok((read.result_code() == PAID).then_some(()))
    })
    .await
}
