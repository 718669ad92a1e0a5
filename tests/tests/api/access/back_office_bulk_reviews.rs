//! Decisions about several held payments and the statistics of reviews in the back office, and attacks on them.

use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::back_office_reviews::{PAID, read_acts};
use crate::access::office_browser::{OfficeBrowser, Person};
use crate::payment::held_payments::{DENIED, HELD, create_reviewed_shop};
use crate::review::queue::hold_payment;
use crate::support::assert_result;

/// A note with markup.
const HOSTILE: &str = "<script>alert(1)</script>";

/// Holds payments.
async fn hold(shop: &MerchantClient, count: usize) -> anyhow::Result<Vec<String>> {
    let mut held = Vec::new();
    for number in 0..count {
        held.push(hold_payment(shop, &[("merchantTransactionId", &format!("order-000{number}"))]).await?);
    }
    Ok(held)
}

/// Returns the fields of a decision about payments.
fn choice<'a>(decision: &'a str, ids: &[&'a str], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let ids = ids.iter().map(|id| ("payment", *id));
    [("decision", decision)].into_iter().chain(ids).chain(more.iter().copied()).collect()
}

async fn read_code(shop: &MerchantClient, payment: &str) -> anyhow::Result<String> {
    Ok(shop.get(&format!("v1/payments/{payment}")).await?.result_code().to_owned())
}

#[tokio::test]
async fn nothing_is_decided_before_the_second_request_and_then_each_payment_has_its_outcome() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let held = hold(&shop, 3).await?;
    let [first, second, third] = [&*held[0], &*held[1], &*held[2]];
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let colleague = Person::enrol(&gateway, "bob@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let browser = &person.browser;
    let queue = browser.get("/reviews").await?.page;
    assert!(queue.contains(&format!("name=\"payment\" value=\"{first}\"")), "{queue}");
    let chosen = browser.get(&format!("/reviews/decisions?payment={first}&payment={second}&payment={first}")).await?;
    assert!(chosen.page.contains("Approve 2") && chosen.page.contains("Cancel 2"), "{}", chosen.page);
    assert!(chosen.page.contains("order-0000") && !chosen.page.contains("order-0002"), "{}", chosen.page);

    let fields = choice("approve", &[first, second, third], &[("note", HOSTILE)]);
    let shown = browser.post("/reviews/decisions", &fields).await?;
    assert_eq!(shown.status, 200, "{}", shown.page);
    for text in ["Nothing has been decided yet.", "Undo", "data-after=\"5\"", "/reviews/decisions/outcome"] {
        assert!(shown.page.contains(text), "{text} in {}", shown.page);
    }
    assert!(!shown.page.contains("<script>alert"), "{}", shown.page);
    for id in [first, second, third] {
        assert_result(&shop.get(&format!("v1/payments/{id}")).await?, 200, HELD);
    }
    // Somebody else claims one of them meanwhile: the others are decided, and its outcome says who has it.
    colleague.browser.post(&format!("/reviews/{second}/claim"), &[]).await?;
    for _ in 0..2 {
        let outcome = browser.post("/reviews/decisions/outcome", &fields).await?;
        assert_eq!(outcome.status, 200, "{}", outcome.page);
        assert!(outcome.page.contains("Approved") && outcome.page.contains("Unchanged"), "{}", outcome.page);
        assert!(outcome.page.contains("bob@shop.example"), "{}", outcome.page);
    }
    assert_eq!(read_code(&shop, first).await?, PAID);
    assert_eq!(read_code(&shop, second).await?, HELD);
    let acts = read_acts(&shop, first).await?;
    assert_eq!(acts, [("approve".to_owned(), person.mail.clone(), HOSTILE.into())]);

    let cancel = choice("cancel", &[second], &[("reason", "7")]);
    let cancelled = colleague.browser.post("/reviews/decisions/outcome", &cancel).await?;
    assert!(cancelled.page.contains("Cancelled"), "{}", cancelled.page);
    assert_result(&shop.get(&format!("v1/payments/{second}")).await?, 400, DENIED);
    Ok(())
}

