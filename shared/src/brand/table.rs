//! One row a brand, by code: name, flow, card scheme, and what its form asks for. The function at the head of a row fills
//! in the columns that all brands of its kind share.
//!
//! Cards stand apart, because the frames of the form need them and nothing else. Account and flow of a code are the
//! contract's.

use super::Flow::{self, Now, Popup, Redirect};
use super::{Brand, FormKind, Kind, Method, Scheme, scheme};

/// The keys of fields that the merchant may switch on.
const BIRTH_DATE: &[&str] = &["birthDate"];
/// The same for brands that are paid in countries where a voucher bears the payer's tax number.
const TAX_NUMBER: &[&str] = &["taxNumber"];

/// A row without anything that few brands have.
const fn row(code: &'static str, name: &'static str, kind: Kind, flow: Flow, method: Method, form: FormKind) -> Brand {
    Brand { code, name, kind, flow, method, form, fields: &[], extras: &[], scheme: None }
}

/// A credit card.
const fn credit(code: &'static str, name: &'static str) -> Brand {
    row(code, name, Kind::Card, Now, Method::CreditCard, FormKind::Card)
}

/// A debit card.
const fn debit(code: &'static str, name: &'static str) -> Brand {
    row(code, name, Kind::Card, Now, Method::DebitCard, FormKind::Card)
}

/// A wallet that hands out cards.
const fn wallet(code: &'static str, name: &'static str) -> Brand {
    row(code, name, Kind::Wallet, Now, Method::CreditCard, FormKind::VirtualAccount)
}

/// A brand that charges a bank account by a mandate.
const fn direct_debit(code: &'static str, name: &'static str) -> Brand {
    row(code, name, Kind::Bank, Now, Method::DirectDebit, FormKind::DirectDebit).asking(&[
        "accountHolder",
        "accountNumber",
        "accountBank",
        "country?",
    ])
}

/// A brand that tells the shopper what to pay, and is paid before the goods are sent.
const fn prepayment(flow: Flow, code: &'static str, name: &'static str) -> Brand {
    row(code, name, Kind::Bank, flow, Method::Prepayment, FormKind::Prepayment)
}

/// A brand that sends the shopper to the bank.
const fn online_transfer(code: &'static str, name: &'static str) -> Brand {
    row(code, name, Kind::Bank, Redirect, Method::OnlineTransfer, FormKind::OnlineTransfer)
}

/// An account at a provider.
const fn virtual_account(flow: Flow, code: &'static str, name: &'static str) -> Brand {
    row(code, name, Kind::Virtual, flow, Method::VirtualAccount, FormKind::VirtualAccount)
}

impl Brand {
    const fn of_scheme(self, scheme: &'static Scheme) -> Self {
        Self { scheme: Some(scheme), ..self }
    }

    const fn asking(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    const fn offering(self, extras: &'static [&'static str]) -> Self {
        Self { extras, ..self }
    }
}

