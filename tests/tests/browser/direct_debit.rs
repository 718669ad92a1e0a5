//! The form of a direct debit: the IBAN while it is typed, the fields that it makes needless, its faults, the mandate.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, MerchantPage, run_in_browser, run_in_new_browser};

use crate::forms::{click_element, enter_text};
use crate::network::block_requests;
use crate::{APPROVED, CheckoutFixture};

const IBAN: &str = ".wpwl-control-accountNumber";
/// The name of the bank below the IBAN.
const BANK: &str = "find('.wpwl-account-bank').textContent";
const GERMAN: &str = "DE23 1000 0000 1234 5678 90";

/// Reads a text of the page. `expression` may begin at `find`, which finds an element.
async fn read_text(browser: &Browser, expression: &str) -> anyhow::Result<String> {
    let found = browser.evaluate(&format!("(find => {expression})(css => document.querySelector(css))")).await?;
    Ok(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
}

/// Returns the names of the account's fields that are visible.
async fn list_fields(browser: &Browser) -> anyhow::Result<String> {
    let visible = "[...document.querySelectorAll('.wpwl-form-directDebit [name^=bankAccount]')]
        .filter(it => it.checkVisibility()).map(it => it.name.split('.')[1]).join(' ')";
    read_text(browser, visible).await
}

/// Returns the IBAN's text with a bar at the caret.
async fn read_caret(browser: &Browser) -> anyhow::Result<String> {
    let both = "it => it.value.slice(0, it.selectionStart) + '|' + it.value.slice(it.selectionEnd)";
    read_text(browser, &format!("({both})(find('{IBAN}'))")).await
}

/// Replaces the IBAN as by pasting it.
async fn paste(browser: &Browser, text: &str) -> anyhow::Result<()> {
    browser.execute(format!("document.querySelector('{IBAN}').focus()"), vec![]).await?;
    browser.query(By::Css(IBAN)).first().await?.send_keys(Key::Control + "a").await?;
    browser.cdp().send_raw("Input.insertText", json!({ "text": text })).await?;
    Ok(())
}

/// Leaves the IBAN, and returns what is said about it.
async fn leave_and_read_hint(browser: &Browser) -> anyhow::Result<String> {
    click_element(browser, ".wpwl-control-accountHolder").await?;
    browser
        .wait_until(&format!("document.querySelector('{IBAN}.wpwl-has-error + .wpwl-hint-accountNumberError')"))
        .await?;
    read_text(browser, "find('.wpwl-hint').textContent").await
}

#[tokio::test]
async fn name_and_iban_suffice_and_the_gateway_gets_them_without_spaces() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "DIRECTDEBIT_SEPA", "").await?;
        assert_eq!(list_fields(&browser).await?, "holder iban");
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        // Typed with a mistake, which is mended in the middle.
        enter_text(&browser, IBAN, "de23 1000 000 1234567890").await?;
        assert_eq!(read_caret(&browser).await?, "DE23 1000 0001 2345 6789 0|");
        assert_eq!(read_text(&browser, "find('.wpwl-account-country').textContent").await?, "Germany");
        assert_eq!(read_text(&browser, BANK).await?, "Bundesbank");
        let back: String = std::iter::repeat_n('\u{e012}', 13).collect();
        let field = browser.query(By::Css(IBAN)).first().await?;
        field.send_keys(back.as_str()).await?;
        field.send_keys("0").await?;
        assert_eq!(read_caret(&browser).await?, "DE23 1000 0000| 1234 5678 90");
        // Backspace behind a space removes the character before it.
        field.send_keys("\u{e014}\u{e003}").await?;
        assert_eq!(read_caret(&browser).await?, "DE23 1000 000|1 2345 6789 0");
        field.send_keys("0").await?;
        assert_eq!(read_text(&browser, &format!("find('{IBAN}').value")).await?, GERMAN);
        click_element(&browser, ".wpwl-button-pay").await?;
        let status = stage.wait_until_paid(&browser).await?;
        let expected = json!({
            "holder": "Jane Jones", "iban": "DE23**************7890", "last4Digits": "7890", "country": "DE",
        });
        assert_eq!(status.json["bankAccount"], expected, "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_pasted_iban_is_read_as_people_and_documents_write_it() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for locale in ["en", "ar"] {
            stage.open_forms(&browser, "SEPA", &format!("locale: '{locale}'")).await?;
            for text in [
                "DE23100000001234567890",
                " iban: de23 1000-0000.1234 5678 90 ",
                "ＤＥ２３１０００００００１２３４５６７８９０",
            ] {
                paste(&browser, text).await?;
                assert_eq!(read_caret(&browser).await?, format!("{GERMAN}|"), "{text}");
                assert_eq!(read_text(&browser, &format!("find('{IBAN}').dir")).await?, "ltr");
            }
            // In the middle, at the end of a group.
            browser.execute(format!("document.querySelector('{IBAN}').setSelectionRange(9, 9)"), vec![]).await?;
            browser.cdp().send_raw("Input.insertText", json!({ "text": "12 34 5" })).await?;
            assert_eq!(read_caret(&browser).await?, "DE23 1000 1234 5|000 0123 4567 890", "{locale}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn every_fault_of_an_iban_has_its_own_words_and_a_merchants_words_come_first() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let faults = [
            ("DE23 1000 0000", "too short"),
            ("DE23 1000 0000 1234 5678 91", "character by character"),
            ("QQ23 1000 0000 1234 5678 90", "begins with these letters"),
        ];
        stage.open_forms(&browser, "SEPA", "").await?;
        for (text, said) in faults {
            paste(&browser, text).await?;
            let hint = leave_and_read_hint(&browser).await?;
            assert!(hint.contains(said), "{text}: {hint}");
            // The hint goes once the IBAN is right.
            paste(&browser, GERMAN).await?;
            browser.wait_until("!document.querySelector('.wpwl-hint')").await?;
        }
        enter_text(&browser, IBAN, "").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        browser.wait_until("document.querySelectorAll('.wpwl-hint').length === 2").await?;
        let hint = read_text(&browser, "find('.wpwl-hint-accountNumberError').textContent").await?;
        assert_eq!(hint, "Please enter the IBAN.");
        assert_eq!(stage.submit_count(), 0);
        stage.open_forms(&browser, "SEPA", "errorMessages: { accountNumberError: 'Look again' }").await?;
        for (text, _) in faults {
            paste(&browser, text).await?;
            assert_eq!(leave_and_read_hint(&browser).await?, "Look again");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_bank_is_asked_for_only_where_the_iban_does_not_name_it() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "SEPA", "").await?;
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        // A national number needs the code of its bank.
        enter_text(&browser, IBAN, "12345678").await?;
        assert_eq!(list_fields(&browser).await?, "holder iban bic country");
        enter_text(&browser, ".wpwl-control-accountBank", "10000000").await?;
        // It belongs to the number, and is gone with it.
        paste(&browser, GERMAN).await?;
        assert_eq!(list_fields(&browser).await?, "holder iban");
        assert_eq!(read_text(&browser, "find('.wpwl-control-accountBank').value").await?, "");
        assert_eq!(read_text(&browser, "find('.wpwl-control-country').value").await?, "DE");
        paste(&browser, "GB29 NWBK 6016 1331 9268 19").await?;
        assert_eq!(list_fields(&browser).await?, "holder iban bic");
        assert_eq!(read_text(&browser, "find('.wpwl-account-country').textContent").await?, "United Kingdom");
        assert_eq!(read_text(&browser, BANK).await?, "", "no bank of this country is in the table");
        click_element(&browser, ".wpwl-button-pay").await?;
        browser
            .query(By::Css(".wpwl-control-accountBank.wpwl-has-error + .wpwl-hint-accountBankError"))
            .first()
            .await?;
        assert_eq!(stage.submit_count(), 0);
        enter_text(&browser, ".wpwl-control-accountBank", "NWBKGB2L").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        let status = stage.wait_until_paid(&browser).await?;
        let account = &status.json["bankAccount"];
        assert_eq!((&account["bic"], &account["country"]), (&json!("NWBKGB2L"), &json!("GB")), "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_mandate_names_the_merchant_and_the_reference_that_its_server_sent() -> anyhow::Result<()> {
    let named = [("bankAccount.mandate.id", "M4711")];
    for (fields, said) in [(&[][..], "gesondert mitgeteilt"), (&named, "Mandatsreferenz: M4711")] {
        let stage = CheckoutFixture::with_fields(fields).await?;
        run_in_browser(move |browser| async move {
            stage.open_forms(&browser, "SEPA", "locale: 'de'").await?;
            // The page cannot name another mandate.
            browser
                .execute(
                    "const input = document.createElement('input');
                     Object.assign(input, { type: 'hidden', name: 'bankAccount.mandate.id', value: 'OTHER' });
                     document.querySelector('.wpwl-form-directDebit').append(input);
                     wpwl.checkout.mandateReference = wpwl.checkout.creditor = 'OTHER';",
                    vec![],
                )
                .await?;
            let mandate = read_text(&browser, "find('.wpwl-group-mandate').textContent").await?;
            assert!(mandate.starts_with("Sie ermächtigen Kiln & Tide, "), "{mandate}");
            assert!(mandate.contains("acht Wochen") && mandate.contains(said), "{mandate}");
            assert!(!mandate.contains('{') && !mandate.contains("OTHER"), "{mandate}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_mandate_names_the_creditor_identifier_that_the_merchant_has() -> anyhow::Result<()> {
    let creditor = ["--sepa-creditor-id", "DE98ZZZ09999999999"];
    let stage = CheckoutFixture::with_options(&creditor, &[("bankAccount.mandate.id", "M4711")]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "SEPA", "").await?;
        let lines = "[...find('.wpwl-group-mandate').querySelectorAll('[class^=wpwl-mandate]')].map(it => it.textContent).join('; ')";
        let lines = read_text(&browser, lines).await?;
        assert_eq!(lines, "Creditor identifier: DE98ZZZ09999999999; Mandate reference: M4711");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_that_changes_every_object_or_copies_the_field_changes_neither_faults_nor_mandate() -> anyhow::Result<()>
{
    run_in_browser(|browser| async move {
        for copies in [false, true] {
            let stage = CheckoutFixture::new().await?;
            let names = "['findFault', 'debit', 'debitScript', 'mandateReference', 'creditor']";
            let hostile = format!(
                "}}; {names}.forEach(name => Object.defineProperty(Object.prototype, name, {{
                     configurable: true, get() {{ return () => 'accountNumberErrorShort'; }}, set() {{}},
                 }})); void {{"
            );
            stage.open_forms(&browser, "SEPA", if copies { "" } else { &hostile }).await?;
            let mandate = read_text(&browser, "find('.wpwl-group-mandate').textContent").await?;
            assert!(mandate.contains("Kiln & Tide") && mandate.contains("separately"), "{mandate}");
            if copies {
                let copy = "document.querySelector('.wpwl-wrapper-accountNumber').innerHTML += ''";
                browser.execute(copy, vec![]).await?;
            }
            enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
            enter_text(&browser, IBAN, GERMAN).await?;
            click_element(&browser, ".wpwl-button-pay").await?;
            let status = stage.wait_until_paid(&browser).await?;
            assert_eq!(status.json["bankAccount"]["last4Digits"], "7890", "{}", status.text);
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn without_its_script_the_form_has_all_fields_and_the_gateway_checks_them() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_new_browser(&[], move |browser| async move {
        block_requests(&browser, &["*://*:*/*debit.js"]).await?;
        stage.open_forms(&browser, "SEPA", "").await?;
        assert_eq!(list_fields(&browser).await?, "holder iban bic country");
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        enter_text(&browser, IBAN, "GB29NWBK60161331926819").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        browser
            .query(By::Css(".wpwl-control-accountBank.wpwl-has-error + .wpwl-hint-accountBankError"))
            .first()
            .await?;
        enter_text(&browser, IBAN, GERMAN).await?;
        enter_text(&browser, ".wpwl-control-accountBank", "MARKDEF1100").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

/// Style, language, and the look of the page or of the device.
const LOOKS: [(&str, &str, &str); 9] = [
    ("card", "en", "light"),
    ("card", "de", "dark"),
    ("card", "ar", "light"),
    ("card", "ar", "dark"),
    ("plain", "en", "light"),
    ("plain", "ar", "dark"),
    ("none", "en", "light"),
    ("none", "en", "dark"),
    ("none", "ar", "light"),
];

/// Controls that are less than 44 pixels high or wide, with their heights.
const SMALL: &str = "[...document.querySelectorAll('.wpwl-form .wpwl-control, .wpwl-form button, .wpwl-agree')]
    .filter(it => it.checkVisibility()).map(it => [it.className, it.getBoundingClientRect()])
    .filter(([, box]) => box.height < 44 || box.width < 44).map(([name, box]) => name + ' ' + box.height).join()";

#[tokio::test]
async fn axe_finds_nothing_in_a_direct_debit_of_any_style_direction_and_state() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_fields(&[("bankAccount.mandate.id", "M4711")]).await?;
    run_in_new_browser(&[], move |browser| async move {
        for (style, locale, look) in LOOKS {
            let place = format!("{style}-{locale}-{look}");
            browser.resize_page(if locale == "en" { 800 } else { 360 }, 900).await?;
            browser.set_color_scheme(look).await?;
            // axe-core does not know the background that browsers give a dark page.
            let script = format!(
                "var wpwlOptions = {{ style: '{style}', locale: '{locale}', onReady() {{ witness.note('ready', 1); }} }};
                 const page = document.documentElement;
                 page.lang = '{locale}';
                 page.dir = '{locale}' === 'ar' ? 'rtl' : 'ltr';
                 page.style.colorScheme = '{look}';
                 if ('{look}' === 'dark') Object.assign(page.style, {{ background: '#101418', color: '#f2f4f8' }});"
            );
            let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_brands("SEPA");
            browser.goto(stage.site.add_page(page)).await?;
            browser.wait_for_observation("ready").await?;
            assert_eq!(browser.run_axe().await?, Vec::<String>::new(), "{place}");
            enter_text(&browser, IBAN, "GB29 NWBK 6016 1331 9268 1").await?;
            click_element(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Css(".wpwl-hint-mandateError")).first().await?;
            assert_eq!(browser.run_axe().await?, Vec::<String>::new(), "{place}, with errors");
            if style != "none" {
                assert_eq!(browser.evaluate(SMALL).await?, "", "{place}");
            }
            browser.save_screenshot(&format!("direct-debit-{place}")).await?;
        }
        Ok(())
    })
    .await
}
