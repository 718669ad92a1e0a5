//! One mailbox in many spellings: lists take them as one, and a request with a text that is no address is refused.

use tillgate_tests::TestGateway;

use crate::support::*;

/// Spellings of the mailbox `jo@müll.example`.
const SPELLINGS: [&str; 8] = [
    "jo@müll.example",
    "JO@MÜLL.example",
    "jo@xn--mll-hoa.example.",
    "\"jo\"@müll.example",
    "Jo Doe <jo@müll.example>",
    "ｊｏ@müll．example",
    "jo@mu\u{308}ll.example",
    "j\u{200b}o@müll.example",
];

#[tokio::test]
async fn a_mailbox_on_a_list_is_found_in_every_spelling() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    for listed in SPELLINGS {
        let shop = gateway.create_merchant_with(&["--risk", "on"])?;
        let entry = [("list", "deny"), ("key", "email"), ("value", listed), ("reason", "chargeback")];
        let added = shop.post("v2/risk/lists", &entry).await?;
        assert_result(&added, 200, "000.000.100");
        assert_eq!(added.json["value"], "jo@müll.example", "{listed}");
        for sent in SPELLINGS {
            let declined = shop
                .pay_by_card(&[("customer.email", sent), ("customer.givenName", "Jo"), ("customer.surname", "Doe")])
                .await?;
            assert_ne!(declined.result_code(), "000.100.110", "{listed} does not find {sent}: {}", declined.text);
        }
        let other = [("customer.email", "jo2@müll.example"), ("customer.givenName", "J"), ("customer.surname", "Doe")];
        assert_eq!(shop.pay_by_card(&other).await?.result_code(), "000.100.110");
        // The entry is removed by another spelling.
        let place = [("list", "deny"), ("key", "email"), ("value", "JO@xn--mll-hoa.example")];
        assert_result(&crate::risk::store::delete_entry(&shop, &place).await?, 200, "000.000.100");
    }
    Ok(())
}

#[tokio::test]
async fn what_is_no_address_is_refused_in_requests_and_on_lists() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for text in [
        "jo.shop.example",
        "jo@shop.example, x@evil.example",
        "jo doe@shop.example",
        "jo@shop.example(x)",
        "jo@.example",
        "@shop.example",
    ] {
        let named = [("customer.email", text), ("customer.givenName", "Jo"), ("customer.surname", "Doe")];
        assert_errors(&shop.pay_by_card(&named).await?, &["customer.email"]);
        let entry = [("list", "deny"), ("key", "email"), ("value", text), ("reason", "x")];
        assert_errors(&shop.post("v2/risk/lists", &entry).await?, &["value"]);
    }
    // The address is kept and told as it was sent.
    let kept = [("customer.email", "Jo <JO@Shop.example>"), ("customer.givenName", "Jo"), ("customer.surname", "Doe")];
    let paid = shop.pay_by_card(&kept).await?;
    assert_eq!(paid.json["customer"]["email"], "Jo <JO@Shop.example>");
    Ok(())
}
