//! The table of brands, one row each, sorted by code: name, flow, card scheme, and the fields of its form. The function
//! at the head of a row sets the columns that all brands of its kind share.
//!
//! Cards are separate, because the frames of the form need only them. Account and flow of a code are those of the
//! contract.

use super::Flow::{self, Now, Popup, Redirect};
use super::{AccountType, Brand, FormKind, PaymentMethod, Scheme, scheme};

/// Keys of fields that the merchant may switch on.
const BIRTH_DATE: &[&str] = &["birthDate"];
/// Same for brands of countries in which a voucher must have the payer's tax number.
const TAX_NUMBER: &[&str] = &["taxNumber"];

/// Creates a row without fields, extras and scheme.
const fn new_brand(
    code: &'static str,
    name: &'static str,
    kind: AccountType,
    flow: Flow,
    method: PaymentMethod,
    form: FormKind,
) -> Brand {
    Brand { code, name, kind, flow, method, form, fields: &[], extras: &[], scheme: None }
}

/// Creates the row of a credit card.
const fn credit_card(code: &'static str, name: &'static str) -> Brand {
    new_brand(code, name, AccountType::Card, Now, PaymentMethod::CreditCard, FormKind::Card)
}

/// Creates the row of a debit card.
const fn debit_card(code: &'static str, name: &'static str) -> Brand {
    new_brand(code, name, AccountType::Card, Now, PaymentMethod::DebitCard, FormKind::Card)
}

/// Creates the row of a wallet that provides cards, synchronously.
const fn wallet(code: &'static str, name: &'static str) -> Brand {
    new_brand(code, name, AccountType::Wallet, Now, PaymentMethod::CreditCard, FormKind::VirtualAccount)
}

/// Creates the row of a brand that charges a bank account with a mandate, synchronously. Its form has the fields of the
/// account.
const fn direct_debit(code: &'static str, name: &'static str) -> Brand {
    new_brand(code, name, AccountType::Bank, Now, PaymentMethod::DirectDebit, FormKind::DirectDebit).with_fields(&[
        "accountHolder",
        "accountNumber",
        "accountBank?",
        "country?",
    ])
}

/// Creates the row of a brand that tells the shopper the amount to transfer, and is paid before the goods are sent. It
/// has no fields.
const fn prepayment(flow: Flow, code: &'static str, name: &'static str) -> Brand {
    new_brand(code, name, AccountType::Bank, flow, PaymentMethod::Prepayment, FormKind::Prepayment)
}

/// Creates the row of a brand that redirects the shopper to the bank.
const fn online_transfer(code: &'static str, name: &'static str) -> Brand {
    new_brand(code, name, AccountType::Bank, Redirect, PaymentMethod::OnlineTransfer, FormKind::OnlineTransfer)
}

/// Creates the row of an account at a provider.
const fn virtual_account(flow: Flow, code: &'static str, name: &'static str) -> Brand {
    new_brand(code, name, AccountType::Virtual, flow, PaymentMethod::VirtualAccount, FormKind::VirtualAccount)
}

impl Brand {
    const fn with_scheme(self, scheme: &'static Scheme) -> Self {
        Self { scheme: Some(scheme), ..self }
    }

    const fn with_fields(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    const fn with_extras(self, extras: &'static [&'static str]) -> Self {
        Self { extras, ..self }
    }
}

