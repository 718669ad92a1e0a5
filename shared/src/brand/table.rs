//! Every brand that merchants offer, by code: kind of account, where the shopper gets the answer, name, card scheme.
//!
//! Cards stand apart, because the frames of the form need them and nothing else.

use super::Kind::{Bank, Card, Virtual, Wallet};
use super::{Brand, Flow, Kind, Scheme, scheme};

/// A card of a scheme whose numbers are known.
const fn card(code: &'static str, name: &'static str, scheme: &'static Scheme) -> Brand {
    Brand { code, name, kind: Card, flow: Flow::Now, scheme: Some(scheme) }
}

/// A brand that answers at once.
const fn now(kind: Kind, code: &'static str, name: &'static str) -> Brand {
    Brand { code, name, kind, flow: Flow::Now, scheme: None }
}

/// A brand that sends the shopper elsewhere and answers later.
const fn later(kind: Kind, code: &'static str, name: &'static str) -> Brand {
    Brand { code, name, kind, flow: Flow::Redirect, scheme: None }
}

/// A provider's wallet: the shopper logs in to it in a window of its own.
const fn popup(code: &'static str, name: &'static str) -> Brand {
    Brand { code, name, kind: Virtual, flow: Flow::Popup, scheme: None }
}

/// Cards, sorted by code.
pub(super) static CARDS: [Brand; 50] = [
    now(Card, "ADVANTAGE", "Advantage"),
    card("AIRPLUS", "AirPlus", &scheme::AIRPLUS),
    now(Card, "ALIA", "Alia"),
    now(Card, "ALIADEBIT", "Alia Debit"),
    card("AMEX", "American Express", &scheme::AMEX),
    card("ARGENCARD", "Argencard", &scheme::ARGENCARD),
    now(Card, "ASYACARD", "Asya Card"),
    now(Card, "AXESS", "Axess"),
    card("BCMC", "Bancontact", &scheme::BANCONTACT),
    now(Card, "BONUS", "Bonus"),
    card("CABAL", "Cabal", &scheme::CABAL),
    card("CABALDEBIT", "Cabal Debit", &scheme::CABAL),
    now(Card, "CARDFINANS", "CardFinans"),
    card("CARNET", "Carnet", &scheme::CARNET),
    card("CARTEBANCAIRE", "Cartes Bancaires", &scheme::CARTE_BANCAIRE),
    now(Card, "CARTEBLEUE", "Carte Bleue"),
    card("CENCOSUD", "Cencosud", &scheme::CENCOSUD),
    card("DANKORT", "Dankort", &scheme::DANKORT),
    card("DINERS", "Diners Club", &scheme::DINERS),
    card("DISCOVER", "Discover", &scheme::DISCOVER),
    card("ELO", "Elo", &scheme::ELO),
    now(Card, "EURO6000", "Euro 6000"),
    now(Card, "FACILYPAY_3X", "FacilyPay 3x"),
    now(Card, "FACILYPAY_3XSANSFRAIS", "FacilyPay 3x sans frais"),
    now(Card, "FACILYPAY_4X", "FacilyPay 4x"),
    now(Card, "FACILYPAY_4XSANSFRAIS", "FacilyPay 4x sans frais"),
    card("HIPERCARD", "Hipercard", &scheme::HIPERCARD),
    card("JCB", "JCB", &scheme::JCB),
    card("MADA", "mada", &scheme::MADA),
    card("MAESTRO", "Maestro", &scheme::MAESTRO),
    card("MASTER", "Mastercard", &scheme::MASTER),
    card("MASTERDEBIT", "Debit Mastercard", &scheme::MASTER_GUEST),
    now(Card, "MAXIMUM", "Maximum"),
    card("MEEZA", "Meeza", &scheme::MEEZA),
    now(Card, "MERCADOLIVRE", "Mercado Livre"),
    card("NARANJA", "Naranja", &scheme::NARANJA),
    card("NATIVA", "Nativa", &scheme::NATIVA),
    now(Card, "POSTEPAY", "Postepay"),
    now(Card, "SERVIRED", "ServiRed"),
    now(Card, "SISTEMACLAVE", "Sistema Clave"),
    card("TARJETASHOPPING", "Tarjeta Shopping", &scheme::TARJETA_SHOPPING),
    now(Card, "TCARD", "T-Card"),
    now(Card, "TCARDDEBIT", "T-Card Debit"),
    card("UNIONPAY", "UnionPay", &scheme::UNIONPAY),
    card("UNIONPAY_SMS", "UnionPay", &scheme::UNIONPAY),
    card("VISA", "Visa", &scheme::VISA),
    card("VISADEBIT", "Visa Debit", &scheme::VISA_GUEST),
    card("VISAELECTRON", "Visa Electron", &scheme::VISA_ELECTRON),
    card("VPAY", "V PAY", &scheme::VISA_GUEST),
    now(Card, "WORLD", "World"),
];

