//! Formats of accounts other than cards, shipping and merchant addresses, the cart, flights, risk and schedules.

use super::{
    ADDRESSES, BAD_PHONES, Boundary, DAYS, FLAGS, PHONES, boundary, digits_boundary, email_boundary, owned_values,
    text_boundary,
};

/// Returns values of a text of `min` to `max` characters that may have several lines. Refused are shorter and longer
/// texts and a control character.
fn lines_boundary(names: &'static [&'static str], min: usize, max: usize) -> Boundary {
    let short = (min > 1).then(|| "é".repeat(min - 1));
    let bad = ["é".repeat(max + 1), "bell\u{7}bell".to_owned()];
    Boundary {
        names,
        good: vec!["é".repeat(min), "é".repeat(max), "two\nlines".to_owned()],
        bad: short.into_iter().chain(bad).collect(),
    }
}

/// Returns values of `min` to `max` ASCII letters and digits. Refused are shorter and longer texts, and a text that
/// ends with each of `refused`.
fn alphanumeric_boundary(names: &'static [&'static str], min: usize, max: usize, refused: &[&str]) -> Boundary {
    let short = (min > 1).then(|| "a".repeat(min - 1));
    let wrong = refused.iter().map(|character| format!("{}{character}", "a".repeat(min.saturating_sub(1))));
    Boundary {
        names,
        good: vec!["a".repeat(min), "9".repeat(max), "Z".repeat(max)],
        bad: short.into_iter().chain(["a".repeat(max + 1)]).chain(wrong).collect(),
    }
}

/// Returns values of a telephone number of `min` to 26 characters.
fn phone_boundary(names: &'static [&'static str], min: usize) -> Boundary {
    let mut phone = boundary(names, &[PHONES.0, PHONES.1], &BAD_PHONES);
    phone.good.extend(["1".repeat(min), "1".repeat(26)]);
    phone.bad.extend(["1".repeat(min - 1), "1".repeat(27)]);
    phone
}

const SYMBOLS: [&str; 4] = ["-", "x x", "_", "ä"];
const MOMENTS: (&[&str], &[&str]) = (
    &["2026-11-21 00:00:00", "2024-02-29 23:59:59"],
    &["2026-11-21", "2026-11-21 24:00:00", "2026-11-21 23:60:00", "2025-02-29 10:00:00", "2026-11-21 10:00", "x"],
);
const MONEY: (&[&str], &[&str]) =
    (&["1", "0.00", "9999999999.99"], &["1.", "1.5", "1.555", "-1.00", "+1.00", "1,50", "10000000000.00", "1e3", "٣"]);
const LETTERS: (&[&str], &[&str]) = (&["DE", "US", "JP"], &["D", "DEU", "D1", "ZZ", "12"]);
const UNITS: (&[&str], &[&str]) =
    (&["YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"], &["year", "CENTURY", "DAYS"]);

/// Returns all limits in this module.
pub(super) fn boundaries() -> Vec<Boundary> {
    let mut boundaries = account_boundaries();
    boundaries.extend(shipping_boundaries());
    boundaries.extend(merchant_boundaries());
    boundaries.extend(cart_boundaries());
    boundaries.extend(airline_boundaries());
    boundaries.extend(risk_and_schedule_boundaries());
    boundaries
}