#[tokio::test]
async fn a_choice_with_a_mistake_or_a_payment_of_another_tenant_decides_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let other = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let (own, foreign) = (hold(&shop, 1).await?, hold(&other, 1).await?);
    let (own, foreign) = (own[0].as_str(), foreign[0].as_str());
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let viewer = Person::enrol(&gateway, "vera@shop.example", "viewer", Some(&shop.entity_id)).await?;
    let browser: &OfficeBrowser = &person.browser;
    let unknown = browser.get("/reviews/decisions?payment=8a000000000000000000000000000000").await?;
    assert_eq!(unknown.status, 404);
    for id in [foreign, "x", HOSTILE, "8a000000000000000000000000000000"] {
        let shown = browser.get(&format!("/reviews/decisions?payment={own}&payment={id}")).await?;
        assert_eq!((shown.status, &shown.page), (404, &unknown.page), "{id}");
        for path in ["/reviews/decisions", "/reviews/decisions/outcome"] {
            let answer = browser.post(path, &choice("approve", &[own, id], &[])).await?;
            assert_eq!((answer.status, &answer.page), (404, &unknown.page), "{path} {id}");
        }
    }
    let long = "x".repeat(5000);
    for path in ["/reviews/decisions", "/reviews/decisions/outcome"] {
        for fields in [
            choice("approve", &[], &[]),
            choice("", &[own], &[]),
            choice("pend", &[own], &[]),
            choice("cancel", &[own], &[]),
            choice("cancel", &[own], &[("reason", "none")]),
            choice("approve", &[own], &[("note", &long)]),
            choice("approve", &[own], &[("note", "card 4200000000000000")]),
        ] {
            let refused = browser.post(path, &fields).await?;
            assert_eq!(refused.status, 422, "{path} {fields:?}");
            assert!(refused.page.contains("role=\"alert\""), "{}", refused.page);
        }
        assert_eq!(viewer.browser.post(path, &choice("approve", &[own], &[])).await?.status, 403, "{path}");
    }
    let many: Vec<String> =
        (0..26).map(|number| format!("payment=8a0000000000000000000000000000{number:02x}")).collect();
    assert_eq!(browser.get(&format!("/reviews/decisions?{}", many.join("&"))).await?.status, 404);
    assert!(!viewer.browser.get("/reviews").await?.page.contains("type=\"checkbox\""));
    // A right that ends while the form arrives decides nothing.
    let form = browser.begin_form("/reviews/decisions/outcome", &choice("approve", &[own], &[])).await?;
    let remove = ["user", "role", "remove", "--mail", "ann@shop.example", "--role", "analyst", "--entity"];
    gateway.run_command(&[&remove[..], &[&*shop.entity_id]].concat())?;
    form.finish().await?;
    for (shop, id) in [(&shop, own), (&other, foreign)] {
        assert_eq!(read_code(shop, id).await?, HELD);
    }
    Ok(())
}

#[tokio::test]
async fn statistics_count_the_outcomes_of_each_analyst_and_rule() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let other = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let held = hold(&shop, 4).await?;
    let foreign = hold(&other, 1).await?;
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let stranger = Person::enrol(&gateway, "eve@other.example", "analyst", Some(&other.entity_id)).await?;
    stranger.browser.post(&format!("/reviews/{}/approve", foreign[0]), &[]).await?;
    for (id, act) in held.iter().zip(["approve", "approve", "cancel", "pend"]) {
        person.browser.post(&format!("/reviews/{id}/{act}"), &[("reason", "7")]).await?;
    }
    shop.post(&format!("v1/payments/{}", held[0]), &[("paymentType", "CB"), ("chargebackResultCode", "000.100.203")])
        .await?;
    let page = person.browser.get("/reviews/statistics?period=today&zone=UTC").await?.page;
    for name in ["ann@shop.example", "everything"] {
        let row =
            page.split_once(&format!("<span class=\"cut\">{name}</span>")).map(|(_, rest)| rest).unwrap_or_default();
        let row = row.split("</tr>").next().unwrap_or_default();
        let numbers: Vec<&str> = row.split("<td").skip(1).filter_map(|cell| cell.split(['>', '<']).nth(1)).collect();
        // Approved, cancelled, expired, kept pending, and charged back after the median.
        assert_eq!((&numbers[..4], numbers[5]), (&["2", "1", "0", "1"][..], "1"), "{name} {page}");
    }
    assert!(!page.contains("eve@other.example"), "{page}");
    let earlier = person.browser.get("/reviews/statistics?from=2020-01-01&to=2020-01-31").await?.page;
    assert!(earlier.contains("No review in this period"), "{earlier}");
    for query in ["from=x", "to=2020-01-01&from=2020-01-02", "zone=Nowhere", "period=%3Cscript%3Ealert(1)"] {
        let wrong = person.browser.get(&format!("/reviews/statistics?{query}")).await?;
        assert!(wrong.status == 200 && !wrong.page.contains("<script>alert"), "{query}");
        assert!(wrong.page.contains("not valid") || wrong.page.contains("no such period"), "{query} {}", wrong.page);
    }
    Ok(())
}
