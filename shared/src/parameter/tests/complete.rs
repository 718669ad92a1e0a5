//! What must be there, and what does not go together.

use super::super::{Operation, Parameters, Requirements, check_complete};
use super::parameters;

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

/// A complete card payment with these on top; an empty value takes a parameter away.
fn payment(changes: &[(&str, &str)]) -> Parameters {
    let mut set = parameters(CARD_PAYMENT);
    for (name, value) in changes {
        if value.is_empty() {
            set.remove(name);
        } else {
            set.set(*name, *value);
        }
    }
    set
}

/// Names and messages of what is wrong.
fn wrong(set: &Parameters, operation: Operation) -> Vec<(String, String)> {
    let errors = check_complete(set, operation, &Requirements::default());
    errors.into_iter().map(|error| (error.name, error.message)).collect()
}

fn wrong_names(changes: &[(&str, &str)]) -> Vec<String> {
    wrong(&payment(changes), Operation::Payment).into_iter().map(|(name, _)| name).collect()
}

fn empty(name: &str) -> (String, String) {
    (name.to_owned(), "may not be empty".to_owned())
}

#[test]
fn a_checkout_needs_amount_currency_and_type_and_nothing_more() {
    let checkout = parameters(&[
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("customer.email", "a@b.example"),
    ]);
    assert_eq!(wrong(&checkout, Operation::CreateCheckout), []);
    let nothing = Parameters::default();
    assert_eq!(wrong(&nothing, Operation::CreateCheckout), [empty("amount"), empty("currency"), empty("paymentType")]);
    assert_eq!(wrong(&nothing, Operation::UpdateCheckout), []);
}

#[test]
fn a_tokenisation_checkout_needs_neither() {
    assert_eq!(wrong(&parameters(&[("createRegistration", "true")]), Operation::CreateCheckout), []);
    let with_type = parameters(&[("createRegistration", "true"), ("paymentType", "PA")]);
    assert_eq!(wrong(&with_type, Operation::CreateCheckout), [empty("amount"), empty("currency")]);
    let without = parameters(&[("createRegistration", "false")]);
    assert_eq!(wrong(&without, Operation::CreateCheckout).len(), 3);
}

#[test]
fn the_currency_must_be_able_to_express_the_amount() {
    let yen = parameters(&[("amount", "12.50"), ("currency", "JPY"), ("paymentType", "DB")]);
    for operation in [Operation::CreateCheckout, Operation::UpdateCheckout] {
        let errors = wrong(&yen, operation);
        assert_eq!((errors.len(), errors[0].0.as_str()), (1, "amount"));
    }
    assert_eq!(wrong_names(&[("amount", "12.50"), ("currency", "JPY")]), ["amount"]);
    assert!(wrong_names(&[("amount", "12.00"), ("currency", "JPY")]).is_empty());
    assert!(wrong_names(&[("amount", "12.55"), ("currency", "KWD")]).is_empty());
    assert_eq!(wrong_names(&[("amount", "12"), ("taxAmount", "0.50"), ("currency", "JPY")]), ["taxAmount"]);
}

#[test]
fn types_that_refer_to_a_payment_do_not_begin_one() {
    assert!(wrong_names(&[("paymentType", "PA.CP")]).is_empty());
    for payment_type in ["CP", "RV", "RF", "CB", "SD", "RS", "DS"] {
        let errors = wrong(&payment(&[("paymentType", payment_type)]), Operation::Payment);
        assert_eq!(errors, [("paymentType".to_owned(), "must be one of [PA, DB, CD, PA.CP]".to_owned())]);
    }
}

#[test]
fn a_brand_of_its_own_type_is_named_when_a_checkout_is_made_and_not_later() {
    let set = parameters(&[("overridePaymentType[VISA]", "PA")]);
    assert_eq!(wrong(&set, Operation::UpdateCheckout)[0].0, "overridePaymentType[VISA]");
    assert!(wrong_names(&[("overridePaymentType[VISA]", "PA")]).is_empty());
}

#[test]
fn a_card_payment_needs_number_and_expiry_date() {
    assert!(wrong_names(&[]).is_empty());
    let none = payment(&[("card.number", ""), ("card.expiryMonth", ""), ("card.expiryYear", ""), ("card.cvv", "")]);
    let expected = [("paymentBrand".to_owned(), "card properties must be set".to_owned())];
    assert_eq!(wrong(&none, Operation::Payment), expected);
    assert_eq!(wrong(&payment(&[("card.number", "")]), Operation::Payment), [empty("card.number")]);
    assert_eq!(
        wrong_names(&[("card.expiryMonth", ""), ("card.expiryYear", "")]),
        ["card.expiryMonth", "card.expiryYear"]
    );
    assert!(wrong_names(&[("card.cvv", "")]).is_empty());
}

#[test]
fn the_brand_may_be_missing_where_the_number_tells() {
    assert!(wrong_names(&[("paymentBrand", "")]).is_empty());
    assert_eq!(wrong_names(&[("paymentBrand", ""), ("card.number", "1000000000000008")]), ["paymentBrand"]);
    assert_eq!(wrong_names(&[("paymentBrand", ""), ("card.expiryYear", "")]), ["card.expiryYear"]);
    assert_eq!(wrong_names(&[("paymentBrand", "NOBODYS")]), ["paymentBrand"]);
    let bare = parameters(&[("amount", "1"), ("currency", "EUR"), ("paymentType", "DB")]);
    assert_eq!(wrong(&bare, Operation::Payment), [empty("paymentBrand")]);
    assert_eq!(wrong(&Parameters::default(), Operation::Payment).len(), 4);
}

