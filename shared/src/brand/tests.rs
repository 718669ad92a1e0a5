#![allow(clippy::unwrap_used)]

use super::*;

/// The test cards of the contract, by brand.
#[rustfmt::skip] // rows of numbers
const TEST_CARDS: &[(&str, &[&str])] = &[
    (
        "VISA",
        &[
            "4200000000000000", "4111111111111111", "4242424242424242", "4711100000000000", "4012888888881881",
            "4200000000000091", "4200000000000109", "4200000000000026", "4200000000000059", "4012001037461114",
            "4012001037141112", "4532497088771651", "4200000000000042", "4200000000000067", "4200000000000018",
            "4200000000000075",
        ],
    ),
    (
        "MASTER",
        &[
            "5454545454545454", "5105105105105100", "5212345678901234", "5200000000000007", "5200000000000023",
            "5200000000000056", "5200000000000106", "5434580000000006", "5457350076543210", "5497260847316287",
            "5200000000000015", "5200000000000049", "5200000000000064", "5200000000000072", "2221000000000009",
            "2720990000000007",
        ],
    ),
    (
        "AMEX",
        &[
            "377777777777770", "375987000000005", "374500262001008", "377277081382243", "375987000000062",
            "373953192351004", "375987000169875", "375987000169883", "343923092050144", "343434343434343",
            "375987000000021", "375987000169867", "371449635398431",
        ],
    ),
    ("DINERS", &["36961903000009", "30082246403846"]),
    ("DISCOVER", &["6011587918359498"]),
    ("JCB", &["3541599999092431"]),
    ("MAESTRO", &["6799851000000032"]),
    ("VPAY", &["4822000000000000003"]),
    ("VISAELECTRON", &["4917300800000000"]),
    ("DANKORT", &["5019717010103742"]),
    ("HIPERCARD", &["6062825624254001"]),
];

/// Finds brands by their codes, separated by spaces.
fn find_brands(codes: &str) -> Vec<&'static Brand> {
    codes.split(' ').map(|code| Brand::find(code).unwrap()).collect()
}

fn detected_codes(digits: &str, among: &str) -> Vec<&'static str> {
    detect(digits, &find_brands(among)).map(|brand| brand.code).collect()
}

#[test]
fn every_test_card_is_detected_as_its_brand_and_accepted_by_it() {
    let schemes: Vec<&'static Brand> = Brand::all().iter().filter(|brand| brand.scheme.is_some()).collect();
    for (code, numbers) in TEST_CARDS {
        let brand = Brand::find(code).unwrap();
        for number in *numbers {
            assert!(crate::format::card_number::is_luhn_valid(number), "{number}");
            assert!(brand.allows_number(number), "{code} {number}");
            assert!(brand.number_lengths().contains(&(number.len() as u8)), "{code} {number}");
            assert!(detect(number, &schemes).any(|found| found == brand), "{code} {number}");
            assert!(Scheme::is_issued_number(number), "{number}");
        }
    }
}

#[test]
fn a_test_card_is_detected_first_as_its_own_brand_among_the_usual_ones() {
    let usual = "MAESTRO VISA MASTER AMEX DINERS DISCOVER JCB DANKORT HIPERCARD UNIONPAY VISAELECTRON";
    for (code, numbers) in TEST_CARDS.iter().filter(|(code, _)| *code != "VPAY") {
        for number in *numbers {
            assert_eq!(detected_codes(number, usual).first(), Some(code), "{number}");
        }
    }
}

#[test]
fn numbers_of_another_scheme_are_refused_where_a_brand_has_ranges_of_its_own() {
    for (code, number) in [
        ("VISA", "5454545454545454"),
        ("MASTER", "4111111111111111"),
        ("AMEX", "4111111111111111"),
        ("MASTER", "2721000000000004"),
        ("DINERS", "371449635398431"),
        ("MAESTRO", "5454545454545454"),
        ("VPAY", "5454545454545454"),
        ("CARTEBANCAIRE", "371449635398431"),
    ] {
        assert!(!Brand::find(code).unwrap().allows_number(number), "{code} {number}");
    }
    for (code, number) in [
        ("AXESS", "5454545454545454"),
        ("BONUS", "4111111111111111"),
        ("CARTEBLEUE", "4111111111111111"),
        ("CARTEBANCAIRE", "5454545454545454"),
        ("MADA", "4111111111111111"),
        ("VISADEBIT", "4111111111111111"),
    ] {
        assert!(Brand::find(code).unwrap().allows_number(number), "{code} {number}");
    }
}

