//! A sandbox accepts documented test numbers only, and declines every other number without storing it.

use std::collections::BTreeSet;
use std::path::Path;

use reqwest::Method;
use serde_json::Value;
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::format::card_number::is_luhn_valid;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form};

use crate::payment::wallet::{make_token, wallet_shop};
use crate::registration::registrations::{count_accounts, merge_fields, pay_by_registration, register_card};
use crate::support::*;
use crate::three_ds::CARDHOLDER_DATA;

const DECLINED: &str = "600.200.800";
/// Numbers in the ranges of real cards. Each is used for one way of sending a number.
const REAL: [&str; 12] = [
    "4716029384756009",
    "4716029384756017",
    "4716029384756025",
    "4716029384756033",
    "4716029384756041",
    "4716029384756058",
    "4716029384756066",
    "4716029384756074",
    "4716029384756082",
    "4716029384756090",
    "4716029384756108",
    "4716029384756116",
];

/// Returns every route that accepts a card number according to `openapi.json`, as method and path.
async fn card_number_routes(shop: &MerchantClient) -> anyhow::Result<BTreeSet<String>> {
    let document: Value = shop.client.get(format!("{}openapi.json", shop.base)).send().await?.json().await?;
    let mut found = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let body = operation["requestBody"].to_string();
            if body.contains("card.number") || body.contains("schemas/CardAccount\"") {
                found.insert(format!("{method} {path}"));
            }
        }
    }
    Ok(found)
}

/// Returns true if a file of a folder, or of a folder below it, contains a text.
fn is_in_any_file(folder: &Path, text: &str) -> anyhow::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let found = match path.is_dir() {
            true => is_in_any_file(&path, text)?,
            // A socket is no file that can be read.
            false if !path.is_file() => false,
            false => std::fs::read(&path)?.windows(text.len()).any(|window| window == text.as_bytes()),
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Asserts that no account is stored, neither sealed nor in clear text, and that none of the numbers in [`REAL`] is in
/// the log or in a file.
#[track_caller]
fn assert_nothing_stored(gateway: &TestGateway) -> anyhow::Result<()> {
    let database = open_database(gateway)?;
    for table in ["card", "registration_account", "promise", "standing_instruction"] {
        let rows: u32 = database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        assert_eq!(rows, 0, "{table}");
    }
    for number in REAL {
        assert!(is_luhn_valid(number), "{number} would be declined by its check digit");
        assert!(!gateway.read_log().contains(number), "{number} is in the log");
        assert!(!is_in_any_file(gateway.folder(), number)?, "{number} is in a file");
    }
    Ok(())
}

#[tokio::test]
async fn every_route_that_takes_a_number_declines_a_real_one_and_keeps_nothing_of_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut numbers = REAL.iter().map(|number| ("card.number", *number));
    let mut number = || numbers.next().unwrap_or_default();
    let mut tried = BTreeSet::new();
    let mut declined = |route: &str, answer: &ApiResponse| {
        assert_result(answer, 400, DECLINED);
        assert!(answer.json["registrationId"].is_null() && answer.json["redirect"].is_null(), "{}", answer.text);
        tried.insert(route.to_owned());
    };
    // With parameters that ask for a registration, an outcome or a challenge.
    let wishes: [&[(&str, &str)]; 4] = [
        &[("createRegistration", "true"), ("standingInstruction.mode", "INITIAL")],
        &[("customParameters[forceResultCode]", "000.100.110"), ("createRegistration", "true")],
        &[("customParameters[forceResultCode]", "000.200.000"), ("createRegistration", "true")],
        &[("customParameters[3DS2_flow]", "challenge"), ("shopperResultUrl", "https://shop.example/")],
    ];
    for wish in wishes {
        let fields = [&[number()][..], &CARDHOLDER_DATA[..5], wish, &CARDHOLDER_DATA[5..]].concat();
        declined("post /v1/payments", &shop.pay_by_card(&fields).await?);
    }
    declined("post /v1/registrations", &register_card(&shop, &[number()]).await?);
    // A checkout accepts the number in its creation and update, but does not store it.
    let beside = [CARD.as_slice(), &[number()]].concat();
    let checkout = shop.create_checkout(&merge_fields(&beside[..0], &[beside[6]])).await?;
    assert_result(&checkout, 200, "000.200.100");
    let changed = shop.post(&format!("v1/checkouts/{}", checkout.id()), &[number()]).await?;
    assert_result(&changed, 200, "000.200.101");
    let paid = shop.submit_card(checkout.id(), &[number()]).await?;
    assert_result(&paid, 200, "000.000.100");
    declined("post /v1/checkouts/{id}/payment", &shop.read_status(checkout.id()).await?);
    let summary =
        shop.submit_card(shop.create_checkout(&[]).await?.id(), &[number(), ("useSummaryPage", "true")]).await?;
    declined("post /v1/checkouts/{id}/payment", &summary);
    let stores = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    let path = format!("v1/checkouts/{}/registration", stores.id());
    assert_result(&shop.post_as_browser(&path, &merge_fields(&CARD, &[number()])).await?, 200, "000.000.100");
    declined("post /v1/checkouts/{id}/registration", &shop.get(&path).await?);
    let plain = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/")]).await?;
    let expiry = [number(), ("card.expiry", "12 / 49")];
    let fields = [&CARD[..1], &CARD[5..], &expiry].concat();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let request = client.post(format!("{}v1/plainForm.html?checkoutId={}&brands=VISA", shop.base, plain.id()));
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(encode_form(fields));
    assert_eq!(request.send().await?.status(), 303);
    declined("post /v1/plainForm.html", &shop.read_status(plain.id()).await?);
    assert_nothing_stored(&gateway)?;
    // Routes that create or change a checkout, or use an existing payment or account, do not read card parameters. A
    // list of the risk check stores an index of the number (`risk::lists`), and a stand-alone check stores nothing.
    tried.extend(
        [
            "post /v1/checkouts",
            "post /v1/checkouts/{id}",
            "post /v1/payments/{id}",
            "post /v1/registrations/{id}/payments",
            "post /v2/risk/lists",
            "post /v2/riskScreen",
            "post /v2/registrations/{id}/riskScreen",
        ]
        .map(str::to_owned),
    );
    assert_eq!(card_number_routes(&shop).await?, tried);
    Ok(())
}

