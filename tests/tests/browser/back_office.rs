//! The back office in a browser: walks of its users by keyboard, and the accessibility of its pages, one file for each
//! subject.

use anyhow::Context as _;
use jiff::Timestamp;
use thirtyfour::prelude::*;
use tillgate_domain::access::one_time_code::{CodeSecret, step_at};
use tillgate_tests::{Browser, TestGateway, run_in_browser};

mod administration;
mod customers;
mod deliveries;
mod money;
pub mod passkeys;
mod payments;
mod reviews;
mod rules;
mod walks;

/// Maximum size of a page without its style sheet and script.
const MAX_PAGE: u64 = 60_000;
/// A reference with markup and a formula.
const HOSTILE: &str = "=1+1<img src=x onerror=alert(1)>\"'&";

/// Decodes the secret of an authenticator app, as the page shows it.
fn decode_secret(text: &str) -> Option<CodeSecret> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for digit in text.bytes().filter(u8::is_ascii_alphanumeric) {
        let value = if digit.is_ascii_digit() { digit - b'2' + 26 } else { digit - b'A' };
        bits = (bits << 5) | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    CodeSecret::from_bytes(&bytes)
}

/// Accepts the invitation of the first administrator, whose link the gateway has printed, and opens the first page.
/// Returns the secret of the administrator's authenticator app.
pub(crate) async fn become_administrator(gateway: &TestGateway, browser: &Browser) -> anyhow::Result<CodeSecret> {
    gateway.wait_for_log("/backoffice/invitation/").await?;
    let log = gateway.read_log();
    let (_, link) = log.split_once("/backoffice/invitation/").context("the link of the first administrator")?;
    let token = link.split(|it: char| it.is_whitespace() || it == '"').next().unwrap_or_default();
    accept_invitation(gateway, browser, token, "maria@kiln.example").await
}

/// Creates a user with a role on an entity, accepts the invitation, and opens the first page.
async fn become_user(gateway: &TestGateway, browser: &Browser, role: &str, entity: &str) -> anyhow::Result<()> {
    let mail = format!("{role}@shop.example");
    let arguments = ["user", "create", "--mail", &mail, "--name", "Robin Quill", "--role", role, "--entity", entity];
    let url = gateway.public_url();
    let created = gateway.run_command(&[&arguments[..], &["--public-url", &url]].concat())?;
    let link = created["link"].as_str().context("no link")?;
    let token = link.rsplit('/').next().unwrap_or_default().to_owned();
    accept_invitation(gateway, browser, &token, &mail).await.map(drop)
}

/// Accepts an invitation, and opens the first page.
async fn accept_invitation(
    gateway: &TestGateway,
    browser: &Browser,
    token: &str,
    mail: &str,
) -> anyhow::Result<CodeSecret> {
    browser.goto(format!("{}backoffice/invitation/{token}", gateway.public_url())).await?;
    let secret = browser.find(By::Id("secret")).await?.text().await?;
    let secret = decode_secret(&secret).context("the secret of the app")?;
    let code = secret.code_of_step(step_at(Timestamp::now())).to_string();
    let password = "a long walk by the sea 7";
    for (field, value) in [
        ("mail", mail),
        ("name", "Maria Kiln"),
        ("password", password),
        ("repeated", password),
        ("code", code.as_str()),
    ] {
        // The invitation of a known user has the mail address and the name already.
        let found = browser.find_all(By::Css(format!("#f-{field}"))).await?;
        let Some(control) = found.first() else { continue };
        control.send_keys(value).await?;
    }
    browser.find(By::Css("main button[type=submit]")).await?.click().await?;
    browser.query(By::Css(".recovery")).first().await.context("the recovery codes")?;
    browser.goto(format!("{}backoffice", gateway.public_url())).await?;
    browser.query(By::Css("nav.nav [aria-current=page]")).first().await.context("the first page")?;
    Ok(secret)
}

/// Asserts that a page is small, fits into its width, follows its policy, and has no findings of axe in light, dark and
/// right-to-left.
async fn check_page(browser: &Browser, address: &str) -> anyhow::Result<()> {
    // An address with a fragment would not be loaded again.
    browser.goto("about:blank").await?;
    browser.goto(address).await?;
    for (width, scheme, direction) in [(1440, "light", "ltr"), (768, "dark", "ltr"), (390, "light", "rtl")] {
        browser.resize_page(width, 900).await?;
        browser.set_color_scheme(scheme).await?;
        browser.execute(format!("document.documentElement.dir = '{direction}'"), vec![]).await?;
        let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth").await?;
        assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{address}: {wide} pixels too wide at {width}");
        let found = browser.run_axe().await?;
        assert!(found.is_empty(), "{address} {width} {scheme} {direction}:\n{}", found.join("\n"));
    }
    let size = browser.evaluate("new Blob([document.documentElement.outerHTML]).size").await?;
    assert!(size.as_u64().is_some_and(|size| size <= MAX_PAGE), "{address}: {size} bytes");
    assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new(), "{address}");
    Ok(())
}

/// Opens each page of the list as an administrator, and asserts what [`check_page`] says. A page is an address below
/// `/backoffice`.
async fn check_pages(gateway: TestGateway, pages: Vec<String>) -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        for page in pages {
            check_page(&browser, &format!("{}backoffice{page}", gateway.public_url())).await?;
        }
        Ok(())
    })
    .await
}
