//! The card numbers that a sandbox accepts: those of the tables with outcomes, and those that schemes and large vendors
//! publish for tests. Any other number may belong to a real cardholder and must not reach a sandbox.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{CARDS, three_ds};

/// Test card numbers of one brand from one publisher.
#[derive(Debug)]
pub struct PublishedNumbers {
    /// The publisher. Tillgate's own numbers consist of a range's first digits, zeros and a check digit.
    pub source: &'static str,
    /// `paymentBrand`; empty for schemes that are no brand of this gateway.
    pub brand: &'static str,
    /// The numbers.
    pub numbers: &'static [&'static str],
}

/// Creates a row of the table.
const fn published_numbers(
    brand: &'static str,
    source: &'static str,
    numbers: &'static [&'static str],
) -> PublishedNumbers {
    PublishedNumbers { source, brand, numbers }
}

/// Numbers whose payments succeed. A number with several publishers is listed with the first of them.
#[rustfmt::skip] // rows of numbers
pub static PUBLISHED: [PublishedNumbers; 80] = [
    published_numbers("VISAELECTRON", "Tillgate", &["4026000000000002"]),
    published_numbers("MASTER", "Tillgate", &["5100000000000008"]),
    published_numbers("AMEX", "Tillgate", &["340000000000009"]),
    published_numbers("DINERS", "Tillgate", &["300000000000007"]),
    published_numbers("JCB", "Tillgate", &["3528000000000007"]),
    published_numbers("MAESTRO", "Tillgate", &["500000000000005"]),
    published_numbers("DANKORT", "Tillgate", &["5019000000000008"]),
    published_numbers("HIPERCARD", "Tillgate", &["3841000000000007"]),
    published_numbers("ELO", "Tillgate", &["4011780000000006"]),
    published_numbers("BCMC", "Tillgate", &["4796580000000001"]),
    published_numbers("MADA", "Tillgate", &["4008610000000000"]),
    published_numbers("MEEZA", "Tillgate", &["5078000000000006"]),
    published_numbers("AIRPLUS", "Tillgate", &["122000000000003"]),
    published_numbers("ARGENCARD", "Tillgate", &["5011050000000001"]),
    published_numbers("CABAL", "Tillgate", &["5896570000000008"]),
    published_numbers("CARNET", "Tillgate", &["2869000000000006"]),
    published_numbers("CENCOSUD", "Tillgate", &["6034930000000005"]),
    published_numbers("NARANJA", "Tillgate", &["5895620000000002"]),
    published_numbers("NATIVA", "Tillgate", &["4870170000000000"]),
    published_numbers("TARJETASHOPPING", "Tillgate", &["6034880000000002"]),
    published_numbers("VISA", "the card schemes", &["4222222222222", "4761739001010010", "4761739001010119"]),
    published_numbers("MASTER", "the card schemes", &[
        "5185540810000019", "5204740009900014", "5413330089099999", "5420923878724339",
    ]),
    published_numbers("AMEX", "the card schemes", &["341111111111111", "371144371144376", "374245455400126"]),
    published_numbers("JCB", "the card schemes", &["3541599998103643", "3566000020000410", "3569990000000009"]),
    published_numbers("UNIONPAY", "the card schemes", &[
        "6216261000000000018", "6222821234560017", "6226090000000048", "6250941006528599",
    ]),
    published_numbers("VISAELECTRON", "the card schemes", &["4508750015741019"]),
    published_numbers("", "the card schemes", &[
        "2200000000000004", "2202474301322987", "6074849900004936", "8171999927660000", "9792030000000000",
    ]),
    published_numbers("VISA", "Stripe", &[
        "4000000000000002", "4000000000000010", "4000000000000028", "4000000000000036", "4000000000000044",
        "4000000000000069", "4000000000000077", "4000000000000093", "4000000000000101", "4000000000000119",
        "4000000000000127", "4000000000000259", "4000000000000341", "4000000000000408", "4000000000001976",
        "4000000000002685", "4000000000003055", "4000000000003063", "4000000000003220", "4000000000004210",
        "4000000000004236", "4000000000004954", "4000000000005126", "4000000000009979", "4000000000009987",
        "4000000000009995", "4000000360000006", "4000000400000008", "4000000560000004", "4000000760000002",
        "4000001000000000", "4000001240000000", "4000001560000002", "4000001960000008", "4000002030000002",
        "4000002080000001", "4000002330000009", "4000002460000001", "4000002500000003", "4000002500003155",
        "4000002760000016", "4000002760003184", "4000002920000005", "4000003000000030", "4000003440000004",
        "4000003480000005", "4000003560000008", "4000003720000005", "4000003800000008", "4000003800000446",
        "4000003920000003", "4000004280000005", "4000004380000004", "4000004400000000", "4000004420000006",
        "4000004580000002", "4000004700000007", "4000004840008001", "4000005280000002", "4000005540000008",
        "4000005780000007", "4000006160000005", "4000006200000007", "4000006420000001", "4000007020000003",
        "4000007030000001", "4000007050000006", "4000007240000007", "4000007520000008", "4000007560000009",
        "4000007640000003", "4000008260000000", "4000008260003178", "4000008400001280", "4000008400001629",
        "4000056655665556", "4000058260000005", "4100000000000019",
    ]),
    published_numbers("MASTER", "Stripe", &[
        "2223003122003222", "5200828282828210", "5555552500001001", "5555555555554444", "5555558265554449",
    ]),
    published_numbers("AMEX", "Stripe", &["378282246310005"]),
    published_numbers("DISCOVER", "Stripe", &["6011000990139424", "6011111111111117", "6011981111111113"]),
    published_numbers("DINERS", "Stripe", &["3056930009020004", "36227206271667"]),
    published_numbers("JCB", "Stripe", &["3566002020360505"]),
    published_numbers("UNIONPAY", "Stripe", &["6200000000000005", "6200000000000047", "6205500000000000004"]),
    published_numbers("CARTEBANCAIRE", "Stripe", &["4000002500001001"]),
    published_numbers("VISA", "Adyen", &[
        "4000020000000000", "4000060000000006", "4000160000000004", "4000180000000002", "4000620000000007",
        "4000640000000005", "4000760000000001", "4001590000000001", "4003550000000003", "4035501000000008",
        "4111111145551142", "4111112014267661", "4151500000000008", "4166676667666746", "4199350000000002",
        "4212345678901237", "4212345678910006", "4293189100000008", "4360000001000005", "4400000000000008",
        "4444333322221111", "4484600000000004", "4571000000000001", "4607000000000009", "4646464646464644",
        "4871049999999910", "4917610000000000", "4977949494949497", "4988080000000000", "4988438843884305",
    ]),
    published_numbers("MASTER", "Adyen", &[
        "2222400010000008", "2222400030000004", "2222400050000009", "2222400060000007", "2222400070000005",
        "2222410700000002", "2222410740360010", "2223000048410010", "2223520443560010", "5100060000000002",
        "5100290029002909", "5136333333333335", "5413330089010012", "5424000000000015", "5500000000000004",
        "5555341244441115", "5555444433331111", "5577000055770004", "5585558555855583",
    ]),
    published_numbers("AMEX", "Adyen", &["370000000000002", "370000000100018", "374251018720018", "374251033270007"]),
    published_numbers("DINERS", "Adyen", &["36006666333344", "36070500001020"]),
    published_numbers("DISCOVER", "Adyen", &["6011000000000004", "6011601160116611", "6445644564456445"]),
    published_numbers("JCB", "Adyen", &["3569990010095841"]),
    published_numbers("MAESTRO", "Adyen", &["6761000000000006", "6771798021000008", "6771830000000000006"]),
    published_numbers("UNIONPAY", "Adyen", &["6243030000000001", "6250946000000016", "6250947000000014"]),
    published_numbers("BCMC", "Adyen", &["6703000000000000003", "67030000000000003", "6703444444444449"]),
    published_numbers("ELO", "Adyen", &["5066991111111118"]),
    published_numbers("HIPERCARD", "Adyen", &["6062828888666688"]),
    published_numbers("DANKORT", "Adyen", &["5019555544445555"]),
    published_numbers("VISAELECTRON", "Adyen", &["4001020000000009"]),
    published_numbers("VISA", "Braintree and PayPal", &[
        "4000111111111115", "4005519200000004", "4009348888881881", "4012000033330026", "4012000077777777",
        "4500600000000061",
    ]),
    published_numbers("MASTER", "Braintree and PayPal", &[
        "2223000048400011", "5200000000001005", "5200000000001096", "5200000000001104",
    ]),
    published_numbers("AMEX", "Braintree and PayPal", &["378734493671000"]),
    published_numbers("DINERS", "Braintree and PayPal", &["30569309025904", "36259600000004", "38520000023237"]),
    published_numbers("DISCOVER", "Braintree and PayPal", &["6011000991300009"]),
    published_numbers("JCB", "Braintree and PayPal", &["3530111333300000"]),
    published_numbers("MAESTRO", "Braintree and PayPal", &["6304000000000000"]),
    published_numbers("UNIONPAY", "Braintree and PayPal", &[
        "6212345678900002", "6212345678900028", "6212345678900036", "6212345678901232", "6212345678901265",
        "6221261111117766", "6223164991230014",
    ]),
    published_numbers("HIPERCARD", "Braintree and PayPal", &["6062826786276634"]),
    published_numbers("VISA", "Worldpay", &[
        "4000000000002008", "4000000000002313", "4000000000002370", "4000000000002701", "4911830000000",
    ]),
    published_numbers("VISADEBIT", "Worldpay", &["4462030000000000", "4917610000000000003"]),
    published_numbers("MASTER", "Worldpay", &["2221000000000009", "5163613613613613", "5200000000002151", "5200000000002235"]),
    published_numbers("AMEX", "Worldpay", &["340000000002708"]),
    published_numbers("DINERS", "Worldpay", &["36700102000000"]),
    published_numbers("DISCOVER", "Worldpay", &["6011000000002117", "6011000400000000"]),
    published_numbers("JCB", "Worldpay", &["3528000700000000"]),
    published_numbers("MAESTRO", "Worldpay", &["6759649826438453"]),
    published_numbers("VISA", "Checkout.com", &[
        "4484070000035519", "4532432452900131", "4543474002249996", "4556253752712245", "4658584090000001",
        "4911830000000000", "4921817844445119",
    ]),
    published_numbers("MASTER", "Checkout.com", &["2223000010479399", "5183683001544411", "5199992312641465", "5436031030606378"]),
    published_numbers("AMEX", "Checkout.com", &["345678901234564"]),
    published_numbers("DINERS", "Checkout.com", &["30123456789019"]),
    published_numbers("MAESTRO", "Checkout.com", &["6799990100000000019"]),
    published_numbers("MADA", "Checkout.com", &["4485040371536584", "5588480000000003"]),
    published_numbers("VISA", "Cybersource", &[
        "4000000000002115", "4000000000002503", "4000000000002719", "4000000000002768", "4456530000001005",
        "4456530000001013", "4456530000001021", "4456530000001039", "4456530000001047", "4456530000001054",
        "4456530000001062", "4456530000001070", "4456530000001088", "4456530000001096", "4456530000001104",
        "4622943127013705", "4622943127013713",
    ]),
    published_numbers("MASTER", "Cybersource", &[
        "2222420000001113", "2222630000001125", "5200000000002052", "5200000000002706", "5200000000002805",
    ]),
    published_numbers("AMEX", "Cybersource", &["340000000003961"]),
    published_numbers("DINERS", "Cybersource", &["38000000000006"]),
    published_numbers("JCB", "Cybersource", &["3566111111111113"]),
    published_numbers("MAESTRO", "Cybersource", &[
        "50339619890917", "5641821111166669", "586824160825533338", "6000340000009859", "6759411100000008",
        "6759560045005727054",
    ]),
    // Named by at least three public plug-ins, guides or test lists of resellers (contract, 0.36).
    published_numbers("VISA", "resellers of this contract", &["4228230000000001", "4440000009900010", "4440000042200014"]),
    published_numbers("MASTER", "resellers of this contract", &[
        "2223000000000007", "2223000000000023", "5111111111111118", "5123450000000008", "5123456789012346",
    ]),
    published_numbers("MADA", "resellers of this contract", &[
        "4464040000000007", "5297412542005689", "5360230159427034",
    ]),
];