#[test]
fn a_co_badged_number_is_unionpays_and_discover_may_be_chosen() {
    for number in ["6221260000000000", "6229250000000003"] {
        assert_eq!(detected_codes(number, "DISCOVER UNIONPAY"), ["UNIONPAY", "DISCOVER"], "{number}");
        assert!(Brand::find("DISCOVER").unwrap().allows_number(number), "{number}");
    }
    assert!(!Brand::find("DISCOVER").unwrap().allows_number("6221250000000000"));
    assert!(!Brand::find("DISCOVER").unwrap().allows_number("6229260000000000"));
}

#[test]
fn regional_ranges_are_known() {
    for (code, number) in [
        ("HIPERCARD", "6373740000000000"),
        ("HIPERCARD", "6374330000000000"),
        ("NARANJA", "4029180000000000"),
        ("NARANJA", "5275720000000000"),
    ] {
        assert_eq!(detected_codes(number, "MAESTRO VISA MASTER HIPERCARD NARANJA").first(), Some(&code), "{number}");
    }
    // Verve has no brand code. Its numbers are masked like those of any card.
    for number in ["5078650000000000", "507964000000000000", "5079640000000000000"] {
        assert!(Scheme::is_issued_number(number), "{number}");
    }
}

#[test]
fn detection_follows_the_typing_and_puts_the_most_specific_first() {
    let among = "VISA MASTER MAESTRO VISAELECTRON DISCOVER AMEX VPAY";
    assert!(detected_codes("", among).is_empty());
    assert_eq!(detected_codes("4", among), ["VISA", "VISAELECTRON", "VPAY"]);
    assert_eq!(detected_codes("4917", among), ["VISAELECTRON", "VISA", "VPAY"]);
    assert_eq!(detected_codes("4918", among), ["VISA", "VISAELECTRON", "VPAY"]);
    assert_eq!(detected_codes("5", among), ["MASTER", "MAESTRO"]);
    assert_eq!(detected_codes("55", among), ["MASTER"]);
    assert_eq!(detected_codes("57", among), ["MAESTRO"]);
    assert_eq!(detected_codes("60", among), ["MAESTRO", "DISCOVER"]);
    assert_eq!(detected_codes("6011", among), ["DISCOVER", "MAESTRO"]);
    assert_eq!(detected_codes("3", among), ["AMEX"]);
    assert!(detected_codes("1", among).is_empty() && detected_codes("4x", "AMEX").is_empty());
    assert!(detected_codes("3714496353984310", "AMEX").is_empty(), "sixteen digits are too long");
}

#[test]
fn digits_are_grouped_as_on_the_card() {
    assert_eq!(digit_groups("3714"), [4, 6, 5]);
    assert_eq!(digit_groups("36961903000009"), [4, 6, 4]);
    assert_eq!(digit_groups("36961903000009000"), [4, 4, 4, 4, 3]);
    assert_eq!(digit_groups("4111"), [4, 4, 4, 4, 3]);
    assert_eq!(digit_groups(""), [4, 4, 4, 4, 3]);
    assert_eq!(digit_groups("3"), [4, 4, 4, 4, 3]);
}

#[test]
fn codes_are_as_long_as_the_brand_prints_them() {
    assert_eq!(Brand::find("AMEX").unwrap().code_lengths(), [4]);
    assert_eq!(Brand::find("VISA").unwrap().code_lengths(), [3]);
    assert!(Brand::find("MAESTRO").unwrap().is_code_optional() && !Brand::find("VISA").unwrap().is_code_optional());
}

