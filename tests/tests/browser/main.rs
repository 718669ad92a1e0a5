//! The hosted form in a real Chromium, with the real bundle, the gateway and the shop on different sites.
#![allow(clippy::unwrap_used)]

mod accessibility;
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
mod mounting;
mod network;
mod offered;
mod old;
mod one_click;
mod paying;
mod pictures;
mod playground;
mod popups;
mod privacy;
mod robust;
mod speech;
mod summary;
mod targets;
mod validation;
mod wallets;

use tillgate_tests::{Answer, Gateway, Merchant, Page, Site};

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

    /// How often the form has submitted.
    fn submits(&self) -> usize {
        self.gateway.submits(self.checkout.id())
    }
}

/// Result codes that the tests read.
const APPROVED: &str = "000.100.110";
const PENDING: &str = "000.200.000";
