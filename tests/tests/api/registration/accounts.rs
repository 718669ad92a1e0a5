//! Registrations of accounts other than typed cards: bank accounts, provider accounts, and cards from wallets.

use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form};

use crate::payment::wallet::{assert_refused, make_token, wallet_shop};
use crate::registration::registrations::{
    count_accounts, delete_registration, merge_fields, pay_by_registration, read_registration,
};
use crate::support::*;

const IBAN: &str = "DE23100000001234567890";
const DEBIT: [(&str, &str); 6] = [
    ("paymentBrand", "SEPA"),
    ("bankAccount.holder", "Jane Jones"),
    ("bankAccount.iban", IBAN),
    ("bankAccount.bic", "MARKDEF1100"),
    ("bankAccount.mandate.id", "MANDATE4711"),
    ("bankAccount.mandate.dateOfSignature", "2026-01-31"),
];
const PROVIDER: [(&str, &str); 2] = [("paymentBrand", "PAYPAL"), ("virtualAccount.accountId", "jane@example.com")];
const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/result");
const WITHOUT_SHOPPER: [(&str, &str); 3] = [
    ("standingInstruction.mode", "REPEATED"),
    ("standingInstruction.type", "UNSCHEDULED"),
    ("standingInstruction.source", "MIT"),
];

async fn register_account(shop: &MerchantClient, account: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.post("v1/registrations", account).await
}

/// Returns a merchant that is not shared with other tests.
fn own_shop() -> anyhow::Result<MerchantClient> {
    TestGateway::shared().create_merchant()
}

#[tokio::test]
async fn a_bank_account_is_registered_shown_masked_and_debited_again() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let made = register_account(&shop, &DEBIT).await?;
    assert_result(&made, 200, "000.100.110");
    assert_eq!((&made.json["paymentType"], &made.json["paymentBrand"]), (&json!("RG"), &json!("SEPA")));
    let account = &made.json["bankAccount"];
    assert_eq!((&account["holder"], &account["bic"]), (&json!("Jane Jones"), &json!("MARKDEF1100")));
    assert!(account["iban"].as_str().is_some_and(|iban| iban.ends_with("7890") && iban != IBAN), "{}", made.text);
    // A bank account does not expire.
    assert!(made.json["retainedUntil"].is_null(), "{}", made.text);
    let paid = pay_by_registration(&shop, made.id(), &[]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!((&paid.json["registrationId"], &paid.json["paymentBrand"]), (&json!(made.id()), &json!("SEPA")));
    // The mandate is stored with the account.
    assert_eq!(paid.json["bankAccount"]["mandate"]["id"], "MANDATE4711", "{}", paid.text);
    for (name, value) in [("bankAccount.iban", "AT611904300234573201"), ("bankAccount.number", "1234567")] {
        assert_errors(&pay_by_registration(&shop, made.id(), &[(name, value)]).await?, &[name]);
    }
    // A debit that the account does not allow is declined like one with the account itself.
    assert_result(&pay_by_registration(&shop, made.id(), &[("currency", "USD")]).await?, 400, "600.200.500");
    for text in [&made.text, &paid.text, &read_registration(&shop, made.id()).await?.text] {
        assert!(!text.contains("1000000012345"), "{text}");
    }
    assert_result(&delete_registration(&shop, made.id()).await?, 200, "000.100.110");
    assert_eq!(count_accounts(&gateway)?, 0);
    assert_result(&pay_by_registration(&shop, made.id(), &[]).await?, 400, "100.150.202");
    Ok(())
}

#[tokio::test]
async fn one_bank_account_written_in_two_ways_gets_two_ids() -> anyhow::Result<()> {
    let shop = own_shop()?;
    let made = register_account(&shop, &DEBIT).await?;
    let small = register_account(&shop, &merge_fields(&DEBIT, &[("bankAccount.iban", &IBAN.to_lowercase())])).await?;
    assert_result(&small, 200, "000.100.110");
    assert_ne!(small.id(), made.id(), "{}", small.text);
    Ok(())
}

#[tokio::test]
async fn a_bank_account_of_a_national_number_is_registered_and_debited() -> anyhow::Result<()> {
    let shop = own_shop()?;
    let national = [
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.number", "1234567890"),
        ("bankAccount.bankCode", "10000000"),
        ("bankAccount.country", "DE"),
    ];
    let made = register_account(&shop, &national).await?;
    assert_result(&made, 200, "000.100.110");
    assert!(!made.text.contains("1234567890"), "{}", made.text);
    assert_result(&pay_by_registration(&shop, made.id(), &[]).await?, 200, "000.100.110");
    // The same number at another bank is another account.
    let other = register_account(&shop, &merge_fields(&national, &[("bankAccount.bankCode", "20000000")])).await?;
    assert_ne!(other.id(), made.id());
    Ok(())
}

