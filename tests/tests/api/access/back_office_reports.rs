//! Reports in the back office: the numbers of the API as charts and tables, and attacks on the parameters.

use tillgate_tests::TestGateway;

use crate::access::office_browser::Person;
use crate::settlement::settlements::{set_terms, settle_all};

/// Names of the reports.
const REPORTS: [&str; 6] = ["totals", "authorizations", "chargebacks", "settlements", "fees", "reconciliations"];
/// A period that has every payment of a test.
const WIDE: &str = "from=2020-01-01&to=2099-12-31&zone=UTC";

#[tokio::test]
async fn a_report_has_the_rows_of_the_api_in_its_csv_and_a_chart_for_each_currency() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
    let list = person.browser.get("/money/reports").await?.page;
    set_terms(&gateway, &shop, "[[fee]]\non = \"charge\"\npercent = \"1.5\"\n")?;
    shop.pay_by_card(&[("amount", "1250.00")]).await?;
    let paid = shop.pay_by_card(&[("amount", "30.00")]).await?.id().to_owned();
    shop.pay_by_card(&[("amount", "77.00"), ("currency", "USD")]).await?;
    shop.pay_by_card(&[("amount", "5.00")]).await?;
    shop.post(&format!("v1/payments/{paid}"), &[("paymentType", "CB"), ("chargebackResultCode", "000.100.203")])
        .await?;
    settle_all(&shop, "25h").await?;
    for report in REPORTS {
        let path = format!("/money/reports/{report}");
        assert!(list.contains(&format!("href=\"/backoffice{path}\"")), "{report} in {list}");
        let page = person.browser.get(&format!("{path}?{WIDE}")).await?;
        assert_eq!(page.status, 200, "{report}: {}", page.page);
        assert!(page.page.contains("<svg class=\"bars\"") && !page.page.contains("style="), "{report}: {}", page.page);
        let sent = person.browser.get(&format!("{path}/csv?{WIDE}&group=day,paymentBrand,paymentType,result")).await?;
        assert_eq!(sent.header("content-type"), "text/csv; charset=utf-8", "{report}");
        let name = if report == "reconciliations" { "reconciliations/aggregations" } else { report };
        let api = shop.get(&format!("reports/v1/{name}?date.from=2020-01-01&date.to=2099-12-31&format=csv")).await?;
        assert_eq!(sent.page, api.text, "{report}");
        assert!(api.text.lines().count() > 1, "{report} {}", api.text);
    }
    let totals = person.browser.get(&format!("/money/reports/totals?{WIDE}&group=paymentType,result")).await?.page;
    for text in ["1,285.00", "77.00", "30.00"] {
        assert!(totals.contains(text), "{text} in {totals}");
    }
    // Amounts of two currencies are never added, so each has its chart.
    assert!(!totals.contains("1,362.00") && totals.matches("<svg class=\"bars\"").count() >= 2, "{totals}");
    Ok(())
}

#[tokio::test]
async fn wrong_parameters_are_named_and_entities_of_other_tenants_are_unknown() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = Person::enrol(&gateway, "vera@shop.example", "viewer", Some(&shop.entity_id)).await?;
    other.pay_by_card(&[("amount", "83.00")]).await?;
    for report in REPORTS {
        for (query, fault) in [
            (format!("entity={}", other.entity_id), "There is no such entity"),
            ("entity=<script>alert(1)</script>".to_owned(), "There is no such entity"),
            ("from=yesterday".to_owned(), "This value is not valid."),
            ("from=2026-01-02&to=2026-01-01".to_owned(), "This value is not valid."),
            ("zone=Nowhere".to_owned(), "This value is not valid."),
            ("period=always".to_owned(), "There is no such period."),
        ] {
            let page = person.browser.get(&format!("/money/reports/{report}?{query}")).await?;
            assert!(page.status == 200 && page.page.contains(fault), "{report} {query}: {}", page.page);
            assert!(!page.page.contains("<script>alert") && !page.page.contains("83.00"), "{report} {query}");
            let csv = person.browser.get(&format!("/money/reports/{report}/csv?{query}")).await?;
            assert_eq!(csv.status, 404, "{report} {query}");
        }
        let own = person.browser.get(&format!("/money/reports/{report}?{WIDE}")).await?.page;
        assert!(own.contains("Nothing in this period") && !own.contains("83.00"), "{report} {own}");
    }
    for path in ["/money/reports/totals?group=secret", "/money/reports/totals?group=day,%3Cscript%3E"] {
        let page = person.browser.get(path).await?.page;
        assert!(page.contains("This value is not valid.") && !page.contains("<script>"), "{page}");
    }
    for path in ["/money/reports/none", "/money/reports/none/csv", "/money/reports/totals%2f.."] {
        assert_eq!(person.browser.get(path).await?.status, 404, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn days_are_those_of_the_zone_in_the_address() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
    let paid = shop.pay_by_card(&[]).await?;
    let time = paid.json["timestamp"].as_str().unwrap_or_default().replace(' ', "T").replace("+0000", "Z");
    let time: jiff::Timestamp = time.parse()?;
    let mut days = Vec::new();
    for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago"] {
        let day = time.in_tz(zone)?.date().to_string();
        let query = format!("/money/reports/totals/csv?from={day}&to={day}&zone={zone}&group=day");
        let csv = person.browser.get(&query).await?.page;
        assert!(csv.contains(&format!("{day},EUR,1,92.00")), "{zone} {csv}");
        days.push(day);
    }
    // The two zones are 25 hours apart, so a payment is on different days in them.
    assert_ne!(days.first(), days.last());
    Ok(())
}
