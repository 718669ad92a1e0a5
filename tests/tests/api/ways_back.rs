//! Where pages of the gateway lead, and who may show them in a frame: only a merchant's own word takes a shopper away without a
//! press of a button, and a link of somebody else leads nowhere.

use reqwest::redirect::Policy;
use tillgate_tests::{CARD, Gateway, Merchant, form};

use crate::asynchronous::page;
use crate::support::*;

/// An address that only a browser has named.
const EVIL: &str = "https://evil.example/trap";
/// A card whose issuer asks for a challenge.
const CHALLENGE: (&str, &str) = ("card.number", "4200000000000018");

/// An answer as a browser gets it: status, headers that lead on or frame, text.
struct Got {
    location: String,
    policy: String,
    text: String,
}

impl Got {
    /// Returns true if a browser leaves this page without the shopper's doing.
    fn leaves(&self) -> bool {
        let script = ["simulator.js", "threeDSecure.js"].iter().any(|script| self.text.contains(script));
        !self.location.is_empty() || self.text.contains("http-equiv=\"refresh\"") || script
    }

    fn ancestors(&self) -> &str {
        self.policy.rsplit("frame-ancestors ").next().unwrap_or_default().split(';').next().unwrap_or_default()
    }
}

/// Asks for a page, or posts to it. What is answered is not followed.
async fn ask(address: &str, fields: Option<&[(&str, &str)]>) -> anyhow::Result<Got> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let request = match fields {
        None => client.get(address),
        Some(fields) => client
            .post(address)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form(fields.iter().copied())),
    };
    let answer = request.send().await?;
    let header =
        |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (location, policy) = (header("location"), header("content-security-policy"));
    Ok(Got { location, policy, text: answer.text().await? })
}

/// A payment whose page has been answered: the page's address, and what the answer was.
async fn answered(
    shop: &Merchant,
    checkout: &[(&str, &str)],
    browser: &[(&str, &str)],
) -> anyhow::Result<Vec<(String, Got)>> {
    let mut pages = Vec::new();
    for brand in ["IDEAL", "PAYPAL"] {
        let made = shop.checkout(checkout).await?;
        let submitted = shop.submit(made.id(), &[&[("paymentBrand", brand)], browser].concat()).await?;
        assert_answer(&submitted, 200, "000.200.000");
        let url = page(&submitted);
        let got = ask(&url, Some(&[("answer", "success")])).await?;
        pages.push((url, got));
    }
    let made = shop.checkout(checkout).await?;
    let submitted = shop.submit(made.id(), &[&[CHALLENGE], browser].concat()).await?;
    assert_answer(&submitted, 200, "000.200.000");
    let url = page(&submitted);
    let shown = ask(&url, None).await?.text;
    let transaction = crate::threeds::transaction(&shown).to_owned();
    let got = ask(&url, Some(&[("transaction", &transaction), ("returnCode", "000.100.110")])).await?;
    pages.push((url, got));
    Ok(pages)
}

