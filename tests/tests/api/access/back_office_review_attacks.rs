//! Attacks on the review queue of the back office: payments of other tenants, acts without a right, rights that end
//! while a form arrives, and several decisions at once.

use anyhow::Context as _;
use futures_util::future::join_all;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::back_office_reviews::{PAID, read_acts};
use crate::access::office_browser::Person;
use crate::acquirer::payments::AcquirerScene;
use crate::payment::held_payments::{DENIED, HELD, create_reviewed_shop};
use crate::review::queue::hold_payment;
use crate::support::assert_result;

/// Every act with a form that would be carried out.
const ACTS: [(&str, &[(&str, &str)]); 6] = [
    ("claim", &[]),
    ("release", &[]),
    ("note", &[("note", "mine")]),
    ("approve", &[]),
    ("cancel", &[("reason", "7")]),
    ("pend", &[]),
];

/// Asserts that a payment is held, and that nobody has acted on it.
async fn assert_untouched(shop: &MerchantClient, payment: &str) -> anyhow::Result<()> {
    assert_result(&shop.get(&format!("v1/payments/{payment}")).await?, 200, HELD);
    assert_eq!(read_acts(shop, payment).await?, []);
    Ok(())
}

#[tokio::test]
async fn a_held_payment_of_another_tenant_does_not_exist() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let other = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let (own, foreign) = (hold_payment(&shop, &[]).await?, hold_payment(&other, &[]).await?);
    // A payment that was never held looks the same.
    let plain = gateway.create_merchant()?.pay_by_card(&[]).await?.id().to_owned();
    let unknown = "8a000000000000000000000000000000";
    for role in ["administrator", "merchant", "analyst"] {
        let person = Person::enrol(&gateway, &format!("{role}@shop.example"), role, Some(&shop.entity_id)).await?;
        let nothing = person.browser.get(&format!("/reviews/{unknown}")).await?;
        assert_eq!(nothing.status, 404);
        let (upper, spaced, encoded) =
            (foreign.to_uppercase(), format!("%20{foreign}"), foreign.replacen('8', "%38", 1));
        for id in [&*foreign, &upper, &spaced, &encoded, &plain] {
            let page = person.browser.get(&format!("/reviews/{id}")).await?;
            assert_eq!((page.status, &page.page), (404, &nothing.page), "{role} {id}");
            for (act, fields) in ACTS {
                let answer = person.browser.post(&format!("/reviews/{id}/{act}"), fields).await?;
                assert_eq!((answer.status, &answer.page), (404, &nothing.page), "{role} {id} {act}");
            }
        }
        // A place in the queue of the other tenant is no place in this one.
        let at_foreign = person.browser.get(&format!("/reviews?after={foreign}")).await?;
        assert_eq!((at_foreign.status, &at_foreign.page), (404, &nothing.page), "{role}");
        for view in ["open", "mine", "unclaimed", "all"] {
            let queue = person.browser.get(&format!("/reviews?view={view}")).await?;
            assert!(!queue.page.contains(&foreign), "{role} {view}");
        }
        // Naming it as the previous payment shows nothing of it.
        let previous = person.browser.get(&format!("/reviews/{own}?previous={foreign}\"><b>")).await?;
        assert!(previous.status == 200 && !previous.page.contains("<b>"), "{}", previous.page);
    }
    assert_untouched(&other, &foreign).await
}