#[tokio::test]
async fn a_wrong_check_digit_keeps_its_code_whatever_is_forced() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for forced in ["", "000.100.110", "000.200.000"] {
        let fields = [("card.number", "4716029384756015"), ("customParameters[forceResultCode]", forced)];
        assert_result(&shop.pay_by_card(&fields).await?, 400, "100.100.101");
    }
    Ok(())
}

#[tokio::test]
async fn the_answer_says_why() -> anyhow::Result<()> {
    let answer = sandbox_shop().pay_by_card(&[("card.number", REAL[0])]).await?;
    assert_result(&answer, 400, DECLINED);
    assert!(!answer.id().is_empty(), "{}", answer.text);
    let description = answer.json["result"]["description"].as_str().unwrap_or_default();
    assert!(description.contains("documented test card numbers only"), "{description}");
    Ok(())
}

#[tokio::test]
async fn a_number_stored_while_any_was_taken_cannot_be_paid_with_afterwards() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--sandbox-any-number"])?;
    let made = register_card(&shop, &[("card.number", REAL[0])]).await?;
    assert_result(&made, 200, "000.100.110");
    assert_result(&pay_by_registration(&shop, made.id(), &[]).await?, 200, "000.100.110");
    assert_eq!(count_accounts(&gateway)?, 1);
    let set = ["entity", "set", "--entity", &shop.entity_id, "--sandbox-any-number", "off"];
    assert_eq!(gateway.run_command(&set)?["settings"]["sandbox_any_number"], false);
    tillgate_tests::poll_until("the gateway follows", async || {
        let answer = pay_by_registration(&shop, made.id(), &[]).await?;
        Ok((answer.result_code() == DECLINED).then_some(()))
    })
    .await?;
    let offers = shop.create_checkout(&[("registrations[0].id", made.id())]).await?;
    let path = format!("v1/checkouts/{}/payment", offers.id());
    let chosen = [("registrationId", made.id()), ("card.cvv", "123")];
    assert_result(&shop.post_as_browser(&path, &chosen).await?, 200, "000.000.100");
    assert_result(&shop.read_status(offers.id()).await?, 400, DECLINED);
    Ok(())
}