/// Returns the limits of accounts other than cards, and of references to other payments.
#[rustfmt::skip] // keeps each row on one line
fn account_boundaries() -> Vec<Boundary> {
    let token = Boundary {
        names: &["walletPay.paymentToken"],
        good: owned_values(&["{\"data\":\"a+/=\"}", "x"]).into_iter().chain(["x".repeat(16_384)]).collect(),
        bad: owned_values(&["ä", "bell\u{7}"]),
    };
    vec![
        token,
        alphanumeric_boundary(&["referencedPaymentId"], 32, 32, &SYMBOLS),
        boundary(&["walletPay.source"], &["web", "app"], &["WEB", "phone"]),
        text_boundary(&["virtualAccount.accountId"], 1, 100),
        text_boundary(&["bankAccount.holder"], 4, 128),
        text_boundary(&["bankAccount.bankName"], 1, 255),
        alphanumeric_boundary(&["bankAccount.number"], 3, 64, &SYMBOLS),
        boundary(&["bankAccount.iban"],
            &["DE89370400440532013000", "NO9386011117947", "MT84MALT011000012345MTLCAST001S"],
            &["DE88370400440532013000", "DE8937040044053201300", "DE89 3704 0044 0532 0130 00", "RU0304452522540817810538091310419", "89370400440532013000"]),
        alphanumeric_boundary(&["bankAccount.bankCode"], 1, 12, &SYMBOLS),
        boundary(&["bankAccount.bic"], &["DEUTDEFF", "DEUTDEFF500"], &["DEUTDEF", "DEUTDEFF5", "DEUTDEFF50", "DEUTDEFF5000", "DEUTZZFF", "DEUT-EFF"]),
        boundary(&["bankAccount.country"], LETTERS.0, LETTERS.1),
        alphanumeric_boundary(&["bankAccount.mandate.id"], 1, 35, &SYMBOLS),
        alphanumeric_boundary(&["bankAccount.mandate.reference"], 1, 32, &SYMBOLS),
        boundary(&["bankAccount.mandate.dateOfSignature", "transactionDueDate"], DAYS.0, DAYS.1),
        boundary(&["recurringMigration.paymentType"], &["DB", "CD", "PA"], &["RF", "db"]),
        boundary(&["recurringMigration.amount"], &["1", "12345678", "12345678.90"], &["123456789", "1.5", "-1"]),
        boundary(&["recurringMigration.requestTimestamp"], MOMENTS.0, MOMENTS.1),
        text_boundary(&["recurringMigration.connectorTxId1", "recurringMigration.connectorTxId2", "recurringMigration.connectorTxId3"], 1, 128),
    ]
}

