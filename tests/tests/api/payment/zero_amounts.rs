//! Amounts of 0.00: what charges or pays is refused wherever it is asked for, and what verifies an account is not.

use tillgate_tests::ApiResponse;

use crate::registration::registrations::merge_fields;
use crate::schedule::schedules::{SCHEDULES, create_schedule, register_card};
use crate::support::*;

const TOO_SMALL: &str = "100.550.300";

#[track_caller]
fn assert_too_small(answer: &ApiResponse) {
    assert_result(answer, 400, TOO_SMALL);
    assert_eq!(answer.invalid_parameters(), ["amount"], "{}", answer.text);
}

#[tokio::test]
async fn only_a_preauthorization_may_be_of_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for amount in ["0.00", "0", "00.00"] {
        for kind in ["DB", "CD", "PA.CP"] {
            let fields = [("paymentType", kind), ("amount", amount)];
            assert_too_small(&shop.pay_by_card(&fields).await?);
            assert_too_small(&shop.pay_by_card(&[&fields[..], &[("testMode", "EXTERNAL")]].concat()).await?);
            assert_too_small(&shop.create_checkout(&fields).await?);
        }
        let verified = shop.pay_by_card(&[("paymentType", "PA"), ("amount", amount)]).await?;
        assert_result(&verified, 200, "000.100.110");
        assert_eq!(verified.json["amount"], "0.00");
    }
    Ok(())
}

#[tokio::test]
async fn a_checkout_of_nothing_verifies_and_cannot_become_a_debit() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("paymentType", "PA"), ("amount", "0.00")]).await?;
    assert_result(&made, 200, "000.200.100");
    let path = format!("v1/checkouts/{}", made.id());
    for update in [("paymentType", "DB"), ("paymentType", "CD"), ("overridePaymentType[VISA]", "DB")] {
        let refused = shop.post(&path, &[update]).await?;
        assert_eq!(refused.status, 400, "{update:?}: {}", refused.text);
    }
    let of_brand = [("paymentType", "PA"), ("amount", "0.00"), ("overridePaymentType[VISA]", "CD")];
    assert_too_small(&shop.create_checkout(&of_brand).await?);
    let paid = shop.create_checkout(&[]).await?;
    assert_too_small(&shop.post(&format!("v1/checkouts/{}", paid.id()), &[("amount", "0.00")]).await?);
    // A browser changes neither type nor amount.
    let submitted = shop.submit_card(made.id(), &[("paymentType", "DB"), ("amount", "5.00")]).await?;
    assert_result(&submitted, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_eq!((&status.json["paymentType"], &status.json["amount"]), (&"PA".into(), &"0.00".into()));
    Ok(())
}

#[tokio::test]
async fn a_stored_card_and_a_schedule_charge_something() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let registered = register_card(&shop, &[]).await?;
    let path = format!("v1/registrations/{registered}/payments");
    let order = |kind| [("paymentType", kind), ("amount", "0.00"), ("currency", "EUR"), ("card.cvv", "123")];
    for kind in ["DB", "CD"] {
        assert_too_small(&shop.post(&path, &order(kind)).await?);
    }
    assert_result(&shop.post(&path, &order("PA")).await?, 200, "000.100.110");
    let daily = ("job.expression", "0 0 12 * * ?");
    assert_too_small(&create_schedule(&shop, &registered, &[daily, ("amount", "0.00")]).await?);
    let made = create_schedule(&shop, &registered, &[daily]).await?;
    assert_result(&made, 200, "000.000.100");
    let to_nothing = merge_fields(&[("paymentType", "RS")], &[("amount", "0.00"), ("currency", "EUR")]);
    assert_too_small(&shop.post(&format!("{SCHEDULES}/{}/reschedule", made.id()), &to_nothing).await?);
    Ok(())
}