/// Cards, sorted by code.
pub(super) static CARDS: [Brand; 50] = [
    credit("ADVANTAGE", "Advantage"),
    credit("AIRPLUS", "AirPlus").of_scheme(&scheme::AIRPLUS),
    credit("ALIA", "Alia"),
    debit("ALIADEBIT", "Alia Debit"),
    credit("AMEX", "American Express").of_scheme(&scheme::AMEX),
    credit("ARGENCARD", "Argencard").of_scheme(&scheme::ARGENCARD),
    credit("ASYACARD", "Asya Card"),
    credit("AXESS", "Axess"),
    debit("BCMC", "Bancontact").of_scheme(&scheme::BANCONTACT),
    credit("BONUS", "Bonus"),
    credit("CABAL", "Cabal").of_scheme(&scheme::CABAL),
    debit("CABALDEBIT", "Cabal Debit").of_scheme(&scheme::CABAL),
    credit("CARDFINANS", "CardFinans"),
    credit("CARNET", "Carnet").of_scheme(&scheme::CARNET),
    credit("CARTEBANCAIRE", "Cartes Bancaires").of_scheme(&scheme::CARTE_BANCAIRE),
    credit("CARTEBLEUE", "Carte Bleue"),
    credit("CENCOSUD", "Cencosud").of_scheme(&scheme::CENCOSUD),
    debit("DANKORT", "Dankort").of_scheme(&scheme::DANKORT),
    credit("DINERS", "Diners Club").of_scheme(&scheme::DINERS),
    credit("DISCOVER", "Discover").of_scheme(&scheme::DISCOVER),
    credit("ELO", "Elo").of_scheme(&scheme::ELO),
    credit("EURO6000", "Euro 6000"),
    credit("FACILYPAY_3X", "FacilyPay 3x"),
    credit("FACILYPAY_3XSANSFRAIS", "FacilyPay 3x sans frais"),
    credit("FACILYPAY_4X", "FacilyPay 4x"),
    credit("FACILYPAY_4XSANSFRAIS", "FacilyPay 4x sans frais"),
    credit("HIPERCARD", "Hipercard").of_scheme(&scheme::HIPERCARD),
    credit("JCB", "JCB").of_scheme(&scheme::JCB),
    debit("MADA", "mada").of_scheme(&scheme::MADA),
    debit("MAESTRO", "Maestro").of_scheme(&scheme::MAESTRO),
    credit("MASTER", "Mastercard").of_scheme(&scheme::MASTER),
    debit("MASTERDEBIT", "Debit Mastercard").of_scheme(&scheme::MASTER_GUEST),
    credit("MAXIMUM", "Maximum"),
    debit("MEEZA", "Meeza").of_scheme(&scheme::MEEZA),
    credit("MERCADOLIVRE", "Mercado Livre"),
    credit("NARANJA", "Naranja").of_scheme(&scheme::NARANJA),
    credit("NATIVA", "Nativa").of_scheme(&scheme::NATIVA),
    credit("POSTEPAY", "Postepay"),
    debit("SERVIRED", "ServiRed"),
    credit("SISTEMACLAVE", "Sistema Clave"),
    credit("TARJETASHOPPING", "Tarjeta Shopping").of_scheme(&scheme::TARJETA_SHOPPING),
    credit("TCARD", "T-Card"),
    debit("TCARDDEBIT", "T-Card Debit"),
    credit("UNIONPAY", "UnionPay").of_scheme(&scheme::UNIONPAY),
    credit("UNIONPAY_SMS", "UnionPay").of_scheme(&scheme::UNIONPAY),
    credit("VISA", "Visa").of_scheme(&scheme::VISA),
    debit("VISADEBIT", "Visa Debit").of_scheme(&scheme::VISA_GUEST),
    debit("VISAELECTRON", "Visa Electron").of_scheme(&scheme::VISA_ELECTRON),
    debit("VPAY", "V PAY").of_scheme(&scheme::VISA_GUEST),
    credit("WORLD", "World"),
];

