//! Requirements of a merchant's checkout or channel, which the server enforces: the security code, the offered brands,
//! a signed mandate, and the permission to store accounts. No page and no browser can remove them.

use std::sync::OnceLock;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Method;
use serde_json::json;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::checkout::presence::{
    CONCURRENT_REQUESTS, FormFields, SUBMIT_FLOWS, SubmitFlow, assert_unpaid, browser_parameters, post_as_browser,
    submit_in_flow, to_fields,
};
use crate::support::*;

const PAID: &str = "000.100.110";
const CARD: &str = "4200000000000000";
/// Parameters of a checkout that requires codes.
const CODES: [(&str, &str); 2] = [("requireCvv", "true"), ("registrationsRequireCvv", "true")];

/// Returns the shared merchant whose channel requires codes and has no 3-D Secure.
fn codes_required_shop() -> MerchantClient {
    static WITH_CODES: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&WITH_CODES, &["--3d", "never", "--require-cvv", "on", "--registrations-require-cvv", "on"])
}

/// Returns the shared merchant that lets browsers store accounts and set customer ids.
fn permissive_shop() -> MerchantClient {
    static PERMISSIVE: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&PERMISSIVE, &["--browser-registrations", "--browser-customer-ids", "--customer-names-optional"])
}

/// Returns the shared merchant that does not let browsers store accounts.
fn strict_about_browsers() -> MerchantClient {
    static STRICT: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&STRICT, &["--browser-registrations", "off"])
}

#[tokio::test]
async fn a_code_that_is_demanded_is_asked_of_every_way_to_submit() -> anyhow::Result<()> {
    for (shop, checkout) in [(codes_required_shop(), &[][..]), (sandbox_shop(), &CODES)] {
        for way in SUBMIT_FLOWS {
            let status = submit_in_flow(&shop, way, CARD, "", checkout, &Vec::new()).await?;
            assert_unpaid(&status, way, &Vec::new());
            let status = submit_in_flow(&shop, way, CARD, "123", checkout, &Vec::new()).await?;
            assert_eq!(status.result_code(), PAID, "{way:?} {}", status.text);
        }
        // The response to the form names the missing field.
        let made = shop.create_checkout(checkout).await?;
        assert_errors(&shop.submit_card(made.id(), &[("card.cvv", "")]).await?, &["card.cvv"]);
        assert_errors(
            &shop.submit_card(made.id(), &[("card.cvv", ""), ("useSummaryPage", "true")]).await?,
            &["card.cvv"],
        );
    }
    // The two requirements are independent.
    for way in SUBMIT_FLOWS {
        let stored_only = submit_in_flow(&sandbox_shop(), way, CARD, "", &CODES[1..], &Vec::new()).await?;
        let typed_only = submit_in_flow(&sandbox_shop(), way, CARD, "", &CODES[..1], &Vec::new()).await?;
        let paid = [stored_only, typed_only].map(|status| status.result_code() == PAID);
        let expected = match way {
            SubmitFlow::Form | SubmitFlow::Summary => [true, false],
            // The plain form always requires the code of a typed card.
            SubmitFlow::Plain => [false, false],
            SubmitFlow::OneClick => [false, true],
            SubmitFlow::Registration => [false, false],
        };
        assert_eq!(paid, expected, "{way:?}");
    }
    Ok(())
}

#[tokio::test]
async fn no_parameter_of_a_browser_takes_a_demanded_code_away() -> anyhow::Result<()> {
    let mut all = browser_parameters();
    all.push(to_fields(&[("requireCvv", "false"), ("registrationsRequireCvv", "false"), ("allowEmptyCvv", "true")]));
    let cases = SUBMIT_FLOWS.iter().flat_map(|way| all.iter().map(move |fields| (*way, fields)));
    let shop = &codes_required_shop();
    stream::iter(cases)
        .map(|(way, fields)| async move {
            assert_unpaid(&submit_in_flow(shop, way, CARD, "", &[], fields).await?, way, fields);
            anyhow::Ok(())
        })
        .buffer_unordered(CONCURRENT_REQUESTS)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_code_may_be_missing_only_of_a_card_whose_own_brand_has_cards_without() -> anyhow::Result<()> {
    let shop = codes_required_shop();
    let codeless = |brand, number| [("paymentBrand", brand), ("card.number", number), ("card.cvv", "")];
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &codeless("MAESTRO", "6799851000000032")).await?;
    assert_eq!(shop.read_status(made.id()).await?.result_code(), PAID);
    for brand in ["BANCONTACT", "MAESTRO", "CHINAUNIONPAY", "UNIONPAY", "AXESS", "CARTEBLEUE", "VISADEBIT"] {
        let made = shop.create_checkout(&[]).await?;
        shop.submit_card(made.id(), &codeless(brand, CARD)).await?;
        assert_unpaid(&shop.read_status(made.id()).await?, SubmitFlow::Form, &to_fields(&codeless(brand, CARD)));
    }
    Ok(())
}

