//! Parameters that a browser may set. The tests post every parameter of the catalogue from the form.

use tillgate_shared::format::Format;
use tillgate_shared::parameter::{Parameter, ParameterGroup, all_parameters};
use tillgate_tests::TestGateway;

use crate::request::catalogue::repeated_value;
use crate::support::*;

/// Returns a name that matches the pattern, as a request contains it.
pub fn concrete_name(pattern: &str) -> String {
    pattern.replace("[n]", "[0]").replace("[name]", "[SHOPPER_probe]").replace("[brand]", "[VISA]")
}

/// Returns a valid value of a format. `number` makes the values of two rows differ if the format has room for it,
/// `variant` (0 or 1) two values of one row. Panics if no sample is valid.
pub fn sample_value(format: Format, number: usize, variant: usize) -> String {
    let unique = format!("probe{number:03}{variant}");
    // An identifiable word if the format accepts one, otherwise a typical value of the format.
    if let Some(longer) = ["", "-in-a-longer-text-of-enough-letters!"]
        .iter()
        .map(|more| format!("{unique}{more}"))
        .find(|text| allows_value(format, text))
    {
        return longer;
    }
    if let Format::OneOf(words) = format {
        return words[variant.min(words.len() - 1)].to_owned();
    }
    let (digit, letter) = (["3", "4"][variant], ["d", "f"][variant]);
    let mut choices = vec![format!("https://{unique}.example/"), format!("{unique}@shop.example")];
    choices.extend(
        [
            ["true", "false"],
            ["0.07", "0.08"],
            ["USD", "GBP"],
            ["DE", "FR"],
            ["2030-01-31", "2031-01-31"],
            ["2.1.0", "2.2.0"],
            ["+49 170 7777777", "+49 170 8888888"],
            ["DE23100000001234567890", "DE89370400440532013000"],
            ["MARKDEF1100", "COBADEFFXXX"],
            ["2030-01-31 12:00:00", "2031-01-31 12:00:00"],
            ["0 0 12 * * ?", "0 0 13 * * ?"],
            ["000.100.201", "000.100.202"],
            ["Leeds", "York"],
            ["-60", "60"],
            ["VISA", "VISA MASTER"],
            ["05", "06"],
            ["2034", "2035"],
        ]
        .map(|choice| choice[variant].to_owned()),
    );
    choices.extend(
        (1..=64).flat_map(|length| [digit.repeat(length), letter.repeat(length), letter.to_uppercase().repeat(length)]),
    );
    match choices.into_iter().find(|choice| allows_value(format, choice)) {
        Some(choice) => choice,
        None => panic!("no sample for {format:?}"),
    }
}

fn allows_value(format: Format, value: &str) -> bool {
    format.check_value(value).is_ok()
}

/// Returns true if a response repeats the row's value under its own name.
fn is_repeated(row: &Parameter) -> bool {
    // Not repeated: the card is shown in a reduced form, technical fields are dropped, the gateway determines the
    // address, a newly entered card takes precedence over a stored one, and the gateway itself sets the id of a
    // standing instruction. The second line of a street is ignored beside a house number.
    !matches!(row.group, ParameterGroup::Card | ParameterGroup::Form)
        && !row.secret
        && !row.name.ends_with(".street2")
        && !matches!(row.name, "customer.ip" | "registrationId" | "standingInstruction.initialTransactionId")
}

/// Returns every parameter of the catalogue, except the brand and those of cards, with its sample value, and a valid
/// card.
fn all_form_fields(variant: usize) -> Vec<(String, String)> {
    let rows =
        all_parameters().enumerate().filter(|(_, row)| row.group != ParameterGroup::Card && row.name != "paymentBrand");
    let mut fields: Vec<_> =
        rows.map(|(n, row)| (concrete_name(row.name), sample_value(row.format, n, variant))).collect();
    fields.extend(tillgate_tests::CARD.map(|(name, value)| (name.to_owned(), value.to_owned())));
    fields
}

