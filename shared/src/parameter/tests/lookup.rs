//! Finding rows by the names in a request, and parameters that the browser may set.

use std::collections::HashSet;

use super::super::{all_parameters, can_come_from_browser, find_parameter, unknown_names};
use super::boundaries::concrete_names;
use super::build_parameters;

#[test]
fn every_row_is_found_by_its_names_and_is_there_once() {
    let mut seen = HashSet::new();
    for row in all_parameters() {
        assert!(seen.insert(row.name), "{} is there twice", row.name);
        assert!(!row.note.is_empty() && row.note.ends_with('.'), "{}", row.name);
        assert!(row.name.len() < 96);
        for name in concrete_names(row.name) {
            assert_eq!(find_parameter(&name), Some(row), "{name}");
        }
    }
}

#[test]
fn other_names_are_unknown() {
    let strangers = [
        "",
        "Amount",
        "amount ",
        "card",
        "card.",
        "customParameters",
        "customParameters[a",
        "customParameters[a]b",
        "[n]",
        "registrations[n].id",
        "registrations[1000].id",
        "registrations[00].id",
        "registrations[-1].id",
        "registrations[].id",
        "registrations[0]",
        "registrations[0][0].id",
        "registrations.id",
        "x[1]",
        "airline.passengers[0].legs.flightNumber",
        "airline.passengers.legs[0].flightNumber",
        "airline.passengers[0].legs[1000].flightNumber",
        "cart.items[0].recipient[0].city",
        "merchant.data",
        "merchant.data[a].b",
    ];
    for name in strangers {
        assert_eq!(find_parameter(name), None, "{name}");
    }
    assert_eq!(find_parameter(&format!("registrations[0].{}", "x".repeat(300))), None);
    let sent = build_parameters(&[("amount", "1"), ("foo", "1"), ("registrations[0].id", "1"), ("bar[x]", "1")]);
    assert_eq!(unknown_names(&sent), ["foo", "bar[x]"]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn the_browser_sets_what_shoppers_know_and_nothing_about_the_price() {
    for name in [
        "paymentBrand",
        "card.number",
        "card.holder",
        "card.cvv",
        "createRegistration",
        "registrationId",
        "customParameters[SHOPPER_note]",
        "customer.email",
        "customer.browser.language",
        "billing.city",
        "standingInstruction.mode",
        "recurring.numberOfInstallments",
        "bankAccount.iban",
        "bankAccount.mandate.id",
        "virtualAccount.accountId",
        "walletPay.paymentToken",
        "shipping.city",
        "shipping.customer.email",
        "shipping.preference",
    ] {
        assert!(can_come_from_browser(name), "{name}");
    }
    for name in [
        "amount",
        "currency",
        "paymentType",
        "referencedPaymentId",
        "testMode",
        "partialApproval",
        "finalCapture",
        "entityId",
        "descriptor",
        "merchantTransactionId",
        "merchantMemo",
        "taxAmount",
        "shopperResultUrl",
        "notificationUrl",
        "authentication.password",
        "integrity",
        "overridePaymentType[VISA]",
        "customParameters[forceResultCode]",
        "customParameters[shopper_x]",
        "customParameters[XSHOPPER_]",
        "registrations[0].id",
        "overrideHolder",
        "registrationsDeletable",
        "registrationsCreatable",
        "registrationsRequireCvv",
        "requireCvv",
        "brands",
        "walletPay.source",
        "transactionDueDate",
        "shipping.cost",
        "merchant.name",
        "merchant.data[SHOPPER_key]",
        "merchant.billing.city",
        "merchant.shipping.cost",
        "corporate.name",
        "cart.items[0].price",
        "cart.payments[0].amount",
        "airline.agentCode",
        "risk.amount",
        "risk.parameters[SHOPPER_name]",
        "recurringMigration.amount",
        "job.expression",
        "giftCard.message",
        "date.from",
        "chargebackResultCode",
        "foo",
        "",
    ] {
        assert!(!can_come_from_browser(name), "{name}");
    }
}

#[test]
fn secrets_are_those_of_accounts_and_credentials() {
    let secret: Vec<&str> = all_parameters().filter(|row| row.secret).map(|row| row.name).collect();
    let expected = "authentication.userId authentication.password authentication.entityId card.number card.cvv \
        walletPay.paymentToken bankAccount.number bankAccount.iban threeDSecure.v1.visa.password \
        threeDSecure.v1.jcb.password";
    assert_eq!(secret, expected.split_whitespace().collect::<Vec<_>>());
}
