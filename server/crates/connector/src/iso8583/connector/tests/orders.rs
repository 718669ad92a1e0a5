//! Initial payments: what a host receives, and what its answers mean.

use tillgate_domain::three_ds::{AuthenticationResult, Proof, TransactionStatus};

use super::*;
use crate::StandingInstructionParameters;

#[tokio::test]
async fn a_preauthorization_is_approved_and_keeps_its_ids() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "merchant_city = \"Oslo\"").await;
    let task = spawn_payment(&connector, &id(1));
    let received = host.next().await;
    assert_eq!((received.mti().as_str(), received.text(3).as_str()), ("0100", "000000"));
    assert_eq!((received.text(2).as_str(), received.text(14).as_str()), (PAN, "3405"));
    assert_eq!((received.text(4).as_str(), received.text(49).as_str()), ("000000009200", "978"));
    assert_eq!((received.text(7).as_str(), received.text(12).as_str()), ("1123102030", "102030"));
    assert_eq!((received.text(13).as_str(), received.text(32).as_str()), ("1123", "12345"));
    assert_eq!((received.text(41).as_str(), received.text(42).as_str()), ("TILL0001", "shop-1"));
    assert_eq!((received.text(43).as_str(), received.text(25).as_str()), ("Kiln & TideOslo", "59"));
    assert_eq!((received.tag("92").as_str(), received.tag("84").as_str()), ("987", "Main Street 1"));
    assert_eq!(received.tag("61"), "");
    received.approve();
    let approved = outcome(task).await;
    let result = approved.result().unwrap();
    assert_eq!((code(&approved), result.approved_amount), ("000.100.112", None));
    assert_eq!(result.details["AcquirerResponse"], "00");
    let ids = [received.text(11), received.text(37), "A1B2C3".to_owned()].map(Some);
    assert_eq!(result.connector_tx_ids.to_array(), ids);
}

#[tokio::test]
async fn a_debit_a_credit_and_a_verification_have_their_own_messages() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    for (number, payment_type) in [(1, PaymentType::Debit), (4, PaymentType::TwoStepDebit)] {
        let task = spawn_order(&connector, &id(number), order(payment_type, amount("1.00", "EUR")));
        let received = host.next().await;
        assert_eq!((received.mti().as_str(), received.text(3).as_str()), ("0200", "000000"));
        received.approve();
        assert_eq!(code(&outcome(task).await), "000.100.112");
    }
    let (credit, zero) =
        (order(PaymentType::Credit, amount("1.00", "EUR")), order(PaymentType::Debit, amount("1.00", "EUR")));
    let (credit_id, verify_id) = (id(2), id(3));
    let credit_request = request(&credit_id, &credit);
    let (credited, ()) = tokio::join!(connector.credit(&credit_request), async {
        let received = host.next().await;
        assert_eq!((received.mti().as_str(), received.text(3).as_str()), ("0200", "200000"));
        received.approve();
    });
    assert_eq!(code(&credited), "000.100.112");
    let verify_request = request(&verify_id, &zero);
    let (verified, ()) = tokio::join!(connector.verify(&verify_request), async {
        let received = host.next().await;
        assert_eq!((received.mti().as_str(), received.text(4).as_str()), ("0100", "000000000000"));
        assert_eq!(received.text(49), "978");
        received.approve();
    });
    assert_eq!(code(&verified), "000.100.112");
}

#[tokio::test]
async fn a_decline_keeps_the_code_of_the_acquirer_known_or_not() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    for (number, response, expected) in [(1, "51", "800.100.155"), (2, "Z9", "800.100.100"), (3, "91", "900.100.600")] {
        let task = spawn_payment(&connector, &id(number));
        host.next().await.answer(response);
        let declined = outcome(task).await;
        assert!(matches!(declined, ConnectorOutcome::Declined(_)));
        assert_eq!(code(&declined), expected);
        assert_eq!(declined.result().unwrap().details["AcquirerResponse"], response);
    }
}

