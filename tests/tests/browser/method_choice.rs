//! Several ways to pay as one choice (`methodLayout`): radio buttons or tabs, with one form open and one pay button.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{ApiResponse, Browser, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::brand_offers::{fixture_with_offer, wait_for_message};
use crate::forms::{click_element, enter_text};
use crate::one_click::fixture_with_stored_accounts;

const BRANDS: &str = "VISA MASTER IDEAL DIRECTDEBIT_SEPA";
pub const ACCORDION: &str = "methodLayout: 'accordion'";
/// Names of the rows or tabs that are shown, in their order; the chosen one with an asterisk. The accounts' rows are
/// their numbers.
const ROWS: &str =
    "[...document.querySelectorAll('.wpwl-method, .wpwl-tab, .wpwl-method-stored .wpwl-group-registration')]
    .filter(it => it.checkVisibility())
    .map(it => it.querySelector('.wpwl-method-name, .wpwl-registration-number').textContent
        + (it.matches('.wpwl-selected') ? '*' : '')).join(', ')";

/// Everything that the form keeps in the page's storage. The tests' own script keeps its observations there.
const KEPT: &str = "[...Object.entries(sessionStorage), ...Object.entries(localStorage)]
    .filter(([name]) => name !== 'witness').map(it => it.join('=')).join()";

/// Presses a key at the element with the focus.
async fn press(browser: &Browser, key: Key) -> anyhow::Result<()> {
    Ok(browser.action_chain().send_keys(key.value().to_string()).perform().await?)
}

/// Waits until the rows or tabs are these (see [`ROWS`]), with exactly one open form and one visible pay button.
pub async fn wait_for_rows(browser: &Browser, rows: &str) -> anyhow::Result<()> {
    let buttons = "[...document.querySelectorAll('button[name=pay]')].filter(it => it.checkVisibility()).length";
    browser.wait_until(&format!("({ROWS}) === '{rows}' && {buttons} === 1")).await
}

impl CheckoutFixture {
    /// Opens the fixture's forms as one choice. `options` also names the layout.
    async fn open_choice(&self, browser: &Browser, brands: &str, options: &str) -> anyhow::Result<()> {
        self.open_forms(browser, brands, options).await?;
        browser.wait_until("document.querySelector('.wpwl-methods[aria-owns], .wpwl-tabs')").await
    }

    /// Forgets what earlier pages of this tab have remembered.
    async fn forget_choice(&self, browser: &Browser) -> anyhow::Result<()> {
        browser.execute("sessionStorage.removeItem('tillgate.method')", vec![]).await?;
        Ok(())
    }
}

