//! What a browser may set, by posting everything that the catalogue knows from the form.

use tillgate_shared::format::Format;
use tillgate_shared::parameter::{Group, Parameter, catalogue};
use tillgate_tests::Gateway;

use crate::catalogue::echo;
use crate::support::*;

/// A name of this pattern, as a request writes it.
pub fn concrete(pattern: &str) -> String {
    pattern.replace("[n]", "[0]").replace("[name]", "[SHOPPER_probe]").replace("[brand]", "[VISA]")
}

/// A valid value; `number` tells the values of two rows apart where the format leaves room, `variant` two of one row.
pub fn sample(format: Format, number: usize, variant: usize) -> String {
    let unique = format!("probe{number:03}{variant}");
    // A word that says where it comes from, if the format takes one; otherwise what its values look like.
    if let Some(longer) = ["", "-in-a-longer-text-of-enough-letters!"]
        .iter()
        .map(|more| format!("{unique}{more}"))
        .find(|text| takes(format, text))
    {
        return longer;
    }
    if let Format::OneOf(words) = format {
        return words[variant.min(words.len() - 1)].to_owned();
    }
    let (digit, letter) = (["3", "4"][variant], ["d", "f"][variant]);
    let mut choices = vec![format!("https://{unique}.example/")];
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
    match choices.into_iter().find(|choice| takes(format, choice)) {
        Some(choice) => choice,
        None => panic!("no sample for {format:?}"),
    }
}

fn takes(format: Format, value: &str) -> bool {
    format.check(value).is_ok()
}

/// Rows whose value an answer repeats under its own name.
fn is_repeated(row: &Parameter) -> bool {
    // The card is shown in its reduced form, technical fields are dropped, and the address is what the gateway sees. Who
    // fills in a new card has not taken a stored one, whatever was chosen before; and the gateway itself says what is agreed.
    // Beside a house number the second line of a street is ignored.
    !matches!(row.group, Group::Card | Group::Form)
        && !row.secret
        && !row.name.ends_with(".street2")
        && !matches!(row.name, "customer.ip" | "registrationId" | "standingInstruction.initialTransactionId")
}

/// Everything in the catalogue as a form would post it, and a good card.
fn everything(variant: usize) -> Vec<(String, String)> {
    let rows = catalogue().enumerate().filter(|(_, row)| row.group != Group::Card && row.name != "paymentBrand");
    let mut fields: Vec<_> = rows.map(|(n, row)| (concrete(row.name), sample(row.format, n, variant))).collect();
    fields.extend(tillgate_tests::CARD.map(|(name, value)| (name.to_owned(), value.to_owned())));
    fields
}

fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[tokio::test]
async fn a_form_that_posts_every_parameter_sets_what_it_may_and_moves_nothing_else() -> anyhow::Result<()> {
    // Its browsers may store accounts and name the customer, too.
    let shop = Gateway::shared().merchant_with(&["--browser-registrations", "--browser-customer-ids"])?;
    let own = [
        ("merchantTransactionId", "order-4711"),
        ("descriptor", "SPRING SALE"),
        ("customParameters[basket]", "7"),
        ("notificationUrl", "https://shop.example/notify"),
    ];
    let made = shop.checkout(&own).await?;
    let fields = everything(0);
    let submitted = shop.submit(made.id(), &borrowed(&fields)).await?;
    assert_answer(&submitted, 200, "000.000.100");
    let status = shop.status(made.id()).await?;

    // Approved in test mode INTERNAL, although the form said EXTERNAL.
    assert_answer(&status, 200, "000.100.110");
    assert_eq!(status.json["amount"], "92.00");
    assert_eq!(status.json["currency"], "EUR");
    assert_eq!(status.json["paymentType"], "DB");
    assert_eq!(status.json["merchantTransactionId"], "order-4711");
    assert!(status.json["descriptor"].as_str().is_some_and(|text| text.ends_with(" SPRING SALE")), "{}", status.text);
    assert_eq!(status.json["customParameters"]["basket"], "7");
    assert_eq!(status.json["notificationUrl"], "https://shop.example/notify");
    assert_eq!(status.json["customer"]["ip"], "127.0.0.1");

    let (mut set, mut refused) = (0, 0);
    for (number, row) in catalogue().enumerate().filter(|(_, row)| is_repeated(row) && row.name != "paymentBrand") {
        let (name, value) = (concrete(row.name), sample(row.format, number, 0));
        if row.browser {
            assert_eq!(*echo(&status, &name), value, "{name} is lost: {}", status.text);
            set += 1;
        } else {
            assert_ne!(*echo(&status, &name), value, "{name} was set by the browser: {}", status.text);
            refused += 1;
        }
    }
    assert!(set > 40 && refused > 12, "{set} set, {refused} refused");
    Ok(())
}

