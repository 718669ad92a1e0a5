//! Shops that show one checkout after another without loading a page. Whatever they do, only the checkout whose script
//! came last can be paid, and the form in the page is the form of that checkout.

use anyhow::Context as _;
use serde_json::{Value, json};
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{ApiResponse, Browser, MerchantSite, Proxy, ProxyFault, run_in_browser};

use crate::lost_responses::fixture_behind_proxy;
use crate::{APPROVED, CheckoutFixture, PENDING};

/// The part that all shops share.
const SHARED: &str = include_str!("shops/shop.js");

/// Makes of a shop: the way in which it changes its pages.
#[derive(Debug, Clone, Copy)]
enum Make {
    /// One page, whose script shows what the fragment of the address names.
    Script(&'static str),
    /// The same with a framework, in a bundle of this name.
    Bundle(&'static str),
    /// Pages of a server. A library, at this address, puts each into the place of the one before.
    Pages(&'static str),
}

/// The shops: name and make.
const SHOPS: [(&str, Make); 11] = [
    ("swap", Make::Script(include_str!("shops/swap.js"))),
    ("react-18", Make::Bundle("react-18.js")),
    ("react-19", Make::Bundle("react-19.js")),
    ("vue", Make::Bundle("vue.js")),
    ("angular", Make::Bundle("angular.js")),
    ("npm-core", Make::Bundle("npm-core.js")),
    ("npm-react-18", Make::Bundle("npm-react-18.js")),
    ("npm-react-19", Make::Bundle("npm-react-19.js")),
    ("npm-vue", Make::Bundle("npm-vue.js")),
    ("turbo", Make::Pages("/turbo.js")),
    ("htmx", Make::Pages("/htmx.js")),
];

/// A shop with two checkouts, over 92.00 and 17.00.
pub struct VisitedShop {
    pub fixture: CheckoutFixture,
    second: ApiResponse,
    pub proxy: Proxy,
    pub address: String,
    /// True if scripts run in the order in which they were inserted, however late they come.
    keeps_order: bool,
}

impl VisitedShop {
    /// Starts a shop of this name. Its browsers reach the gateway through a proxy.
    pub async fn start(name: &str) -> anyhow::Result<Self> {
        let (fixture, proxy) = fixture_behind_proxy(&format!("single-page-{name}")).await?;
        let second = fixture.merchant.create_checkout(&[("amount", "17.00")]).await?;
        let site = &fixture.site;
        site.set_policy("default-src * 'unsafe-inline' 'unsafe-eval' data:");
        let ids = [fixture.checkout.id(), second.id()];
        site.add_file("/shop.js", "text/javascript", &render_config(&proxy, &ids, 0));
        let (_, make) = SHOPS.iter().find(|(known, _)| *known == name).copied().context("no such shop")?;
        let address = match make {
            Make::Script(script) => add_application(site, script),
            Make::Bundle(bundle) => {
                let folder = std::env::var_os("TILLGATE_SHOPS").context("no bundles")?;
                add_application(site, &std::fs::read_to_string(std::path::Path::new(&folder).join(bundle))?)
            }
            Make::Pages(library) => add_pages(site, library, &proxy, &ids),
        };
        Ok(Self { fixture, second, proxy, address, keeps_order: matches!(make, Make::Pages(_)) })
    }

    /// Returns the id of the first or second checkout.
    pub fn checkout(&self, number: usize) -> &str {
        if number == 0 { self.fixture.checkout.id() } else { self.second.id() }
    }

    /// Returns the end of the address of a checkout's script.
    fn script(&self, number: usize) -> String {
        format!("paymentWidgets.js?checkoutId={}", self.checkout(number))
    }

    /// Returns the number of submits and the result code of a checkout.
    pub async fn outcome(&self, number: usize) -> anyhow::Result<(usize, String)> {
        let id = self.checkout(number);
        let status = self.fixture.merchant.read_status(id).await?;
        Ok((self.fixture.gateway.submit_count(id), status.result_code().to_owned()))
    }

    /// Waits for the form of a checkout, and asserts that nothing of another one is in the page.
    pub async fn wait_for_form<'a>(&self, browser: &'a Browser, number: usize) -> anyhow::Result<CardForm<'a>> {
        let id = self.checkout(number);
        browser.wait_until(&format!("window.wpwl && wpwl.checkout && wpwl.checkout.id === '{id}'")).await?;
        browser.wait_until("document.querySelectorAll('.wpwl-container').length === 1").await?;
        let form = CardForm::wait_until_ready(browser).await?;
        assert_eq!(list_checkouts(browser).await?, json!([id]));
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-form').length").await?, 1);
        Ok(form)
    }

    /// Opens the shop, goes to the first checkout and fills in its form.
    pub async fn open_filled_form<'a>(&self, browser: &'a Browser) -> anyhow::Result<CardForm<'a>> {
        browser.goto(&self.address).await?;
        go_to(browser, "pay/0").await?;
        let form = self.wait_for_form(browser, 0).await?;
        form.fill_fields().await?;
        Ok(form)
    }

    /// Submits the first checkout, whose response does not come, and waits until the gateway has the request.
    pub async fn pay_without_response(&self, browser: &Browser) -> anyhow::Result<()> {
        self.proxy.schedule_fault("POST", &format!("{}/payment", self.checkout(0)), ProxyFault::ResponseDropped);
        self.open_filled_form(browser).await?.press_pay_button().await?;
        self.proxy.wait_for_faults(1).await
    }

    /// Pays a checkout in its form, and asserts that it is the only one that was paid.
    pub async fn pay(&self, browser: &Browser, number: usize) -> anyhow::Result<()> {
        let form = self.wait_for_form(browser, number).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("location.search.startsWith('?own=2&')").await?;
        assert_eq!(self.outcome(number).await?, (1, APPROVED.to_owned()));
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        Ok(())
    }
}