/// Returns the limits of shipping, to the customer and to the merchant.
#[rustfmt::skip] // keeps each row on one line
fn shipping_boundaries() -> Vec<Boundary> {
    const METHODS: &[&str] = &[
        "LOWEST_COST", "CARRIER_DESIGNATED_BY_CUSTOMER", "ELECTRONIC_DELIVERY", "GROUND", "INTERNATIONAL", "MILITARY",
        "NEXT_DAY_OVERNIGHT", "OTHER", "STORE_PICKUP", "SAME_DAY_SERVICE", "TWO_DAY_SERVICE", "THREE_DAY_SERVICE",
        "PUDO", "EXPEDITED",
    ];
    let towns = Boundary {
        names: &["shipping.city", "merchant.shipping.city"],
        good: owned_values(&["Ulm", "New York", "Frankfurt (Oder)", "東京"]).into_iter().chain(["é".repeat(80)]).collect(),
        bad: owned_values(&["12345", "a_b", "line\nbreak"]).into_iter().chain(["é".repeat(81)]).collect(),
    };
    let states = Boundary {
        names: &["shipping.state", "merchant.shipping.state"],
        good: owned_values(&["NY", "N.S.W. 2", "Baden-Württemberg"]).into_iter().chain(["x".repeat(50)]).collect(),
        bad: owned_values(&["a_b", ".", "line\nbreak"]).into_iter().chain(["x".repeat(51)]).collect(),
    };
    vec![
        // recipient of the goods
        text_boundary(&["shipping.customer.merchantCustomerId", "shipping.customer.ip", "shipping.customer.merchantReference"], 1, 255),
        boundary(&["shipping.customer.givenName", "shipping.customer.surname"], &["J", "A name that is longer than forty-eight characters is cut, not refused"], &["line\nbreak"]),
        text_boundary(&["shipping.customer.middleName"], 2, 50),
        boundary(&["shipping.customer.sex"], &["M", "F"], &["m", "X"]),
        boundary(&["shipping.customer.birthDate"], DAYS.0, DAYS.1),
        phone_boundary(&["shipping.customer.phone"], 8),
        phone_boundary(&["shipping.customer.mobile", "shipping.phone", "shipping.mobile", "merchant.shipping.phone", "merchant.shipping.mobile"], 6),
        text_boundary(&["shipping.customer.workPhone", "shipping.workPhone", "merchant.shipping.workPhone"], 1, 25),
        email_boundary(&["shipping.customer.email"]),
        text_boundary(&["shipping.email", "merchant.shipping.email"], 6, 128),
        text_boundary(&["shipping.customer.companyName", "shipping.companyName", "merchant.shipping.companyName"], 1, 60),
        boundary(&["shipping.customer.identificationDocType"], &["IDCARD", "PASSPORT", "TAXSTATEMENT"], &["idcard", "DRIVER"]),
        text_boundary(&["shipping.customer.identificationDocId"], 8, 64),
        boundary(&["shipping.customer.salutation"], &["MR", "MRS", "MS", "MX"], &["Mr", "DR"]),
        boundary(&["shipping.customer.language"], &["DE", "EN"], &["de", "D", "DEU"]),
        boundary(&["shipping.customer.category"], &["INDIVIDUAL", "COMPANY"], &["individual", "CLUB"]),
        boundary(&["shipping.customer.status"], &["NEW", "EXISTING"], &["new", "OLD"]),
        text_boundary(&["shipping.customer.browser.acceptHeader", "shipping.customer.browser.userAgent"], 1, 2048),
        boundary(&["shipping.customer.browser.language"], &["d", "de-AT"], &["zh-Hant12", "de_AT"]),
        digits_boundary(&["shipping.customer.browser.screenHeight", "shipping.customer.browser.screenWidth"], 1, 6),
        boundary(&["shipping.customer.browser.timezone"], &["0", "-60", "840"], &["-", "1.5", "123456"]),
        boundary(&["shipping.customer.browser.javaEnabled"], FLAGS.0, FLAGS.1),
        digits_boundary(&["shipping.customer.browser.screenColorDepth"], 1, 2),
        digits_boundary(&["shipping.customer.browser.challengeWindow"], 1, 2),
        // destination and origin of the goods
        text_boundary(&["shipping.street1", "shipping.street2", "shipping.houseNumber1", "shipping.houseNumber2", "shipping.warehouse"], 1, 100),
        text_boundary(&["merchant.shipping.street1", "merchant.shipping.street2", "merchant.shipping.houseNumber1", "merchant.shipping.houseNumber2", "merchant.shipping.warehouse"], 1, 100),
        towns,
        states,
        alphanumeric_boundary(&["shipping.postcode", "merchant.shipping.postcode"], 1, 16, &["_", ".", "ä"]),
        boundary(&["shipping.country", "merchant.shipping.country"], LETTERS.0, LETTERS.1),
        boundary(&["shipping.method", "merchant.shipping.method"], METHODS, &["ground", "PIGEON"]),
        boundary(&["shipping.cost", "merchant.shipping.cost"], MONEY.0, MONEY.1),
        lines_boundary(&["shipping.comment", "merchant.shipping.comment"], 1, 160),
        boundary(&["shipping.expectedDate", "merchant.shipping.expectedDate"], DAYS.0, DAYS.1),
        text_boundary(&["shipping.logisticsProvider", "shipping.trackingNumber", "shipping.returnTrackingNumber", "shipping.normalized", "shipping.validationStatus"], 1, 255),
        text_boundary(&["merchant.shipping.logisticsProvider", "merchant.shipping.trackingNumber", "merchant.shipping.returnTrackingNumber", "merchant.shipping.normalized", "merchant.shipping.validationStatus"], 1, 255),
        boundary(&["shipping.preference", "merchant.shipping.preference"], &["GET_FROM_FILE", "NO_SHIPPING", "SET_PROVIDED_ADDRESS"], &["no_shipping", "ANY"]),
        text_boundary(&["shipping.middleName", "merchant.shipping.middleName"], 1, 255),
        boundary(&["shipping.type", "merchant.shipping.type"], &["RETURN", "SHIPMENT"], &["return", "GIFT"]),
    ]
}

