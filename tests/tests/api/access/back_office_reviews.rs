//! The review queue in the back office: its parts and pages, the page of one held payment, and the acts of an analyst.

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::{Answer, OfficeBrowser, Person};
use crate::payment::held_payments::{DENIED, HELD, create_reviewed_shop};
use crate::review::queue::hold_payment;
use crate::support::assert_result;

/// Result code of an executed payment.
pub const PAID: &str = "000.100.110";

/// Returns the acts about a payment: kind, analyst and note.
pub async fn read_acts(shop: &MerchantClient, payment: &str) -> anyhow::Result<Vec<(String, String, Value)>> {
    let review = shop.get(&format!("v2/reviews/{payment}")).await?;
    let actions = review.json["actions"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let acts = actions.iter().map(|action| (text(&action["action"]), text(&action["analyst"]), action["note"].clone()));
    Ok(acts.collect())
}

/// Returns the payments of a part of the queue, in their order.
async fn list(browser: &OfficeBrowser, query: &str) -> anyhow::Result<Vec<String>> {
    let answer = browser.get(&format!("/reviews{query}")).await?;
    assert_eq!(answer.status, 200, "{query}");
    let rows = answer.page.split("<th scope=\"row\"").skip(1);
    let ids = rows.filter_map(|row| row.split_once("/backoffice/reviews/")?.1.get(..32));
    Ok(ids.map(str::to_owned).collect())
}

/// Follows a redirect. Returns the page.
async fn follow(browser: &OfficeBrowser, answer: &Answer) -> anyhow::Result<Answer> {
    assert_eq!(answer.status, 303, "{}", answer.page);
    browser.get(answer.header("location").trim_start_matches("/backoffice")).await
}

#[tokio::test]
async fn an_analyst_claims_notes_and_decides_and_the_next_payment_opens() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let first = hold_payment(
        &shop,
        &[
            ("merchantTransactionId", "order-4711"),
            ("customer.email", "jo@kiln.example"),
            ("customer.givenName", "Jo"),
            ("customer.surname", "Kim"),
        ],
    )
    .await?;
    let second = hold_payment(&shop, &[("merchantTransactionId", "order-4712")]).await?;
    let third = hold_payment(&shop, &[("merchantTransactionId", "order-4713")]).await?;
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let browser = &person.browser;
    assert_eq!(list(browser, "").await?, [first.clone(), second.clone(), third.clone()]);
    let shown = browser.get(&format!("/reviews/{first}")).await?;
    for text in ["92.00 EUR", "order-4711", "jo@kiln.example", "420000 •••• 0000", "everything", "Claim for 30 minutes"]
    {
        assert!(shown.page.contains(text), "{text} in {}", shown.page);
    }

    let claimed = browser.post(&format!("/reviews/{first}/claim"), &[]).await?;
    let claimed = follow(browser, &claimed).await?;
    assert!(claimed.page.contains("You have claimed this payment for 30 minutes."), "{}", claimed.page);
    assert!(claimed.page.contains("Release claim") && claimed.page.contains("Renew claim"));
    assert_eq!(list(browser, "?view=mine").await?, std::slice::from_ref(&first));
    assert_eq!(list(browser, "?view=unclaimed").await?, [second.clone(), third.clone()]);

    // The browser sends line breaks as CR and LF. A form that is sent twice adds one note.
    for _ in 0..2 {
        let noted = browser.post(&format!("/reviews/{first}/note"), &[("note", "called\r\n<b>back</b>")]).await?;
        let noted = follow(browser, &noted).await?;
        assert!(
            noted.page.contains("called\n&lt;b&gt;back&lt;/b&gt;") && !noted.page.contains("<b>"),
            "{}",
            noted.page
        );
    }
    let approved = browser.post(&format!("/reviews/{first}/approve"), &[("note", "known")]).await?;
    let next = format!("/backoffice/reviews/{second}?previous={first}&done=review_approved");
    assert_eq!((approved.status, approved.header("location")), (303, &*next));
    let next = follow(browser, &approved).await?;
    assert!(next.page.contains("You have approved the previous payment."), "{}", next.page);
    assert!(next.page.contains("order-4712") && next.page.contains(&format!("/backoffice/reviews/{first}\"")));
    assert_result(&shop.get(&format!("v1/payments/{first}")).await?, 200, PAID);

    let cancelled =
        browser.post(&format!("/reviews/{second}/cancel"), &[("reason", "7"), ("cancel-note", "stolen")]).await?;
    assert_eq!(
        cancelled.header("location"),
        format!("/backoffice/reviews/{third}?previous={second}&done=review_cancelled")
    );
    assert_result(&shop.get(&format!("v1/payments/{second}")).await?, 400, DENIED);
    let pended = browser.post(&format!("/reviews/{third}/pend"), &[]).await?;
    assert_eq!((pended.status, pended.header("location")), (303, "/backoffice/reviews?done=review_pended"));
    assert_result(&shop.get(&format!("v1/payments/{third}")).await?, 200, HELD);

    let act = |kind: &str, note: Value| (kind.to_owned(), person.mail.clone(), note);
    let expected =
        [act("claim", Value::Null), act("note", "called\n<b>back</b>".into()), act("approve", "known".into())];
    assert_eq!(read_acts(&shop, &first).await?, expected);
    assert_eq!(list(browser, "").await?, std::slice::from_ref(&third));
    assert_eq!(list(browser, "?view=all").await?, [third, second, first.clone()]);
    let ended = browser.get(&format!("/reviews/{first}")).await?;
    assert!(ended.page.contains("ann@shop.example has approved this payment on"), "{}", ended.page);
    assert!(ended.page.contains("Add note") && !ended.page.contains("formaction="), "{}", ended.page);
    Ok(())
}

