//! Fields that some brands have besides, and those that the merchant switches on.

use thirtyfour::prelude::*;
use tillgate_tests::browse;

use crate::forms::{click, fill};
use crate::{PENDING, Stage};

const NAMED: [(&str, &str); 2] = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];

#[tokio::test]
async fn a_shopper_shows_a_code_or_types_a_mobile_number() -> anyhow::Result<()> {
    browse(move |browser| async move {
        for mode in ["qrcode", "mobile"] {
            let stage = Stage::new().await?;
            stage.open(&browser, "STC_PAY", "").await?;
            for css in [
                ".wpwl-group-paymentMode[role=radiogroup] .wpwl-wrapper-radio-qrcode > .wpwl-control-radio-qrcode:checked",
                ".wpwl-group-paymentMode .wpwl-wrapper-radio-mobile > input[type=radio].wpwl-control-radio-mobile",
                ".wpwl-group-mobilePhone[hidden] input[type=tel].wpwl-control-mobilePhone",
            ] {
                assert!(browser.query(By::Css(css)).nowait().exists().await?, "{css}");
            }
            assert_eq!(browser.axe().await?, Vec::<String>::new());
            if mode == "mobile" {
                click(&browser, ".wpwl-wrapper-radio-mobile").await?;
                click(&browser, ".wpwl-button-pay").await?;
                browser.query(By::Css(".wpwl-control-mobilePhone + .wpwl-hint-mobilePhoneNumberError")).first().await?;
                browser.picture("stc-pay").await?;
                fill(&browser, ".wpwl-control-mobilePhone", "+966 50 123 4567").await?;
            }
            click(&browser, ".wpwl-button-pay").await?;
            browser.until("location.pathname.startsWith('/v1/simulator/')").await?;
            let status = stage.merchant.status(stage.checkout.id()).await?;
            assert_eq!(status.code(), PENDING, "{}", status.text);
            assert_eq!(status.json["customParameters"]["SHOPPER_paymentMode"], mode, "{}", status.text);
            let number = status.json["virtualAccount"]["accountId"].as_str();
            assert_eq!(number, (mode == "mobile").then_some("+966501234567"), "{}", status.text);
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_day_of_birth_and_the_tax_number_are_asked_where_the_merchant_wants_them() -> anyhow::Result<()> {
    // The brand, the checkout's fields, the form's, one that is wrong, and where the answer tells what was typed.
    let birth = ("customer.birthDate", "01021990", "birthDateError", "/customer/birthDate", "1990-01-02");
    let tax =
        ("customer.identificationDocId", "12345678", "taxNumberError", "/customer/identificationDocId", "12345678");
    let cases = [
        ("RATENKAUF", &NAMED[..], vec!["birthDate"], birth),
        ("RATENKAUF", &[], vec!["givenName", "surname", "birthDate"], birth),
        ("PIX", &NAMED, vec!["taxNumber"], tax),
        ("PIX", &[], vec!["givenName", "surname", "taxNumber"], tax),
    ];
    browse(move |browser| async move {
        for (brand, fields, keys, (name, typed, hint, pointer, expected)) in cases {
            let stage = Stage::with(fields).await?;
            stage.open(&browser, brand, "showBirthDate: true, showTaxNumberField: true").await?;
            let shown = "[...document.querySelectorAll('.wpwl-form-has-inputs .wpwl-control')].map(it => it.classList[1].slice(13)).join()";
            assert_eq!(browser.value(shown).await?, keys.join(","), "{brand}");
            assert_eq!(browser.axe().await?, Vec::<String>::new());
            click(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Css(format!(".wpwl-hint-{hint}"))).first().await?;
            assert_eq!(stage.submits(), 0);
            if fields.is_empty() {
                fill(&browser, "[name='customer.givenName']", "Jane").await?;
                fill(&browser, "[name='customer.surname']", "Jones").await?;
            }
            browser.query(By::Css(format!("[name='{name}']"))).first().await?.send_keys(typed).await?;
            click(&browser, ".wpwl-button-pay").await?;
            click(&browser, "button[value=success]").await?;
            let status = stage.paid(&browser).await?;
            assert_eq!(status.json.pointer(pointer).and_then(|it| it.as_str()), Some(expected), "{}", status.text);
            if brand == "PIX" {
                assert_eq!(status.json["customer"]["identificationDocType"], "TAXSTATEMENT", "{}", status.text);
            }
        }
        // Neither is asked by itself, nor by brands to which it means nothing.
        let stage = Stage::new().await?;
        stage.open(&browser, "RATENKAUF PIX", "").await?;
        let inputs = "document.querySelectorAll('.wpwl-control').length";
        assert_eq!(browser.value(inputs).await?, 0);
        stage.open(&browser, "IDEAL PAYPAL", "showBirthDate: true, showTaxNumberField: true").await?;
        assert_eq!(browser.value(inputs).await?, 0);
        Ok(())
    })
    .await
}
