//! Additional fields of some brands, and fields that the merchant enables.

use thirtyfour::prelude::*;
use tillgate_tests::run_in_browser;

use crate::forms::{click_element, enter_text};
use crate::{CheckoutFixture, PENDING};

const NAMED: [(&str, &str); 2] = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];

#[tokio::test]
async fn a_shopper_shows_a_code_or_types_a_mobile_number() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for mode in ["qrcode", "mobile"] {
            let stage = CheckoutFixture::new().await?;
            stage.open_forms(&browser, "STC_PAY", "").await?;
            for css in [
                ".wpwl-group-paymentMode[role=radiogroup] .wpwl-wrapper-radio-qrcode > .wpwl-control-radio-qrcode:checked",
                ".wpwl-group-paymentMode .wpwl-wrapper-radio-mobile > input[type=radio].wpwl-control-radio-mobile",
                ".wpwl-group-mobilePhone[hidden] input[type=tel].wpwl-control-mobilePhone",
            ] {
                assert!(browser.query(By::Css(css)).nowait().exists().await?, "{css}");
            }
            assert_eq!(browser.run_axe().await?, Vec::<String>::new());
            if mode == "mobile" {
                click_element(&browser, ".wpwl-wrapper-radio-mobile").await?;
                click_element(&browser, ".wpwl-button-pay").await?;
                browser.query(By::Css(".wpwl-control-mobilePhone + .wpwl-hint-mobilePhoneNumberError")).first().await?;
                browser.save_screenshot("stc-pay").await?;
                enter_text(&browser, ".wpwl-control-mobilePhone", "+966 50 123 4567").await?;
            }
            click_element(&browser, ".wpwl-button-pay").await?;
            browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
            let status = stage.merchant.read_status(stage.checkout.id()).await?;
            assert_eq!(status.result_code(), PENDING, "{}", status.text);
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
    // Brand, parameters of the checkout, options of the form, and for the field: name, text, hint, path in the
    // response, value.
    let birth = ("customer.birthDate", "01021990", "birthDateError", "/customer/birthDate", "1990-01-02");
    let tax =
        ("customer.identificationDocId", "12345678", "taxNumberError", "/customer/identificationDocId", "12345678");
    let cases = [
        ("RATENKAUF", &NAMED[..], vec!["birthDate"], birth),
        ("RATENKAUF", &[], vec!["givenName", "surname", "birthDate"], birth),
        ("PIX", &NAMED, vec!["taxNumber"], tax),
        ("PIX", &[], vec!["givenName", "surname", "taxNumber"], tax),
    ];
    run_in_browser(move |browser| async move {
        for (brand, fields, keys, (name, typed, hint, pointer, expected)) in cases {
            let stage = CheckoutFixture::with_fields(fields).await?;
            stage.open_forms(&browser, brand, "showBirthDate: true, showTaxNumberField: true").await?;
            let shown = "[...document.querySelectorAll('.wpwl-form-has-inputs .wpwl-control')].map(it => it.classList[1].slice(13)).join()";
            assert_eq!(browser.evaluate(shown).await?, keys.join(","), "{brand}");
            assert_eq!(browser.run_axe().await?, Vec::<String>::new());
            click_element(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Css(format!(".wpwl-hint-{hint}"))).first().await?;
            assert_eq!(stage.submit_count(), 0);
            if fields.is_empty() {
                enter_text(&browser, "[name='customer.givenName']", "Jane").await?;
                enter_text(&browser, "[name='customer.surname']", "Jones").await?;
            }
            browser.query(By::Css(format!("[name='{name}']"))).first().await?.send_keys(typed).await?;
            click_element(&browser, ".wpwl-button-pay").await?;
            click_element(&browser, "button[value=success]").await?;
            let status = stage.wait_until_paid(&browser).await?;
            assert_eq!(status.json.pointer(pointer).and_then(|it| it.as_str()), Some(expected), "{}", status.text);
            if brand == "PIX" {
                assert_eq!(status.json["customer"]["identificationDocType"], "TAXSTATEMENT", "{}", status.text);
            }
        }
        // The fields are not shown by default, nor for brands that do not use them.
        let stage = CheckoutFixture::new().await?;
        stage.open_forms(&browser, "RATENKAUF PIX", "").await?;
        let inputs = "document.querySelectorAll('.wpwl-control').length";
        assert_eq!(browser.evaluate(inputs).await?, 0);
        stage.open_forms(&browser, "IDEAL PAYPAL", "showBirthDate: true, showTaxNumberField: true").await?;
        assert_eq!(browser.evaluate(inputs).await?, 0);
        Ok(())
    })
    .await
}
