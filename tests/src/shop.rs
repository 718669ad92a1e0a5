//! The demo shop on a site of its own, connected to a gateway, and the steps of a shopper in it.

use thirtyfour::prelude::*;
use tillgate_shop::ShopConfig;
use tokio::net::TcpListener;

use crate::{Browser, CardForm, MerchantClient, TestGateway};

/// A running demo shop. It ends with the test's runtime.
#[derive(Clone, Debug)]
pub struct TestDemoShop {
    /// Its address, with a trailing slash: `http://shop.localhost:40002/`.
    pub public: String,
    /// Its merchant account at the gateway.
    pub merchant: MerchantClient,
}

impl TestDemoShop {
    /// Starts the shop on a free port with its own merchant account.
    ///
    /// # Errors
    /// If there is no free port, or the merchant cannot be created.
    pub async fn start(gateway: &TestGateway) -> anyhow::Result<Self> {
        Self::start_for(gateway, gateway.create_merchant()?).await
    }

    /// Starts the shop on a free port for a merchant that checks its payments by the rules of the demo, and does with
    /// suspicious ones what `review` says (`decline`, `hold` or `authorize`).
    ///
    /// # Errors
    /// If there is no free port, or the merchant or its rules cannot be created.
    pub async fn start_with_risk_check(gateway: &TestGateway, review: &str) -> anyhow::Result<Self> {
        let merchant = gateway.create_merchant_with(&["--risk", "on", "--review", review])?;
        let rules = include_str!("../../server/src/cli/sandbox/demo_rules.toml");
        let added = merchant.post("v2/risk/rules", &[("rules", rules)]).await?;
        let version = added.json["version"].as_str().unwrap_or_default();
        let used = merchant.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?;
        anyhow::ensure!(used.status == 200, "{}{}", added.text, used.text);
        Self::start_for(gateway, merchant).await
    }

    async fn start_for(gateway: &TestGateway, merchant: MerchantClient) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let public = format!("http://shop.localhost:{}/", listener.local_addr()?.port());
        let shop = ShopConfig {
            gateway: gateway.base_url(),
            gateway_public: gateway.public_url(),
            gateway_fields: None,
            public: public.clone(),
            entity_id: merchant.entity_id.clone(),
            token: merchant.token.clone(),
            command: "tillgate".to_owned(),
            data: None,
        };
        tokio::spawn(tillgate_shop::serve_shop(shop, listener, std::future::pending()));
        Ok(Self { public, merchant })
    }

    /// Goes to the checkout as [`TestDemoShop::go_to_checkout`] does, and returns the form there.
    ///
    /// # Errors
    /// If an element on the way is missing.
    pub async fn open_card_form<'a>(
        &self,
        browser: &'a Browser,
        query: &str,
        outcome: &str,
    ) -> anyhow::Result<CardForm<'a>> {
        self.go_to_checkout(browser, query, outcome).await?;
        CardForm::wait_until_ready(browser).await
    }

    /// Opens the shop (with `query`, such as `?lang=de`), chooses a bowl, selects an outcome (`approve`, `decline`,
    /// `pending`, or `suspicious` for the switch of that name), and goes to the checkout.
    ///
    /// # Errors
    /// If an element on the way is missing.
    pub async fn go_to_checkout(&self, browser: &Browser, query: &str, outcome: &str) -> anyhow::Result<()> {
        browser.goto(format!("{}{query}", self.public)).await?;
        browser.query(By::Css("label.choice:has(#item-bowl)")).first().await?.click().await?;
        browser.query(By::Css("details.settings summary")).first().await?.click().await?;
        let chosen = match outcome {
            "suspicious" => "input[name=suspicious]".to_owned(),
            outcome => format!("select[name=outcome] option[value={outcome}]"),
        };
        browser.query(By::Css(chosen)).first().await?.click().await?;
        browser.query(By::Css(".order-line .primary")).first().await?.click().await?;
        Ok(())
    }

    /// Waits for the result page and returns the outcome: `paid`, `declined`, `pending`.
    ///
    /// # Errors
    /// If there is no result page.
    pub async fn read_outcome(browser: &Browser) -> anyhow::Result<String> {
        let result = browser.query(By::Css("[data-outcome]")).first().await?;
        Ok(result.attr("data-outcome").await?.unwrap_or_default())
    }
}

/// Returns the checkout id in the address of the page's script tag, or an empty string if the address has none.
///
/// # Errors
/// If there is no such script.
pub async fn read_checkout_id(browser: &Browser) -> anyhow::Result<String> {
    let id = "new URL(document.querySelector('script[src*=\"paymentWidgets.js\"]').src).searchParams.get('checkoutId')";
    Ok(browser.evaluate(id).await?.as_str().unwrap_or_default().to_owned())
}
