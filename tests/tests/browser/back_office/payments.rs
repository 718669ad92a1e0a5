//! Home, payments and the search.

use anyhow::Context as _;
use thirtyfour::prelude::*;
use tillgate_tests::{MerchantClient, TestGateway, run_in_browser};

use super::{HOSTILE, become_administrator, check_page, check_pages};

/// A VISA number whose payments are declined.
const DECLINED_CARD: &str = "4200000000005512";

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
async fn the_pages_of_payments_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let approved = make_payments(&merchant).await?;
    for number in 0..50 {
        merchant.pay_by_card(&[("merchantTransactionId", &format!("order-2{number:03}"))]).await?;
    }
    let columns = "/payments?columns=state,mail,last4,registration,schedule,risk,result";
    let lists = ["", "/payments", "/payments?last4=0000&min=x", columns, "/payments/views?state=held"];
    let lists = lists.map(str::to_owned);
    let own = ["", "/refund", "/comments"].map(|page| format!("/payments/{approved}{page}"));
    // Its timeline has the messages to the acquirer's host.
    let external = merchant.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
    let external = [format!("/payments/{}", external.id())];
    check_pages(gateway, [&lists[..], &own, &external].concat()).await
}

#[tokio::test]
async fn a_refund_that_needs_a_second_person_is_shown_with_its_request() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant_with(&["--refund-approval", "50.00 EUR"])?;
    let paid = make_payments(&merchant).await?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        let base = format!("{}backoffice", gateway.public_url());
        browser.goto(format!("{base}/payments/{paid}/refund")).await?;
        browser.find(By::Css("main button.primary")).await?.click().await?;
        let notice = browser.query(By::Css(".notice.good")).first().await.context("the notice")?.text().await?;
        assert!(notice.contains("A second person has to approve"), "{notice}");
        let address = browser.current_url().await?.to_string();
        check_page(&browser, &address).await?;
        check_page(&browser, &format!("{base}/approvals")).await
    })
    .await
}
