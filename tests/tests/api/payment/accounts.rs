//! Every brand and its accounts: outcomes, redirects, and the checks of address and security code.

use serde_json::{Value, json};
use tillgate_shared::brand::{AccountType, Brand, OtherRanges};
use tillgate_shared::format::card_number::is_luhn_valid;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::support::*;

pub const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/back");

/// Returns a Luhn-valid number of at least 15 digits at the start of the first range of the brand's scheme. A brand
/// without a scheme gets 4200000000000000.
fn valid_number(brand: &Brand) -> String {
    let Some(scheme) = brand.scheme else { return "4200000000000000".to_owned() };
    let other_range = match scheme.other_ranges {
        OtherRanges::Listed(ranges) => ranges.first(),
        OtherRanges::None | OtherRanges::Unknown => None,
    };
    let start = scheme.ranges.first().or(other_range).map_or_else(|| "4".to_owned(), |range| range.0.to_string());
    let length = usize::from(scheme.number_lengths[0]).max(15);
    let length = brand.number_lengths().iter().map(|l| usize::from(*l)).find(|l| *l >= length).unwrap_or(length);
    let stem = format!("{start:0<width$}", width = length - 1);
    (0..10).map(|digit| format!("{stem}{digit}")).find(|number| is_luhn_valid(number)).unwrap_or_default()
}

