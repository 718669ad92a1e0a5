//! The hosted form in a real Chromium, with the real bundle, the gateway and the shop on different sites.
#![allow(clippy::unwrap_used)]

mod accessibility;
mod attacker;
mod autofill;
mod brand_page;
mod callbacks;
mod coming_back;
mod contract;
mod fields;
mod firefox;
mod forms;
mod frames;
mod frameworks;
mod hostile;
mod kindness;
mod lifecycle;
mod looks;
mod lost_answers;
mod markup;
mod mounting;
mod network;
mod offered;
mod old;
mod one_click;
mod origins;
mod paying;
mod pictures;
mod playground;
mod popups;
mod privacy;
mod robust;
mod saqa;
mod shadows;
mod shared_browser;
mod speech;
mod summary;
mod targets;
mod threeds;
mod validation;
mod wallets;
mod widget;

use anyhow::Context as _;
use thirtyfour::prelude::*;
use tillgate_tests::{Answer, Browser, Gateway, Merchant, Page, Site};

/// A merchant with a site of its own and an open checkout: what most tests begin with.
struct Stage {
    gateway: &'static Gateway,
    merchant: Merchant,
    site: Site,
    checkout: Answer,
}

impl Stage {
    /// A checkout over 92.00 EUR, with `fields` added.
    async fn with(fields: &[(&str, &str)]) -> anyhow::Result<Self> {
        let gateway = Gateway::shared();
        let merchant = gateway.merchant()?;
        let site = Site::start(gateway).await?;
        let mut all = vec![("integrity", "true")];
        all.extend(fields);
        let checkout = merchant.checkout(&all).await?;
        anyhow::ensure!(checkout.code() == "000.200.100", "no checkout: {}", checkout.text);
        Ok(Self { gateway, merchant, site, checkout })
    }

    async fn new() -> anyhow::Result<Self> {
        Self::with(&[]).await
    }

    /// The address of a page with the form, whose script is `script`.
    fn page(&self, script: &str) -> String {
        self.site.add(Page::of(&self.checkout).script(script))
    }

    /// What the gateway says about the checkout.
    async fn code(&self) -> anyhow::Result<String> {
        Ok(self.merchant.status(self.checkout.id()).await?.code().to_owned())
    }

    /// Waits until the browser stands on the result page. What the gateway says then, which is that the checkout is paid.
    async fn paid(&self, browser: &Browser) -> anyhow::Result<Answer> {
        browser.query(By::Id("result")).first().await.context("the result page")?;
        let status = self.merchant.status(self.checkout.id()).await?;
        assert_eq!(status.code(), APPROVED, "{}", status.text);
        Ok(status)
    }

    /// Puts another form into the page, with its brands as its text, and the script of a checkout, as applications do.
    async fn add_form(&self, browser: &Browser, checkout: &str, brands: &str, result: &str) -> anyhow::Result<()> {
        let script = format!(
            "const form = document.createElement('form');
             form.className = 'paymentWidgets'; form.action = '{result}'; form.textContent = '{brands}';
             document.querySelector('main').append(form);
             const script = document.createElement('script');
             script.src = '{}v1/paymentWidgets.js?checkoutId={checkout}';
             document.head.append(script);",
            self.gateway.public()
        );
        browser.execute(script, vec![]).await?;
        Ok(())
    }

    /// How often the form has submitted.
    fn submits(&self) -> usize {
        self.gateway.submits(self.checkout.id())
    }
}

/// Result codes that the tests read.
const APPROVED: &str = "000.100.110";
const PENDING: &str = "000.200.000";
