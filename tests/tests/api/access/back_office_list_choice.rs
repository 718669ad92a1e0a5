//! Values of a payment that go to a list together with the cancellation or refund of the payment.

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::office_browser::{Answer, Person};
use crate::payment::held_payments::create_reviewed_shop;
use crate::review::queue::hold_payment;
use crate::support::assert_result;

/// Values that the payments of these tests have.
const CUSTOMER: [(&str, &str); 3] =
    [("customer.email", "Jo@Kiln.example"), ("customer.givenName", "Jo"), ("customer.surname", "Kim")];
/// Result code of a payment whose card is on the list `deny`.
const LISTED: &str = "100.400.142";

/// Returns list and key of each entry.
async fn read_entries(shop: &MerchantClient) -> anyhow::Result<Vec<(String, String)>> {
    let read = shop.get("v2/risk/lists").await?;
    let entries = read.json["entries"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut entries: Vec<_> = entries.iter().map(|entry| (text(&entry["list"]), text(&entry["key"]))).collect();
    entries.sort();
    Ok(entries)
}

/// Cancels a held payment with more fields.
async fn cancel(person: &Person, payment: &str, more: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let fields = [&[("reason", "7"), ("cancel-note", "stolen")], more].concat();
    person.browser.post(&format!("/reviews/{payment}/cancel"), &fields).await
}

#[tokio::test]
async fn a_cancelled_payment_puts_its_card_and_mail_address_on_a_list() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let held = hold_payment(&shop, &CUSTOMER).await?;
    let ann = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    let page = ann.browser.get(&format!("/reviews/{held}")).await?.page;
    for text in ["value=\"card\"", "value=\"email\"", "Jo@Kiln.example", "Put on a list as well"] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let chosen = [("listed", "card"), ("listed", "email"), ("list", "deny")];
    let cancelled = cancel(&ann, &held, &chosen).await?;
    assert_eq!(cancelled.header("location"), "/backoffice/reviews?done=review_cancelled,values_listed");
    let shown = ann.browser.get("/reviews?done=review_cancelled,values_listed").await?.page;
    assert!(shown.contains("You have cancelled") && shown.contains("The chosen values are on the list."), "{shown}");
    let deny = |key: &str| ("deny".to_owned(), key.to_owned());
    assert_eq!(read_entries(&shop).await?, [deny("card"), deny("email")]);
    // A part of an act that failed does not look like a success.
    let failed = ann.browser.get("/reviews?done=review_cancelled,values_not_listed").await?.page;
    assert!(failed.contains("toast notice warn") && failed.contains("The list was not changed."), "{failed}");
    assert!(shown.contains("toast notice good"), "{shown}");
    // The next payment with the card, and the next one of the customer with another card, are declined.
    assert_result(&shop.pay_by_card(&[]).await?, 400, LISTED);
    let other = [("card.number", "5454545454545454"), ("paymentBrand", "MASTER")];
    let same_customer = [&CUSTOMER[..], &other].concat();
    assert_result(&shop.pay_by_card(&same_customer).await?, 400, LISTED);
    Ok(())
}

#[tokio::test]
async fn a_refunded_payment_puts_its_address_on_the_list_of_reviews() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    let paid = shop.pay_by_card(&[("customer.ip", "198.51.100.7")]).await?.id().to_owned();
    let robin = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let path = format!("/payments/{paid}/refund");
    let page = robin.browser.get(&path).await?;
    let key = page.between("name=\"key\" value=\"", "\"").unwrap_or_default().to_owned();
    let sent =
        |amount: &'static str| [("amount", amount), ("key", &*key), ("listed", "ip"), ("list", "review")].to_vec();
    // A refused form lists nothing, and keeps the choice.
    let refused = robin.browser.post(&path, &sent("much")).await?;
    assert_eq!((refused.status, read_entries(&shop).await?.len()), (422, 0));
    assert!(refused.page.contains("value=\"ip\" checked"), "{}", refused.page);
    for _ in 0..2 {
        let refunded = robin.browser.post(&path, &sent("46.00")).await?;
        let expected = format!("/backoffice/payments/{paid}?done=refund_approved,values_listed");
        assert_eq!(refunded.header("location"), expected, "{}", refunded.page);
    }
    assert_eq!(read_entries(&shop).await?, [("review".to_owned(), "ip".to_owned())]);
    // The role of a merchant refunds, but changes no list.
    let kim = Person::enrol(&gateway, "kim@shop.example", "merchant", Some(&shop.entity_id)).await?;
    let page = kim.browser.get(&path).await?;
    assert!(!page.page.contains("Put on a list"), "{}", page.page);
    let key = page.between("name=\"key\" value=\"", "\"").unwrap_or_default();
    let sent = [("amount", "1.00"), ("key", key), ("listed", "ip"), ("list", "deny")];
    let refunded = kim.browser.post(&path, &sent).await?;
    assert_eq!(refunded.header("location"), format!("/backoffice/payments/{paid}?done=refund_approved"));
    assert_eq!(read_entries(&shop).await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_form_lists_nothing_for_whom_may_not_change_lists_or_what_the_payment_lacks() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
    let held = hold_payment(&shop, &CUSTOMER).await?;
    let ann = Person::enrol(&gateway, "ann@shop.example", "analyst", Some(&shop.entity_id)).await?;
    // Nobody becomes trusted by a cancellation, and a browser adds no value of its own.
    for chosen in [
        vec![("listed", "email"), ("list", "allow")],
        vec![("listed", "email"), ("list", "DENY")],
        vec![("listed", "ip"), ("listed", "holder"), ("listed", "4200000000000000"), ("list", "deny")],
        vec![("list", "deny")],
        vec![("listed", "email")],
    ] {
        let next = hold_payment(&shop, &CUSTOMER).await?;
        let cancelled = cancel(&ann, &next, &chosen).await?;
        assert!(cancelled.header("location").ends_with("done=review_cancelled"), "{chosen:?}");
    }
    // A cancellation that is refused changes no list.
    let refused =
        ann.browser.post(&format!("/reviews/{held}/cancel"), &[("listed", "email"), ("list", "deny")]).await?;
    assert_eq!(refused.status, 422);
    assert_eq!(read_entries(&shop).await?, []);
    // A viewer, and an analyst of another merchant, neither decide nor list.
    let other = gateway.create_merchant()?;
    for (mail, role, entity) in
        [("vic@shop.example", "viewer", &shop.entity_id), ("eve@shop.example", "analyst", &other.entity_id)]
    {
        let person = Person::enrol(&gateway, mail, role, Some(entity)).await?;
        let answer = cancel(&person, &held, &[("listed", "email"), ("list", "deny")]).await?;
        assert!([403, 404].contains(&answer.status), "{role}: {}", answer.status);
    }
    assert_eq!(read_entries(&shop).await?, []);
    Ok(())
}
