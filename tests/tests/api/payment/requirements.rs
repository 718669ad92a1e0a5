//! Parameters that require or exclude each other, that are cut, and that are ignored.

use crate::support::*;

#[tokio::test]
async fn any_customer_parameter_asks_for_both_names() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let alone = shop.pay_by_card(&[("customer.email", "jane@shop.example")]).await?;
    assert_errors(&alone, &["customer.givenName", "customer.surname"]);
    assert_errors(&shop.pay_by_card(&[("customer.givenName", "Jane")]).await?, &["customer.surname"]);
    assert_errors(&shop.pay_by_card(&[("customer.surname", "Jones")]).await?, &["customer.givenName"]);
    let both = [("customer.givenName", "Jane"), ("customer.surname", "Jones"), ("customer.email", "jane@shop.example")];
    assert_result(&shop.pay_by_card(&both).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_entity_may_take_customers_without_names() -> anyhow::Result<()> {
    let paid = nameless_shop().pay_by_card(&[("customer.email", "jane@shop.example")]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["customer"]["email"], "jane@shop.example");
    Ok(())
}

#[tokio::test]
async fn names_are_cut_at_forty_eight_characters() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (given, surname) = ("é".repeat(49), "日".repeat(60));
    let paid = shop.pay_by_card(&[("customer.givenName", &given), ("customer.surname", &surname)]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["customer"]["givenName"], "é".repeat(48));
    assert_eq!(paid.json["customer"]["surname"], "日".repeat(48));
    let whole = "x".repeat(48);
    let paid = shop.pay_by_card(&[("customer.givenName", &whole), ("customer.surname", "J")]).await?;
    assert_eq!(paid.json["customer"]["givenName"], whole);
    Ok(())
}

