//! Inputs and expectations of other gateways' clients: follow-up payments that inherit references, ids of registrations
//! in the routes of payments, booleans in the notation of their language, blanks around values, cards of regional
//! schemes.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::support::*;

const REASON: (&str, &str) = ("chargebackResultCode", "000.100.203");

/// Sends a follow-up payment for an earlier payment. Returns any response.
async fn send_follow_up(shop: &MerchantClient, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.post(&format!("v1/payments/{id}"), fields).await
}

#[tokio::test]
async fn a_follow_up_payment_carries_the_references_of_its_order_unless_it_brings_its_own() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--refuse-duplicates"])?;
    let references = [("merchantTransactionId", "order-4711"), ("merchantInvoiceId", "invoice-1")];
    let reserved = shop.pay_by_card(&[&[("paymentType", "PA")][..], &references].concat()).await?;
    let carried = |answer: &ApiResponse| {
        let text = |name: &str| answer.json[name].as_str().unwrap_or_default().to_owned();
        [text("merchantTransactionId"), text("merchantInvoiceId")]
    };
    let amount = [("amount", "10.00"), ("currency", "EUR")];
    let capture = send_follow_up(&shop, reserved.id(), &[&[("paymentType", "CP")][..], &amount].concat()).await?;
    assert_result(&capture, 200, "000.100.110");
    assert_eq!(carried(&capture), ["order-4711", "invoice-1"]);
    let own = [("paymentType", "CP"), ("merchantInvoiceId", "invoice-2")];
    let second = send_follow_up(&shop, reserved.id(), &[&own[..], &amount].concat()).await?;
    assert_eq!(carried(&second), ["order-4711", "invoice-2"]);
    let refund = send_follow_up(&shop, second.id(), &[&[("paymentType", "RF")][..], &amount].concat()).await?;
    assert_eq!(carried(&refund), ["order-4711", "invoice-2"]);
    let charged_back = send_follow_up(&shop, capture.id(), &[REASON, ("paymentType", "CB")]).await?;
    assert_result(&charged_back, 200, REASON.1);
    assert_eq!(carried(&charged_back), ["order-4711", "invoice-1"]);
    let reversed = shop.pay_by_card(&[("merchantTransactionId", "order-4712")]).await?;
    let reversal = send_follow_up(&shop, reversed.id(), &[("paymentType", "RV")]).await?;
    assert_eq!(carried(&reversal), ["order-4712", ""]);
    // The query returns all payments of the order, each once, and follow-up payments are no duplicates.
    let found = shop.get("v1/query?merchantTransactionId=order-4711").await?;
    assert_eq!(found.json["payments"].as_array().map(Vec::len), Some(5), "{}", found.text);
    let other = shop
        .pay_by_card(&[("merchantTransactionId", "order-4713"), ("customParameters[forceResultCode]", "800.100.151")]);
    assert_result(&other.await?, 400, "800.100.151");
    assert_result(&shop.pay_by_card(&[("merchantTransactionId", "order-4713")]).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&[("merchantTransactionId", "order-4711")]).await?, 400, "800.110.100");
    Ok(())
}

#[tokio::test]
async fn a_registrations_id_is_answered_under_the_address_of_payments_too() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let path = format!("v1/payments/{}", stored.id());
    let read = shop.get(&path).await?;
    assert_result(&read, 200, "000.100.110");
    assert_eq!((read.id(), read.json["paymentType"].as_str()), (stored.id(), Some("RG")), "{}", read.text);
    assert_result(&stranger.get(&path).await?, 404, "200.300.404");
    assert_result(
        &crate::registration::registrations::delete_registration(&shop, stored.id()).await?,
        200,
        "000.100.110",
    );
    assert_result(&shop.get(&path).await?, 404, "200.300.404");
    Ok(())
}

#[tokio::test]
async fn a_boolean_is_taken_in_the_spelling_of_any_language_and_echoed_as_true_or_false() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (sent, stores) in [("true", true), ("True", true), ("1", true), ("FALSE", false), ("0", false)] {
        let paid = shop.pay_by_card(&[("createRegistration", sent), ("customer.browser.javaEnabled", sent)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["registrationId"].is_string(), stores, "{sent}: {}", paid.text);
        assert_eq!(paid.json["customer"]["browser"]["javaEnabled"], if stores { "true" } else { "false" }, "{sent}");
    }
    let linked =
        shop.get(&format!("v1/query/{}?includeLinkedTransactions=True", shop.pay_by_card(&[]).await?.id())).await?;
    assert_result(&linked, 200, "000.000.100");
    for wrong in ["yes", "2", "on", "tru"] {
        assert_errors(
            &shop.pay_by_card(&[("createRegistration", "0"), ("overrideHolder", wrong)]).await?,
            &["overrideHolder"],
        );
    }
    Ok(())
}

