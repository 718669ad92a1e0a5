//! The compatibility mode of an entity (`--compatible on`): inputs of other gateways' clients that it accepts, that
//! stay refused without it, and that it refuses too.

use std::sync::OnceLock;

use anyhow::Context as _;
use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, PATIENCE, TestGateway, encode_form, poll_until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::*;

const FORM: &str = "application/x-www-form-urlencoded";
const ORDER: [(&str, &str); 3] = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
const NAMES: [(&str, &str); 2] = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];

/// Returns the shared merchant with the compatibility mode.
fn compatible_shop() -> MerchantClient {
    static LENIENT: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&LENIENT, &["--compatible", "on"])
}

/// Posts the entity and these pairs unchanged, including duplicate names.
async fn post_unchanged(shop: &MerchantClient, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    let body = encode_form([("entityId", shop.entity_id.as_str())].iter().chain(fields).copied());
    let request = shop.bare_request(Method::POST, path).bearer_auth(&shop.token).header("content-type", FORM);
    ApiResponse::read_from(request.body(body).send().await?).await
}

/// Pays 92.00 EUR with the test card. Names in `fields` may be duplicates: nothing is replaced.
async fn pay_by_card(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    post_unchanged(shop, "v1/payments", &[&ORDER[..], &CARD, fields].concat()).await
}

/// Sends a GET or DELETE with the merchant's token and a form-encoded body.
async fn send_with_body(
    shop: &MerchantClient,
    method: Method,
    path: &str,
    body: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let request = shop.bare_request(method, path).bearer_auth(&shop.token).header("content-type", FORM);
    ApiResponse::read_from(request.body(encode_form(body.iter().copied())).send().await?).await
}

#[tokio::test]
async fn a_reference_of_one_character_is_taken_found_and_passed_on() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let paid = pay_by_card(&shop, &[("merchantTransactionId", "7")]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["merchantTransactionId"], "7");
    let found = shop.get("v1/query?merchantTransactionId=7").await?;
    assert_eq!(found.json["payments"][0]["id"], paid.id(), "{}", found.text);
    let refund = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "RF")];
    let refunded = post_unchanged(&shop, &format!("v1/payments/{}", paid.id()), &refund).await?;
    assert_eq!((refunded.result_code(), &refunded.json["merchantTransactionId"]), ("000.100.110", &"7".into()));
    let made = shop.create_checkout(&[("merchantTransactionId", "8")]).await?;
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    assert_eq!(shop.read_status(made.id()).await?.json["merchantTransactionId"], "8");
    // The maximum length is unchanged, and only this reference may be shorter.
    assert_errors(
        &pay_by_card(&shop, &[("merchantTransactionId", &"7".repeat(256))]).await?,
        &["merchantTransactionId"],
    );
    assert_errors(&pay_by_card(&shop, &[("merchantInvoiceId", "7")]).await?, &["merchantInvoiceId"]);
    assert_errors(
        &pay_by_card(&crate::support::sandbox_shop(), &[("merchantTransactionId", "1234567")]).await?,
        &["merchantTransactionId"],
    );
    Ok(())
}

#[tokio::test]
async fn telephone_numbers_with_letters_are_taken_in_a_request_and_in_a_form() -> anyhow::Result<()> {
    let phones = [
        ("customer.phone", "0800-CALL-NOW, ext. 7"),
        ("customer.mobile", "+49 (171) 1234567 *priv."),
        ("shipping.phone", "tel:+49;171"),
        ("merchant.phone", "(02) 12/34"),
        ("corporate.phone", "+43 1 234"),
    ];
    let all = [&NAMES[..], &phones].concat();
    let paid = pay_by_card(&compatible_shop(), &all).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["customer"]["phone"], phones[0].1);
    assert_errors(&pay_by_card(&sandbox_shop(), &all).await?, &phones.map(|(name, _)| name));
    // The same applies to a form, whose page may have an input of the merchant.
    let typed = [&NAMES[..], &phones[..2]].concat();
    let made = compatible_shop().create_checkout(&[]).await?;
    assert_result(&compatible_shop().submit_card(made.id(), &typed).await?, 200, "000.000.100");
    assert_eq!(compatible_shop().read_status(made.id()).await?.json["customer"]["mobile"], phones[1].1);
    let made = sandbox_shop().create_checkout(&[]).await?;
    assert_errors(&sandbox_shop().submit_card(made.id(), &typed).await?, &["customer.phone", "customer.mobile"]);
    Ok(())
}

