//! The card form in a page, as a shopper meets it: fields to type into, a button, hints. The number and the code are
//! in frames of another origin; the browser is told to go in and out.

use anyhow::Context;
use thirtyfour::prelude::*;

use crate::Browser;

/// The frame of the card number.
pub const NUMBER: &str = "iframe.wpwl-control-cardNumber";
/// The frame of the security code.
pub const CODE: &str = "iframe.wpwl-control-cvv";
/// The button.
pub const PAY: &str = "button.wpwl-button-pay";

/// The card form of the page that `browser` shows.
#[derive(Debug)]
pub struct CardForm<'a> {
    browser: &'a Browser,
}

impl<'a> CardForm<'a> {
    /// Waits until the form in the page can be used, and what judges its fields, the page part, is there.
    ///
    /// # Errors
    /// When the form does not appear in time.
    pub async fn ready(browser: &'a Browser) -> anyhow::Result<Self> {
        let form = Self::standing(browser).await?;
        browser.until("document.querySelector('.wpwl-form-card .wpwl-live')").await?;
        Ok(form)
    }

    /// Waits until the form in the page can be used: both frames have their field. The page part may be still to come.
    ///
    /// # Errors
    /// When the form does not appear in time.
    pub async fn standing(browser: &'a Browser) -> anyhow::Result<Self> {
        browser.until("window.wpwl && document.querySelector('.wpwl-container:not([aria-busy])')").await?;
        let form = Self { browser };
        form.find(PAY).await?;
        form.within(NUMBER, "input", "").await?;
        form.within(CODE, "input", "").await?;
        Ok(form)
    }

    /// Fills everything in with a card that the simulator approves.
    ///
    /// # Errors
    /// When a field is missing.
    pub async fn fill(&self) -> anyhow::Result<()> {
        self.number("4200000000000000").await?;
        self.expiry("05 / 34").await?;
        self.holder("Jane Jones").await?;
        self.code("123").await
    }

    /// Types into the card number.
    ///
    /// # Errors
    /// When the field is missing.
    pub async fn number(&self, text: &str) -> anyhow::Result<()> {
        self.within(NUMBER, "input", text).await
    }

    /// Types into the security code.
    ///
    /// # Errors
    /// When the field is missing.
    pub async fn code(&self, text: &str) -> anyhow::Result<()> {
        self.within(CODE, "input", text).await
    }

    /// Types into the expiry date, in place of what is there.
    ///
    /// # Errors
    /// When the field is missing.
    pub async fn expiry(&self, text: &str) -> anyhow::Result<()> {
        self.replace("input.wpwl-control-expiry", text).await
    }

    /// Types into the holder's name, in place of what is there.
    ///
    /// # Errors
    /// When the field is missing.
    pub async fn holder(&self, text: &str) -> anyhow::Result<()> {
        self.replace("input.wpwl-control-cardHolder", text).await
    }

    /// Waits until the page has heard from the code's frame that the code is right. Whoever presses the button comes later
    /// than that word; a script that submits may not.
    ///
    /// # Errors
    /// When it does not hear so.
    pub async fn code_is_known(&self) -> anyhow::Result<()> {
        let heard =
            "witness.all().some(it => it.kind === 'message' && /field: card.cvv;.* valid: true/.test(it.detail))";
        self.browser.until(heard).await
    }

    /// Chooses a brand by its code.
    ///
    /// # Errors
    /// When it is not offered.
    pub async fn brand(&self, code: &str) -> anyhow::Result<()> {
        Ok(self.find(&format!("select.wpwl-control-brand option[value='{code}']")).await?.click().await?)
    }

    /// Presses the button.
    ///
    /// # Errors
    /// When there is none.
    pub async fn pay(&self) -> anyhow::Result<()> {
        Ok(self.find(PAY).await?.click().await?)
    }

    /// Waits for the hint of this kind, `cardNumberError` for example, and reads it.
    ///
    /// # Errors
    /// When it does not appear.
    pub async fn hint(&self, kind: &str) -> anyhow::Result<String> {
        let hint = self.browser.query(By::Css(format!(".wpwl-hint-{kind}"))).and_displayed().first().await?;
        Ok(hint.text().await?)
    }

    /// Waits until there is no visible hint of this kind.
    ///
    /// # Errors
    /// When it stays.
    pub async fn no_hint(&self, kind: &str) -> anyhow::Result<()> {
        let hidden = format!("[...document.querySelectorAll('.wpwl-hint-{kind}')].every(it => !it.checkVisibility())");
        self.browser.until(&hidden).await
    }

    /// What stands in the field inside `frame` ([`NUMBER`] or [`CODE`]).
    ///
    /// # Errors
    /// When the field is missing.
    pub async fn inner_value(&self, frame: &str) -> anyhow::Result<String> {
        self.find(frame).await?.enter_frame().await?;
        let value = self.find("input").await?.prop("value").await?;
        self.browser.enter_default_frame().await?;
        Ok(value.unwrap_or_default())
    }

    /// Empties the field inside `frame` as a person would: everything marked, and gone.
    ///
    /// # Errors
    /// When the field is missing.
    pub async fn empty(&self, frame: &str) -> anyhow::Result<()> {
        self.within(frame, "input", Key::Control + "a" + Key::Backspace).await
    }

    /// The first element that `css` finds, waiting for it.
    ///
    /// # Errors
    /// When it does not appear.
    pub async fn find(&self, css: &str) -> anyhow::Result<WebElement> {
        self.browser.query(By::Css(css)).first().await.with_context(|| format!("looking for {css}"))
    }

    async fn replace(&self, css: &str, text: &str) -> anyhow::Result<()> {
        let field = self.find(css).await?;
        field.send_keys(Key::Control + "a" + Key::Backspace).await?;
        Ok(field.send_keys(text).await?)
    }

    async fn within(&self, frame: &str, css: &str, keys: impl Into<TypingData>) -> anyhow::Result<()> {
        self.find(frame).await?.enter_frame().await?;
        let keys = keys.into();
        let typed = async {
            let field = self.find(css).await?;
            if !keys.to_string().is_empty() {
                field.send_keys(keys).await?;
            }
            anyhow::Ok(())
        };
        let typed = typed.await;
        self.browser.enter_default_frame().await?;
        typed
    }
}