#[tokio::test]
async fn who_may_only_see_a_review_gets_no_forms_and_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let other = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let (id, decided) = (hold_payment(&shop, &[]).await?, hold_payment(&other, &[]).await?);
    for role in ["viewer", "developer", "accountant"] {
        let person = Person::enrol(&gateway, &format!("{role}@shop.example"), role, Some(&shop.entity_id)).await?;
        let shown = person.browser.get(&format!("/reviews/{id}")).await?;
        assert_eq!(shown.status, if role == "viewer" { 200 } else { 403 }, "{role}");
        assert!(!shown.page.contains(&format!("/reviews/{id}/")), "{role}: a form in {}", shown.page);
        assert!(!shown.page.contains("everything"), "{role}: the name of a rule in {}", shown.page);
        for (act, fields) in ACTS {
            assert_eq!(person.browser.post(&format!("/reviews/{id}/{act}"), fields).await?.status, 403, "{role} {act}");
        }
    }
    // The right to decide about another shop is no right here.
    let mail = "viewer@shop.example";
    let add = ["user", "role", "add", "--mail", mail, "--role", "analyst", "--entity", &other.entity_id];
    let added = gateway.run_command(&add)?;
    let link = added["link"].as_str().context("no link")?.replace("http://127.0.0.1:8080/", "/");
    let link = link.split_once("/backoffice").map_or("", |(_, path)| path).to_owned();
    let person = Person::accept(&gateway, &link, mail).await?;
    let shown = person.browser.get(&format!("/reviews/{id}")).await?;
    assert!(shown.status == 200 && !shown.page.contains(&format!("/reviews/{id}/")), "{}", shown.page);
    for (act, fields) in ACTS {
        let refused = person.browser.post(&format!("/reviews/{id}/{act}"), fields).await?;
        assert_eq!(refused.status, 403, "{act}");
        assert!(refused.page.contains("data-permission=\"decide-reviews\""), "{act}: {}", refused.page);
    }
    assert_untouched(&shop, &id).await?;
    // The next payment is one about which the user may decide.
    let decided = person.browser.post(&format!("/reviews/{decided}/approve"), &[]).await?;
    assert_eq!((decided.status, decided.header("location")), (303, "/backoffice/reviews?done=review_approved"));
    Ok(())
}

#[tokio::test]
async fn a_right_that_ends_while_an_act_arrives_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let id = hold_payment(&shop, &[]).await?;
    let lose_role = ["user", "role", "remove", "--mail", "ann@shop.example", "--role", "analyst", "--entity"];
    let lose_role = [&lose_role[..], &[&*shop.entity_id]].concat();
    let disable = vec!["user", "disable", "--mail", "ben@shop.example"];
    for (mail, end) in [("ann@shop.example", lose_role), ("ben@shop.example", disable)] {
        let person = Person::enrol(&gateway, mail, "analyst", Some(&shop.entity_id)).await?;
        let mut forms = Vec::new();
        for (act, fields) in ACTS {
            // Without a field there would be no body to wait for.
            let fields = [fields, &[("x", "y")]].concat();
            forms.push(person.browser.begin_form(&format!("/reviews/{id}/{act}"), &fields).await?);
        }
        gateway.run_command(&end)?;
        for form in forms {
            let status = form.finish().await?;
            assert_eq!(status, 404, "{mail}");
        }
    }
    assert_untouched(&shop, &id).await
}

