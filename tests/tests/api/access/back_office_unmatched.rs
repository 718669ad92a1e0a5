//! Lines of institutes' files without a payment in the back office: the list, the decisions, and attacks on them.

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::office_browser::Person;
use crate::settlement::files::*;
use crate::settlement::unmatched::{read_unmatched, text};

/// A merchant's reference with markup.
const HOSTILE: &str = "<script>alert(1)</script>";

/// Enrols somebody with a role on a shop.
async fn enrol(gateway: &TestGateway, name: &str, role: &str, shop: &MerchantClient) -> anyhow::Result<Person> {
    Person::enrol(gateway, &format!("{name}@shop.example"), role, Some(&shop.entity_id)).await
}

/// Imports a line that names an order, with this amount. Returns the id of its record.
fn import_line(gateway: &TestGateway, shop: &MerchantClient, order: &str, amount: &str) -> anyhow::Result<String> {
    let known: Vec<Value> = read_unmatched(gateway, shop)?;
    import_text(gateway, shop, format_file(&[FileLine { order, amount, ..Default::default() }]), &[])?;
    let lines = read_unmatched(gateway, shop)?;
    let new = lines.iter().find(|line| known.iter().all(|old| old["recordId"] != line["recordId"]));
    Ok(new.map(|line| text(line, "recordId").to_owned()).unwrap_or_default())
}

