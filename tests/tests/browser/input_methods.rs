//! Text from input methods, which replace their own text until it is chosen (composition events), and digits in
//! fullwidth form: each formatted field gets the digits that a plain field would get.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, NUMBER_FRAME};
use tillgate_tests::{Browser, CardForm, run_in_browser};

use crate::CheckoutFixture;

/// Returns a text with digits and letters in fullwidth form.
fn to_fullwidth(text: &str) -> String {
    text.chars().map(|c| char::from_u32(u32::from(c) + 0xfee0).filter(|_| c.is_ascii_graphic()).unwrap_or(c)).collect()
}

/// Lets an input method compose a text of one or more characters in the field with the focus, one character after the
/// other, and choose it. Returns the contents of the field meanwhile, read by `read`.
async fn compose(browser: &Browser, text: &str, read: &str) -> anyhow::Result<Vec<String>> {
    let mut shown = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    for count in 1..=characters.len() {
        let part: String = characters[..count].iter().collect();
        let selection = json!({ "text": part, "selectionStart": count, "selectionEnd": count });
        browser.cdp().send_raw("Input.imeSetComposition", selection).await?;
        shown.push(browser.evaluate(read).await?.as_str().unwrap_or_default().to_owned());
    }
    browser.cdp().send_raw("Input.insertText", json!({ "text": text })).await?;
    Ok(shown)
}

/// Empties a field in the page or in its frame, and sets the focus there. Stays in the frame.
async fn focus_empty_field(browser: &Browser, frame: Option<&str>, css: &str) -> anyhow::Result<()> {
    browser.enter_default_frame().await?;
    if let Some(frame) = frame {
        browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    }
    let field = browser.query(By::Css(css)).first().await?;
    field.send_keys(Key::Control + "a" + Key::Backspace).await?;
    field.click().await?;
    Ok(())
}

/// Composes a text in a field in these pieces, and asserts what the field contains in the end. While a piece is
/// composed, the field contains what a plain field would.
async fn check_field(
    browser: &Browser,
    frame: Option<&str>,
    css: &str,
    pieces: &[String],
    expected: &str,
) -> anyhow::Result<()> {
    focus_empty_field(browser, frame, css).await?;
    let read = format!("document.querySelector(\"{css}\").value");
    for piece in pieces {
        let before = browser.evaluate(&read).await?.as_str().unwrap_or_default().to_owned();
        let shown = compose(browser, piece, &read).await?;
        let plain: Vec<String> = (1..=piece.chars().count())
            .map(|count| before.chars().chain(piece.chars().take(count)).collect())
            .collect();
        assert_eq!(shown, plain, "{css}: while {piece} is composed");
    }
    browser
        .wait_until(&format!("{read} === {}", json!(expected)))
        .await
        .map_err(|error| error.context(format!("{css} {pieces:?}")))?;
    Ok(browser.enter_default_frame().await?)
}

/// Returns the ways in which an input method brings a text: each character by itself, pairs, and all at once; in ASCII
/// and in fullwidth form.
fn ways_to_compose(text: &str) -> Vec<Vec<String>> {
    let characters: Vec<char> = text.chars().collect();
    let pieces = |length: usize| characters.chunks(length).map(|piece| piece.iter().collect::<String>());
    [1, 2, characters.len()]
        .into_iter()
        .flat_map(|length| {
            [pieces(length).collect::<Vec<_>>(), pieces(length).map(|piece| to_fullwidth(&piece)).collect()]
        })
        .collect()
}