#[tokio::test]
async fn a_wallets_token_holds_a_test_number_too() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, _) = wallet_shop(gateway)?;
    let pays = async |number: &str| -> anyhow::Result<ApiResponse> {
        let token = make_token(gateway, &shop, &["--number", number])?;
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "APPLEPAY")];
        shop.post("v1/payments", &[&order[..], &[("walletPay.paymentToken", &token)]].concat()).await
    };
    assert_result(&pays(REAL[0]).await?, 400, DECLINED);
    assert_result(&pays("4242424242424242").await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_option_is_of_one_entity_and_a_sandboxs_own() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let merchant = gateway.create_merchant_with(&["--sandbox-any-number"])?;
    assert_result(&merchant.pay_by_card(&[("card.number", REAL[0])]).await?, 200, "000.100.110");
    assert_result(&other_shop().pay_by_card(&[("card.number", REAL[0])]).await?, 400, DECLINED);
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    assert_result(&channel.pay_by_card(&[("card.number", REAL[0])]).await?, 400, DECLINED);
    let refused = gateway
        .create_merchant_with(&["--live", "--sandbox-any-number"])
        .map(|shop| shop.entity_id)
        .expect_err("the two options contradict each other");
    assert!(refused.to_string().contains("accepts real cards"), "{refused}");
    Ok(())
}

#[tokio::test]
async fn every_number_of_the_reference_pays_and_every_card_brand_has_one() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let page = ApiResponse::read_from(shop.bare_request(Method::GET, "reference").send().await?).await?;
    let mut all = BTreeSet::new();
    for row in crate::service::reference::table_rows(&page, "test-numbers") {
        let brand = if row[1] == "none" { "WORLD" } else { &row[1] };
        let code = ("card.cvv", if brand == "AMEX" { "1234" } else { "123" });
        for number in row[0].split(' ') {
            let paid = shop.pay_by_card(&[("card.number", number), ("paymentBrand", brand), code]).await?;
            assert_result(&paid, 200, "000.100.110");
            assert!(all.insert(number.to_owned()), "{number}");
        }
    }
    for anchor in ["test-cards", "test-3d"] {
        all.extend(crate::service::reference::table_rows(&page, anchor).into_iter().map(|row| row[0].clone()));
    }
    for brand in Brand::all().iter().filter(|brand| brand.kind == AccountType::Card) {
        assert!(all.iter().any(|number| brand.allows_number(number)), "{}", brand.code);
    }
    Ok(())
}

#[tokio::test]
async fn every_number_of_the_published_vendors_lists_is_taken() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let known = [
        ("Stripe", "VISA", "4000056655665556"),
        ("Stripe", "MASTER", "2223003122003222"),
        ("Stripe", "UNIONPAY", "6200000000000005"),
        ("Adyen", "VISA", "4988438843884305"),
        ("Adyen", "MASTER", "5577000055770004"),
        ("Adyen", "AMEX", "370000000000002"),
        ("Adyen", "MAESTRO", "6771798021000008"),
        ("Braintree and PayPal", "VISA", "4005519200000004"),
        ("Braintree and PayPal", "JCB", "3530111333300000"),
        ("Worldpay", "VISA", "4444333322221111"),
        ("Worldpay", "MAESTRO", "6759649826438453"),
        ("Checkout.com", "VISA", "4543474002249996"),
        ("Cybersource", "VISA", "4622943127013705"),
        ("schemes", "DISCOVER", "6011111111111117"),
        ("schemes", "DINERS", "30569309025904"),
        ("schemes", "AMEX", "378282246310005"),
    ];
    for (publisher, brand, number) in known {
        let code = ("card.cvv", if brand == "AMEX" { "1234" } else { "123" });
        let paid = shop.pay_by_card(&[("paymentBrand", brand), ("card.number", number), code]).await?;
        assert_eq!(paid.result_code(), "000.100.110", "{publisher}: {}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_numbers_of_resellers_pay_and_stand_in_the_reference() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let reference = shop.client.get(format!("{}reference", shop.base)).send().await?.text().await?;
    for (brand, number, paid) in [
        ("MADA", "4464040000000007", true),
        ("MADA", "5297412542005689", true),
        ("MADA", "5360230159427034", true),
        ("MASTER", "5123450000000008", true),
        ("MASTER", "5123456789012346", true),
        ("VISA", "4228230000000001", true),
        ("VISA", "4440000009900010", true),
        ("VISA", "4440000042200014", true),
        ("VISA", "4012000033330026", true),
        // Their lists name it as the one that fails.
        ("MASTER", "5204730000002514", false),
    ] {
        let answer = shop.pay_by_card(&[("card.number", number), ("paymentBrand", brand)]).await?;
        assert_eq!(answer.result_code() == "000.100.110", paid, "{number}: {}", answer.text);
        assert_ne!(answer.result_code(), DECLINED, "{number} is no test number");
        let shown =
            [number.to_owned(), number.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")];
        assert!(shown.iter().any(|number| reference.contains(number.as_str())), "the reference lacks {number}");
    }
    Ok(())
}