#[tokio::test]
async fn an_accountant_matches_a_line_with_a_candidate_and_rejects_another() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let browser = &person.browser;
    assert!(browser.get("/money/unmatched").await?.page.contains("No line waits"));
    let first = pay_externally(&shop, "10.00", "order-0001").await?;
    let second = pay_externally(&shop, "10.00", "order-0001").await?;
    let several = import_line(&gateway, &shop, "order-0001", "10.00")?;
    let none = import_line(&gateway, &shop, HOSTILE, "25.00")?;
    let home = browser.get("").await?.page;
    assert!(home.contains("href=\"/backoffice/money/unmatched\""), "{home}");
    let list = browser.get("/money/unmatched").await?.page;
    for text in ["Several payments fit", "No payment fits", "25.00 EUR", &several, &none] {
        assert!(list.contains(text), "{text} in {list}");
    }
    assert!(!list.contains("<script>alert"), "{list}");
    let page = browser.get(&format!("/money/unmatched/{several}")).await?.page;
    for id in [first.id(), second.id()] {
        assert!(page.contains(&format!("name=\"payment\" value=\"{id}\"")), "{id} in {page}");
    }

    let path = format!("/money/unmatched/{several}/match");
    for wrong in ["", "x", "8a000000000000000000000000000000", HOSTILE] {
        let refused = browser.post(&path, &[("payment", wrong)]).await?;
        assert_eq!(refused.status, 422, "{wrong}");
        assert!(!refused.page.contains("<script>alert"), "{}", refused.page);
    }
    let (one, other) = (first.id().to_owned(), second.id().to_owned());
    // A form that is sent twice matches once.
    for _ in 0..2 {
        let matched = browser.post(&path, &[("payment", &other)]).await?;
        assert_eq!(
            (matched.status, matched.header("location")),
            (303, "/backoffice/money/unmatched?done=line_matched")
        );
    }
    let late = browser.post(&path, &[("payment", &one)]).await?;
    assert!(late.status == 422 && late.page.contains("is matched already"), "{}", late.page);
    assert_eq!(read_euros(&shop, "receivable").await?, 1000);

    let path = format!("/money/unmatched/{none}/rejection");
    for wrong in ["", " ", "card 4200000000000000", &"x".repeat(501)] {
        let refused = browser.post(&path, &[("reason", wrong)]).await?;
        assert!(refused.status == 422 && refused.page.contains("the reason must"), "{wrong} {}", refused.page);
    }
    for _ in 0..2 {
        let rejected = browser.post(&path, &[("reason", "of <b>another</b> gateway")]).await?;
        assert_eq!(rejected.status, 303, "{}", rejected.page);
    }
    let page = browser.get(&format!("/money/unmatched/{none}")).await?.page;
    assert!(page.contains("of &lt;b&gt;another&lt;/b&gt; gateway") && !page.contains("/match\""), "{page}");
    // Each decision has one entry, which names the user.
    let user = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    for (record, action) in [(&several, "settlement match"), (&none, "settlement reject")] {
        assert_eq!(read_acts(&gateway, record).await?, [(action.to_owned(), user.clone())]);
    }
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_line_of_another_tenant_is_as_unknown_as_one_that_does_not_exist() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let own_payment = pay_externally(&shop, "10.00", "order-0001").await?.id().to_owned();
    let foreign_payment = pay_externally(&other, "10.00", "order-0001").await?.id().to_owned();
    let own = import_line(&gateway, &shop, "order-0009", "10.00")?;
    let foreign = import_line(&gateway, &other, "order-0009", "10.00")?;
    let nothing = person.browser.get("/money/unmatched/8a000000000000000000000000000000").await?;
    let shown = person.browser.get(&format!("/money/unmatched/{foreign}")).await?;
    assert_eq!((shown.status, &shown.page), (404, &nothing.page));
    for (act, fields) in [("match", ("payment", own_payment.as_str())), ("rejection", ("reason", "no"))] {
        let answer = person.browser.post(&format!("/money/unmatched/{foreign}/{act}"), &[fields]).await?;
        assert_eq!((answer.status, &answer.page), (404, &nothing.page), "{act}");
    }
    // A payment of another tenant fits no line.
    let matched =
        person.browser.post(&format!("/money/unmatched/{own}/match"), &[("payment", &foreign_payment)]).await?;
    assert!(matched.status == 422 && matched.page.contains("there is no payment"), "{}", matched.page);
    let list = person.browser.get("/money/unmatched").await?.page;
    assert!(list.contains(&own) && !list.contains(&foreign), "{list}");
    let after = person.browser.get(&format!("/money/unmatched?before={own}")).await?;
    assert!(after.status == 200 && !after.page.contains(&foreign), "{}", after.page);
    assert_eq!(person.browser.get("/money/unmatched?before=x").await?.status, 404);
    assert_eq!((read_unmatched(&gateway, &shop)?.len(), read_unmatched(&gateway, &other)?.len()), (1, 1));
    // Somebody who may only see the line decides nothing.
    let viewer = enrol(&gateway, "vera", "viewer", &shop).await?;
    let page = viewer.browser.get(&format!("/money/unmatched/{own}")).await?;
    assert!(page.status == 200 && !page.page.contains("<button class=\"danger\""), "{}", page.page);
    for (act, fields) in [("match", ("payment", own_payment.as_str())), ("rejection", ("reason", "no"))] {
        assert_eq!(
            viewer.browser.post(&format!("/money/unmatched/{own}/{act}"), &[fields]).await?.status,
            403,
            "{act}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_right_that_ends_while_a_decision_arrives_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = enrol(&gateway, "ann", "accountant", &shop).await?;
    let paid = pay_externally(&shop, "20.00", "order-0001").await?.id().to_owned();
    let record = import_line(&gateway, &shop, "order-0001", "10.00")?;
    let mut forms = Vec::new();
    for (act, field) in [("match", ("payment", paid.as_str())), ("rejection", ("reason", "no"))] {
        forms.push(person.browser.begin_form(&format!("/money/unmatched/{record}/{act}"), &[field]).await?);
    }
    let remove = ["user", "role", "remove", "--mail", "ann@shop.example", "--role", "accountant", "--entity"];
    gateway.run_command(&[&remove[..], &[&*shop.entity_id]].concat())?;
    for form in forms {
        assert_eq!(form.finish().await?, 404);
    }
    assert_eq!(read_unmatched(&gateway, &shop)?.len(), 1);
    assert_eq!(read_euros(&shop, "receivable").await?, 2000);
    Ok(())
}