#[tokio::test]
async fn each_act_is_an_entry_of_the_audit_log_with_the_user_and_the_address() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let person = Person::enrol(&gateway, "ann@shop.example", "merchant", Some(&shop.entity_id)).await?;
    let actor = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    let id = hold_payment(&shop, &[]).await?;
    let acts =
        [("claim", vec![]), ("release", vec![]), ("note", vec![("note", "a")]), ("pend", vec![]), ("approve", vec![])];
    for (act, fields) in acts {
        assert_eq!(person.browser.post(&format!("/reviews/{id}/{act}"), &fields).await?.status, 303, "{act}");
        let entries = read_entries(&gateway, &format!("review {act}"))?;
        let [entry] = &entries[..] else { anyhow::bail!("{act}: {entries:?}") };
        assert_eq!((&entry["actor"], &entry["subject"]), (&actor.as_str().into(), &id.as_str().into()), "{entry}");
        assert_eq!(entry["details"]["address"], "127.0.0.1", "{entry}");
        assert!(!entry.to_string().contains(&person.mail), "an entry is kept for ever: {entry}");
    }
    Ok(())
}

#[tokio::test]
async fn a_wrong_form_changes_nothing_and_keeps_its_texts() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let id = hold_payment(&shop, &[]).await?;
    let long = "x".repeat(1001);
    for (act, fields, kept) in [
        ("note", vec![("note", " \r\n")], None),
        ("note", vec![("note", &*long)], Some(&*long)),
        ("note", vec![("note", "4200 0000 0000 0000 <i>")], Some("4200 0000 0000 0000 &lt;i&gt;</textarea>")),
        ("approve", vec![("note", "bell \u{7}")], None),
        ("pend", vec![("note", &*long)], Some(&*long)),
        ("cancel", vec![("cancel-note", "kept <i>")], Some("kept &lt;i&gt;</textarea>")),
        ("cancel", vec![("reason", "x\"7"), ("cancel-note", "kept")], Some("value=\"x&quot;7\"")),
        ("cancel", vec![("reason", "1234567890")], Some("value=\"1234567890\"")),
        ("cancel", vec![("reason", "-1")], Some("value=\"-1\"")),
    ] {
        let refused = person.browser.post(&format!("/reviews/{id}/{act}"), &fields).await?;
        assert_eq!(refused.status, 422, "{act} {fields:?}");
        assert!(refused.page.contains("role=\"alert\""), "{act} {fields:?}");
        assert!(kept.is_none_or(|kept| refused.page.contains(kept)), "{act} {kept:?} in {}", refused.page);
        let opens = refused.page.contains("<details id=\"cancel\" open>");
        assert_eq!(opens, act == "cancel", "{act} {fields:?}");
    }
    assert_result(&shop.get(&format!("v1/payments/{id}")).await?, 200, HELD);
    assert!(read_acts(&shop, &id).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_page_shows_the_order_the_checks_and_where_the_addresses_differ() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "authorize", &[]).await?;
    let id = hold_payment(
        &shop,
        &[
            ("customer.givenName", "Jane<script>"),
            ("customer.surname", "Jones"),
            ("customer.ip", "203.0.113.7"),
            ("cart.items[0].name", "Lamp"),
            ("cart.items[0].quantity", "2"),
            ("cart.items[0].totalAmount", "92.00"),
            ("billing.street1", "Main Street 1"),
            ("billing.city", "Seattle"),
            ("billing.country", "US"),
            ("shipping.street1", "main street 1"),
            ("shipping.city", "Lagos"),
            ("shipping.country", "NG"),
        ],
    )
    .await?;
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let shown = person.browser.get(&format!("/reviews/{id}")).await?;
    for text in
        ["Jane&lt;script&gt; Jones", "203.0.113.7", "2 × Lamp · 92.00", "Lagos", "match (M)", "not authenticated"]
    {
        assert!(shown.page.contains(text), "{text} in {}", shown.page);
    }
    assert_eq!(shown.page.matches(">differs<").count(), 2, "city and country: {}", shown.page);
    assert!(shown.page.contains("<dt>Liability</dt><dd>merchant</dd>"), "{}", shown.page);
    assert!(!shown.page.contains("Jane<script>"));
    let mut german = OfficeBrowser::new(&gateway);
    german.headers = vec![("accept-language", "de".to_owned())];
    german.set_cookie("tillgate-session", &person.browser.session());
    let german = german.get(&format!("/reviews/{id}")).await?;
    assert!(german.page.contains("Bestellung und Kunde") && german.page.contains(">weicht ab<"), "{}", german.page);
    Ok(())
}

