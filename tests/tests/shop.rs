//! The demo shop and the gateway without a browser: what both servers say to each other. The form's part is played by
//! one post.
#![allow(clippy::unwrap_used)]

use reqwest::redirect::Policy;
use tillgate_tests::{Answer, DemoShop, Gateway, form};

/// A shopper who reads pages and follows nothing by itself.
struct Shopper {
    demo: DemoShop,
    client: reqwest::Client,
}

impl Shopper {
    async fn new() -> anyhow::Result<Self> {
        let demo = DemoShop::start(Gateway::shared()).await?;
        Ok(Self { demo, client: reqwest::Client::builder().redirect(Policy::none()).build()? })
    }

    /// A client that is no browser knows nothing of `shop.localhost`.
    fn address(&self, path: &str) -> String {
        let port = self.demo.public.rsplit(':').next().unwrap();
        format!("http://127.0.0.1:{port}{}", path.trim_start_matches('/'))
    }

    async fn load(&self, path: &str) -> anyhow::Result<Answer> {
        Answer::read(self.client.get(self.address(path)).send().await?).await
    }

    /// Sends a form and says where the answer leads.
    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<String> {
        let request = self.client.post(self.address(path)).header("content-type", "application/x-www-form-urlencoded");
        let answer = Answer::read(request.body(form(fields.iter().copied())).send().await?).await?;
        anyhow::ensure!(answer.status == 303, "{}", answer.text);
        Ok(answer.headers["location"].to_str()?.to_owned())
    }

    /// Orders a teapot; the answer is the address of the checkout page and the checkout's id.
    async fn order(&self, outcome: &str) -> anyhow::Result<(String, String)> {
        let page = self.send("/checkout", &[("item", "teapot"), ("quantity", "1"), ("outcome", outcome)]).await?;
        let id = self.checkout_on(&page).await?;
        Ok((page, id))
    }

    async fn checkout_on(&self, page: &str) -> anyhow::Result<String> {
        let html = self.load(page).await?.text;
        let id = html.split_once("checkoutId=").and_then(|(_, rest)| rest.split_once('"')).map(|(id, _)| id);
        anyhow::ensure!(html.contains(r#" integrity="sha384-"#), "no integrity: {html}");
        Ok(id.unwrap_or_default().to_owned())
    }
}

fn result_of(page: &str, id: &str) -> String {
    let order = page.trim_start_matches("/checkout/");
    format!("/result/{order}?id={id}&resourcePath=%2Fv1%2Fcheckouts%2F{id}%2Fpayment")
}

#[tokio::test]
async fn an_order_is_pending_then_paid_and_the_result_can_be_read_again_and_again() -> anyhow::Result<()> {
    let shopper = Shopper::new().await?;
    let (page, id) = shopper.order("approve").await?;
    assert!(shopper.load(&result_of(&page, &id)).await?.text.contains(r#"data-outcome="pending""#));
    let submitted = shopper.demo.merchant.submit(&id, &[]).await?;
    assert_eq!(submitted.status, 200, "{}", submitted.text);
    for _ in 0..3 {
        let result = shopper.load(&result_of(&page, &id)).await?;
        assert!(result.text.contains(r#"data-outcome="paid""#), "{}", result.text);
        assert!(result.text.contains("000.100.110"), "{}", result.text);
        assert!(result.text.contains("€92.00"), "{}", result.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_declined_order_is_paid_with_the_same_checkout_at_the_second_try() -> anyhow::Result<()> {
    let shopper = Shopper::new().await?;
    let (page, id) = shopper.order("decline").await?;
    shopper.demo.merchant.submit(&id, &[]).await?;
    let result = shopper.load(&result_of(&page, &id)).await?;
    assert!(result.text.contains(r#"data-outcome="declined""#), "{}", result.text);
    assert!(result.text.contains("800.100.151"), "{}", result.text);

    assert_eq!(shopper.send(&format!("{page}/again"), &[]).await?, page);
    assert_eq!(shopper.checkout_on(&page).await?, id, "the gateway keeps it open, so the shop keeps it");
    shopper.demo.merchant.submit(&id, &[]).await?;
    let result = shopper.load(&result_of(&page, &id)).await?;
    assert!(result.text.contains(r#"data-outcome="paid""#), "{}", result.text);
    Ok(())
}

#[tokio::test]
async fn a_result_of_another_order_is_not_shown() -> anyhow::Result<()> {
    let shopper = Shopper::new().await?;
    let (_, paid) = shopper.order("approve").await?;
    shopper.demo.merchant.submit(&paid, &[]).await?;
    let (page, _) = shopper.order("approve").await?;
    let result = shopper.load(&result_of(&page, &paid)).await?;
    assert_eq!(result.status, 400);
    assert!(!result.text.contains("data-outcome"), "{}", result.text);
    Ok(())
}
