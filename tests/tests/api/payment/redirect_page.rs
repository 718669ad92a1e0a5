//! The page of `redirect.url`: its content and address, the answers that it takes, and the way back to the shop.

use reqwest::Method;
use tillgate_tests::{ApiResponse, TestGateway};

use crate::payment::asynchronous::{pay_by_brand, press_button, read_text, redirect_url, submit_pending};
use crate::support::*;

#[tokio::test]
async fn the_page_says_what_is_paid_to_whom_and_works_without_scripts() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let fields =
        [("merchantTransactionId", "order-4711"), ("shopperResultUrl", r#"https://shop.example/"><script>'&x=1"#)];
    let made = shop.create_checkout(&fields).await?;
    let page = submit_pending(&shop, made.id(), "PAYPAL").await?;
    let shown = shop.client.get(&page).send().await?;
    let header =
        |name: &str| shown.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert_eq!(header("content-type"), "text/html; charset=utf-8");
    let policy = header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(
        policy.ends_with(
            "'; script-src 'self'; form-action 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "{policy}"
    );
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("integrity-policy", "blocked-destinations=(script)"),
    ] {
        assert_eq!(header(name), value, "{name}");
    }
    let text = read_text(shown, 200).await?;
    for words in [
        "<h1>Pay 92.00 EUR with PayPal</h1>",
        "<dt>To</dt><dd>Kiln &amp; Tide</dd>",
        "<dt>Amount</dt><dd>92.00 EUR</dd>",
        "<dt>Reference</dt><dd>order-4711</dd>",
        r#"<form method="post"><button name="answer" value="success">Pay 92.00 EUR</button>"#,
        "This is a simulation in place of the page of PayPal. No money moves.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let transfer = read_text(
        shop.client.get(self::redirect_url(&pay_by_brand(&shop, "PREPAYMENT", &[]).await?)).send().await?,
        200,
    )
    .await?;
    assert!(transfer.contains("<dt>Account</dt><dd>Tillgate Simulator<br>DE23100000001234567890<br>"), "{transfer}");
    assert!(text.matches("<script").count() == 1 && !text.contains("shop.example"), "{text}");
    assert!(text.contains(r#"<script src="../simulator.js" integrity="sha384-"#), "{text}");
    assert!(text.contains(r#" crossorigin="anonymous" data-visit=""#), "{text}");
    // Markup in the shop's address is escaped.
    let left = read_text(press_button(&shop, &page, "cancel").await?, 200).await?;
    assert!(left.contains("https://shop.example/&quot;&gt;&lt;script&gt;"), "{left}");
    let script = shop.bare_request(Method::GET, "v1/simulator.js").send().await?;
    assert_eq!(script.headers()["content-type"], "text/javascript; charset=utf-8");
    // Its hash is checked also where the page is in a sandbox, and so of no origin.
    assert_eq!(script.headers()["access-control-allow-origin"], "*");
    assert!(read_text(script, 200).await?.contains("close()"));
    Ok(())
}

#[tokio::test]
async fn a_form_learns_that_its_shopper_has_left_the_page_until_the_page_is_visited_again_or_answered()
-> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/back")]).await?;
    let page = submit_pending(&shop, made.id(), "PAYPAL").await?;
    let read_state = async || -> anyhow::Result<String> {
        let path = format!("v1/checkouts/{}/state", made.id());
        let answer = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
        Ok(answer.json["checkoutState"].as_str().unwrap_or_default().to_owned())
    };
    let visit = async || -> anyhow::Result<String> {
        let text = read_text(shop.client.get(&page).send().await?, 200).await?;
        let number = text.split_once("data-visit=\"").and_then(|(_, rest)| rest.split_once('"'));
        Ok(number.map(|(number, _)| number.to_owned()).unwrap_or_default())
    };
    let leave = async |visit: &str, site: &'static str| -> anyhow::Result<u16> {
        let request = shop.client.post(&page).header("content-type", "application/x-www-form-urlencoded");
        Ok(request.header("sec-fetch-site", site).body(format!("left={visit}")).send().await?.status().as_u16())
    };
    assert_eq!(read_state().await?, "PENDING");
    let first = visit().await?;
    // Another site reports nothing, and what is no visit changes nothing.
    assert_eq!((leave(&first, "cross-site").await?, read_state().await?.as_str()), (200, "PENDING"));
    for other in ["true", "", "-1", "99999999999999999999999", "0"] {
        assert!([200, 204].contains(&leave(other, "same-origin").await?), "{other}");
        assert_eq!(read_state().await?, "PENDING", "{other}");
    }
    // A page that is loaded again reports the end of its earlier visit afterwards.
    let second = visit().await?;
    assert_eq!((leave(&first, "same-origin").await?, read_state().await?.as_str()), (204, "PENDING"));
    assert_eq!((leave(&second, "same-origin").await?, read_state().await?.as_str()), (204, "LEFT"));
    // The merchant's server reads the state of the payment alone.
    assert_eq!(shop.read_status(made.id()).await?.json["checkoutState"], "PENDING");
    let third = visit().await?;
    assert_eq!(read_state().await?, "PENDING");
    assert_eq!((leave(&third, "same-origin").await?, read_state().await?.as_str()), (204, "LEFT"));
    read_text(press_button(&shop, &page, "success").await?, 200).await?;
    assert_eq!(read_state().await?, "PAID");
    // A report that comes late changes nothing.
    assert_eq!((leave(&third, "same-origin").await?, read_state().await?.as_str()), (204, "PAID"));
    Ok(())
}

#[tokio::test]
async fn a_page_is_found_by_its_own_address_alone() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (paid, card) = (pay_by_brand(&shop, "PAYPAL", &[]).await?, shop.pay_by_card(&[]).await?);
    let own = redirect_url(&paid).rsplit('/').next().unwrap_or_default().to_owned();
    let other = format!("{}{}", &own[..43], if own.ends_with('0') { "1" } else { "0" });
    for id in [card.id(), paid.id(), &other, &own.to_uppercase(), "8a0123456789abcdef0123456789abcd", "x", "%00"] {
        let address = format!("{}v1/simulator/{id}", shop.base);
        for response in [shop.client.get(&address).send().await?, press_button(&shop, &address, "success").await?] {
            assert!(read_text(response, 404).await?.contains("There is no payment here"), "{id}");
        }
    }
    assert_result(&shop.get(&format!("v1/payments/{}", paid.id())).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_read_as_an_answer_decides_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = pay_by_brand(&shop, "PAYPAL", &[]).await?;
    let page = redirect_url(&paid);
    let post = |kind: &'static str, body: &'static str| shop.client.post(&page).header("content-type", kind).body(body);
    for (kind, body, status) in [
        ("application/x-www-form-urlencoded", "", 200),
        ("application/x-www-form-urlencoded", "answer=SUCCESS", 200),
        ("application/x-www-form-urlencoded", "answer=%ff", 400),
        ("application/json", r#"{"answer":"success"}"#, 400),
    ] {
        let text = read_text(post(kind, body).send().await?, status).await?;
        assert_eq!(text.contains("Pay 92.00 EUR with PayPal"), status == 200, "{text}");
    }
    // All responses are HTML pages, also according to the OpenAPI document.
    let description = ApiResponse::read_from(shop.bare_request(Method::GET, "openapi.json").send().await?).await?.json;
    for status in ["200", "400", "404", "409"] {
        let content = &description["paths"]["/v1/simulator/{id}"]["post"]["responses"][status]["content"];
        assert_eq!(member_names(content), ["text/html"], "{status}");
    }
    assert_result(&shop.get(&format!("v1/payments/{}", paid.id())).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn addresses_that_lead_elsewhere_than_they_say_are_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for name in ["shopperResultUrl", "notificationUrl"] {
        let long = format!("https://shop.example/{}", "a".repeat(2028));
        for address in [
            "http:",
            "javascript:alert(1)",
            "data:text/html,x",
            "//shop.example/back",
            "/back",
            "https://jane@shop.example/",
            "https://shop.example:443@evil.example/",
            r"https://shop.example\@evil.example/",
            "https://shop.example/\r\nSet-Cookie: x=1",
            "https://shop.example/\u{0}",
            "https://shop.example/ x",
            long.as_str(),
        ] {
            let fields = [("paymentBrand", "PAYPAL"), ("paymentType", "DB"), ("amount", "92.00"), ("currency", "EUR")];
            let paid = shop.post("v1/payments", &[&fields[..], &[(name, address)]].concat()).await?;
            assert!(paid.invalid_parameters().contains(&name), "{address:?}: {}", paid.text);
            assert_errors(&shop.create_checkout(&[(name, address)]).await?, &[name]);
        }
        let longest = format!("https://shop.example/{}", "a".repeat(2027));
        for address in ["http://a", "https://shop.example/@jane?x=a@b", longest.as_str()] {
            assert_result(&shop.create_checkout(&[(name, address)]).await?, 200, "000.200.100");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_names_the_way_back_to_the_merchants_own_pages_only() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop =
        gateway.create_merchant_with(&["--origin", "https://shop.example", "--origin", "http://localhost:8080"])?;
    let by_browser = async |address: &str| {
        let made = shop.create_checkout(&[]).await?;
        shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL"), ("shopperResultUrl", address)]).await
    };
    for address in ["https://shop.example/back", "http://localhost:8080/?x"] {
        assert_result(&by_browser(address).await?, 200, "000.200.000");
    }
    for address in ["https://evil.example/", "https://shop.example.evil.example/", "http://shop.example/"] {
        assert_errors(&by_browser(address).await?, &["shopperResultUrl"]);
    }
    // An address that the merchant's server sends needs no such check.
    let made = shop.create_checkout(&[("shopperResultUrl", "https://app.example/back")]).await?;
    submit_pending(&shop, made.id(), "PAYPAL").await?;
    Ok(())
}
