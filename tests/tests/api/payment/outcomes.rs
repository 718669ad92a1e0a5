//! The simulator: documented outcomes, always the same for the same request.

use tillgate_tests::{ApiResponse, TestGateway};

use crate::support::*;

/// Cards of the contract that pay without 3-D Secure: brand, number, code.
const CARDS: [(&str, &str, &str); 17] = [
    ("VISA", "4200000000000000", "123"),
    ("VISA", "4242424242424242", "123"),
    ("MASTER", "5454545454545454", "123"),
    ("MASTER", "5105105105105100", "123"),
    ("AMEX", "377777777777770", "1234"),
    ("DINERS", "36961903000009", "123"),
    ("DINERS", "30082246403846", "123"),
    ("DISCOVER", "6011587918359498", "123"),
    ("JCB", "3541599999092431", "123"),
    ("MAESTRO", "6799851000000032", "123"),
    ("VPAY", "4822000000000000003", "123"),
    ("VISAELECTRON", "4917300800000000", "123"),
    ("DANKORT", "5019717010103742", "123"),
    ("HIPERCARD", "6062825624254001", "123"),
    ("MASTER", "5454545454545454", ""),
    ("MAESTRO", "6799851000000032", ""),
    ("AMEX", "377777777777770", ""),
];

#[tokio::test]
async fn the_test_cards_of_every_brand_pay() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (brand, number, code) in CARDS {
        let paid = shop.pay_by_card(&[("paymentBrand", brand), ("card.number", number), ("card.cvv", code)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["paymentBrand"], brand);
        assert_eq!(paid.json["card"]["bin"], number[..6]);
        assert_eq!(paid.json["card"]["last4Digits"], number[number.len() - 4..]);
    }
    Ok(())
}

#[tokio::test]
async fn a_brand_that_is_not_named_is_found_by_the_number() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (brand, number, code) in CARDS {
        // V PAY and Visa Electron use numbers of Visa, so both brands are correct.
        let found: &[&str] = match brand {
            "VPAY" => &["VISA", "VPAY"],
            "VISAELECTRON" => &["VISA", "VISAELECTRON"],
            "DANKORT" => &["DANKORT", "MAESTRO"],
            "HIPERCARD" => &["HIPERCARD", "MAESTRO", "DISCOVER"],
            _ => &[brand],
        };
        let paid = shop.pay_by_card(&[("paymentBrand", ""), ("card.number", number), ("card.cvv", code)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert!(found.iter().any(|found| paid.json["paymentBrand"] == *found), "{}", paid.text);
    }
    let nobodys = shop.pay_by_card(&[("paymentBrand", ""), ("card.number", "9999999999999995")]).await?;
    assert_errors(&nobodys, &["paymentBrand"]);
    Ok(())
}

#[tokio::test]
async fn the_card_that_simulates_external_mode_answers_so() -> anyhow::Result<()> {
    assert_result(&sandbox_shop().pay_by_card(&[("card.number", "4111111111111111")]).await?, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn a_wrong_check_digit_is_a_decline_of_its_own() -> anyhow::Result<()> {
    let declined = sandbox_shop().pay_by_card(&[("card.number", "4200000000000001")]).await?;
    assert_result(&declined, 400, "100.100.101");
    assert!(declined.id().starts_with("8a"), "{}", declined.text);
    Ok(())
}

#[tokio::test]
async fn a_card_is_good_until_its_month_has_ended_everywhere() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let pay = async |day: jiff::civil::Date, mode: &str| {
        let (month, year) = (format!("{:02}", day.month()), day.year().to_string());
        shop.pay_by_card(&[("card.expiryMonth", &month), ("card.expiryYear", &year), ("testMode", mode)]).await
    };
    // The last time zone is 12 hours behind UTC.
    let last_zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(-12));
    let today = || jiff::Timestamp::now().to_zoned(last_zone.clone()).date();
    // If the test runs past midnight at the end of a month, it is repeated with the new dates.
    loop {
        let before = today();
        let mut answers = Vec::new();
        for (mode, paid) in [("INTERNAL", "000.100.110"), ("EXTERNAL", "000.100.112")] {
            answers.push((pay(before, mode).await?, 200, paid));
            answers.push((pay(before.first_of_month().yesterday()?, mode).await?, 400, "100.100.303"));
        }
        if today() == before {
            answers.iter().for_each(|(answer, status, code)| assert_result(answer, *status, code));
            break;
        }
    }
    for year in ["1999", "2001"] {
        assert_result(&shop.pay_by_card(&[("card.expiryYear", year)]).await?, 400, "100.100.303");
    }
    Ok(())
}

#[tokio::test]
async fn a_sandbox_clock_on_the_first_of_a_month_still_takes_the_card_of_the_month_before() -> anyhow::Result<()> {
    // The new month has begun in UTC, and is not there yet in the last time zone; then it is.
    let now = jiff::Timestamp::now();
    let utc = now.to_zoned(jiff::tz::TimeZone::UTC);
    let next_month = utc.date().first_of_month().saturating_add(jiff::Span::new().months(1));
    let first = next_month.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp();
    for (hours, paid) in [(2, true), (11, true), (13, false)] {
        let shop = TestGateway::shared().create_merchant()?;
        let ahead = first.duration_since(jiff::Timestamp::now()) + jiff::SignedDuration::from_hours(hours);
        shop.advance_clock(&format!("{}s", ahead.as_secs())).await?;
        let (month, year) = (format!("{:02}", utc.month()), utc.year().to_string());
        let expiry = [("card.expiryMonth", month.as_str()), ("card.expiryYear", year.as_str())];
        let answer = shop.pay_by_card(&expiry).await?;
        if paid {
            assert_result(&answer, 200, "000.100.110")
        } else {
            assert_result(&answer, 400, "100.100.303")
        }
        let made = shop.create_checkout(&[]).await?;
        shop.submit_card(made.id(), &expiry).await?;
        let code = if paid { "000.100.110" } else { "100.100.303" };
        assert_eq!(shop.read_status(made.id()).await?.result_code(), code, "{hours} hours after the first in UTC");
    }
    Ok(())
}

#[tokio::test]
async fn a_number_of_another_brand_and_a_code_of_the_wrong_length_are_declined() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    assert_result(&shop.pay_by_card(&[("paymentBrand", "MASTER")]).await?, 400, "100.100.700");
    assert_result(&shop.pay_by_card(&[("card.cvv", "1234")]).await?, 400, "100.100.601");
    let amex = [("paymentBrand", "AMEX"), ("card.number", "377777777777770"), ("card.cvv", "123")];
    assert_result(&shop.pay_by_card(&amex).await?, 400, "100.100.601");
    Ok(())
}

