//! Brands by risk in an open form: it shows what the merchant's rules offer, and follows when the checkout is updated.

use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, run_in_browser};

use crate::CheckoutFixture;
use crate::forms::click_element;
use crate::network::fill_and_pay;

const UNAVAILABLE: &str = "is not available at the moment. Please choose another way to pay.";

/// Creates a fixture whose merchant hides brands by this condition and effect.
pub async fn fixture_with_offer(
    condition: &str,
    effect: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<CheckoutFixture> {
    let mut fixture = CheckoutFixture::new().await?;
    fixture.merchant = fixture.gateway.create_merchant_with(&["--risk", "on"])?;
    let rules = format!("[[offer]]\nname = 'offer'\nwhen = '{condition}'\n{effect}\n");
    let added = fixture.merchant.post("v2/risk/rules", &[("rules", &*rules)]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    let activated = fixture.merchant.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?;
    anyhow::ensure!(activated.status == 200, "{} {}", added.text, activated.text);
    fixture.checkout = fixture.merchant.create_checkout(&[&[("integrity", "true")], fields].concat()).await?;
    Ok(fixture)
}

impl CheckoutFixture {
    /// Updates the checkout as the merchant's server does.
    pub async fn update_checkout(&self, fields: &[(&str, &str)]) -> anyhow::Result<()> {
        let updated = self.merchant.post(&format!("v1/checkouts/{}", self.checkout.id()), fields).await?;
        anyhow::ensure!(updated.status == 200, "{}", updated.text);
        Ok(())
    }
}

/// Waits until the visible buttons and choices of brands are these, with blanks between.
async fn wait_for_brands(browser: &Browser, brands: &str) -> anyhow::Result<()> {
    let shown =
        "[...document.querySelectorAll('select.wpwl-control-brand option, .wpwl-button-brand, .wpwl-registration')]
        .filter(it => (it.value ? it.closest('form') : it).checkVisibility())
        .map(it => it.value || /brand-([A-Z]+)/.exec(it.outerHTML)[1]).join(' ')";
    browser.wait_until(&format!("({shown}) === '{brands}'")).await
}

/// Waits for a visible message with this text in it.
pub async fn wait_for_message(browser: &Browser, text: &str) -> anyhow::Result<()> {
    let messages = "[...document.querySelectorAll('.wpwl-message')].filter(it => it.checkVisibility())";
    browser.wait_until(&format!("{messages}.some(it => it.textContent.includes('{text}'))")).await
}

#[tokio::test]
async fn a_refused_card_is_told_and_the_form_follows_the_updated_checkout() -> anyhow::Result<()> {
    let stage = fixture_with_offer("amount > 500", "hide = [\"MASTER\", \"IDEAL\"]", &[]).await?;
    run_in_browser(move |browser| async move {
        let onerror = "onError: function (error) { witness.note('failed', error.name); }";
        stage.open_forms(&browser, "VISA MASTER IDEAL", onerror).await?;
        wait_for_brands(&browser, "VISA MASTER IDEAL").await?;
        stage.update_checkout(&[("amount", "501.00")]).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("5454545454545454").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        wait_for_message(&browser, &format!("Mastercard {UNAVAILABLE}")).await?;
        wait_for_brands(&browser, "VISA").await?;
        wait_for_message(&browser, &format!("iDEAL {UNAVAILABLE}")).await?;
        assert_eq!(browser.evaluate("wpwl.checkout.amount").await?, "501.00");
        assert_eq!(browser.observed_details("failed").await?, ["WidgetError"]);
        // The other brand pays, and the typed number is still there.
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "5454 5454 5454 5454");
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("4200000000000000").await?;
        form.press_pay_button().await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!((&status.json["paymentBrand"], &status.json["amount"]), (&"VISA".into(), &"501.00".into()));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_that_refreshes_the_form_shows_brands_that_come_and_go() -> anyhow::Result<()> {
    let stage = fixture_with_offer("billing.country is missing", "hide = [\"IDEAL\", \"VISA\"]", &[]).await?;
    run_in_browser(move |browser| async move {
        let ready = stage.open_forms(&browser, "VISA MASTER IDEAL PAYPAL", "").await?;
        assert!(!ready.contains("IDEAL"), "{ready}");
        wait_for_brands(&browser, "MASTER PAYPAL").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("5454545454545454").await?;
        stage.update_checkout(&[("billing.country", "NL")]).await?;
        browser.execute("wpwl.refresh()", vec![]).await?;
        wait_for_brands(&browser, "VISA MASTER IDEAL PAYPAL").await?;
        assert!(browser.evaluate("window.told").await?.as_str().unwrap_or_default().contains("IDEAL"));
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "5454 5454 5454 5454");
        click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
        click_element(&browser, "button[value=success]").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_card_form_without_any_offered_card_says_so_until_there_is_one_again() -> anyhow::Result<()> {
    let stage = fixture_with_offer("amount > 500", "only = [\"PAYPAL\"]", &[]).await?;
    run_in_browser(move |browser| async move {
        for style in ["card", "logos"] {
            stage.open_forms(&browser, "VISA PAYPAL", &format!("style: '{style}'")).await?;
            if style == "logos" {
                click_element(&browser, ".wpwl-logo .wpwl-brand-VISA").await?;
            }
            let form = CardForm::wait_until_ready(&browser).await?;
            stage.update_checkout(&[("amount", "501.00")]).await?;
            browser.execute("wpwl.refresh()", vec![]).await?;
            wait_for_message(&browser, &format!("Visa {UNAVAILABLE}")).await?;
            browser.wait_until("!document.querySelector('.wpwl-form-card').checkVisibility()").await?;
            if style == "logos" {
                let logos =
                    "[...document.querySelectorAll('.wpwl-logo .wpwl-brand')].map(it => it.classList[1]).join()";
                browser.wait_until(&format!("({logos}) === 'wpwl-brand-PAYPAL'")).await?;
            }
            stage.update_checkout(&[("amount", "92.00")]).await?;
            browser.execute("wpwl.refresh()", vec![]).await?;
            browser.wait_until("document.querySelector('.wpwl-form-card').checkVisibility()").await?;
            form.find_element(".wpwl-form-card select option[value=VISA]").await?;
        }
        fill_and_pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_refused_button_and_a_stored_card_make_way_for_what_is_offered() -> anyhow::Result<()> {
    let mut stage = fixture_with_offer("amount > 500", "hide = [\"IDEAL\", \"VISA\"]", &[]).await?;
    let card = [("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let visa = [("paymentBrand", "VISA"), ("card.number", "4200000000000000")];
    let master = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454")];
    let visa = stage.merchant.post("v1/registrations", &[&visa[..], &card].concat()).await?;
    let master = stage.merchant.post("v1/registrations", &[&master[..], &card].concat()).await?;
    let stored = [("registrations[0].id", visa.id()), ("registrations[1].id", master.id())];
    stage.checkout = stage.merchant.create_checkout(&stored).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "IDEAL PAYPAL", "").await?;
        wait_for_brands(&browser, "VISA MASTER IDEAL PAYPAL").await?;
        stage.update_checkout(&[("amount", "501.00")]).await?;
        click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
        wait_for_message(&browser, &format!("iDEAL {UNAVAILABLE}")).await?;
        wait_for_brands(&browser, "MASTER PAYPAL").await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"], "MASTER");
        Ok(())
    })
    .await
}
