//! What never reaches the merchant, and what the form asks of the merchant's policy.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, DemoShop, Gateway, browse};

use crate::{APPROVED, Stage};

const NUMBER: &str = "377777777777770";
const CODE: &str = "7394";

/// Fails when the number (whatever stands between its digits) or the code (as a word) is in `text`.
fn expect_clean(place: &str, text: &str) {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    assert!(!digits.contains(NUMBER), "the number is in {place}: {text}");
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    assert!(!words.into_iter().any(|word| word == CODE), "the code is in {place}: {text}");
}

async fn search_page(browser: &Browser, when: &str) -> anyhow::Result<()> {
    let dom = browser.value("witness.dom()").await?;
    expect_clean(&format!("the page {when}"), dom.as_str().unwrap_or_default());
    // Every global of the page, as deep as a merchant's script can reach without a key.
    let globals = browser
        .value(
            "(() => { const texts = []; const met = new Set();
               (function walk(it, depth) {
                 if (typeof it === 'string' || typeof it === 'number') return texts.push(String(it));
                 if (!it || typeof it !== 'object' || met.has(it) || depth > 6) return;
                 met.add(it);
                 for (const key of Object.keys(it)) { try { walk(it[key], depth + 1); } catch { /* another origin */ } }
               })({ wpwl: window.wpwl, options: window.wpwlOptions, storage: { ...localStorage, ...sessionStorage } }, 0);
               return texts.join('\\n'); })()",
        )
        .await?;
    expect_clean(&format!("the page's objects {when}"), globals.as_str().unwrap_or_default());
    Ok(())
}

#[tokio::test]
async fn card_data_is_nowhere_in_the_merchants_page_messages_or_network() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { brandDetection: true };")).await?;
        let form = CardForm::ready(&browser).await?;
        form.brand("AMEX").await?;
        form.number(NUMBER).await?;
        form.expiry("12 / 33").await?;
        form.holder("Jane Jones").await?;
        form.code("739").await?;
        form.pay().await?;
        form.hint("cvvError").await?;
        search_page(&browser, "with an error").await?;
        form.code("4").await?;
        search_page(&browser, "filled in").await?;
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.code().await?, APPROVED, "the payment itself went through with this number");
        search_page(&browser, "of the result").await?;

        let seen = browser.seen().await?;
        assert!(seen.iter().any(|it| it.kind == "message"), "the witness hears messages");
        for it in &seen {
            expect_clean(&it.kind, &it.detail);
        }
        let heard = stage.site.heard();
        assert!(heard.iter().any(|it| it.starts_with("GET /result")));
        for request in &heard {
            expect_clean("a request to the merchant", request);
        }
        for line in stage.gateway.log().lines() {
            // How long something took, at the end, may be any number, also that of the code.
            expect_clean("the gateway's log", line.split(r#","microseconds":"#).next().unwrap_or(line));
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_witness_of_these_tests_would_see_a_leak() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        CardForm::ready(&browser).await?;
        let leak = format!(
            "const channel = new MessageChannel();
             channel.port1.onmessage = event => {{ const read = event.data; }};
             channel.port2.postMessage({{ deep: ['{NUMBER}'] }});
             postMessage('{CODE}', '*');
             document.querySelector('.wpwl-control-cardHolder').value = '3777 777777 77770';"
        );
        browser.execute(leak, vec![]).await?;
        browser
            .until(&format!("witness.all().some(it => it.kind === 'message' && it.detail.includes('{NUMBER}'))"))
            .await?;
        browser.until(&format!("witness.all().some(it => it.kind === 'message' && it.detail === '{CODE}')")).await?;
        let dom = browser.value("witness.dom()").await?;
        let caught = std::panic::catch_unwind(|| expect_clean("", dom.as_str().unwrap_or_default()));
        assert!(caught.is_err(), "a number in a field is found");

        // And it would see a page that asks for more than its policy grants.
        browser.execute("new Image().src = 'http://elsewhere.localhost/x.png'", vec![]).await?;
        let violation = browser.until_seen("violation").await?;
        assert!(violation.starts_with("img-src http://elsewhere.localhost/x.png"), "{violation}");
        assert!(browser.complaints().await?.iter().any(|it| it.contains("Content Security Policy")));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_strict_policy_is_not_violated_and_the_console_stays_silent() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        for query in ["", "?style=plain", "?style=none&brandDetection=1", "?lang=de&dark=1"] {
            let form = demo.to_checkout(&browser, query, "approve").await?;
            form.pay().await?;
            form.hint("cardNumberError").await?;
            form.fill().await?;
            form.pay().await?;
            assert_eq!(DemoShop::outcome(&browser).await?, "paid", "{query}");
        }
        assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
        assert_eq!(browser.seen_of("error").await?, Vec::<String>::new());
        assert_eq!(browser.complaints().await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_gateways_frames_are_another_site_and_closed_to_the_merchants_page() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        for class in ["wpwl-control-cardNumber", "wpwl-control-cvv"] {
            let frame = form.find(&format!("iframe.{class}")).await?;
            let source = frame.attr("src").await?.unwrap_or_default();
            assert!(source.starts_with(&stage.gateway.public()), "{source}");
            let open = format!(
                "(() => {{ try {{ return !!document.querySelector('iframe.{class}').contentWindow.document; }}
                   catch (error) {{ return error.name; }} }})()"
            );
            assert_eq!(browser.value(&open).await?, "SecurityError");
        }
        Ok(())
    })
    .await
}