/// Renders the script of a shop with these checkouts. `pause` is the time that the creation of a checkout takes, in
/// milliseconds.
fn render_config(proxy: &Proxy, checkouts: &[&str], pause: u32) -> String {
    let config = json!({ "gateway": proxy.public, "checkouts": checkouts, "pause": pause });
    format!("window.shop = {config};\n{SHARED}")
}

/// Adds the page of a shop with this script, and returns its address.
fn add_application(site: &MerchantSite, script: &str) -> String {
    site.add_file("/app.js", "text/javascript", script);
    site.add_file("/shop", HTML, &render_page("", "#/", "<main></main><script src=\"/app.js\"></script>"))
}

/// Adds the pages of a shop with this library, and returns the address of the first.
fn add_pages(site: &MerchantSite, library: &str, proxy: &Proxy, checkouts: &[&str]) -> String {
    for (number, id) in checkouts.iter().enumerate() {
        let script = format!("<script src=\"{}v1/paymentWidgets.js?checkoutId={id}\"></script>", proxy.public);
        let form = "<form class=\"paymentWidgets\" action=\"/result?own=2\" data-brands=\"VISA MASTER\"></form>";
        let content = format!("<main><h1>Pay</h1>{form}{script}</main>");
        site.add_file(&format!("/shop/pay/{number}"), HTML, &render_page(library, "/shop/", &content));
    }
    site.add_file("/shop/cart", HTML, &render_page(library, "/shop/", "<main><h1>Cart</h1></main>"))
}

/// Media type of pages.
const HTML: &str = "text/html; charset=utf-8";

/// Renders a page with a library, links to the places under this address, and this content.
fn render_page(library: &str, links: &str, content: &str) -> String {
    let library = if library.is_empty() { String::new() } else { format!("<script src=\"{library}\"></script>") };
    let links =
        ["cart", "pay/0", "pay/1", "new"].map(|place| format!("<a href=\"{links}{place}\">{place}</a> ")).concat();
    format!(
        r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title>
<link rel="icon" href="data:,"><script src="/shop.js"></script>{library}</head>
<body hx-boost="true"><nav>{links}</nav>{content}</body></html>"#
    )
}

/// Lists the checkouts that frames of the page belong to.
async fn list_checkouts(browser: &Browser) -> anyhow::Result<Value> {
    let ids = "[...new Set([...document.querySelectorAll('iframe')].map(it => /checkoutId=([^&]*)/.exec(it.src)).filter(Boolean).map(it => it[1]))]";
    browser.evaluate(ids).await
}

/// Waits until the page has no form and no frame of any checkout.
pub async fn wait_for_no_form(browser: &Browser) -> anyhow::Result<()> {
    browser.wait_until("!document.querySelector('.wpwl-container, .wpwl-form, iframe[src*=checkoutId]')").await
}

