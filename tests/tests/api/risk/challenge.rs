//! Risk rules that demand a challenge: the issuer is asked for one. A payment that cannot be challenged is declined.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};
use tokio::task::JoinSet;

use crate::registration::registrations::pay_by_registration;
use crate::risk::payments::{create_shop_with_rules, format_rule};
use crate::support::*;
use crate::three_ds::{
    BACK, CARDHOLDER_DATA, challenge_transaction, pay_by_card, post_to_page, read_payment, redirect_field, visit_page,
};

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";
const DECLINED: &str = "100.400.141";
const FRICTIONLESS: &str = "4200000000000026";
const FRICTIONLESS_METHOD: &str = "4200000000000091";
const ATTEMPT: &str = "4200000000000059";
const UNAVAILABLE: &str = "4012001037461114";
const LARGE: (&str, &str) = ("amount", "101.00");

/// Returns a rule that demands a challenge for more than 100.
fn challenge_large_amounts() -> String {
    format_rule("large", "amount > 100", "outcome = 'challenge'")
}

async fn create_shop(arguments: &[&str]) -> anyhow::Result<MerchantClient> {
    create_shop_with_rules(TestGateway::shared(), arguments, &challenge_large_amounts()).await
}

/// Runs the method page of a pending payment, if it has one, and answers the challenge with a code.
async fn answer_challenge(shop: &MerchantClient, pending: &ApiResponse, code: &str) -> anyhow::Result<()> {
    assert_result(pending, 200, PENDING);
    if let Some(method) = pending.json["redirect"]["preconditions"][0]["url"].as_str() {
        assert_eq!(visit_page(shop, method).await?.0, 200);
    }
    let url = redirect_field(pending, "url");
    let (_, page) = visit_page(shop, url).await?;
    let answer = [("transaction", challenge_transaction(&page)), ("returnCode", code)];
    assert_eq!(post_to_page(shop, url, &answer).await?.0, 200, "{page}");
    Ok(())
}

#[tokio::test]
async fn a_rule_challenges_the_holder_of_a_frictionless_card_before_and_after_the_approval() -> anyhow::Result<()> {
    for arguments in [&[][..], &["--3d", "required"], &["--screen", "after"]] {
        let shop = create_shop(arguments).await?;
        for number in [FRICTIONLESS, FRICTIONLESS_METHOD, ATTEMPT, "4200000000000109", "4711100000000000"] {
            let pending = pay_by_card(&shop, "VISA", number, &[LARGE]).await?;
            answer_challenge(&shop, &pending, PAID).await?;
            let paid = read_payment(&shop, pending.id()).await?;
            assert_result(&paid, 200, PAID);
            let result = &paid.json["threeDSecure"];
            assert_eq!((&result["authenticationStatus"], &result["eci"]), (&"Y".into(), &"05".into()), "{}", paid.text);
        }
        // Nobody is challenged below the amount.
        assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[]).await?, 200, PAID);
    }
    Ok(())
}

#[tokio::test]
async fn a_score_that_reaches_the_threshold_demands_a_challenge() -> anyhow::Result<()> {
    let rules =
        ["[thresholds]\nchallenge = 30\n".to_owned(), format_rule("large", "amount > 100", "score = 30")].concat();
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rules).await?;
    assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[LARGE]).await?, 200, PENDING);
    assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[]).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn a_payment_to_review_is_challenged_before_it_is_held_if_it_can_be() -> anyhow::Result<()> {
    let rules = "[thresholds]\nchallenge = 30\nreview = 60\n".to_owned();
    let rules = [rules, format_rule("large", "amount > 100", "score = 60")].concat();
    let create = async |arguments| create_shop_with_rules(TestGateway::shared(), arguments, &rules).await;
    for arguments in [&["--review", "hold"][..], &["--review", "authorize"], &["--review", "hold", "--screen", "after"]]
    {
        let shop = create(arguments).await?;
        for number in [FRICTIONLESS, FRICTIONLESS_METHOD] {
            let pending = pay_by_card(&shop, "VISA", number, &[LARGE]).await?;
            answer_challenge(&shop, &pending, PAID).await?;
            let held = read_payment(&shop, pending.id()).await?;
            assert_result(&held, 200, "100.400.500");
            assert_eq!(held.json["threeDSecure"]["authenticationStatus"], "Y", "{}", held.text);
        }
        // This card cannot be challenged, so an analyst decides without a challenge.
        assert_result(&pay_by_card(&shop, "VISA", UNAVAILABLE, &[LARGE]).await?, 200, "100.400.500");
    }
    // A payment that is declined for its review needs no challenge.
    let shop = create(&["--review", "decline"]).await?;
    assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &[LARGE]).await?, 400, DECLINED);
    Ok(())
}

