//! Tests of the demo shop and the gateway without a browser: the requests between both servers. One post takes the
//! place of the form.
#![allow(clippy::unwrap_used)]

use reqwest::redirect::Policy;
use tillgate_tests::{ApiResponse, TestDemoShop, TestGateway, encode_form};

/// A shopper's HTTP client, which does not follow redirects.
struct ShopperClient {
    demo: TestDemoShop,
    client: reqwest::Client,
}

impl ShopperClient {
    /// Starts a demo shop of the shared gateway.
    async fn new() -> anyhow::Result<Self> {
        let demo = TestDemoShop::start(TestGateway::shared()).await?;
        Ok(Self { demo, client: reqwest::Client::builder().redirect(Policy::none()).build()? })
    }

    /// Returns an address for a client that is no browser and so cannot resolve `shop.localhost`.
    fn local_url(&self, path: &str) -> String {
        let port = self.demo.public.rsplit(':').next().unwrap();
        format!("http://127.0.0.1:{port}{}", path.trim_start_matches('/'))
    }

    /// Gets a page of the shop. Returns any response.
    async fn load_page(&self, path: &str) -> anyhow::Result<ApiResponse> {
        ApiResponse::read_from(self.client.get(self.local_url(path)).send().await?).await
    }

    /// Posts a form and returns the address of the redirect. Fails unless the status is 303.
    async fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<String> {
        let request =
            self.client.post(self.local_url(path)).header("content-type", "application/x-www-form-urlencoded");
        let answer = ApiResponse::read_from(request.body(encode_form(fields.iter().copied())).send().await?).await?;
        anyhow::ensure!(answer.status == 303, "{}", answer.text);
        Ok(answer.headers["location"].to_str()?.to_owned())
    }

    /// Orders a teapot. Returns the path of the checkout page and the checkout's id.
    async fn order_teapot(&self, outcome: &str) -> anyhow::Result<(String, String)> {
        let page = self.post_form("/checkout", &[("item", "teapot"), ("quantity", "1"), ("outcome", outcome)]).await?;
        let id = self.read_checkout_id(&page).await?;
        Ok((page, id))
    }

    /// Returns the checkout's id in a page, or an empty string. Fails if the loader has no `integrity`.
    async fn read_checkout_id(&self, page: &str) -> anyhow::Result<String> {
        let html = self.load_page(page).await?.text;
        let id = html.split_once("checkoutId=").and_then(|(_, rest)| rest.split_once('"')).map(|(id, _)| id);
        anyhow::ensure!(html.contains(r#" integrity="sha384-"#), "no integrity: {html}");
        Ok(id.unwrap_or_default().to_owned())
    }
}

/// Returns the path to which the form redirects the shopper of an order.
fn result_path(page: &str, id: &str) -> String {
    let order = page.trim_start_matches("/checkout/");
    format!("/result/{order}?id={id}&resourcePath=%2Fv1%2Fcheckouts%2F{id}%2Fpayment")
}

#[tokio::test]
async fn an_order_is_pending_then_paid_and_the_result_can_be_read_again_and_again() -> anyhow::Result<()> {
    let shopper = ShopperClient::new().await?;
    let (page, id) = shopper.order_teapot("approve").await?;
    assert!(shopper.load_page(&result_path(&page, &id)).await?.text.contains(r#"data-outcome="pending""#));
    let submitted = shopper.demo.merchant.submit_card(&id, &[]).await?;
    assert_eq!(submitted.status, 200, "{}", submitted.text);
    for _ in 0..3 {
        let result = shopper.load_page(&result_path(&page, &id)).await?;
        assert!(result.text.contains(r#"data-outcome="paid""#), "{}", result.text);
        assert!(result.text.contains("000.100.110"), "{}", result.text);
        assert!(result.text.contains("€92.00"), "{}", result.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_declined_order_is_paid_with_the_same_checkout_at_the_second_try() -> anyhow::Result<()> {
    let shopper = ShopperClient::new().await?;
    let (page, id) = shopper.order_teapot("decline").await?;
    shopper.demo.merchant.submit_card(&id, &[]).await?;
    let result = shopper.load_page(&result_path(&page, &id)).await?;
    assert!(result.text.contains(r#"data-outcome="declined""#), "{}", result.text);
    assert!(result.text.contains("800.100.151"), "{}", result.text);

    assert_eq!(shopper.post_form(&format!("{page}/again"), &[]).await?, page);
    assert_eq!(shopper.read_checkout_id(&page).await?, id, "the gateway keeps it open, so the shop keeps it");
    shopper.demo.merchant.submit_card(&id, &[]).await?;
    let result = shopper.load_page(&result_path(&page, &id)).await?;
    assert!(result.text.contains(r#"data-outcome="paid""#), "{}", result.text);
    Ok(())
}

#[tokio::test]
async fn a_result_of_another_order_is_not_shown() -> anyhow::Result<()> {
    let shopper = ShopperClient::new().await?;
    let (_, paid) = shopper.order_teapot("approve").await?;
    shopper.demo.merchant.submit_card(&paid, &[]).await?;
    let (page, _) = shopper.order_teapot("approve").await?;
    let result = shopper.load_page(&result_path(&page, &paid)).await?;
    assert_eq!(result.status, 400);
    assert!(!result.text.contains("data-outcome"), "{}", result.text);
    Ok(())
}

#[tokio::test]
async fn a_suspicious_order_is_stopped_by_the_risk_check_and_an_ordinary_one_is_paid() -> anyhow::Result<()> {
    let demo = TestDemoShop::start_with_risk_check(TestGateway::shared(), "decline").await?;
    let shopper = ShopperClient { demo, client: reqwest::Client::builder().redirect(Policy::none()).build()? };
    let order = [("item", "teapot"), ("quantity", "1"), ("suspicious", "1")];
    let page = shopper.post_form("/checkout", &order).await?;
    let id = shopper.read_checkout_id(&page).await?;
    shopper.demo.merchant.submit_card(&id, &[]).await?;
    let result = shopper.load_page(&result_path(&page, &id)).await?.text;
    for part in [r#"data-outcome="declined""#, "We stopped this order.", "tillgate risk explain", "100.400.141"] {
        assert!(result.contains(part), "{part}: {result}");
    }
    // The second try is an ordinary order with the same checkout.
    let again = shopper.post_form(&format!("{page}/again"), &[]).await?;
    assert_eq!(shopper.read_checkout_id(&again).await?, id);
    shopper.demo.merchant.submit_card(&id, &[]).await?;
    let result = shopper.load_page(&result_path(&page, &id)).await?.text;
    assert!(result.contains(r#"data-outcome="paid""#) && !result.contains("tillgate risk"), "{result}");
    Ok(())
}