/// Clicks the link to a place of the shop. The link may be replaced by another one at any time.
pub async fn go_to(browser: &Browser, place: &str) -> anyhow::Result<()> {
    let link = format!("document.querySelector(`nav a[href$='{place}']`)");
    // A link that htmx has not yet taken over would load a page.
    let is_ready = format!("{link} && (!window.htmx || {link}['htmx-internal-data']?.boosted)");
    browser.wait_until(&is_ready).await?;
    browser.execute(format!("{link}.click()"), vec![]).await?;
    Ok(())
}

/// A step of a shopper.
#[derive(Debug, Clone, Copy)]
enum ShopperStep {
    /// Follows the link to a place.
    Go(&'static str),
    /// Presses the browser's back button.
    Back,
}

/// A visit: each step with the checkout whose form the page then shows.
const VISIT: [(ShopperStep, Option<usize>); 8] = [
    (ShopperStep::Go("cart"), None),
    (ShopperStep::Go("pay/0"), Some(0)),
    (ShopperStep::Go("cart"), None),
    (ShopperStep::Go("pay/1"), Some(1)),
    (ShopperStep::Back, None),
    (ShopperStep::Back, Some(0)),
    // From one checkout to the other, without a page between them.
    (ShopperStep::Go("pay/1"), Some(1)),
    (ShopperStep::Back, Some(0)),
];

async fn visit(shop: &VisitedShop, browser: &Browser) -> anyhow::Result<()> {
    browser.goto(&shop.address).await?;
    for (step, expected) in VISIT {
        match step {
            ShopperStep::Go(place) => go_to(browser, place).await?,
            ShopperStep::Back => browser.back().await?,
        }
        match expected {
            Some(number) => {
                shop.wait_for_form(browser, number).await?;
            }
            None => wait_for_no_form(browser).await?,
        }
    }
    go_to(browser, "pay/1").await?;
    shop.pay(browser, 1).await?;
    assert_eq!(shop.outcome(0).await?, (0, PENDING.to_owned()));
    Ok(())
}

/// The script of the second checkout is on its way. Meanwhile nothing can be paid.
async fn wait_for_late_script(shop: &VisitedShop, browser: &Browser) -> anyhow::Result<()> {
    shop.proxy.delay_responses(&shop.script(1));
    browser.goto(&shop.address).await?;
    go_to(browser, "pay/0").await?;
    shop.wait_for_form(browser, 0).await?.fill_fields().await?;
    go_to(browser, "pay/1").await?;
    shop.proxy.wait_for_delayed_response(&shop.script(1)).await?;
    wait_for_no_form(browser).await?;
    shop.proxy.release_responses(&shop.script(1));
    shop.pay(browser, 1).await?;
    assert_eq!(shop.outcome(0).await?, (0, PENDING.to_owned()));
    Ok(())
}

/// The script of the first checkout arrives after the script of the second one.
async fn swap_order_of_scripts(shop: &VisitedShop, browser: &Browser) -> anyhow::Result<()> {
    shop.proxy.delay_responses(&shop.script(0));
    if shop.keeps_order {
        shop.proxy.delay_responses(&shop.script(1));
    }
    browser.goto(&shop.address).await?;
    go_to(browser, "pay/0").await?;
    shop.proxy.wait_for_delayed_response(&shop.script(0)).await?;
    go_to(browser, "pay/1").await?;
    if shop.keeps_order {
        shop.proxy.wait_for_delayed_response(&shop.script(1)).await?;
    } else {
        shop.wait_for_form(browser, 1).await?;
    }
    shop.proxy.release_responses(&shop.script(0));
    let ran = format!("witness.all().some(it => it.kind === 'ran' && it.detail === '{}')", shop.checkout(0));
    browser.wait_until(&ran).await?;
    shop.proxy.release_responses(&shop.script(1));
    shop.pay(browser, 1).await?;
    assert_eq!(shop.outcome(0).await?, (0, PENDING.to_owned()));
    Ok(())
}

/// The shopper goes to the second checkout while the shop still decides about the submit of the first one.
async fn leave_before_submit(shop: &VisitedShop, browser: &Browser) -> anyhow::Result<()> {
    let form = shop.open_filled_form(browser).await?;
    let options = "window.wpwlOptions = { onBeforeSubmitCard: () => new Promise(done => { window.decide = done; }) }";
    browser.execute(options, vec![]).await?;
    form.press_pay_button().await?;
    browser.wait_until("window.decide").await?;
    go_to(browser, "pay/1").await?;
    shop.wait_for_form(browser, 1).await?;
    browser.execute("window.wpwlOptions = {}; decide(true)", vec![]).await?;
    shop.pay(browser, 1).await?;
    assert_eq!(shop.outcome(0).await?, (0, PENDING.to_owned()));
    Ok(())
}

/// The shopper goes to the second checkout before the gateway's response to the submit of the first one. That is paid,
/// and the page stays where the shopper is.
async fn leave_while_paying(shop: &VisitedShop, browser: &Browser) -> anyhow::Result<()> {
    shop.pay_without_response(browser).await?;
    go_to(browser, "pay/1").await?;
    shop.wait_for_form(browser, 1).await?;
    assert_eq!(shop.outcome(0).await?, (1, APPROVED.to_owned()));
    assert!(browser.current_url().await?.as_str().ends_with("pay/1"));
    shop.pay(browser, 1).await?;
    Ok(())
}

/// Runs all visits in a shop.
pub async fn run_visits(name: &'static str) -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        visit(&VisitedShop::start(name).await?, &browser).await?;
        wait_for_late_script(&VisitedShop::start(name).await?, &browser).await?;
        swap_order_of_scripts(&VisitedShop::start(name).await?, &browser).await?;
        leave_before_submit(&VisitedShop::start(name).await?, &browser).await?;
        leave_while_paying(&VisitedShop::start(name).await?, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_shop_without_a_framework_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("swap").await
}

#[tokio::test]
async fn a_shop_in_react_18_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("react-18").await
}

#[tokio::test]
async fn a_shop_in_react_19_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("react-19").await
}

