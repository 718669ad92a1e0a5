//! The npm package in shops that use it: its components for React and Vue, and its function without a framework.

use serde_json::{Value, json};
use tillgate_tests::card_form::NUMBER_FRAME;
use tillgate_tests::{Browser, run_in_browser};

use crate::APPROVED;
use crate::single_page::{VisitedShop, go_to, run_visits, wait_for_no_form};

/// Shops with a component of the package.
const SHOPS: [&str; 3] = ["npm-react-18", "npm-react-19", "npm-vue"];

#[tokio::test]
async fn a_shop_with_the_package_for_react_18_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("npm-react-18").await
}

#[tokio::test]
async fn a_shop_with_the_package_for_react_19_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("npm-react-19").await
}

#[tokio::test]
async fn a_shop_with_the_package_for_vue_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("npm-vue").await
}

/// The shop's server changes the amount while the shopper fills in the form. What was typed stays, and the callbacks
/// are those of the latest rendering.
async fn change_amount(shop: &VisitedShop, browser: &Browser) -> anyhow::Result<()> {
    let form = shop.open_filled_form(browser).await?;
    let id = shop.checkout(0);
    let updated = shop.fixture.merchant.post(&format!("v1/checkouts/{id}"), &[("amount", "93.00")]).await?;
    assert_eq!(updated.status, 200, "{}", updated.text);
    browser.execute("shop.revise()", vec![]).await?;
    browser.wait_until("wpwl.checkout.amount === '93.00'").await?;
    assert_eq!(form.frame_value(NUMBER_FRAME).await?, "4200 0000 0000 0000");
    form.press_pay_button().await?;
    browser.wait_until("location.search.startsWith('?own=2&')").await?;
    assert_eq!(shop.outcome(0).await?, (1, APPROVED.to_owned()));
    let status = shop.fixture.merchant.read_status(id).await?;
    assert_eq!(status.json["amount"], "93.00");
    assert_eq!(browser.observed_details("ready").await?, ["0 at 0"]);
    assert_eq!(browser.observed_details("submitted").await?, ["0 at 1"]);
    Ok(())
}

/// The shopper leaves for a page without a form before the gateway's response to the submit.
async fn leave_for_cart(shop: &VisitedShop, browser: &Browser) -> anyhow::Result<()> {
    shop.pay_without_response(browser).await?;
    go_to(browser, "cart").await?;
    wait_for_no_form(browser).await?;
    assert_eq!(shop.outcome(0).await?, (1, APPROVED.to_owned()));
    assert!(browser.current_url().await?.as_str().ends_with("cart"));
    let left = "[typeof wpwl, typeof wpwlOptions, document.querySelectorAll('script[src*=paymentWidgets]').length]";
    assert_eq!(browser.evaluate(left).await?, json!(["undefined", "undefined", 0]));
    Ok(())
}