#[test]
fn the_table_is_sorted_and_of_valid_codes() {
    assert!(Brand::all().is_sorted_by(|a, b| a.code < b.code));
    for brand in Brand::all() {
        assert_eq!(Brand::find(brand.code), Some(brand));
        assert_eq!(Brand::find_card(brand.code), (brand.kind == AccountType::Card).then_some(brand));
        assert!(!brand.name.is_empty());
        assert!(brand.code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && brand.code.len() <= 32);
        assert!(!brand.number_lengths().is_empty() && brand.number_lengths().is_sorted());
        assert!(brand.scheme.is_none() || brand.kind == AccountType::Card);
        for range in brand.scheme.map_or(&[][..], |scheme| scheme.ranges) {
            assert!(range.0 > 0 && range.0 <= range.1 && range.0.ilog10() == range.1.ilog10() && range.1 < 100_000_000);
        }
    }
    assert!(Brand::cards().iter().eq(Brand::all().iter().filter(|brand| brand.kind == AccountType::Card)));
    assert_eq!(Brand::find("visa"), None);
    assert!(!Brand::find("PAYPAL").unwrap().is_synchronous() && Brand::find("SEPA").unwrap().is_synchronous());
}

/// Account and flow of every brand in the contract.
#[rustfmt::skip] // lists of codes
const CONTRACT: [(&str, &str, &str); 6] = [
    ("card", "sync", "\
        ADVANTAGE AIRPLUS ALIA ALIADEBIT AMEX ARGENCARD ASYACARD AXESS BCMC BONUS CABAL CABALDEBIT CARDFINANS \
        CARNET CARTEBANCAIRE CARTEBLEUE CENCOSUD DANKORT DINERS DISCOVER ELO EURO6000 FACILYPAY_3X \
        FACILYPAY_3XSANSFRAIS FACILYPAY_4X FACILYPAY_4XSANSFRAIS HIPERCARD JCB MADA MAESTRO MASTER MASTERDEBIT \
        MAXIMUM MEEZA MERCADOLIVRE NARANJA NATIVA POSTEPAY SERVIRED SISTEMACLAVE TARJETASHOPPING TCARD \
        TCARDDEBIT UNIONPAY UNIONPAY_SMS VISA VISADEBIT VISAELECTRON VPAY WORLD"),
    ("virtual", "async", "\
        AFFIRM AFTERPAY_PACIFIC ALIPAY APOSTAR ASTROPAY_STREAMLINE_CASH ASTROPAY_STREAMLINE_OT BALOTO \
        BANCOLOMBIA BANCONTACT_LINK BANCONTACT_QR BBVA_CONTINENTAL BCP BEVALIDA BLIK BOTON_PSE CAJA_AREQUIPA \
        CAJA_CUSCO CAJA_HUANCAYO CAJA_ICA CAJA_PIURA CAJA_TACNA CAJA_TRUJILLO CASHU CHINAUNIONPAY CLIQ \
        CREDIT_CLICK DAOPAY DIMONEX EFECTY ENTERPAY GANA IKANOOI_SE INICIS INTERBANK KLARNA_INSTALLMENTS \
        KLARNA_INVOICE KLARNA_PAYMENTS_BILLPAY KLARNA_PAYMENTS_ONE KLARNA_PAYMENTS_PAYLATER \
        KLARNA_PAYMENTS_PAYNOW KLARNA_PAYMENTS_SLICEIT MBWAY MEEZA_LINK MEEZA_QR MONEYBOOKERS MONEYSAFE MSTART \
        NEQUI ONECARD ONEY PAGOSNET PAGO_EFECTIVO PAGO_FACIL PAYBOX PAYDIREKT PAYNET PAYOLUTION_ELV \
        PAYOLUTION_INS PAYOLUTION_INVOICE PAYPAL PAYPAL_CONTINUE PAYSAFECARD PAYTRAIL PAYTRAIL_VA \
        PF_KARTE_DIRECT PIX POSTPAY PREPAYMENT_VRP PRZELEWY PUNTO_RED QIWI RAPI_PAGO RATENKAUF RED_SERVI \
        ROCKETFUEL SADAD_VA SCOTIABANK SENCILLITO SEZZLE SHETAB SOFINCO SOFINCOSANSFRAIS SPOTII STC_PAY SU_RED \
        SU_SUERTE TABBY TAMARA TENPAY TRUSTLY TWINT UKASH VALU VIPPS WECHAT_PAY WESTERN_UNION YANDEX \
        YANDEX_CHECKOUT ZOODPAY"),
    ("virtual", "sync", "\
        AFTERPAY SIBS_MULTIBANCO"),
    ("wallet", "sync", "\
        APPLEPAY CLICK_TO_PAY GOOGLEPAY MASTERPASS"),
    ("bank", "async", "\
        BITCOIN ENTERCASH EPS GIROPAY IDEAL INTERAC_ONLINE OXXO POLI PREPAYMENT SADAD SOFORTUEBERWEISUNG \
        TRUSTPAY_VA"),
    ("bank", "sync", "\
        BOLETO DIRECTDEBIT_SEPA SEPA"),
];

