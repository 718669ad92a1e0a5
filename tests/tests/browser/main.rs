//! The hosted form in a real Chromium, with the real bundle. Gateway and shop are on different sites.
#![allow(clippy::unwrap_used)]
#![allow(clippy::too_many_lines, reason = "a test is one story, which is read from its beginning to its end")]

mod accessibility;
mod accessibility_statement;
mod amount;
mod app_addresses;
mod appearance;
mod assistive_technology;
mod attacker;
mod autofill;
mod back_office;
mod brand_marks;
mod brand_offers;
mod brand_page;
mod callbacks;
mod challenge_frame;
mod coming_back;
mod contract;
mod direct_debit;
mod dom_clobbering;
mod every_property;
mod expired_accounts;
mod faults;
mod fields;
mod firefox;
mod forms;
mod frames;
mod frameworks;
mod hostile;
mod hostile_pages;
mod input_methods;
mod isolation;
mod issuer_passkey;
mod last_script;
mod later_texts;
mod lifecycle;
mod look;
mod lost_responses;
mod method_choice;
mod mounting;
mod network;
mod npm_package;
mod number_field;
mod offered_brands;
mod old_browsers;
mod one_click;
mod origins;
mod page_fonts;
mod page_scripts;
mod page_state;
mod paying;
mod phone_challenge;
mod pictures;
mod playground;
mod popups;
mod privacy;
mod prototype_pollution;
mod restricted_browsers;
mod retry_in_place;
mod saqa;
mod shared_browser;
mod sibling_frames;
mod single_page;
mod state_pictures;
mod summary;
mod targets;
mod text_direction;
mod themes;
mod three_ds;
mod usability;
mod validation;
mod wallets;
mod webkit;
mod widget;

use anyhow::Context as _;
use thirtyfour::prelude::*;
use tillgate_tests::{ApiResponse, Browser, MerchantClient, MerchantPage, MerchantSite, TestGateway};

/// A merchant with a site and an open checkout, at the shared gateway. Most tests start with one.
struct CheckoutFixture {
    gateway: &'static TestGateway,
    merchant: MerchantClient,
    site: MerchantSite,
    checkout: ApiResponse,
}

impl CheckoutFixture {
    /// Creates a fixture with a checkout over 92.00 EUR, with `integrity` and additional `fields`.
    async fn with_fields(fields: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::with_options(&[], fields).await
    }

    /// Creates a fixture like [`Self::with_fields`], whose merchant has additional arguments of `entity create`.
    async fn with_options(options: &[&str], fields: &[(&str, &str)]) -> anyhow::Result<Self> {
        let gateway = TestGateway::shared();
        let merchant = gateway.create_merchant_with(options)?;
        let site = MerchantSite::start(gateway).await?;
        let mut all = vec![("integrity", "true")];
        all.extend(fields);
        let checkout = merchant.create_checkout(&all).await?;
        anyhow::ensure!(checkout.result_code() == "000.200.100", "no checkout: {}", checkout.text);
        Ok(Self { gateway, merchant, site, checkout })
    }

    async fn new() -> anyhow::Result<Self> {
        Self::with_fields(&[]).await
    }

    /// Adds a page with the form and this script to the site, and returns its address.
    fn add_page(&self, script: &str) -> String {
        self.site.add_page(MerchantPage::for_checkout(&self.checkout).with_script(script))
    }

    /// Returns the result code of the checkout's status.
    async fn read_result_code(&self) -> anyhow::Result<String> {
        Ok(self.merchant.read_status(self.checkout.id()).await?.result_code().to_owned())
    }

    /// Waits until the browser shows the result page, asserts that the checkout is approved, and returns its status.
    async fn wait_until_paid(&self, browser: &Browser) -> anyhow::Result<ApiResponse> {
        browser.query(By::Id("result")).first().await.context("the result page")?;
        let status = self.merchant.read_status(self.checkout.id()).await?;
        assert_eq!(status.result_code(), APPROVED, "{}", status.text);
        Ok(status)
    }

    /// Adds another form with these brands and the result address to the page, and the script of a checkout, as
    /// single-page applications do. Does not wait for the form.
    async fn add_form(&self, browser: &Browser, checkout: &str, brands: &str, result: &str) -> anyhow::Result<()> {
        let script = format!(
            "const form = document.createElement('form');
             form.className = 'paymentWidgets'; form.action = '{result}'; form.textContent = '{brands}';
             document.querySelector('main').append(form);
             const script = document.createElement('script');
             script.src = '{}v1/paymentWidgets.js?checkoutId={checkout}';
             document.head.append(script);",
            self.gateway.public_url()
        );
        browser.execute(script, vec![]).await?;
        Ok(())
    }

    /// Returns the number of logged submits of the checkout.
    fn submit_count(&self) -> usize {
        self.gateway.submit_count(self.checkout.id())
    }
}

/// Result codes in the tests.
const APPROVED: &str = "000.100.110";
const PENDING: &str = "000.200.000";
