//! The compatibility mode of an entity (`--compatible on`): what clients of other gateways send and it takes, what stays
//! strict without it, and what it does not loosen.

use std::sync::OnceLock;

use anyhow::Context as _;
use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, PATIENCE, form, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::*;

const FORM: &str = "application/x-www-form-urlencoded";
const ORDER: [(&str, &str); 3] = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
const NAMES: [(&str, &str); 2] = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];

/// A merchant with the compatibility mode.
fn lenient() -> Merchant {
    static LENIENT: OnceLock<Merchant> = OnceLock::new();
    account(&LENIENT, &["--compatible", "on"])
}

/// Posts pairs as they are, names that come twice included.
async fn post(shop: &Merchant, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let body = form([("entityId", shop.entity_id.as_str())].iter().chain(fields).copied());
    let request = shop.bare(Method::POST, path).bearer_auth(&shop.token).header("content-type", FORM);
    Answer::read(request.body(body).send().await?).await
}

async fn pay(shop: &Merchant, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    post(shop, "v1/payments", &[&ORDER[..], &CARD, fields].concat()).await
}

/// Asks with a body in a GET or DELETE.
async fn ask(shop: &Merchant, method: Method, path: &str, body: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let request = shop.bare(method, path).bearer_auth(&shop.token).header("content-type", FORM);
    Answer::read(request.body(form(body.iter().copied())).send().await?).await
}

#[tokio::test]
async fn a_reference_of_one_character_is_taken_found_and_passed_on() -> anyhow::Result<()> {
    let shop = lenient();
    let paid = pay(&shop, &[("merchantTransactionId", "7")]).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_eq!(paid.json["merchantTransactionId"], "7");
    let found = shop.get("v1/query?merchantTransactionId=7").await?;
    assert_eq!(found.json["payments"][0]["id"], paid.id(), "{}", found.text);
    let refund = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "RF")];
    let refunded = post(&shop, &format!("v1/payments/{}", paid.id()), &refund).await?;
    assert_eq!((refunded.code(), &refunded.json["merchantTransactionId"]), ("000.100.110", &"7".into()));
    let made = shop.checkout(&[("merchantTransactionId", "8")]).await?;
    assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
    assert_eq!(shop.status(made.id()).await?.json["merchantTransactionId"], "8");
    // No longer than before, and only this reference.
    assert_errors(&pay(&shop, &[("merchantTransactionId", &"7".repeat(256))]).await?, &["merchantTransactionId"]);
    assert_errors(&pay(&shop, &[("merchantInvoiceId", "7")]).await?, &["merchantInvoiceId"]);
    assert_errors(
        &pay(&super::support::shop(), &[("merchantTransactionId", "1234567")]).await?,
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
    let paid = pay(&lenient(), &all).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_eq!(paid.json["customer"]["phone"], phones[0].1);
    assert_errors(&pay(&shop(), &all).await?, &phones.map(|(name, _)| name));
    // The same in a form, whose page may have an input of the merchant's.
    let typed = [&NAMES[..], &phones[..2]].concat();
    let made = lenient().checkout(&[]).await?;
    assert_answer(&lenient().submit(made.id(), &typed).await?, 200, "000.000.100");
    assert_eq!(lenient().status(made.id()).await?.json["customer"]["mobile"], phones[1].1);
    let made = shop().checkout(&[]).await?;
    assert_errors(&shop().submit(made.id(), &typed).await?, &["customer.phone", "customer.mobile"]);
    Ok(())
}

#[tokio::test]
async fn a_telephone_number_is_no_place_for_a_card_number_a_second_line_or_a_story() -> anyhow::Result<()> {
    for value in
        ["5454545454545454", "card 5454 5454 5454 5454", "0800\n1234567", "0800\u{0}12345", &"7 ".repeat(20), "1"]
    {
        let refused = pay(&lenient(), &[&NAMES[..], &[("customer.phone", value)]].concat()).await?;
        assert_errors(&refused, &["customer.phone"]);
        assert!(!refused.text.contains("5454545454545454") && !refused.text.contains("5454 5454 5454 5454"));
    }
    // The card that pays is masked there, as it is everywhere.
    let paid = pay(&lenient(), &[&NAMES[..], &[("customer.phone", "card 4200 0000 0000 0000")]].concat()).await?;
    assert_eq!(paid.json["customer"]["phone"], "card 420000******0000", "{}", paid.text);
    Ok(())
}

