//! `Idempotency-Key`: a repeated request with the same key gets the stored response and has no effect.

use reqwest::Method;
use tillgate_api::reference::ROUTES;
use tillgate_tests::{ApiResponse, CARD, Database, MerchantClient, TestGateway, encode_form, poll_until};

use crate::dispute::disputes::DisputeScene;
use crate::payment::held_payments::create_reviewed_shop;
use crate::review::queue::hold_payment;
use crate::schedule::schedules::{SCHEDULES, create_schedule, register_card};
use crate::support::*;

/// Returns a request about a new dispute that succeeds.
async fn example_dispute(
    scene: &DisputeScene,
    route: &str,
) -> anyhow::Result<(String, Vec<(&'static str, &'static str)>)> {
    if route == "/v1/disputes" {
        let fields = vec![("paymentId", &*scene.pay().await?.leak()), ("stage", "RETRIEVAL_REQUEST")];
        return Ok(("v1/disputes".to_owned(), fields));
    }
    let id = scene.open_chargeback().await?;
    if route.ends_with("/advance") {
        scene.represent(&id).await?;
    }
    let fields = if route.ends_with("/advance") { ("stage", "REVERSAL") } else { ("note", "seen") };
    Ok((route.trim_start_matches('/').replace("{id}", &id), vec![fields]))
}

/// Returns the parameters of a debit of an amount in euros with the test card.
pub fn debit_fields(amount: &str) -> Vec<(&str, &str)> {
    let order = [("amount", amount), ("currency", "EUR"), ("paymentType", "DB")];
    order.into_iter().chain(CARD).collect()
}

/// Posts with the merchant's token, its entity and an `Idempotency-Key`. Returns any response.
pub async fn post_with_key(
    shop: &MerchantClient,
    path: &str,
    key: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let entity = [("entityId", shop.entity_id.as_str())];
    let body = encode_form(entity.iter().chain(fields).copied());
    let request = shop.bare_request(Method::POST, path).bearer_auth(&shop.token).header("idempotency-key", key);
    ApiResponse::read_from(request.header("content-type", "application/x-www-form-urlencoded").body(body).send().await?)
        .await
}

/// Pays 92.00 EUR with the test card and an `Idempotency-Key`. Returns any response.
pub async fn pay_with_key(shop: &MerchantClient, key: &str) -> anyhow::Result<ApiResponse> {
    post_with_key(shop, "v1/payments", key, &debit_fields("92.00")).await
}

/// Asserts that a response is a replay: status and bytes of the first response, and the header `Idempotent-Replayed`,
/// which the first one does not have.
#[track_caller]
pub fn assert_replay(again: &ApiResponse, first: &ApiResponse) {
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.headers["content-type"], first.headers["content-type"]);
    assert!(!first.headers.contains_key("idempotent-replayed"), "{:?}", first.headers);
}

/// Asserts a 400 whose parameter error and description name the header.
#[track_caller]
fn assert_key_refused(answer: &ApiResponse) {
    assert_errors(answer, &["Idempotency-Key"]);
    let description = answer.json["result"]["description"].as_str().unwrap_or_default();
    assert!(description.contains("Idempotency-Key"), "{}", answer.text);
}

/// Counts the merchant's payments in the store.
pub fn count_payments(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<u32> {
    let query = "SELECT count(*) FROM payment WHERE entity = ?1";
    Ok(open_database(gateway)?.query_row(query, [&shop.entity_id], |row| row.get(0))?)
}

#[tokio::test]
async fn a_payment_sent_twice_under_one_key_is_made_once_and_answered_twice_in_the_same_bytes() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let first = pay_with_key(&shop, "order-4711").await?;
    assert_result(&first, 200, "000.100.110");
    for _ in 0..3 {
        assert_replay(&pay_with_key(&shop, "order-4711").await?, &first);
    }
    assert_eq!(count_payments(gateway, &shop)?, 1);
    // The returned id can be read, and another key makes another payment.
    assert_eq!(shop.get(&format!("v1/payments/{}", first.id())).await?.id(), first.id());
    assert_ne!(pay_with_key(&shop, "order-4712").await?.id(), first.id());
    Ok(())
}