#[tokio::test]
async fn a_telephone_number_is_no_place_for_a_card_number_a_second_line_or_a_story() -> anyhow::Result<()> {
    for value in
        ["5454545454545454", "card 5454 5454 5454 5454", "0800\n1234567", "0800\u{0}12345", &"7 ".repeat(20), "1"]
    {
        let refused = pay_by_card(&compatible_shop(), &[&NAMES[..], &[("customer.phone", value)]].concat()).await?;
        assert_errors(&refused, &["customer.phone"]);
        assert!(!refused.text.contains("5454545454545454") && !refused.text.contains("5454 5454 5454 5454"));
    }
    // The number of the paying card is masked there too.
    let paid =
        pay_by_card(&compatible_shop(), &[&NAMES[..], &[("customer.phone", "card 4200 0000 0000 0000")]].concat())
            .await?;
    assert_eq!(paid.json["customer"]["phone"], "card 420000******0000", "{}", paid.text);
    Ok(())
}

#[tokio::test]
async fn the_last_of_two_values_counts_everywhere_and_the_first_nowhere() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let twice = [
        ("merchantTransactionId", "order-first-4711"),
        ("customParameters[shop]", "first"),
        ("merchantTransactionId", "order-last-4711"),
        ("customParameters[shop]", "last"),
        ("card.holder", "First Holder"),
        ("card.holder", "Last Holder"),
    ];
    let paid = pay_by_card(&shop, &twice).await?;
    assert_result(&paid, 200, "000.100.110");
    let shown = |answer: &ApiResponse| {
        let json = &answer.json;
        let card = json["card"]["holder"].clone();
        [json["merchantTransactionId"].clone(), json["customParameters"]["shop"].clone(), card]
            .map(|value| value.to_string())
    };
    let last = ["\"order-last-4711\"", "\"last\"", "\"Last Holder\""].map(str::to_owned);
    assert_eq!(shown(&paid), last);
    assert_eq!(shown(&shop.get(&format!("v1/payments/{}", paid.id())).await?), last);
    assert_result(&shop.get("v1/query?merchantTransactionId=order-first-4711").await?, 404, "700.400.580");
    assert_eq!(shop.get("v1/query?merchantTransactionId=order-last-4711").await?.json["payments"][0]["id"], paid.id());
    let log = TestGateway::shared().read_log();
    assert!(!log.contains("order-first-4711") && !log.contains("First Holder"));
    // The same applies to a checkout, and to unknown parameters.
    let made =
        post_unchanged(&shop, "v1/checkouts", &[&ORDER[..], &twice, &[("foo", "1"), ("foo", "2")]].concat()).await?;
    assert_result(&made, 200, "000.200.100");
    shop.submit_card(made.id(), &[("card.holder", "Last Holder")]).await?;
    assert_eq!(shown(&shop.read_status(made.id()).await?), last);
    // The last value is validated.
    assert_errors(
        &pay_by_card(&shop, &[NAMES[0], NAMES[1], ("customer.sex", "M"), ("customer.sex", "X")]).await?,
        &["customer.sex"],
    );
    let good = pay_by_card(&shop, &[NAMES[0], NAMES[1], ("customer.sex", "X"), ("customer.sex", "M")]).await?;
    assert_result(&good, 200, "000.100.110");
    // Without the mode, each of them is refused by name.
    for pair in twice {
        assert_errors(
            &pay_by_card(&crate::support::sandbox_shop(), &[pair, (pair.0, "another value")]).await?,
            &[pair.0],
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_idempotency_key_takes_a_request_for_what_its_last_values_say() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let send = async |fields: &[(&str, &str)]| -> anyhow::Result<ApiResponse> {
        let all = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD, fields].concat();
        let request =
            shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
        ApiResponse::read_from(request.header("idempotency-key", "last-values").body(encode_form(all)).send().await?)
            .await
    };
    let one = send(&[("merchantMemo", "first memo"), ("merchantMemo", "last memo")]).await?;
    assert_result(&one, 200, "000.100.110");
    for same in [&[("merchantMemo", "last memo")][..], &[("merchantMemo", "other memo"), ("merchantMemo", "last memo")]]
    {
        let again = send(same).await?;
        assert_eq!((again.id(), &again.headers["idempotent-replayed"]), (one.id(), &"true".parse()?), "{same:?}");
    }
    let other = send(&[("merchantMemo", "last memo"), ("merchantMemo", "first memo")]).await?;
    assert_eq!(other.status, 400, "{}", other.text);
    Ok(())
}