#[tokio::test]
async fn the_last_of_two_values_counts_everywhere_and_the_first_nowhere() -> anyhow::Result<()> {
    let shop = lenient();
    let twice = [
        ("merchantTransactionId", "order-first-4711"),
        ("customParameters[shop]", "first"),
        ("merchantTransactionId", "order-last-4711"),
        ("customParameters[shop]", "last"),
        ("card.holder", "First Holder"),
        ("card.holder", "Last Holder"),
    ];
    let paid = pay(&shop, &twice).await?;
    assert_answer(&paid, 200, "000.100.110");
    let shown = |answer: &Answer| {
        let json = &answer.json;
        let card = json["card"]["holder"].clone();
        [json["merchantTransactionId"].clone(), json["customParameters"]["shop"].clone(), card]
            .map(|value| value.to_string())
    };
    let last = ["\"order-last-4711\"", "\"last\"", "\"Last Holder\""].map(str::to_owned);
    assert_eq!(shown(&paid), last);
    assert_eq!(shown(&shop.get(&format!("v1/payments/{}", paid.id())).await?), last);
    assert_answer(&shop.get("v1/query?merchantTransactionId=order-first-4711").await?, 404, "700.400.580");
    assert_eq!(shop.get("v1/query?merchantTransactionId=order-last-4711").await?.json["payments"][0]["id"], paid.id());
    let log = Gateway::shared().log();
    assert!(!log.contains("order-first-4711") && !log.contains("First Holder"));
    // A checkout too, and what is unknown.
    let made = post(&shop, "v1/checkouts", &[&ORDER[..], &twice, &[("foo", "1"), ("foo", "2")]].concat()).await?;
    assert_answer(&made, 200, "000.200.100");
    shop.submit(made.id(), &[("card.holder", "Last Holder")]).await?;
    assert_eq!(shown(&shop.status(made.id()).await?), last);
    // What is judged is the last value.
    assert_errors(
        &pay(&shop, &[NAMES[0], NAMES[1], ("customer.sex", "M"), ("customer.sex", "X")]).await?,
        &["customer.sex"],
    );
    let good = pay(&shop, &[NAMES[0], NAMES[1], ("customer.sex", "X"), ("customer.sex", "M")]).await?;
    assert_answer(&good, 200, "000.100.110");
    // Without the mode each is refused by name.
    for pair in twice {
        assert_errors(&pay(&super::support::shop(), &[pair, (pair.0, "another value")]).await?, &[pair.0]);
    }
    Ok(())
}

#[tokio::test]
async fn an_idempotency_key_takes_a_request_for_what_its_last_values_say() -> anyhow::Result<()> {
    let shop = lenient();
    let send = async |fields: &[(&str, &str)]| -> anyhow::Result<Answer> {
        let all = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD, fields].concat();
        let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
        Answer::read(request.header("idempotency-key", "last-values").body(form(all)).send().await?).await
    };
    let one = send(&[("merchantMemo", "first memo"), ("merchantMemo", "last memo")]).await?;
    assert_answer(&one, 200, "000.100.110");
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
    for shop in [lenient(), shop()] {
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
                let body = form(entity.iter().chain(&fields).chain(&twice).copied());
                let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token);
                let refused = Answer::read(request.header("content-type", FORM).body(body).send().await?).await?;
                assert_errors(&refused, &[name]);
                assert_eq!(error(&refused, name)["value"], Value::Null, "{}", refused.text);
            }
        }
    }
    // The same value twice leaves nothing open.
    assert_answer(&pay(&lenient(), &ORDER).await?, 200, "000.100.110");
    assert_errors(&pay(&shop(), &ORDER[..1]).await?, &["amount"]);
    Ok(())
}

