//! The form in the web view of an app: `shopperResultUrl` has a scheme of the app. Chromium has no app for the scheme,
//! so the tests observe the navigation itself, which ends at the app's address.

use tillgate_tests::{Browser, CardForm, MerchantPage, encode_form, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

/// The address of the app's page.
pub const APP: &str = "com.example.app://payment/result?order=1";
/// Records every address to which the page navigates.
pub const NAVIGATIONS: &str =
    "navigation.addEventListener('navigate', (event) => witness.note('left', event.destination.url));";

/// Returns the address that the form has to navigate to.
pub fn result_address(checkout: &str) -> String {
    let path = format!("/v1/checkouts/{checkout}/payment");
    format!("{APP}&{}", encode_form([("id", checkout), ("resourcePath", &path)]))
}

/// Opens a page with the form, pays, and asserts that the page navigates to the app once, with the checkout's id and
/// its path, and nowhere else.
async fn pay_and_return_to_app(browser: &Browser, fixture: &CheckoutFixture, options: &str) -> anyhow::Result<()> {
    let page = MerchantPage::for_checkout(&fixture.checkout).with_script(&format!("{NAVIGATIONS} {options}"));
    browser.goto(fixture.site.add_page(page)).await?;
    let form = CardForm::wait_until_ready(browser).await?;
    form.fill_fields().await?;
    form.press_pay_button().await?;
    let address = browser.wait_for_observation("left").await?;
    assert_eq!(address, result_address(fixture.checkout.id()));
    assert_eq!(fixture.read_result_code().await?, APPROVED);
    assert_eq!(browser.observed_details("left").await?, [address]);
    assert_eq!(fixture.submit_count(), 1);
    let errors = browser.observed_details("told").await?;
    assert!(errors.is_empty(), "{errors:?}");
    browser.execute("sessionStorage.clear()", vec![]).await?;
    Ok(())
}

#[tokio::test]
async fn the_form_returns_to_the_app_that_the_checkout_names() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        let fixture = CheckoutFixture::with_fields(&[("shopperResultUrl", APP)]).await?;
        pay_and_return_to_app(&browser, &fixture, "").await
    })
    .await
}

#[tokio::test]
async fn the_form_returns_to_the_app_that_the_page_names() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        let fixture = CheckoutFixture::new().await?;
        let options = format!(
            "var wpwlOptions = {{ shopperResultUrl: '{APP}', onError: (error) => witness.note('told', error.message) }};"
        );
        pay_and_return_to_app(&browser, &fixture, &options).await
    })
    .await
}
