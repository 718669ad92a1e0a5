//! The back office: the walk from the sign-in to the reason of a decline, by keyboard, and the accessibility of its
//! pages.

use anyhow::Context as _;
use jiff::Timestamp;
use reqwest::Method;
use thirtyfour::prelude::*;
use tillgate_domain::access::one_time_code::{CodeSecret, step_at};
use tillgate_tests::{Browser, CARD, MerchantClient, TestGateway, poll_until, run_in_browser};

/// Maximum size of a page without its style sheet and script.
const MAX_PAGE: u64 = 60_000;
/// A VISA number whose payments are declined.
const DECLINED_CARD: &str = "4200000000005512";
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
async fn become_administrator(gateway: &TestGateway, browser: &Browser) -> anyhow::Result<()> {
    let log = gateway.read_log();
    let (_, link) = log.split_once("/backoffice/invitation/").context("the link of the first administrator")?;
    let token = link.split(|it: char| it.is_whitespace() || it == '"').next().unwrap_or_default();
    browser.goto(format!("{}backoffice/invitation/{token}", gateway.public_url())).await?;
    let secret = browser.find(By::Id("secret")).await?.text().await?;
    let secret = decode_secret(&secret).context("the secret of the app")?;
    let code = secret.code_of_step(step_at(Timestamp::now())).to_string();
    let password = "a long walk by the sea 7";
    for (field, value) in [
        ("mail", "maria@kiln.example"),
        ("name", "Maria Kiln"),
        ("password", password),
        ("repeated", password),
        ("code", code.as_str()),
    ] {
        browser.find(By::Id(format!("f-{field}"))).await?.send_keys(value).await?;
    }
    browser.find(By::Css("main button[type=submit]")).await?.click().await?;
    browser.query(By::Css(".recovery")).first().await.context("the recovery codes")?;
    browser.goto(format!("{}backoffice", gateway.public_url())).await?;
    browser.query(By::Css("nav.nav [aria-current=page]")).first().await.context("the first page")?;
    Ok(())
}

/// Makes an approved payment with a refund, one with a hostile reference, and a declined one. Returns the id of the
/// approved one.
async fn make_payments(merchant: &MerchantClient) -> anyhow::Result<String> {
    let paid = merchant
        .pay_by_card(&[
            ("merchantTransactionId", "order-1001"),
            ("customer.email", "jane@shop.example"),
            ("customer.givenName", "Jane"),
            ("customer.surname", "Jones"),
        ])
        .await?;
    let id = paid.id().to_owned();
    merchant
        .post(&format!("v1/payments/{id}"), &[("paymentType", "RF"), ("amount", "46.00"), ("currency", "EUR")])
        .await?;
    merchant.pay_by_card(&[("merchantTransactionId", HOSTILE)]).await?;
    merchant.pay_by_card(&[("card.number", DECLINED_CARD), ("merchantTransactionId", "order-1002")]).await?;
    Ok(id)
}

/// Stores a card with a hostile holder, pays with it and charges it by schedules. Returns the pages about it.
async fn make_customers(merchant: &MerchantClient) -> anyhow::Result<Vec<String>> {
    let agreement = [("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")];
    let markup = "<img src=x onerror=alert(1)>";
    let fields = [("card.holder", markup), ("customer.givenName", "Jane"), ("customer.surname", "Jones")];
    let card: Vec<_> = CARD.iter().filter(|(name, _)| *name != "card.holder").copied().collect();
    let stored = merchant.post("v1/registrations", &[&card, &agreement[..], &fields].concat()).await?;
    anyhow::ensure!(stored.status == 200, "{}", stored.text);
    let registration = stored.id().to_owned();
    let charge = [("amount", "12.00"), ("currency", "EUR")];
    let daily = [("paymentType", "SD"), ("registrationId", &*registration), ("job.hour", "06,18")];
    let busy = merchant.post("scheduling/v1/schedules", &[&charge[..], &daily].concat()).await?;
    anyhow::ensure!(busy.status == 200, "{}", busy.text);
    let busy = busy.id().to_owned();
    merchant.advance_clock("24h").await?;
    poll_until("the schedule runs", async || {
        let read = merchant.get(&format!("scheduling/v1/schedules/{busy}")).await?;
        Ok(read.json["runs"].as_array().is_some_and(|runs| !runs.is_empty()).then_some(()))
    })
    .await?;
    let mut last = String::new();
    for number in 0..55 {
        let pay = [&[("paymentType", "DB")], &charge[..]].concat();
        merchant.post(&format!("v1/registrations/{registration}/payments"), &pay).await?;
        merchant.post("v1/registrations", &CARD).await?;
        let name = format!("{number} {markup}");
        let times = if number % 2 == 0 { ("job.hour", "06,18") } else { ("job.expression", "0 0 9 ? * 6#3") };
        let job = [("paymentType", "SD"), ("registrationId", &*registration), ("job.name", &*name), times];
        last = merchant.post("scheduling/v1/schedules", &[&charge[..], &job].concat()).await?.id().to_owned();
    }
    Ok(vec![
        "/customers/registrations".to_owned(),
        "/customers/registrations?entity=x".to_owned(),
        format!("/customers/registrations/{registration}"),
        "/customers/schedules".to_owned(),
        "/customers/schedules?state=ended".to_owned(),
        format!("/customers/schedules/{last}"),
        format!("/customers/schedules/{busy}"),
    ])
}

