//! Saved lists, columns and the filters by risk check and schedule in the back office, and attacks on them.

use tillgate_tests::{Database, MerchantClient, TestGateway, poll_until};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::Person;
use crate::schedule::schedules::{create_schedule, read_schedule, register_card};
use crate::support::assert_result;

async fn open() -> anyhow::Result<(TestGateway, MerchantClient, Person)> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&shop.entity_id)).await?;
    Ok((gateway, shop, person))
}

/// Returns the stored lists: name and query.
fn read_views(gateway: &TestGateway) -> anyhow::Result<Vec<(String, String)>> {
    let database = Database::open(&gateway.data_folder())?;
    let mut statement = database.prepare("SELECT name, query FROM saved_view ORDER BY name")?;
    Ok(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_saved_with_its_filters_and_columns_shown_to_its_user_only_and_deleted() -> anyhow::Result<()> {
    let (gateway, shop, person) = open().await?;
    let browser = &person.browser;
    let query = "state=declined&last4=5512&columns=state,mail";
    let form = browser.get(&format!("/payments/views?{query}")).await?;
    assert!(form.page.contains("value=\"state=declined&amp;last4=5512&amp;columns=state%2Cmail\""), "{}", form.page);
    for _ in 0..2 {
        let saved = browser.post("/payments/views", &[("name", "<b>Lost"), ("query", query)]).await?;
        let list = "/backoffice/payments?state=declined&last4=5512&columns=state%2Cmail";
        assert_eq!((saved.status, saved.header("location")), (303, &*format!("{list}&done=view_saved")));
    }
    let stored = ("<b>Lost".to_owned(), "state=declined&last4=5512&columns=state%2Cmail".to_owned());
    assert_eq!(read_views(&gateway)?, [stored]);
    let page = browser.get("/payments").await?.page;
    assert!(page.contains("/payments?state=declined&amp;last4=5512") && page.contains("&lt;b&gt;Lost"), "{page}");
    assert!(!page.contains("<b>Lost"), "{page}");
    let other = Person::enrol(&gateway, "kim@shop.example", "viewer", Some(&shop.entity_id)).await?;
    for path in ["/payments", "/payments/views"] {
        assert!(!other.browser.get(path).await?.page.contains("Lost"), "{path}");
    }
    // The same name of another user.
    other.browser.post("/payments/views/delete", &[("name", "<b>Lost")]).await?;
    assert_eq!(other.browser.post("/payments/views", &[("name", "<b>Lost"), ("query", "")]).await?.status, 303);
    assert_eq!(read_views(&gateway)?.len(), 2);
    for _ in 0..2 {
        let deleted = browser.post("/payments/views/delete", &[("name", "<b>Lost")]).await?;
        assert_eq!(deleted.header("location"), "/backoffice/payments/views?done=view_deleted");
    }
    assert_eq!(read_views(&gateway)?.len(), 1);
    assert_eq!((read_entries(&gateway, "view save")?.len(), read_entries(&gateway, "view delete")?.len()), (2, 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_list_leads_to_the_list_of_payments_only() -> anyhow::Result<()> {
    let (gateway, _, person) = open().await?;
    for (number, query) in [
        "https://evil.example/",
        "//evil.example",
        "/../../administration",
        "next=https://evil.example&before=8a&done=x",
        "javascript:alert(1)",
        "#&state=",
        "\r\nLocation: https://evil.example",
    ]
    .into_iter()
    .enumerate()
    {
        let name = number.to_string();
        let saved = person.browser.post("/payments/views", &[("name", &name), ("query", query)]).await?;
        assert_eq!(saved.header("location"), "/backoffice/payments?done=view_saved", "{query}");
    }
    assert!(read_views(&gateway)?.iter().all(|(_, query)| query.is_empty()), "{:?}", read_views(&gateway)?);
    // A row that another program has written is read by the filter again.
    let database = Database::open(&gateway.data_folder())?;
    database.execute("UPDATE saved_view SET query = 'x=\"><b>&state=held&next=https://evil.example'", [])?;
    let page = person.browser.get("/payments").await?.page;
    assert!(page.contains("href=\"/backoffice/payments?state=held\"") && !page.contains("evil"), "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_list_is_refused_and_a_user_has_thirty() -> anyhow::Result<()> {
    let (gateway, shop, person) = open().await?;
    let (long, far) = ("x".repeat(61), format!("reference={}&mail={}", "r".repeat(200), "m".repeat(200)));
    for (name, query, reason) in [
        ("", "", "a name has"),
        (&*long, "", "at most 60 characters"),
        ("a\nb", "", "a name has"),
        ("kept", "state=lost", "filters of this list are not valid"),
        ("kept", "columns=secret", "filters of this list are not valid"),
        ("kept", "channel=8a000000000000000000000000000000", "filters of this list are not valid"),
        ("kept", &far, "too long to be saved"),
    ] {
        let refused = person.browser.post("/payments/views", &[("name", name), ("query", query)]).await?;
        assert_eq!(refused.status, 422, "{name} {query}");
        assert!(refused.page.contains(reason), "{name} {query} {}", refused.page);
        assert_eq!(refused.page.contains("value=\"kept\""), name == "kept", "{}", refused.page);
    }
    for number in 0..30 {
        let name = format!("list {number} {}", "&".repeat(45));
        let query = format!("reference={}", "%26".repeat(80));
        let saved = person.browser.post("/payments/views", &[("name", &name), ("query", &query)]).await?;
        assert_eq!(saved.status, 303, "{number}: {}", saved.page);
    }
    let refused = person.browser.post("/payments/views", &[("name", "one more"), ("query", "")]).await?;
    assert!(refused.status == 422 && refused.page.contains("30 saved lists already"), "{}", refused.page);
    assert_eq!(read_views(&gateway)?.len(), 30);
    for path in ["/payments", "/payments/views"] {
        let page = person.browser.get(path).await?;
        assert!(page.status == 200 && page.page.len() <= 60_000, "{path}: {} bytes", page.page.len());
    }
    let late = person.browser.begin_form("/payments/views", &[("name", "late"), ("query", "")]).await?;
    let lost = ["--mail", "robin@shop.example", "--role", "merchant", "--entity", &shop.entity_id];
    gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!(late.finish().await?, 404);
    assert_eq!(read_views(&gateway)?.len(), 30);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn chosen_columns_are_in_the_list_and_in_csv() -> anyhow::Result<()> {
    let (_gateway, shop, person) = open().await?;
    let customer =
        [("customer.givenName", "Jane"), ("customer.surname", "Jones"), ("customer.email", "jane@shop.example")];
    let paid = shop.pay_by_card(&[&customer[..], &[("merchantTransactionId", "hidden-1")]].concat()).await?;
    assert_result(&paid, 200, "000.100.110");
    // The form sends several values, and an address has one.
    for query in ["columns=mail&columns=result&columns=last4", "columns=mail,result,last4"] {
        let page = person.browser.get(&format!("/payments?{query}")).await?.page;
        let table = page.split_once("<table").map(|(_, table)| table).unwrap_or_default();
        assert!(table.contains("jane@shop.example") && !table.contains("hidden-1"), "{page}");
        let csv = person.browser.get(&format!("/payments.csv?{query}")).await?.page;
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "id,amount,currency,customerEmail,resultCode,result,last4");
        assert!(lines[1].contains(",92.00,EUR,jane@shop.example,000.100.110,"), "{csv}");
    }
    let usual = person.browser.get("/payments?columns=state,method,type,reference,channel,time").await?.page;
    assert!(usual.contains("hidden-1") && !usual.contains("payments?columns="), "{usual}");
    assert!(person.browser.get("/payments.csv").await?.page.starts_with("id,created,entityId,type,brand,"));
    for wrong in ["columns=amount", "columns=mail,mail", "columns=%3Cb%3E", "risk=x", "schedule=x"] {
        let page = person.browser.get(&format!("/payments?{wrong}")).await?;
        assert!(page.status == 200 && page.page.contains("No payments"), "{wrong} {}", page.page);
        assert!(!page.page.contains("<b>"), "{wrong}");
        assert_eq!(person.browser.get(&format!("/payments.csv?{wrong}")).await?.status, 404, "{wrong}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_are_found_by_their_risk_check_and_by_their_schedule() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--risk", "on", "--review", "hold"])?;
    let rules = "[[rule]]\nname = 'large'\nwhen = 'amount > 500'\noutcome = 'review'\n";
    let added = shop.post("v2/risk/rules", &[("rules", rules)]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?;
    let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&shop.entity_id)).await?;
    let held = shop.pay_by_card(&[("amount", "920.00")]).await?.id().to_owned();
    let accepted = shop.pay_by_card(&[]).await?.id().to_owned();
    for (risk, found, missing) in [("review", &held, &accepted), ("accept", &accepted, &held)] {
        let page = person.browser.get(&format!("/payments?risk={risk}")).await?.page;
        assert!(page.contains(&format!("/payments/{found}\"")), "{risk} {page}");
        assert!(!page.contains(&format!("/payments/{missing}\"")), "{risk} {page}");
    }
    let registration = register_card(&shop, &[]).await?;
    let id = create_schedule(&shop, &registration, &[("job.hour", "06")]).await?.id().to_owned();
    shop.advance_clock("24h").await?;
    let run = poll_until("the schedule runs", async || {
        let read = read_schedule(&shop, &id).await?;
        Ok(read.json["runs"][0]["paymentId"].as_str().map(str::to_owned))
    })
    .await?;
    let page = person.browser.get(&format!("/payments?schedule={id}&columns=schedule,risk")).await?.page;
    assert!(page.contains(&format!("/payments/{run}\"")) && !page.contains(&accepted), "{page}");
    // The schedule of another tenant leads to none of its payments.
    let other = gateway.create_merchant()?;
    let stranger = Person::enrol(&gateway, "kim@other.example", "merchant", Some(&other.entity_id)).await?;
    let page = stranger.browser.get(&format!("/payments?schedule={id}")).await?.page;
    assert!(!page.contains(&run) && page.contains("No payments"), "{page}");
    Ok(())
}
