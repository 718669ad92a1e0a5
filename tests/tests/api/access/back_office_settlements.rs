//! Settlements and reconciliation files in the back office, and attacks on them.

use anyhow::Context as _;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::office_browser::{OfficeBrowser, Person};
use crate::settlement::reconciliation_files::{ReconciliationScene, expected_file, file_name, today, wait_for_files};
use crate::settlement::settlements::{read_rows, set_terms, settle_all};

/// A reference with markup.
const HOSTILE: &str = "\"><script>alert(1)</script>";

/// Returns the addresses of the batches on a page of the list, in their order.
fn batch_addresses(page: &str) -> Vec<String> {
    let rows = page.split("<th scope=\"row\"").skip(1);
    let addresses = rows.filter_map(|row| row.split_once("href=\"/backoffice")?.1.split('"').next());
    addresses.map(str::to_owned).collect()
}

/// Returns the address of the next page.
fn next_address(page: &str) -> Option<String> {
    let (before, _) = page.split_once("\" rel=\"next\"")?;
    let (_, address) = before.rsplit_once("href=\"/backoffice")?;
    Some(address.replace("&amp;", "&"))
}

/// Returns the references on the pages of a batch, in their order.
async fn read_lines(browser: &OfficeBrowser, address: &str) -> anyhow::Result<Vec<String>> {
    let (mut found, mut next) = (Vec::new(), Some(address.to_owned()));
    while let Some(address) = next {
        let answer = browser.get(&address).await?;
        assert_eq!(answer.status, 200, "{address}");
        let references = answer.page.split("order-").skip(1).filter_map(|rest| rest.split('<').next());
        found.extend(references.map(str::to_owned));
        next = next_address(&answer.page);
    }
    Ok(found)
}

/// Enrols an accountant of an entity.
async fn enrol_accountant(gateway: &TestGateway, name: &str, entity: &str) -> anyhow::Result<Person> {
    Person::enrol(gateway, &format!("{name}@shop.example"), "accountant", Some(entity)).await
}

/// Makes payments, and settles those of their merchant. Returns the address of the latest batch.
async fn settle(payer: &MerchantClient, shop: &MerchantClient, payments: u32) -> anyhow::Result<String> {
    for number in 0..payments {
        payer.pay_by_card(&[("merchantTransactionId", &format!("order-{number:03}"))]).await?;
    }
    settle_all(shop, "25h").await?;
    let batches = read_rows(shop, "reports/v1/settlements", "settlements").await?;
    let batch = batches.last().context("no batch")?;
    let text = |name: &str| batch[name].as_str().unwrap_or_default().to_owned();
    Ok(format!("/money/settlements/{}/{}/EUR", text("entityId"), text("day")))
}

#[tokio::test]
async fn a_batch_is_listed_with_its_sums_and_shows_each_of_its_lines_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    set_terms(&gateway, &shop, "[[fee]]\non = \"charge\"\npercent = \"1.5\"\n")?;
    let person = enrol_accountant(&gateway, "ann", &shop.entity_id).await?;
    let empty = person.browser.get("/money/settlements").await?.page;
    assert!(empty.contains("No settlements"), "{empty}");
    shop.pay_by_card(&[("merchantTransactionId", HOSTILE)]).await?;
    let first = settle(&shop, &shop, 59).await?;
    let second = settle(&shop, &shop, 1).await?;
    let list = person.browser.get("/money/settlements").await?.page;
    assert_eq!(batch_addresses(&list), [second.clone(), first.clone()]);
    for text in ["5,520.00 EUR", "82.80 EUR", "5,437.20 EUR", "Complete"] {
        assert!(list.contains(text), "{text} in {list}");
    }
    let (day, entity) = (second.rsplit('/').nth(1).unwrap_or_default(), &shop.entity_id);
    let older = person.browser.get(&format!("/money/settlements?before={day}_{entity}_EUR")).await?.page;
    assert_eq!(batch_addresses(&older), std::slice::from_ref(&first));

    let mut lines = read_lines(&person.browser, &first).await?;
    lines.sort();
    assert_eq!(lines, (0..59).map(|number| format!("{number:03}")).collect::<Vec<_>>());
    let page = person.browser.get(&first).await?.page;
    assert!(!page.contains("<script>alert") && page.contains("1.38 EUR"), "{page}");
    Ok(())
}