#[tokio::test]
async fn a_bank_account_that_cannot_be_debited_is_not_registered() -> anyhow::Result<()> {
    let shop = own_shop()?;
    for (account, code) in [
        (merge_fields(&DEBIT, &[("bankAccount.iban", "DE31100000000000000052")]), "800.100.202"),
        (merge_fields(&DEBIT, &[("bankAccount.bic", "OPSKATWW")]), "100.200.103"),
    ] {
        let made = register_account(&shop, &account).await?;
        assert_result(&made, 400, code);
        assert_result(&pay_by_registration(&shop, made.id(), &[]).await?, 400, "100.150.203");
    }
    let wrong = [("bankAccount.iban", "DE24100000001234567890"), ("bankAccount.holder", "Jo")];
    assert_errors(
        &register_account(&shop, &merge_fields(&DEBIT, &wrong)).await?,
        &["bankAccount.iban", "bankAccount.holder"],
    );
    let bare = register_account(&shop, &[("paymentBrand", "SEPA")]).await?;
    assert_errors(&bare, &["bankAccount.holder", "bankAccount.iban", "bankAccount.bic"]);
    Ok(())
}

#[tokio::test]
async fn a_direct_debit_and_a_providers_account_are_registered_with_their_payment() -> anyhow::Result<()> {
    let shop = own_shop()?;
    for account in [&DEBIT[..], &[("paymentBrand", "AFTERPAY"), ("virtualAccount.accountId", "jane")]] {
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("createRegistration", "true")];
        let paid = shop.post("v1/payments", &[&order[..], account].concat()).await?;
        assert_result(&paid, 200, "000.100.110");
        let id = paid.json["registrationId"].as_str().unwrap_or_default();
        let again = pay_by_registration(&shop, id, &[]).await?;
        assert_result(&again, 200, "000.100.110");
        assert_eq!(again.json["paymentBrand"], paid.json["paymentBrand"]);
        assert_eq!(again.json["virtualAccount"], paid.json["virtualAccount"]);
        assert_eq!(again.json["bankAccount"]["iban"], paid.json["bankAccount"]["iban"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_shopper_registers_a_bank_account_in_a_tokenisation_checkout() -> anyhow::Result<()> {
    let shop = own_shop()?;
    let opened = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    let path = format!("v1/checkouts/{}/registration", opened.id());
    assert_result(&shop.post_as_browser(&path, &DEBIT[..4]).await?, 200, "000.000.100");
    let status = shop.get(&path).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["bankAccount"]["holder"], "Jane Jones");
    assert_result(&pay_by_registration(&shop, status.id(), &[]).await?, 200, "000.100.110");
    // A one-click payment.
    let made = shop.create_checkout(&[("registrations[0].id", status.id())]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    assert_result(&shop.post_as_browser(&path, &[("registrationId", status.id())]).await?, 200, "000.000.100");
    assert_result(&shop.read_status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_account_with_a_provider_is_registered_and_its_shopper_confirms_each_payment() -> anyhow::Result<()> {
    let shop = own_shop()?;
    let made = register_account(&shop, &PROVIDER).await?;
    assert_result(&made, 200, "000.100.110");
    assert_eq!(made.json["virtualAccount"]["accountId"], "jane@example.com");
    assert!(made.json["redirect"].is_null(), "{}", made.text);
    assert_errors(&pay_by_registration(&shop, made.id(), &[]).await?, &["shopperResultUrl"]);
    let pending = pay_by_registration(&shop, made.id(), &[BACK]).await?;
    assert_result(&pending, 200, "000.200.000");
    assert!(pending.json["redirect"]["url"].is_string(), "{}", pending.text);
    assert_eq!(pending.json["virtualAccount"]["accountId"], "jane@example.com");
    let other = pay_by_registration(&shop, made.id(), &[BACK, ("virtualAccount.accountId", "other")]).await?;
    assert_errors(&other, &["virtualAccount.accountId"]);
    Ok(())
}

#[tokio::test]
async fn what_was_agreed_for_a_providers_account_is_charged_without_the_shopper() -> anyhow::Result<()> {
    let shop = own_shop()?;
    let agreed = merge_fields(
        &WITHOUT_SHOPPER,
        &[("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")],
    );
    let made = register_account(&shop, &[&PROVIDER[..], &agreed].concat()).await?;
    assert_result(&made, 200, "000.100.110");
    assert!(made.json["standingInstruction"]["initialTransactionId"].is_string(), "{}", made.text);
    let charged = pay_by_registration(&shop, made.id(), &WITHOUT_SHOPPER).await?;
    assert_result(&charged, 200, "000.100.110");
    assert!(charged.json["redirect"].is_null(), "{}", charged.text);
    // Without a standing instruction, a merchant-initiated payment is refused.
    let plain = register_account(&shop, &merge_fields(&PROVIDER, &[("virtualAccount.accountId", "joe")])).await?;
    let refused = pay_by_registration(&shop, plain.id(), &WITHOUT_SHOPPER).await?;
    assert_errors(&refused, &["standingInstruction.initialTransactionId"]);
    Ok(())
}

#[tokio::test]
async fn a_brand_that_asks_the_shopper_itself_has_nothing_to_register_until_an_account_is_named() -> anyhow::Result<()>
{
    let shop = own_shop()?;
    for (brand, name) in [
        ("PAYPAL", "virtualAccount.accountId"),
        ("SIBS_MULTIBANCO", "virtualAccount.accountId"),
        ("IDEAL", "bankAccount.iban"),
        ("SOFORTUEBERWEISUNG", "bankAccount.iban"),
    ] {
        let refused = register_account(&shop, &[("paymentBrand", brand)]).await?;
        assert_result(&refused, 400, "100.150.100");
        assert_eq!(
            (refused.invalid_parameters(), &refused.json["id"]),
            (vec![name], &Value::Null),
            "{brand}: {}",
            refused.text
        );
        assert_eq!(parameter_error(&refused, name)["value"], Value::Null);
    }
    // With a stored account, the shopper does not have to type it, but is still redirected to the bank.
    let giropay = [
        ("paymentBrand", "GIROPAY"),
        ("bankAccount.iban", "DE14940593100000012346"),
        ("bankAccount.bic", "TESTDETT421"),
    ];
    let made = register_account(&shop, &giropay).await?;
    assert_result(&made, 200, "000.100.110");
    let pending = pay_by_registration(&shop, made.id(), &[BACK]).await?;
    assert_result(&pending, 200, "000.200.000");
    assert!(pending.json["redirect"]["url"].is_string(), "{}", pending.text);
    // A forced pending registration is refused, because nothing would ever end it.
    let forced = merge_fields(&PROVIDER, &[("customParameters[forceResultCode]", "000.200.000")]);
    assert_result(&register_account(&shop, &forced).await?, 400, "600.200.201");
    Ok(())
}

#[tokio::test]
async fn a_payment_that_is_still_pending_registers_nothing_yet() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("createRegistration", "true"), BACK];
    let pending = shop.post("v1/payments", &[&order[..], &PROVIDER].concat()).await?;
    assert_result(&pending, 200, "000.200.000");
    assert!(pending.json["registrationId"].is_null(), "{}", pending.text);
    assert_eq!(count_accounts(&gateway)?, 0);
    Ok(())
}

#[tokio::test]
async fn a_wallets_token_registers_the_card_inside_once_and_the_card_pays_without_a_token() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, _) = wallet_shop(gateway)?;
    let from_wallet = |token: &str| -> anyhow::Result<Vec<(&'static str, String)>> {
        Ok(vec![("paymentBrand", "APPLEPAY".to_owned()), ("walletPay.paymentToken", token.to_owned())])
    };
    let register = async |token: &str, more: &[(&str, &str)]| -> anyhow::Result<ApiResponse> {
        let wallet = from_wallet(token)?;
        let fields: Vec<(&str, &str)> = wallet.iter().map(|(name, value)| (*name, value.as_str())).collect();
        shop.post("v1/registrations", &[&fields[..], more].concat()).await
    };
    let used = make_token(gateway, &shop, &["--number", "5454545454545454", "--holder", "Jane Jones", "--eci", "02"])?;
    let made = register(&used, &[]).await?;
    assert_result(&made, 200, "000.100.110");
    let card = json!({
        "bin": "545454", "last4Digits": "5454", "holder": "Jane Jones", "expiryMonth": "05", "expiryYear": "2034",
    });
    assert_eq!((&made.json["card"], &made.json["paymentBrand"]), (&card, &json!("APPLEPAY")), "{}", made.text);
    assert_eq!(made.json["retainedUntil"], "2035-08-01 00:00:00+0000");
    assert!(!made.text.contains("paymentToken"), "{}", made.text);
    let paid = pay_by_registration(&shop, made.id(), &[]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!((&paid.json["card"], &paid.json["paymentBrand"]), (&card, &json!("APPLEPAY")), "{}", paid.text);
    // Cryptogram and token are for single use.
    assert!(paid.json["threeDSecure"].is_null(), "{}", paid.text);
    assert_refused(&register(&used, &[]).await?, "has been used already");
    let spare = make_token(gateway, &shop, &[])?;
    let beside = pay_by_registration(&shop, made.id(), &[("walletPay.paymentToken", &spare)]).await?;
    assert_errors(&beside, &["walletPay.paymentToken"]);
    // A token with an invalid card number is used up too.
    let wrong = make_token(gateway, &shop, &["--number", "4200000000000001"])?;
    assert_result(&register(&wrong, &[]).await?, 400, "100.100.101");
    assert_refused(&register(&wrong, &[]).await?, "has been used already");
    // A refused request does not use up the token.
    assert_errors(&register(&spare, &[("billing.country", "XX")]).await?, &["billing.country"]);
    assert_result(&register(&spare, &[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn of_twenty_that_register_one_token_at_once_one_does() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, _) = wallet_shop(&gateway)?;
    let token = make_token(&gateway, &shop, &[])?;
    let twins: Vec<_> = (0..20)
        .map(|_| {
            let (shop, token) = (shop.clone(), token.clone());
            let fields = [("paymentBrand", "GOOGLEPAY".to_owned()), ("walletPay.paymentToken", token)];
            tokio::spawn(async move {
                let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
                shop.post("v1/registrations", &fields).await
            })
        })
        .collect();
    let mut made = 0;
    for twin in twins {
        let answer = twin.await??;
        if answer.status == 200 {
            made += 1;
        } else {
            assert_refused(&answer, "has been used already");
        }
    }
    assert_eq!((made, count_accounts(&gateway)?), (1, 1));
    Ok(())
}

#[tokio::test]
async fn a_payment_by_wallet_registers_its_card_whoever_decrypted_it() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, _) = wallet_shop(gateway)?;
    let token = make_token(gateway, &shop, &["--holder", "Jane Jones"])?;
    let order = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "GOOGLEPAY"),
        ("createRegistration", "true"),
    ];
    let encrypted = [("walletPay.paymentToken", token.as_str())];
    let decrypted = [
        ("card.number", "4200000000000000"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
        ("card.holder", "Jane Jones"),
        ("threeDSecure.verificationId", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        ("threeDSecure.eci", "05"),
        ("walletPay.source", "web"),
    ];
    let mut ids = Vec::new();
    for account in [&encrypted[..], &decrypted] {
        let paid = shop.post("v1/payments", &[&order[..], account].concat()).await?;
        assert_result(&paid, 200, "000.100.110");
        let id = paid.json["registrationId"].as_str().unwrap_or_default().to_owned();
        let again = pay_by_registration(&shop, &id, &[]).await?;
        assert_result(&again, 200, "000.100.110");
        assert_eq!((&again.json["card"], &again.json["registrationId"]), (&paid.json["card"], &json!(id)));
        ids.push(id);
    }
    assert_ne!(ids[0], ids[1], "each registration has an id of its own");
    Ok(())
}

#[tokio::test]
async fn no_account_that_is_registered_stands_in_a_log_or_a_row() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with_environment(&[], &[("TILLGATE_LOG", "trace")])?;
    let (shop, _) = wallet_shop(&gateway)?;
    let token = make_token(&gateway, &shop, &["--number", "5105105105105100"])?;
    let wallet = [("paymentBrand", "APPLEPAY"), ("walletPay.paymentToken", token.as_str())];
    for account in [&DEBIT[..], &wallet] {
        assert_result(&register_account(&shop, account).await?, 200, "000.100.110");
    }
    let mut places = vec![gateway.read_log()];
    places.extend(gateway.read_data_files()?.iter().map(|content| String::from_utf8_lossy(content).into_owned()));
    for place in places {
        assert!(!place.contains("5105105105105100") && !place.contains(IBAN) && !place.contains("1000000012345"));
    }
    assert!(encode_form(DEBIT).contains(IBAN));
    Ok(())
}
