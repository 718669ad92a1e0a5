//! Required and inconsistent parameters.

use super::super::{Operation, Parameters, Requirements, check_complete};
use super::build_parameters;

const CARD_PAYMENT: &[(&str, &str)] = &[
    ("amount", "92.00"),
    ("currency", "EUR"),
    ("paymentType", "DB"),
    ("paymentBrand", "VISA"),
    ("card.number", "4200000000000000"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
    ("card.cvv", "123"),
];

/// Returns a complete card payment with changes; an empty value removes a parameter.
fn card_payment(changes: &[(&str, &str)]) -> Parameters {
    let mut set = build_parameters(CARD_PAYMENT);
    for (name, value) in changes {
        if value.is_empty() {
            set.remove(name);
        } else {
            set.set(*name, *value);
        }
    }
    set
}

/// Returns names and messages of the faults.
fn find_faults(set: &Parameters, operation: Operation) -> Vec<(String, String)> {
    let errors = check_complete(set, operation, &Requirements::default());
    errors.into_iter().map(|error| (error.name, error.message)).collect()
}

fn faulty_names(changes: &[(&str, &str)]) -> Vec<String> {
    find_faults(&card_payment(changes), Operation::Payment).into_iter().map(|(name, _)| name).collect()
}

/// Returns the fault of a parameter that is missing, as [`find_faults`] does.
fn missing_fault(name: &str) -> (String, String) {
    (name.to_owned(), "may not be empty".to_owned())
}

#[test]
fn a_checkout_needs_amount_currency_and_type_and_nothing_more() {
    let checkout = build_parameters(&[
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("customer.email", "a@b.example"),
    ]);
    assert_eq!(find_faults(&checkout, Operation::CreateCheckout), []);
    let nothing = Parameters::default();
    assert_eq!(
        find_faults(&nothing, Operation::CreateCheckout),
        [missing_fault("amount"), missing_fault("currency"), missing_fault("paymentType")]
    );
    assert_eq!(find_faults(&nothing, Operation::UpdateCheckout), []);
}

#[test]
fn a_tokenisation_checkout_needs_neither() {
    assert_eq!(find_faults(&build_parameters(&[("createRegistration", "true")]), Operation::CreateCheckout), []);
    let with_type = build_parameters(&[("createRegistration", "true"), ("paymentType", "PA")]);
    assert_eq!(
        find_faults(&with_type, Operation::CreateCheckout),
        [missing_fault("amount"), missing_fault("currency")]
    );
    let without = build_parameters(&[("createRegistration", "false")]);
    assert_eq!(find_faults(&without, Operation::CreateCheckout).len(), 3);
}

#[test]
fn the_currency_must_be_able_to_express_the_amount() {
    let yen = build_parameters(&[("amount", "12.50"), ("currency", "JPY"), ("paymentType", "DB")]);
    for operation in [Operation::CreateCheckout, Operation::UpdateCheckout] {
        let errors = find_faults(&yen, operation);
        assert_eq!((errors.len(), errors[0].0.as_str()), (1, "amount"));
    }
    assert_eq!(faulty_names(&[("amount", "12.50"), ("currency", "JPY")]), ["amount"]);
    assert!(faulty_names(&[("amount", "12.00"), ("currency", "JPY")]).is_empty());
    assert!(faulty_names(&[("amount", "12.55"), ("currency", "KWD")]).is_empty());
    assert_eq!(faulty_names(&[("amount", "12"), ("taxAmount", "0.50"), ("currency", "JPY")]), ["taxAmount"]);
}

#[test]
fn types_that_refer_to_a_payment_do_not_begin_one() {
    assert!(faulty_names(&[("paymentType", "PA.CP")]).is_empty());
    for payment_type in ["CP", "RV", "RF", "CB", "CR", "SD", "RS", "DS"] {
        let errors = find_faults(&card_payment(&[("paymentType", payment_type)]), Operation::Payment);
        assert_eq!(errors, [("paymentType".to_owned(), "must be one of [PA, DB, CD, PA.CP]".to_owned())]);
    }
}

#[test]
fn a_brand_of_its_own_type_is_named_when_a_checkout_is_made_and_not_later() {
    let set = build_parameters(&[("overridePaymentType[VISA]", "PA")]);
    assert_eq!(find_faults(&set, Operation::UpdateCheckout)[0].0, "overridePaymentType[VISA]");
    assert!(faulty_names(&[("overridePaymentType[VISA]", "PA")]).is_empty());
}

#[test]
fn a_card_payment_needs_number_and_expiry_date() {
    assert!(faulty_names(&[]).is_empty());
    let none =
        card_payment(&[("card.number", ""), ("card.expiryMonth", ""), ("card.expiryYear", ""), ("card.cvv", "")]);
    let expected = [("paymentBrand".to_owned(), "card properties must be set".to_owned())];
    assert_eq!(find_faults(&none, Operation::Payment), expected);
    assert_eq!(find_faults(&card_payment(&[("card.number", "")]), Operation::Payment), [missing_fault("card.number")]);
    assert_eq!(
        faulty_names(&[("card.expiryMonth", ""), ("card.expiryYear", "")]),
        ["card.expiryMonth", "card.expiryYear"]
    );
    assert!(faulty_names(&[("card.cvv", "")]).is_empty());
}

#[test]
fn the_brand_may_be_missing_where_the_number_tells() {
    assert!(faulty_names(&[("paymentBrand", "")]).is_empty());
    assert_eq!(faulty_names(&[("paymentBrand", ""), ("card.number", "1000000000000008")]), ["paymentBrand"]);
    assert_eq!(faulty_names(&[("paymentBrand", ""), ("card.expiryYear", "")]), ["card.expiryYear"]);
    assert_eq!(faulty_names(&[("paymentBrand", "NOBODYS")]), ["paymentBrand"]);
    let bare = build_parameters(&[("amount", "1"), ("currency", "EUR"), ("paymentType", "DB")]);
    assert_eq!(find_faults(&bare, Operation::Payment), [missing_fault("paymentBrand")]);
    assert_eq!(find_faults(&Parameters::default(), Operation::Payment).len(), 4);
}

#[test]
fn brands_that_are_no_cards_need_no_card() {
    let wallet =
        build_parameters(&[("amount", "1"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL")]);
    assert_eq!(find_faults(&wallet, Operation::Payment), []);
}

#[test]
fn a_customer_has_a_name_unless_the_entity_says_otherwise() {
    let anonymous = card_payment(&[("customer.email", "a@b.example")]);
    assert_eq!(
        find_faults(&anonymous, Operation::Payment),
        [missing_fault("customer.givenName"), missing_fault("customer.surname")]
    );
    let tolerant = Requirements { customer_names_required: false, ..Requirements::default() };
    assert_eq!(check_complete(&anonymous, Operation::Payment, &tolerant), []);
    assert_eq!(faulty_names(&[("customer.givenName", "Jane")]), ["customer.surname"]);
    assert!(faulty_names(&[("customer.givenName", "Jane"), ("customer.surname", "Doe")]).is_empty());
    let collected =
        [("customer.browser.userAgent", "x"), ("customer.ip", "::1"), ("customer.browserFingerprint.id", "1")];
    assert!(faulty_names(&collected).is_empty(), "what the form collects by itself asks for no name");
}

#[test]
fn an_identity_document_has_kind_and_number() {
    let names = [("customer.givenName", "Jane"), ("customer.surname", "Doe")];
    let with = |more: &[(&str, &str)]| faulty_names(&[&names[..], more].concat());
    assert_eq!(with(&[("customer.identificationDocType", "PASSPORT")]), ["customer.identificationDocId"]);
    assert_eq!(with(&[("customer.identificationDocId", "12345678")]), ["customer.identificationDocType"]);
    assert!(
        with(&[("customer.identificationDocType", "PASSPORT"), ("customer.identificationDocId", "12345678")])
            .is_empty()
    );
    assert_eq!(
        faulty_names(&[("shipping.customer.identificationDocId", "12345678")]),
        ["shipping.customer.identificationDocType"]
    );
}

#[test]
fn a_street_is_more_than_digits() {
    assert_eq!(faulty_names(&[("billing.street1", "12")]), ["billing.street1"]);
    assert_eq!(faulty_names(&[("billing.street1", "1 2"), ("billing.street2", "3")]), ["billing.street1"]);
    assert_eq!(faulty_names(&[("billing.street2", "123")]), ["billing.street2"]);
    assert!(faulty_names(&[("billing.street1", "12"), ("billing.street2", "Main Street")]).is_empty());
    assert!(faulty_names(&[("billing.street1", "12a")]).is_empty());
    let ignored = [("billing.street1", "12"), ("billing.street2", "Main Street"), ("billing.houseNumber1", "3")];
    assert_eq!(faulty_names(&ignored), ["billing.street1"], "with a house number, street2 is ignored");
    assert_eq!(faulty_names(&[("merchant.billing.street1", "12")]), ["merchant.billing.street1"]);
    for elsewhere in ["shipping.street1", "merchant.shipping.street1"] {
        assert!(faulty_names(&[(elsewhere, "12")]).is_empty(), "the rule is one of billing");
    }
}

#[test]
fn a_second_house_number_needs_a_first() {
    for address in ["billing", "shipping", "merchant.billing", "merchant.shipping"] {
        let (first, second) = (format!("{address}.houseNumber1"), format!("{address}.houseNumber2"));
        assert_eq!(faulty_names(&[(&second, "b")]), [first.as_str()]);
        assert!(faulty_names(&[(&first, "7"), (&second, "b")]).is_empty());
    }
}

#[test]
fn a_direct_debit_names_account_bank_and_holder() {
    let debit = |changes: &[(&str, &str)]| {
        let mut all = vec![("paymentBrand", "DIRECTDEBIT_SEPA"), ("card.number", ""), ("card.cvv", "")];
        all.extend_from_slice(&[("card.expiryMonth", ""), ("card.expiryYear", "")]);
        find_faults(&card_payment(&[&all[..], changes].concat()), Operation::Payment)
    };
    let names = |changes: &[(&str, &str)]| debit(changes).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&[]), ["bankAccount.holder", "bankAccount.iban", "bankAccount.bic"]);
    let holder = ("bankAccount.holder", "Jane Doe");
    for account in [("bankAccount.iban", "DE89370400440532013000"), ("bankAccount.number", "532013000")] {
        for bank in [("bankAccount.bic", "COBADEFFXXX"), ("bankAccount.bankCode", "37040044")] {
            assert_eq!(debit(&[holder, account, bank]), []);
        }
        assert_eq!(names(&[holder, account]), ["bankAccount.bic"]);
    }
    let message = &debit(&[holder, ("bankAccount.bic", "COBADEFFXXX")])[0].1;
    assert_eq!(message, "may not be empty unless bankAccount.number is sent");
    assert_eq!(debit(&[("registrationId", "8a82944a4cc25ebf014cc2c782423202")]), [], "the account is stored");
}

#[test]
fn a_form_names_the_bank_only_if_the_iban_does_not() {
    let by_form = Requirements { collected_by_form: true, ..Requirements::default() };
    for (account, requirements, is_named) in [
        (("bankAccount.iban", "DE89370400440532013000"), by_form, true),
        (("bankAccount.iban", "de89370400440532013000"), by_form, true),
        (("bankAccount.iban", "GB29NWBK60161331926819"), by_form, false),
        (("bankAccount.iban", "D"), by_form, false),
        (("bankAccount.number", "532013000"), by_form, false),
        (("bankAccount.iban", "DE89370400440532013000"), Requirements::default(), false),
    ] {
        let debit = [("paymentBrand", "SEPA"), ("bankAccount.holder", "Jane Doe"), account];
        let card = ["card.number", "card.cvv", "card.expiryMonth", "card.expiryYear"].map(|name| (name, ""));
        let errors = check_complete(&card_payment(&[&card[..], &debit].concat()), Operation::Payment, &requirements);
        let names: Vec<&str> = errors.iter().map(|error| error.name.as_str()).collect();
        assert_eq!(names, if is_named { &[][..] } else { &["bankAccount.bic"] }, "{account:?}");
    }
}

#[test]
fn other_brands_ask_for_no_bank_account() {
    for brand in ["SOFORTUEBERWEISUNG", "IDEAL", "BOLETO", "PREPAYMENT"] {
        assert!(faulty_names(&[("paymentBrand", brand)]).is_empty(), "{brand}");
        assert!(faulty_names(&[("paymentBrand", brand), ("bankAccount.country", "DE")]).is_empty(), "{brand}");
    }
    assert!(faulty_names(&[("bankAccount.holder", "Jane Doe")]).is_empty(), "a card is paid");
}

#[test]
fn days_are_counted_in_the_month_or_in_the_week() {
    assert_eq!(faulty_names(&[("job.dayOfMonth", "01"), ("job.dayOfWeek", "1")]), ["job.dayOfWeek"]);
    assert!(faulty_names(&[("job.dayOfMonth", "01")]).is_empty() && faulty_names(&[("job.dayOfWeek", "1")]).is_empty());
}
