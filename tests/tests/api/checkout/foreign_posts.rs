//! Forms of other sites that post themselves to pages of the gateway: they press no button there, and lead a shopper
//! nowhere. A shopper's own press still counts.

use reqwest::redirect::Policy;
use tillgate_api::reference::{BrowserAccess, HttpMethod, ROUTES, ResponseContent};
use tillgate_tests::{CARD, MerchantClient, TestGateway, encode_form};

use crate::payment::asynchronous::redirect_url;

/// An address that only a browser has sent.
const EVIL: &str = "https://evil.example/trap";
/// Headers of a form that a page of another site posts, in browsers with and without Fetch Metadata.
const FOREIGN: [&[(&str, &str)]; 6] = [
    &[("sec-fetch-site", "cross-site"), ("origin", "https://attacker.example")],
    &[("sec-fetch-site", "cross-site"), ("origin", "null")],
    &[("sec-fetch-site", "same-site"), ("origin", "https://shop.localhost")],
    &[("sec-fetch-site", "none")],
    &[("origin", "https://attacker.example")],
    &[("origin", "")],
];
/// Headers of the page's own form.
const OWN: &[(&str, &str)] = &[("sec-fetch-site", "same-origin"), ("origin", "null")];

/// A page with a form of its own: its address, and the fields of a press that ends the payment.
struct PressedPage {
    address: String,
    fields: Vec<(String, String)>,
    checkout: String,
}

/// Posts fields with these headers. Returns status, `Location` and text.
async fn post_form(
    address: &str,
    fields: &[(String, String)],
    headers: &[(&str, &str)],
) -> anyhow::Result<(u16, String, String)> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let pairs = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let request = client.post(address).header("content-type", "application/x-www-form-urlencoded");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let answer = request.body(encode_form(pairs)).send().await?;
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or_default();
    Ok((answer.status().as_u16(), location.to_owned(), answer.text().await?))
}

fn owned(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Makes a page of each kind that acts on a POST, with an address of the shop that only the browser has sent.
async fn make_pages(shop: &MerchantClient) -> anyhow::Result<Vec<PressedPage>> {
    let mut pages = Vec::new();
    for brand in ["IDEAL", "PAYPAL"] {
        let made = shop.create_checkout(&[]).await?;
        let submitted = shop.submit_card(made.id(), &[("paymentBrand", brand), ("shopperResultUrl", EVIL)]).await?;
        let (address, checkout) = (redirect_url(&submitted), made.id().to_owned());
        pages.push(PressedPage { address, fields: owned(&[("answer", "success")]), checkout });
    }
    let made = shop.create_checkout(&[]).await?;
    let challenged = [("card.number", "4200000000000018"), ("shopperResultUrl", EVIL)];
    let submitted = shop.submit_card(made.id(), &challenged).await?;
    let address = redirect_url(&submitted);
    let page = reqwest::get(&address).await?.text().await?;
    let transaction = crate::three_ds::challenge_transaction(&page).to_owned();
    let fields = owned(&[("transaction", &transaction), ("returnCode", "000.100.110")]);
    pages.push(PressedPage { address, fields, checkout: made.id().to_owned() });
    let made = shop.create_checkout(&[]).await?;
    let address = format!("{}v1/plainForm.html?checkoutId={}&brands=VISA", shop.base, made.id());
    let typed =
        [&CARD[..2], &[("card.expiry", "05 / 34"), ("card.holder", "Jane Jones"), ("card.cvv", "123")]].concat();
    pages.push(PressedPage { address, fields: owned(&typed), checkout: made.id().to_owned() });
    Ok(pages)
}

#[test]
fn every_page_that_takes_a_post_drops_the_fields_of_other_sites() {
    let pages: Vec<_> =
        ROUTES.iter().filter(|row| row.method == HttpMethod::Post && row.body == ResponseContent::Html).collect();
    assert!(pages.len() >= 5, "{}", pages.len());
    for row in pages {
        assert_eq!(row.browser_access, BrowserAccess::Visits, "{}", row.path);
    }
}

#[tokio::test]
async fn a_form_of_another_site_presses_no_button_and_leads_nowhere() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--3d", "when-enrolled"])?;
    for page in make_pages(&shop).await? {
        let before = shop.read_status(&page.checkout).await?;
        for headers in FOREIGN {
            let (status, location, text) = post_form(&page.address, &page.fields, headers).await?;
            assert!(matches!(status, 200 | 400) && location.is_empty(), "{} {headers:?}: {text}", page.address);
            let leads_away = ["http-equiv=\"refresh\"", "data-close", "id=\"back\""];
            assert!(leads_away.iter().all(|part| !text.contains(part)), "{} {headers:?}: {text}", page.address);
            // The page offers its own form.
            assert!(text.contains("<form"), "{} {headers:?}: {text}", page.address);
            let after = shop.read_status(&page.checkout).await?;
            assert_eq!(after.result_code(), before.result_code(), "{} {headers:?}", page.address);
            assert_eq!(after.json["checkoutState"], before.json["checkoutState"], "{} {headers:?}", page.address);
        }
        post_form(&page.address, &page.fields, OWN).await?;
        let paid = shop.read_status(&page.checkout).await?;
        assert_eq!(
            (paid.result_code(), paid.json["checkoutState"].as_str()),
            ("000.100.110", Some("PAID")),
            "{}",
            paid.text
        );
        // The end of the payment leads to an address of the browser only by a press on the page itself.
        for headers in FOREIGN {
            let (_, location, text) = post_form(&page.address, &page.fields, headers).await?;
            let leads_away = ["http-equiv=\"refresh\"", "data-close", "data-auto"];
            assert!(location.is_empty() && leads_away.iter().all(|part| !text.contains(part)), "{headers:?}: {text}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_form_of_another_site_gets_no_token_of_a_wallet() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    let checkout = shop.create_checkout(&[]).await?;
    let address = format!("{}v1/simulator/wallet/{}?brand=APPLEPAY&form=n0nce", shop.base, checkout.id());
    for headers in FOREIGN {
        let (status, _, text) = post_form(&address, &owned(&[("card", "0")]), headers).await?;
        assert!(
            status == 200 && !text.contains("id=\"token\"") && text.contains("name=\"card\""),
            "{headers:?}: {text}"
        );
    }
    let (_, _, text) = post_form(&address, &owned(&[("card", "0")]), OWN).await?;
    assert!(text.contains("id=\"token\""), "{text}");
    Ok(())
}