/// Returns true if a number, digits without separators, is a documented test number.
pub fn is_test_number(number: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| all_test_numbers().map(|(_, number)| number).collect());
    ALL.contains(number)
}

/// Returns every documented test number with its brand, which is empty for schemes that are no brand of this gateway.
fn all_test_numbers() -> impl Iterator<Item = (&'static str, &'static str)> {
    let published = PUBLISHED.iter().flat_map(|row| row.numbers.iter().map(|number| (row.brand, *number)));
    let with_outcome = CARDS.iter().map(|card| (card.brand, card.number));
    published.chain(with_outcome).chain(three_ds::CARDS.iter().map(|card| (card.brand, card.number)))
}

#[cfg(test)]
mod tests {
    use tillgate_shared::brand::{AccountType, Brand};
    use tillgate_shared::format::card_number::CardNumber;
    use tillgate_shared::result::codes;

    use super::*;

    #[test]
    fn every_test_number_is_a_good_one_of_its_brand_and_stands_in_the_tables_once() {
        let bad = |number: &str| {
            CARDS.iter().any(|card| card.number == number && card.outcome.result == codes::INVALID_CARD_NUMBER)
        };
        let mut seen = HashSet::new();
        for (brand, number) in all_test_numbers() {
            let good = CardNumber::parse(number).is_ok_and(|number| number.is_luhn_valid());
            assert!((good || bad(number)) && seen.insert(number), "{number}");
            assert!(
                brand.is_empty() || Brand::find(brand).is_some_and(|brand| brand.allows_number(number)),
                "{brand} {number}"
            );
            assert!(is_test_number(number), "{number}");
        }
    }

    #[test]
    fn every_card_brand_has_a_test_number() {
        for brand in Brand::all().iter().filter(|brand| brand.kind == AccountType::Card) {
            assert!(all_test_numbers().any(|(_, number)| brand.allows_number(number)), "{}", brand.code);
        }
    }

    #[test]
    fn a_neighbour_of_a_test_number_is_none() {
        for number in
            ["4200000000000117", "4242424242424259", "4111111111111129", "", "42424242424242420", " 4242424242424242"]
        {
            assert!(!is_test_number(number), "{number}");
        }
    }
}
