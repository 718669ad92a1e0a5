//! Pictures of the form in its states, for reviewers: wide and narrow, light and dark, in three languages. Made on
//! request and not in an ordinary run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::forms::enter_text;
use crate::one_click::fixture_with_stored_accounts;
use crate::pictures::bare_script;

/// Widths of the page in pixels, with the height: a desktop and a phone.
const SIZES: [(u32, u32); 2] = [(1440, 900), (360, 800)];
/// Grounds of the page, by name and style sheet.
const GROUNDS: [(&str, &str); 2] = [("light", ""), ("dark", "body { background: #16181d; color: #eee }")];
const LOCALES: [&str; 3] = ["en", "de", "ar"];

/// A state of the form.
#[derive(Debug, Clone, Copy)]
pub enum State {
    /// The form as it comes, with several brands and the amount.
    Card,
    /// Each field of the card is wrong in another way.
    CardErrors,
    /// Stored cards and all other ways to pay as one choice.
    Choice,
    /// A direct debit in that choice, with its mandate.
    Debit,
    /// A direct debit with a wrong account.
    DebitError,
    /// Declined, and the form stays.
    Declined,
}

impl State {
    pub const ALL: [Self; 6] =
        [Self::Card, Self::CardErrors, Self::Choice, Self::Debit, Self::DebitError, Self::Declined];

    pub fn brands(self) -> &'static str {
        match self {
            Self::Card | Self::CardErrors | Self::Declined => "VISA MASTER AMEX",
            Self::Choice => "VISA MASTER IDEAL PAYPAL DIRECTDEBIT_SEPA",
            Self::Debit | Self::DebitError => "DIRECTDEBIT_SEPA",
        }
    }

    pub fn options(self, locale: &str) -> String {
        let own = match self {
            Self::Card | Self::CardErrors => "showOneClickWidget: false",
            Self::Choice => "methodLayout: 'accordion'",
            Self::Debit | Self::DebitError => "showOneClickWidget: false",
            Self::Declined => "showOneClickWidget: false, retryInPlace: true",
        };
        format!("{{ locale: '{locale}', showAmount: true, {own} }}")
    }

    /// Brings a form that is ready into the state.
    pub async fn reach(self, browser: &Browser) -> anyhow::Result<()> {
        match self {
            Self::Card => {
                CardForm::wait_until_ready(browser).await?;
            }
            Self::CardErrors => {
                let form = CardForm::wait_until_ready(browser).await?;
                form.enter_number("4200000000000001").await?;
                form.enter_expiry("01 / 20").await?;
                form.press_pay_button().await?;
                form.wait_for_hint("cvvError").await?;
            }
            Self::Choice => browser.wait_until("document.querySelector('.wpwl-methods[aria-owns]')").await?,
            Self::Debit | Self::DebitError => {
                enter_text(browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                let number =
                    if matches!(self, Self::Debit) { "DE23100000001234567890" } else { "DE24100000001234567890" };
                enter_text(browser, ".wpwl-control-accountNumber", number).await?;
                browser.execute("document.activeElement.blur()", vec![]).await?;
            }
            Self::Declined => {
                let form = CardForm::wait_until_ready(browser).await?;
                form.fill_fields().await?;
                form.clear_frame_field(tillgate_tests::card_form::NUMBER_FRAME).await?;
                form.enter_number("4200000000005546").await?;
                form.press_pay_button().await?;
                let advice =
                    "[...document.querySelectorAll('.wpwl-message[role=alert]')].some(it => it.checkVisibility())";
                browser.wait_until(advice).await?;
            }
        }
        Ok(())
    }
}

/// Returns the folder of the pictures.
fn folder() -> anyhow::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/states");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

#[tokio::test]
#[ignore = "makes target/states/*.png: cargo xtask test -- --ignored state_pictures"]
async fn state_pictures() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[("registrationsDeletable", "true")]).await?;
    run_in_browser(move |browser| async move {
        for size in SIZES {
            browser.resize_page(size.0, size.1).await?;
            for state in State::ALL {
                take_sheet(&stage, &browser, size, state).await?;
            }
        }
        Ok(())
    })
    .await
}

/// Takes the pictures of a state in all languages on all grounds, and puts them on one sheet.
async fn take_sheet(
    stage: &CheckoutFixture,
    browser: &Browser,
    (width, height): (u32, u32),
    state: State,
) -> anyhow::Result<()> {
    let folder = folder()?;
    let mut sheet = String::from(
        "<!doctype html><meta charset=utf-8><style>html { overflow: hidden }
         body { margin: 0; display: grid; grid-template-columns: repeat(3, 1fr) }
         img { display: block; width: 100%; border: 1px solid #888 }</style>",
    );
    for (ground, style) in GROUNDS {
        for locale in LOCALES {
            let page = MerchantPage::for_checkout(&stage.checkout).with_brands(state.brands());
            let page = page.with_script(&bare_script(style, &state.options(locale)));
            browser.goto(stage.site.add_page(page)).await?;
            browser
                .wait_until("document.querySelector('.wpwl-button') && !document.querySelector('.wpwl-loading')")
                .await?;
            state.reach(browser).await?;
            let name = format!("{state:?}-{width}-{ground}-{locale}.png");
            std::fs::write(folder.join(&name), browser.find(By::Css("main")).await?.screenshot_as_png().await?)?;
            write!(sheet, "<img src='{name}' alt=''>")?;
        }
    }
    let file = folder.join(format!("{state:?}-{width}.html"));
    std::fs::write(&file, sheet)?;
    browser.goto(format!("file://{}", file.canonicalize()?.display())).await?;
    browser.resize_page(3 * width.min(700), 400).await?;
    let tall = browser.evaluate("document.documentElement.scrollHeight").await?.as_u64().unwrap_or(2000);
    browser.resize_page(3 * width.min(700), u32::try_from(tall)?).await?;
    browser.screenshot(&folder.join(format!("{state:?}-{width}.png"))).await?;
    browser.resize_page(width, height).await
}