#[tokio::test]
async fn two_values_that_leave_open_who_pays_what_to_whom_are_refused_in_either_mode() -> anyhow::Result<()> {
    let id = "8".repeat(32);
    for shop in [compatible_shop(), sandbox_shop()] {
        for (name, value, other) in [
            ("amount", "92.00", "0.01"),
            ("amount", "92.00", ""),
            ("currency", "EUR", "JPY"),
            ("paymentType", "DB", "CD"),
            ("entityId", shop.entity_id.as_str(), other_shop().entity_id.as_str()),
            ("authentication.userId", "a", "b"),
            ("authentication.password", "a", "b"),
            ("authentication.entityId", shop.entity_id.as_str(), other_shop().entity_id.as_str()),
            ("card.number", "4200000000000000", "5454545454545454"),
            ("registrationId", &id, &"1".repeat(32)),
            ("registrations[0].id", &id, &"1".repeat(32)),
            ("referencedPaymentId", &id, &"1".repeat(32)),
            ("bankAccount.iban", "DE23100000001234567890", "DE14940593100000012346"),
            ("virtualAccount.accountId", "a", "b"),
            ("walletPay.paymentToken", "a", "b"),
            ("overridePaymentType[VISA]", "PA", "CD"),
            ("standingInstruction.source", "CIT", "MIT"),
            ("threeDSecure.eci", "07", "05"),
            ("threeDSecure.exemptionFlag", "01", "02"),
        ] {
            for pair in [[value, other], [other, value]] {
                let fields: Vec<_> = ORDER.iter().chain(&CARD).filter(|(known, _)| *known != name).copied().collect();
                let twice = pair.map(|value| (name, value));
                let entity = ("entityId", shop.entity_id.as_str());
                let entity = Some(entity).filter(|_| name != "entityId");
                let body = encode_form(entity.iter().chain(&fields).chain(&twice).copied());
                let request = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token);
                let refused =
                    ApiResponse::read_from(request.header("content-type", FORM).body(body).send().await?).await?;
                assert_errors(&refused, &[name]);
                assert_eq!(parameter_error(&refused, name)["value"], Value::Null, "{}", refused.text);
            }
        }
    }
    // Identical values are not ambiguous.
    assert_result(&pay_by_card(&compatible_shop(), &ORDER).await?, 200, "000.100.110");
    assert_errors(&pay_by_card(&sandbox_shop(), &ORDER[..1]).await?, &["amount"]);
    Ok(())
}

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
async fn a_list_may_begin_and_end_at_a_time() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--compatible", "on"])?;
    let paid = pay_by_card(&shop, &[]).await?;
    let made: String = paid.json["timestamp"].as_str().unwrap_or_default().chars().take(19).collect();
    let day = &made[..10];
    let list = async |from: &str, to: &str| {
        let query = encode_form([("date.from", from), ("date.to", to)]);
        shop.get(&format!("v1/query?{query}")).await
    };
    let with_t = made.replace(' ', "T");
    let (first, last) = (format!("{day} 00:00:00"), format!("{day} 23:59:59"));
    for (from, to) in [
        (made.as_str(), made.as_str()),
        (&with_t, &with_t),
        (&first, &last),
        (day, &last),
        (&first, day),
        (&made, "9999-12-31"),
        ("1970-01-01 00:00:00", "9999-12-31 23:59:59"),
    ] {
        let found = list(from, to).await?;
        assert_eq!(found.json["payments"][0]["id"], paid.id(), "{from} {to} {}", found.text);
    }
    for (from, to) in [("2001-01-01 00:00:00", "2001-01-02 12:00:00"), ("9999-12-31", "9999-12-31")] {
        assert_result(&list(from, to).await?, 404, "700.400.580");
    }
    assert_errors(&list(&last, &first).await?, &["date.to"]);
    for wrong in ["2026-11-21 24:00:00", "2026-02-29 10:00:00", "2026-11-21 10:00", "2026-11-21 10:00:00Z", "today"] {
        assert_errors(&list(wrong, "2099-01-01").await?, &["date.from"]);
        assert_errors(&list("1999-01-01", wrong).await?, &["date.to"]);
    }
    let query = encode_form([("date.from", first.as_str()), ("date.to", day)]);
    assert_errors(&crate::support::sandbox_shop().get(&format!("v1/query?{query}")).await?, &["date.from"]);
    Ok(())
}

