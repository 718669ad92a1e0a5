//! Redirects from pages of the gateway, and permission to frame them: only an address from the merchant redirects a
//! shopper without a click, and a forged link redirects nowhere.

use reqwest::redirect::Policy;
use tillgate_tests::{CARD, MerchantClient, TestGateway, encode_form};

use crate::payment::asynchronous::redirect_url;
use crate::support::*;

/// An address that only a browser has sent.
const EVIL: &str = "https://evil.example/trap";
/// A card whose issuer requires a challenge.
const CHALLENGE: (&str, &str) = ("card.number", "4200000000000018");

/// A response as a browser receives it: headers for redirects and framing, and the text.
struct BrowserResponse {
    location: String,
    policy: String,
    text: String,
}

impl BrowserResponse {
    /// Returns true if a browser leaves this page without an action of the shopper.
    fn has_automatic_redirect(&self) -> bool {
        let script = ["data-close", "data-auto"].iter().any(|script| self.text.contains(script));
        !self.location.is_empty() || self.text.contains("http-equiv=\"refresh\"") || script
    }

    /// Returns the sources of the policy's `frame-ancestors`, which must exist.
    fn frame_ancestors(&self) -> &str {
        self.policy.rsplit("frame-ancestors ").next().unwrap_or_default().split(';').next().unwrap_or_default()
    }
}

/// Posts fields to a page, or gets it if there are none, without following redirects.
async fn send_without_redirects(address: &str, fields: Option<&[(&str, &str)]>) -> anyhow::Result<BrowserResponse> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let request = match fields {
        None => client.get(address),
        Some(fields) => client
            .post(address)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encode_form(fields.iter().copied())),
    };
    let answer = request.send().await?;
    let header =
        |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (location, policy) = (header("location"), header("content-security-policy"));
    Ok(BrowserResponse { location, policy, text: answer.text().await? })
}

/// Pays with IDEAL, PAYPAL and a challenged card in new checkouts, and answers their pages with success. `checkout` are
/// fields of the merchant, `browser` those of the form. Returns the address of each page and the response to the
/// answer.
async fn answer_pages(
    shop: &MerchantClient,
    checkout: &[(&str, &str)],
    browser: &[(&str, &str)],
) -> anyhow::Result<Vec<(String, BrowserResponse)>> {
    let mut pages = Vec::new();
    for brand in ["IDEAL", "PAYPAL"] {
        let made = shop.create_checkout(checkout).await?;
        let submitted = shop.submit_card(made.id(), &[&[("paymentBrand", brand)], browser].concat()).await?;
        assert_result(&submitted, 200, "000.200.000");
        let url = redirect_url(&submitted);
        let response = send_without_redirects(&url, Some(&[("answer", "success")])).await?;
        pages.push((url, response));
    }
    let made = shop.create_checkout(checkout).await?;
    let submitted = shop.submit_card(made.id(), &[&[CHALLENGE], browser].concat()).await?;
    assert_result(&submitted, 200, "000.200.000");
    let url = redirect_url(&submitted);
    let page = send_without_redirects(&url, None).await?.text;
    let transaction = crate::three_ds::challenge_transaction(&page).to_owned();
    let response =
        send_without_redirects(&url, Some(&[("transaction", &transaction), ("returnCode", "000.100.110")])).await?;
    pages.push((url, response));
    Ok(pages)
}

