//! Limits of the specification, written a second time on purpose: they reveal a mistake in a row.

use super::super::{
    DefaultValue, FormatSet, Need, Parameter, ParameterGroup, Parameters, all_parameters, check_formats,
    count_parameters, find_parameter,
};

mod limits;

use limits::{DATES, DIGITS, MONEY, TEXTS, WORDS};

/// Returns name, minimum and maximum length of each field in a table.
fn parse_limits(table: &[(&'static str, &'static str)]) -> Vec<(String, usize, usize)> {
    let mut limits = Vec::new();
    for (prefixes, fields) in table {
        let prefixes: Vec<&str> = if prefixes.is_empty() { vec![""] } else { prefixes.split_whitespace().collect() };
        for field in fields.split(',').map(str::trim) {
            let (name, length) = field.split_once(' ').unwrap();
            let (min, max) = length.split_once('-').unwrap();
            let limit = |prefix: &&str| (format!("{prefix}{name}"), min.parse().unwrap(), max.parse().unwrap());
            limits.extend(prefixes.iter().map(limit));
        }
    }
    limits
}

/// Returns true if a value has the parameter's format. Panics if the catalogue does not know the name.
fn is_valid_value(name: &str, value: &str) -> bool {
    let name = name.replace("[name]", "[abc]").replace("[key]", "[abc]").replace("[n]", "[7]");
    assert!(find_parameter(&name).is_some(), "{name}");
    check_formats(&Parameters::from_iter([(name.as_str(), value)]), FormatSet::Specified).is_empty()
}

#[test]
fn lengths_are_those_of_the_specification() {
    for (rows, character) in [(TEXTS, "é"), (DIGITS, "1")] {
        for (name, min, max) in parse_limits(rows) {
            assert!(
                is_valid_value(&name, &character.repeat(min)) && is_valid_value(&name, &character.repeat(max)),
                "{name}"
            );
            assert!(min == 0 || !is_valid_value(&name, &character.repeat(min - 1)), "{name}");
            assert!(!is_valid_value(&name, &character.repeat(max + 1)), "{name}");
        }
    }
    for (name, _, _) in parse_limits(DIGITS) {
        assert!(!is_valid_value(&name, "ä"), "{name}");
        assert!(name == "walletPay.paymentToken" || !is_valid_value(&name, "a.a a;a"), "{name}");
    }
}

#[test]
fn words_are_those_of_the_specification() {
    for (name, words) in WORDS {
        let pattern = find_parameter(&name.replace("[n]", "[0]")).unwrap().format.pattern();
        assert_eq!(pattern, format!("^({})$", words.replace(' ', "|")), "{name}");
        assert!(words.split(' ').all(|word| is_valid_value(name, word)), "{name}");
        assert!(
            !is_valid_value(name, "ANOTHER") && !words.split(' ').any(|word| is_valid_value(name, &format!("{word} "))),
            "{name}"
        );
    }
}

#[test]
fn money_has_no_or_two_decimals_and_dates_are_days() {
    for name in MONEY.split_whitespace() {
        assert!(is_valid_value(name, "0.00") && is_valid_value(name, "9999999999.99"), "{name}");
        assert!(
            is_valid_value(name, "1") && !is_valid_value(name, "1.0") && !is_valid_value(name, "10000000000.00"),
            "{name}"
        );
    }
    for name in DATES.split_whitespace() {
        assert!(
            is_valid_value(name, "1980-02-29")
                && !is_valid_value(name, "1981-02-29")
                && !is_valid_value(name, "29.02.1980"),
            "{name}"
        );
    }
}

#[test]
fn every_row_is_among_these_or_checked_by_itself() {
    let limits: Vec<_> = parse_limits(TEXTS).into_iter().chain(parse_limits(DIGITS)).collect();
    let listed = |name: &str| {
        limits.iter().any(|(limited, _, _)| limited == name)
            || WORDS.iter().any(|(words, _)| *words == name)
            || MONEY.split_whitespace().chain(DATES.split_whitespace()).any(|other| other == name)
    };
    // Names in a request, as in the examples.
    let by_itself =
        |name: &str| OF_THEIR_OWN.iter().any(|(example, _, _)| find_parameter(example).unwrap().name == name);
    for row in all_parameters() {
        // Fields that the form sends for itself are dropped.
        let form = row.group == ParameterGroup::Form;
        assert!(form || listed(row.name) || by_itself(row.name), "{} is not held against the specification", row.name);
    }
}