/// Returns the limits of corporate and merchant data.
#[rustfmt::skip] // keeps each row on one line
fn merchant_boundaries() -> Vec<Boundary> {
    vec![
        text_boundary(&["corporate.name", "corporate.suite"], 1, 30),
        text_boundary(&["corporate.description"], 1, 160),
        text_boundary(&["corporate.street", "corporate.address"], 1, 100),
        text_boundary(&["corporate.city"], 1, 80),
        text_boundary(&["corporate.state"], 1, 50),
        text_boundary(&["corporate.postCode"], 1, 16),
        text_boundary(&["corporate.postboxNumber"], 1, 15),
        boundary(&["corporate.purchase"], &["Y", "N"], &["y", "YES"]),
        digits_boundary(&["corporate.phone", "corporate.fax"], 1, 25),
        text_boundary(&["merchant.name", "merchant.city", "merchant.street", "merchant.submerchantId"], 1, 100),
        alphanumeric_boundary(&["merchant.postcode"], 1, 16, &["_", "x x", "ä"]),
        alphanumeric_boundary(&["merchant.state"], 1, 50, &SYMBOLS),
        boundary(&["merchant.country", "merchant.billing.country"], &["DE", "US", "JP"], &["D", "DEU", "D1", "ZZ"]),
        alphanumeric_boundary(&["merchant.phone"], 0, 25, &["(", "x x", "_", "ä"]),
        alphanumeric_boundary(&["merchant.mcc"], 0, 4, &SYMBOLS),
        lines_boundary(&["merchant.data[key]"], 0, 2048),
        text_boundary(&["merchant.websiteId"], 0, 255),
        text_boundary(&["merchant.billing.street1", "merchant.billing.street2", "merchant.billing.houseNumber1", "merchant.billing.houseNumber2"], 1, 100),
        text_boundary(&["merchant.billing.city"], 1, 48),
        text_boundary(&["merchant.billing.state"], 1, 10),
        text_boundary(&["merchant.billing.postcode"], 1, 16),
        text_boundary(&["merchant.billing.normalized", "merchant.billing.validationStatus", "merchant.billing.givenName", "merchant.billing.surname", "merchant.billing.middleName"], 1, 255),
        text_boundary(&["merchant.billing.companyName"], 1, 60),
        text_boundary(&["merchant.billing.phone", "merchant.billing.workPhone"], 1, 25),
        phone_boundary(&["merchant.billing.mobile"], 6),
        text_boundary(&["merchant.billing.email"], 6, 128),
    ]
}