#[tokio::test]
async fn a_demanded_code_that_was_lost_while_the_issuer_was_asked_is_not_gone_without() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--require-cvv", "on"])?;
    let made = shop.create_checkout(&[crate::three_ds::BACK]).await?;
    let submitted = shop.submit_card(made.id(), &[("card.number", "4200000000000018")]).await?;
    let page = crate::three_ds::redirect_field(&submitted, "url").rsplit('/').next().unwrap_or_default().to_owned();
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let url = format!("{}v1/threeDSecure/{page}", shop.base);
    let (_, challenge) = crate::three_ds::visit_page(&shop, &url).await?;
    let answer = [("transaction", crate::three_ds::challenge_transaction(&challenge)), ("returnCode", PAID)];
    crate::three_ds::post_to_page(&shop, &url, &answer).await?;
    assert_result(&shop.read_status(made.id()).await?, 400, "100.100.600");
    Ok(())
}

#[tokio::test]
async fn a_brand_that_a_checkout_does_not_offer_is_refused_whatever_the_page_shows() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let only = [("brands", "MASTER, AMEX")];
    for way in SUBMIT_FLOWS {
        for brand in [&[][..], &[("paymentBrand", "")], &[("paymentBrand", "APPLEPAY")], &[("brands", "VISA")]] {
            let fields = to_fields(brand);
            assert_unpaid(&submit_in_flow(&shop, way, CARD, "123", &only, &fields).await?, way, &fields);
        }
        let master = to_fields(&[("paymentBrand", "MASTER"), ("card.number", "5454545454545454")]);
        if way != SubmitFlow::OneClick && way != SubmitFlow::Registration {
            assert_eq!(submit_in_flow(&shop, way, CARD, "123", &only, &master).await?.result_code(), PAID, "{way:?}");
        }
    }
    let made = shop.create_checkout(&only).await?;
    assert_errors(&shop.submit_card(made.id(), &[]).await?, &["paymentBrand"]);
    assert_errors(&shop.submit_card(made.id(), &[("paymentBrand", "")]).await?, &["paymentBrand"]);
    // The brand is detected by the number, among the offered brands.
    shop.submit_card(made.id(), &[("paymentBrand", ""), ("card.number", "5454545454545454")]).await?;
    assert_eq!(shop.read_status(made.id()).await?.json["paymentBrand"], "MASTER");
    // The frames do not show other brands either.
    let made = shop.create_checkout(&only).await?;
    let page = format!("v1/pciIframe.html?checkoutId={}&field=card.number&brands=VISA+MASTER+PAYPAL", made.id());
    let shown = shop.bare_request(Method::GET, &page).send().await?.text().await?;
    assert!(
        shown.contains(r#""MASTER":"#) && !shown.contains(r#""VISA":"#) && !shown.contains(r#""PAYPAL":"#),
        "{shown}"
    );
    // A list with an unknown brand is refused.
    for wrong in ["VISA NOBODY", "visa", ","] {
        assert_errors(&shop.create_checkout(&[("brands", wrong)]).await?, &["brands"]);
    }
    // Brands that a channel does not offer are refused in the same ways.
    let channel = TestGateway::shared().create_merchant_with(&["--brands", "MASTER"])?;
    for way in [SubmitFlow::Form, SubmitFlow::Plain, SubmitFlow::Summary, SubmitFlow::Registration] {
        assert_unpaid(&submit_in_flow(&channel, way, CARD, "123", &[], &Vec::new()).await?, way, &Vec::new());
    }
    Ok(())
}