/// Creates a merchant whose payments are all held for review, and makes one with both addresses and a note. Returns the
/// payment's id.
async fn hold_payment(gateway: &TestGateway) -> anyhow::Result<String> {
    let merchant = gateway.create_merchant_with(&["--risk", "on", "--review", "hold"])?;
    let rules = "[[rule]]\nname = 'everything'\nwhen = 'amount > 0'\noutcome = 'review'\n";
    let added = merchant.post("v2/risk/rules", &[("rules", rules)]).await?;
    let version = added.json["version"].as_str().context("the version of the rules")?;
    merchant.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?;
    let fields = [
        ("merchantTransactionId", HOSTILE),
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("customer.email", "jane@shop.example"),
        ("billing.street1", "Main Street 1"),
        ("billing.city", "Seattle"),
        ("billing.country", "US"),
        ("shipping.street1", "Main Street 1"),
        ("shipping.city", "Lagos"),
        ("shipping.country", "NG"),
    ];
    let id = merchant.pay_by_card(&fields).await?.id().to_owned();
    for number in 0..30 {
        let note = format!("{number} {HOSTILE} {}", "long words ".repeat(60));
        merchant.post(&format!("v2/reviews/{id}/note"), &[("note", &note)]).await?;
        merchant.pay_by_card(&[]).await?;
    }
    Ok(id)
}

/// Charges a payment back, and adds an evidence file. Returns the id of the dispute.
async fn open_dispute(merchant: &MerchantClient) -> anyhow::Result<String> {
    let paid = merchant.pay_by_card(&[("merchantTransactionId", HOSTILE)]).await?.id().to_owned();
    let reason = [("paymentType", "CB"), ("chargebackResultCode", "000.100.203")];
    merchant.post(&format!("v1/payments/{paid}"), &reason).await?;
    let list = merchant.get("v1/disputes").await?;
    let dispute = list.json["disputes"][0]["id"].as_str().context("no dispute")?.to_owned();
    let path = format!("v1/disputes/{dispute}/evidence?entityId={}&name={}", merchant.entity_id, "proof-".repeat(20));
    let request = merchant.bare_request(Method::POST, &path).bearer_auth(&merchant.token);
    let pdf = b"%PDF-1.4\nproof\n%%EOF".to_vec();
    let added = request.header("content-type", "application/pdf").body(pdf).send().await?;
    assert_eq!(added.status(), 200, "{}", added.text().await?);
    Ok(dispute)
}