#[tokio::test]
async fn what_belongs_to_the_merchant_is_not_settable_whatever_the_catalogue_says() -> anyhow::Result<()> {
    // Written down once more, from the contract: a row that is marked wrong is found here.
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
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    assert_answer(&shop.submit(made.id(), &NEVER).await?, 200, "000.000.100");
    let status = shop.status(made.id()).await?;
    assert_answer(&status, 200, "000.100.110");
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
    let shop = shop();
    let made = shop.checkout(&[("customParameters[shop]", "the merchant's")]).await?;
    let names = ["SHOPPER_gift", "SHOPPER_", "SHOPPER", "shopper_gift", "gift", "XSHOPPER_gift"];
    let names = names.map(|name| format!("customParameters[{name}]"));
    let fields: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "the form's")).collect();
    assert_answer(&shop.submit(made.id(), &fields).await?, 200, "000.000.100");
    let kept = &shop.status(made.id()).await?.json["customParameters"];
    let expected =
        serde_json::json!({ "shop": "the merchant's", "SHOPPER_gift": "the form's", "SHOPPER_": "the form's" });
    assert_eq!(*kept, expected);
    Ok(())
}

#[tokio::test]
async fn a_browser_cannot_make_a_bad_card_good() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    let wish = [("card.number", "4200000000000001"), ("customParameters[forceResultCode]", "000.100.110")];
    shop.submit(made.id(), &wish).await?;
    assert_answer(&shop.status(made.id()).await?, 400, "100.100.101");
    Ok(())
}

#[tokio::test]
async fn the_merchants_value_wins_for_every_parameter_that_both_may_set() -> anyhow::Result<()> {
    let shop = shop();
    let both = |row: &&Parameter| is_repeated(row) && row.browser && row.name != "paymentBrand";
    let rows: Vec<_> = catalogue().enumerate().filter(|(_, row)| both(row)).collect();
    let fields = |variant: usize| -> Vec<(String, String)> {
        rows.iter().map(|(n, row)| (concrete(row.name), sample(row.format, *n, variant))).collect()
    };
    let made = shop.checkout(&borrowed(&fields(0))).await?;
    assert_answer(&made, 200, "000.200.100");
    let submitted = shop.submit(made.id(), &borrowed(&fields(1))).await?;
    assert_answer(&submitted, 200, "000.000.100");
    let status = shop.status(made.id()).await?;
    assert!(rows.len() > 40, "{}", rows.len());
    for (name, value) in fields(0) {
        assert_eq!(*echo(&status, &name), value, "{name}: {}", status.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_shoppers_address_is_what_the_gateway_sees_unless_the_merchant_knows_better() -> anyhow::Result<()> {
    let shop = nameless_shop();
    let made = shop.checkout(&[("customer.ip", "198.51.100.7")]).await?;
    shop.submit(made.id(), &[("customer.ip", "203.0.113.9")]).await?;
    assert_eq!(shop.status(made.id()).await?.json["customer"]["ip"], "198.51.100.7");
    Ok(())
}