#[tokio::test]
async fn one_way_to_pay_is_open_and_each_of_them_pays() -> anyhow::Result<()> {
    let (mut stage, ids) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        for way in ["account", "card", "brand", "debit"] {
            let offered = [("registrations[0].id", ids[0].as_str()), ("registrations[1].id", ids[1].as_str())];
            stage.checkout = stage.merchant.create_checkout(&offered).await?;
            stage.open_choice(&browser, BRANDS, ACCORDION).await?;
            stage.forget_choice(&browser).await?;
            stage.open_choice(&browser, BRANDS, ACCORDION).await?;
            wait_for_rows(&browser, "**** 0000*, **** 5454, Card, iDEAL, SEPA Direct Debit").await?;
            let brand = match way {
                "account" => {
                    click_element(&browser, &format!("input[value='{}']", ids[1])).await?;
                    wait_for_rows(&browser, "**** 0000, **** 5454*, Card, iDEAL, SEPA Direct Debit").await?;
                    click_element(&browser, ".wpwl-form-registrations .wpwl-button-pay").await?;
                    "MASTER"
                }
                "card" => {
                    click_element(&browser, ".wpwl-method input[value=card]").await?;
                    wait_for_rows(&browser, "**** 0000, **** 5454, Card*, iDEAL, SEPA Direct Debit").await?;
                    CardForm::wait_until_ready(&browser).await?.fill_fields().await?;
                    click_element(&browser, ".wpwl-form-card .wpwl-button-pay").await?;
                    "VISA"
                }
                "brand" => {
                    click_element(&browser, ".wpwl-method input[value=IDEAL]").await?;
                    let row = browser.query(By::Css(".wpwl-method.wpwl-selected")).first().await?.text().await?;
                    assert!(row.contains("You will continue to iDEAL."), "{row}");
                    click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
                    click_element(&browser, "button[value=success]").await?;
                    "IDEAL"
                }
                _ => {
                    click_element(&browser, ".wpwl-method input[value=DIRECTDEBIT_SEPA]").await?;
                    enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                    enter_text(&browser, ".wpwl-control-accountNumber", "DE23 1000 0000 1234 5678 90").await?;
                    click_element(&browser, ".wpwl-form-directDebit .wpwl-button-pay").await?;
                    "DIRECTDEBIT_SEPA"
                }
            };
            let status = stage.wait_until_paid(&browser).await?;
            assert_eq!(status.json["paymentBrand"], brand, "{way}: {}", status.text);
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn keys_move_the_choice_and_tab_leads_into_the_open_form() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_choice(&browser, "VISA MASTER IDEAL", ACCORDION).await?;
        let rows = |chosen: usize| {
            let names = ["**** 0000", "**** 5454", "**** 7890", "Card", "iDEAL"];
            let mark = |(at, name): (usize, &str)| format!("{name}{}", if at == chosen { "*" } else { "" });
            names.into_iter().enumerate().map(mark).collect::<Vec<_>>().join(", ")
        };
        browser.execute("document.querySelector('[name=registrationId]').focus()", vec![]).await?;
        for at in [1, 2, 3, 4, 0] {
            press(&browser, Key::Down).await?;
            wait_for_rows(&browser, &rows(at)).await?;
            assert_eq!(browser.evaluate("document.activeElement.type").await?, "radio", "the focus stays in the list");
        }
        for at in [4, 3] {
            press(&browser, Key::Up).await?;
            wait_for_rows(&browser, &rows(at)).await?;
        }
        press(&browser, Key::Tab).await?;
        browser.wait_until("document.activeElement.matches('.wpwl-form-card .wpwl-control-cardNumber')").await?;
        browser.execute("document.querySelector('.wpwl-method input:checked').focus()", vec![]).await?;
        press(&browser, Key::Down).await?;
        press(&browser, Key::Down).await?;
        wait_for_rows(&browser, &rows(0)).await?;
        assert_eq!(browser.evaluate("document.activeElement.value").await?, ids[0]);
        press(&browser, Key::Tab).await?;
        browser.wait_until("document.activeElement.matches('.wpwl-form-registrations .wpwl-button-pay')").await?;
        press(&browser, Key::Enter).await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["registrationId"], ids[0]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn tabs_have_the_keys_of_tabs_in_both_directions_of_text() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.resize_page(360, 800).await?;
        for (locale, forward) in [("en", Key::Right), ("ar", Key::Left)] {
            let options = format!("methodLayout: 'tabs', locale: '{locale}'");
            stage.open_choice(&browser, BRANDS, &options).await?;
            browser.execute("document.querySelector('[role=tab][aria-selected=true]').focus()", vec![]).await?;
            let chosen = "[...document.querySelectorAll('.wpwl-tab')].findIndex(it => it.ariaSelected === 'true' && it === document.activeElement)";
            for (key, at) in [(forward, 1), (Key::End, 2), (Key::Home, 0)] {
                press(&browser, key).await?;
                browser.wait_until(&format!("{chosen} === {at}")).await?;
            }
            let open = "[...document.querySelectorAll('[role=tabpanel]')].filter(it => it.checkVisibility()).length";
            assert_eq!(browser.evaluate(open).await?, 1);
            let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth").await?;
            assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{wide} pixels too wide in {locale}");
            assert_eq!(browser.run_axe().await?, Vec::<String>::new(), "{locale}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_tab_remembers_the_kind_of_the_choice_and_a_page_without_storage_does_without() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_choice(&browser, "VISA IDEAL", ACCORDION).await?;
        click_element(&browser, ".wpwl-method input[value=IDEAL]").await?;
        assert_eq!(browser.evaluate(KEPT).await?, "tillgate.method=IDEAL");
        stage.open_choice(&browser, "VISA IDEAL", ACCORDION).await?;
        wait_for_rows(&browser, "**** 0000, **** 5454, **** 7890, Card, iDEAL*").await?;
        // Of an account nothing but its kind is kept.
        click_element(&browser, ".wpwl-group-registration:nth-of-type(2) [name=registrationId]").await?;
        assert_eq!(browser.evaluate(KEPT).await?, "tillgate.method=stored");
        // Whatever a page has put there is only compared.
        browser.execute("sessionStorage.setItem('tillgate.method', '__proto__')", vec![]).await?;
        stage.open_choice(&browser, "VISA IDEAL", ACCORDION).await?;
        wait_for_rows(&browser, "**** 0000*, **** 5454, **** 7890, Card, iDEAL").await?;
        let page = MerchantPage::for_checkout(&stage.checkout).with_brands("VISA IDEAL").with_script(
            "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } });
             var wpwlOptions = { methodLayout: 'accordion' };",
        );
        browser.goto(stage.site.add_page(page)).await?;
        browser.wait_until("document.querySelector('.wpwl-methods[aria-owns]')").await?;
        click_element(&browser, ".wpwl-method input[value=IDEAL]").await?;
        wait_for_rows(&browser, "**** 0000, **** 5454, **** 7890, Card, iDEAL*").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_brand_that_is_withdrawn_while_it_is_open_says_so_and_another_one_opens() -> anyhow::Result<()> {
    let stage = fixture_with_offer("amount > 500", "hide = [\"IDEAL\"]", &[]).await?;
    run_in_browser(move |browser| async move {
        for layout in ["accordion", "tabs"] {
            stage.open_choice(&browser, "VISA IDEAL PAYPAL", &format!("methodLayout: '{layout}'")).await?;
            click_element(&browser, ".wpwl-method input[value=IDEAL], .wpwl-tab:nth-child(2)").await?;
            wait_for_rows(&browser, "Card, iDEAL*, PayPal").await?;
            stage.update_checkout(&[("amount", "501.00")]).await?;
            browser.execute("wpwl.refresh()", vec![]).await?;
            wait_for_rows(&browser, "Card*, PayPal").await?;
            wait_for_message(&browser, "iDEAL is not available").await?;
            stage.update_checkout(&[("amount", "92.00")]).await?;
            browser.execute("wpwl.refresh()", vec![]).await?;
            wait_for_rows(&browser, "Card*, iDEAL, PayPal").await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_script_that_presses_a_closed_forms_button_opens_it_first() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_choice(&browser, "VISA IDEAL DIRECTDEBIT_SEPA", ACCORDION).await?;
        wait_for_rows(&browser, "Card*, iDEAL, SEPA Direct Debit").await?;
        browser.execute("document.querySelector('.wpwl-form-directDebit button[name=pay]').click()", vec![]).await?;
        wait_for_rows(&browser, "Card, iDEAL, SEPA Direct Debit*").await?;
        browser.query(By::Css(".wpwl-hint-accountHolderError")).and_displayed().first().await?;
        browser.execute("wpwl.executePayment('wpwl-container-card')", vec![]).await?;
        wait_for_rows(&browser, "Card*, iDEAL, SEPA Direct Debit").await?;
        assert_eq!(stage.submit_count(), 0);
        browser.execute("document.querySelector('.wpwl-button-brand-IDEAL').click()", vec![]).await?;
        click_element(&browser, "button[value=success]").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn other_forms_wait_behind_their_button_before_they_join_the_choice() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        let options = format!("registrations: {{ hideInitialPaymentForms: true }}, {ACCORDION}");
        stage.open_forms(&browser, "VISA IDEAL", &options).await?;
        assert!(!browser.query(By::Css(".wpwl-method")).nowait().exists().await?);
        click_element(&browser, "button[data-action=show-initial-forms]").await?;
        wait_for_rows(&browser, "**** 0000, **** 5454, **** 7890, Card*, iDEAL").await?;
        browser.wait_until("document.activeElement.closest('.wpwl-form-card')").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_last_account_that_is_removed_leaves_the_other_ways_to_pay() -> anyhow::Result<()> {
    let (mut stage, ids) = fixture_with_stored_accounts(&[]).await?;
    let fields = [("registrations[0].id", ids[0].as_str()), ("registrationsDeletable", "true")];
    stage.checkout = stage.merchant.create_checkout(&fields).await?;
    run_in_browser(move |browser| async move {
        stage.open_choice(&browser, "VISA IDEAL", ACCORDION).await?;
        click_element(&browser, ".wpwl-button-delete").await?;
        browser.wait_until("document.activeElement.matches('.wpwl-button-keep')").await?;
        click_element(&browser, ".wpwl-button-confirm").await?;
        wait_for_rows(&browser, "Card*, iDEAL").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_hostile_page_that_moves_containers_and_heads_keeps_forms_that_pay() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let hostile = format!(
            "{ACCORDION}}}; Object.prototype.once = true; Object.prototype.signal = 1; Object.prototype.ArrowDown = 7; void {{"
        );
        stage.open_choice(&browser, "VISA IDEAL DIRECTDEBIT_SEPA", &hostile).await?;
        wait_for_rows(&browser, "Card*, iDEAL, SEPA Direct Debit").await?;
        for key in [Key::Down, Key::Down] {
            browser.execute("document.querySelector('.wpwl-method input:checked').focus()", vec![]).await?;
            press(&browser, key).await?;
        }
        wait_for_rows(&browser, "Card, iDEAL, SEPA Direct Debit*").await?;
        // Containers and heads go to other places of the page, and one head is taken away.
        let moving = "const away = document.createElement('section'); document.body.append(away);
            away.append(document.querySelector('[class*=onlineTransfer-IDEAL]'), document.querySelector('.wpwl-method'));
            document.querySelector('.wpwl-method.wpwl-selected').remove();";
        browser.execute(moving, vec![]).await?;
        browser.execute("wpwl.refresh()", vec![]).await?;
        // Alone in its new place, the brand is no part of the choice any more.
        browser.wait_until("document.querySelector('.wpwl-button-brand-IDEAL').checkVisibility()").await?;
        browser.wait_until(&format!("({ROWS}).startsWith('Card')")).await?;
        click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
        click_element(&browser, "button[value=success]").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

/// Replaces the checkout of the page by another one, as a single-page shop does.
async fn show_second_checkout(stage: &CheckoutFixture, browser: &Browser, second: &ApiResponse) -> anyhow::Result<()> {
    let ending = "document.querySelectorAll('script[src*=paymentWidgets]').forEach(it => it.remove());
        document.querySelectorAll('main > form').forEach(it => it.remove());";
    browser.execute(ending, vec![]).await?;
    stage.add_form(browser, second.id(), "VISA PAYPAL", "/result?own=2").await
}

#[tokio::test]
async fn the_second_checkout_of_a_single_page_shop_has_its_own_choice() -> anyhow::Result<()> {
    let mut stage = CheckoutFixture::new().await?;
    let second = stage.merchant.create_checkout(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_choice(&browser, "VISA IDEAL", ACCORDION).await?;
        wait_for_rows(&browser, "Card*, iDEAL").await?;
        show_second_checkout(&stage, &browser, &second).await?;
        wait_for_rows(&browser, "Card*, PayPal").await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-methods').length").await?, 1);
        CardForm::wait_until_ready(&browser).await?.fill_fields().await?;
        click_element(&browser, ".wpwl-form-card .wpwl-button-pay").await?;
        stage.checkout = second;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn axe_finds_nothing_in_light_dark_and_right_to_left() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[("registrationsDeletable", "true")]).await?;
    run_in_browser(move |browser| async move {
        browser.resize_page(360, 1200).await?;
        let dark = "const sheet = new CSSStyleSheet(); sheet.replaceSync('body { background: #111; color: #eee }');
            document.adoptedStyleSheets = [sheet];";
        for (name, options, script) in [
            ("light", "locale: 'en'", ""),
            ("dark", "locale: 'de'", dark),
            ("rtl", "locale: 'ar'", ""),
            ("plain", "style: 'plain'", ""),
            ("none", "style: 'none'", ""),
        ] {
            let page = MerchantPage::for_checkout(&stage.checkout)
                .with_brands(BRANDS)
                .with_script(&format!("{script} var wpwlOptions = {{ {options}, {ACCORDION} }};"));
            browser.goto(stage.site.add_page(page)).await?;
            browser.wait_until("document.querySelector('.wpwl-methods[aria-owns]')").await?;
            CardForm::wait_until_usable(&browser).await.ok();
            for chosen in [ids[0].as_str(), "card", "IDEAL"] {
                click_element(&browser, &format!("input[value='{chosen}']")).await?;
                browser.sweep("one choice of all ways to pay").await?;
                let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth").await?;
                assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{wide} pixels too wide: {name}, {chosen}");
                browser.save_screenshot(&format!("choice-{name}-{}", &chosen[..4.min(chosen.len())])).await?;
            }
            let small = "[...document.querySelectorAll('.wpwl-method label, .wpwl-registration, .wpwl-button-small')]
                .filter(it => it.checkVisibility() && it.getBoundingClientRect().height < 44).map(it => it.outerHTML).join()";
            if !["plain", "none"].contains(&name) {
                assert_eq!(browser.evaluate(small).await?, "", "{name}: room for a finger");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn screen_readers_get_one_named_group_with_all_radio_buttons() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_choice(&browser, "VISA IDEAL", ACCORDION).await?;
        let owned = "(() => { const list = document.querySelector('.wpwl-methods');
            const radios = list.getAttribute('aria-owns').split(' ').map(id => document.getElementById(id).querySelector('[type=radio]'));
            return [list.getAttribute('role'), list.getAttribute('aria-label'), radios.length,
                radios.filter(it => it.checked).length, radios.filter(it => it.tabIndex === 0).length].join(); })()";
        browser.wait_until(&format!("{owned} === 'radiogroup,Payment method,5,1,1'")).await?;
        Ok(())
    })
    .await
}
