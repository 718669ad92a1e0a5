//! What a merchant's checkout or channel demands is kept by the server: the security code, the brands on offer, a signed
//! mandate, and who may store an account. No page and no browser takes it away.

use std::sync::OnceLock;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Method;
use tillgate_tests::{Gateway, Merchant};

use crate::presence::{AT_ONCE, Fields, WAYS, Way, assert_unpaid, browser_parameters, owned, post, submit};
use crate::support::*;

const PAID: &str = "000.100.110";
const CARD: &str = "4200000000000000";
/// What a checkout demands by itself.
const CODES: [(&str, &str); 2] = [("requireCvv", "true"), ("registrationsRequireCvv", "true")];

/// A merchant whose channel demands codes.
fn with_codes() -> Merchant {
    static WITH_CODES: OnceLock<Merchant> = OnceLock::new();
    account(&WITH_CODES, &["--3d", "never", "--require-cvv", "on", "--registrations-require-cvv", "on"])
}

/// A merchant who lets browsers store accounts and name customers.
fn permissive() -> Merchant {
    static PERMISSIVE: OnceLock<Merchant> = OnceLock::new();
    account(&PERMISSIVE, &["--browser-registrations", "--browser-customer-ids", "--customer-names-optional"])
}

#[tokio::test]
async fn a_code_that_is_demanded_is_asked_of_every_way_to_submit() -> anyhow::Result<()> {
    for (shop, checkout) in [(with_codes(), &[][..]), (shop(), &CODES)] {
        for way in WAYS {
            let status = submit(&shop, way, CARD, "", checkout, &Vec::new()).await?;
            assert_unpaid(&status, way, &Vec::new());
            let status = submit(&shop, way, CARD, "123", checkout, &Vec::new()).await?;
            assert_eq!(status.code(), PAID, "{way:?} {}", status.text);
        }
        // The form is told which field is missing.
        let made = shop.checkout(checkout).await?;
        assert_errors(&shop.submit(made.id(), &[("card.cvv", "")]).await?, &["card.cvv"]);
        assert_errors(&shop.submit(made.id(), &[("card.cvv", ""), ("useSummaryPage", "true")]).await?, &["card.cvv"]);
    }
    // Each of the two demands stands for itself.
    for way in WAYS {
        let stored_only = submit(&shop(), way, CARD, "", &CODES[1..], &Vec::new()).await?;
        let typed_only = submit(&shop(), way, CARD, "", &CODES[..1], &Vec::new()).await?;
        let paid = [stored_only, typed_only].map(|status| status.code() == PAID);
        let expected = match way {
            Way::Form | Way::Summary => [true, false],
            // The plain form asks for the code of a typed card by itself.
            Way::Plain => [false, false],
            Way::OneClick => [false, true],
            Way::Registration => [false, false],
        };
        assert_eq!(paid, expected, "{way:?}");
    }
    Ok(())
}