#[tokio::test]
async fn a_get_may_name_its_entity_in_its_body() -> anyhow::Result<()> {
    let shop = lenient();
    let paid = pay(&shop, &[("merchantTransactionId", "get-with-body")]).await?;
    let made = shop.checkout(&[]).await?;
    for name in ["entityId", "authentication.entityId"] {
        let entity = [(name, shop.entity_id.as_str())];
        let read = ask(&shop, Method::GET, &format!("v1/payments/{}", paid.id()), &entity).await?;
        assert_eq!((read.status, read.id()), (200, paid.id()), "{}", read.text);
        let read = ask(&shop, Method::GET, &format!("v1/checkouts/{}/payment", made.id()), &entity).await?;
        assert_answer(&read, 200, "000.200.000");
        let found = ask(&shop, Method::GET, "v1/query?merchantTransactionId=get-with-body", &entity).await?;
        assert_eq!(found.json["payments"][0]["id"], paid.id(), "{}", found.text);
    }
    let stored = shop.post("v1/registrations", &CARD).await?;
    let entity = [("entityId", shop.entity_id.as_str())];
    let path = format!("v1/registrations/{}", stored.id());
    assert_answer(&ask(&shop, Method::DELETE, &path, &entity).await?, 200, "000.100.110");
    // In both places it is the same, or refused. Nothing else of the body counts.
    let both = format!("v1/payments/{}?entityId={}", paid.id(), shop.entity_id);
    assert_answer(&ask(&shop, Method::GET, &both, &entity).await?, 200, "000.100.110");
    let more = [entity[0], ("merchantTransactionId", "get-with-body")];
    assert_errors(&ask(&shop, Method::GET, "v1/query", &more).await?, &["merchantTransactionId"]);
    // Without the mode a body of a GET is nobody's business.
    let strict = super::support::shop();
    let own = [("entityId", strict.entity_id.as_str())];
    let path = format!("v1/payments/{}", paid.id());
    assert_errors(&ask(&strict, Method::GET, &path, &own).await?, &["entityId"]);
    let queried = format!("{path}?entityId={}", strict.entity_id);
    assert_answer(&ask(&strict, Method::GET, &queried, &entity).await?, 404, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn an_entity_in_the_body_of_a_get_is_authenticated_like_one_in_its_query() -> anyhow::Result<()> {
    let (shop, stranger) = (lenient(), other_shop());
    let paid = pay(&shop, &[]).await?;
    let path = format!("v1/payments/{}", paid.id());
    let (own, foreign) = ([("entityId", shop.entity_id.as_str())], [("entityId", stranger.entity_id.as_str())]);
    // Somebody else's entity, with the own token and the other way round.
    assert_answer(&ask(&shop, Method::GET, &path, &foreign).await?, 403, "800.900.201");
    let thief = Merchant::new(shop.base.clone(), shop.entity_id.clone(), stranger.token.clone());
    let refused = ask(&thief, Method::GET, &path, &own).await?;
    assert!([400, 403].contains(&refused.status), "{}", refused.text);
    let wrong = Merchant::new(shop.base.clone(), shop.entity_id.clone(), "d3Jvbmd8d3Jvbmc=".to_owned());
    assert_answer(&ask(&wrong, Method::GET, &path, &own).await?, 403, "800.900.300");
    let bare = shop.bare(Method::GET, &path).header("content-type", FORM).body(form(own));
    assert_answer(&Answer::read(bare.send().await?).await?, 401, "800.900.300");
    // A pair in the body of a GET is none.
    let pair = [own[0], ("authentication.userId", "a"), ("authentication.password", "b")];
    let bare = shop.bare(Method::GET, &path).header("content-type", FORM).body(form(pair));
    assert_answer(&Answer::read(bare.send().await?).await?, 401, "800.900.300");
    // Two that differ: in query and body, within the body, under both names.
    let queried = format!("{path}?entityId={}", shop.entity_id);
    for body in [
        &foreign[..],
        &[own[0], foreign[0]],
        &[own[0], ("authentication.entityId", foreign[0].1)],
        &[("authentication.entityId", foreign[0].1)],
        &[("entityId", "nonsense")],
    ] {
        assert_errors(&ask(&shop, Method::GET, &queried, body).await?, &["entityId"]);
    }
    assert_errors(&ask(&shop, Method::GET, &path, &[own[0], foreign[0]]).await?, &["entityId"]);
    assert_errors(&ask(&shop, Method::GET, &path, &[("entityId", "")]).await?, &["entityId"]);
    Ok(())
}

#[tokio::test]
async fn the_body_of_a_get_is_bounded_and_need_not_be_a_form() -> anyhow::Result<()> {
    let shop = lenient();
    let paid = pay(&shop, &[]).await?;
    let (path, queried) =
        (format!("v1/payments/{}", paid.id()), format!("v1/payments/{}?entityId={}", paid.id(), shop.entity_id));
    let large = format!("entityId={}&x={}", shop.entity_id, "x".repeat(1024 * 1024));
    let request = |path: &str| shop.bare(Method::GET, path).bearer_auth(&shop.token);
    let refused = Answer::read(request(&path).header("content-type", FORM).body(large).send().await?).await?;
    assert_eq!(refused.status, 413, "{}", refused.text);
    for (kind, body) in [("application/json", r#"{"entityId":"x"}"#), ("text/plain", "entityId=x"), ("", "")] {
        let read = |path: &str| request(path).header("content-type", kind).body(body).send();
        assert_answer(&Answer::read(read(&queried).await?).await?, 200, "000.100.110");
        assert_errors(&Answer::read(read(&path).await?).await?, &["entityId"]);
    }
    for junk in ["%", "a[=1", "=1", "\u{0}=1"] {
        let answer = Answer::read(request(&path).header("content-type", FORM).body(junk).send().await?).await?;
        assert_answer(&answer, 400, "200.300.404");
    }
    Ok(())
}

#[tokio::test]
async fn a_list_may_begin_and_end_at_a_time() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant_with(&["--compatible", "on"])?;
    let paid = pay(&shop, &[]).await?;
    let made: String = paid.json["timestamp"].as_str().unwrap_or_default().chars().take(19).collect();
    let day = &made[..10];
    let list = async |from: &str, to: &str| {
        let query = form([("date.from", from), ("date.to", to)]);
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
        assert_answer(&list(from, to).await?, 404, "700.400.580");
    }
    assert_errors(&list(&last, &first).await?, &["date.to"]);
    for wrong in ["2026-11-21 24:00:00", "2026-02-29 10:00:00", "2026-11-21 10:00", "2026-11-21 10:00:00Z", "today"] {
        assert_errors(&list(wrong, "2099-01-01").await?, &["date.from"]);
        assert_errors(&list("1999-01-01", wrong).await?, &["date.to"]);
    }
    let query = form([("date.from", first.as_str()), ("date.to", day)]);
    assert_errors(&super::support::shop().get(&format!("v1/query?{query}")).await?, &["date.from"]);
    Ok(())
}

#[tokio::test]
async fn a_channel_has_the_mode_of_its_merchant_and_a_sibling_has_its_own() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let short = [("merchantTransactionId", "7")];
    let merchant = gateway.merchant_with(&["--compatible", "on"])?;
    let channel = gateway.merchant_with(&["--merchant", &merchant.entity_id])?;
    assert_answer(&pay(&channel, &short).await?, 200, "000.100.110");
    assert_answer(&pay(&merchant, &short).await?, 200, "000.100.110");
    let strict = gateway.merchant()?;
    let open = gateway.merchant_with(&["--merchant", &strict.entity_id, "--compatible", "on"])?;
    let sibling = gateway.merchant_with(&["--merchant", &strict.entity_id])?;
    assert_answer(&pay(&open, &short).await?, 200, "000.100.110");
    for shop in [&strict, &sibling] {
        assert_errors(&pay(shop, &short).await?, &["merchantTransactionId"]);
        assert_errors(&pay(shop, &[("card.holder", "Another Name")]).await?, &["card.holder"]);
    }
    // The merchant's token reads the channel's payments, whose id may stand in the body; its own may not.
    let paid = pay(&open, &[]).await?;
    let path = format!("v1/payments/{}", paid.id());
    let read = |entity: &str| {
        let (strict, path, entity) = (strict.clone(), path.clone(), entity.to_owned());
        async move { ask(&strict, Method::GET, &path, &[("entityId", entity.as_str())]).await }
    };
    assert_answer(&read(&open.entity_id).await?, 200, "000.100.110");
    assert_errors(&read(&strict.entity_id).await?, &["entityId"]);
    assert_errors(&read(&sibling.entity_id).await?, &["entityId"]);
    Ok(())
}

#[tokio::test]
async fn the_operator_sees_and_changes_the_mode_beside_a_running_server() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant()?;
    let channel = gateway.merchant_with(&["--merchant", &shop.entity_id])?;
    let show = |entity: &str| gateway.command(&["entity", "show", "--entity", entity]);
    assert_eq!(
        (&show(&shop.entity_id)?["compatible"], &show(&channel.entity_id)?["compatible"]),
        (&false.into(), &false.into())
    );
    for (mode, on) in [("on", true), ("off", false)] {
        gateway.command(&["entity", "set", "--entity", &shop.entity_id, "--compatible", mode])?;
        let seen = (show(&shop.entity_id)?["compatible"].clone(), show(&channel.entity_id)?["compatible"].clone());
        assert_eq!(seen, (on.into(), on.into()));
        until("the server follows", async || {
            let paid = pay(&shop, &[("merchantTransactionId", "7")]).await?;
            Ok(((paid.status == 200) == on).then_some(()))
        })
        .await?;
    }
    let data = gateway.data();
    gateway.command(&["entity", "set", "--entity", &shop.entity_id, "--compatible"])?;
    let show = ["entity", "show", "--entity", &shop.entity_id, "--data", data.to_str().unwrap_or_default()];
    let text = String::from_utf8(crate::command_line::run(&show).await?.stdout)?;
    assert!(text.contains("on: merchantTransactionId from 1 character"), "{text}");
    Ok(())
}