/// Returns path and fields of a valid request for a POST route of the merchant, and creates the object that it is
/// about. Fails for an unknown route: a new route must be added here.
async fn example_request(
    shop: &MerchantClient,
    route: &str,
) -> anyhow::Result<(String, Vec<(&'static str, &'static str)>)> {
    let checkout = vec![("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("integrity", "true")];
    Ok(match route {
        "/v1/checkouts" => ("v1/checkouts".to_owned(), checkout),
        "/v1/checkouts/{id}" => {
            (format!("v1/checkouts/{}", shop.create_checkout(&[]).await?.id()), vec![("amount", "50.00")])
        }
        "/v1/checkouts/{id}/confirm" => {
            let checkout = shop.create_checkout(&[]).await?;
            shop.submit_card(checkout.id(), &[("useSummaryPage", "true")]).await?;
            (format!("v1/checkouts/{}/confirm", checkout.id()), Vec::new())
        }
        "/v1/payments" => ("v1/payments".to_owned(), debit_fields("92.00")),
        "/v1/payments/{id}" => {
            let refund = vec![("paymentType", "RF"), ("amount", "10.00"), ("currency", "EUR")];
            (format!("v1/payments/{}", shop.pay_by_card(&[]).await?.id()), refund)
        }
        "/v1/registrations" => ("v1/registrations".to_owned(), tillgate_tests::CARD.to_vec()),
        "/v1/registrations/{id}/extendlife" => {
            let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
            (format!("v1/registrations/{}/extendlife", stored.id()), vec![("job.durationNumber", "12")])
        }
        "/v1/registrations/{id}/payments" => {
            let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
            let charge = vec![("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
            (format!("v1/registrations/{}/payments", stored.id()), charge)
        }
        "/scheduling/v1/schedules" => {
            // Every other field is static; there is one such leak for each test.
            let registration = register_card(shop, &[]).await?.leak();
            let mut fields = vec![("amount", "9.00"), ("currency", "EUR"), ("paymentType", "SD"), ("job.hour", "12")];
            fields.push(("registrationId", registration));
            (SCHEDULES.to_owned(), fields)
        }
        "/scheduling/v1/schedules/{id}/reschedule" | "/scheduling/v1/schedules/{id}/deschedule" => {
            let registration = register_card(shop, &[]).await?;
            let created = create_schedule(shop, &registration, &[("job.hour", "12")]).await?;
            (route.trim_start_matches('/').replace("{id}", created.id()), Vec::new())
        }
        "/v1/clock/{advance}" => ("v1/clock/0s".to_owned(), Vec::new()),
        "/v2/riskScreen" => ("v2/riskScreen".to_owned(), check_fields()),
        "/v2/registrations/{id}/riskScreen" => {
            let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
            (format!("v2/registrations/{}/riskScreen", stored.id()), CHECKED_ORDER.to_vec())
        }
        "/v2/risk/rules" => ("v2/risk/rules".to_owned(), vec![("rules", "")]),
        "/v2/risk/rules/{version}/activate" => ("v2/risk/rules/none/activate".to_owned(), Vec::new()),
        "/v2/risk/rules/{version}/shadow" => ("v2/risk/rules/none/shadow".to_owned(), Vec::new()),
        "/v2/risk/lists" => {
            ("v2/risk/lists".to_owned(), vec![("list", "deny"), ("key", "ip"), ("value", "203.0.113.7")])
        }
        route if route.starts_with("/v2/reviews/{id}/") => {
            let held = hold_payment(shop, &[]).await?;
            (route.trim_start_matches('/').replace("{id}", &held), vec![("note", "seen"), ("reason", "7")])
        }
        route => anyhow::bail!("no example for {route}: add one, and record its response (`response_recorder`)"),
    })
}

/// The order of a stand-alone risk check.
const CHECKED_ORDER: [(&str, &str); 3] =
    [("amount", "92.00"), ("currency", "EUR"), ("merchantTransactionId", "order-0001")];

/// Returns the parameters of a stand-alone risk check.
fn check_fields() -> Vec<(&'static str, &'static str)> {
    [&tillgate_tests::CARD[..], &CHECKED_ORDER].concat()
}

#[tokio::test]
async fn every_post_of_the_merchants_takes_a_key() -> anyhow::Result<()> {
    let plain = sandbox_shop();
    let reviewed = create_reviewed_shop(TestGateway::shared(), "hold", &[]).await?;
    let checking = TestGateway::shared().create_merchant_with(&["--risk", "on"])?;
    // A dry run changes nothing and has a response of any length, so it takes no key.
    assert!(ROUTES.iter().any(|row| row.path.ends_with("/dryRun") && !row.is_idempotent()));
    let disputed = DisputeScene::create()?;
    // A file with a key is tested in `dispute::evidence`.
    for row in ROUTES.iter().filter(|row| row.is_idempotent() && !row.path.ends_with("/evidence")) {
        let (method, route) = (row.method.as_str(), row.path);
        let shop = match route {
            "/v1/disputes" | "/v1/disputes/{id}/advance" => &disputed.operator,
            _ if route.starts_with("/v1/disputes/") => &disputed.shop,
            _ if route.starts_with("/v2/reviews/") => &reviewed,
            _ if route.ends_with("/riskScreen") => &checking,
            _ => &plain,
        };
        let (path, fields) = match route.starts_with("/v1/disputes") {
            true => example_dispute(&disputed, route).await?,
            false => example_request(shop, route).await?,
        };
        let key = format!("{method}:{path}");
        let first = post_with_key(shop, &path, &key, &fields).await?;
        assert_eq!(first.status, 200, "{route}: {}", first.text);
        assert_envelope(&first);
        let again = post_with_key(shop, &path, &key, &fields).await?;
        assert_eq!(again.text, first.text, "{route}");
        assert_replay(&again, &first);
        let more: Vec<_> = fields.iter().copied().chain([("customParameters[SHOPPER_x]", "1")]).collect();
        assert_key_refused(&post_with_key(shop, &path, &key, &more).await?);
    }
    Ok(())
}

#[tokio::test]
async fn another_request_under_a_used_key_is_refused_and_not_carried_out() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let first = pay_with_key(&shop, "k").await?;
    assert_key_refused(&post_with_key(&shop, "v1/payments", "k", &debit_fields("92.01")).await?);
    let other_card: Vec<_> = debit_fields("92.00")
        .into_iter()
        .map(|(n, v)| (n, if n == "card.number" { "4242424242424242" } else { v }))
        .collect();
    assert_key_refused(&post_with_key(&shop, "v1/payments", "k", &other_card).await?);
    let checkout = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_key_refused(&post_with_key(&shop, "v1/checkouts", "k", &checkout).await?);
    assert_eq!(count_payments(gateway, &shop)?, 1);
    // The order of the parameters makes no difference.
    let reversed: Vec<_> = debit_fields("92.00").into_iter().rev().collect();
    assert_replay(&post_with_key(&shop, "v1/payments", "k", &reversed).await?, &first);
    Ok(())
}

#[tokio::test]
async fn a_key_has_1_to_255_visible_ascii_characters_and_comes_once() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for bad in ["", "a b", "tab\there", &"k".repeat(256)] {
        assert_key_refused(&pay_with_key(&shop, bad).await?);
    }
    let request = |shop: &MerchantClient| {
        let entity = [("entityId", shop.entity_id.clone())];
        let fields = debit_fields("92.00").into_iter().map(|(name, value)| (name, value.to_owned()));
        let request = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token);
        request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encode_form(entity.into_iter().chain(fields)))
    };
    let twice = request(&shop).header("idempotency-key", "a").header("idempotency-key", "b");
    assert_key_refused(&ApiResponse::read_from(twice.send().await?).await?);
    let latin = request(&shop).header("idempotency-key", &b"schl\xfcssel"[..]);
    assert_key_refused(&ApiResponse::read_from(latin.send().await?).await?);
    for good in ["!", "~{}\"'", &"k".repeat(255)] {
        let first = pay_with_key(&shop, good).await?;
        assert_replay(&pay_with_key(&shop, good).await?, &first);
    }
    Ok(())
}