#[tokio::test]
async fn no_link_to_a_page_of_ours_leads_where_only_a_browser_has_said() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (url, _) in answer_pages(&shop, &[], &[("shopperResultUrl", EVIL)]).await? {
        for more in ["", "?methodTime=over", "?x=y"] {
            let got = send_without_redirects(&format!("{url}{more}"), None).await?;
            assert!(!got.has_automatic_redirect(), "{url}{more}: {} {}", got.location, got.text);
            // The shopper may continue with a link that shows its target.
            assert!(got.text.contains("evil.example</a>"), "{}", got.text);
        }
        // An invalid answer does not redirect either.
        for fields in [&[("answer", "nonsense")][..], &[], &[("transaction", "x"), ("returnCode", "000.100.110")]] {
            let got = send_without_redirects(&url, Some(fields)).await?;
            assert!(!got.has_automatic_redirect(), "{url}: {}", got.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_page_leads_by_itself_where_the_merchant_has_said() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (plain, named) = (sandbox_shop(), gateway.create_merchant_with(&["--origin", "https://shop.example"])?);
    let back = ("shopperResultUrl", "https://shop.example/back");
    for (shop, checkout, browser) in [(&plain, &[back][..], &[][..]), (&named, &[], &[back])] {
        for (url, got) in answer_pages(shop, checkout, browser).await? {
            assert!(got.has_automatic_redirect(), "{url}: {}", got.text);
            assert!(send_without_redirects(&url, None).await?.has_automatic_redirect(), "{url}");
        }
    }
    // If a browser sent the address, a click on the page's button redirects there.
    for (url, got) in answer_pages(&plain, &[], &[back]).await? {
        assert!(got.has_automatic_redirect(), "{url}: {}", got.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_plain_form_leads_by_itself_where_the_merchant_has_said_and_shows_a_link_otherwise() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (plain, named) = (sandbox_shop(), gateway.create_merchant_with(&["--origin", "https://shop.example"])?);
    let back = ("shopperResultUrl", "https://shop.example/back");
    for (shop, checkout, address, leads) in [
        (&plain, &[back][..], EVIL, "https://shop.example/back"),
        (&named, &[], back.1, "https://shop.example/back"),
        (&named, &[], EVIL, ""),
        (&plain, &[], EVIL, ""),
        (&plain, &[], "javascript:alert(1)", ""),
        (&plain, &[], "//evil.example/", ""),
    ] {
        let made = shop.create_checkout(checkout).await?;
        let url = format!(
            "{}v1/plainForm.html?checkoutId={}&brands=VISA&{}",
            shop.base,
            made.id(),
            encode_form([("shopperResultUrl", address)])
        );
        let sent: Vec<_> =
            CARD.into_iter().chain([("card.expiry", "05 / 34"), ("shopperResultUrl", address)]).collect();
        let got = send_without_redirects(&url, Some(&sent)).await?;
        assert!(
            got.location.starts_with(leads) && got.location.is_empty() == leads.is_empty(),
            "{address}: {} {}",
            got.location,
            got.text
        );
        assert_eq!(got.has_automatic_redirect(), !leads.is_empty(), "{}", got.text);
        assert!(!got.text.contains("href=\"javascript:") && !got.text.contains("href=\"//"), "{}", got.text);
        assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.100.110");
        assert!(send_without_redirects(&url, None).await?.location.is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn only_the_page_with_the_form_shows_the_pages_of_its_payment_in_a_frame() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (plain, named) = (sandbox_shop(), gateway.create_merchant_with(&["--origin", "https://shop.example"])?);
    let page_of = |origin| [("shopOrigin", origin), ("shopperResultUrl", "https://shop.example/back")];
    let cases = [
        (&plain, "https://shop.example", "https://shop.example"),
        (&plain, "http://shop.localhost:8081", "http://shop.localhost:8081"),
        (&named, "https://shop.example", "https://shop.example"),
        // A value that is no origin allows no framing, and cannot add another directive.
        (&plain, "https://a.example; script-src *", "'none'"),
        (&plain, "*", "'none'"),
        (&plain, "https://*", "'none'"),
        (&plain, "null", "'none'"),
    ];
    for (shop, origin, ancestors) in cases {
        for (url, _) in answer_pages(shop, &[], &page_of(origin)).await? {
            let got = send_without_redirects(&format!("{url}?inline=true"), None).await?;
            let expected = match (url.contains("threeDSecure"), ancestors) {
                // The page contains a frame with the method page.
                (true, "'none'") => "'self'".to_owned(),
                (true, origin) => format!("{origin} 'self'"),
                (false, _) => ancestors.to_owned(),
            };
            assert_eq!(got.frame_ancestors(), expected, "{url} {origin}");
            if url.contains("simulator") {
                assert_eq!(send_without_redirects(&url, None).await?.frame_ancestors(), "'none'", "{url}");
            }
        }
    }
    // A page of a payment that was not made by a form.
    let paid = crate::payment::asynchronous::pay_by_brand(&plain, "IDEAL", &[]).await?;
    assert_eq!(
        send_without_redirects(&format!("{}?inline=true", redirect_url(&paid)), None).await?.frame_ancestors(),
        "'none'"
    );
    Ok(())
}