#[tokio::test]
async fn a_channel_has_the_mode_of_its_merchant_and_a_sibling_has_its_own() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let short = [("merchantTransactionId", "7")];
    let merchant = gateway.create_merchant_with(&["--compatible", "on"])?;
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    assert_result(&pay_by_card(&channel, &short).await?, 200, "000.100.110");
    assert_result(&pay_by_card(&merchant, &short).await?, 200, "000.100.110");
    let strict = gateway.create_merchant()?;
    let open = gateway.create_merchant_with(&["--merchant", &strict.entity_id, "--compatible", "on"])?;
    let sibling = gateway.create_merchant_with(&["--merchant", &strict.entity_id])?;
    assert_result(&pay_by_card(&open, &short).await?, 200, "000.100.110");
    for shop in [&strict, &sibling] {
        assert_errors(&pay_by_card(shop, &short).await?, &["merchantTransactionId"]);
        assert_errors(&pay_by_card(shop, &[("card.holder", "Another Name")]).await?, &["card.holder"]);
    }
    // The merchant's token can read the channel's payments, and the channel's id may be in the body. For the merchant's
    // own id it may not, because the mode is off there.
    let paid = pay_by_card(&open, &[]).await?;
    let path = format!("v1/payments/{}", paid.id());
    let read = |entity: &str| {
        let (strict, path, entity) = (strict.clone(), path.clone(), entity.to_owned());
        async move { send_with_body(&strict, Method::GET, &path, &[("entityId", entity.as_str())]).await }
    };
    assert_result(&read(&open.entity_id).await?, 200, "000.100.110");
    assert_errors(&read(&strict.entity_id).await?, &["entityId"]);
    assert_errors(&read(&sibling.entity_id).await?, &["entityId"]);
    Ok(())
}

#[tokio::test]
async fn the_operator_sees_and_changes_the_mode_beside_a_running_server() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let show = |entity: &str| gateway.run_command(&["entity", "show", "--entity", entity]);
    assert_eq!(
        (&show(&shop.entity_id)?["compatible"], &show(&channel.entity_id)?["compatible"]),
        (&false.into(), &false.into())
    );
    for (mode, on) in [("on", true), ("off", false)] {
        gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--compatible", mode])?;
        let seen = (show(&shop.entity_id)?["compatible"].clone(), show(&channel.entity_id)?["compatible"].clone());
        assert_eq!(seen, (on.into(), on.into()));
        poll_until("the server follows", async || {
            let paid = pay_by_card(&shop, &[("merchantTransactionId", "7")]).await?;
            Ok(((paid.status == 200) == on).then_some(()))
        })
        .await?;
    }
    let data = gateway.data_folder();
    gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--compatible"])?;
    let show = ["entity", "show", "--entity", &shop.entity_id, "--data", data.to_str().unwrap_or_default()];
    let text = String::from_utf8(crate::service::command_line::run_tillgate(&show).await?.stdout)?;
    assert!(text.contains("on: merchantTransactionId from 1 character"), "{text}");
    Ok(())
}

