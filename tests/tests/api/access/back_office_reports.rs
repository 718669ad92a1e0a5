//! Reports in the back office: the numbers of the API as charts and tables, and attacks on the parameters.

use serde_json::Value;
use tillgate_tests::TestGateway;

use crate::access::office_browser::Person;
use crate::settlement::files::*;
use crate::settlement::settlements::{hundredths, set_terms, settle_all};
use crate::settlement::unmatched::{read_unmatched, text};

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
async fn fees_without_the_lines_that_are_not_matched_add_up_to_the_ledger() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
    pay_externally(&shop, "10.00", "order-0001").await?;
    pay_externally(&shop, "10.00", "order-0002").await?;
    let waiting = pay_externally(&shop, "10.00", "order-0002").await?.id().to_owned();
    // Two payments fit the second line, and the third names no order of the shop.
    let line = |order, amount, fee| FileLine { order, amount, fee, ..FileLine::default() };
    let lines = [line("order-0001", "10.00", "0.35"), line("order-0002", "10.00", "0.05"), line("<b>", "5.00", "0.13")];
    import_text(&gateway, &shop, format_file(&lines), &[])?;
    let read = async || -> anyhow::Result<(Value, String)> {
        let fees = shop.get("reports/v1/fees?date.from=2020-01-01&date.to=2099-12-31").await?;
        let page = person.browser.get(&format!("/money/reports/fees?{WIDE}")).await?.page;
        Ok((fees.json["fees"].clone(), page))
    };
    let add_up = |fees: &Value, is_matched: bool| -> i64 {
        let rows = fees.as_array().into_iter().flatten();
        rows.filter(|row| row["matchingStatus"].is_null() == is_matched).map(|row| hundredths(&row["fee"])).sum()
    };
    let (fees, page) = read().await?;
    assert_eq!((add_up(&fees, true), add_up(&fees, false)), (35, 18), "{fees}");
    assert_eq!(read_euros(&shop, "fees").await?, -35);
    let sum = "Fee · EUR · Not matched</dt><dd><a href=\"/backoffice/money/unmatched\">0.18</a>";
    for text in [">0.35</dd>", sum, "Debit · EUR · Not matched", "<a href=\"/backoffice/money/unmatched\">"] {
        assert!(page.contains(text), "{text} in {page}");
    }
    // A line that is matched by hand changes sides in both.
    for line in read_unmatched(&gateway, &shop)? {
        if text(&line, "merchantTransactionId") == "order-0002" {
            let record = text(&line, "recordId");
            let path = format!("/money/unmatched/{record}/match");
            assert_eq!(person.browser.post(&path, &[("payment", &waiting)]).await?.status, 303);
        }
    }
    let (fees, _) = read().await?;
    assert_eq!(read_euros(&shop, "fees").await?, -add_up(&fees, true), "{fees}");
    assert_eq!(add_up(&fees, true) + add_up(&fees, false), 53, "{fees}");
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
