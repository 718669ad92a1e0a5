//! Every brand and every kind of account: cards, bank accounts, accounts with a provider.

use serde_json::{Value, json};
use tillgate_shared::brand::{Brand, Elsewhere, Kind};
use tillgate_shared::format::card_number::luhn_valid;
use tillgate_tests::{Answer, Gateway, Merchant};

use crate::support::*;

const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/back");

/// A number that a brand issues, with its check digit.
fn number_of(brand: &Brand) -> String {
    let Some(scheme) = brand.scheme else { return "4200000000000000".to_owned() };
    let guest = match scheme.elsewhere {
        Elsewhere::In(ranges) => ranges.first(),
        Elsewhere::Nowhere | Elsewhere::Anywhere => None,
    };
    let start = scheme.ranges.first().or(guest).map_or_else(|| "4".to_owned(), |range| range.0.to_string());
    let length = usize::from(scheme.number_lengths[0]).max(15);
    let length = brand.number_lengths().iter().map(|l| usize::from(*l)).find(|l| *l >= length).unwrap_or(length);
    let stem = format!("{start:0<width$}", width = length - 1);
    (0..10).map(|digit| format!("{stem}{digit}")).find(|number| luhn_valid(number)).unwrap_or_default()
}

/// What a payment with a brand sends of its account.
fn account_of(brand: &Brand) -> Vec<(String, String)> {
    let pairs: Vec<(&str, String)> = match brand.kind {
        Kind::Card | Kind::Wallet => {
            let mut pairs = vec![
                ("card.number", number_of(brand)),
                ("card.expiryMonth", "05".to_owned()),
                ("card.expiryYear", "2034".to_owned()),
            ];
            if brand.kind == Kind::Wallet {
                pairs.extend([
                    ("threeDSecure.verificationId", "AAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned()),
                    ("threeDSecure.eci", "05".to_owned()),
                    ("walletPay.source", "web".to_owned()),
                ]);
            }
            pairs
        }
        Kind::Bank => vec![
            ("bankAccount.holder", "Jane Jones".to_owned()),
            ("bankAccount.iban", "DE23100000001234567890".to_owned()),
            ("bankAccount.bic", "MARKDEF1100".to_owned()),
        ],
        Kind::Virtual => vec![("virtualAccount.accountId", "jane@shop.example".to_owned())],
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Pays with a brand, server to server.
pub async fn pay(shop: &Merchant, brand: &str, account: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let basic = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", brand)];
    let kept = basic.iter().filter(|(name, _)| !account.iter().any(|(other, _)| name == other));
    let fields: Vec<_> = kept.chain(account).copied().collect();
    shop.post("v1/payments", &fields).await
}

fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// A page of the simulator, whose address is no payment's id.
#[track_caller]
fn assert_page(base: &str, url: &Value) {
    let page = url.as_str().and_then(|url| url.strip_prefix(base)?.strip_prefix("v1/simulator/")).unwrap_or_default();
    assert!(has_shape(page, &"x".repeat(44)), "{url}");
}

#[track_caller]
fn assert_pending(shop: &Merchant, answer: &Answer) {
    assert_answer(answer, 200, "000.200.000");
    let mut redirect = answer.json["redirect"].clone();
    assert_page(&shop.base, &redirect["url"].take());
    let expected = json!({ "url": null, "method": "GET", "parameters": [], "preconditions": [] });
    assert_eq!(redirect, expected, "{}", answer.text);
    assert_eq!((&answer.json["amount"], &answer.json["currency"]), (&json!("92.00"), &json!("EUR")));
}

#[tokio::test]
async fn every_brand_is_paid_server_to_server_at_once_or_by_a_page_of_its_own() -> anyhow::Result<()> {
    let shop = shop();
    let mut counts = (0, 0);
    for brand in Brand::all() {
        let account = account_of(brand);
        let paid = pay(&shop, brand.code, &[&borrowed(&account)[..], &[BACK]].concat()).await?;
        assert_eq!(paid.json["paymentBrand"], brand.code, "{}", paid.text);
        if brand.synchronous() {
            assert_answer(&paid, 200, "000.100.110");
            assert!(paid.json["redirect"].is_null(), "{}", paid.text);
            counts.0 += 1;
        } else {
            assert_pending(&shop, &paid);
            counts.1 += 1;
        }
        let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
        assert_eq!(outcome(&read), outcome(&paid));
    }
    assert_eq!(counts, (59, 111));
    Ok(())
}

#[tokio::test]
async fn every_brand_is_paid_in_a_checkout() -> anyhow::Result<()> {
    let shop = shop();
    for brand in Brand::all() {
        // What a wallet hands out is the merchant's server's to send; the form sends tokens.
        if brand.kind == Kind::Wallet {
            continue;
        }
        let made = shop.checkout(&[BACK]).await?;
        let mut form = account_of(brand);
        form.push(("paymentBrand".to_owned(), brand.code.to_owned()));
        let path = format!("v1/checkouts/{}/payment", made.id());
        let submitted = shop.post_as_browser(&path, &borrowed(&form)).await?;
        let status = shop.status(made.id()).await?;
        if brand.synchronous() {
            assert_answer(&submitted, 200, "000.000.100");
            assert_eq!(submitted.json["redirect"]["url"], BACK.1);
            assert_answer(&status, 200, "000.100.110");
        } else {
            assert_answer(&submitted, 200, "000.200.000");
            assert_pending(&shop, &status);
            assert_eq!(submitted.json["redirect"], status.json["redirect"]);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_shopper_who_asks_twice_is_sent_to_the_same_page_and_pays_once() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let fields = [("paymentBrand", "PAYPAL")];
    let first = shop.post_as_browser(&path, &fields).await?;
    let second = shop.post_as_browser(&path, &fields).await?;
    assert_answer(&second, 200, "000.200.000");
    assert_eq!(first.json["redirect"], second.json["redirect"]);
    assert_eq!(stored_payments(Gateway::shared(), made.id())?.len(), 1);
    // Nor can the merchant change what is under way.
    let update = shop.post(&format!("v1/checkouts/{}", made.id()), &[("amount", "93.00")]).await?;
    assert_answer(&update, 400, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn a_brand_with_a_page_of_its_own_needs_to_know_the_way_back() -> anyhow::Result<()> {
    let shop = shop();
    assert_errors(&pay(&shop, "PAYPAL", &[]).await?, &["shopperResultUrl"]);
    assert_errors(&pay(&shop, "PAYPAL", &[("shopperResultUrl", "javascript:1")]).await?, &["shopperResultUrl"]);
    // In a checkout the page that the form is on says it, when the merchant has not; nothing repeats what it says.
    let path = |id: &str| format!("v1/checkouts/{id}/payment");
    let made = shop.checkout(&[]).await?;
    let fields = [("paymentBrand", "PAYPAL")];
    assert_errors(&shop.post_as_browser(&path(made.id()), &fields).await?, &["shopperResultUrl"]);
    let bad = [("paymentBrand", "PAYPAL"), ("shopperResultUrl", "javascript:alert(1)")];
    assert_errors(&shop.post_as_browser(&path(made.id()), &bad).await?, &["shopperResultUrl"]);
    let fields = [("paymentBrand", "PAYPAL"), ("shopperResultUrl", "https://page.example/back")];
    assert_answer(&shop.post_as_browser(&path(made.id()), &fields).await?, 200, "000.200.000");
    let status = shop.status(made.id()).await?;
    assert!(!status.text.contains("page.example"), "{}", status.text);
    let stored = &stored_payments(Gateway::shared(), made.id())?[0];
    assert_eq!(stored["redirect"]["result_url"], "https://page.example/back");
    Ok(())
}

#[tokio::test]
async fn the_redirect_follows_the_address_that_browsers_reach() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&["--public-url", "https://pay.example"])?;
    let shop = gateway.merchant()?;
    let paid = pay(&shop, "IDEAL", &[BACK, ("bankAccount.bankName", "ING_TEST")]).await?;
    assert_page("https://pay.example/", &paid.json["redirect"]["url"]);
    assert_eq!(paid.json["bankAccount"], json!({ "bankName": "ING_TEST" }));
    Ok(())
}

#[tokio::test]
async fn a_direct_debit_shows_the_account_masked_and_the_mandate() -> anyhow::Result<()> {
    let shop = shop();
    let paid = pay(
        &shop,
        "SEPA",
        &[
            ("bankAccount.holder", "Jane Jones"),
            ("bankAccount.iban", "de23100000001234567890"),
            ("bankAccount.bic", "MARKDEF1100"),
            ("bankAccount.bankName", "Test Bank"),
            ("bankAccount.mandate.id", "MANDATE4711"),
            ("bankAccount.mandate.dateOfSignature", "2024-02-29"),
            ("bankAccount.mandate.reference", "REF4711"),
            ("transactionDueDate", "2034-01-31"),
        ],
    )
    .await?;
    assert_answer(&paid, 200, "000.100.110");
    let expected = json!({
        "holder": "Jane Jones", "iban": "DE23**************7890", "last4Digits": "7890", "bic": "MARKDEF1100",
        "bankName": "Test Bank", "country": "DE",
        "mandate": { "id": "MANDATE4711", "dateOfSignature": "2024-02-29", "reference": "REF4711" },
    });
    assert_eq!(paid.json["bankAccount"], expected);
    assert_eq!(paid.json["transactionDueDate"], "2034-01-31");
    assert_eq!(paid.json["resultDetails"], json!({ "AcquirerResponse": "00" }));
    assert!(!paid.text.contains("1234567890"), "{}", paid.text);
    let national = [
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.number", "9876543210"),
        ("bankAccount.bankCode", "10000000"),
        ("bankAccount.country", "DE"),
    ];
    let paid = pay(&shop, "DIRECTDEBIT_SEPA", &national).await?;
    assert_answer(&paid, 200, "000.100.110");
    let expected = json!({ "holder": "Jane Jones", "last4Digits": "3210", "bankCode": "10000000", "country": "DE" });
    assert_eq!(paid.json["bankAccount"], expected);
    Ok(())
}

#[tokio::test]
async fn a_direct_debit_names_what_its_account_lacks() -> anyhow::Result<()> {
    let shop = shop();
    let missing = pay(&shop, "SEPA", &[]).await?;
    assert_errors(&missing, &["bankAccount.holder", "bankAccount.iban", "bankAccount.bic"]);
    let account = |iban: &'static str| {
        [("bankAccount.holder", "Jane Jones"), ("bankAccount.iban", iban), ("bankAccount.bic", "MARKDEF1100")]
    };
    // Wrong check digits, the length of another country, a shape that is none.
    for iban in ["DE24100000001234567890", "DE2310000000123456789", "AT23100000001234567890", "DE23 1000"] {
        let refused = pay(&shop, "SEPA", &account(iban)).await?;
        assert_errors(&refused, &["bankAccount.iban"]);
        assert_eq!(error(&refused, "bankAccount.iban")["value"], Value::Null);
        assert!(!refused.text.contains(iban), "{}", refused.text);
    }
    let mut bad_bic = account("DE23100000001234567890");
    bad_bic[2].1 = "MARKDEF1";
    assert_answer(&pay(&shop, "SEPA", &bad_bic).await?, 200, "000.100.110");
    bad_bic[2].1 = "MARKDEF110";
    assert_errors(&pay(&shop, "SEPA", &bad_bic).await?, &["bankAccount.bic"]);
    Ok(())
}

#[tokio::test]
async fn test_accounts_of_three_countries_give_their_documented_outcomes() -> anyhow::Result<()> {
    let shop = shop();
    for (iban, bic, status, code, acquirer) in [
        ("DE23100000001234567890", "MARKDEF1100", 200, "000.100.110", "00"),
        ("DE58100000000000000051", "MARKDEF1100", 400, "800.100.203", "AM04"),
        ("DE31100000000000000052", "MARKDEF1100", 400, "800.100.202", "AC04"),
        ("AT611904300234573201", "OPSKATWW", 200, "000.100.110", "00"),
        ("AT821904300000000051", "OPSKATWW", 400, "800.100.203", "AM04"),
        ("AT551904300000000052", "OPSKATWW", 400, "800.100.202", "AC04"),
        ("NL91ABNA0417164300", "ABNANL2A", 200, "000.100.110", "00"),
        ("NL66ABNA0000000051", "ABNANL2A", 400, "800.100.203", "AM04"),
        ("NL39ABNA0000000052", "ABNANL2A", 400, "800.100.202", "AC04"),
        ("DE23100000001234567890", "ABNANL2A", 400, "100.200.103", "RC01"),
    ] {
        let account = [("bankAccount.holder", "Jane Jones"), ("bankAccount.iban", iban), ("bankAccount.bic", bic)];
        for _ in 0..2 {
            let paid = pay(&shop, "SEPA", &account).await?;
            assert_answer(&paid, status, code);
            assert_eq!(paid.json["resultDetails"]["AcquirerResponse"], acquirer, "{iban}");
        }
    }
    let account = [
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23100000001234567890"),
        ("bankAccount.bic", "MARKDEF1100"),
    ];
    let with = |more: (&'static str, &'static str)| [&account[..], &[more]].concat();
    assert_answer(&pay(&shop, "SEPA", &with(("currency", "USD"))).await?, 400, "600.200.500");
    let future = with(("bankAccount.mandate.dateOfSignature", "2099-01-01"));
    assert_answer(&pay(&shop, "SEPA", &future).await?, 400, "100.500.302");
    let forced = with(("customParameters[forceResultCode]", "800.100.204"));
    assert_answer(&pay(&shop, "SEPA", &forced).await?, 400, "800.100.204");
    let giropay = [BACK, ("bankAccount.iban", "DE14940593100000012346"), ("bankAccount.bic", "TESTDETT421")];
    assert_pending(&shop, &pay(&shop, "GIROPAY", &giropay).await?);
    Ok(())
}

#[tokio::test]
async fn a_transfer_says_which_account_it_goes_to() -> anyhow::Result<()> {
    let shop = shop();
    let expected = json!({
        "holder": "Tillgate Simulator", "number": "DE23100000001234567890", "bic": "MARKDEF1100", "country": "DE",
    });
    let named = ("merchant.name", "Kiln & Tide*Bowl");
    for (brand, code) in [("PREPAYMENT", "000.200.000"), ("BOLETO", "000.100.110")] {
        let paid = pay(&shop, brand, &[BACK, named]).await?;
        assert_answer(&paid, 200, code);
        assert_eq!(paid.json["merchant"]["bankAccount"], expected);
        assert_eq!(paid.json["merchant"]["name"], named.1, "what was sent of the merchant stands beside it");
    }
    let declined = pay(&shop, "PREPAYMENT", &[BACK, ("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_answer(&declined, 400, "800.100.151");
    assert!(declined.json["merchant"].is_null() && declined.json["redirect"].is_null(), "{}", declined.text);
    Ok(())
}

#[tokio::test]
async fn an_account_with_a_provider_is_shown_by_its_id() -> anyhow::Result<()> {
    let shop = shop();
    let account = ("virtualAccount.accountId", "jane@shop.example");
    let paid = pay(&shop, "AFTERPAY", &[account]).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_eq!(paid.json["virtualAccount"], json!({ "accountId": "jane@shop.example" }));
    assert!(paid.json["card"].is_null(), "{}", paid.text);
    let unnamed = pay(&shop, "PAYPAL", &[BACK]).await?;
    assert_pending(&shop, &unnamed);
    assert!(unnamed.json["virtualAccount"].is_null(), "{}", unnamed.text);
    Ok(())
}

#[tokio::test]
async fn a_bank_accounts_number_is_nowhere_but_sealed() -> anyhow::Result<()> {
    let gateway = Gateway::start_env(&[], &[("TILLGATE_LOG", "trace")])?;
    let shop = gateway.merchant()?;
    let mut answers = Vec::new();
    for account in [("bankAccount.iban", "NL91ABNA0417164300"), ("bankAccount.number", "70417164300")] {
        let fields = [("bankAccount.holder", "Jane Jones"), account, ("bankAccount.bic", "ABNANL2A")];
        let paid = pay(&shop, "SEPA", &fields).await?;
        assert_answer(&paid, 200, "000.100.110");
        let pending = pay(&shop, "IDEAL", &[&fields[..], &[BACK]].concat()).await?;
        assert_answer(&pending, 200, "000.200.000");
        answers.extend([paid.text, pending.text]);
    }
    let sealed: u32 = database(&gateway)?.query_row("SELECT count(*) FROM card", [], |row| row.get(0))?;
    assert_eq!(sealed, 4);
    let mut places = vec![gateway.log(), answers.concat()];
    for file in std::fs::read_dir(gateway.data())? {
        places.push(String::from_utf8_lossy(&std::fs::read(file?.path())?).into_owned());
    }
    for place in places {
        assert!(!place.contains("0417164300"), "found in {}", &place[..place.len().min(200)]);
    }
    Ok(())
}

#[tokio::test]
async fn the_address_check_answers_by_the_postcode() -> anyhow::Result<()> {
    let shop = shop();
    for (postcode, letter) in [("90001", "A"), ("90002", "Z"), ("90003", "N"), ("90004", "U"), ("LS1 4DY", "F")] {
        let paid = shop.pay(&[("billing.street1", "Mill Lane"), ("billing.postcode", postcode)]).await?;
        assert_answer(&paid, 200, "000.100.110");
        assert_eq!(paid.json["result"]["avsResponse"], letter, "{}", paid.text);
    }
    let half = shop.pay(&[("billing.postcode", "LS1 4DY")]).await?;
    assert_eq!(half.json["result"]["avsResponse"], "U");
    assert!(shop.pay(&[]).await?.json["result"]["avsResponse"].is_null());
    Ok(())
}

#[tokio::test]
async fn the_check_of_the_security_code_answers_by_the_code() -> anyhow::Result<()> {
    let shop = shop();
    for (code, letter) in [("123", "M"), ("001", "N"), ("002", "P"), ("003", "S"), ("004", "U"), ("", "S")] {
        let paid = shop.pay(&[("card.cvv", code)]).await?;
        assert_answer(&paid, 200, "000.100.110");
        assert_eq!(paid.json["result"]["cvvResponse"], letter, "{code}: {}", paid.text);
    }
    let amex = [("paymentBrand", "AMEX"), ("card.number", "377777777777770"), ("card.cvv", "0001")];
    assert_eq!(shop.pay(&amex).await?.json["result"]["cvvResponse"], "N");
    // Cards without a code are about, and nobody asks a shopper who is not there.
    let maestro = [("paymentBrand", "MAESTRO"), ("card.number", "6799851000000032"), ("card.cvv", "")];
    let agreed = shop.pay(&[("standingInstruction.mode", "INITIAL")]).await?;
    let agreed = agreed.json["standingInstruction"]["initialTransactionId"].as_str().unwrap_or_default();
    let absent = [
        ("card.cvv", ""),
        ("standingInstruction.initialTransactionId", agreed),
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.source", "MIT"),
        ("standingInstruction.type", "UNSCHEDULED"),
    ];
    for fields in [&maestro[..], &absent] {
        let paid = shop.pay(fields).await?;
        assert_answer(&paid, 200, "000.100.110");
        assert!(paid.json["result"]["cvvResponse"].is_null(), "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_card_payment_tells_the_acquirers_own_answer() -> anyhow::Result<()> {
    let shop = shop();
    for (fields, acquirer) in [
        (&[][..], "00"),
        (&[("customParameters[forceResultCode]", "800.100.151")], "05"),
        (&[("card.number", "4200000000000001")], "14"),
        (&[("card.expiryYear", "2001")], "54"),
        (&[("card.cvv", "1234")], "82"),
    ] {
        let paid = shop.pay(fields).await?;
        assert_eq!(paid.json["resultDetails"], json!({ "AcquirerResponse": acquirer }), "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_wallet_whose_data_the_merchant_decrypted_needs_all_of_them() -> anyhow::Result<()> {
    let shop = shop();
    let whole = account_of(Brand::find("APPLEPAY").ok_or_else(|| anyhow::anyhow!("no such brand"))?);
    let paid = pay(&shop, "APPLEPAY", &borrowed(&whole)).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_eq!(paid.json["paymentBrand"], "APPLEPAY");
    let card = json!({ "bin": "420000", "last4Digits": "0000", "expiryMonth": "05", "expiryYear": "2034" });
    assert_eq!(paid.json["card"], card);
    assert_eq!(paid.json["walletPay"], json!({ "source": "web" }));
    // A cryptogram stands in for the code, so that none is missed.
    assert!(paid.json["result"]["cvvResponse"].is_null(), "{}", paid.text);
    for missing in 0..whole.len() {
        let mut fields = whole.clone();
        let (name, _) = fields.remove(missing);
        // Without the source nobody can tell that it is decrypted data, and the token is asked for.
        let name = if name == "walletPay.source" { "walletPay.paymentToken" } else { &name };
        let refused = pay(&shop, "APPLEPAY", &borrowed(&fields)).await?;
        assert_answer(&refused, 400, "200.300.404");
        assert!(refused.errors().contains(&name), "{}", refused.text);
    }
    assert_errors(&pay(&shop, "GOOGLEPAY", &[]).await?, &["walletPay.paymentToken"]);
    Ok(())
}