#[tokio::test]
async fn the_documents_list_what_the_mode_allows() -> anyhow::Result<()> {
    let reference = sandbox_shop().client.get(format!("{}reference", sandbox_shop().base)).send().await?.text().await?;
    let topic = reference.split_once(r#"id="compatibility""#).map_or("", |(_, rest)| rest);
    let topic = topic.split("</section>").next().unwrap_or_default();
    let document = include_str!("../../../../docs/compatibility.md");
    for row in tillgate_shared::parameter::all_parameters().filter(|row| row.compatible_format.is_some()) {
        let group = if row.name.contains("hone") || row.name.contains("mobile") { "phone" } else { row.name };
        let group = if row.name.ends_with("fax") { "fax" } else { group };
        assert!(topic.contains(group) && document.contains(group), "{}", row.name);
    }
    for row in tillgate_shared::parameter::all_parameters().filter(|row| row.single_valued) {
        let prefix = row.name.split('.').next().unwrap_or_default();
        let named = |text: &str| text.contains(&format!("{}<", row.name)) || text.contains(&format!("{}`", row.name));
        let grouped = |text: &str| text.contains(&format!("{prefix}.*"));
        assert!((named(topic) || grouped(topic)) && (named(document) || grouped(document)), "{}", row.name);
    }
    Ok(())
}

#[tokio::test]
async fn what_a_shopper_writes_behind_an_unencoded_value_changes_no_price_and_no_account() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let fields = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD].concat();
    for added in [
        "&amount=0.01",
        "&%61mount=0.01",
        "&amount=+92.00",
        "&amount=92.00&amount=0.01&amount=92.00",
        "&currency=JPY",
        "&paymentType=CD",
        "&entityId=00000000000000000000000000000000",
        "&card.number=5454545454545454",
        "&standingInstruction.mode=INITIAL&standingInstruction.mode=REPEATED",
        "&threeDSecure.eci=07&threeDSecure.eci=05",
    ] {
        let body = format!("{}&{}{added}", encode_form(fields.iter().copied()), encode_form(NAMES));
        let request =
            shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
        let refused = ApiResponse::read_from(request.body(body).send().await?).await?;
        assert_result(&refused, 400, "200.300.404");
        assert_eq!(refused.invalid_parameters().len(), 1, "{added} {}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_name_that_comes_ten_thousand_times_is_read_quickly_and_kept_once() -> anyhow::Result<()> {
    let shop = compatible_shop();
    let memo = "&merchantMemo=another memo".repeat(10_000).replace(' ', "+");
    let fields = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD].concat();
    let body = format!("{}{memo}&merchantMemo=the+last", encode_form(fields));
    let request = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
    // A comparison of each name with all others would take many minutes.
    let paid = tokio::time::timeout(PATIENCE, request.body(body).send()).await.context("it takes too long")??;
    let paid = ApiResponse::read_from(paid).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["merchantMemo"], "the last");
    assert!(paid.text.len() < 4000, "{}", paid.text);
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

#[tokio::test]
async fn a_short_reference_is_paid_once_where_duplicates_are_refused() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--compatible", "on", "--refuse-duplicates", "on"])?;
    let order = [("merchantTransactionId", "7")];
    assert_result(&pay_by_card(&shop, &order).await?, 200, "000.100.110");
    assert_result(&pay_by_card(&shop, &order).await?, 400, "800.110.100");
    // The last of two equal names is used here too.
    let twice = [("merchantTransactionId", "7"), ("merchantTransactionId", "8")];
    assert_result(&pay_by_card(&shop, &twice).await?, 200, "000.100.110");
    assert_result(&pay_by_card(&shop, &[twice[1], twice[0]]).await?, 400, "800.110.100");
    Ok(())
}
