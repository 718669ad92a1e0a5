//! Brands: the payment method in queries and the form for the shopper agree for each brand.

use tillgate_shared::brand::{AccountType, Brand};
use tillgate_tests::ApiResponse;

use crate::checkout::frame_document::read_configuration;
use crate::payment::accounts::pay_by_account;
use crate::support::*;

const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/back");

/// Brands with a prepayment or a similar name: code, method, form.
const SETTLED: [(&str, &str, &str); 6] = [
    ("BOLETO", "PP", "prepayment"),
    ("OXXO", "PP", "prepayment"),
    ("PREPAYMENT", "PP", "prepayment"),
    ("SADAD", "OT", "onlineTransfer"),
    ("PREPAYMENT_VRP", "VA", "virtualAccount"),
    ("WESTERN_UNION", "VA", "virtualAccount"),
];

#[tokio::test]
async fn prepayments_are_the_same_brands_for_a_query_and_for_the_form() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let config = read_configuration(&shop, made.id(), &SETTLED.map(|(code, ..)| code).join("+")).await?;
    let order = format!("methods-{}", made.id());
    for (code, method, form) in SETTLED {
        assert_eq!(config["brands"][code]["form"], form, "{config}");
        let paid = pay_by_account(&shop, code, &[BACK, ("merchantTransactionId", &order)]).await?;
        for (asked, found) in [(method, true), ("PP", method == "PP"), ("CC,DC,DD", false)] {
            let list = shop.get(&format!("v1/query?merchantTransactionId={order}&paymentMethods={asked}")).await?;
            assert_eq!(listed_ids(&list).contains(&paid.id()), found, "{code} {asked}: {}", list.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_brand_without_a_card_has_a_form_of_its_account() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let others: Vec<&Brand> = Brand::all().iter().filter(|brand| brand.kind != AccountType::Card).collect();
    // In groups, because the address of a frame has a limited length.
    for some in others.chunks(20) {
        let codes: Vec<&str> = some.iter().map(|brand| brand.code).collect();
        let config = read_configuration(&shop, made.id(), &codes.join("+")).await?;
        for brand in some {
            let told = &config["brands"][brand.code];
            let forms: &[&str] = match brand.kind {
                AccountType::Bank => &["directDebit", "onlineTransfer", "prepayment"],
                _ => &["virtualAccount"],
            };
            assert!(told["form"].as_str().is_some_and(|form| forms.contains(&form)), "{} {told}", brand.code);
            assert_eq!(told["kind"], brand.kind.as_str(), "{}", brand.code);
        }
    }
    Ok(())
}

/// Returns the ids of a list, in its order.
fn listed_ids(answer: &ApiResponse) -> Vec<&str> {
    let payments = answer.json["payments"].as_array();
    payments.into_iter().flatten().filter_map(|payment| payment["id"].as_str()).collect()
}