/// Number of parameters in each group.
const COUNTS: [(&str, usize); 30] = [
    // Including four of ours: brands, requireCvv, partialApproval and finalCapture.
    ("Basic payment", 19),
    ("Credentials in the body", 3),
    ("Card account", 5),
    ("Wallet payment", 2),
    ("Virtual account", 1),
    ("Bank account", 11),
    ("Customer", 31),
    ("Shipping customer", 28),
    ("Billing address", 10),
    ("Shipping address", 26),
    ("Corporate", 12),
    ("Merchant", 11),
    ("Merchant billing address", 18),
    ("Merchant shipping address", 26),
    ("Cart items", 40),
    ("Cart payments", 7),
    ("Airline", 45),
    // Including two of ours: registrationsCreatable and registrationsRequireCvv.
    ("Tokenization and registration", 8),
    ("Recurring migration", 6),
    ("3-D Secure", 36),
    ("Custom parameters", 1),
    ("Asynchronous payments", 2),
    ("Reporting", 2),
    ("Queries", 7),
    ("Gift card", 2),
    ("Risk", 8),
    ("Job scheduling", 16),
    ("Card on file (standing instruction)", 8),
    ("Chargeback", 1),
    ("Technical fields of the form", 2),
];

#[test]
fn no_parameter_gets_lost() {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for row in all_parameters() {
        match groups.last_mut() {
            Some((title, count)) if *title == row.group.title() => *count += 1,
            _ => groups.push((row.group.title(), 1)),
        }
    }
    assert_eq!(groups, COUNTS);
    assert_eq!(count_parameters(), 394);
}

