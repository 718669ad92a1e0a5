//! Lists of the risk check in the back office: search, pages, entries, and attacks on their forms.

use serde_json::Value;
use tillgate_tests::poll_until;

use crate::access::office_browser::{Answer, Person};
use crate::access::rules_shop::Shop;
use crate::risk::card_testing::start_with_limit;
use crate::risk::store::LISTED_CARD;

/// Text with markup.
const HOSTILE: &str = "<img src=x onerror=alert(1)>";

impl Shop {
    /// Returns the entries that the API lists.
    async fn entries(&self) -> anyhow::Result<Vec<Value>> {
        Ok(self.merchant.get("v2/risk/lists").await?.json["entries"].as_array().cloned().unwrap_or_default())
    }

    async fn add(&self, list: &str, key: &str, value: &str, more: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let fields = [&[("key_new", key), ("value_new", value)], more].concat();
        self.person.browser.post(&self.path(&format!("/lists/{list}/add")), &fields).await
    }

    /// Searches a value. Returns the page to which the answer leads.
    async fn search(&self, list: &str, key: &str, value: &str) -> anyhow::Result<String> {
        let path = self.path(&format!("/lists/{list}/search"));
        let found = self.person.browser.post(&path, &[("key", key), ("value", value)]).await?;
        assert_eq!(found.status, 303, "{}", found.page);
        assert!(!found.header("location").contains(LISTED_CARD), "{}", found.header("location"));
        let path = found.header("location").replace("/backoffice", "");
        let page = self.person.browser.get(&path).await?;
        assert_eq!(page.status, 200);
        assert!(!page.page.contains(HOSTILE), "{}", page.page);
        Ok(page.page)
    }

    async fn remove(&self, list: &str, key: &str, value: &str) -> anyhow::Result<Answer> {
        let fields = [("key", key), ("value", value), ("removal", "Mistake")];
        self.person.browser.post(&self.path(&format!("/lists/{list}/remove")), &fields).await
    }
}

#[tokio::test]
async fn an_entry_applies_to_the_next_payment_until_it_is_removed() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let more = [("expires", "30d"), ("reason", HOSTILE)];
    let added = shop.add("deny", "card", "4200 0000 0000 0000", &more).await?;
    assert!(added.header("location").ends_with("/lists/deny?done=list_entry_added"), "{}", added.page);
    assert_eq!(shop.pay("12.00").await?[..8], *"100.400.");
    let entries = shop.entries().await?;
    assert_eq!(entries.len(), 1);
    assert_eq!((&entries[0]["reason"], &entries[0]["author"]), (&HOSTILE.into(), &"ana@shop.example".into()));
    assert!(entries[0]["expires"].is_string());
    let index = entries[0]["value"].as_str().unwrap_or_default();
    // The number finds the entry, of which the page shows the begin of the blind index.
    let page = shop.search("deny", "card", "4200000000000000").await?;
    assert!(page.contains(&format!("{}…", &index[..12])) && page.contains("Remove"), "{page}");
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
    let list = shop.read("/lists/deny").await?;
    assert!(!list.contains("4200000000000000") && list.contains(&index[..12]), "{list}");
    assert!(shop.read("/lists").await?.contains("Card: 1"));
    for done in ["list_entry_removed", "list_entry_gone"] {
        let removed = shop.remove("deny", "card", index).await?;
        assert!(removed.header("location").ends_with(&format!("?done={done}")), "{}", removed.page);
    }
    assert_eq!(shop.pay("12.00").await?, "000.100.110");
    shop.assert_audited("risk-list put", "deny card")?;
    shop.assert_audited("risk-list remove", "deny card")?;
    Ok(())
}

#[tokio::test]
async fn a_value_is_found_in_any_spelling_and_a_missing_one_is_named() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    for (key, value, other) in [
        ("email", "Jo@Müll.example", "jo@xn--mll-hoa.example"),
        ("ip", "2001:DB8::1", "2001:db8:0::1"),
        ("holder", "Jane  Jones", "JANE JONES"),
        ("address", "Main Street 1|12345|DE", "main-street 1|12345|de"),
        ("account", "iban:DE89 3704 0044 0532 0130 00", "iban:DE89370400440532013000"),
        ("device", HOSTILE, HOSTILE),
    ] {
        let added = shop.add("review", key, value, &[]).await?;
        assert_eq!(added.status, 303, "{key} {}", added.page);
        let found = shop.search("review", key, other).await?;
        assert!(found.contains("Remove this") || found.contains("/review/remove"), "{key} {found}");
        assert!(shop.search("deny", key, other).await?.contains("Not on this list"), "{key}");
    }
    assert_eq!(shop.entries().await?.len(), 6);
    Ok(())
}