/// Asserts that a page is small, fits into its width, follows its policy, and has no findings of axe in light, dark and
/// right-to-left.
async fn check_page(browser: &Browser, address: &str) -> anyhow::Result<()> {
    for (width, scheme, direction) in [(1440, "light", "ltr"), (1440, "dark", "ltr"), (390, "light", "rtl")] {
        browser.resize_page(width, 900).await?;
        browser.set_color_scheme(scheme).await?;
        // An address with a fragment would not be loaded again, and its colours would still be changing.
        browser.goto("about:blank").await?;
        browser.goto(address).await?;
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

#[tokio::test]
async fn an_administrator_finds_a_payment_by_its_last_digits_and_sees_why_it_was_declined() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let approved = make_payments(&merchant).await?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        let base = gateway.public_url();

        // By keyboard: the key of the search, the digits, the first row.
        browser.find(By::Css("body")).await?.send_keys("/").await?;
        browser.wait_until("document.activeElement?.id === 'search'").await?;
        browser.find(By::Id("search")).await?.send_keys("5512" + Key::Enter).await?;
        let row = browser.query(By::Css("tbody tr")).first().await.context("the declined payment")?;
        assert!(row.text().await?.contains("Declined"), "{}", row.text().await?);
        assert_eq!(browser.find_all(By::Css("tbody tr")).await?.len(), 1, "no other payment");
        row.find(By::Css("th a")).await?.send_keys(Key::Enter + "").await?;
        let reason = browser.query(By::Css(".notice.bad")).first().await.context("the reason")?.text().await?;
        assert!(reason.contains("Declined:") && reason.contains("800.100."), "{reason}");

        // A pasted id opens its payment. The timeline has the refund and the entries of the ledger.
        let search = browser.find(By::Id("search")).await?;
        search.send_keys(format!(" {approved} ") + Key::Enter).await?;
        browser.wait_until(&format!("location.pathname.endsWith('{approved}')")).await?;
        let timeline = browser.find(By::Css(".timeline")).await?.text().await?;
        for step in ["Debit: 92.00 EUR · Approved", "Refund: 46.00 EUR · Approved", "of the audit log", "+92.00 EUR"]
        {
            assert!(timeline.contains(step), "{step} in {timeline}");
        }

        // Markup of a merchant is text.
        browser.goto(format!("{base}backoffice/payments")).await?;
        let references = browser.find(By::Css("table")).await?.text().await?;
        assert!(references.contains(HOSTILE), "{references}");
        assert_eq!(browser.evaluate("document.querySelectorAll('main img').length").await?, 0);

        let unknown = approved.replace(|digit: char| digit.is_ascii_digit(), "0");
        browser.goto(format!("{base}backoffice/payments/{unknown}")).await?;
        assert_eq!(browser.find(By::Css("h1")).await?.text().await?, "Page not found");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn every_page_is_small_accessible_and_within_its_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let approved = make_payments(&merchant).await?;
    let held = hold_payment(&gateway).await?;
    let disputed = open_dispute(&merchant).await?;
    for number in 0..50 {
        merchant.pay_by_card(&[("merchantTransactionId", &format!("order-2{number:03}"))]).await?;
    }
    let customers = make_customers(&merchant).await?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        let (detail, account) =
            (format!("/payments/{approved}"), format!("/administration/entities/{}", merchant.entity_id));
        let lists = [
            "",
            "/payments",
            "/payments?last4=0000&min=x",
            "/components",
            "/deliveries",
            "/deliveries/new",
            "/administration",
            "/users",
            "/account",
        ];
        let refund = format!("{detail}/refund");
        let audit = [
            "/administration/audit",
            "/administration/audit?view=all",
            "/administration/audit?from=x",
            "/administration/audit/1",
        ];
        let settings = format!("{account}/settings");
        let review = format!("/reviews/{held}?done=review_approved");
        let reviews = ["/reviews", "/reviews?view=mine", "/reviews?view=all", &review];
        let dispute = format!("/money/disputes/{disputed}");
        let accepting = format!("{dispute}#accept");
        let money = ["/money/disputes", "/money/disputes?view=won", &dispute, &accepting];
        let lists_of_money = ["/money/settlements", "/money/files", "/money/unmatched"];
        let own = [&*detail, &*refund, &*account, &*settings];
        let customers = customers.iter().map(String::as_str);
        let money = money.into_iter().chain(lists_of_money);
        for page in lists.into_iter().chain(audit).chain(own).chain(reviews).chain(money).chain(customers) {
            check_page(&browser, &format!("{}backoffice{page}", gateway.public_url())).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_analyst_decides_by_keyboard_and_the_next_payment_opens() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let first = hold_payment(&gateway).await?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        browser.goto(format!("{}backoffice/reviews", gateway.public_url())).await?;
        let press = async |key: &str| browser.action_chain().send_keys(key).perform().await;
        let press_enter = async || browser.action_chain().send_keys(Key::Enter + "").perform().await;
        for key in ["j", "j", "k"] {
            press(key).await?;
        }
        browser.wait_until(&format!("document.activeElement?.href?.endsWith('{first}')")).await?;
        press_enter().await?;
        browser.wait_until(&format!("location.pathname.endsWith('{first}')")).await?;
        // A key opens the form of the cancellation, and decides nothing.
        press("c").await?;
        browser.wait_until("document.activeElement?.id === 'f-reason'").await?;
        browser.evaluate("document.activeElement.blur()").await?;
        press("n").await?;
        browser.wait_until("document.activeElement?.id === 'f-note'").await?;
        // The note has the keys as letters.
        press("a cap jnk").await?;
        let note = browser.evaluate("document.getElementById('f-note').value").await?;
        assert_eq!(note, "a cap jnk");
        browser.evaluate("document.activeElement.blur()").await?;
        press("a").await?;
        browser.wait_until("document.activeElement?.textContent === 'Approve'").await?;
        assert_eq!(browser.evaluate("location.search").await?, "", "the key alone has decided");
        press_enter().await?;
        browser.wait_until(&format!("location.search.startsWith('?previous={first}')")).await?;
        let notice = browser.find(By::Css(".notice.good")).await?.text().await?;
        assert_eq!(notice, "You have approved the previous payment.");
        Ok(())
    })
    .await
}