#[tokio::test]
async fn a_key_means_something_inside_its_own_entity_only() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let (mine, theirs) = (pay_with_key(&shop, "shared").await?, pay_with_key(&stranger, "shared").await?);
    assert_ne!(mine.id(), theirs.id());
    assert_replay(&pay_with_key(&shop, "shared").await?, &mine);
    assert_replay(&pay_with_key(&stranger, "shared").await?, &theirs);
    // A client without access to the entity learns nothing about its keys.
    let thief = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), stranger.token.clone());
    assert_result(&pay_with_key(&thief, "shared").await?, 403, "800.900.201");
    Ok(())
}

#[tokio::test]
async fn a_decline_is_an_answer_and_a_refusal_leaves_the_key_free() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let declined: Vec<_> =
        debit_fields("92.00").into_iter().chain([("customParameters[forceResultCode]", "800.100.151")]).collect();
    let first = post_with_key(&shop, "v1/payments", "declined", &declined).await?;
    assert_result(&first, 400, "800.100.151");
    assert_replay(&post_with_key(&shop, "v1/payments", "declined", &declined).await?, &first);
    // An invalid request does not occupy its key: the corrected request may use it.
    assert_errors(&post_with_key(&shop, "v1/payments", "mended", &debit_fields("92.001")).await?, &["amount"]);
    let paid = pay_with_key(&shop, "mended").await?;
    assert_result(&paid, 200, "000.100.110");
    assert_replay(&pay_with_key(&shop, "mended").await?, &paid);
    Ok(())
}