#[tokio::test]
async fn a_batch_of_another_tenant_is_as_unknown_as_one_that_does_not_exist() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let payer = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let clerk = enrol_accountant(&gateway, "cleo", &payer.entity_id).await?;
    let person = enrol_accountant(&gateway, "ann", &shop.entity_id).await?;
    let seller = enrol_accountant(&gateway, "sam", &channel.entity_id).await?;
    let own = settle(&payer, &shop, 1).await?;
    let foreign = settle(&other, &other, 1).await?;
    let nothing = person.browser.get("/money/settlements/8a000000000000000000000000000000/2026-01-01/EUR").await?;
    assert_eq!(nothing.status, 404);
    for (browser, address) in [(&person.browser, &foreign), (&seller.browser, &foreign), (&seller.browser, &own)] {
        for query in ["", "?before=2026-01-01_8a000000000000000000000000000000"] {
            let answer = browser.get(&format!("{address}{query}")).await?;
            assert_eq!((answer.status, answer.page.contains("order-")), (404, false), "{address}{query}");
        }
        let list = browser.get("/money/settlements").await?;
        assert!(list.status == 200 && !batch_addresses(&list.page).contains(address), "{}", list.page);
    }
    // The channel that was paid sees its batch, and its merchant does.
    for browser in [&clerk.browser, &person.browser] {
        assert_eq!(batch_addresses(&browser.get("/money/settlements").await?.page), std::slice::from_ref(&own));
        assert_eq!(browser.get(&own).await?.status, 200);
    }
    // A place in another tenant's list is only a place.
    let parts: Vec<&str> = foreign.split('/').collect();
    let place = format!("/money/settlements?before=2099-01-01_{}_EUR", parts[3]);
    assert_eq!(batch_addresses(&person.browser.get(&place).await?.page), std::slice::from_ref(&own));
    for wrong in ["eur", "EURO", "E%2f", "..", "EUR_"] {
        let address = own.replace("EUR", wrong);
        assert_eq!(person.browser.get(&address).await?.status, 404, "{address}");
    }
    for query in ["before=x", "before=2026-01-01_x_EUR", "before='--"] {
        assert_eq!(person.browser.get(&format!("/money/settlements?{query}")).await?.status, 404, "{query}");
        assert_eq!(person.browser.get(&format!("/money/files?{query}")).await?.status, 404, "{query}");
        assert_eq!(person.browser.get(&format!("{own}?{query}")).await?.status, 404, "{query}");
    }
    Ok(())
}

#[tokio::test]
async fn a_file_is_downloaded_byte_for_byte_by_those_who_see_its_owner() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let scene = ReconciliationScene::create(&gateway)?;
    let day = today();
    let records = scene.create_records(day)?;
    gateway.write_records(&records)?;
    let division = enrol_accountant(&gateway, "dora", &scene.division.entity_id).await?;
    let baker = enrol_accountant(&gateway, "bea", &scene.bakery.entity_id).await?;
    let stranger = enrol_accountant(&gateway, "eve", &scene.stranger.entity_id).await?;
    let names = [&scene.division, &scene.bakery, &scene.butcher].map(|owner| file_name(owner, day));
    assert_eq!(division.browser.get(&format!("/money/files/{}", names[0])).await?.status, 404, "not complete");
    scene.end_day().await?;
    wait_for_files(&scene.division, 1).await?;
    wait_for_files(&scene.butcher, 1).await?;
    wait_for_files(&scene.bakery, 1).await?;
    let contents = [expected_file(&records), expected_file(&records[..2]), expected_file(&records[2..])];
    for (person, seen) in [(&division, [true, true, true]), (&baker, [false, true, false]), (&stranger, [false; 3])] {
        let list = person.browser.get("/money/files").await?.page;
        for ((name, content), is_seen) in names.iter().zip(&contents).zip(seen) {
            assert_eq!(list.contains(name), is_seen, "{} {name}", person.mail);
            let answer = person.browser.get(&format!("/money/files/{name}")).await?;
            if !is_seen {
                assert_eq!(answer.status, 404, "{} {name}", person.mail);
                continue;
            }
            assert_eq!((answer.status, &answer.page), (200, content));
            assert_eq!(answer.header("content-length"), content.len().to_string());
            assert_eq!(answer.header("content-disposition"), format!("attachment; filename=\"{name}\""));
            assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
        }
    }
    let name = &names[1];
    for wrong in [
        name.to_uppercase(),
        name.replace(".csv", ".CSV"),
        format!("..%2f{name}"),
        format!("{name}%00"),
        name.replace(&day.to_string(), "2020-01-01"),
        "x%0d%0aset-cookie:%20a=b".to_owned(),
    ] {
        assert_eq!(baker.browser.get(&format!("/money/files/{wrong}")).await?.status, 404, "{wrong}");
    }
    Ok(())
}