#[tokio::test]
async fn an_input_method_fills_in_the_card_like_a_keyboard() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        for pieces in ways_to_compose("4200000000000000") {
            check_field(&browser, Some(NUMBER_FRAME), "input", &pieces, "4200 0000 0000 0000").await?;
        }
        for pieces in ways_to_compose("123") {
            check_field(&browser, Some(CODE_FRAME), "input", &pieces, "123").await?;
        }
        for pieces in ways_to_compose("0534") {
            check_field(&browser, None, ".wpwl-control-expiry", &pieces, "05 / 34").await?;
        }
        for pieces in [vec!["Jane Jones".to_owned()], vec!["山田".to_owned(), " ".to_owned(), "太郎".to_owned()]] {
            check_field(&browser, None, ".wpwl-control-cardHolder", &pieces, &pieces.concat()).await?;
        }
        browser.save_screenshot("input-method").await?;
        form.enter_holder("Jane Jones").await?;
        form.press_pay_button().await?;
        let paid = stage.wait_until_paid(&browser).await?;
        assert_eq!(paid.json["card"]["expiryMonth"], "05", "{}", paid.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_input_method_fills_in_holder_and_date_in_their_frames() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { enableSAQACompliance: true };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("4200000000000000").await?;
        let date = Some("iframe[name='card.expiry']");
        for pieces in ways_to_compose("0534") {
            check_field(&browser, date, "input", &pieces, "05 / 34").await?;
        }
        let holder = Some("iframe[name='card.holder']");
        let pieces = [String::from("Jane"), String::from(" Jones")];
        check_field(&browser, holder, "input", &pieces, "Jane Jones").await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        let paid = stage.wait_until_paid(&browser).await?;
        assert_eq!(paid.json["card"]["holder"], "Jane Jones", "{}", paid.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_input_method_fills_in_an_account_like_a_keyboard() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "SEPA", "").await?;
        for pieces in ways_to_compose("DE23100000001234567890") {
            let shown = "DE23 1000 0000 1234 5678 90";
            check_field(&browser, None, ".wpwl-control-accountNumber", &pieces, shown).await?;
        }
        let holder = [String::from("Jane Jones")];
        check_field(&browser, None, ".wpwl-control-accountHolder", &holder, &holder[0]).await?;
        browser.execute("document.querySelector('.wpwl-button-pay').click()", vec![]).await?;
        let paid = stage.wait_until_paid(&browser).await?;
        assert_ne!(paid.json["bankAccount"], Value::Null, "{}", paid.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_focus_moves_on_from_a_whole_number_and_date_and_stays_where_somebody_corrects() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for secure in ["", "enableSAQACompliance: true, "] {
            let options = format!("var wpwlOptions = {{ {secure}focusNextField: true, autofocus: 'card.number' }};");
            browser.goto(stage.add_page(&options)).await?;
            CardForm::wait_until_ready(&browser).await?;
            let press = async |keys: &str| browser.action_chain().send_keys(keys).perform().await;
            let at = async |name: &str| {
                let there = format!("document.activeElement.matches('.wpwl-control-{name}:is(input, .wpwl-focus)')");
                browser.wait_until(&there).await
            };
            at("cardNumber").await?;
            browser.wait_until("!!document.querySelector('.wpwl-brands')").await?;
            // Numbers of Visa may have 13 digits, and these begin with a valid one.
            press("4222222222222").await?;
            browser.wait_until("/wpwl-brand-VISA/.test(document.querySelector('.wpwl-brands').innerHTML)").await?;
            press("22").await?;
            at("cardNumber").await?;
            press(&Key::Backspace.value().to_string().repeat(15)).await?;
            press("4200000000000000").await?;
            at("expiry").await?;
            press("1233").await?;
            at("cardHolder").await?;
            if !secure.is_empty() {
                continue;
            }
            // Back to the date, whose month is corrected.
            browser
                .action_chain()
                .key_down(Key::Shift)
                .send_keys(Key::Tab.value().to_string())
                .key_up(Key::Shift)
                .perform()
                .await?;
            at("expiry").await?;
            press(&format!("{}{}0", Key::Home.value(), Key::Delete.value())).await?;
            browser.wait_until("document.querySelector('.wpwl-control-expiry').value === '02 / 33'").await?;
            press(&Key::End.value().to_string()).await?;
            at("expiry").await?;
        }
        Ok(())
    })
    .await
}