/// A parameter, a valid value, and an invalid one.
const OF_THEIR_OWN: &[(&str, &str, &str)] = &[
    ("entityId", "8a829417539edb400153c1eae83932ac", "8A829417539EDB400153C1EAE83932AC"),
    ("amount", "92", "92.0"),
    ("taxAmount", "0.00", "0.0"),
    ("risk.amount", "92", "92.0"),
    ("currency", "EUR", "eur"),
    ("paymentBrand", "DIRECTDEBIT_SEPA", "VISA-X"),
    ("overridePaymentType[VISA]", "PA", "PREAUTH"),
    ("integrity", "true", "1"),
    ("brands", "VISA MASTER", "VISA-MASTER"),
    ("card.expiryMonth", "01", "1"),
    ("card.expiryYear", "2034", "34"),
    ("customer.givenName", "Zoë", ""),
    // Of 6 to 128 characters; a text that names no mailbox would pass by lists and counters.
    ("customer.email", "a@b.de", "a@b.c"),
    ("customer.email", "Jo <jo@shop.example>", "shop.example"),
    ("shipping.customer.email", "a@b.de", "abcdef"),
    ("customer.birthDate", "1980-02-29", "1981-02-29"),
    ("customer.phone", "+49 (0)89/123-45.6", "++49891234"),
    ("customer.phone", "0049 89 1234", "(089) 12345"),
    ("customer.language", "DE", "de"),
    ("customer.browser.language", "de-AT", "de-DE-1996"),
    ("customer.browser.timezone", "-480", "-12345"),
    ("billing.country", "DE", "GER"),
    ("registrations[0].id", "8a82944a4cc25ebf014cc2c782423202", "8a82944a"),
    ("registrations[999].id", "550e8400-e29b-41d4-a716-446655440000", "550e8400_e29b-41d4-a716-446655440000"),
    ("registrationId", "8a82944a4cc25ebf014cc2c782423202", "8a82944a"),
    ("shopperResultUrl", "https://shop.example/result?order=1", "javascript:alert(document.domain)"),
    ("notificationUrl", "http://10.0.0.1:8080/n", "http://"),
    ("threeDSecure.merchant.country", "DEU", "DE"),
    ("threeDSecure.version", "2.2.0", "2.2"),
    ("threeDSecure.v1.jcb.password", "secret", ""),
    ("threeDSecure.v2.cartebancaire.requestorName", "Shop", ""),
    ("standingInstruction.expiry", "2030-12-31", "2030-12-32"),
    ("standingInstruction.initialTransactionId", "MCC123456 0101", ""),
    ("recurring.numberOfInstallments", "12", "0x0c"),
    ("authentication.userId", "8a8294174e735d0c014e78cf266b1794", ""),
    ("authentication.password", "qyyfHCN83e", ""),
    ("authentication.entityId", "8a829417539edb400153c1eae83932ac", "8A829417539EDB400153C1EAE83932AC"),
    ("bankAccount.iban", "DE89370400440532013000", "DE88370400440532013000"),
    ("bankAccount.iban", "MT84MALT011000012345MTLCAST001S", "RU0304452522540817810538091310419"),
    ("bankAccount.bic", "DEUTDEFF", "DEUTDEFF5"),
    ("bankAccount.bic", "DEUTDEFF500", "DEUTDEFF5000"),
    ("bankAccount.country", "DE", "DEU"),
    ("customer.surname", "Doe", ""),
    ("shipping.customer.givenName", "Zoë", ""),
    ("shipping.customer.surname", "Doe", ""),
    ("shipping.customer.language", "DE", "de"),
    ("shipping.customer.browser.language", "de-AT", "de-DE-1996"),
    ("shipping.city", "München", "12345"),
    ("shipping.state", "N.S.W. 2", "N_W"),
    ("shipping.country", "de", "GER"),
    ("merchant.shipping.city", "New York", "7"),
    ("merchant.shipping.state", "Bayern", "+"),
    ("merchant.shipping.country", "AT", "AUT"),
    ("merchant.billing.country", "DE", "de"),
    ("merchant.country", "GB", "UK"),
    ("merchant.phone", "+49.89-CALL", "+49 89"),
    ("merchant.postcode", "80331-1", "80331 1"),
    ("merchant.mcc", "5411", "54111"),
    ("cart.items[0].quantity", "12.375", "12.3750"),
    ("cart.items[0].currency", "EUR", "eur"),
    ("cart.items[0].tax", "100.00", "100.01"),
    ("cart.items[0].tax", "7.5", "7.555"),
    ("cart.items[999].itemNumber", "999", "0"),
    ("cart.items[0].productUrl", "https://shop.example/1", "shop.example"),
    ("cart.items[0].imageUrl", "https://shop.example/1.png", "data:image/png;base64,"),
    ("cart.items[0].recipient.country", "276", "27"),
    ("cart.items[0].recipient.country", "DE", "DEU"),
    ("cart.payments[0].currency", "EUR", "EURO"),
    ("recurringMigration.amount", "12345678.90", "123456789"),
    ("recurringMigration.requestTimestamp", "2026-11-21T10:00:00", "2026-11-21"),
    ("risk.orderTimestamp", "2026-11-21 23:59:59", "2026-11-21 24:00:00"),
    ("job.year", "2026,2027", "26"),
    ("job.month", "01,12", "2026"),
    ("job.month", "12", "13"),
    ("job.dayOfMonth", "*", "**"),
    ("job.dayOfMonth", "31", "32"),
    ("job.dayOfWeek", "1,3", "13"),
    ("job.hour", "6", "006"),
    ("job.hour", "23", "24"),
    ("job.minute", "00,30", "0-30"),
    ("job.minute", "59", "60"),
    ("job.second", "00", "00,"),
    ("job.second", "59", "60"),
    ("job.startDate", "2026-12-01 06:00:00", "2026-12-01"),
    ("job.endDate", "2027-12-01 06:00:00", "2027-12-01T06:00:00"),
    ("job.noticeNumber", "0", "one"),
    ("job.durationNumber", "12", "1.5"),
    ("job.expression", "0 0 6 15 * ?", "monthly"),
    ("chargebackResultCode", "000.100.203", "000.100.110"),
    ("includeLinkedTransactions", "true", "yes"),
    ("paymentTypes", "PA,CP,RV", "P"),
    ("paymentMethods", "CC,DC", "C"),
    ("shortId", "1234.5678.9012", "1234.5678.901"),
    ("limit", "100", "101"),
    ("cursor", "8a829417539edb400153c1eae83932ac", "8A829417539EDB400153C1EAE83932AC"),
    ("pageNo", "1", "0"),
];

#[test]
fn formats_of_their_own() {
    for (name, good, bad) in OF_THEIR_OWN {
        assert!(is_valid_value(name, good), "{name} = {good}");
        assert!(!is_valid_value(name, bad), "{name} = {bad}");
    }
}