#[tokio::test]
async fn no_link_to_a_page_of_ours_leads_where_only_a_browser_has_said() -> anyhow::Result<()> {
    let shop = shop();
    for (url, _) in answered(&shop, &[], &[("shopperResultUrl", EVIL)]).await? {
        for more in ["", "?methodTime=over", "?x=y"] {
            let got = ask(&format!("{url}{more}"), None).await?;
            assert!(!got.leaves(), "{url}{more}: {} {}", got.location, got.text);
            // The shopper may go on, and sees where.
            assert!(got.text.contains("evil.example</a>"), "{}", got.text);
        }
        // Neither does an answer that does not count.
        for fields in [&[("answer", "nonsense")][..], &[], &[("transaction", "x"), ("returnCode", "000.100.110")]] {
            let got = ask(&url, Some(fields)).await?;
            assert!(!got.leaves(), "{url}: {}", got.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_page_leads_by_itself_where_the_merchant_has_said() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let (plain, named) = (shop(), gateway.merchant_with(&["--origin", "https://shop.example"])?);
    let back = ("shopperResultUrl", "https://shop.example/back");
    for (shop, checkout, browser) in [(&plain, &[back][..], &[][..]), (&named, &[], &[back])] {
        for (url, got) in answered(shop, checkout, browser).await? {
            assert!(got.leaves(), "{url}: {}", got.text);
            assert!(ask(&url, None).await?.leaves(), "{url}");
        }
    }
    // Where a browser has named the address, the press of the button on the page leads there.
    for (url, got) in answered(&plain, &[], &[back]).await? {
        assert!(got.leaves(), "{url}: {}", got.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_plain_form_leads_by_itself_where_the_merchant_has_said_and_shows_a_link_otherwise() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let (plain, named) = (shop(), gateway.merchant_with(&["--origin", "https://shop.example"])?);
    let back = ("shopperResultUrl", "https://shop.example/back");
    for (shop, checkout, address, leads) in [
        (&plain, &[back][..], EVIL, "https://shop.example/back"),
        (&named, &[], back.1, "https://shop.example/back"),
        (&named, &[], EVIL, ""),
        (&plain, &[], EVIL, ""),
        (&plain, &[], "javascript:alert(1)", ""),
        (&plain, &[], "//evil.example/", ""),
    ] {
        let made = shop.checkout(checkout).await?;
        let url = format!(
            "{}v1/plainForm.html?checkoutId={}&brands=VISA&{}",
            shop.base,
            made.id(),
            form([("shopperResultUrl", address)])
        );
        let sent: Vec<_> =
            CARD.into_iter().chain([("card.expiry", "05 / 34"), ("shopperResultUrl", address)]).collect();
        let got = ask(&url, Some(&sent)).await?;
        assert!(
            got.location.starts_with(leads) && got.location.is_empty() == leads.is_empty(),
            "{address}: {} {}",
            got.location,
            got.text
        );
        assert_eq!(got.leaves(), !leads.is_empty(), "{}", got.text);
        assert!(!got.text.contains("href=\"javascript:") && !got.text.contains("href=\"//"), "{}", got.text);
        assert_eq!(shop.status(made.id()).await?.code(), "000.100.110");
        assert!(ask(&url, None).await?.location.is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn only_the_page_with_the_form_shows_the_pages_of_its_payment_in_a_frame() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let (plain, named) = (shop(), gateway.merchant_with(&["--origin", "https://shop.example"])?);
    let page_of = |origin| [("shopOrigin", origin), ("shopperResultUrl", "https://shop.example/back")];
    let cases = [
        (&plain, "https://shop.example", "https://shop.example"),
        (&plain, "http://shop.localhost:8081", "http://shop.localhost:8081"),
        (&named, "https://shop.example", "https://shop.example"),
        // What is no origin allows nobody, least of all by another directive.
        (&plain, "https://a.example; script-src *", "'none'"),
        (&plain, "*", "'none'"),
        (&plain, "https://*", "'none'"),
        (&plain, "null", "'none'"),
    ];
    for (shop, origin, ancestors) in cases {
        for (url, _) in answered(shop, &[], &page_of(origin)).await? {
            let got = ask(&format!("{url}?inline=true"), None).await?;
            let expected = match (url.contains("threeDSecure"), ancestors) {
                // It has a frame of its own with the method page.
                (true, "'none'") => "'self'".to_owned(),
                (true, origin) => format!("{origin} 'self'"),
                (false, _) => ancestors.to_owned(),
            };
            assert_eq!(got.ancestors(), expected, "{url} {origin}");
            if url.contains("simulator") {
                assert_eq!(ask(&url, None).await?.ancestors(), "'none'", "{url}");
            }
        }
    }
    // A page of a payment that no form made.
    let paid = crate::asynchronous::pay(&plain, "IDEAL", &[]).await?;
    assert_eq!(ask(&format!("{}?inline=true", page(&paid)), None).await?.ancestors(), "'none'");
    Ok(())
}