/// Cards, sorted by code.
pub(super) static CARDS: [Brand; 50] = [
    credit_card("ADVANTAGE", "Advantage"),
    credit_card("AIRPLUS", "AirPlus").with_scheme(&scheme::AIRPLUS),
    credit_card("ALIA", "Alia"),
    debit_card("ALIADEBIT", "Alia Debit"),
    credit_card("AMEX", "American Express").with_scheme(&scheme::AMEX),
    credit_card("ARGENCARD", "Argencard").with_scheme(&scheme::ARGENCARD),
    credit_card("ASYACARD", "Asya Card"),
    credit_card("AXESS", "Axess"),
    debit_card("BCMC", "Bancontact").with_scheme(&scheme::BANCONTACT),
    credit_card("BONUS", "Bonus"),
    credit_card("CABAL", "Cabal").with_scheme(&scheme::CABAL),
    debit_card("CABALDEBIT", "Cabal Debit").with_scheme(&scheme::CABAL),
    credit_card("CARDFINANS", "CardFinans"),
    credit_card("CARNET", "Carnet").with_scheme(&scheme::CARNET),
    credit_card("CARTEBANCAIRE", "Cartes Bancaires").with_scheme(&scheme::CARTE_BANCAIRE),
    credit_card("CARTEBLEUE", "Carte Bleue"),
    credit_card("CENCOSUD", "Cencosud").with_scheme(&scheme::CENCOSUD),
    debit_card("DANKORT", "Dankort").with_scheme(&scheme::DANKORT),
    credit_card("DINERS", "Diners Club").with_scheme(&scheme::DINERS),
    credit_card("DISCOVER", "Discover").with_scheme(&scheme::DISCOVER),
    credit_card("ELO", "Elo").with_scheme(&scheme::ELO),
    credit_card("EURO6000", "Euro 6000"),
    credit_card("FACILYPAY_3X", "FacilyPay 3x"),
    credit_card("FACILYPAY_3XSANSFRAIS", "FacilyPay 3x sans frais"),
    credit_card("FACILYPAY_4X", "FacilyPay 4x"),
    credit_card("FACILYPAY_4XSANSFRAIS", "FacilyPay 4x sans frais"),
    credit_card("HIPERCARD", "Hipercard").with_scheme(&scheme::HIPERCARD),
    credit_card("JCB", "JCB").with_scheme(&scheme::JCB),
    debit_card("MADA", "mada").with_scheme(&scheme::MADA),
    debit_card("MAESTRO", "Maestro").with_scheme(&scheme::MAESTRO),
    credit_card("MASTER", "Mastercard").with_scheme(&scheme::MASTER),
    debit_card("MASTERDEBIT", "Debit Mastercard").with_scheme(&scheme::MASTER_GUEST),
    credit_card("MAXIMUM", "Maximum"),
    debit_card("MEEZA", "Meeza").with_scheme(&scheme::MEEZA),
    credit_card("MERCADOLIVRE", "Mercado Livre"),
    credit_card("NARANJA", "Naranja").with_scheme(&scheme::NARANJA),
    credit_card("NATIVA", "Nativa").with_scheme(&scheme::NATIVA),
    credit_card("POSTEPAY", "Postepay"),
    debit_card("SERVIRED", "ServiRed"),
    credit_card("SISTEMACLAVE", "Sistema Clave"),
    credit_card("TARJETASHOPPING", "Tarjeta Shopping").with_scheme(&scheme::TARJETA_SHOPPING),
    credit_card("TCARD", "T-Card"),
    debit_card("TCARDDEBIT", "T-Card Debit"),
    credit_card("UNIONPAY", "UnionPay").with_scheme(&scheme::UNIONPAY),
    credit_card("UNIONPAY_SMS", "UnionPay").with_scheme(&scheme::UNIONPAY),
    credit_card("VISA", "Visa").with_scheme(&scheme::VISA),
    debit_card("VISADEBIT", "Visa Debit").with_scheme(&scheme::VISA_GUEST),
    debit_card("VISAELECTRON", "Visa Electron").with_scheme(&scheme::VISA_ELECTRON),
    debit_card("VPAY", "V PAY").with_scheme(&scheme::VISA_GUEST),
    credit_card("WORLD", "World"),
];

