//! The ledger in the back office: balances, the entries that make a balance up, and attacks on the addresses.

use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::office_browser::{OfficeBrowser, Person};
use crate::settlement::files::read_euros;
use crate::settlement::settlements::settle_all;

/// Returns a number in hundredths that a page shows, such as `-1,234.50 EUR`.
fn parse_amount(text: &str) -> Option<i64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let sign = if text.starts_with('\u{2212}') { -1 } else { 1 };
    Some(sign * digits.parse::<i64>().ok()?)
}

/// Returns the amounts of the cells of a page after a header, in their order.
fn amounts(page: &str) -> Vec<i64> {
    let spans = page.split("<span class=\"nowrap\">").skip(1);
    spans.filter_map(|rest| parse_amount(rest.split_once(" EUR<")?.0)).collect()
}

/// Reads all pages of an account. Returns the balance and the changes of all entries, newest first.
async fn read_account(
    browser: &OfficeBrowser,
    shop: &MerchantClient,
    account: &str,
) -> anyhow::Result<(i64, Vec<i64>)> {
    let path = format!("/money/ledger/{}/{account}/EUR", shop.entity_id);
    let (mut next, mut balance, mut changes) = (Some(path), None, Vec::new());
    while let Some(path) = next {
        let answer = browser.get(&path).await?;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.page.contains("do not add up"), "{}", answer.page);
        let (head, table) = answer.page.split_once("<tbody>").unwrap_or_default();
        balance.get_or_insert(amounts(head).first().copied().unwrap_or_default());
        let cells = amounts(table);
        for pair in cells.chunks(2) {
            // The sum after an entry is that of all changes up to it.
            let expected = balance.unwrap_or_default() - changes.iter().sum::<i64>();
            assert_eq!(pair.get(1), Some(&expected), "{path}");
            changes.extend(pair.first());
        }
        let more =
            answer.page.split_once("\" rel=\"next\"").and_then(|(before, _)| before.rsplit_once("href=\"/backoffice"));
        next = more.map(|(_, address)| address.to_owned());
    }
    Ok((balance.unwrap_or_default(), changes))
}

#[tokio::test]
async fn a_balance_is_the_sum_of_its_entries_on_all_pages() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "ann@shop.example", "accountant", Some(&shop.entity_id)).await?;
    let mut first = String::new();
    for number in 0..60_u32 {
        let paid = shop.pay_by_card(&[("amount", &format!("{}.50", number + 1))]).await?;
        first = if number == 0 { paid.id().to_owned() } else { first };
    }
    shop.post(&format!("v1/payments/{first}"), &[("paymentType", "RF"), ("amount", "0.30"), ("currency", "EUR")])
        .await?;
    let (balance, changes) = read_account(&person.browser, &shop, "receivable").await?;
    assert_eq!((changes.len(), changes.iter().sum::<i64>()), (61, balance));
    assert_eq!(balance, read_euros(&shop, "receivable").await?);
    settle_all(&shop, "25h").await?;
    for account in ["receivable", "payable"] {
        let (balance, changes) = read_account(&person.browser, &shop, account).await?;
        assert_eq!((changes.iter().sum::<i64>(), balance), (balance, read_euros(&shop, account).await?), "{account}");
    }
    let path = format!("/money/ledger/{}/receivable/EUR", shop.entity_id);
    let page = person.browser.get(&path).await?.page;
    let batch = format!("href=\"/backoffice/money/settlements/{}/", shop.entity_id);
    assert!(page.contains(&batch) && page.contains("href=\"/backoffice/payments/"), "{page}");
    let list = person.browser.get("/money/ledger").await?.page;
    assert!(list.contains(&format!("href=\"/backoffice{path}\"")), "{list}");
    Ok(())
}

#[tokio::test]
async fn an_account_of_another_tenant_is_as_unknown_as_one_that_does_not_exist() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = Person::enrol(&gateway, "ann@shop.example", "viewer", Some(&shop.entity_id)).await?;
    for payer in [&shop, &other] {
        payer.pay_by_card(&[]).await?;
    }
    let (own, foreign) = (&shop.entity_id, &other.entity_id);
    let nothing = person.browser.get("/money/ledger/8a000000000000000000000000000000/payable/EUR").await?;
    for path in [
        format!("{foreign}/payable/EUR"),
        format!("{own}/payable/USD"),
        format!("{own}/payable/eur"),
        format!("{own}/payable/<script>"),
        format!("{own}/Payable/EUR"),
        format!("{own}/payable/EUR?before=x"),
        format!("{own}/payable/EUR?before=99999999999999999999"),
    ] {
        let answer = person.browser.get(&format!("/money/ledger/{path}")).await?;
        assert_eq!((answer.status, &answer.page), (404, &nothing.page), "{path}");
    }
    // Any number continues at its place, and never changes a sum.
    for before in ["-1", "0", "9223372036854775807"] {
        let answer = person.browser.get(&format!("/money/ledger/{own}/receivable/EUR?before={before}")).await?;
        assert!(answer.status == 200 && answer.page.contains("92.00 EUR"), "{before}");
    }
    for query in [format!("entity={foreign}"), "entity=<script>alert(1)</script>".to_owned()] {
        let answer = person.browser.get(&format!("/money/ledger?{query}")).await?;
        assert!(answer.status == 200 && answer.page.contains("There is no such entity"), "{query}");
        assert!(!answer.page.contains("92.00 EUR") && !answer.page.contains("<script>alert"), "{query}");
    }
    assert_eq!(person.browser.get("/money/ledger?before=x").await?.status, 404);
    Ok(())
}