#[test]
fn every_brand_of_the_contract_has_its_account_and_flow_and_there_is_no_other() {
    let mut known = 0;
    for (account, flow, codes) in CONTRACT {
        for code in codes.split(' ') {
            let brand = Brand::find(code).unwrap();
            let found = (brand.kind.as_str(), if brand.is_synchronous() { "sync" } else { "async" });
            assert_eq!(found, (account, flow), "{code}");
            known += 1;
        }
    }
    assert_eq!(known, Brand::all().len());
}

#[test]
fn a_brands_method_and_form_follow_its_account() {
    for brand in Brand::all() {
        let known: &[(PaymentMethod, FormKind)] = match brand.kind {
            AccountType::Card => {
                &[(PaymentMethod::CreditCard, FormKind::Card), (PaymentMethod::DebitCard, FormKind::Card)]
            }
            AccountType::Wallet => &[(PaymentMethod::CreditCard, FormKind::VirtualAccount)],
            AccountType::Bank => &[
                (PaymentMethod::DirectDebit, FormKind::DirectDebit),
                (PaymentMethod::Prepayment, FormKind::Prepayment),
                (PaymentMethod::OnlineTransfer, FormKind::OnlineTransfer),
            ],
            AccountType::Virtual => &[(PaymentMethod::VirtualAccount, FormKind::VirtualAccount)],
        };
        assert!(known.contains(&(brand.method, brand.form)), "{}", brand.code);
        assert!(
            brand.kind != AccountType::Card || (brand.fields.is_empty() && brand.extras.is_empty()),
            "{}",
            brand.code
        );
    }
    let codes_of = |method| -> Vec<&str> {
        Brand::all().iter().filter(|brand| brand.method == method).map(|brand| brand.code).collect()
    };
    assert_eq!(codes_of(PaymentMethod::Prepayment), ["BOLETO", "OXXO", "PREPAYMENT"]);
    assert_eq!(codes_of(PaymentMethod::DirectDebit), ["DIRECTDEBIT_SEPA", "SEPA"]);
}

#[test]
fn each_brand_has_the_form_that_merchants_know_it_by() {
    for (code, form, fields) in [
        ("VISA", "card", &[][..]),
        ("SEPA", "directDebit", &["accountHolder", "accountNumber", "accountBank?", "country?"]),
        ("DIRECTDEBIT_SEPA", "directDebit", &["accountHolder", "accountNumber", "accountBank?", "country?"]),
        ("IDEAL", "onlineTransfer", &[]),
        ("EPS", "onlineTransfer", &[]),
        ("SADAD", "onlineTransfer", &[]),
        ("GIROPAY", "onlineTransfer", &["accountBank?"]),
        ("ENTERCASH", "onlineTransfer", &["country"]),
        ("SOFORTUEBERWEISUNG", "onlineTransfer", &["country"]),
        ("PREPAYMENT", "prepayment", &[]),
        ("PAYPAL", "virtualAccount", &[]),
        ("CHINAUNIONPAY", "virtualAccount", &[]),
        ("AFTERPAY", "virtualAccount", &["accountId"]),
        ("SIBS_MULTIBANCO", "virtualAccount", &[]),
        ("APPLEPAY", "virtualAccount", &[]),
        ("STC_PAY", "virtualAccount", &["paymentMode", "mobilePhone"]),
    ] {
        let brand = Brand::find(code).unwrap();
        assert_eq!((brand.form.as_str(), brand.fields), (form, fields), "{code}");
    }
}

#[test]
fn the_code_and_the_commerce_indicators_are_the_schemes() {
    let front = Brand::all().iter().filter(|brand| brand.code_position() == CodePosition::Front);
    assert!(front.map(|brand| brand.code).eq(["AMEX"]));
    let mastercard = Brand::all().iter().filter(|brand| brand.eci_family() == EciFamily::Mastercard);
    assert!(mastercard.map(|brand| brand.code).eq(["MAESTRO", "MASTER", "MASTERDEBIT"]));
}