/// Returns the HTTP status of a result code, by the groups of the contract: 200 for success, review and pending,
/// otherwise 400.
fn http_status(code: &str) -> u16 {
    let one_of = |prefixes: &[&str]| prefixes.iter().any(|prefix| code.starts_with(prefix));
    let success = one_of(&["000.000.", "000.100.1", "000.3", "000.6", "000.400.110", "000.400.120"]);
    let review = (one_of(&["000.400.0"]) && !code.starts_with("000.400.03")) || code == "000.400.100";
    let pending = one_of(&["000.200", "800.400.5", "100.400.500"]);
    if success || review || pending { 200 } else { 400 }
}

#[tokio::test]
async fn any_documented_outcome_can_be_asked_for() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let codes = shop.get("v1/resultcodes").await?;
    let codes = codes.json["resultCodes"].as_array().cloned().unwrap_or_default();
    assert_eq!(codes.len(), 671);
    for known in codes {
        let code = known["code"].as_str().unwrap_or_default();
        let paid = shop.pay_by_card(&[("customParameters[forceResultCode]", code)]).await?;
        assert_result(&paid, http_status(code), code);
        assert_eq!(paid.json["result"]["description"], known["description"]);
        assert_eq!(paid.json["customParameters"]["forceResultCode"], code);
        assert!(!paid.id().is_empty(), "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_outcome_that_nobody_documented_is_told_as_such() -> anyhow::Result<()> {
    for wish in ["000.000.001", "1", "800.100.151x", "999.999.9999"] {
        let paid = sandbox_shop().pay_by_card(&[("customParameters[forceResultCode]", wish)]).await?;
        assert_result(&paid, 400, "600.200.810");
    }
    Ok(())
}

#[tokio::test]
async fn the_same_request_has_the_same_outcome_every_time() -> anyhow::Result<()> {
    fn comparable_body(answer: &ApiResponse) -> serde_json::Value {
        let (status, mut body) = comparable_response(answer);
        body.remove("id");
        body.remove("descriptor");
        body.insert("status".to_owned(), status.into());
        body.into()
    }
    let shop = sandbox_shop();
    let requests: [&[(&str, &str)]; 5] = [
        &[],
        &[("card.number", "4200000000000001")],
        &[("card.expiryYear", "2001")],
        &[("customParameters[forceResultCode]", "100.400.500")],
        &[("paymentBrand", "MASTER")],
    ];
    for request in requests {
        let first = shop.pay_by_card(request).await?;
        for _ in 0..5 {
            let again = shop.pay_by_card(request).await?;
            assert_eq!(comparable_body(&again), comparable_body(&first));
            assert_ne!(again.id(), first.id());
        }
    }
    Ok(())
}

#[tokio::test]
async fn external_test_mode_goes_to_an_acquirers_host() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = shop.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
    assert_result(&paid, 200, "000.100.112");
    // The simulator's forced result code has no effect there.
    let forced =
        shop.pay_by_card(&[("testMode", "EXTERNAL"), ("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_result(&forced, 200, "000.100.112");
    assert_result(&shop.pay_by_card(&[("testMode", "INTERNAL")]).await?, 200, "000.100.110");
    assert_errors(&shop.pay_by_card(&[("testMode", "internal")]).await?, &["testMode"]);
    Ok(())
}

#[tokio::test]
async fn a_live_entity_takes_no_test_mode() -> anyhow::Result<()> {
    let shop = live_shop();
    for mode in ["INTERNAL", "EXTERNAL"] {
        for refused in
            [shop.pay_by_card(&[("testMode", mode)]).await?, shop.create_checkout(&[("testMode", mode)]).await?]
        {
            assert_result(&refused, 400, "600.200.701");
            assert_eq!(refused.invalid_parameters(), ["testMode"]);
        }
    }
    let made = shop.create_checkout(&[]).await?;
    let update = shop.post(&format!("v1/checkouts/{}", made.id()), &[("testMode", "INTERNAL")]).await?;
    assert_result(&update, 400, "600.200.701");
    Ok(())
}

#[tokio::test]
async fn a_live_entity_without_a_connector_takes_no_money_and_simulates_none() -> anyhow::Result<()> {
    let shop = live_shop();
    let declined = shop.pay_by_card(&[]).await?;
    assert_result(&declined, 400, "600.200.201");
    assert!(declined.json["amount"].is_null(), "{}", declined.text);
    let forced = shop.pay_by_card(&[("customParameters[forceResultCode]", "000.000.000")]).await?;
    assert_result(&forced, 400, "600.200.201");
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[("testMode", "INTERNAL")]).await?;
    assert_result(&shop.read_status(made.id()).await?, 400, "600.200.201");
    Ok(())
}

#[tokio::test]
async fn a_test_card_is_declined_in_the_form_for_each_reason() -> anyhow::Result<()> {
    let merchant = sandbox_shop();
    for (number, code, acquirer) in [
        ("4200000000005512", "800.100.152", "05"),
        ("4200000000005520", "800.100.151", "14"),
        ("4200000000005538", "800.100.153", "82"),
        ("4200000000005546", "800.100.155", "51"),
        ("4200000000005553", "800.100.157", "54"),
        ("4200000000005561", "800.100.159", "43"),
        ("4200000000005579", "800.100.160", "62"),
        ("4200000000005587", "800.100.162", "61"),
        ("4200000000005595", "800.100.165", "41"),
    ] {
        let checkout = merchant.create_checkout(&[]).await?;
        merchant.submit_card(checkout.id(), &[("card.number", number)]).await?;
        let status = merchant.read_status(checkout.id()).await?;
        assert_eq!(status.result_code(), code, "{number}: {}", status.text);
        assert_eq!(status.json["resultDetails"]["AcquirerResponse"], acquirer, "{number}: {}", status.text);
        // Another card pays the same checkout.
        merchant.submit_card(checkout.id(), &[]).await?;
        assert_eq!(merchant.read_status(checkout.id()).await?.result_code(), "000.100.110");
    }
    Ok(())
}