/// Returns the parameters of a valid account of the brand's type: a card, a card with a wallet's cryptogram, a bank
/// account, or an account with a provider.
fn account_fields(brand: &Brand) -> Vec<(String, String)> {
    let pairs: Vec<(&str, String)> = match brand.kind {
        AccountType::Card | AccountType::Wallet => {
            let mut pairs = vec![
                ("card.number", valid_number(brand)),
                ("card.expiryMonth", "05".to_owned()),
                ("card.expiryYear", "2034".to_owned()),
            ];
            if brand.kind == AccountType::Wallet {
                pairs.extend([
                    ("threeDSecure.verificationId", "AAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned()),
                    ("threeDSecure.eci", "05".to_owned()),
                    ("walletPay.source", "web".to_owned()),
                ]);
            }
            pairs
        }
        AccountType::Bank => vec![
            ("bankAccount.holder", "Jane Jones".to_owned()),
            ("bankAccount.iban", "DE23100000001234567890".to_owned()),
            ("bankAccount.bic", "MARKDEF1100".to_owned()),
        ],
        AccountType::Virtual => vec![("virtualAccount.accountId", "jane@shop.example".to_owned())],
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Pays 92.00 EUR as a debit with this brand and account, server to server. Fields in `account` replace the defaults.
/// Returns any response.
pub async fn pay_by_account(
    shop: &MerchantClient,
    brand: &str,
    account: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", brand)];
    let defaults = order.iter().filter(|(name, _)| !account.iter().any(|(other, _)| name == other));
    let fields: Vec<_> = defaults.chain(account).copied().collect();
    shop.post("v1/payments", &fields).await
}

fn borrow_fields(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Asserts that the address is a page of the simulator at the gateway `base`. The rest of the path is a random id of 44
/// hexadecimal digits, so it contains no payment id.
#[track_caller]
fn assert_simulator_page(base: &str, url: &Value) {
    let page = url.as_str().and_then(|url| url.strip_prefix(base)?.strip_prefix("v1/simulator/")).unwrap_or_default();
    assert!(has_shape(page, &"x".repeat(44)), "{url}");
}

/// Asserts that a payment of 92.00 EUR is pending (000.200.000), and that the shopper is sent to a page of the
/// simulator by a GET without parameters.
#[track_caller]
pub fn assert_pending(shop: &MerchantClient, answer: &ApiResponse) {
    assert_result(answer, 200, "000.200.000");
    let mut redirect = answer.json["redirect"].clone();
    assert_simulator_page(&shop.base, &redirect["url"].take());
    let expected = json!({ "url": null, "method": "GET", "parameters": [], "preconditions": [] });
    assert_eq!(redirect, expected, "{}", answer.text);
    assert_eq!((&answer.json["amount"], &answer.json["currency"]), (&json!("92.00"), &json!("EUR")));
}

#[tokio::test]
async fn every_brand_is_paid_server_to_server_at_once_or_by_a_page_of_its_own() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let mut counts = (0, 0);
    for brand in Brand::all() {
        let account = account_fields(brand);
        let paid = pay_by_account(&shop, brand.code, &[&borrow_fields(&account)[..], &[BACK]].concat()).await?;
        assert_eq!(paid.json["paymentBrand"], brand.code, "{}", paid.text);
        if brand.is_synchronous() {
            assert_result(&paid, 200, "000.100.110");
            assert!(paid.json["redirect"].is_null(), "{}", paid.text);
            counts.0 += 1;
        } else {
            assert_pending(&shop, &paid);
            counts.1 += 1;
        }
        let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
        assert_eq!(comparable_response(&read), comparable_response(&paid));
    }
    assert_eq!(counts, (59, 111));
    Ok(())
}

#[tokio::test]
async fn every_brand_is_paid_in_a_checkout() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for brand in Brand::all() {
        // Only the merchant's server sends decrypted wallet data. The form sends tokens.
        if brand.kind == AccountType::Wallet {
            continue;
        }
        let made = shop.create_checkout(&[BACK]).await?;
        let mut form = account_fields(brand);
        form.push(("paymentBrand".to_owned(), brand.code.to_owned()));
        let path = format!("v1/checkouts/{}/payment", made.id());
        let submitted = shop.post_as_browser(&path, &borrow_fields(&form)).await?;
        let status = shop.read_status(made.id()).await?;
        if brand.is_synchronous() {
            assert_result(&submitted, 200, "000.000.100");
            assert_eq!(submitted.json["redirect"]["url"], BACK.1);
            assert_result(&status, 200, "000.100.110");
        } else {
            assert_result(&submitted, 200, "000.200.000");
            assert_pending(&shop, &status);
            assert_eq!(submitted.json["redirect"], status.json["redirect"]);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_shopper_who_asks_twice_is_sent_to_the_same_page_and_pays_once() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let fields = [("paymentBrand", "PAYPAL")];
    let first = shop.post_as_browser(&path, &fields).await?;
    let second = shop.post_as_browser(&path, &fields).await?;
    assert_result(&second, 200, "000.200.000");
    assert_eq!(first.json["redirect"], second.json["redirect"]);
    assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 1);
    // The merchant cannot change a checkout with a pending payment.
    let update = shop.post(&format!("v1/checkouts/{}", made.id()), &[("amount", "93.00")]).await?;
    assert_result(&update, 400, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn a_brand_with_a_page_of_its_own_needs_to_know_the_way_back() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    assert_errors(&pay_by_account(&shop, "PAYPAL", &[]).await?, &["shopperResultUrl"]);
    assert_errors(
        &pay_by_account(&shop, "PAYPAL", &[("shopperResultUrl", "javascript:1")]).await?,
        &["shopperResultUrl"],
    );
    // In a checkout, the form's page sends the address if the merchant has sent none. No response repeats it.
    let path = |id: &str| format!("v1/checkouts/{id}/payment");
    let made = shop.create_checkout(&[]).await?;
    let fields = [("paymentBrand", "PAYPAL")];
    assert_errors(&shop.post_as_browser(&path(made.id()), &fields).await?, &["shopperResultUrl"]);
    let bad = [("paymentBrand", "PAYPAL"), ("shopperResultUrl", "javascript:alert(1)")];
    assert_errors(&shop.post_as_browser(&path(made.id()), &bad).await?, &["shopperResultUrl"]);
    let fields = [("paymentBrand", "PAYPAL"), ("shopperResultUrl", "https://page.example/back")];
    assert_result(&shop.post_as_browser(&path(made.id()), &fields).await?, 200, "000.200.000");
    let status = shop.read_status(made.id()).await?;
    assert!(!status.text.contains("page.example"), "{}", status.text);
    let stored = &stored_payments(TestGateway::shared(), made.id())?[0];
    assert_eq!(stored["redirect"]["result_url"], "https://page.example/back");
    Ok(())
}

#[tokio::test]
async fn the_redirect_follows_the_address_that_browsers_reach() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--public-url", "https://pay.example"])?;
    let shop = gateway.create_merchant()?;
    let paid = pay_by_account(&shop, "IDEAL", &[BACK, ("bankAccount.bankName", "ING_TEST")]).await?;
    assert_simulator_page("https://pay.example/", &paid.json["redirect"]["url"]);
    assert_eq!(paid.json["bankAccount"], json!({ "bankName": "ING_TEST" }));
    Ok(())
}

#[tokio::test]
async fn an_account_with_a_provider_is_shown_by_its_id() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let account = ("virtualAccount.accountId", "jane@shop.example");
    let paid = pay_by_account(&shop, "AFTERPAY", &[account]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["virtualAccount"], json!({ "accountId": "jane@shop.example" }));
    assert!(paid.json["card"].is_null(), "{}", paid.text);
    let unnamed = pay_by_account(&shop, "PAYPAL", &[BACK]).await?;
    assert_pending(&shop, &unnamed);
    assert!(unnamed.json["virtualAccount"].is_null(), "{}", unnamed.text);
    Ok(())
}

#[tokio::test]
async fn the_address_check_answers_by_the_postcode() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (postcode, letter) in [("90001", "A"), ("90002", "Z"), ("90003", "N"), ("90004", "U"), ("LS1 4DY", "F")] {
        let paid = shop.pay_by_card(&[("billing.street1", "Mill Lane"), ("billing.postcode", postcode)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["result"]["avsResponse"], letter, "{}", paid.text);
    }
    let half = shop.pay_by_card(&[("billing.postcode", "LS1 4DY")]).await?;
    assert_eq!(half.json["result"]["avsResponse"], "U");
    assert!(shop.pay_by_card(&[]).await?.json["result"]["avsResponse"].is_null());
    Ok(())
}

#[tokio::test]
async fn the_check_of_the_security_code_answers_by_the_code() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (code, letter) in [("123", "M"), ("001", "N"), ("002", "P"), ("003", "S"), ("004", "U"), ("", "S")] {
        let paid = shop.pay_by_card(&[("card.cvv", code)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["result"]["cvvResponse"], letter, "{code}: {}", paid.text);
    }
    let amex = [("paymentBrand", "AMEX"), ("card.number", "377777777777770"), ("card.cvv", "0001")];
    assert_eq!(shop.pay_by_card(&amex).await?.json["result"]["cvvResponse"], "N");
    // Some cards have no code, and in a merchant-initiated payment nobody can ask the shopper for it.
    let maestro = [("paymentBrand", "MAESTRO"), ("card.number", "6799851000000032"), ("card.cvv", "")];
    let agreed = shop.pay_by_card(&[("standingInstruction.mode", "INITIAL")]).await?;
    let agreed = agreed.json["standingInstruction"]["initialTransactionId"].as_str().unwrap_or_default();
    let absent = [
        ("card.cvv", ""),
        ("standingInstruction.initialTransactionId", agreed),
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.source", "MIT"),
        ("standingInstruction.type", "UNSCHEDULED"),
    ];
    for fields in [&maestro[..], &absent] {
        let paid = shop.pay_by_card(fields).await?;
        assert_result(&paid, 200, "000.100.110");
        assert!(paid.json["result"]["cvvResponse"].is_null(), "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_card_payment_tells_the_acquirers_own_answer() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (fields, acquirer) in [
        (&[][..], "00"),
        (&[("customParameters[forceResultCode]", "800.100.151")], "05"),
        (&[("card.number", "4200000000000001")], "14"),
        (&[("card.expiryYear", "2001")], "54"),
        (&[("card.cvv", "1234")], "82"),
    ] {
        let paid = shop.pay_by_card(fields).await?;
        assert_eq!(paid.json["resultDetails"], json!({ "AcquirerResponse": acquirer }), "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_wallet_whose_data_the_merchant_decrypted_needs_all_of_them() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let whole = account_fields(Brand::find("APPLEPAY").ok_or_else(|| anyhow::anyhow!("no such brand"))?);
    let paid = pay_by_account(&shop, "APPLEPAY", &borrow_fields(&whole)).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["paymentBrand"], "APPLEPAY");
    let card = json!({ "bin": "420000", "last4Digits": "0000", "expiryMonth": "05", "expiryYear": "2034" });
    assert_eq!(paid.json["card"], card);
    assert_eq!(paid.json["walletPay"], json!({ "source": "web" }));
    // A cryptogram replaces the code, so no code result is expected.
    assert!(paid.json["result"]["cvvResponse"].is_null(), "{}", paid.text);
    for missing in 0..whole.len() {
        let mut fields = whole.clone();
        let (name, _) = fields.remove(missing);
        // Without the source, the parameters are not recognized as decrypted data, and the token is required.
        let name = if name == "walletPay.source" { "walletPay.paymentToken" } else { &name };
        let refused = pay_by_account(&shop, "APPLEPAY", &borrow_fields(&fields)).await?;
        assert_result(&refused, 400, "200.300.404");
        assert!(refused.invalid_parameters().contains(&name), "{}", refused.text);
    }
    assert_errors(&pay_by_account(&shop, "GOOGLEPAY", &[]).await?, &["walletPay.paymentToken"]);
    Ok(())
}