#[tokio::test]
async fn the_documents_list_what_the_mode_allows() -> anyhow::Result<()> {
    let reference = shop().client.get(format!("{}reference", shop().base)).send().await?.text().await?;
    let topic = reference.split_once(r#"id="compatibility""#).map_or("", |(_, rest)| rest);
    let topic = topic.split("</section>").next().unwrap_or_default();
    let document = include_str!("../../../docs/compatibility.md");
    for row in tillgate_shared::parameter::catalogue().filter(|row| row.compatible.is_some()) {
        let group = if row.name.contains("hone") || row.name.contains("mobile") { "phone" } else { row.name };
        let group = if row.name.ends_with("fax") { "fax" } else { group };
        assert!(topic.contains(group) && document.contains(group), "{}", row.name);
    }
    for row in tillgate_shared::parameter::catalogue().filter(|row| row.once) {
        let prefix = row.name.split('.').next().unwrap_or_default();
        let named = |text: &str| text.contains(&format!("{}<", row.name)) || text.contains(&format!("{}`", row.name));
        let grouped = |text: &str| text.contains(&format!("{prefix}.*"));
        assert!((named(topic) || grouped(topic)) && (named(document) || grouped(document)), "{}", row.name);
    }
    Ok(())
}

#[tokio::test]
async fn what_a_shopper_writes_behind_an_unencoded_value_changes_no_price_and_no_account() -> anyhow::Result<()> {
    let shop = lenient();
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
        let body = format!("{}&{}{added}", form(fields.iter().copied()), form(NAMES));
        let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
        let refused = Answer::read(request.body(body).send().await?).await?;
        assert_answer(&refused, 400, "200.300.404");
        assert_eq!(refused.errors().len(), 1, "{added} {}", refused.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_name_that_comes_ten_thousand_times_is_read_quickly_and_kept_once() -> anyhow::Result<()> {
    let shop = lenient();
    let memo = "&merchantMemo=another memo".repeat(10_000).replace(' ', "+");
    let fields = [&[("entityId", shop.entity_id.as_str())], &ORDER[..], &CARD].concat();
    let body = format!("{}{memo}&merchantMemo=the+last", form(fields));
    let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", FORM);
    // Comparing every name with all others would take many minutes.
    let paid = tokio::time::timeout(PATIENCE, request.body(body).send()).await.context("it takes too long")??;
    let paid = Answer::read(paid).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_eq!(paid.json["merchantMemo"], "the last");
    assert!(paid.text.len() < 4000, "{}", paid.text);
    Ok(())
}

#[tokio::test]
async fn a_body_of_a_get_that_is_held_back_ends_and_a_stranger_waits_for_none() -> anyhow::Result<()> {
    let shop = lenient();
    let head = |entity: &str, token: &str| {
        format!(
            "GET /v1/query?merchantTransactionId=held-back{entity} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: {FORM}\r\nContent-Length: 1000\r\nConnection: close\r\n\r\nentityId="
        )
    };
    let strict = super::support::shop();
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
    let shop = Gateway::shared().merchant_with(&["--compatible", "on", "--refuse-duplicates", "on"])?;
    let order = [("merchantTransactionId", "7")];
    assert_answer(&pay(&shop, &order).await?, 200, "000.100.110");
    assert_answer(&pay(&shop, &order).await?, 400, "800.110.100");
    // The last of two names counts here too.
    let twice = [("merchantTransactionId", "7"), ("merchantTransactionId", "8")];
    assert_answer(&pay(&shop, &twice).await?, 200, "000.100.110");
    assert_answer(&pay(&shop, &[twice[1], twice[0]]).await?, 400, "800.110.100");
    Ok(())
}
