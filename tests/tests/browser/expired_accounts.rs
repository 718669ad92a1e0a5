//! Stored cards that have expired: they are marked, and a new date can be typed.

use thirtyfour::prelude::*;
use tillgate_tests::{MerchantPage, run_in_browser};

use crate::APPROVED;
use crate::forms::{click_element, enter_text};
use crate::method_choice::{ACCORDION, wait_for_rows};
use crate::one_click::fixture_with_stored_accounts;

#[tokio::test]
async fn no_date_is_typed_into_a_page_that_may_see_no_card_data_and_none_is_needed_where_the_issuer_decides()
-> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        let later = "const now = Date.UTC(2034, 6, 1); Date.now = () => now;";
        for (option, cards) in
            [("enableSAQACompliance", "Expired:disabled,Expired:disabled"), ("disableCardExpiryDateValidation", "")]
        {
            let page = MerchantPage::for_checkout(&stage.checkout)
                .with_brands("VISA IDEAL")
                .with_script(&format!("{later} var wpwlOptions = {{ {ACCORDION}, {option}: true }};"));
            browser.goto(stage.site.add_page(page)).await?;
            browser.wait_until(&format!("document.querySelector(\"input[value='{}']\")", ids[0])).await?;
            let marked = "[...document.querySelectorAll('.wpwl-expired')].map(it =>
                it.querySelector('.wpwl-registration-expired').textContent + ':'
                    + (it.querySelector('[name=registrationId]').disabled ? 'disabled' : 'free')).join()";
            assert_eq!(browser.evaluate(marked).await?, cards, "{option}");
            let dates = "document.querySelectorAll('.wpwl-form-registrations [name=\"card.expiry\"]').length";
            assert_eq!(browser.evaluate(dates).await?, 0, "{option}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_expired_card_is_not_chosen_by_itself_and_asks_for_its_new_date() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[]).await?;
    // Both cards are valid until May 2034, so the bank account is the first that is chosen.
    let passed = jiff::civil::date(2034, 7, 1).to_zoned(jiff::tz::TimeZone::UTC)?.timestamp() - jiff::Timestamp::now();
    stage.merchant.advance_clock(&format!("{}s", passed.get_seconds())).await?;
    let offered: Vec<(String, &str)> =
        (0..).zip(&ids).map(|(at, id)| (format!("registrations[{at}].id"), id.as_str())).collect();
    let offered: Vec<(&str, &str)> = offered.iter().map(|(name, id)| (name.as_str(), *id)).collect();
    let checkout = stage.merchant.create_checkout(&offered).await?;
    run_in_browser(move |browser| async move {
        let later = "const now = Date.UTC(2034, 6, 1); Date.now = () => now;";
        let page = MerchantPage::for_checkout(&checkout)
            .with_brands("VISA IDEAL")
            .with_script(&format!("{later} var wpwlOptions = {{ {ACCORDION} }};"));
        browser.goto(stage.site.add_page(page)).await?;
        wait_for_rows(&browser, "**** 0000, **** 5454, **** 7890*, Card, iDEAL").await?;
        let marked = "[...document.querySelectorAll('.wpwl-expired')].map(it => it.querySelector('.wpwl-registration-expired').textContent).join()";
        assert_eq!(browser.evaluate(marked).await?, "Expired,Expired");
        let fields = "[...document.querySelectorAll('.wpwl-expired [name=\"card.expiry\"]')].map(it => it.checkVisibility()).join()";
        assert_eq!(browser.evaluate(fields).await?, "false,false");
        click_element(&browser, &format!("input[value='{}']", ids[0])).await?;
        wait_for_rows(&browser, "**** 0000*, **** 5454, **** 7890, Card, iDEAL").await?;
        assert_eq!(browser.evaluate(fields).await?, "true,false");
        let label = "document.querySelector('.wpwl-expired [name=\"card.expiry\"]').closest('.wpwl-group').innerText";
        assert!(browser.evaluate(label).await?.as_str().is_some_and(|text| text.starts_with("New expiry date")));
        browser.sweep("the new date of an expired card").await?;
        for (date, hint) in [("", "expiryMonthError"), ("05/34", "expiryYearError")] {
            enter_text(&browser, ".wpwl-selected [name='card.expiry']", date).await?;
            click_element(&browser, ".wpwl-form-registrations .wpwl-button-pay").await?;
            browser.query(By::Css(format!(".wpwl-selected .wpwl-hint-{hint}"))).first().await?;
        }
        // Another way to pay hides the field, and the card has it again afterwards.
        click_element(&browser, "input[value='IDEAL']").await?;
        assert_eq!(browser.evaluate(fields).await?, "false,false");
        click_element(&browser, &format!("input[value='{}']", ids[0])).await?;
        enter_text(&browser, ".wpwl-selected [name='card.expiry']", "0936").await?;
        browser.save_screenshot("new-date").await?;
        click_element(&browser, ".wpwl-form-registrations .wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(checkout.id()).await?;
        assert_eq!((status.result_code(), &status.json["registrationId"]), (APPROVED, &ids[0].as_str().into()));
        let stored = stage.merchant.get(&format!("v1/registrations/{}", ids[0])).await?;
        for paid in [&status, &stored] {
            let card = &paid.json["card"];
            assert_eq!((&card["expiryMonth"], &card["expiryYear"]), (&"09".into(), &"2036".into()), "{}", paid.text);
        }
        Ok(())
    })
    .await
}