#[tokio::test]
async fn an_identity_document_has_a_kind_and_a_number() -> anyhow::Result<()> {
    let shop = nameless_shop();
    let (kind, number) =
        (("customer.identificationDocType", "PASSPORT"), ("customer.identificationDocId", "C01X00T47"));
    assert_errors(&shop.pay_by_card(&[kind]).await?, &[number.0]);
    assert_errors(&shop.pay_by_card(&[number]).await?, &[kind.0]);
    assert_result(&shop.pay_by_card(&[kind, number]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_street_is_more_than_digits() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for street in [
        &[("billing.street1", "12")][..],
        &[("billing.street1", "12"), ("billing.street2", "34")],
        &[("billing.street1", "1 2 3")],
        // With a house number, street2 is ignored.
        &[("billing.street1", "12"), ("billing.street2", "Back yard"), ("billing.houseNumber1", "4")],
    ] {
        assert_errors(&shop.pay_by_card(street).await?, &["billing.street1"]);
    }
    assert_errors(&shop.pay_by_card(&[("billing.street2", "34")]).await?, &["billing.street2"]);
    for street in [
        &[("billing.street1", "12th Avenue")][..],
        &[("billing.street1", "12"), ("billing.street2", "Back yard")],
        &[("billing.street1", "High Street"), ("billing.houseNumber1", "12")],
        &[("billing.street1", "大通り1")],
    ] {
        assert_result(&shop.pay_by_card(street).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_second_house_number_follows_a_first() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (street, second) = (("billing.street1", "High Street"), ("billing.houseNumber2", "b"));
    assert_errors(&shop.pay_by_card(&[street, second]).await?, &["billing.houseNumber1"]);
    assert_result(&shop.pay_by_card(&[street, second, ("billing.houseNumber1", "12")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_charge_without_the_shopper_carries_no_code() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let repeated = ("standingInstruction.mode", "REPEATED");
    let by = |source| ("standingInstruction.source", source);
    assert_errors(&shop.pay_by_card(&[repeated, by("MIT")]).await?, &["card.cvv"]);
    // Without a code, the payment is validated against the standing instruction, whose id is required.
    let named = "standingInstruction.initialTransactionId";
    assert_errors(&shop.pay_by_card(&[repeated, by("MIT"), ("card.cvv", "")]).await?, &[named]);
    // One-click: the shopper is present and can be asked for the code.
    assert_result(&shop.pay_by_card(&[repeated, by("CIT")]).await?, 200, "000.100.110");
    // The first payment of a series must prove the possession of the card.
    let initial = ("standingInstruction.mode", "INITIAL");
    assert_errors(&shop.pay_by_card(&[initial, by("CIT"), ("card.cvv", "")]).await?, &["card.cvv"]);
    assert_result(&shop.pay_by_card(&[initial, by("CIT")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_empty_optional_parameter_is_as_good_as_none() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let empty: Vec<(&str, &str)> = [
        "taxAmount",
        "descriptor",
        "merchantTransactionId",
        "merchantInvoiceId",
        "merchantMemo",
        "transactionCategory",
        "testMode",
        "card.holder",
        "card.cvv",
        "customer.email",
        "customer.givenName",
        "customer.birthDate",
        "billing.country",
        "billing.street1",
        "shopperResultUrl",
        "notificationUrl",
        "createRegistration",
        "standingInstruction.mode",
    ]
    .map(|name| (name, ""))
    .to_vec();
    for paid in [shop.pay_by_card(&empty).await?, strict_shop().pay_by_card(&empty).await?] {
        assert_result(&paid, 200, "000.100.110");
        for name in ["customer", "billing", "taxAmount", "merchantTransactionId", "testMode"] {
            assert!(paid.json[name].is_null(), "{name}: {}", paid.text);
        }
    }
    // A custom parameter may be empty.
    let paid = shop.pay_by_card(&[("customParameters[note]", "")]).await?;
    assert_eq!(paid.json["customParameters"]["note"], "");
    Ok(())
}

#[tokio::test]
async fn what_nobody_knows_is_ignored() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let unknown = [
        ("pluginVersion", "4.2.1"),
        ("customer.shoeSize", "44"),
        ("cart.items[0].colour", "blue"),
        ("Amount", "1.00"),
        ("card.Number", "x"),
        ("amount ", "1.00"),
        ("__proto__", "x"),
    ];
    let paid = shop.pay_by_card(&unknown).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["amount"], "92.00");
    for name in ["pluginVersion", "Amount", "customer", "cart", "__proto__"] {
        assert!(paid.json[name].is_null(), "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_strict_entity_refuses_by_name_what_nobody_knows() -> anyhow::Result<()> {
    let shop = strict_shop();
    let unknown = [("pluginVersion", "4.2.1"), ("customer.shoeSize", "44"), ("Amount", "1.00")];
    let names = unknown.map(|(name, _)| name);
    assert_errors(&shop.pay_by_card(&unknown).await?, &names);
    assert_errors(&shop.create_checkout(&unknown).await?, &names);
    let made = shop.create_checkout(&[]).await?;
    assert_errors(&shop.post(&format!("v1/checkouts/{}", made.id()), &unknown).await?, &names);
    // Reported together with other invalid parameters.
    assert_errors(
        &shop.pay_by_card(&[("pluginVersion", "4.2.1"), ("amount", "1.5")]).await?,
        &["amount", "pluginVersion"],
    );
    // Known parameters are accepted.
    let known = [("customParameters[abc]", "1"), ("billing.city", "Leeds"), ("merchantMemo", "a note of mine")];
    assert_result(&shop.pay_by_card(&known).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn browser_data_alone_asks_for_no_names() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let browser = [("customer.browser.language", "de"), ("customer.ip", "198.51.100.7")];
    assert_result(&shop.pay_by_card(&browser).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn values_are_echoed_as_they_were_sent() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let odd = "<script>alert(1)</script> & ' \" \\ %41 + \u{202e} 😀";
    let paid = shop.pay_by_card(&[("customParameters[odd]", odd), ("merchantMemo", odd)]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["customParameters"]["odd"], odd);
    assert_eq!(paid.json["merchantMemo"], odd);
    Ok(())
}

/// Results of an external 3-D Secure authentication.
const RESULTS: [(&str, &str); 4] = [
    ("threeDSecure.eci", "05"),
    ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
    ("threeDSecure.enrollmentStatus", "Y"),
    ("threeDSecure.authenticationStatus", "Y"),
];

#[tokio::test]
async fn an_authentication_made_elsewhere_is_told_in_full_and_never_without_the_shopper() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = shop.pay_by_card(&RESULTS).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["threeDSecure"]["eci"], "05");
    assert_errors(&shop.pay_by_card(&RESULTS[..2]).await?, &[RESULTS[2].0, RESULTS[3].0]);
    assert_errors(&shop.pay_by_card(&RESULTS[2..]).await?, &[RESULTS[0].0, RESULTS[1].0]);
    // The card is not enrolled, so there are no values to send.
    let no = [("threeDSecure.enrollmentStatus", "N"), ("threeDSecure.authenticationStatus", "U")];
    assert_result(&shop.pay_by_card(&no).await?, 200, "000.100.110");
    let absent = [("standingInstruction.mode", "REPEATED"), ("card.cvv", "")];
    assert_errors(&shop.pay_by_card(&[&absent, &RESULTS[..]].concat()).await?, &RESULTS.map(|(name, _)| name));
    let present = [absent[0], ("standingInstruction.source", "CIT")];
    assert_result(&shop.pay_by_card(&[&present, &RESULTS[..]].concat()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_series_that_begins_with_3d_says_how_long_it_lasts_and_how_often_it_charges() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (expiry, frequency, count) = (
        ("standingInstruction.expiry", "2033-12-31"),
        ("standingInstruction.frequency", "30"),
        ("standingInstruction.numberOfInstallments", "12"),
    );
    let series = |kind, more: &[(&'static str, &'static str)]| {
        [&[("standingInstruction.mode", "INITIAL"), ("standingInstruction.type", kind)], &RESULTS[..], more].concat()
    };
    assert_errors(&shop.pay_by_card(&series("RECURRING", &[])).await?, &[expiry.0, frequency.0]);
    assert_result(&shop.pay_by_card(&series("RECURRING", &[expiry, frequency])).await?, 200, "000.100.110");
    assert_errors(&shop.pay_by_card(&series("INSTALLMENT", &[expiry, frequency])).await?, &[count.0]);
    assert_result(&shop.pay_by_card(&series("INSTALLMENT", &[expiry, frequency, count])).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&series("UNSCHEDULED", &[])).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn wishes_that_came_with_a_later_version_need_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let version = |version| ("threeDSecure.version", version);
    for wish in [("threeDSecure.challengeIndicator", "05"), ("threeDSecure.exemptionFlag", "01")] {
        assert_errors(&shop.pay_by_card(&[version("2.1.0"), wish]).await?, &[wish.0]);
        assert_result(&shop.pay_by_card(&[version("2.2.0"), wish]).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_decrypted_wallet_brings_the_card_and_its_3d_data() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let source = ("walletPay.source", "app");
    assert_errors(&shop.pay_by_card(&[source]).await?, &[RESULTS[0].0, RESULTS[1].0]);
    assert_result(&shop.pay_by_card(&[&[source], &RESULTS[..2]].concat()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn days_are_counted_in_the_month_or_in_the_week_and_nothing_ends_before_it_starts() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let days = [("job.dayOfMonth", "15"), ("job.dayOfWeek", "1")];
    assert_errors(&shop.pay_by_card(&days).await?, &["job.dayOfWeek"]);
    assert_result(&shop.pay_by_card(&days[..1]).await?, 200, "000.100.110");
    let times = [("job.startDate", "2027-01-02 00:00:00"), ("job.endDate", "2027-01-01 23:59:59")];
    assert_errors(&shop.pay_by_card(&times).await?, &["job.endDate"]);
    Ok(())
}

#[tokio::test]
async fn every_address_and_every_person_keeps_to_the_same_rules() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for address in ["billing", "shipping", "merchant.billing", "merchant.shipping"] {
        let name = |field: &str| format!("{address}.{field}");
        let (first, second, street) = (name("houseNumber1"), name("houseNumber2"), name("street1"));
        let refused = shop.pay_by_card(&[(&street, "High Street"), (&second, "b")]).await?;
        assert_errors(&refused, &[&first]);
        let taken = shop.pay_by_card(&[(&street, "High Street"), (&second, "b"), (&first, "12")]).await?;
        assert_result(&taken, 200, "000.100.110");
        // Only the street of a billing address must contain a letter.
        let digits = shop.pay_by_card(&[(&street, "12")]).await?;
        if address.ends_with("billing") {
            assert_errors(&digits, &[&street]);
        } else {
            assert_result(&digits, 200, "000.100.110");
        }
    }
    let names = [("customer.givenName", "Jane"), ("customer.surname", "Jones")];
    for person in ["customer", "shipping.customer"] {
        let (kind, number) = (format!("{person}.identificationDocType"), format!("{person}.identificationDocId"));
        let with = |more: &[(&'static str, &'static str)]| [&names[..], more].concat();
        let pay = async |fields: &[(&str, &str)]| shop.pay_by_card(&[&with(&[])[..], fields].concat()).await;
        assert_errors(&pay(&[(&kind, "IDCARD")]).await?, &[&number]);
        assert_errors(&pay(&[(&number, "C01X00T47")]).await?, &[&kind]);
        assert_result(&pay(&[(&kind, "IDCARD"), (&number, "C01X00T47")]).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_bank_account_has_an_iban_or_a_number_and_a_bic_or_a_bank_code() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (iban, number) = (("bankAccount.iban", "DE23100000001234567890"), ("bankAccount.number", "9876543210"));
    let (bic, code) = (("bankAccount.bic", "MARKDEF1100"), ("bankAccount.bankCode", "10000000"));
    let order = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.country", "DE"),
    ];
    let pay = async |account: &[(&str, &str)]| shop.post("v1/payments", &[&order[..], account].concat()).await;
    for account in [[iban, bic], [iban, code], [number, bic], [number, code]] {
        assert_result(&pay(&account).await?, 200, "000.100.110");
    }
    assert_errors(&pay(&[bic]).await?, &[iban.0]);
    assert_errors(&pay(&[code]).await?, &[iban.0]);
    assert_errors(&pay(&[number]).await?, &[bic.0]);
    Ok(())
}

#[tokio::test]
async fn a_type_for_one_brand_is_refused_by_every_request_but_the_making_of_a_checkout() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let wish = ("overridePaymentType[VISA]", "PA");
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), wish];
    let card = [&tillgate_tests::CARD[..], &[wish]].concat();
    let registered = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let checkout = shop.create_checkout(&[wish]).await?;
    assert_result(&checkout, 200, "000.200.100");
    let paid = shop.pay_by_card(&[("paymentType", "PA")]).await?;
    for (path, fields) in [
        ("v1/payments".to_owned(), [&order[..], &tillgate_tests::CARD].concat()),
        (format!("v1/payments/{}", paid.id()), vec![("paymentType", "RV"), wish]),
        (format!("v1/checkouts/{}", checkout.id()), vec![wish]),
        ("v1/registrations".to_owned(), card),
        (format!("v1/registrations/{}/payments", registered.id()), order.to_vec()),
    ] {
        let refused = shop.post(&path, &fields).await?;
        assert_result(&refused, 400, "200.300.404");
        assert_eq!(refused.invalid_parameters(), [wish.0], "{path}: {}", refused.text);
    }
    // From a browser it is ignored, like all parameters that a browser may not set.
    let other = shop.create_checkout(&[]).await?;
    shop.submit_card(other.id(), &[wish]).await?;
    assert_eq!(shop.read_status(other.id()).await?.json["paymentType"], "DB");
    Ok(())
}
