//! The card form in a page, operated as a shopper does: fields, button, hints. The fields of the card number and the
//! security code are in frames of another origin, which the functions enter and leave.

use anyhow::Context;
use thirtyfour::prelude::*;

use crate::Browser;

/// The frame of the card number.
pub const NUMBER_FRAME: &str = "iframe.wpwl-control-cardNumber";
/// The frame of the security code.
pub const CODE_FRAME: &str = "iframe.wpwl-control-cvv";
/// The pay button.
pub const PAY_BUTTON: &str = "button.wpwl-button-pay";

/// The card form of the current page.
#[derive(Debug)]
pub struct CardForm<'a> {
    browser: &'a Browser,
}

impl<'a> CardForm<'a> {
    /// Waits until the form in the page is usable: it is not busy, and both frames have their field.
    ///
    /// # Errors
    /// If the form does not appear in time.
    pub async fn wait_until_ready(browser: &'a Browser) -> anyhow::Result<Self> {
        let form = Self::wait_until_usable(browser).await?;
        browser.wait_until("document.querySelector('.wpwl-form-card .wpwl-live')").await?;
        Ok(form)
    }

    /// Waits until a page that moves the form's nodes has a usable one: it is not busy, and both frames have their
    /// field.
    ///
    /// # Errors
    /// If the form does not appear in time.
    pub async fn wait_until_usable(browser: &'a Browser) -> anyhow::Result<Self> {
        browser.wait_until("window.wpwl && document.querySelector('.wpwl-container:not([aria-busy])')").await?;
        let form = Self { browser };
        form.find_element(PAY_BUTTON).await?;
        form.type_into_frame(NUMBER_FRAME, "input", "").await?;
        form.type_into_frame(CODE_FRAME, "input", "").await?;
        Ok(form)
    }

    /// Returns the form in the page, however far it has come.
    pub fn in_page(browser: &'a Browser) -> Self {
        Self { browser }
    }

    /// Fills in all fields with a card that the simulator approves.
    ///
    /// # Errors
    /// If a field is missing.
    pub async fn fill_fields(&self) -> anyhow::Result<()> {
        self.enter_number("4200000000000000").await?;
        self.enter_expiry("05 / 34").await?;
        self.enter_holder("Jane Jones").await?;
        self.enter_security_code("123").await
    }

    /// Types into the card number field.
    ///
    /// # Errors
    /// If the field is missing.
    pub async fn enter_number(&self, text: &str) -> anyhow::Result<()> {
        self.type_into_frame(NUMBER_FRAME, "input", text).await
    }

    /// Types into the security code field.
    ///
    /// # Errors
    /// If the field is missing.
    pub async fn enter_security_code(&self, text: &str) -> anyhow::Result<()> {
        self.type_into_frame(CODE_FRAME, "input", text).await
    }

    /// Replaces the text of the expiry date field.
    ///
    /// # Errors
    /// If the field is missing.
    pub async fn enter_expiry(&self, text: &str) -> anyhow::Result<()> {
        self.replace_text("input.wpwl-control-expiry", text).await
    }

    /// Replaces the text of the card holder field.
    ///
    /// # Errors
    /// If the field is missing.
    pub async fn enter_holder(&self, text: &str) -> anyhow::Result<()> {
        self.replace_text("input.wpwl-control-cardHolder", text).await
    }

    /// Waits until the code's frame has reported to the page that the code is valid.
    ///
    /// # Errors
    /// If the report does not arrive in time.
    pub async fn wait_until_code_valid(&self) -> anyhow::Result<()> {
        self.wait_for_message_of_code("valid: true").await
    }

    /// Waits until the page has read a message of the code's frame that contains `part`, such as `type: enter`.
    ///
    /// # Errors
    /// If none arrives in time.
    pub async fn wait_for_message_of_code(&self, part: &str) -> anyhow::Result<()> {
        let is_it = "it => it.kind === 'message' && it.detail.includes('field: card.cvv;')";
        self.browser
            .wait_until(&format!("witness.all().filter({is_it}).some(it => it.detail.includes('{part}'))"))
            .await
    }

    /// Chooses a brand by its code.
    ///
    /// # Errors
    /// If it is not offered.
    pub async fn select_brand(&self, code: &str) -> anyhow::Result<()> {
        Ok(self.find_element(&format!("select.wpwl-control-brand option[value='{code}']")).await?.click().await?)
    }

    /// Presses the pay button.
    ///
    /// # Errors
    /// If there is none.
    pub async fn press_pay_button(&self) -> anyhow::Result<()> {
        Ok(self.find_element(PAY_BUTTON).await?.click().await?)
    }

    /// Waits for the hint of this kind, such as `cardNumberError`, and returns its text.
    ///
    /// # Errors
    /// If it does not appear.
    pub async fn wait_for_hint(&self, kind: &str) -> anyhow::Result<String> {
        let hint = self.browser.query(By::Css(format!(".wpwl-hint-{kind}"))).and_displayed().first().await?;
        Ok(hint.text().await?)
    }

    /// Waits until there is no visible hint of this kind.
    ///
    /// # Errors
    /// If it stays.
    pub async fn wait_for_no_hint(&self, kind: &str) -> anyhow::Result<()> {
        let hidden = format!("[...document.querySelectorAll('.wpwl-hint-{kind}')].every(it => !it.checkVisibility())");
        self.browser.wait_until(&hidden).await
    }

    /// Returns the value of the field inside `frame` ([`NUMBER_FRAME`] or [`CODE_FRAME`]).
    ///
    /// # Errors
    /// If the field is missing.
    pub async fn frame_value(&self, frame: &str) -> anyhow::Result<String> {
        self.find_element(frame).await?.enter_frame().await?;
        let value = self.find_element("input").await?.prop("value").await?;
        self.browser.enter_default_frame().await?;
        Ok(value.unwrap_or_default())
    }

    /// Clears the field inside `frame` as a shopper would: select all, then delete.
    ///
    /// # Errors
    /// If the field is missing.
    pub async fn clear_frame_field(&self, frame: &str) -> anyhow::Result<()> {
        self.type_into_frame(frame, "input", Key::Control + "a" + Key::Backspace).await
    }

    /// Waits for the first element that matches `css`, and returns it.
    ///
    /// # Errors
    /// If it does not appear.
    pub async fn find_element(&self, css: &str) -> anyhow::Result<WebElement> {
        self.browser.query(By::Css(css)).first().await.with_context(|| format!("looking for {css}"))
    }

    /// Clears the field that matches `css`, and types `text` into it.
    async fn replace_text(&self, css: &str, text: &str) -> anyhow::Result<()> {
        let field = self.find_element(css).await?;
        field.send_keys(Key::Control + "a" + Key::Backspace).await?;
        Ok(field.send_keys(text).await?)
    }

    /// Types into the element inside a frame; empty keys only wait for the element. Returns to the page even if that
    /// fails.
    async fn type_into_frame(&self, frame: &str, css: &str, keys: impl Into<TypingData>) -> anyhow::Result<()> {
        self.find_element(frame).await?.enter_frame().await?;
        let keys = keys.into();
        let typed = async {
            let field = self.find_element(css).await?;
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
