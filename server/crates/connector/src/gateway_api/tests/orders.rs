//! Orders as parameters of the contract.

use jiff::Timestamp;
use tillgate_domain::payment::{BankSummary, VirtualSummary};
use tillgate_domain::three_ds::{AuthenticationResult, Proof, ThreeDsVersion, TransactionStatus};
use tillgate_shared::format::iban::Iban;
use tillgate_shared::parameter::{Parameters, find_parameter};

use super::*;
use crate::gateway_api::hops::{MAX_HOPS, PARAMETER, read_hops};
use crate::gateway_api::order_parameters::order_parameters;
use crate::{BankNumber, Cryptogram, FullBank, OrderRequest, StandingInstructionParameters};

fn translate(order: &Order, is_live: bool) -> Parameters {
    let request = OrderRequest {
        reference: REFERENCE,
        place: None,
        merchant_id: "8ac7",
        return_url: Some("https://pay.example/v1/return/x"),
        descriptor: "1234.5678.9012 Kiln",
        now: Timestamp::UNIX_EPOCH,
        order,
    };
    order_parameters(&request, order.amount, is_live).unwrap()
}

#[track_caller]
fn assert_values(found: &Parameters, expected: &[(&str, Option<&str>)]) {
    for (name, value) in expected {
        assert_eq!(found.get(name), *value, "{name}");
    }
    for (name, _) in found.iter() {
        assert!(find_parameter(name).is_some(), "{name} is no parameter of the contract");
    }
}

#[test]
fn a_card_is_sent_with_all_that_the_contract_has_for_it() {
    let found = translate(&sample_order(), false);
    assert_values(
        &found,
        &[
            ("paymentType", Some("DB")),
            ("amount", Some("92.00")),
            ("currency", Some("EUR")),
            ("paymentBrand", Some("VISA")),
            ("merchantTransactionId", Some(REFERENCE)),
            ("testMode", Some("EXTERNAL")),
            ("card.number", Some("4200000000000000")),
            ("card.expiryMonth", Some("05")),
            ("card.expiryYear", Some("2034")),
            ("card.holder", Some("Jane Jones")),
            ("card.cvv", Some("123")),
            ("billing.street1", Some("Kiln Lane 4")),
            ("billing.postcode", None),
            ("shopperResultUrl", Some("https://pay.example/v1/return/x")),
            ("descriptor", Some("1234.5678.9012 Kiln")),
            ("partialApproval", None),
            (PARAMETER, Some("1")),
        ],
    );
    assert_eq!(translate(&sample_order(), true).get("testMode"), None);
}

#[test]
fn other_accounts_are_sent_as_what_they_are() {
    let mut order = sample_order();
    order.account = FullAccount::Bank(FullBank {
        number: Some(BankNumber::Iban(Iban::parse("DE23100000001234567890").unwrap())),
        summary: BankSummary { holder: Some("Jane Jones".to_owned()), ..BankSummary::default() },
    });
    order.mandate_signed = Some(jiff::civil::date(2026, 11, 23));
    let expected = [
        ("bankAccount.iban", Some("DE23100000001234567890")),
        ("bankAccount.holder", Some("Jane Jones")),
        ("bankAccount.mandate.dateOfSignature", Some("2026-11-23")),
        ("card.number", None),
    ];
    assert_values(&translate(&order, false), &expected);
    order.account = FullAccount::Virtual(VirtualSummary { account_id: "jane".to_owned(), holder: None });
    assert_values(&translate(&order, false), &[("virtualAccount.accountId", Some("jane")), ("bankAccount.iban", None)]);
}

#[test]
fn a_proof_and_a_wallets_cryptogram_are_three_ds_parameters() {
    let mut order = sample_order();
    order.proof = Some(Proof {
        version: ThreeDsVersion::parse(Some("2.2.0")),
        result: AuthenticationResult::Issuer(TransactionStatus::Authenticated),
        eci: Some("05".to_owned()),
        cavv: Some("AAABBBCCCDDDEEEFFFGGGHHHIII=".to_owned()),
        transaction: Some("f38e6948-5388-41a6-bca4-b49723c19437".to_owned()),
        reason: None,
    });
    let expected = [
        ("threeDSecure.eci", Some("05")),
        ("threeDSecure.verificationId", Some("AAABBBCCCDDDEEEFFFGGGHHHIII=")),
        ("threeDSecure.dsTransactionId", Some("f38e6948-5388-41a6-bca4-b49723c19437")),
        ("threeDSecure.authenticationStatus", Some("Y")),
        ("threeDSecure.version", Some("2.2.0")),
    ];
    assert_values(&translate(&order, true), &expected);
    let FullAccount::Card(card) = &mut order.account else { panic!("a card") };
    card.source = CardSource::Wallet;
    card.cryptogram =
        Some(Cryptogram { value: "IIIHHHGGGFFFEEEDDDCCCBBBAAA=".to_owned().into(), eci: "07".to_owned() });
    let expected = [
        ("walletPay.source", Some("web")),
        ("threeDSecure.eci", Some("07")),
        ("threeDSecure.verificationId", Some("IIIHHHGGGFFFEEEDDDCCCBBBAAA=")),
    ];
    assert_values(&translate(&order, true), &expected);
}

#[test]
fn a_charge_by_the_merchant_names_no_agreement_that_the_other_gateway_does_not_know() {
    let mut order = sample_order();
    let step = |mode: &str, source: &str| {
        Some(StandingInstructionParameters {
            mode: Some(mode.to_owned()),
            source: Some(source.to_owned()),
            kind: Some("RECURRING".to_owned()),
            initial_transaction_id: Some("OWN".to_owned()),
            ..StandingInstructionParameters::default()
        })
    };
    for (mode, source, sent) in
        [("INITIAL", "CIT", Some("CIT")), ("REPEATED", "CIT", Some("CIT")), ("REPEATED", "MIT", None)]
    {
        order.context.standing_instruction = step(mode, source);
        let expected = [
            ("standingInstruction.mode", Some(mode)),
            ("standingInstruction.source", sent),
            ("standingInstruction.type", Some("RECURRING")),
            ("standingInstruction.initialTransactionId", None),
        ];
        assert_values(&translate(&order, false), &expected);
    }
}

#[test]
fn each_gateway_counts_itself_and_a_number_that_nobody_can_read_is_the_largest() {
    let mut order = sample_order();
    for (sent, read) in
        [(None, 0), (Some("0"), 0), (Some("3"), 3), (Some("-1"), u8::MAX), (Some(""), u8::MAX), (Some("300"), u8::MAX)]
    {
        let parameters: Parameters = sent.map(|hops| (PARAMETER, hops)).into_iter().collect();
        assert_eq!(read_hops(&parameters), read, "{sent:?}");
    }
    order.context.hops = MAX_HOPS - 1;
    assert_eq!(translate(&order, false).get(PARAMETER), Some(MAX_HOPS.to_string().as_str()));
}