#[tokio::test]
async fn the_payment_whose_time_ends_first_is_on_top_by_the_clock_of_its_shop() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--review-lifetime", "30h", "--card-window", "40h"])?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let other = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let person = Person::enrol(&gateway, "ann@psp.example", "analyst", None).await?;
    let (early, late) = (hold_payment(&shop, &[]).await?, hold_payment(&other, &[]).await?);
    assert_eq!(list(&person.browser, "").await?, [early.clone(), late.clone()]);
    other.advance_clock("29h30m").await?;
    assert_eq!(list(&person.browser, "").await?, [late.clone(), early.clone()]);
    let queue = person.browser.get("/reviews").await?;
    let near = queue.between("<span class=\"badge bad\">", "</span>").unwrap_or_default();
    assert!(near.ends_with(" min") && !near.contains('h'), "{near} in {}", queue.page);
    assert!(queue.page.contains("<span class=\"badge calm\">1 d 5 h</span>"), "{}", queue.page);
    Ok(())
}

#[tokio::test]
async fn a_long_queue_has_pages_and_its_next_payment_is_the_one_below() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let mut held = Vec::new();
    for _ in 0..28 {
        held.push(hold_payment(&shop, &[]).await?);
    }
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let first = person.browser.get("/reviews").await?;
    assert_eq!(list(&person.browser, "").await?, held[..25]);
    let more = first.between("<a class=\"button\" href=\"/backoffice/reviews?", "\" rel=\"next\"").unwrap_or_default();
    assert_eq!(list(&person.browser, &format!("?{}", more.replace("&amp;", "&"))).await?, held[25..]);
    let newest: Vec<String> = held.iter().rev().take(25).cloned().collect();
    assert_eq!(list(&person.browser, "?view=all").await?, newest);
    let oldest: Vec<String> = held[..3].iter().rev().cloned().collect();
    assert_eq!(list(&person.browser, &format!("?view=all&after={}", held[3])).await?, oldest);
    // After the last payment comes the first one, and one that somebody else has claimed is left out.
    let other = Person::enrol(&gateway, "ben@shop.example", "analyst", Some(&shop.entity_id)).await?;
    other.browser.post(&format!("/reviews/{}/claim", held[0]), &[]).await?;
    let decided = person.browser.post(&format!("/reviews/{}/approve", held[27]), &[]).await?;
    assert!(decided.header("location").starts_with(&format!("/backoffice/reviews/{}?", held[1])));
    Ok(())
}

