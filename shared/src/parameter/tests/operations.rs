//! Parameters that each operation needs, and the kinds of accounts.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::{
    Operation, Parameter, ParameterGroup, Parameters, Presence, Requirements, all_parameters, check_complete,
    find_parameter,
};
use super::boundaries::concrete_names;
use super::build_parameters;
use super::samples::format_samples;

/// Returns the names of parameters at fault.
fn faulty_names(operation: Operation, sent: &[(&str, &str)]) -> Vec<String> {
    let presence = Presence::from_server_request(&build_parameters(sent));
    let errors =
        check_complete(&build_parameters(sent), operation, &Requirements { presence, ..Requirements::default() });
    errors.into_iter().map(|error| error.name).collect()
}

/// Returns the message of the first fault.
fn first_message(operation: Operation, sent: &[(&str, &str)]) -> String {
    check_complete(&build_parameters(sent), operation, &Requirements::default()).remove(0).message
}

const MONEY: [(&str, &str); 2] = [("amount", "92.00"), ("currency", "EUR")];
const CARD: [(&str, &str); 4] = [
    ("paymentBrand", "VISA"),
    ("card.number", "4200000000000000"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
];
const REGISTRATION: (&str, &str) = ("registrationId", "8a82944a4cc25ebf014cc2c782423202");

/// Returns amount, currency and type, and more parameters.
fn payment_of_type(
    payment_type: &'static str,
    more: &[(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    MONEY.into_iter().chain([("paymentType", payment_type)]).chain(more.iter().copied()).collect()
}

#[test]
fn a_registration_needs_an_account_and_no_money() {
    assert!(faulty_names(Operation::CreateRegistration, &CARD).is_empty());
    assert_eq!(faulty_names(Operation::CreateRegistration, &[]), ["paymentBrand"]);
    assert_eq!(faulty_names(Operation::CreateRegistration, &CARD[..2]), ["card.expiryMonth", "card.expiryYear"]);
    let debit = [("paymentBrand", "DIRECTDEBIT_SEPA")];
    let account = ["bankAccount.holder", "bankAccount.iban", "bankAccount.bic"];
    assert_eq!(faulty_names(Operation::CreateRegistration, &debit), account);
    let anonymous = [&CARD[..], &[("customer.email", "jane@shop.example")]].concat();
    assert_eq!(faulty_names(Operation::CreateRegistration, &anonymous), ["customer.givenName", "customer.surname"]);
}

#[test]
fn a_registration_that_comes_from_elsewhere_says_how_it_began() {
    let with = |more: (&'static str, &'static str)| {
        faulty_names(Operation::CreateRegistration, &[&CARD[..], &[more]].concat())
    };
    for name in ["recurringMigration.amount", "recurringMigration.connectorTxId1"] {
        assert_eq!(with((name, "12.00")), ["recurringMigration.paymentType"]);
    }
    assert!(with(("recurringMigration.paymentType", "DB")).is_empty());
}

#[test]
fn a_payment_by_registration_brings_money_and_no_other_account() {
    let pay = |sent: &[(&str, &str)]| faulty_names(Operation::PaymentByRegistration, sent);
    assert_eq!(pay(&[]), ["amount", "currency", "paymentType"]);
    assert!(pay(&payment_of_type("DB", &[])).is_empty(), "everything else is stored");
    assert!(
        pay(&payment_of_type("PA", &[("card.cvv", "123"), ("card.holder", "Jane"), ("overrideHolder", "true")]))
            .is_empty()
    );
    for account in [
        "card.number",
        "bankAccount.number",
        "bankAccount.iban",
        "virtualAccount.accountId",
        "walletPay.paymentToken",
        "walletPay.source",
    ] {
        assert_eq!(pay(&payment_of_type("DB", &[(account, "x")])), [account]);
    }
    assert_eq!(pay(&payment_of_type("CP", &[])), ["paymentType"]);
    assert_eq!(
        pay(&payment_of_type("DB", &[("customer.email", "a@b.example")])),
        ["customer.givenName", "customer.surname"]
    );
}

#[test]
fn a_payment_by_registration_may_bring_the_new_date_of_a_card_and_of_nothing_else() {
    let pay = |brand, date: &[(&'static str, &'static str)]| {
        let sent = payment_of_type("DB", &[&[("paymentBrand", brand)], date].concat());
        faulty_names(Operation::PaymentByRegistration, &sent)
    };
    let date = &CARD[2..];
    assert!(pay("VISA", date).is_empty());
    assert_eq!(pay("VISA", &date[..1]), ["card.expiryYear"], "half a date");
    assert_eq!(pay("VISA", &date[1..]), ["card.expiryMonth"]);
    for brand in ["DIRECTDEBIT_SEPA", "PAYPAL", "APPLEPAY"] {
        assert_eq!(pay(brand, date), ["card.expiryMonth", "card.expiryYear"], "{brand}");
    }
}

#[test]
fn the_shopper_may_take_a_registration_of_the_checkout_instead_of_an_account() {
    let stored = payment_of_type("DB", &[("paymentBrand", "VISA"), REGISTRATION]);
    assert!(faulty_names(Operation::Payment, &stored).is_empty());
    let both = [&payment_of_type("DB", &CARD[..3])[..], &[REGISTRATION]].concat();
    assert_eq!(faulty_names(Operation::Payment, &both), ["card.expiryYear"], "who fills in a new card fills it in");
}

#[test]
fn captures_and_refunds_name_their_amount_and_reversals_undo_everything() {
    let all = ["amount", "currency", "paymentType"];
    assert_eq!(faulty_names(Operation::Capture, &[]), all);
    assert_eq!(faulty_names(Operation::Increment, &[]), all);
    assert_eq!(faulty_names(Operation::Refund, &[]), all);
    assert_eq!(faulty_names(Operation::Reversal, &[]), ["paymentType"]);
    assert!(faulty_names(Operation::Capture, &payment_of_type("CP", &[])).is_empty());
    assert!(faulty_names(Operation::Increment, &payment_of_type("PA", &[])).is_empty());
    assert!(faulty_names(Operation::Refund, &payment_of_type("RF", &[])).is_empty());
    assert!(faulty_names(Operation::Reversal, &[("paymentType", "RV")]).is_empty());
    assert!(faulty_names(Operation::Reversal, &payment_of_type("RV", &[])).is_empty(), "an amount does no harm here");
    assert_eq!(first_message(Operation::Capture, &payment_of_type("RF", &[])), "must be one of [CP]");
    assert_eq!(first_message(Operation::Refund, &payment_of_type("CP", &[])), "must be one of [RF]");
    let yen = [("amount", "12.50"), ("currency", "JPY"), ("paymentType", "RF")];
    assert_eq!(faulty_names(Operation::Refund, &yen), ["amount"]);
}

#[test]
fn a_chargeback_has_a_reason() {
    assert_eq!(faulty_names(Operation::Chargeback, &[]), ["chargebackResultCode"]);
    assert!(faulty_names(Operation::Chargeback, &[("chargebackResultCode", "000.100.203")]).is_empty());
}

#[test]
fn a_schedule_charges_a_registration() {
    assert_eq!(faulty_names(Operation::Schedule, &[]), ["registrationId", "amount", "currency", "paymentType"]);
    for payment_type in ["SD", "DB"] {
        assert!(
            faulty_names(Operation::Schedule, &payment_of_type(payment_type, &[REGISTRATION])).is_empty(),
            "{payment_type}"
        );
    }
    assert_eq!(first_message(Operation::Schedule, &payment_of_type("RF", &[REGISTRATION])), "must be one of [SD, DB]");
    let days = [REGISTRATION, ("job.dayOfMonth", "01"), ("job.dayOfWeek", "1")];
    assert_eq!(faulty_names(Operation::Schedule, &payment_of_type("SD", &days)), ["job.dayOfWeek"]);
    let code = [REGISTRATION, ("standingInstruction.mode", "REPEATED"), ("card.cvv", "123")];
    assert_eq!(faulty_names(Operation::Schedule, &payment_of_type("SD", &code)), ["card.cvv"]);
}

#[test]
fn nothing_ends_before_it_starts() {
    let times = |end| [REGISTRATION, ("job.startDate", "2026-12-01 06:00:00"), ("job.endDate", end)];
    assert!(faulty_names(Operation::Schedule, &payment_of_type("SD", &times("2026-12-01 06:00:00"))).is_empty());
    assert_eq!(
        faulty_names(Operation::Schedule, &payment_of_type("SD", &times("2026-12-01 05:59:59"))),
        ["job.endDate"]
    );
    assert_eq!(faulty_names(Operation::Report, &[("date.from", "2026-10-01"), ("date.to", "2026-09-30")]), ["date.to"]);
}

#[test]
fn a_report_names_its_days() {
    assert_eq!(faulty_names(Operation::Report, &[]), ["date.from", "date.to"]);
    assert_eq!(faulty_names(Operation::Report, &[("date.from", "2026-11-01")]), ["date.to"]);
    assert!(faulty_names(Operation::Report, &[("date.from", "2026-11-01"), ("date.to", "2026-11-01")]).is_empty());
}

#[test]
fn a_wallet_hands_out_a_token_or_what_was_in_it() {
    let pay = |more: &[(&'static str, &'static str)]| faulty_names(Operation::Payment, &payment_of_type("DB", more));
    let brand = ("paymentBrand", "GOOGLEPAY");
    let source = ("walletPay.source", "web");
    let token = ("walletPay.paymentToken", "{}");
    assert_eq!(pay(&[brand]), ["walletPay.paymentToken"]);
    assert!(pay(&[brand, token]).is_empty());
    assert_eq!(pay(&[brand, token, source]), ["walletPay.source"]);
    let decrypted = ["card.number", "card.expiryMonth", "card.expiryYear"];
    let results = ["threeDSecure.verificationId", "threeDSecure.eci"];
    assert_eq!(pay(&[brand, source]), [&decrypted[..], &results[..]].concat());
    let proof = [("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="), ("threeDSecure.eci", "05")];
    assert!(pay(&[&[brand, source], &CARD[1..], &proof].concat()).is_empty());
    // Same under the brand of the card in the wallet.
    assert_eq!(pay(&[&CARD[..], &[source]].concat()), results);
    assert!(pay(&[&CARD[..], &[source], &proof].concat()).is_empty());
    let later = ("standingInstruction.mode", "REPEATED");
    assert!(pay(&[&CARD[..], &[source, later]].concat()).is_empty(), "the shopper who authenticated is absent");
}

#[test]
fn brands_that_charge_an_account_of_their_own_at_once_need_to_know_it() {
    let pay = |more: &[(&'static str, &'static str)]| faulty_names(Operation::Payment, &payment_of_type("DB", more));
    assert_eq!(pay(&[("paymentBrand", "AFTERPAY")]), ["virtualAccount.accountId"]);
    assert!(pay(&[("paymentBrand", "AFTERPAY"), ("virtualAccount.accountId", "jane")]).is_empty());
    for later in ["PAYPAL", "SIBS_MULTIBANCO"] {
        assert!(pay(&[("paymentBrand", later)]).is_empty(), "{later}");
    }
}

/// All operations.
pub(super) const OPERATIONS: [Operation; 13] = [
    Operation::CreateCheckout,
    Operation::UpdateCheckout,
    Operation::Payment,
    Operation::CreateRegistration,
    Operation::PaymentByRegistration,
    Operation::Capture,
    Operation::Increment,
    Operation::Refund,
    Operation::Reversal,
    Operation::Chargeback,
    Operation::ChargebackReversal,
    Operation::Schedule,
    Operation::Report,
];

#[test]
fn every_operation_takes_types_that_the_catalogue_knows() {
    let known = find_parameter("paymentType").unwrap().format;
    for operation in OPERATIONS {
        for payment_type in operation.payment_types() {
            assert_eq!(known.check_value(payment_type), Ok(()), "{operation:?}");
        }
    }
}

/// Generates a parameter with a valid value, from the whole catalogue or only from groups that rules connect.
fn any_parameter(tied: bool) -> impl Strategy<Value = (String, String)> {
    let groups = [
        ParameterGroup::BasicPayment,
        ParameterGroup::Card,
        ParameterGroup::Wallet,
        ParameterGroup::BankAccount,
        ParameterGroup::Registration,
        ParameterGroup::ThreeDs,
        ParameterGroup::StandingInstruction,
    ];
    let rows: Vec<&Parameter> = all_parameters().filter(|row| !tied || groups.contains(&row.group)).collect();
    (0..rows.len(), any::<prop::sample::Index>()).prop_map(move |(row, value)| {
        let values = match rows[row].name {
            "paymentBrand" => {
                ["VISA", "DIRECTDEBIT_SEPA", "GOOGLEPAY", "PAYPAL", "NOBODYS"].map(str::to_owned).to_vec()
            }
            _ => format_samples(rows[row].format).good,
        };
        (concrete_names(rows[row].name).remove(0), values[value.index(values.len())].clone())
    })
}

proptest! {
    #[test]
    fn whatever_is_sent_each_fault_names_a_parameter_once(
        sent in prop::collection::vec(prop_oneof![any_parameter(true), any_parameter(false)], 0..90),
        runs_three_ds: bool,
        customer_names_required: bool,
    ) {
        let set: Parameters = sent.into_iter().collect();
        let presence = Presence::from_server_request(&set);
        let requirements = Requirements { customer_names_required, runs_three_ds, collected_by_form: false, presence };
        for operation in OPERATIONS {
            let errors = check_complete(&set, operation, &requirements);
            let names: HashSet<&str> = errors.iter().map(|error| error.name.as_str()).collect();
            prop_assert_eq!(names.len(), errors.len(), "{:?}: {:?}", operation, errors);
            for error in &errors {
                prop_assert!(find_parameter(&error.name).is_some() && !error.message.is_empty(), "{:?}", error);
            }
        }
    }
}

#[test]
fn what_begins_a_payment_refers_to_none() {
    let referenced = ("referencedPaymentId", "8a82944a4cc25ebf014cc2c782423202");
    for operation in [Operation::Payment, Operation::PaymentByRegistration] {
        let account = if operation == Operation::Payment { &CARD[..] } else { &[] };
        assert_eq!(
            faulty_names(operation, &payment_of_type("DB", &[account, &[referenced]].concat())),
            ["referencedPaymentId"]
        );
    }
    assert!(faulty_names(Operation::Capture, &payment_of_type("CP", &[referenced])).is_empty());
}