#[tokio::test]
async fn of_two_analysts_who_decide_at_once_one_wins_and_the_other_is_told_who() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let ann = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let ben = Person::enrol(&gateway, "ben@shop.example", "analyst", Some(&shop.entity_id)).await?;
    for _ in 0..5 {
        let id = hold_payment(&shop, &[]).await?;
        let (approve, cancel) = (format!("/reviews/{id}/approve"), format!("/reviews/{id}/cancel"));
        let reason = [("reason", "7"), ("cancel-note", "kept text")];
        let (approved, cancelled) =
            tokio::join!(ann.browser.post(&approve, &[("note", "kept text")]), ben.browser.post(&cancel, &reason));
        let (approved, cancelled) = (approved?, cancelled?);
        let (loser, told, code) = match (approved.status, cancelled.status) {
            (303, 422) => (cancelled, "ann@shop.example approved it", PAID),
            (422, 303) => (approved, "ben@shop.example cancelled it", DENIED),
            other => anyhow::bail!("{other:?}"),
        };
        assert!(loser.page.contains("Nothing was changed: This payment is not held any more"), "{}", loser.page);
        assert!(loser.page.contains(told), "{told} in {}", loser.page);
        let status = if code == PAID { 200 } else { 400 };
        assert_result(&shop.get(&format!("v1/payments/{id}")).await?, status, code);
        assert_eq!(read_acts(&shop, &id).await?.len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_double_click_decides_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "authorize", &[]).await?;
    let ann = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    for (act, fields) in ACTS.into_iter().filter(|(act, _)| ["note", "approve", "cancel", "pend"].contains(act)) {
        let id = hold_payment(&shop, &[]).await?;
        let path = format!("/reviews/{id}/{act}");
        let answers = join_all((0..3).map(|_| ann.browser.post(&path, fields))).await;
        for answer in answers {
            assert_eq!(answer?.status, 303, "{act}");
        }
        let acts = read_acts(&shop, &id).await?;
        assert_eq!(acts.len(), 1, "{act}: {acts:?}");
        let query = shop.get(&format!("v1/query/{id}?includeLinkedTransactions=true")).await?;
        let linked = query.json["payments"].as_array().map_or(0, Vec::len);
        assert!(linked <= if act == "cancel" { 2 } else { 1 }, "{act}: {}", query.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_claimed_payment_is_left_to_its_analyst_until_it_is_released() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let ann = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let ben = Person::enrol(&gateway, "ben@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let id = hold_payment(&shop, &[]).await?;
    assert_eq!(ann.browser.post(&format!("/reviews/{id}/claim"), &[]).await?.status, 303);
    let shown = ben.browser.get(&format!("/reviews/{id}")).await?;
    assert!(shown.page.contains("ann@shop.example has claimed this payment until"), "{}", shown.page);
    assert!(!shown.page.contains("formaction=") && shown.page.contains("Add note"), "{}", shown.page);
    for (act, fields) in ACTS.into_iter().filter(|(act, _)| *act != "note") {
        let refused = ben.browser.post(&format!("/reviews/{id}/{act}"), fields).await?;
        assert_eq!(refused.status, 422, "{act}");
        let told = "Nothing was changed: ann@shop.example has claimed this payment since";
        assert!(refused.page.contains(told), "{act}: {}", refused.page);
    }
    assert_eq!(ben.browser.post(&format!("/reviews/{id}/note"), &[("note", "look at this")]).await?.status, 303);
    assert_eq!(ann.browser.post(&format!("/reviews/{id}/release"), &[]).await?.status, 303);
    assert_eq!(ben.browser.post(&format!("/reviews/{id}/approve"), &[]).await?.status, 303);
    let kinds: Vec<String> = read_acts(&shop, &id).await?.into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, ["claim", "note", "release", "approve"]);
    Ok(())
}

#[tokio::test]
async fn a_double_click_asks_the_acquirer_once_and_the_notice_tells_the_outcome() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_reviewed_shop(&scene.gateway, "hold", &[]).await?;
    let ann = Person::enrol(&scene.gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let external = ("testMode", "EXTERNAL");
    let approved = hold_payment(&shop, &[external]).await?;
    let path = format!("/reviews/{approved}/approve");
    for answer in join_all((0..4).map(|_| ann.browser.post(&path, &[]))).await {
        let answer = answer?;
        assert_eq!(answer.status, 303, "{}", answer.page);
    }
    assert_eq!(scene.host.read_ledger().await?.len(), 1, "the host was asked more than once");
    assert_result(&shop.get(&format!("v1/payments/{approved}")).await?, 200, "000.100.112");
    let declined = hold_payment(&shop, &[external, ("card.number", "4200000000005512")]).await?;
    let answer = ann.browser.post(&format!("/reviews/{declined}/approve"), &[]).await?;
    assert_eq!(answer.header("location"), "/backoffice/reviews?done=review_approved_declined");
    let unknown = hold_payment(&shop, &[external]).await?;
    scene.line.set_target(None);
    let answer = ann.browser.post(&format!("/reviews/{unknown}/approve"), &[]).await?;
    assert_eq!(answer.header("location"), "/backoffice/reviews?done=review_approved_pending");
    let queue = ann.browser.get("/reviews?done=review_approved_pending").await?;
    assert!(queue.page.contains("Its outcome is not known yet."), "{}", queue.page);
    Ok(())
}