/// Everything else, sorted by code.
static OTHERS: [Brand; 120] = [
    later(Virtual, "AFFIRM", "Affirm"),
    now(Virtual, "AFTERPAY", "Afterpay"),
    later(Virtual, "AFTERPAY_PACIFIC", "Afterpay"),
    popup("ALIPAY", "Alipay"),
    later(Virtual, "APOSTAR", "Apostar"),
    now(Wallet, "APPLEPAY", "Apple Pay"),
    later(Virtual, "ASTROPAY_STREAMLINE_CASH", "AstroPay Cash"),
    later(Virtual, "ASTROPAY_STREAMLINE_OT", "AstroPay Online Transfer"),
    later(Virtual, "BALOTO", "Baloto"),
    later(Virtual, "BANCOLOMBIA", "Bancolombia"),
    later(Virtual, "BANCONTACT_LINK", "Bancontact Payconiq"),
    later(Virtual, "BANCONTACT_QR", "Bancontact QR"),
    later(Virtual, "BBVA_CONTINENTAL", "BBVA Continental"),
    later(Virtual, "BCP", "BCP"),
    later(Virtual, "BEVALIDA", "BeValida"),
    later(Bank, "BITCOIN", "Bitcoin"),
    later(Virtual, "BLIK", "BLIK"),
    now(Bank, "BOLETO", "Boleto"),
    later(Virtual, "BOTON_PSE", "PSE"),
    later(Virtual, "CAJA_AREQUIPA", "Caja Arequipa"),
    later(Virtual, "CAJA_CUSCO", "Caja Cusco"),
    later(Virtual, "CAJA_HUANCAYO", "Caja Huancayo"),
    later(Virtual, "CAJA_ICA", "Caja Ica"),
    later(Virtual, "CAJA_PIURA", "Caja Piura"),
    later(Virtual, "CAJA_TACNA", "Caja Tacna"),
    later(Virtual, "CAJA_TRUJILLO", "Caja Trujillo"),
    later(Virtual, "CASHU", "CASHU"),
    later(Virtual, "CHINAUNIONPAY", "UnionPay"),
    now(Wallet, "CLICK_TO_PAY", "Click to Pay"),
    later(Virtual, "CLIQ", "CliQ"),
    later(Virtual, "CREDIT_CLICK", "CreditClick"),
    later(Virtual, "DAOPAY", "DaoPay"),
    later(Virtual, "DIMONEX", "Dimonex"),
    now(Bank, "DIRECTDEBIT_SEPA", "SEPA Direct Debit"),
    later(Virtual, "EFECTY", "Efecty"),
    later(Bank, "ENTERCASH", "Entercash"),
    later(Virtual, "ENTERPAY", "Enterpay"),
    later(Bank, "EPS", "eps"),
    later(Virtual, "GANA", "Gana"),
    later(Bank, "GIROPAY", "giropay"),
    now(Wallet, "GOOGLEPAY", "Google Pay"),
    later(Bank, "IDEAL", "iDEAL"),
    later(Virtual, "IKANOOI_SE", "Ikano Bank"),
    later(Virtual, "INICIS", "Inicis"),
    later(Bank, "INTERAC_ONLINE", "Interac Online"),
    later(Virtual, "INTERBANK", "Interbank"),
    later(Virtual, "KLARNA_INSTALLMENTS", "Klarna Installments"),
    later(Virtual, "KLARNA_INVOICE", "Klarna Invoice"),
    later(Virtual, "KLARNA_PAYMENTS_BILLPAY", "Klarna Billpay"),
    later(Virtual, "KLARNA_PAYMENTS_ONE", "Klarna"),
    later(Virtual, "KLARNA_PAYMENTS_PAYLATER", "Klarna Pay later"),
    later(Virtual, "KLARNA_PAYMENTS_PAYNOW", "Klarna Pay now"),
    later(Virtual, "KLARNA_PAYMENTS_SLICEIT", "Klarna Slice it"),
    now(Wallet, "MASTERPASS", "Masterpass"),
    later(Virtual, "MBWAY", "MB WAY"),
    later(Virtual, "MEEZA_LINK", "Meeza Link"),
    later(Virtual, "MEEZA_QR", "Meeza QR"),
    popup("MONEYBOOKERS", "Skrill"),
    later(Virtual, "MONEYSAFE", "MoneySafe"),
    later(Virtual, "MSTART", "mStart"),
    later(Virtual, "NEQUI", "Nequi"),
    later(Virtual, "ONECARD", "OneCard"),
    later(Virtual, "ONEY", "Oney"),
    later(Bank, "OXXO", "OXXO"),
    later(Virtual, "PAGOSNET", "PagosNet"),
    later(Virtual, "PAGO_EFECTIVO", "PagoEfectivo"),
    later(Virtual, "PAGO_FACIL", "Pago Fácil"),
    later(Virtual, "PAYBOX", "paybox"),
    later(Virtual, "PAYDIREKT", "paydirekt"),
    later(Virtual, "PAYNET", "Paynet"),
    later(Virtual, "PAYOLUTION_ELV", "Payolution Direct Debit"),
    later(Virtual, "PAYOLUTION_INS", "Payolution Installments"),
    later(Virtual, "PAYOLUTION_INVOICE", "Payolution Invoice"),
    popup("PAYPAL", "PayPal"),
    popup("PAYPAL_CONTINUE", "PayPal"),
    later(Virtual, "PAYSAFECARD", "paysafecard"),
    later(Virtual, "PAYTRAIL", "Paytrail"),
    later(Virtual, "PAYTRAIL_VA", "Paytrail"),
    later(Virtual, "PF_KARTE_DIRECT", "PostFinance Card"),
    later(Virtual, "PIX", "Pix"),
    later(Bank, "POLI", "POLi"),
    later(Virtual, "POSTPAY", "Postpay"),
    later(Bank, "PREPAYMENT", "Prepayment"),
    later(Virtual, "PREPAYMENT_VRP", "Prepayment"),
    later(Virtual, "PRZELEWY", "Przelewy24"),
    later(Virtual, "PUNTO_RED", "Punto Red"),
    popup("QIWI", "QIWI"),
    later(Virtual, "RAPI_PAGO", "Rapipago"),
    later(Virtual, "RATENKAUF", "Ratenkauf"),
    later(Virtual, "RED_SERVI", "Red Servi"),
    later(Virtual, "ROCKETFUEL", "RocketFuel"),
    later(Bank, "SADAD", "SADAD"),
    later(Virtual, "SADAD_VA", "SADAD"),
    later(Virtual, "SCOTIABANK", "Scotiabank"),
    later(Virtual, "SENCILLITO", "Sencillito"),
    now(Bank, "SEPA", "SEPA"),
    later(Virtual, "SEZZLE", "Sezzle"),
    later(Virtual, "SHETAB", "Shetab"),
    now(Virtual, "SIBS_MULTIBANCO", "Multibanco"),
    later(Virtual, "SOFINCO", "Sofinco"),
    later(Virtual, "SOFINCOSANSFRAIS", "Sofinco sans frais"),
    later(Bank, "SOFORTUEBERWEISUNG", "Sofort"),
    later(Virtual, "SPOTII", "Spotii"),
    later(Virtual, "STC_PAY", "stc pay"),
    later(Virtual, "SU_RED", "SuRed"),
    later(Virtual, "SU_SUERTE", "SuSuerte"),
    later(Virtual, "TABBY", "Tabby"),
    later(Virtual, "TAMARA", "Tamara"),
    popup("TENPAY", "Tenpay"),
    later(Virtual, "TRUSTLY", "Trustly"),
    later(Bank, "TRUSTPAY_VA", "TrustPay"),
    later(Virtual, "TWINT", "TWINT"),
    later(Virtual, "UKASH", "Ukash"),
    later(Virtual, "VALU", "valU"),
    later(Virtual, "VIPPS", "Vipps"),
    popup("WECHAT_PAY", "WeChat Pay"),
    later(Virtual, "WESTERN_UNION", "Western Union"),
    popup("YANDEX", "YooMoney"),
    popup("YANDEX_CHECKOUT", "YooKassa"),
    later(Virtual, "ZOODPAY", "ZoodPay"),
];

/// All of them, sorted by code.
pub(super) static BRANDS: [Brand; CARDS.len() + OTHERS.len()] = merged();

const fn merged() -> [Brand; CARDS.len() + OTHERS.len()] {
    let mut all = [CARDS[0]; CARDS.len() + OTHERS.len()];
    let (mut card, mut other) = (0, 0);
    while card + other < all.len() {
        if other == OTHERS.len() || card < CARDS.len() && is_before(CARDS[card].code, OTHERS[other].code) {
            all[card + other] = CARDS[card];
            card += 1;
        } else {
            all[card + other] = OTHERS[other];
            other += 1;
        }
    }
    all
}

/// Compares two codes while compiling.
const fn is_before(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < one.len() && place < other.len() {
        if one[place] != other[place] {
            return one[place] < other[place];
        }
        place += 1;
    }
    one.len() < other.len()
}
