//! The compatibility mode of an entity (`--compatible on`): inputs of other gateways' clients that it accepts, that
//! stay refused without it, and that it refuses too.

use std::sync::OnceLock;

use reqwest::Method;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form, poll_until};

use crate::support::*;

pub const FORM: &str = "application/x-www-form-urlencoded";
pub const ORDER: [(&str, &str); 3] = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
pub const NAMES: [(&str, &str); 2] = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];

/// Returns the shared merchant with the compatibility mode.
pub fn compatible_shop() -> MerchantClient {
    static LENIENT: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&LENIENT, &["--compatible", "on"])
}

/// Posts the entity and these pairs unchanged, including duplicate names.
pub async fn post_unchanged(shop: &MerchantClient, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    let body = encode_form([("entityId", shop.entity_id.as_str())].iter().chain(fields).copied());
    let request = shop.bare_request(Method::POST, path).bearer_auth(&shop.token).header("content-type", FORM);
    ApiResponse::read_from(request.body(body).send().await?).await
}

/// Pays 92.00 EUR with the test card. Names in `fields` may be duplicates: nothing is replaced.
pub async fn pay_by_card(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    post_unchanged(shop, "v1/payments", &[&ORDER[..], &CARD, fields].concat()).await
}

/// Sends a GET or DELETE with the merchant's token and a form-encoded body.
pub async fn send_with_body(
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