#[tokio::test]
async fn a_shop_in_vue_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("vue").await
}

#[tokio::test]
async fn a_shop_in_angular_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("angular").await
}

#[tokio::test]
async fn a_shop_with_turbo_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("turbo").await
}

#[tokio::test]
async fn a_shop_with_htmx_sells_the_checkout_that_it_shows() -> anyhow::Result<()> {
    run_visits("htmx").await
}

/// Visits a shop in strict mode, and asserts that the first page with a form shows it. Strict mode creates two
/// checkouts, at nearly the same time or one after the other: `pauses` are the times that this takes in each visit, in
/// milliseconds. If `is_swapped`, the first script comes last.
async fn check_first_visits(name: &'static str, pauses: [u32; 5], is_swapped: bool) -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for (visit, pause) in pauses.into_iter().enumerate() {
            let shop = VisitedShop::start(name).await?;
            let ids = [shop.checkout(0), shop.checkout(1)];
            let config = render_config(&shop.proxy, &ids, pause);
            shop.fixture.site.add_file("/shop.js", "text/javascript", &config);
            if is_swapped {
                shop.proxy.delay_responses(&shop.script(0));
            }
            browser.goto(format!("{}#/new", shop.address)).await?;
            shop.wait_for_form(&browser, 1).await?;
            shop.proxy.release_responses(&shop.script(0));
            shop.pay(&browser, 1).await?;
            assert_eq!(shop.outcome(0).await?, (0, PENDING.to_owned()), "visit {visit}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn in_strict_mode_of_react_18_the_first_visit_shows_the_form_five_times_of_five() -> anyhow::Result<()> {
    check_first_visits("react-18", [0, 300, 30, 0, 300], false).await
}

#[tokio::test]
async fn in_strict_mode_of_react_19_the_first_visit_shows_the_form_although_its_script_came_first() -> anyhow::Result<()>
{
    check_first_visits("react-19", [30, 0, 300, 30, 0], true).await
}

#[tokio::test]
async fn a_frame_that_waits_before_it_sends_a_card_sends_nothing_once_the_page_has_moved_on() -> anyhow::Result<()> {
    let shop = VisitedShop::start("swap").await?;
    run_in_browser(move |browser| async move {
        // The frame of the card number waits for its checks.
        shop.proxy.delay_responses("/frame/frame.js");
        browser.goto(&shop.address).await?;
        let options = "window.wpwlOptions = { onAfterSubmit() { witness.note('submitted', ''); } }";
        browser.execute(options, vec![]).await?;
        go_to(&browser, "pay/0").await?;
        let form = shop.wait_for_form(&browser, 0).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_for_observation("submitted").await?;
        go_to(&browser, "pay/1").await?;
        browser.wait_until("!document.querySelector('iframe[src*=\"card.number\"]') || wpwl.checkout").await?;
        shop.proxy.release_responses("/frame/frame.js");
        shop.pay(&browser, 1).await?;
        assert_eq!(shop.outcome(0).await?, (0, PENDING.to_owned()));
        Ok(())
    })
    .await
}