#[tokio::test]
async fn blanks_around_a_value_are_taken_off_before_it_is_judged() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let fields = [
        ("amount", " 92.00"),
        ("currency", "EUR "),
        ("card.number", " 4200000000000000 "),
        ("merchantTransactionId", "\torder-4711 "),
        ("customer.givenName", " Jane "),
        ("customer.surname", "Jones"),
        ("customer.phone", " 49 151 5550100"),
    ];
    let paid = shop.pay_by_card(&fields).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["merchantTransactionId"], "order-4711");
    assert_eq!((&paid.json["customer"]["givenName"], &paid.json["amount"]), (&"Jane".into(), &"92.00".into()));
    assert_eq!(paid.json["customer"]["phone"], "49 151 5550100");
    assert_errors(&shop.pay_by_card(&[("amount", "9 2.00")]).await?, &["amount"]);
    assert_errors(&shop.pay_by_card(&[("amount", "  ")]).await?, &["amount"]);
    Ok(())
}

#[tokio::test]
async fn what_follows_an_unknown_payment_is_refused_with_400_and_any_other_unknown_thing_with_404() -> anyhow::Result<()>
{
    let shop = sandbox_shop();
    let never = format!("8a{}", "0".repeat(30));
    let amount = [("amount", "1.00"), ("currency", "EUR")];
    for (kind, more, code) in [
        ("CP", &amount[..], "700.400.510"),
        ("RF", &amount, "700.400.520"),
        ("RV", &[], "700.400.530"),
        ("CB", &[REASON], "700.400.550"),
    ] {
        let fields = [&[("paymentType", kind)], more].concat();
        assert_result(&send_follow_up(&shop, &never, &fields).await?, 400, code);
        let named = [&fields[..], &[("referencedPaymentId", never.as_str())]].concat();
        assert_result(&shop.post("v1/payments", &named).await?, 400, code);
    }
    for path in ["payments", "registrations"] {
        assert_result(&shop.get(&format!("v1/{path}/{never}")).await?, 404, "200.300.404");
    }
    assert_result(&shop.read_status(&format!("{}.tx01", "0".repeat(32))).await?, 404, "200.300.404");
    Ok(())
}

/// Returns the Luhn-valid number of sixteen digits that consists of this beginning, zeros and the check digit.
fn number_starting_with(beginning: &str) -> String {
    let digits = format!("{beginning:0<15}");
    let sum: u32 = digits
        .chars()
        .filter_map(|digit| digit.to_digit(10))
        .enumerate()
        .map(|(place, digit)| if place % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { digit })
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

#[tokio::test]
async fn a_hiper_naranja_or_co_badged_card_is_paid_as_its_brand_and_a_verve_number_is_kept_nowhere()
-> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--sandbox-any-number"])?;
    for (beginning, brand) in [
        ("637374", "HIPERCARD"),
        ("637433", "HIPERCARD"),
        ("402918", "NARANJA"),
        ("527572", "NARANJA"),
        ("622126", "UNIONPAY"),
        ("622925", "UNIONPAY"),
    ] {
        let number = number_starting_with(beginning);
        // The brand is sent by the merchant, or detected by the number.
        for sent in [brand, ""] {
            let paid = shop.pay_by_card(&[("card.number", &number), ("paymentBrand", sent)]).await?;
            assert_result(&paid, 200, "000.100.110");
            assert_eq!(paid.json["paymentBrand"], brand, "{number} {sent}: {}", paid.text);
        }
        if brand == "UNIONPAY" {
            let chosen = shop.pay_by_card(&[("card.number", &number), ("paymentBrand", "DISCOVER")]).await?;
            assert_eq!((chosen.result_code(), &chosen.json["paymentBrand"]), ("000.100.110", &"DISCOVER".into()));
        }
    }
    for beginning in ["507865", "507964"] {
        let refused = shop.pay_by_card(&[("merchantTransactionId", &number_starting_with(beginning))]).await?;
        assert_errors(&refused, &["merchantTransactionId"]);
    }
    Ok(())
}