#[tokio::test]
async fn no_parameter_of_a_browser_takes_a_demanded_code_away() -> anyhow::Result<()> {
    let mut all = browser_parameters();
    all.push(owned(&[("requireCvv", "false"), ("registrationsRequireCvv", "false"), ("allowEmptyCvv", "true")]));
    let cases = WAYS.iter().flat_map(|way| all.iter().map(move |fields| (*way, fields)));
    stream::iter(cases)
        .map(|(way, fields)| async move {
            assert_unpaid(&submit(&with_codes(), way, CARD, "", &[], fields).await?, way, fields);
            anyhow::Ok(())
        })
        .buffer_unordered(AT_ONCE)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_code_may_be_missing_only_of_a_card_whose_own_brand_has_cards_without() -> anyhow::Result<()> {
    let shop = with_codes();
    let codeless = |brand, number| [("paymentBrand", brand), ("card.number", number), ("card.cvv", "")];
    let made = shop.checkout(&[]).await?;
    shop.submit(made.id(), &codeless("MAESTRO", "6799851000000032")).await?;
    assert_eq!(shop.status(made.id()).await?.code(), PAID);
    for brand in ["BANCONTACT", "MAESTRO", "CHINAUNIONPAY", "UNIONPAY", "AXESS", "CARTEBLEUE", "VISADEBIT"] {
        let made = shop.checkout(&[]).await?;
        shop.submit(made.id(), &codeless(brand, CARD)).await?;
        assert_unpaid(&shop.status(made.id()).await?, Way::Form, &owned(&codeless(brand, CARD)));
    }
    Ok(())
}

#[tokio::test]
async fn a_demanded_code_that_was_lost_while_the_issuer_was_asked_is_not_gone_without() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant_with(&["--require-cvv", "on"])?;
    let made = shop.checkout(&[crate::threeds::BACK]).await?;
    let submitted = shop.submit(made.id(), &[("card.number", "4200000000000018")]).await?;
    let page = crate::threeds::redirect(&submitted, "url").rsplit('/').next().unwrap_or_default().to_owned();
    let gateway = gateway.restart(&[])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    let url = format!("{}v1/threeDSecure/{page}", shop.base);
    let (_, challenge) = crate::threeds::visit(&shop, &url).await?;
    let answer = [("transaction", crate::threeds::transaction(&challenge)), ("returnCode", PAID)];
    crate::threeds::post(&shop, &url, &answer).await?;
    assert_answer(&shop.status(made.id()).await?, 400, "100.100.600");
    Ok(())
}