#[tokio::test]
async fn the_home_page_and_the_payments_page_lead_to_a_review() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let id = hold_payment(&shop, &[]).await?;
    let link = format!("href=\"/backoffice/reviews/{id}\"");
    for (role, is_linked) in [("analyst", true), ("viewer", true), ("accountant", false), ("developer", false)] {
        let person = Person::enrol(&gateway, &format!("{role}@shop.example"), role, Some(&shop.entity_id)).await?;
        for page in [String::new(), format!("/payments/{id}")] {
            let shown = person.browser.get(&page).await?;
            assert_eq!((shown.status, shown.page.contains(&link)), (200, is_linked), "{role} {page}");
        }
    }
    Ok(())
}

/// Returns the numbers in the row of a table whose header contains a text.
fn read_counts(page: &str, header: &str) -> Vec<String> {
    let row = page.split("<tr>").skip(1).find(|row| row.contains(header)).unwrap_or_default();
    let cells = row.split("<td class=\"number\">").skip(1);
    cells.filter_map(|cell| Some(cell.split_once('<')?.0.to_owned())).collect()
}

#[tokio::test]
async fn a_page_counts_the_other_payments_with_the_same_card_mail_address_and_network() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let other = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let customer = [
        ("customer.email", "jo@kiln.example"),
        ("customer.givenName", "Jo"),
        ("customer.surname", "Kim"),
        ("customer.ip", "203.0.113.7"),
    ];
    let approved = hold_payment(&shop, &customer).await?;
    assert_eq!(person.browser.post(&format!("/reviews/{approved}/approve"), &[]).await?.status, 303);
    let back =
        [("paymentType", "CB"), ("amount", "92.00"), ("currency", "EUR"), ("chargebackResultCode", "000.100.203")];
    assert_eq!(shop.post(&format!("v1/payments/{approved}"), &back).await?.status, 200);
    hold_payment(&shop, &[("customer.ip", "203.0.113.9")]).await?;
    // Another card of the same issuer, which is declined, from the same network.
    let declined = [&customer[..3], &[("card.number", "4200000000005512"), ("customer.ip", "203.0.113.8")]].concat();
    assert_result(&shop.pay_by_card(&declined).await?, 400, "800.100.152");
    // The payment of another tenant, and the payment itself, do not count.
    hold_payment(&other, &customer).await?;
    let id = hold_payment(&shop, &customer).await?;
    let shown = person.browser.get(&format!("/reviews/{id}")).await?;
    for (header, counts) in [
        (">•• 0000</a>", ["1", "0", "1", "1"]),
        (">jo@kiln.example</a>", ["1", "1", "0", "1"]),
        (">203.0.113.7</span>", ["1", "0", "0", "1"]),
        (">203.0.113.0/24</span>", ["1", "1", "1", "1"]),
    ] {
        assert_eq!(read_counts(&shown.page, header), counts, "{header} in {}", shown.page);
    }
    Ok(())
}