/// Returns the limits of a cart's items, recipients and payments.
#[rustfmt::skip] // keeps each row on one line
fn cart_boundaries() -> Vec<Boundary> {
    vec![
        text_boundary(&["cart.items[0].name", "cart.items[0].merchantItemId", "cart.items[0].sku", "cart.items[0].giftMessage", "cart.items[0].shippingMethod", "cart.items[0].shippingInstructions", "cart.items[0].shippingTrackingNumber", "cart.items[0].originalPrice"], 1, 255),
        boundary(&["cart.items[0].quantity"], &["1", "0.5", "12.375"], &["1.2345", "1.", ".5", "-1", "1,5", "x"]),
        boundary(&["cart.items[0].type"], &["PHYSICAL", "DIGITAL", "MIXED", "ANONYMOUS_DONATION", "AUTHORITIES_PAYMENT"], &["digital", "GIFT"]),
        boundary(&["cart.items[0].currency", "cart.payments[0].currency"], &["EUR", "JPY"], &["eur", "EU", "EURO", "ZZZ"]),
        lines_boundary(&["cart.items[0].description"], 1, 2048),
        boundary(&["cart.items[0].price", "cart.items[0].totalAmount", "cart.items[0].taxAmount", "cart.items[0].totalTaxAmount", "cart.items[0].shipping", "cart.items[0].discount", "cart.items[0].totalDiscountAmount", "cart.payments[0].amount"], MONEY.0, MONEY.1),
        boundary(&["cart.items[0].tax"], &["0", "19", "7.5", "99.99", "100", "100.00"], &["100.01", "101", "7.555", "-1", "19%", "7,5"]),
        boundary(&["cart.items[0].quantityUnit"], &["M", "CM", "KG", "G", "COUNT"], &["kg", "MM"]),
        boundary(&["cart.items[0].productUrl", "cart.items[0].imageUrl"], ADDRESSES.0, ADDRESSES.1),
        text_boundary(&["cart.items[0].productCode", "cart.items[0].partNumber", "cart.items[0].vatReferenceNumber"], 1, 30),
        boundary(&["cart.items[0].itemNumber"], &["1", "999"], &["0", "1000", "-1", "x"]),
        text_boundary(&["cart.items[0].recipient.salutation"], 1, 5),
        text_boundary(&["cart.items[0].recipient.firstName", "cart.items[0].recipient.lastName"], 1, 48),
        text_boundary(&["cart.items[0].recipient.middleName", "cart.items[0].recipient.state"], 1, 50),
        text_boundary(&["cart.items[0].recipient.apartment", "cart.items[0].recipient.street", "cart.items[0].recipient.address"], 1, 100),
        text_boundary(&["cart.items[0].recipient.city"], 1, 80),
        text_boundary(&["cart.items[0].recipient.postcode"], 1, 16),
        boundary(&["cart.items[0].recipient.country"], &["DE", "276"], &["D", "DEU", "27", "2760", "ZZ"]),
        digits_boundary(&["cart.items[0].recipient.phone"], 1, 25),
        text_boundary(&["cart.items[0].recipient.email"], 1, 60),
        text_boundary(&["cart.payments[0].name", "cart.payments[0].brand"], 1, 255),
        boundary(&["cart.payments[0].type"], &["GIFTCARD", "PROMOTION"], &["giftcard", "CASH"]),
        boundary(&["cart.payments[0].status"], &["pending", "authorized", "captured"], &["PENDING", "open"]),
        boundary(&["cart.payments[0].primary"], FLAGS.0, FLAGS.1),
    ]
}

/// Returns the limits of flight data.
#[rustfmt::skip] // keeps each row on one line
fn airline_boundaries() -> Vec<Boundary> {
    vec![
        boundary(&["airline.totalTaxAmount", "airline.totalFeesAmount", "airline.totalFareAmount"], MONEY.0, MONEY.1),
        boundary(&["airline.ticketIssueDate", "airline.passengers[0].legs[0].departureDate", "airline.passengers[0].legs[0].arrivalDate"], DAYS.0, DAYS.1),
        text_boundary(&["airline.ticketIssueAddress", "airline.thirdPartyBooking", "airline.bookingtype", "airline.ticketDeliveryMethod", "airline.bookingRefNum", "airline.agentName", "airline.agentCode"], 1, 255),
        text_boundary(&["airline.passengers[0].type", "airline.passengers[0].name", "airline.passengers[0].ticketRestricted", "airline.passengers[0].ticketNumber", "airline.passengers[0].status", "airline.passengers[0].phone", "airline.passengers[0].frequentFlyerNumber", "airline.passengers[0].email", "airline.passengers[0].dob", "airline.passengers[0].checkDigit"], 1, 255),
        boundary(&["airline.passengers[0].legs[0].taxAmount", "airline.passengers[0].legs[0].feesAmount", "airline.passengers[0].legs[0].fareAmount", "airline.passengers[0].legs[0].departureTaxAmount"], MONEY.0, MONEY.1),
        text_boundary(&["airline.passengers[0].legs[0].ticketNumber", "airline.passengers[0].legs[0].stopOverAllowed", "airline.passengers[0].legs[0].restrictions", "airline.passengers[0].legs[0].flightNumber", "airline.passengers[0].legs[0].fareBasis", "airline.passengers[0].legs[0].exchangeTicketNum"], 1, 255),
        text_boundary(&["airline.passengers[0].legs[0].departureCountry", "airline.passengers[0].legs[0].departureAirport", "airline.passengers[0].legs[0].departureTime", "airline.passengers[0].legs[0].arrivalCountry", "airline.passengers[0].legs[0].arrivalAirport", "airline.passengers[0].legs[0].arrivalTime"], 1, 255),
        text_boundary(&["airline.passengers[0].legs[0].airlineName", "airline.passengers[0].legs[0].airlineCode", "airline.passengers[0].legs[0].couponNumber", "airline.passengers[0].legs[0].classOfService", "airline.passengers[0].legs[0].carrierCode"], 1, 255),
        text_boundary(&["airline.passengers[0].legs[0].timeToDeparture"], 1, 10),
    ]
}