#[tokio::test]
async fn a_wrong_entry_names_its_field_and_repeats_no_number() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let long = "x".repeat(501);
    for (field, key, value, more) in [
        ("value_new", "email", "no address", ("reason", "")),
        ("value_new", "email", LISTED_CARD, ("reason", "")),
        ("value_new", "card", "1234", ("reason", "")),
        ("value_new", "account", LISTED_CARD, ("reason", "")),
        ("value_new", "ip", HOSTILE, ("reason", "")),
        ("expires", "ip", "192.0.2.1", ("expires", "-3d")),
        ("expires", "ip", "192.0.2.1", ("expires", "99999999999d")),
        ("reason", "ip", "192.0.2.1", ("reason", LISTED_CARD)),
        ("reason", "ip", "192.0.2.1", ("reason", &long)),
    ] {
        let refused = shop.add("deny", key, value, &[more]).await?;
        assert_eq!(refused.status, 422, "{field} {value} {}", refused.page);
        assert!(
            refused.page.contains(&format!("id=\"f-{field}-help\"><div class=\"error\">")),
            "{field}: {}",
            refused.page
        );
        assert!(!refused.page.contains(LISTED_CARD), "{field} {value}");
        assert!(!refused.page.contains(HOSTILE));
    }
    for (key, source) in [("", ""), ("nothing", ""), ("ip", "nobody")] {
        let refused = shop.add("deny", key, "192.0.2.1", &[("source", source)]).await?;
        assert_eq!(refused.status, 422, "{key} {source}");
        assert!(refused.page.contains("class=\"error\""), "{}", refused.page);
    }
    let wrong = [("key", "ip"), ("value", HOSTILE)];
    let refused = shop.person.browser.post(&shop.path("/lists/deny/search"), &wrong).await?;
    assert!(refused.status == 422 && !refused.page.contains(HOSTILE), "{}", refused.page);
    for list in ["nothing", "Deny", "%2e%2e"] {
        assert_eq!(shop.person.browser.get(&shop.path(&format!("/lists/{list}"))).await?.status, 404, "{list}");
        assert_eq!(shop.add(list, "ip", "192.0.2.1", &[]).await?.status, 404, "{list}");
    }
    assert_eq!(shop.remove("deny", "nothing", "x").await?.status, 404);
    assert_eq!(shop.entries().await?, Vec::<Value>::new());
    Ok(())
}

#[tokio::test]
async fn the_pages_of_a_list_have_each_entry_once_and_are_small() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    // Values with quotes are the largest ones, as markup and in addresses.
    for number in 0..130 {
        let value = if number < 20 { format!("{number:03}{}", "\"&<".repeat(600)) } else { format!("{number:03}") };
        shop.merchant.post("v2/risk/lists", &[("list", "deny"), ("key", "device"), ("value", &value)]).await?;
    }
    let (mut path, mut seen) = (shop.path("/lists/deny"), Vec::new());
    for _ in 0..40 {
        let page = shop.person.browser.get(&path).await?;
        assert!(page.status == 200 && page.page.len() < 60_000, "{path} {}", page.page.len());
        let (_, table) = page.page.split_once("<tbody>").unwrap_or_default();
        let table = table.split("</tbody>").next().unwrap_or_default();
        seen.extend(table.split("<span class=\"wrap\">").skip(1).filter_map(|cell| Some(cell.get(..3)?.to_owned())));
        let Some(next) = page.between("rel=\"next\" href=\"/backoffice", "\"") else { break };
        path = next.replace("&amp;", "&");
    }
    assert_eq!(seen, (0..130).map(|number| format!("{number:03}")).collect::<Vec<_>>());
    let strange = ["?key=x&value=y", "?after_key=device", "?after_key=x&after_value=y", "?key=card&value=%00"];
    for query in strange {
        assert_eq!(shop.person.browser.get(&shop.path(&format!("/lists/deny{query}"))).await?.status, 200, "{query}");
    }
    Ok(())
}

#[tokio::test]
async fn a_search_by_number_is_a_guess_that_is_limited() -> anyhow::Result<()> {
    let gateway = start_with_limit("--alike-numbers", "3")?;
    let merchant = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "ana@shop.example", "analyst", Some(&merchant.entity_id)).await?;
    let hidden = [406, 414, 422, 430, 448, 455, 463, 471];
    let path = format!("/risk/{}/lists/deny", merchant.entity_id);
    let mut found = 0;
    for hidden in hidden {
        let number = format!("420000123{hidden}0000");
        let fields = [("key", "card"), ("value", &*number), ("key_new", "card"), ("value_new", &number)];
        let action = if hidden % 2 == 0 { "search" } else { "add" };
        let answer = person.browser.post(&format!("{path}/{action}"), &fields).await?;
        assert!([303, 422].contains(&answer.status), "{}", answer.status);
        assert!(!answer.page.contains(&number));
        found += usize::from(answer.status == 303);
    }
    assert!(found <= 3, "{found} numbers were compared");
    poll_until("the limit is in the decision log", async || {
        let log = merchant.get("v2/risk/audit?kind=limit").await?;
        Ok(log.text.contains("alike").then_some(()))
    })
    .await
}