#[tokio::test]
async fn a_partial_approval_has_its_amount_whether_the_order_accepts_it_or_not() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    for (number, accepts, part, expected) in [
        (1, true, "000000005000", Some("50.00")),
        (2, false, "000000005000", Some("50.00")),
        (3, true, "000000009200", None),
        (4, true, "000000009201", None),
        (5, true, "000000000000", None),
    ] {
        let whole = order(PaymentType::Debit, amount("92.00", "EUR"));
        let task = spawn_order(&connector, &id(number), Order { accepts_partial_approval: accepts, ..whole });
        let received = host.next().await;
        assert_eq!(received.tag("61"), if accepts { "1" } else { "" });
        received.send(&received.response("10").with_text(38, "A1B2C3").with_text(4, part));
        let found = outcome(task).await;
        match expected {
            Some(text) => assert_eq!(found.result().unwrap().approved_amount, Some(amount(text, "EUR"))),
            None => assert_eq!(found, ConnectorOutcome::Unknown, "{accepts} {part}"),
        }
    }
}

#[tokio::test]
async fn the_proof_and_the_standing_instruction_reach_the_host() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    let mut paid = order(PaymentType::Debit, amount("1.00", "EUR"));
    paid.proof = Some(Proof {
        version: tillgate_domain::three_ds::ThreeDsVersion::parse(Some("2.2.0")),
        result: AuthenticationResult::Issuer(TransactionStatus::Authenticated),
        eci: Some("05".to_owned()),
        cavv: Some("AAABBBCCCDDDEEEFFFGGGHHHIII=".to_owned()),
        transaction: Some("f38e6948-5388-41a6-bca4-b49723c19437".to_owned()),
        reason: None,
    });
    paid.context = OrderContext {
        merchant: vec![
            ("merchant.mcc".to_owned(), "5999".to_owned()),
            ("merchant.country".to_owned(), "NO".to_owned()),
        ],
        category: Some("EC".to_owned()),
        standing_instruction: Some(StandingInstructionParameters {
            kind: Some("RECURRING".to_owned()),
            mode: Some("REPEATED".to_owned()),
            source: Some("MIT".to_owned()),
            initial_transaction_id: Some("MCC123456".to_owned()),
            ..StandingInstructionParameters::default()
        }),
        hops: 0,
    };
    let task = spawn_order(&connector, &id(1), paid);
    let received = host.next().await;
    assert_eq!((received.tag("42").as_str(), received.tag("43").as_str()), ("05", "AAABBBCCCDDDEEEFFFGGGHHHIII="));
    assert_eq!(received.tag("66"), "f38e6948-5388-41a6-bca4-b49723c19437");
    assert_eq!((received.tag("67").as_str(), received.tag("40").as_str()), ("2.2.0", "EC"));
    assert_eq!((received.tag("22").as_str(), received.tag("63").as_str()), ("RECURRING/REPEATED/MIT/", "MCC123456"));
    assert_eq!((received.text(18).as_str(), received.text(43).as_str()), ("5999", "Kiln & TideNO"));
    received.approve();
    assert_eq!(code(&outcome(task).await), "000.100.112");
}

#[tokio::test]
async fn an_order_that_cannot_be_sent_is_declined_at_once() {
    let (mut host, connector) = start_single("iso87-ascii-4a", "").await;
    let paid = order(PaymentType::Debit, amount("1.00", "EUR"));
    let other = Order { account: FullAccount::Unknown, ..paid.clone() };
    assert_eq!(code(&connector.authorize(&request(&id(1), &other)).await), "600.200.201");
    let capture = Order { payment_type: PaymentType::Capture, ..paid.clone() };
    assert_eq!(code(&connector.authorize(&request(&id(1), &capture)).await), "600.200.202");
    assert_eq!(code(&connector.authorize(&request("no id", &paid)).await), "900.100.600");
    let reference = id(1);
    let long = OrderRequest { merchant_id: "a merchant id that is too long", ..request(&reference, &paid) };
    assert_eq!(code(&connector.authorize(&long).await), "900.100.600");
    assert!(host.is_idle());
}