/// Returns the limits of query dates, gift cards, risk data, schedules and chargebacks.
#[rustfmt::skip] // keeps each row on one line
fn risk_and_schedule_boundaries() -> Vec<Boundary> {
    const OCCASIONS: &[&str] = &[
        "ANNIVERSARY", "BIRTHDAY", "CONGRATULATIONS", "APRIL_FOOLS_DAY", "EASTER", "FATHERS_DAY", "GRADUATION",
        "HOLIDAY", "SEASONS_GREETINGS", "PASSOVER", "KWANZAA", "HALLOWEEN", "MOTHERS_DAY", "NEW_YEARS_DAY",
        "BOSSES_DAY", "ST_PATRICKS_DAY", "SWEETEST_DAY", "CHRISTMAS", "BABY_SHOWER", "THANKSGIVING", "OTHER",
        "VALENTINES_DAY", "WEDDING", "SECRETARYS_DAY", "CHINESE_NEW_YEAR", "HANUKKAH", "CELEBRATE_FALL",
        "GRANDPARENTS_DAY", "INDEPENDENCE_DAY",
    ];
    vec![
        boundary(&["date.from", "date.to"], DAYS.0, DAYS.1),
        lines_boundary(&["giftCard.message"], 2, 160),
        boundary(&["giftCard.type"], OCCASIONS, &["birthday", "MONDAY"]),
        text_boundary(&["risk.channelId", "risk.serviceId", "risk.brand"], 1, 255),
        boundary(&["risk.orderTimestamp", "job.startDate", "job.endDate"], MOMENTS.0, MOMENTS.1),
        lines_boundary(&["risk.parameters[a.b_1]"], 0, 2048),
        text_boundary(&["risk.merchantWebsite"], 1, 60),
        text_boundary(&["risk.accountToken", "job.name"], 1, 64),
        boundary(&["job.year"], &["*", "2026", "2026,2027"], &["26", "20266", "2026,", "every"]),
        boundary(&["job.month"], &["*", "1", "01", "1,12"], &["001", "0", "01-05", "01,", "**", "xx", "00", "13", "01,13"]),
        boundary(&["job.dayOfMonth"], &["*", "?", "1", "01", "1,31"], &["001", "0", "01-05", "01,", "**", "xx", "00", "32"]),
        boundary(&["job.hour"], &["*", "0", "00", "0,23"], &["000", "?", "01-05", "01,", "**", "xx", "24"]),
        boundary(&["job.minute", "job.second"], &["*", "0", "00", "0,59"], &["000", "?", "01-05", "01,", "**", "xx", "60"]),
        boundary(&["job.dayOfWeek"], &["*", "1", "01", "1,5"], &["11", "001", "MON", "1;5", "8"]),
        boundary(&["job.noticeUnit", "job.durationUnit"], UNITS.0, UNITS.1),
        boundary(&["job.noticeNumber", "job.durationNumber"], &["0", "12"], &["-1", "1.5", "x"]),
        boundary(&["job.noticeCallable"], &["ANYTIME", "DURATION_END"], &["anytime", "NEVER"]),
        boundary(&["job.expression"], &["0 0 1 * *", "0 0 6 15 * ?"], &["daily", "0 0 1 *", "0 0 1 * ;"]),
        boundary(&["chargebackResultCode"], &["000.100.200", "000.100.299"], &["000.100.100", "000.100.20", "000.100.2000"]),
    ]
}