/// Everything else, sorted by code.
static OTHERS: [Brand; 120] = [
    virtual_account(Redirect, "AFFIRM", "Affirm"),
    virtual_account(Now, "AFTERPAY", "Afterpay").asking(&["accountId"]).offering(BIRTH_DATE),
    virtual_account(Redirect, "AFTERPAY_PACIFIC", "Afterpay"),
    virtual_account(Popup, "ALIPAY", "Alipay"),
    virtual_account(Redirect, "APOSTAR", "Apostar"),
    wallet("APPLEPAY", "Apple Pay"),
    virtual_account(Redirect, "ASTROPAY_STREAMLINE_CASH", "AstroPay Cash").offering(TAX_NUMBER),
    virtual_account(Redirect, "ASTROPAY_STREAMLINE_OT", "AstroPay Online Transfer").offering(TAX_NUMBER),
    virtual_account(Redirect, "BALOTO", "Baloto").offering(TAX_NUMBER),
    virtual_account(Redirect, "BANCOLOMBIA", "Bancolombia"),
    virtual_account(Redirect, "BANCONTACT_LINK", "Bancontact Payconiq"),
    virtual_account(Redirect, "BANCONTACT_QR", "Bancontact QR"),
    virtual_account(Redirect, "BBVA_CONTINENTAL", "BBVA Continental"),
    virtual_account(Redirect, "BCP", "BCP"),
    virtual_account(Redirect, "BEVALIDA", "BeValida"),
    online_transfer("BITCOIN", "Bitcoin"),
    virtual_account(Redirect, "BLIK", "BLIK"),
    prepayment(Now, "BOLETO", "Boleto").offering(TAX_NUMBER),
    virtual_account(Redirect, "BOTON_PSE", "PSE").offering(TAX_NUMBER),
    virtual_account(Redirect, "CAJA_AREQUIPA", "Caja Arequipa"),
    virtual_account(Redirect, "CAJA_CUSCO", "Caja Cusco"),
    virtual_account(Redirect, "CAJA_HUANCAYO", "Caja Huancayo"),
    virtual_account(Redirect, "CAJA_ICA", "Caja Ica"),
    virtual_account(Redirect, "CAJA_PIURA", "Caja Piura"),
    virtual_account(Redirect, "CAJA_TACNA", "Caja Tacna"),
    virtual_account(Redirect, "CAJA_TRUJILLO", "Caja Trujillo"),
    virtual_account(Redirect, "CASHU", "CASHU"),
    virtual_account(Redirect, "CHINAUNIONPAY", "UnionPay"),
    wallet("CLICK_TO_PAY", "Click to Pay"),
    virtual_account(Redirect, "CLIQ", "CliQ"),
    virtual_account(Redirect, "CREDIT_CLICK", "CreditClick"),
    virtual_account(Redirect, "DAOPAY", "DaoPay"),
    virtual_account(Redirect, "DIMONEX", "Dimonex"),
    direct_debit("DIRECTDEBIT_SEPA", "SEPA Direct Debit"),
    virtual_account(Redirect, "EFECTY", "Efecty").offering(TAX_NUMBER),
    online_transfer("ENTERCASH", "Entercash").asking(&["country"]),
    virtual_account(Redirect, "ENTERPAY", "Enterpay"),
    online_transfer("EPS", "eps"),
    virtual_account(Redirect, "GANA", "Gana"),
    online_transfer("GIROPAY", "giropay").asking(&["accountBank?"]),
    wallet("GOOGLEPAY", "Google Pay"),
    online_transfer("IDEAL", "iDEAL"),
    virtual_account(Redirect, "IKANOOI_SE", "Ikano Bank").offering(BIRTH_DATE),
    virtual_account(Redirect, "INICIS", "Inicis"),
    online_transfer("INTERAC_ONLINE", "Interac Online"),
    virtual_account(Redirect, "INTERBANK", "Interbank"),
    virtual_account(Redirect, "KLARNA_INSTALLMENTS", "Klarna Installments").offering(BIRTH_DATE),
    virtual_account(Redirect, "KLARNA_INVOICE", "Klarna Invoice").offering(BIRTH_DATE),
    virtual_account(Redirect, "KLARNA_PAYMENTS_BILLPAY", "Klarna Billpay"),
    virtual_account(Redirect, "KLARNA_PAYMENTS_ONE", "Klarna"),
    virtual_account(Redirect, "KLARNA_PAYMENTS_PAYLATER", "Klarna Pay later").offering(BIRTH_DATE),
    virtual_account(Redirect, "KLARNA_PAYMENTS_PAYNOW", "Klarna Pay now"),
    virtual_account(Redirect, "KLARNA_PAYMENTS_SLICEIT", "Klarna Slice it"),
    wallet("MASTERPASS", "Masterpass"),
    virtual_account(Redirect, "MBWAY", "MB WAY"),
    virtual_account(Redirect, "MEEZA_LINK", "Meeza Link"),
    virtual_account(Redirect, "MEEZA_QR", "Meeza QR"),
    virtual_account(Popup, "MONEYBOOKERS", "Skrill"),
    virtual_account(Redirect, "MONEYSAFE", "MoneySafe"),
    virtual_account(Redirect, "MSTART", "mStart"),
    virtual_account(Redirect, "NEQUI", "Nequi"),
    virtual_account(Redirect, "ONECARD", "OneCard"),
    virtual_account(Redirect, "ONEY", "Oney").offering(BIRTH_DATE),
    prepayment(Redirect, "OXXO", "OXXO").offering(TAX_NUMBER),
    virtual_account(Redirect, "PAGOSNET", "PagosNet"),
    virtual_account(Redirect, "PAGO_EFECTIVO", "PagoEfectivo").offering(TAX_NUMBER),
    virtual_account(Redirect, "PAGO_FACIL", "Pago Fácil").offering(TAX_NUMBER),
    virtual_account(Redirect, "PAYBOX", "paybox"),
    virtual_account(Redirect, "PAYDIREKT", "paydirekt"),
    virtual_account(Redirect, "PAYNET", "Paynet"),
    virtual_account(Redirect, "PAYOLUTION_ELV", "Payolution Direct Debit").offering(BIRTH_DATE),
    virtual_account(Redirect, "PAYOLUTION_INS", "Payolution Installments").offering(BIRTH_DATE),
    virtual_account(Redirect, "PAYOLUTION_INVOICE", "Payolution Invoice").offering(BIRTH_DATE),
    virtual_account(Popup, "PAYPAL", "PayPal"),
    virtual_account(Popup, "PAYPAL_CONTINUE", "PayPal"),
    virtual_account(Redirect, "PAYSAFECARD", "paysafecard"),
    virtual_account(Redirect, "PAYTRAIL", "Paytrail"),
    virtual_account(Redirect, "PAYTRAIL_VA", "Paytrail"),
    virtual_account(Redirect, "PF_KARTE_DIRECT", "PostFinance Card"),
    virtual_account(Redirect, "PIX", "Pix").offering(TAX_NUMBER),
    online_transfer("POLI", "POLi"),
    virtual_account(Redirect, "POSTPAY", "Postpay"),
    prepayment(Redirect, "PREPAYMENT", "Prepayment"),
    virtual_account(Redirect, "PREPAYMENT_VRP", "Prepayment"),
    virtual_account(Redirect, "PRZELEWY", "Przelewy24"),
    virtual_account(Redirect, "PUNTO_RED", "Punto Red"),
    virtual_account(Popup, "QIWI", "QIWI"),
    virtual_account(Redirect, "RAPI_PAGO", "Rapipago").offering(TAX_NUMBER),
    virtual_account(Redirect, "RATENKAUF", "Ratenkauf").offering(BIRTH_DATE),
    virtual_account(Redirect, "RED_SERVI", "Red Servi"),
    virtual_account(Redirect, "ROCKETFUEL", "RocketFuel"),
    online_transfer("SADAD", "SADAD"),
    virtual_account(Redirect, "SADAD_VA", "SADAD"),
    virtual_account(Redirect, "SCOTIABANK", "Scotiabank"),
    virtual_account(Redirect, "SENCILLITO", "Sencillito"),
    direct_debit("SEPA", "SEPA"),
    virtual_account(Redirect, "SEZZLE", "Sezzle"),
    virtual_account(Redirect, "SHETAB", "Shetab"),
    // Answers at once, and yet asks for no account: the shopper gets a reference and pays at a machine.
    virtual_account(Now, "SIBS_MULTIBANCO", "Multibanco"),
    virtual_account(Redirect, "SOFINCO", "Sofinco").offering(BIRTH_DATE),
    virtual_account(Redirect, "SOFINCOSANSFRAIS", "Sofinco sans frais").offering(BIRTH_DATE),
    online_transfer("SOFORTUEBERWEISUNG", "Sofort").asking(&["country"]),
    virtual_account(Redirect, "SPOTII", "Spotii"),
    virtual_account(Redirect, "STC_PAY", "stc pay").asking(&["paymentMode", "mobilePhone"]),
    virtual_account(Redirect, "SU_RED", "SuRed"),
    virtual_account(Redirect, "SU_SUERTE", "SuSuerte"),
    virtual_account(Redirect, "TABBY", "Tabby"),
    virtual_account(Redirect, "TAMARA", "Tamara"),
    virtual_account(Popup, "TENPAY", "Tenpay"),
    virtual_account(Redirect, "TRUSTLY", "Trustly"),
    online_transfer("TRUSTPAY_VA", "TrustPay"),
    virtual_account(Redirect, "TWINT", "TWINT"),
    virtual_account(Redirect, "UKASH", "Ukash"),
    virtual_account(Redirect, "VALU", "valU"),
    virtual_account(Redirect, "VIPPS", "Vipps"),
    virtual_account(Popup, "WECHAT_PAY", "WeChat Pay"),
    virtual_account(Redirect, "WESTERN_UNION", "Western Union"),
    virtual_account(Popup, "YANDEX", "YooMoney"),
    virtual_account(Popup, "YANDEX_CHECKOUT", "YooKassa"),
    virtual_account(Redirect, "ZOODPAY", "ZoodPay"),
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
