//! Brands: the method that queries find a payment by, and the form that its shopper has, agree for each of them.

use tillgate_shared::brand::{Brand, Kind};
use tillgate_tests::Answer;

use crate::accounts::pay;
use crate::frame_document::configuration;
use crate::support::*;

const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.example/back");

/// Brands that are paid before the goods are sent, or sound like it: code, method, form.
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
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let config = configuration(&shop, made.id(), &SETTLED.map(|(code, ..)| code).join("+")).await?;
    let order = format!("methods-{}", made.id());
    for (code, method, form) in SETTLED {
        assert_eq!(config["brands"][code]["form"], form, "{config}");
        let paid = pay(&shop, code, &[BACK, ("merchantTransactionId", &order)]).await?;
        for (asked, found) in [(method, true), ("PP", method == "PP"), ("CC,DC,DD", false)] {
            let list = shop.get(&format!("v1/query?merchantTransactionId={order}&paymentMethods={asked}")).await?;
            assert_eq!(ids(&list).contains(&paid.id()), found, "{code} {asked}: {}", list.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_brand_without_a_card_has_a_form_of_its_account() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let others: Vec<&Brand> = Brand::all().iter().filter(|brand| brand.kind != Kind::Card).collect();
    // The address of a frame is short.
    for some in others.chunks(20) {
        let codes: Vec<&str> = some.iter().map(|brand| brand.code).collect();
        let config = configuration(&shop, made.id(), &codes.join("+")).await?;
        for brand in some {
            let told = &config["brands"][brand.code];
            let forms: &[&str] = match brand.kind {
                Kind::Bank => &["directDebit", "onlineTransfer", "prepayment"],
                _ => &["virtualAccount"],
            };
            assert!(told["form"].as_str().is_some_and(|form| forms.contains(&form)), "{} {told}", brand.code);
            assert_eq!(told["kind"], brand.kind.as_str(), "{}", brand.code);
        }
    }
    Ok(())
}

/// The ids of a list, in its order.
fn ids(answer: &Answer) -> Vec<&str> {
    let payments = answer.json["payments"].as_array();
    payments.into_iter().flatten().filter_map(|payment| payment["id"].as_str()).collect()
}
