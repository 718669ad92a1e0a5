//! Data that never reaches the merchant, and requirements for the merchant's content security policy.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, TestDemoShop, TestGateway, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

const NUMBER: &str = "377777777777770";
const CODE: &str = "7394";

/// Asserts that `text` contains neither the number, with any separators, nor the code as a word.
fn expect_no_card_data(place: &str, text: &str) {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    assert!(!digits.contains(NUMBER), "the number is in {place}: {text}");
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    assert!(!words.into_iter().any(|word| word == CODE), "the code is in {place}: {text}");
}

/// Asserts that neither the page's document nor its globals and storage, as deep as a merchant's script can read,
/// contain card data.
async fn check_page_data(browser: &Browser, when: &str) -> anyhow::Result<()> {
    let dom = browser.evaluate("witness.dom()").await?;
    expect_no_card_data(&format!("the page {when}"), dom.as_str().unwrap_or_default());
    // Every global of the page, as deep as a merchant's script can read.
    let globals = browser
        .evaluate(
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
    expect_no_card_data(&format!("the page's objects {when}"), globals.as_str().unwrap_or_default());
    Ok(())
}

#[tokio::test]
async fn card_data_is_nowhere_in_the_merchants_page_messages_or_network() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { brandDetection: true, brandList: true };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.select_brand("AMEX").await?;
        form.enter_number(NUMBER).await?;
        form.enter_expiry("12 / 33").await?;
        form.enter_holder("Jane Jones").await?;
        form.enter_security_code("739").await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cvvError").await?;
        // The frames answer yes or no about what is typed, and nothing else.
        let told =
            "witness.all().filter(it => it.kind === 'message' && /field: card\\./.test(it.detail)).map(it => it.detail)
            .flatMap(it => [...it.matchAll(/(empty|known|complete|valid|optional|whole|past): (\\w*)/g)])
            .filter(([, , value]) => !/^(true|false|undefined)$/.test(value)).map(([pair]) => pair).join()";
        assert_eq!(browser.evaluate(told).await?, "");
        check_page_data(&browser, "with an error").await?;
        form.enter_security_code("4").await?;
        check_page_data(&browser, "filled in").await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.read_result_code().await?, APPROVED, "the payment itself went through with this number");
        check_page_data(&browser, "of the result").await?;

        let seen = browser.observations().await?;
        assert!(seen.iter().any(|it| it.kind == "message"), "the witness hears messages");
        for it in &seen {
            expect_no_card_data(&it.kind, &it.detail);
        }
        let heard = stage.site.received_requests();
        assert!(heard.iter().any(|it| it.starts_with("GET /result")));
        for request in &heard {
            expect_no_card_data("a request to the merchant", request);
        }
        for line in stage.gateway.read_log().lines() {
            // The duration at the end of a line may be any number, including the code.
            expect_no_card_data("the gateway's log", line.split(r#","microseconds":"#).next().unwrap_or(line));
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_witness_of_these_tests_would_see_a_leak() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        CardForm::wait_until_ready(&browser).await?;
        let leak = format!(
            "const channel = new MessageChannel();
             channel.port1.onmessage = event => {{ const read = event.data; }};
             channel.port2.postMessage({{ deep: ['{NUMBER}'] }});
             postMessage('{CODE}', '*');
             document.querySelector('.wpwl-control-cardHolder').value = '3777 777777 77770';"
        );
        browser.execute(leak, vec![]).await?;
        browser
            .wait_until(&format!("witness.all().some(it => it.kind === 'message' && it.detail.includes('{NUMBER}'))"))
            .await?;
        browser
            .wait_until(&format!("witness.all().some(it => it.kind === 'message' && it.detail === '{CODE}')"))
            .await?;
        let dom = browser.evaluate("witness.dom()").await?;
        let caught = std::panic::catch_unwind(|| expect_no_card_data("", dom.as_str().unwrap_or_default()));
        assert!(caught.is_err(), "a number in a field is found");

        // The test would also detect a page that loads more than its policy permits.
        browser.execute("new Image().src = 'http://elsewhere.localhost/x.png'", vec![]).await?;
        let violation = browser.wait_for_observation("violation").await?;
        assert!(violation.starts_with("img-src http://elsewhere.localhost/x.png"), "{violation}");
        assert!(browser.console_warnings().await?.iter().any(|it| it.contains("Content Security Policy")));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_strict_policy_is_not_violated_and_the_console_stays_silent() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        for query in ["", "?style=plain", "?style=none&brandDetection=1", "?lang=de&dark=1"] {
            let form = demo.open_card_form(&browser, query, "approve").await?;
            form.press_pay_button().await?;
            form.wait_for_hint("cardNumberError").await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid", "{query}");
        }
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        assert_eq!(browser.console_warnings().await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_gateways_frames_are_another_site_and_closed_to_the_merchants_page() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        for class in ["wpwl-control-cardNumber", "wpwl-control-cvv"] {
            let frame = form.find_element(&format!("iframe.{class}")).await?;
            let source = frame.attr("src").await?.unwrap_or_default();
            assert!(source.starts_with(&stage.gateway.public_url()), "{source}");
            let open = format!(
                "(() => {{ try {{ return !!document.querySelector('iframe.{class}').contentWindow.document; }}
                   catch (error) {{ return error.name; }} }})()"
            );
            assert_eq!(browser.evaluate(&open).await?, "SecurityError");
        }
        Ok(())
    })
    .await
}