#[test]
fn what_is_required_is_what_the_specification_marks_so() {
    let required: Vec<&str> = all_parameters().filter(|row| row.need == Need::Required).map(|row| row.name).collect();
    let expected = "amount currency paymentType card.number card.expiryMonth card.expiryYear walletPay.paymentToken \
        walletPay.source virtualAccount.accountId bankAccount.holder recurringMigration.paymentType date.from date.to";
    assert_eq!(required, expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn what_is_conditional_is_what_the_specification_marks_so() {
    let expected = "entityId taxAmount paymentBrand referencedPaymentId merchantTransactionId card.cvv bankAccount.bankName \
        bankAccount.number bankAccount.iban bankAccount.bankCode bankAccount.bic bankAccount.country \
        bankAccount.mandate.id bankAccount.mandate.dateOfSignature bankAccount.mandate.reference transactionDueDate \
        customer.givenName customer.surname customer.identificationDocType customer.identificationDocId \
        customer.browser.acceptHeader customer.browser.language customer.browser.screenHeight \
        customer.browser.screenWidth customer.browser.timezone customer.browser.userAgent \
        customer.browser.javaEnabled billing.street1 billing.street2 billing.city billing.state billing.postcode \
        billing.country shipping.street1 shipping.street2 shipping.city shipping.state shipping.postcode \
        shipping.country shipping.method shipping.cost shipping.comment cart.items[n].name \
        cart.items[n].merchantItemId cart.items[n].quantity cart.items[n].type cart.items[n].currency \
        cart.items[n].description cart.items[n].price cart.items[n].totalAmount cart.items[n].taxAmount \
        cart.items[n].totalTaxAmount cart.items[n].tax cart.items[n].shipping cart.items[n].discount \
        recurringMigration.requestTimestamp recurringMigration.connectorTxId1 recurringMigration.connectorTxId2 \
        recurringMigration.connectorTxId3 threeDSecure.eci threeDSecure.verificationId threeDSecure.xid \
        threeDSecure.enrollmentStatus threeDSecure.authenticationStatus customParameters[name] shopperResultUrl \
        standingInstruction.expiry standingInstruction.frequency standingInstruction.numberOfInstallments";
    // All fields of a flight are conditional; credentials in the body and registrations are not in the specification.
    let others = |row: &&Parameter| {
        !matches!(row.group, ParameterGroup::Airline | ParameterGroup::Authentication | ParameterGroup::Registration)
    };
    let conditional = all_parameters().filter(|row| row.need == Need::Conditional).filter(others);
    let conditional: Vec<&str> = conditional.map(|row| row.name).collect();
    assert_eq!(conditional, expected.split_whitespace().collect::<Vec<_>>());
    assert!(
        all_parameters().filter(|row| row.group == ParameterGroup::Airline).all(|row| row.need == Need::Conditional)
    );
}

#[test]
fn defaults_are_those_of_the_specification() {
    let defaults: Vec<_> = all_parameters().filter_map(|row| Some((row.name, row.default?))).collect();
    let expected = [
        ("testMode", DefaultValue::Value("INTERNAL")),
        ("shipping.preference", DefaultValue::Value("GET_FROM_FILE")),
        ("merchant.shipping.preference", DefaultValue::Value("GET_FROM_FILE")),
        ("cart.items[n].quantityUnit", DefaultValue::Value("COUNT")),
        ("risk.orderTimestamp", DefaultValue::Now),
        ("risk.brand", DefaultValue::SameAs("paymentBrand")),
    ];
    assert_eq!(defaults, expected);
    for (name, default) in defaults {
        match default {
            DefaultValue::Value(value) => assert!(is_valid_value(name, value), "{name}"),
            DefaultValue::SameAs(other) => assert!(find_parameter(other).is_some(), "{name}"),
            DefaultValue::Now => {}
        }
    }
}

#[test]
fn schemes_have_their_own_3d_credentials() {
    let known = |version: &str, field: &str| {
        let schemes = "visa mastercard amex diners discover jcb cartebancaire".split(' ');
        schemes
            .filter(|scheme| find_parameter(&format!("threeDSecure.{version}.{scheme}.{field}")).is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!(known("v1", "requestorId").len(), 7);
    assert_eq!(known("v1", "password"), ["visa", "jcb"]);
    for field in ["requestorId", "requestorName"] {
        assert_eq!(known("v2", field), ["visa", "mastercard", "amex", "diners", "jcb", "cartebancaire"]);
    }
}
