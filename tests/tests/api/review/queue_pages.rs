//! Pages and filters of the review queue by API.

use std::collections::{BTreeMap, BTreeSet};

use tillgate_tests::TestGateway;

use crate::payment::held_payments::create_reviewed_shop;
use crate::review::queue::{DONE, act, create_analysts, hold_payment, listed_ids};
use crate::support::*;
#[tokio::test]
async fn the_queue_is_filtered_by_what_an_analyst_knows_of_a_payment() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on", "--review", "hold"])?;
    let rules = "[[rule]]\nname = 'everything'\nwhen = 'amount > 0'\noutcome = 'review'\n\
                 [[rule]]\nname = 'large'\nwhen = 'amount > 500'\nscore = 40\n\
                 [[rule]]\nname = 'small'\nwhen = 'amount < 10'\nscore = -5\n";
    let added = shop.post("v2/risk/rules", &[("rules", rules)]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, DONE);
    let (analyst, user) = create_analysts(gateway, &shop, 1).await?.remove(0);
    let old = hold_payment(&shop, &[("amount", "600.00"), ("merchantTransactionId", "order-0001")]).await?;
    shop.advance_clock("2h").await?;
    let master = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454"), ("currency", "USD")];
    let other = hold_payment(&shop, &master).await?;
    let small = hold_payment(&shop, &[("amount", "9.00"), ("merchantTransactionId", "order-0002")]).await?;
    assert_result(&act(&analyst, &other, "claim", &[]).await?, 200, DONE);
    let nobody: [&String; 0] = [];
    for (query, expected) in [
        ("", &[&old, &other, &small][..]),
        ("state=open&limit=100", &[&old, &other, &small]),
        ("amount.from=92&amount.to=600", &[&old, &other]),
        ("amount.from=9.01&amount.to=599.99", &[&other]),
        ("score.from=0", &[&old, &other]),
        ("score.to=-5", &[&small]),
        ("score.from=-4&score.to=39", &[&other]),
        ("rule=large", &[&old]),
        ("rule=lar", &nobody),
        ("paymentBrand=MASTER", &[&other]),
        ("currency=EUR", &[&old, &small]),
        ("currency=EUR&rule=small", &[&small]),
        ("minAge=119m", &[&old]),
        ("minAge=3h", &nobody),
        ("merchantTransactionId=order-0002", &[&small]),
        ("merchantTransactionId=order-0002&rule=large", &nobody),
        ("merchantTransactionId=order-9999", &nobody),
        ("analyst=mine", &[&other]),
        (&format!("analyst={user}"), &[&other]),
        ("analyst=unclaimed", &[&old, &small]),
        ("analyst=nobody", &nobody),
        ("state=approved", &nobody),
        ("state=", &[&old, &other, &small]),
    ] {
        let list = analyst.get(&format!("v2/reviews?{query}")).await?;
        assert_result(&list, 200, DONE);
        assert_eq!(listed_ids(&list).iter().collect::<Vec<_>>(), expected, "{query}");
        assert!(list.json["cursor"].is_null(), "{query}");
    }
    for (query, name) in [
        ("state=closed", "state"),
        ("amount.from=-1", "amount.from"),
        ("amount.to=1.5", "amount.to"),
        ("score.from=high", "score.from"),
        ("score.to=100000", "score.to"),
        ("score.to=99999999999999999999", "score.to"),
        ("minAge=-1h", "minAge"),
        ("minAge=soon", "minAge"),
        ("minAge=99999999999y", "minAge"),
        ("currency=euro", "currency"),
        ("limit=0", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=8a000000000000000000000000000000", "cursor"),
        (&format!("rule={}", "x".repeat(256)), "rule"),
        (&format!("analyst={}", "%C3%A4".repeat(256)), "analyst"),
    ] {
        assert_errors(&analyst.get(&format!("v2/reviews?{query}")).await?, &[name]);
    }
    assert_errors(&analyst.get("v2/reviews?state=x&score.to=y&minAge=z").await?, &["state", "score.to", "minAge"]);
    Ok(())
}

#[tokio::test]
async fn pages_have_no_gaps_and_no_doubles_while_reviews_end_and_the_clock_moves() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_reviewed_shop(gateway, "hold", &[]).await?;
    let mut held = BTreeSet::new();
    for _ in 0..23 {
        held.insert(hold_payment(&shop, &[]).await?);
    }
    let (mut seen, mut path, mut pages) = (BTreeMap::new(), "v2/reviews?limit=5".to_owned(), 0);
    loop {
        let page = shop.get(&path).await?;
        assert_result(&page, 200, DONE);
        let ids = listed_ids(&page);
        assert!(ids.len() <= 5);
        for id in &ids {
            *seen.entry(id.clone()).or_insert(0) += 1;
        }
        pages += 1;
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        path = format!("v2/reviews?limit=5&cursor={cursor}");
        // The payment after which the next page begins is decided, and so is another one of this page.
        assert_result(&act(&shop, cursor, "approve", &[]).await?, 200, DONE);
        assert_result(&act(&shop, &ids[1], "cancel", &[("reason", "1")]).await?, 200, DONE);
        shop.advance_clock("10m").await?;
    }
    assert_eq!(pages, 5);
    assert_eq!(seen.keys().cloned().collect::<BTreeSet<_>>(), held);
    assert!(seen.values().all(|times| *times == 1), "{seen:?}");
    let open = listed_ids(&shop.get("v2/reviews").await?);
    let ended = ["approved", "cancelled"].map(|state| format!("v2/reviews?state={state}"));
    let mut counts = vec![open.len()];
    for path in &ended {
        counts.push(listed_ids(&shop.get(path).await?).len());
    }
    assert_eq!(counts, [15, 4, 4]);
    Ok(())
}