#[test]
fn brands_that_are_no_cards_need_no_card() {
    let wallet = parameters(&[("amount", "1"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL")]);
    assert_eq!(wrong(&wallet, Operation::Payment), []);
}

#[test]
fn a_customer_has_a_name_unless_the_entity_says_otherwise() {
    let anonymous = payment(&[("customer.email", "a@b.example")]);
    assert_eq!(wrong(&anonymous, Operation::Payment), [empty("customer.givenName"), empty("customer.surname")]);
    let tolerant = Requirements { customer_names_required: false, ..Requirements::default() };
    assert_eq!(check_complete(&anonymous, Operation::Payment, &tolerant), []);
    assert_eq!(wrong_names(&[("customer.givenName", "Jane")]), ["customer.surname"]);
    assert!(wrong_names(&[("customer.givenName", "Jane"), ("customer.surname", "Doe")]).is_empty());
    let collected =
        [("customer.browser.userAgent", "x"), ("customer.ip", "::1"), ("customer.browserFingerprint.id", "1")];
    assert!(wrong_names(&collected).is_empty(), "what the form collects by itself asks for no name");
}

#[test]
fn an_identity_document_has_kind_and_number() {
    let names = [("customer.givenName", "Jane"), ("customer.surname", "Doe")];
    let with = |more: &[(&str, &str)]| wrong_names(&[&names[..], more].concat());
    assert_eq!(with(&[("customer.identificationDocType", "PASSPORT")]), ["customer.identificationDocId"]);
    assert_eq!(with(&[("customer.identificationDocId", "12345678")]), ["customer.identificationDocType"]);
    assert!(
        with(&[("customer.identificationDocType", "PASSPORT"), ("customer.identificationDocId", "12345678")])
            .is_empty()
    );
    assert_eq!(
        wrong_names(&[("shipping.customer.identificationDocId", "12345678")]),
        ["shipping.customer.identificationDocType"]
    );
}

#[test]
fn a_street_is_more_than_digits() {
    assert_eq!(wrong_names(&[("billing.street1", "12")]), ["billing.street1"]);
    assert_eq!(wrong_names(&[("billing.street1", "1 2"), ("billing.street2", "3")]), ["billing.street1"]);
    assert_eq!(wrong_names(&[("billing.street2", "123")]), ["billing.street2"]);
    assert!(wrong_names(&[("billing.street1", "12"), ("billing.street2", "Main Street")]).is_empty());
    assert!(wrong_names(&[("billing.street1", "12a")]).is_empty());
    let ignored = [("billing.street1", "12"), ("billing.street2", "Main Street"), ("billing.houseNumber1", "3")];
    assert_eq!(wrong_names(&ignored), ["billing.street1"], "with a house number, street2 is ignored");
    assert_eq!(wrong_names(&[("merchant.billing.street1", "12")]), ["merchant.billing.street1"]);
    for elsewhere in ["shipping.street1", "merchant.shipping.street1"] {
        assert!(wrong_names(&[(elsewhere, "12")]).is_empty(), "the rule is one of billing");
    }
}

#[test]
fn a_second_house_number_needs_a_first() {
    for address in ["billing", "shipping", "merchant.billing", "merchant.shipping"] {
        let (first, second) = (format!("{address}.houseNumber1"), format!("{address}.houseNumber2"));
        assert_eq!(wrong_names(&[(&second, "b")]), [first.as_str()]);
        assert!(wrong_names(&[(&first, "7"), (&second, "b")]).is_empty());
    }
}

#[test]
fn a_direct_debit_names_account_bank_and_holder() {
    let debit = |changes: &[(&str, &str)]| {
        let mut all = vec![("paymentBrand", "DIRECTDEBIT_SEPA"), ("card.number", ""), ("card.cvv", "")];
        all.extend_from_slice(&[("card.expiryMonth", ""), ("card.expiryYear", "")]);
        wrong(&payment(&[&all[..], changes].concat()), Operation::Payment)
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
fn other_brands_ask_for_no_bank_account() {
    for brand in ["SOFORTUEBERWEISUNG", "IDEAL", "BOLETO", "PREPAYMENT"] {
        assert!(wrong_names(&[("paymentBrand", brand)]).is_empty(), "{brand}");
        assert!(wrong_names(&[("paymentBrand", brand), ("bankAccount.country", "DE")]).is_empty(), "{brand}");
    }
    assert!(wrong_names(&[("bankAccount.holder", "Jane Doe")]).is_empty(), "a card is paid");
}

#[test]
fn days_are_counted_in_the_month_or_in_the_week() {
    assert_eq!(wrong_names(&[("job.dayOfMonth", "01"), ("job.dayOfWeek", "1")]), ["job.dayOfWeek"]);
    assert!(wrong_names(&[("job.dayOfMonth", "01")]).is_empty() && wrong_names(&[("job.dayOfWeek", "1")]).is_empty());
}
