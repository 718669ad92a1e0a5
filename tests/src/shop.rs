//! The demo shop in front of a gateway, on a site of its own, and the way of a shopper through it.

use thirtyfour::prelude::*;
use tillgate_shop::Shop;
use tokio::net::TcpListener;

use crate::{Browser, CardForm, Gateway, Merchant};

/// A running demo shop. It ends with the test's runtime.
#[derive(Clone, Debug)]
pub struct DemoShop {
    /// Its address, with a slash at the end: `http://shop.localhost:40002/`.
    pub public: String,
    /// Its account with the gateway.
    pub merchant: Merchant,
}

impl DemoShop {
    /// Starts the shop on a free port with an account of its own.
    ///
    /// # Errors
    /// When there is no port or no account.
    pub async fn start(gateway: &Gateway) -> anyhow::Result<Self> {
        let merchant = gateway.merchant()?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let public = format!("http://shop.localhost:{}/", listener.local_addr()?.port());
        let shop = Shop {
            gateway: gateway.base(),
            gateway_public: gateway.public(),
            gateway_fields: None,
            public: public.clone(),
            entity_id: merchant.entity_id.clone(),
            token: merchant.token.clone(),
        };
        tokio::spawn(tillgate_shop::serve(shop, listener, std::future::pending()));
        Ok(Self { public, merchant })
    }

    /// Goes to the checkout as [`DemoShop::choose`] does. The answer is the form there.
    ///
    /// # Errors
    /// When something on the way is missing.
    pub async fn to_checkout<'a>(
        &self,
        browser: &'a Browser,
        query: &str,
        outcome: &str,
    ) -> anyhow::Result<CardForm<'a>> {
        self.choose(browser, query, outcome).await?;
        CardForm::ready(browser).await
    }

    /// Goes to the shop (with `query`, such as `?lang=de`), chooses a bowl, asks for an outcome (`approve`, `decline`,
    /// `pending`), and goes to the checkout.
    ///
    /// # Errors
    /// When something on the way is missing.
    pub async fn choose(&self, browser: &Browser, query: &str, outcome: &str) -> anyhow::Result<()> {
        browser.goto(format!("{}{query}", self.public)).await?;
        browser.query(By::Css("label.choice:has(#item-bowl)")).first().await?.click().await?;
        browser.query(By::Css("details.settings summary")).first().await?.click().await?;
        let chosen = format!("select[name=outcome] option[value={outcome}]");
        browser.query(By::Css(chosen)).first().await?.click().await?;
        browser.query(By::Css(".order-line .primary")).first().await?.click().await?;
        Ok(())
    }

    /// Waits for the result page and says how it went: `paid`, `declined`, `pending`.
    ///
    /// # Errors
    /// When there is no result page.
    pub async fn outcome(browser: &Browser) -> anyhow::Result<String> {
        let result = browser.query(By::Css("[data-outcome]")).first().await?;
        Ok(result.attr("data-outcome").await?.unwrap_or_default())
    }
}

/// The checkout id that the page's script tag carries.
///
/// # Errors
/// When there is no such script.
pub async fn checkout_id(browser: &Browser) -> anyhow::Result<String> {
    let id = "new URL(document.querySelector('script[src*=\"paymentWidgets.js\"]').src).searchParams.get('checkoutId')";
    Ok(browser.value(id).await?.as_str().unwrap_or_default().to_owned())
}