fn borrow_fields(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[tokio::test]
async fn a_form_that_posts_every_parameter_sets_what_it_may_and_moves_nothing_else() -> anyhow::Result<()> {
    // Browsers of this entity may store accounts and set the customer id.
    let shop = TestGateway::shared().create_merchant_with(&["--browser-registrations", "--browser-customer-ids"])?;
    let own = [
        ("merchantTransactionId", "order-4711"),
        ("descriptor", "SPRING SALE"),
        ("customParameters[basket]", "7"),
        ("notificationUrl", "https://shop.example/notify"),
    ];
    let made = shop.create_checkout(&own).await?;
    let fields = all_form_fields(0);
    let submitted = shop.submit_card(made.id(), &borrow_fields(&fields)).await?;
    assert_result(&submitted, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;

    // Approved in test mode INTERNAL, although the form sent EXTERNAL.
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["amount"], "92.00");
    assert_eq!(status.json["currency"], "EUR");
    assert_eq!(status.json["paymentType"], "DB");
    assert_eq!(status.json["merchantTransactionId"], "order-4711");
    assert!(status.json["descriptor"].as_str().is_some_and(|text| text.ends_with(" SPRING SALE")), "{}", status.text);
    assert_eq!(status.json["customParameters"]["basket"], "7");
    assert_eq!(status.json["notificationUrl"], "https://shop.example/notify");
    assert_eq!(status.json["customer"]["ip"], "127.0.0.1");

    let (mut set, mut refused) = (0, 0);
    for (number, row) in all_parameters().enumerate().filter(|(_, row)| is_repeated(row) && row.name != "paymentBrand")
    {
        let (name, value) = (concrete_name(row.name), sample_value(row.format, number, 0));
        if row.browser {
            assert_eq!(*repeated_value(&status, &name), value, "{name} is lost: {}", status.text);
            set += 1;
        } else {
            assert_ne!(*repeated_value(&status, &name), value, "{name} was set by the browser: {}", status.text);
            refused += 1;
        }
    }
    assert!(set > 40 && refused > 12, "{set} set, {refused} refused");
    Ok(())
}

#[tokio::test]
async fn what_belongs_to_the_merchant_is_not_settable_whatever_the_catalogue_says() -> anyhow::Result<()> {
    // A second list, copied from the contract, to detect rows of the catalogue that are marked wrong.
    const NEVER: [(&str, &str); 24] = [
        ("amount", "0.07"),
        ("taxAmount", "0.07"),
        ("currency", "USD"),
        ("paymentType", "PA"),
        ("overridePaymentType[VISA]", "PA"),
        ("testMode", "EXTERNAL"),
        ("descriptor", "probe-descriptor"),
        ("merchantTransactionId", "probe-transaction"),
        ("merchantInvoiceId", "probe-invoice"),
        ("merchantMemo", "probe-memo"),
        ("transactionCategory", "MOTO"),
        ("notificationUrl", "https://probe.example/notify"),
        ("shopperResultUrl", "https://probe.example/result"),
        ("merchant.name", "probe-name"),
        ("merchant.mcc", "9999"),
        ("merchant.data[probe]", "probe-data"),
        ("threeDSecure.eci", "05"),
        ("threeDSecure.verificationId", "probeprobeprobeprobeprobepr="),
        ("risk.amount", "0.07"),
        ("customParameters[probe]", "probe-custom"),
        ("customParameters[shopper_probe]", "probe-lowercase"),
        ("customParameters[forceResultCode]", "000.100.112"),
        ("customer.ip", "203.0.113.9"),
        ("result.code", "000.000.000"),
    ];
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    assert_result(&shop.submit_card(made.id(), &NEVER).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert!(!status.text.contains("probe") && !status.text.contains("203.0.113.9"), "{}", status.text);
    assert_eq!((&status.json["amount"], &status.json["currency"]), (&"92.00".into(), &"EUR".into()));
    for name in
        ["taxAmount", "testMode", "transactionCategory", "threeDSecure", "risk", "merchant", "overridePaymentType"]
    {
        assert!(status.json[name].is_null(), "{name}: {}", status.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_form_has_parameters_of_its_own_only_under_names_that_start_with_shopper() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("customParameters[shop]", "the merchant's")]).await?;
    let names = ["SHOPPER_gift", "SHOPPER_", "SHOPPER", "shopper_gift", "gift", "XSHOPPER_gift"];
    let names = names.map(|name| format!("customParameters[{name}]"));
    let fields: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "the form's")).collect();
    assert_result(&shop.submit_card(made.id(), &fields).await?, 200, "000.000.100");
    let kept = &shop.read_status(made.id()).await?.json["customParameters"];
    let expected =
        serde_json::json!({ "shop": "the merchant's", "SHOPPER_gift": "the form's", "SHOPPER_": "the form's" });
    assert_eq!(*kept, expected);
    Ok(())
}

#[tokio::test]
async fn a_browser_cannot_make_a_bad_card_good() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let wish = [("card.number", "4200000000000001"), ("customParameters[forceResultCode]", "000.100.110")];
    shop.submit_card(made.id(), &wish).await?;
    assert_result(&shop.read_status(made.id()).await?, 400, "100.100.101");
    Ok(())
}

#[tokio::test]
async fn the_merchants_value_wins_for_every_parameter_that_both_may_set() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let both = |row: &&Parameter| is_repeated(row) && row.browser && row.name != "paymentBrand";
    let rows: Vec<_> = all_parameters().enumerate().filter(|(_, row)| both(row)).collect();
    let fields = |variant: usize| -> Vec<(String, String)> {
        rows.iter().map(|(n, row)| (concrete_name(row.name), sample_value(row.format, *n, variant))).collect()
    };
    let made = shop.create_checkout(&borrow_fields(&fields(0))).await?;
    assert_result(&made, 200, "000.200.100");
    let submitted = shop.submit_card(made.id(), &borrow_fields(&fields(1))).await?;
    assert_result(&submitted, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert!(rows.len() > 40, "{}", rows.len());
    for (name, value) in fields(0) {
        assert_eq!(*repeated_value(&status, &name), value, "{name}: {}", status.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_shoppers_address_is_what_the_gateway_sees_unless_the_merchant_knows_better() -> anyhow::Result<()> {
    let shop = nameless_shop();
    let made = shop.create_checkout(&[("customer.ip", "198.51.100.7")]).await?;
    shop.submit_card(made.id(), &[("customer.ip", "203.0.113.9")]).await?;
    assert_eq!(shop.read_status(made.id()).await?.json["customer"]["ip"], "198.51.100.7");
    Ok(())
}