#[tokio::test]
async fn the_components_follow_a_changed_amount_and_leave_in_the_middle_of_a_payment() -> anyhow::Result<()> {
    for name in SHOPS {
        run_in_browser(move |browser| async move {
            change_amount(&VisitedShop::start(name).await?, &browser).await?;
            leave_for_cart(&VisitedShop::start(name).await?, &browser).await?;
            assert_eq!(browser.observed_details("error").await?, Vec::<String>::new(), "{name}");
            assert_eq!(browser.observed_details("failed").await?, Vec::<String>::new(), "{name}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_page_that_requires_trusted_types_names_the_policies_of_package_and_form() -> anyhow::Result<()> {
    run_in_browser(|browser| async move {
        let shop = VisitedShop::start("npm-react-19").await?;
        let trusted = "require-trusted-types-for 'script'; trusted-types tillgate tillgate-npm";
        shop.fixture.site.set_policy(&format!("default-src * 'unsafe-inline' 'unsafe-eval' data:; {trusted}"));
        browser.goto(&shop.address).await?;
        go_to(&browser, "pay/0").await?;
        shop.pay(&browser, 0).await?;
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

/// Steps of a shopper: place, and the checkout whose form is then shown.
const KEPT_PLACES: [(&str, Option<usize>); 6] =
    [("pay/0", Some(0)), ("cart", None), ("pay/0", Some(0)), ("pay/1", Some(1)), ("cart", None), ("pay/1", Some(1))];

#[tokio::test]
async fn a_page_that_vue_keeps_alive_has_its_form_only_while_it_is_shown() -> anyhow::Result<()> {
    run_in_browser(|browser| async move {
        let shop = VisitedShop::start("npm-vue").await?;
        browser.goto(format!("{}?kept", shop.address)).await?;
        for (place, expected) in KEPT_PLACES {
            go_to(&browser, place).await?;
            match expected {
                Some(number) => {
                    shop.wait_for_form(&browser, number).await?;
                }
                None => wait_for_no_form(&browser).await?,
            }
        }
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

/// Calls the function in all orders that a page may choose, and resolves with a list of facts.
const CALLS: &str = r##"
    const [gateway, first, second, integrity, done] = arguments;
    const facts = {}, notes = [];
    const main = document.querySelector("main");
    main.innerHTML = "<div id='a'></div><div id='b'></div>";
    const own = window.wpwlOptions = { locale: "fr" };
    const noteAs = (text) => ({ style: "plain", onReady: () => notes.push(text), onError: ({ name }) => notes.push(name) });
    const settings = { gateway, checkoutId: first, integrity, container: "#a", action: "/result?own=2", brands: ["VISA"] };
    const count = (selector) => document.querySelectorAll(selector).length;
    const left = "[class*=wpwl], iframe, .paymentWidgets, script[src*=paymentWidgets]";
    const outcome = (form) => form.ready.then(() => "ready", ({ name }) => name);
    (async () => {
        const form = load({ ...settings, options: noteAs("early") });
        facts.again = load({ ...settings, options: noteAs("late") }) === form;
        // The page passes the object that it has, and its server updates the checkout before the form is ready.
        load({ ...settings, options: window.wpwlOptions });
        form.refresh();
        facts.first = [await outcome(form), notes.splice(0).join(), count("#a .wpwl-form"), count("script[src*=paymentWidgets]")];
        const moved = load({ ...settings, container: document.getElementById("b"), options: noteAs("moved") });
        form.unload();
        facts.moved = [await outcome(moved), count("#a *"), count("#b .wpwl-form"), notes.splice(0).join()];
        const hasty = load({ ...settings, checkoutId: second });
        hasty.unload();
        facts.hasty = [await outcome(hasty), count(left), typeof wpwl, wpwlOptions === own];
        const wrong = load({ ...settings, integrity: `sha384-${"A".repeat(64)}`, options: noteAs("wrong") });
        facts.wrong = [await outcome(wrong), notes.splice(0).join()];
        wrong.unload();
        main.innerHTML = "<form class='paymentWidgets'></form>";
        const { container, ...others } = settings;
        const page = load(others);
        facts.page = [await outcome(page), count(".wpwl-form"), document.querySelector(".wpwl-button-pay").textContent.trim()];
        page.unload();
        facts.left = count("[class*=wpwl], iframe");
        const last = load({ ...others, checkoutId: second });
        facts.last = [await outcome(last), count(".wpwl-form")];
    })().then(() => done(facts), (error) => done(String(error)));
"##;

#[tokio::test]
async fn the_function_shows_one_form_whatever_calls_come_before_and_leaves_nothing_behind() -> anyhow::Result<()> {
    run_in_browser(|browser| async move {
        let shop = VisitedShop::start("npm-core").await?;
        browser.goto(&shop.address).await?;
        let integrity = shop.fixture.checkout.json["integrity"].clone();
        let arguments = vec![json!(shop.proxy.public), json!(shop.checkout(0)), json!(shop.checkout(1)), integrity];
        let facts: Value = browser.execute_async(CALLS, arguments).await?.json().clone();
        let expected = json!({
            "again": true,
            "first": ["ready", "late", 1, 1],
            "moved": ["ready", 0, 1, "moved"],
            "hasty": ["AbortError", 0, "undefined", true],
            "wrong": ["WidgetError", "WidgetError"],
            "page": ["ready", 1, "Payer"],
            "left": 0,
            "last": ["ready", 1],
        });
        assert_eq!(facts, expected);
        let form = shop.wait_for_form(&browser, 1).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("location.search.startsWith('?own=2&')").await?;
        assert_eq!(shop.outcome(1).await?, (1, APPROVED.to_owned()));
        Ok(())
    })
    .await
}
