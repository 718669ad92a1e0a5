//! Which form a brand has: data that travels with the checkout's configuration, so that a new brand needs no new code in
//! the browser.

use super::{Brand, Kind};

/// The form of a brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The word for it in class names: `wpwl-container-onlineTransfer-IDEAL`.
    pub name: &'static str,
    /// Its fields by their keys, in order; none for a brand that has a button alone. A key that ends with `?` may stay
    /// empty. Card forms have fields of their own.
    pub fields: &'static [&'static str],
    /// Fields that the merchant may switch on, by the same keys.
    pub extras: &'static [&'static str],
}

/// Brands that charge a bank account by a mandate; they share one form.
pub const DIRECT_DEBITS: [&str; 2] = ["DIRECTDEBIT_SEPA", "SEPA"];
/// Answers at once, and yet charges no account: the shopper gets a reference and pays at a machine.
pub const PAID_ELSEWHERE: &str = "SIBS_MULTIBANCO";
/// The shopper is told what to transfer, and pays before the goods are sent.
const PREPAYMENTS: [&str; 5] = ["BOLETO", "OXXO", "PREPAYMENT", "PREPAYMENT_VRP", "WESTERN_UNION"];

/// The provider lends the shopper money, and may ask for the day of birth.
const CREDITS: [&str; 12] = [
    "AFTERPAY",
    "IKANOOI_SE",
    "KLARNA_INSTALLMENTS",
    "KLARNA_INVOICE",
    "KLARNA_PAYMENTS_PAYLATER",
    "ONEY",
    "PAYOLUTION_ELV",
    "PAYOLUTION_INS",
    "PAYOLUTION_INVOICE",
    "RATENKAUF",
    "SOFINCO",
    "SOFINCOSANSFRAIS",
];
/// Paid in countries where a voucher bears the payer's tax number.
const VOUCHERS: [&str; 11] = [
    "ASTROPAY_STREAMLINE_CASH",
    "ASTROPAY_STREAMLINE_OT",
    "BALOTO",
    "BOLETO",
    "BOTON_PSE",
    "EFECTY",
    "OXXO",
    "PAGO_EFECTIVO",
    "PAGO_FACIL",
    "PIX",
    "RAPI_PAGO",
];

const ACCOUNT: &[&str] = &["accountHolder", "accountNumber", "accountBank", "country?"];

impl Brand {
    /// The form in which it is paid with.
    pub fn form(&self) -> Form {
        let (name, fields): (_, &[_]) = match (self.kind, self.code) {
            (Kind::Card, _) => ("card", &[]),
            (_, code) if DIRECT_DEBITS.contains(&code) => ("directDebit", ACCOUNT),
            (_, code) if PREPAYMENTS.contains(&code) => ("prepayment", &[]),
            (Kind::Bank, "ENTERCASH" | "SOFORTUEBERWEISUNG") => ("onlineTransfer", &["country"]),
            (Kind::Bank, "GIROPAY") => ("onlineTransfer", &["accountBank?"]),
            (Kind::Bank, _) => ("onlineTransfer", &[]),
            (Kind::Virtual, code) if self.synchronous() && code != PAID_ELSEWHERE => ("virtualAccount", &["accountId"]),
            (_, "STC_PAY") => ("virtualAccount", &["paymentMode", "mobilePhone"]),
            (Kind::Virtual | Kind::Wallet, _) => ("virtualAccount", &[]),
        };
        let extras: &[&str] = match self.code {
            code if CREDITS.contains(&code) => &["birthDate"],
            code if VOUCHERS.contains(&code) => &["taxNumber"],
            _ => &[],
        };
        Form { name, fields, extras }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn each_brand_has_the_form_that_merchants_know_it_by() {
        for (code, name, fields) in [
            ("VISA", "card", 0),
            ("SEPA", "directDebit", 4),
            ("DIRECTDEBIT_SEPA", "directDebit", 4),
            ("IDEAL", "onlineTransfer", 0),
            ("EPS", "onlineTransfer", 0),
            ("SOFORTUEBERWEISUNG", "onlineTransfer", 1),
            ("PREPAYMENT", "prepayment", 0),
            ("PAYPAL", "virtualAccount", 0),
            ("AFTERPAY", "virtualAccount", 1),
            ("SIBS_MULTIBANCO", "virtualAccount", 0),
            ("APPLEPAY", "virtualAccount", 0),
            ("STC_PAY", "virtualAccount", 2),
        ] {
            let form = Brand::find(code).unwrap().form();
            assert_eq!((form.name, form.fields.len()), (name, fields), "{code}");
        }
    }

    #[test]
    fn what_a_merchant_may_switch_on_is_of_brands_that_exist_and_are_no_cards() {
        for (codes, extra) in [(&CREDITS[..], "birthDate"), (&VOUCHERS, "taxNumber")] {
            for code in codes {
                let brand = Brand::find(code).unwrap();
                assert_ne!(brand.kind, Kind::Card, "{code}");
                assert_eq!(brand.form().extras, [extra], "{code}");
            }
        }
    }
}