#[tokio::test]
async fn a_form_leads_to_the_demanded_challenge_and_a_failed_one_leaves_its_checkout_open() -> anyhow::Result<()> {
    let shop = create_shop(&[]).await?;
    for (number, code, status) in [
        (FRICTIONLESS, PAID, 200),
        (FRICTIONLESS, "100.390.114", 400),
        (FRICTIONLESS_METHOD, PAID, 200),
        (FRICTIONLESS_METHOD, "100.390.100", 400),
    ] {
        let checkout = shop.create_checkout(&[BACK, LARGE]).await?.id().to_owned();
        let submitted = shop.submit_card(&checkout, &[("card.number", number)]).await?;
        assert_eq!(submitted.json["flow"], "redirect", "{}", submitted.text);
        answer_challenge(&shop, &submitted, code).await?;
        assert_result(&shop.read_status(&checkout).await?, status, code);
        if status != 200 {
            let again = shop.submit_card(&checkout, &[("card.number", FRICTIONLESS)]).await?;
            assert_result(&again, 200, PENDING);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_cannot_be_challenged_is_declined() -> anyhow::Result<()> {
    let shop = create_shop(&[]).await?;
    let never = create_shop(&["--3d", "never"]).await?;
    let required = create_shop(&["--3d", "required"]).await?;
    for (shop, number, fields) in [
        // Not enrolled, of an issuer that takes no part, unknown to the directory, and with an issuer out of order.
        (&shop, "4012001037141112", vec![]),
        (&shop, "4532497088771651", vec![]),
        (&shop, "4200000000000000", vec![]),
        (&shop, UNAVAILABLE, vec![]),
        (&required, "4012001037141112", vec![]),
        (&never, FRICTIONLESS, vec![]),
        (&shop, FRICTIONLESS, vec![("transactionCategory", "MO")]),
        (&shop, FRICTIONLESS, vec![("customParameters[3DS2_enrolled]", "false")]),
        (&shop, FRICTIONLESS, vec![("customParameters[forceResultCode]", PAID)]),
    ] {
        let declined = pay_by_card(shop, "VISA", number, &[&[LARGE][..], &fields].concat()).await?;
        assert_result(&declined, 400, DECLINED);
    }
    let after = create_shop(&["--screen", "after"]).await?;
    assert_result(&pay_by_card(&after, "VISA", UNAVAILABLE, &[LARGE]).await?, 400, "100.400.148");
    let order = [LARGE, ("currency", "EUR"), ("paymentBrand", "PAYPAL"), ("paymentType", "DB"), BACK];
    assert_result(&shop.post("v1/payments", &order).await?, 400, DECLINED);
    // Without the browser's data nobody could be challenged: the request is refused by the name of what is missing.
    let bare = shop.pay_by_card(&[LARGE, ("card.number", FRICTIONLESS)]).await?;
    let names: Vec<&str> = CARDHOLDER_DATA.iter().map(|(name, _)| *name).collect();
    assert_errors(&bare, &names);
    Ok(())
}

#[tokio::test]
async fn a_failed_authentication_ends_with_its_own_code() -> anyhow::Result<()> {
    let shop = create_shop(&[]).await?;
    assert_result(&pay_by_card(&shop, "VISA", "4200000000000034", &[LARGE]).await?, 400, "100.390.114");
    let pending = pay_by_card(&shop, "VISA", FRICTIONLESS, &[LARGE]).await?;
    answer_challenge(&shop, &pending, "100.390.118").await?;
    assert_result(&read_payment(&shop, pending.id()).await?, 400, "100.390.118");
    Ok(())
}

#[tokio::test]
async fn a_merchant_initiated_payment_is_declined_and_a_stored_card_is_challenged() -> anyhow::Result<()> {
    let shop = create_shop(&[]).await?;
    let terms = [("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")];
    let store = [("createRegistration", "true")];
    let first = pay_by_card(&shop, "VISA", FRICTIONLESS, &[&terms[..], &store].concat()).await?;
    assert_result(&first, 200, PAID);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let initial = text(&first.json["standingInstruction"]["initialTransactionId"]);
    let registration = text(&first.json["registrationId"]);
    let repeated = [
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.source", "MIT"),
        ("standingInstruction.initialTransactionId", initial.as_str()),
        ("card.number", FRICTIONLESS),
        ("card.cvv", ""),
    ];
    assert_result(&shop.pay_by_card(&[&repeated[..], &[LARGE]].concat()).await?, 400, DECLINED);
    assert_result(&shop.pay_by_card(&repeated).await?, 200, PAID);
    let pending = pay_by_registration(&shop, &registration, &[&[BACK, LARGE], &CARDHOLDER_DATA[..]].concat()).await?;
    answer_challenge(&shop, &pending, PAID).await?;
    assert_result(&read_payment(&shop, pending.id()).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn no_parameter_of_a_request_avoids_the_challenge() -> anyhow::Result<()> {
    let shop = create_shop(&[]).await?;
    let attempts = [
        vec![("threeDSecure.exemptionFlag", "01")],
        vec![("threeDSecure.exemptionFlag", "02"), ("threeDSecure.challengeMandatedIndicator", "N")],
        vec![("threeDSecure.challengeIndicator", "02")],
        vec![("threeDSecure.challengeIndicator", "05")],
        vec![("threeDSecure.challengeIndicator", "08"), ("threeDSecure.version", "2.2.0")],
        vec![("threeDSecure.version", "2.1.0")],
        vec![("customParameters[3DS2_flow]", "frictionless")],
    ];
    for fields in attempts {
        for number in [FRICTIONLESS, FRICTIONLESS_METHOD] {
            let pending = pay_by_card(&shop, "VISA", number, &[&[LARGE][..], &fields].concat()).await?;
            answer_challenge(&shop, &pending, PAID).await?;
            assert_result(&read_payment(&shop, pending.id()).await?, 200, PAID);
        }
        let checkout = shop.create_checkout(&[BACK, LARGE]).await?.id().to_owned();
        let submitted = shop.submit_card(&checkout, &[&[("card.number", FRICTIONLESS)][..], &fields].concat()).await?;
        assert_result(&submitted, 200, PENDING);
    }
    // A browser cannot say that the cardholder was authenticated elsewhere, is absent, or needs no challenge.
    for fields in [
        vec![("threeDSecure.eci", "05"), ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA=")],
        vec![("transactionCategory", "MO")],
        vec![("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")],
        vec![("customParameters[3DS2_enrolled]", "false")],
    ] {
        let checkout = shop.create_checkout(&[BACK, LARGE]).await?.id().to_owned();
        shop.submit_card(&checkout, &[&[("card.number", FRICTIONLESS)][..], &fields].concat()).await?;
        let status = shop.read_status(&checkout).await?;
        assert_ne!(status.result_code(), PAID, "{fields:?} {}", status.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_entry_of_the_allow_list_spares_the_challenge() -> anyhow::Result<()> {
    let shop = create_shop(&[]).await?;
    let added =
        shop.post("v2/risk/lists", &[("list", "allow"), ("key", "email"), ("value", "jo@shop.example")]).await?;
    assert_result(&added, 200, "000.000.100");
    let customer = |email| [("customer.givenName", "A"), ("customer.surname", "B"), ("customer.email", email)];
    for (email, code) in [("jo@shop.example", PAID), ("other@shop.example", PENDING)] {
        let fields = [&customer(email)[..], &[LARGE]].concat();
        assert_result(&pay_by_card(&shop, "VISA", FRICTIONLESS, &fields).await?, 200, code);
    }
    Ok(())
}

#[tokio::test]
async fn a_method_page_that_nobody_is_challenged_after_ends_in_a_decline() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_shop(&[]).await?;
    let pending = pay_by_card(&shop, "VISA", FRICTIONLESS_METHOD, &[LARGE]).await?;
    assert_result(&pending, 200, PENDING);
    gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--3d", "never"])?;
    poll_until("the gateway follows the setting", async || {
        let paid = pay_by_card(&shop, "VISA", FRICTIONLESS, &[]).await?;
        Ok(paid.json["threeDSecure"].get("eci").is_none().then_some(()))
    })
    .await?;
    let method = pending.json["redirect"]["preconditions"][0]["url"].as_str().unwrap_or_default();
    visit_page(&shop, method).await?;
    visit_page(&shop, redirect_field(&pending, "url")).await?;
    assert_result(&read_payment(&shop, pending.id()).await?, 400, DECLINED);
    Ok(())
}

/// Makes payments with a card at the same time.
async fn pay_at_once(shop: &MerchantClient, number: &'static str) -> anyhow::Result<Vec<ApiResponse>> {
    let mut payments = JoinSet::new();
    for _ in 0..20 {
        let shop = shop.clone();
        payments.spawn(async move { pay_by_card(&shop, "VISA", number, &[]).await });
    }
    payments.join_all().await.into_iter().collect()
}

#[tokio::test]
async fn of_concurrent_payments_none_passes_the_counter_without_authentication() -> anyhow::Result<()> {
    let rule = format_rule("often", "count(card, 1 h) > 3", "outcome = 'challenge'");
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rule).await?;
    // The issuer authenticates nobody, so exactly those pass that the counter allows.
    let answers = pay_at_once(&shop, UNAVAILABLE).await?;
    let count = |code: &str| answers.iter().filter(|answer| answer.result_code() == code).count();
    assert_eq!((count(PAID), count(DECLINED)), (3, 17));
    // Each cardholder is authenticated, without a challenge if the payments before were not yet counted.
    for answer in pay_at_once(&shop, FRICTIONLESS).await? {
        match answer.result_code() {
            PAID => assert_eq!(answer.json["threeDSecure"]["authenticationStatus"], "Y", "{}", answer.text),
            code => assert_eq!(code, PENDING, "{}", answer.text),
        }
    }
    let next = pay_by_card(&shop, "VISA", FRICTIONLESS, &[]).await?;
    answer_challenge(&shop, &next, PAID).await?;
    assert_result(&read_payment(&shop, next.id()).await?, 200, PAID);
    Ok(())
}