#[tokio::test]
async fn a_brand_that_a_checkout_does_not_offer_is_refused_whatever_the_page_shows() -> anyhow::Result<()> {
    let shop = shop();
    let only = [("brands", "MASTER, AMEX")];
    for way in WAYS {
        for brand in [&[][..], &[("paymentBrand", "")], &[("paymentBrand", "APPLEPAY")], &[("brands", "VISA")]] {
            let fields = owned(brand);
            assert_unpaid(&submit(&shop, way, CARD, "123", &only, &fields).await?, way, &fields);
        }
        let master = owned(&[("paymentBrand", "MASTER"), ("card.number", "5454545454545454")]);
        if way != Way::OneClick && way != Way::Registration {
            assert_eq!(submit(&shop, way, CARD, "123", &only, &master).await?.code(), PAID, "{way:?}");
        }
    }
    let made = shop.checkout(&only).await?;
    assert_errors(&shop.submit(made.id(), &[]).await?, &["paymentBrand"]);
    assert_errors(&shop.submit(made.id(), &[("paymentBrand", "")]).await?, &["paymentBrand"]);
    // The brand is told by the number among those on offer.
    shop.submit(made.id(), &[("paymentBrand", ""), ("card.number", "5454545454545454")]).await?;
    assert_eq!(shop.status(made.id()).await?.json["paymentBrand"], "MASTER");
    // The frames show no other either.
    let made = shop.checkout(&only).await?;
    let page = format!("v1/pciIframe.html?checkoutId={}&field=card.number&brands=VISA+MASTER+PAYPAL", made.id());
    let shown = shop.bare(Method::GET, &page).send().await?.text().await?;
    assert!(
        shown.contains(r#""MASTER":"#) && !shown.contains(r#""VISA":"#) && !shown.contains(r#""PAYPAL":"#),
        "{shown}"
    );
    // A list that names no known brand is no list.
    for wrong in ["VISA NOBODY", "visa", ","] {
        assert_errors(&shop.checkout(&[("brands", wrong)]).await?, &["brands"]);
    }
    // What a channel does not offer is refused in the same ways.
    let channel = Gateway::shared().merchant_with(&["--brands", "MASTER"])?;
    for way in [Way::Form, Way::Plain, Way::Summary, Way::Registration] {
        assert_unpaid(&submit(&channel, way, CARD, "123", &[], &Vec::new()).await?, way, &Vec::new());
    }
    Ok(())
}

#[tokio::test]
async fn a_mandate_of_the_merchants_is_signed_or_nobody_is_debited() -> anyhow::Result<()> {
    let shop = shop();
    let debit = [
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE89370400440532013000"),
        ("bankAccount.bic", "COBADEFFXXX"),
    ];
    const SIGNED: (&str, &str) = ("bankAccount.mandate.dateOfSignature", "2026-11-01");
    for mandate in [("bankAccount.mandate.id", "MANDATE4711"), ("bankAccount.mandate.reference", "REFERENCE4711")] {
        let other = (mandate.0, "OTHER");
        for way in [Way::Form, Way::Plain, Way::Summary] {
            for signed in [false, true] {
                let made = shop.checkout(&[mandate]).await?;
                let mut fields = [&debit[..], &[other]].concat();
                fields.extend(Some(SIGNED).filter(|_| signed));
                let path = match way {
                    Way::Plain => format!("v1/plainForm.html?checkoutId={}&brands=DIRECTDEBIT_SEPA", made.id()),
                    _ => format!("v1/checkouts/{}/payment", made.id()),
                };
                if way == Way::Summary {
                    fields.push(("useSummaryPage", "true"));
                }
                post(&shop, &path, &fields).await?;
                if way == Way::Summary {
                    shop.post(&format!("v1/checkouts/{}/confirm", made.id()), &[]).await?;
                }
                let status = shop.status(made.id()).await?;
                assert_eq!(status.code() == PAID, signed, "{way:?} {mandate:?} {}", status.text);
                let name = mandate.0.rsplit('.').next().unwrap_or_default();
                assert!(!signed || status.json["bankAccount"]["mandate"][name] == mandate.1, "{}", status.text);
            }
        }
        let made = shop.checkout(&[mandate]).await?;
        let path = format!("v1/checkouts/{}/payment", made.id());
        assert_errors(&shop.post_as_browser(&path, &debit).await?, &[SIGNED.0]);
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_stores_an_account_only_where_the_merchant_allows_it() -> anyhow::Result<()> {
    let creatable = [("registrationsCreatable", "true")];
    let wish: Fields = owned(&[("createRegistration", "true"), ("registrationsCreatable", "true")]);
    for (shop, checkout, stores) in [
        (shop(), &[][..], false),
        (shop(), &creatable, true),
        (shop(), &[creatable[0], ("createRegistration", "false")], false),
        (permissive(), &[], true),
        (permissive(), &[("createRegistration", "false")], false),
    ] {
        for way in [Way::Form, Way::Plain, Way::Summary] {
            let status = submit(&shop, way, CARD, "123", checkout, &wish).await?;
            assert_eq!(status.code(), PAID, "{}", status.text);
            assert_eq!(status.json["registrationId"].is_string(), stores, "{way:?} {checkout:?} {}", status.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_names_the_customer_only_where_the_merchant_allows_it() -> anyhow::Result<()> {
    let named = |id: &str| owned(&[("customer.merchantCustomerId", id)]);
    let number = |status: &tillgate_tests::Answer| status.json["customer"]["merchantCustomerId"].clone();
    for way in WAYS {
        let status = submit(&nameless_shop(), way, CARD, "123", &[], &named("victim")).await?;
        assert_eq!((status.code(), number(&status)), (PAID, serde_json::Value::Null), "{way:?}");
        let status = submit(&permissive(), way, CARD, "123", &[], &named("4711")).await?;
        assert_eq!((status.code(), number(&status)), (PAID, "4711".into()), "{way:?}");
        let own = [("customer.merchantCustomerId", "own")];
        let status = submit(&permissive(), way, CARD, "123", &own, &named("4711")).await?;
        assert_eq!((status.code(), number(&status)), (PAID, "own".into()), "{way:?}");
    }
    Ok(())
}
