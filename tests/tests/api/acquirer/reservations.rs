//! Checks at the reservation of a payment, before its acquirer's host is asked, and the data that the host gets then.

use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};

use crate::acquirer::payments::AcquirerScene;
use crate::payment::wallet::make_token;
use crate::support::*;
use crate::three_ds::{CARDHOLDER_DATA, challenge_transaction, post_to_page, redirect_field, visit_page};

const PAID: &str = "000.100.112";
const EXTERNAL: (&str, &str) = ("testMode", "EXTERNAL");

/// Sends a payment twenty times at once. Returns the number of approvals.
async fn pay_twenty_times(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<usize> {
    let fields: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let payments = futures_util::future::join_all((0..20).map(|_| {
        let (shop, fields) = (shop.clone(), fields.clone());
        tokio::spawn(async move {
            let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            shop.post("v1/payments", &fields).await
        })
    }));
    let mut approved = 0;
    for payment in payments.await {
        let payment: ApiResponse = payment??;
        approved += usize::from(payment.result_code() == PAID);
    }
    Ok(approved)
}

/// Returns a debit of 92.00 EUR at the host with the fields of an account.
fn external_debit<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let basic = [EXTERNAL, ("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    [&basic[..], more].concat()
}

const CARD: [(&str, &str); 5] = [
    ("paymentBrand", "VISA"),
    ("card.number", "4200000000000000"),
    ("card.holder", "Jane Jones"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
];

#[tokio::test(flavor = "multi_thread")]
async fn twenty_charges_of_one_reference_token_or_agreement_ask_the_host_once() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = scene.gateway.create_merchant_with(&["--refuse-duplicates"])?;
    // A reference.
    let order = external_debit(&[&CARD[..], &[("card.cvv", "123"), ("merchantTransactionId", "one-order")]].concat());
    assert_eq!(pay_twenty_times(&shop, &order).await?, 1);
    assert_eq!(scene.booked_entries("debit").await?.len(), 1);
    // A wallet's token.
    scene.gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    let token = make_token(&scene.gateway, &shop, &[])?;
    let paid = external_debit(&[("paymentBrand", "APPLEPAY"), ("walletPay.paymentToken", &token)]);
    assert_eq!(pay_twenty_times(&shop, &paid).await?, 1);
    assert_eq!(scene.booked_entries("debit").await?.len(), 2);
    // An agreement with room for one more charge.
    let first = [
        ("card.cvv", "123"),
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.source", "CIT"),
        ("standingInstruction.type", "INSTALLMENT"),
        ("standingInstruction.numberOfInstallments", "2"),
    ];
    let agreed = shop.post("v1/payments", &external_debit(&[&CARD[..], &first].concat())).await?;
    assert_result(&agreed, 200, PAID);
    let id = agreed.json["standingInstruction"]["initialTransactionId"].as_str().unwrap_or_default().to_owned();
    let charge = [
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.source", "MIT"),
        ("standingInstruction.initialTransactionId", id.as_str()),
    ];
    let charge = external_debit(&[&CARD[..], &charge].concat());
    assert_eq!(pay_twenty_times(&shop, &charge).await?, 1);
    assert_eq!(scene.booked_entries("debit").await?.len(), 4);
    scene.reconcile().await
}

/// Data that an acquirer passes on, by the names of the parameters.
const SCHEME_DATA: [(&str, &str); 11] = [
    ("merchant.name", "Kiln & Tide"),
    ("merchant.city", "Hamburg"),
    ("merchant.country", "DE"),
    ("merchant.mcc", "5999"),
    ("transactionCategory", "EC"),
    ("standingInstruction.mode", "INITIAL"),
    ("standingInstruction.source", "CIT"),
    ("standingInstruction.type", "INSTALLMENT"),
    ("standingInstruction.expiry", "2033-11-01"),
    ("standingInstruction.frequency", "30"),
    ("standingInstruction.numberOfInstallments", "12"),
];

/// Asserts that an entry of the ledger has the scheme data of a payment, and its descriptor.
#[track_caller]
fn assert_scheme_data(entry: &Value, payment: &ApiResponse) {
    let merchant = json!({ "name": "Kiln & Tide", "city": "Hamburg", "country": "DE", "mcc": "5999" });
    assert_eq!((&entry["merchant"], &entry["transactionCategory"]), (&merchant, &json!("EC")), "{entry}");
    let initial = &payment.json["standingInstruction"]["initialTransactionId"];
    let mut instruction = entry["standingInstruction"].clone();
    let sent = instruction.as_object_mut().and_then(|fields| fields.remove("initialTransactionId"));
    // The id is made with the first payment, whose request has none yet.
    assert!(sent.is_none_or(|sent| sent == *initial), "{entry}");
    let expected = json!({
        "mode": "INITIAL", "source": "CIT", "type": "INSTALLMENT", "expiry": "2033-11-01", "frequency": "30",
        "numberOfInstallments": "12",
    });
    assert_eq!(instruction, expected);
    assert_eq!(entry["descriptor"], payment.json["descriptor"]);
    assert!(entry["descriptor"].as_str().is_some_and(|text| text.ends_with(" Kiln & Tide")), "{entry}");
}

#[tokio::test]
async fn data_for_the_schemes_reach_the_host_at_once_and_after_a_challenge() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = scene.shop.pay_by_card(&[&[EXTERNAL][..], &SCHEME_DATA].concat()).await?;
    assert_result(&paid, 200, PAID);
    assert_scheme_data(&scene.booked_entries("debit").await?[0], &paid);
    let challenged = [
        &[EXTERNAL, ("card.number", "4200000000000018"), ("shopperResultUrl", "https://shop.example/back")][..],
        &SCHEME_DATA,
        &CARDHOLDER_DATA,
    ]
    .concat();
    let pending = scene.shop.pay_by_card(&challenged).await?;
    let url = redirect_field(&pending, "url").to_owned();
    let transaction = challenge_transaction(&visit_page(&scene.shop, &url).await?.1).to_owned();
    post_to_page(&scene.shop, &url, &[("transaction", &transaction), ("returnCode", "000.100.110")]).await?;
    let confirmed = scene.wait_for_outcome(pending.id()).await?;
    assert_result(&confirmed, 200, PAID);
    let debits = scene.booked_entries("debit").await?;
    assert_scheme_data(&debits[1], &confirmed);
    assert_eq!(debits[1]["threeDs"]["status"], "Y");
    // The text on the statement goes with a refund too.
    let refund = scene.modify(paid.id(), "RF", "1.00").await?;
    assert_result(&refund, 200, PAID);
    let booked = &scene.booked_entries("refund").await?[0];
    assert!(booked["descriptor"].as_str().is_some_and(|text| text.ends_with(" Kiln & Tide")), "{booked}");
    scene.reconcile().await
}

#[tokio::test]
async fn a_channel_with_a_vanished_connector_declines() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--connector", "http"])?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    // The command line refuses such a name, but an earlier version may have stored it.
    let query = "UPDATE entity SET settings = replace(settings, '\"connector\":\"http\"', '\"connector\":\"gone\"')
        WHERE id = ?1 AND settings LIKE '%\"connector\":\"http\"%'";
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        let database = Database::open(data)?;
        anyhow::ensure!(database.execute(query, [&shop.entity_id])? == 1, "no such entity");
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    for fields in [&[][..], &[EXTERNAL]] {
        assert_result(&shop.pay_by_card(fields).await?, 400, "600.200.201");
    }
    Ok(())
}