#[tokio::test]
async fn an_answer_is_given_again_after_a_power_cut_and_forgotten_after_a_day() -> anyhow::Result<()> {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (paid, old) = (pay_with_key(&shop, "young").await?, pay_with_key(&shop, "old").await?);
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        // One key is set back by a day, the other by almost a day.
        let database = Database::open(data)?;
        database.execute("UPDATE answer SET until = until - ?1 WHERE key = 'old'", [DAY])?;
        database.execute("UPDATE answer SET until = until - ?1 WHERE key = 'young'", [DAY - 60_000])?;
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_replay(&pay_with_key(&shop, "young").await?, &paid);
    poll_until("what is too old is deleted", async || {
        let query = "SELECT count(*) FROM answer WHERE key = 'old'";
        Ok((open_database(&gateway)?.query_row(query, [], |row| row.get::<_, u32>(0))? == 0).then_some(()))
    })
    .await?;
    let new = pay_with_key(&shop, "old").await?;
    assert_result(&new, 200, "000.100.110");
    assert_ne!(new.id(), old.id());
    assert_replay(&pay_with_key(&shop, "old").await?, &new);
    Ok(())
}

#[tokio::test]
async fn what_is_kept_of_a_request_holds_no_card_and_no_code() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    pay_with_key(&shop, "secrets").await?;
    let (fingerprint, body): (Vec<u8>, Vec<u8>) = open_database(gateway)?.query_row(
        "SELECT fingerprint, body FROM answer WHERE entity = ?1",
        [&shop.entity_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let body = String::from_utf8(body)?;
    assert!(!body.contains("4200000000000000") && !body.contains("\"cvv\""), "{body}");
    // Id of the vault's key, and the message authentication code (MAC) that this key makes.
    assert_eq!(fingerprint.len(), 4 + 32);
    // The security code is not part of the fingerprint: requests that differ only in it are equal.
    let first = pay_with_key(&shop, "code").await?;
    let other_code: Vec<_> =
        debit_fields("92.00").into_iter().map(|(n, v)| (n, if n == "card.cvv" { "321" } else { v })).collect();
    assert_replay(&post_with_key(&shop, "v1/payments", "code", &other_code).await?, &first);
    Ok(())
}
