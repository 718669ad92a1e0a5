//! Fonts of the page in the frames (`fonts`). The font of these tests has 12 glyphs: digits are blocks of one and a
//! half times their size (made with fontTools).

use serde_json::Value;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::frames::wait_until_in_frame;

const BLOCKS: &[u8] = include_bytes!("../../fixtures/blocks.ttf");
const POLICY: &str = "default-src 'none'; script-src 'self' {gateway} 'wasm-unsafe-eval'; style-src 'self' {gateway}; \
     frame-src {gateway}; img-src data:; connect-src 'self'; form-action 'self' {gateway}";
const STYLE: &str = ".wpwl-control { font-family: Blocks, monospace }";
/// True if the frame's text has the font.
const HAS_BLOCKS: &str = "[...document.fonts].some(it => it.family === 'Blocks' && it.status === 'loaded')
     && getComputedStyle(document.querySelector('input')).fontFamily.startsWith('Blocks')";
/// Count of the frame's fonts.
const COUNT: &str = "document.fonts.size";

/// Opens a form with these fonts, as JavaScript, and waits until it is ready.
async fn open_form<'a>(browser: &'a Browser, stage: &CheckoutFixture, fonts: &str) -> anyhow::Result<CardForm<'a>> {
    let script = format!("var wpwlOptions = {{ fonts: {fonts} }};");
    let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_style(STYLE);
    browser.goto(stage.site.add_page(page)).await?;
    CardForm::wait_until_ready(browser).await
}

async fn in_frame(browser: &Browser, form: &CardForm<'_>, frame: &str, script: &str) -> anyhow::Result<Value> {
    form.find_element(frame).await?.enter_frame().await?;
    let found = browser.evaluate(script).await;
    browser.enter_default_frame().await?;
    found
}

#[tokio::test]
async fn number_and_code_have_the_pages_font_also_in_a_frame_that_loads_again() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.add_file("/blocks.ttf", "font/ttf", BLOCKS);
    stage.site.set_policy(POLICY);
    run_in_browser(move |browser| async move {
        let form = open_form(&browser, &stage, "[{ family: 'Blocks', src: '/blocks.ttf' }]").await?;
        for frame in [NUMBER_FRAME, CODE_FRAME] {
            wait_until_in_frame(&browser, frame, HAS_BLOCKS).await?;
        }
        // A frame that the page moves loads again.
        browser
            .execute("const it = document.querySelector('.wpwl-group-cvv'); it.parentNode.prepend(it)", vec![])
            .await?;
        wait_until_in_frame(&browser, CODE_FRAME, HAS_BLOCKS).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        // The frames have loaded nothing: only the page has asked for the font.
        let asked: Vec<_> =
            stage.site.received_requests().into_iter().filter(|it| it.starts_with("GET /blocks.ttf")).collect();
        assert!(asked.len() == 1 && asked[0].contains("/pages/0"), "{asked:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn fonts_that_are_lost_too_large_or_none_leave_the_form_as_it_is_and_are_named() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.add_file("/blocks.ttf", "font/ttf", BLOCKS);
    stage.site.add_file("/large.ttf", "font/ttf", &[0; 300_000]);
    stage.site.add_file("/none.ttf", "font/ttf", "no font");
    stage.site.set_policy(POLICY);
    run_in_browser(move |browser| async move {
        let script = "console.warn = text => witness.note('warning', text);";
        let fonts = "[{ family: 'A', src: '/large.ttf' }, null, { family: 'B', src: 'https://fonts.example/b.woff2' },
            { family: 'Blocks', src: '/blocks.ttf' }, { family: 'C', src: '/none.ttf' }]";
        let form = open_form(&browser, &stage, &format!("(() => {{ {script} return {fonts}; }})()")).await?;
        wait_until_in_frame(&browser, NUMBER_FRAME, HAS_BLOCKS).await?;
        assert_eq!(in_frame(&browser, &form, NUMBER_FRAME, COUNT).await?, 1);
        let told = browser.observed_details("warning").await?.join("\n");
        for (source, fault) in
            [("/none.ttf", "one too many"), ("/large.ttf", "256 kB"), ("fonts.example", "connect-src")]
        {
            assert!(told.lines().any(|line| line.contains(source) && line.contains(fault)), "{source}: {told}");
        }
        form.fill_fields().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_takes_no_more_fonts_than_eight_and_none_that_is_no_font_from_a_hostile_page() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.add_file("/blocks.ttf", "font/ttf", BLOCKS);
    stage.site.set_policy(POLICY);
    run_in_browser(move |browser| async move {
        let form = open_form(&browser, &stage, "[{ family: 'Blocks', src: '/blocks.ttf' }]").await?;
        wait_until_in_frame(&browser, NUMBER_FRAME, HAS_BLOCKS).await?;
        browser
            .execute(
                "const frame = document.querySelector('[name=\"card.number\"]');
                 const send = fonts => frame.contentWindow.postMessage({ tillgate: __tillgate.version, type: 'fonts',
                     form: new URL(frame.src).searchParams.get('form'), fonts }, '*');
                 for (const fonts of [null, 7, 'text', { length: 1e9 }, [null], [{ bytes: 'url(/blocks.ttf)' }], [{ bytes: new ArrayBuffer(1e6) }],
                     [{ family: 'x', bytes: new ArrayBuffer(8), weight: 'url(//evil.example)' }]]) send(fonts);
                 fetch('/blocks.ttf').then(it => it.arrayBuffer()).then(bytes => {
                     for (let at = 0; at < 20; at++) send([{ family: 'Blocks' + at, bytes, weight: '400', style: 'normal' }]);
                     window.isSent = true;
                 });",
                vec![],
            )
            .await?;
        browser.wait_until("window.isSent").await?;
        wait_until_in_frame(&browser, NUMBER_FRAME, &format!("{COUNT} === 8")).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        assert!(!stage.site.received_requests().iter().any(|it| it.contains("pciIframe")));
        Ok(())
    })
    .await
}