/// All other brands, sorted by code.
static OTHERS: [Brand; 120] = [
    virtual_account(Redirect, "AFFIRM", "Affirm"),
    virtual_account(Now, "AFTERPAY", "Afterpay").with_fields(&["accountId"]).with_extras(BIRTH_DATE),
    virtual_account(Redirect, "AFTERPAY_PACIFIC", "Afterpay"),
    virtual_account(Popup, "ALIPAY", "Alipay"),
    virtual_account(Redirect, "APOSTAR", "Apostar"),
    wallet("APPLEPAY", "Apple Pay"),
    virtual_account(Redirect, "ASTROPAY_STREAMLINE_CASH", "AstroPay Cash").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "ASTROPAY_STREAMLINE_OT", "AstroPay Online Transfer").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "BALOTO", "Baloto").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "BANCOLOMBIA", "Bancolombia"),
    virtual_account(Redirect, "BANCONTACT_LINK", "Bancontact Payconiq"),
    virtual_account(Redirect, "BANCONTACT_QR", "Bancontact QR"),
    virtual_account(Redirect, "BBVA_CONTINENTAL", "BBVA Continental"),
    virtual_account(Redirect, "BCP", "BCP"),
    virtual_account(Redirect, "BEVALIDA", "BeValida"),
    online_transfer("BITCOIN", "Bitcoin"),
    virtual_account(Redirect, "BLIK", "BLIK"),
    prepayment(Now, "BOLETO", "Boleto").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "BOTON_PSE", "PSE").with_extras(TAX_NUMBER),
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
    virtual_account(Redirect, "EFECTY", "Efecty").with_extras(TAX_NUMBER),
    online_transfer("ENTERCASH", "Entercash").with_fields(&["country"]),
    virtual_account(Redirect, "ENTERPAY", "Enterpay"),
    online_transfer("EPS", "eps"),
    virtual_account(Redirect, "GANA", "Gana"),
    online_transfer("GIROPAY", "giropay").with_fields(&["accountBank?"]),
    wallet("GOOGLEPAY", "Google Pay"),
    online_transfer("IDEAL", "iDEAL"),
    virtual_account(Redirect, "IKANOOI_SE", "Ikano Bank").with_extras(BIRTH_DATE),
    virtual_account(Redirect, "INICIS", "Inicis"),
    online_transfer("INTERAC_ONLINE", "Interac Online"),
    virtual_account(Redirect, "INTERBANK", "Interbank"),
    virtual_account(Redirect, "KLARNA_INSTALLMENTS", "Klarna Installments").with_extras(BIRTH_DATE),
    virtual_account(Redirect, "KLARNA_INVOICE", "Klarna Invoice").with_extras(BIRTH_DATE),
    virtual_account(Redirect, "KLARNA_PAYMENTS_BILLPAY", "Klarna Billpay"),
    virtual_account(Redirect, "KLARNA_PAYMENTS_ONE", "Klarna"),
    virtual_account(Redirect, "KLARNA_PAYMENTS_PAYLATER", "Klarna Pay later").with_extras(BIRTH_DATE),
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
    virtual_account(Redirect, "ONEY", "Oney").with_extras(BIRTH_DATE),
    prepayment(Redirect, "OXXO", "OXXO").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "PAGOSNET", "PagosNet"),
    virtual_account(Redirect, "PAGO_EFECTIVO", "PagoEfectivo").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "PAGO_FACIL", "Pago Fácil").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "PAYBOX", "paybox"),
    virtual_account(Redirect, "PAYDIREKT", "paydirekt"),
    virtual_account(Redirect, "PAYNET", "Paynet"),
    virtual_account(Redirect, "PAYOLUTION_ELV", "Payolution Direct Debit").with_extras(BIRTH_DATE),
    virtual_account(Redirect, "PAYOLUTION_INS", "Payolution Installments").with_extras(BIRTH_DATE),
    virtual_account(Redirect, "PAYOLUTION_INVOICE", "Payolution Invoice").with_extras(BIRTH_DATE),
    virtual_account(Popup, "PAYPAL", "PayPal"),
    virtual_account(Popup, "PAYPAL_CONTINUE", "PayPal"),
    virtual_account(Redirect, "PAYSAFECARD", "paysafecard"),
    virtual_account(Redirect, "PAYTRAIL", "Paytrail"),
    virtual_account(Redirect, "PAYTRAIL_VA", "Paytrail"),
    virtual_account(Redirect, "PF_KARTE_DIRECT", "PostFinance Card"),
    virtual_account(Redirect, "PIX", "Pix").with_extras(TAX_NUMBER),
    online_transfer("POLI", "POLi"),
    virtual_account(Redirect, "POSTPAY", "Postpay"),
    prepayment(Redirect, "PREPAYMENT", "Prepayment"),
    virtual_account(Redirect, "PREPAYMENT_VRP", "Prepayment"),
    virtual_account(Redirect, "PRZELEWY", "Przelewy24"),
    virtual_account(Redirect, "PUNTO_RED", "Punto Red"),
    virtual_account(Popup, "QIWI", "QIWI"),
    virtual_account(Redirect, "RAPI_PAGO", "Rapipago").with_extras(TAX_NUMBER),
    virtual_account(Redirect, "RATENKAUF", "Ratenkauf").with_extras(BIRTH_DATE),
    virtual_account(Redirect, "RED_SERVI", "Red Servi"),
    virtual_account(Redirect, "ROCKETFUEL", "RocketFuel"),
    online_transfer("SADAD", "SADAD"),
    virtual_account(Redirect, "SADAD_VA", "SADAD"),
    virtual_account(Redirect, "SCOTIABANK", "Scotiabank"),
    virtual_account(Redirect, "SENCILLITO", "Sencillito"),
    direct_debit("SEPA", "SEPA"),
    virtual_account(Redirect, "SEZZLE", "Sezzle"),
    virtual_account(Redirect, "SHETAB", "Shetab"),
    // Gets its result at once, but needs no account: the shopper gets a reference and pays at a machine.
    virtual_account(Now, "SIBS_MULTIBANCO", "Multibanco"),
    virtual_account(Redirect, "SOFINCO", "Sofinco").with_extras(BIRTH_DATE),
    virtual_account(Redirect, "SOFINCOSANSFRAIS", "Sofinco sans frais").with_extras(BIRTH_DATE),
    online_transfer("SOFORTUEBERWEISUNG", "Sofort").with_fields(&["country"]),
    virtual_account(Redirect, "SPOTII", "Spotii"),
    virtual_account(Redirect, "STC_PAY", "stc pay").with_fields(&["paymentMode", "mobilePhone"]),
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

/// All brands, sorted by code.
pub(super) static BRANDS: [Brand; CARDS.len() + OTHERS.len()] = merge_brands();

/// Merges cards and other brands at compile time. Both tables are sorted by code, and so is the result.
const fn merge_brands() -> [Brand; CARDS.len() + OTHERS.len()] {
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

/// Returns true if a code sorts before another one. Usable at compile time, unlike the comparison of `str`.
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