#[tokio::test]
async fn a_page_shows_each_rule_that_fired_with_the_values_that_it_read() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--risk", "on", "--review", "hold"])?;
    let rules = "[thresholds]\nreview = 50\n\
        [[rule]]\nname = 'large <order>'\nnote = 'Ask for <b>proof</b>'\nwhen = 'amount > 50'\nscore = 40\n\
        [[rule]]\nname = 'far'\nwhen = 'shipping.country != billing.country and count(card, 1 h) > 0'\nscore = 20\n\
        [[rule]]\nname = 'silent'\nwhen = 'amount > 5000'\nscore = 99\n";
    let added = shop.post("v2/risk/rules", &[("rules", rules)]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, "000.000.100");
    let id = hold_payment(&shop, &[("billing.country", "US"), ("shipping.country", "NG")]).await?;
    let person = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let shown = person.browser.get(&format!("/reviews/{id}")).await?;
    for text in [
        "large &lt;order&gt;",
        "Ask for &lt;b&gt;proof&lt;/b&gt;",
        "<code>amount &gt; 50</code>",
        "+40",
        "<code>amount</code> <span class=\"wrap\">92.00</span>",
        "<code>shipping.country</code> <span class=\"wrap\">ng</span>",
        "<code>count(card, 1 h)</code> <span class=\"soft\">counter",
        "Score 60",
    ] {
        assert!(shown.page.contains(text), "{text} in {}", shown.page);
    }
    assert!(!shown.page.contains("silent") && !shown.page.contains("<b>"), "{}", shown.page);
    // Names of rules and their values need a permission.
    let viewer = Person::enrol(&gateway, "vic@shop.example", "viewer", Some(&shop.entity_id)).await?;
    let shown = viewer.browser.get(&format!("/reviews/{id}")).await?;
    for text in ["large", "<code>amount", "Score", "+40"] {
        assert!(!shown.page.contains(text), "{text} in {}", shown.page);
    }
    Ok(())
}

#[tokio::test]
async fn an_analyst_with_a_long_mail_address_is_named_by_the_id() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let mail = format!("{}@{}.example", "a".repeat(60), "b".repeat(60));
    let person = Person::enrol(&gateway, &mail, "analyst", Some(&shop.entity_id)).await?;
    let id = hold_payment(&shop, &[]).await?;
    for act in ["claim", "approve"] {
        assert_eq!(person.browser.post(&format!("/reviews/{id}/{act}"), &[]).await?.status, 303, "{act}");
    }
    let user = Person::find_id(&gateway, &mail)?;
    let analysts: Vec<String> = read_acts(&shop, &id).await?.into_iter().map(|(_, analyst, _)| analyst).collect();
    assert_eq!(analysts, [user.clone(), user]);
    Ok(())
}

#[tokio::test]
async fn the_rules_of_a_merchant_are_named_and_not_shown_to_an_analyst_of_a_channel() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let below = ["--merchant", &*shop.entity_id, "--risk", "on", "--review", "hold"];
    let channel = gateway.create_merchant_with(&below)?;
    let held = hold_payment(&channel, &[]).await?;
    for (mail, entity, sees_rules) in
        [("ann@shop.example", &shop.entity_id, true), ("kim@channel.example", &channel.entity_id, false)]
    {
        let person = Person::enrol(&gateway, mail, "analyst", Some(entity)).await?;
        let shown = person.browser.get(&format!("/reviews/{held}")).await?;
        assert_eq!(shown.status, 200, "{mail} {}", shown.page);
        assert!(shown.page.contains("everything"), "{mail} {}", shown.page);
        assert_eq!(shown.page.contains("amount &gt; 0"), sees_rules, "{mail} {}", shown.page);
    }
    Ok(())
}
