//! `shopperResultUrl` of an app: from the checkout to the page that the shopper comes back from. No request of the
//! gateway goes there.

use reqwest::redirect::Policy;
use tillgate_tests::{CARD, TestGateway, encode_form};

use crate::payment::asynchronous::redirect_url;
use crate::support::*;

const APP: &str = "my.app://custom/url?order=1#top";
/// A card whose issuer requires a challenge.
const CHALLENGE: (&str, &str) = ("card.number", "4200000000000018");

/// Returns the address with the parameters of a checkout or a payment.
fn returned_address(id: &str, path: &str) -> String {
    format!("my.app://custom/url?order=1&{}#top", encode_form([("id", id), ("resourcePath", path)]))
}

/// Requests a page like a browser, with a form if there are fields. Returns its `Location`, its policy and its text.
async fn open_page(address: &str, fields: &[(&str, &str)]) -> anyhow::Result<(String, String, String)> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let request = if fields.is_empty() {
        client.get(address)
    } else {
        let body = encode_form(fields.iter().copied());
        client.post(address).header("content-type", "application/x-www-form-urlencoded").body(body)
    };
    let response = request.send().await?;
    let header =
        |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (location, policy) = (header("location"), header("content-security-policy"));
    Ok((location, policy, response.text().await?))
}

#[tokio::test]
async fn an_app_is_returned_to_from_every_page() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    // Named origins are those of web pages, and an app has none.
    let named = gateway.create_merchant_with(&["--origin", "https://shop.example"])?;
    for shop in [sandbox_shop(), named] {
        for brand in ["IDEAL", "PAYPAL"] {
            let made = shop.create_checkout(&[("shopperResultUrl", APP)]).await?;
            assert_result(&made, 200, "000.200.100");
            let submitted = shop.submit_card(made.id(), &[("paymentBrand", brand)]).await?;
            let (_, _, text) = open_page(&redirect_url(&submitted), &[("answer", "success")]).await?;
            let back = returned_address(made.id(), &format!("/v1/checkouts/{}/payment", made.id()));
            let escaped = back.replace('&', "&amp;");
            assert!(text.contains(&format!("0;url={escaped}")) && text.contains("custom</a>"), "{text}");
        }
        // The answer to a form names the app.
        let made = shop.create_checkout(&[("shopperResultUrl", APP)]).await?;
        let submitted = shop.submit_card(made.id(), &[]).await?;
        assert_result(&submitted, 200, "000.000.100");
        assert_eq!(submitted.json["redirect"]["url"], APP, "{}", submitted.text);
        // The issuer's page.
        let made = shop.create_checkout(&[("shopperResultUrl", APP)]).await?;
        let submitted = shop.submit_card(made.id(), &[CHALLENGE]).await?;
        let url = redirect_url(&submitted);
        let page = open_page(&url, &[]).await?.2;
        let transaction = crate::three_ds::challenge_transaction(&page).to_owned();
        let answer = [("transaction", transaction.as_str()), ("returnCode", "000.100.110")];
        let (_, _, text) = open_page(&url, &answer).await?;
        assert!(text.contains("href=\"my.app://custom/url?order=1&amp;id="), "{text}");
        // The plain form.
        let made = shop.create_checkout(&[("shopperResultUrl", APP)]).await?;
        let form = format!("{}v1/plainForm.html?checkoutId={}&brands=VISA", shop.base, made.id());
        let (_, policy, _) = open_page(&form, &[]).await?;
        assert!(policy.contains("form-action 'self' https: http: my.app:"), "{policy}");
        let sent: Vec<_> = CARD.into_iter().chain([("card.expiry", "05 / 34")]).collect();
        let (location, _, text) = open_page(&form, &sent).await?;
        let back = returned_address(made.id(), &format!("/v1/checkouts/{}/payment", made.id()));
        assert_eq!(location, back, "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_from_a_server_comes_back_to_the_app() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL")];
    let made = shop.post("v1/payments", &[&order[..], &[("shopperResultUrl", APP)]].concat()).await?;
    assert_result(&made, 200, "000.200.000");
    let (_, _, text) = open_page(&redirect_url(&made), &[("answer", "success")]).await?;
    let back = returned_address(made.id(), &format!("/v1/payments/{}", made.id())).replace('&', "&amp;");
    assert!(text.contains(&back), "{text}");
    Ok(())
}

#[tokio::test]
async fn an_address_that_runs_code_or_shows_files_is_refused_everywhere() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for address in [
        "javascript:alert(1)",
        "JavaScript:alert(1)//x",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x()",
        "blob:https://shop.example/1",
        "about:blank",
        "view-source:https://shop.example",
        "filesystem:https://shop.example/x",
        "my app://x",
        "my_app://x",
        "//shop.example/",
        "https:shop.example",
    ] {
        let field = ("shopperResultUrl", address);
        assert_errors(&shop.create_checkout(&[field]).await?, &["shopperResultUrl"]);
        assert_errors(&shop.pay_by_card(&[field]).await?, &["shopperResultUrl"]);
        // A browser that names it is led nowhere.
        let made = shop.create_checkout(&[]).await?;
        let submitted = shop.submit_card(made.id(), &[("paymentBrand", "IDEAL"), field]).await?;
        assert_errors(&submitted, &["shopperResultUrl"]);
    }
    // A notification is a request, which an app cannot take.
    assert_errors(&shop.create_checkout(&[("notificationUrl", APP)]).await?, &["notificationUrl"]);
    Ok(())
}

#[tokio::test]
async fn no_reminder_goes_to_an_app() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[("shopperResultUrl", APP)]).await?;
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    let query = "SELECT count(*) FROM timer WHERE subject = ?1";
    let reminders: i64 = open_database(&gateway)?.query_row(query, [made.id()], |row| row.get(0))?;
    assert_eq!(reminders, 0);
    Ok(())
}