#[tokio::test]
async fn a_mandate_of_the_merchants_is_signed_or_nobody_is_debited() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let debit = [
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE89370400440532013000"),
        ("bankAccount.bic", "COBADEFFXXX"),
    ];
    const SIGNED: (&str, &str) = ("bankAccount.mandate.dateOfSignature", "2026-11-01");
    for mandate in [("bankAccount.mandate.id", "MANDATE4711"), ("bankAccount.mandate.reference", "REFERENCE4711")] {
        let other = (mandate.0, "OTHER");
        for way in [SubmitFlow::Form, SubmitFlow::Plain, SubmitFlow::Summary] {
            for signed in [false, true] {
                let made = shop.create_checkout(&[mandate]).await?;
                let mut fields = [&debit[..], &[other]].concat();
                fields.extend(Some(SIGNED).filter(|_| signed));
                let path = match way {
                    SubmitFlow::Plain => format!("v1/plainForm.html?checkoutId={}&brands=DIRECTDEBIT_SEPA", made.id()),
                    _ => format!("v1/checkouts/{}/payment", made.id()),
                };
                if way == SubmitFlow::Summary {
                    fields.push(("useSummaryPage", "true"));
                }
                post_as_browser(&shop, &path, &fields).await?;
                if way == SubmitFlow::Summary {
                    shop.post(&format!("v1/checkouts/{}/confirm", made.id()), &[]).await?;
                }
                let status = shop.read_status(made.id()).await?;
                assert_eq!(status.result_code() == PAID, signed, "{way:?} {mandate:?} {}", status.text);
                let name = mandate.0.rsplit('.').next().unwrap_or_default();
                assert!(!signed || status.json["bankAccount"]["mandate"][name] == mandate.1, "{}", status.text);
            }
        }
        let made = shop.create_checkout(&[mandate]).await?;
        let path = format!("v1/checkouts/{}/payment", made.id());
        assert_errors(&shop.post_as_browser(&path, &debit).await?, &[SIGNED.0]);
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_leaves_out_the_bank_only_if_the_iban_names_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let debit = |iban| [("paymentBrand", "SEPA"), ("bankAccount.holder", "Jane Jones"), ("bankAccount.iban", iban)];
    for (iban, is_named) in [
        ("DE89370400440532013000", true),
        ("NO9386011117947", true),
        ("GB29NWBK60161331926819", false),
        ("CH9300762011623852957", false),
    ] {
        let made = shop.create_checkout(&[]).await?;
        let answer = shop.post_as_browser(&format!("v1/checkouts/{}/payment", made.id()), &debit(iban)).await?;
        if is_named {
            let status = shop.read_status(made.id()).await?;
            assert_eq!((status.result_code(), &status.json["bankAccount"]["country"]), (PAID, &json!(iban[..2])));
        } else {
            assert_errors(&answer, &["bankAccount.bic"]);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_stores_an_account_only_where_the_merchant_allows_it() -> anyhow::Result<()> {
    let creatable = [("registrationsCreatable", "true")];
    let forbidden = [("registrationsCreatable", "false")];
    let wish: FormFields = to_fields(&[("createRegistration", "true"), ("registrationsCreatable", "true")]);
    for (shop, checkout, stores) in [
        (sandbox_shop(), &[][..], true),
        (sandbox_shop(), &forbidden, false),
        (sandbox_shop(), &[creatable[0], ("createRegistration", "false")], false),
        (strict_about_browsers(), &[], false),
        (strict_about_browsers(), &creatable, true),
        (permissive_shop(), &[], true),
        (permissive_shop(), &forbidden, false),
        (permissive_shop(), &[("createRegistration", "false")], false),
    ] {
        for way in [SubmitFlow::Form, SubmitFlow::Plain, SubmitFlow::Summary] {
            let status = submit_in_flow(&shop, way, CARD, "123", checkout, &wish).await?;
            assert_eq!(status.result_code(), PAID, "{}", status.text);
            assert_eq!(status.json["registrationId"].is_string(), stores, "{way:?} {checkout:?} {}", status.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_names_the_customer_only_where_the_merchant_allows_it() -> anyhow::Result<()> {
    let named = |id: &str| to_fields(&[("customer.merchantCustomerId", id)]);
    let number = |status: &tillgate_tests::ApiResponse| status.json["customer"]["merchantCustomerId"].clone();
    for way in SUBMIT_FLOWS {
        let status = submit_in_flow(&nameless_shop(), way, CARD, "123", &[], &named("victim")).await?;
        assert_eq!((status.result_code(), number(&status)), (PAID, serde_json::Value::Null), "{way:?}");
        let status = submit_in_flow(&permissive_shop(), way, CARD, "123", &[], &named("4711")).await?;
        assert_eq!((status.result_code(), number(&status)), (PAID, "4711".into()), "{way:?}");
        let own = [("customer.merchantCustomerId", "own")];
        let status = submit_in_flow(&permissive_shop(), way, CARD, "123", &own, &named("4711")).await?;
        assert_eq!((status.result_code(), number(&status)), (PAID, "own".into()), "{way:?}");
    }
    Ok(())
}
