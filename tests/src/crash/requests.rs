//! The requests of the crash test's clients. Each has its own idempotency key, so that it can be sent again.

use reqwest::Method;

use crate::{ApiResponse, CARD, MerchantClient, encode_form};

/// Field that sends a payment to the acquirer host.
const EXTERNAL: (&str, &str) = ("testMode", "EXTERNAL");

/// A request with its own idempotency key.
#[derive(Debug, Clone)]
pub(super) struct KeyedRequest {
    pub(super) path: String,
    fields: Vec<(String, String)>,
    pub(super) key: String,
    pub(super) kind: RequestKind,
}

/// Type of a follow-up payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FollowUpType {
    Capture,
    Refund,
    Reversal,
    Chargeback,
}

impl FollowUpType {
    /// Returns the value of `paymentType`.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Capture => "CP",
            Self::Refund => "RF",
            Self::Reversal => "RV",
            Self::Chargeback => "CB",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestKind {
    Payment,
    /// A payment that is later charged back, and has no other follow-up payments.
    Disputed,
    /// A payment at the acquirer host.
    External,
    /// A reservation at the acquirer host.
    Reservation,
    /// A payment that its shopper decides about on a page.
    Pending,
    /// A follow-up payment of the payment with this id.
    FollowUp(FollowUpType, String),
}

impl KeyedRequest {
    /// Returns a debit of 92.00 EUR with the fields of an account. The order is its idempotency key, too.
    pub(super) fn create_payment(order: &str, account: &[(&str, &str)]) -> Self {
        Self::create_initial(order, "DB", account, RequestKind::Payment)
    }

    /// Returns a debit of 92.00 EUR by card that is later charged back.
    pub(super) fn create_disputed_payment(order: &str) -> Self {
        Self::create_initial(order, "DB", &CARD, RequestKind::Disputed)
    }

    /// Returns a debit of 92.00 EUR by card at the acquirer host.
    pub(super) fn create_external_payment(order: &str) -> Self {
        Self::create_initial(order, "DB", &[&CARD[..], &[EXTERNAL]].concat(), RequestKind::External)
    }

    /// Returns a reservation of 92.00 EUR by card at the acquirer host.
    pub(super) fn create_reservation(order: &str) -> Self {
        Self::create_initial(order, "PA", &[&CARD[..], &[EXTERNAL]].concat(), RequestKind::Reservation)
    }

    /// Returns a debit of 92.00 EUR that its shopper decides about on a page. The merchant is notified of the outcome
    /// at this URL.
    pub(super) fn create_pending_payment(order: &str, notification: &str) -> Self {
        let account = [
            ("paymentBrand", "IDEAL"),
            ("shopperResultUrl", "https://shop.example/back"),
            ("notificationUrl", notification),
        ];
        Self::create_initial(order, "DB", &account, RequestKind::Pending)
    }

    /// Returns a follow-up payment of the payment with the id `paid`: a refund of one cent, a capture or a chargeback
    /// of everything, or a reversal.
    pub(super) fn create_follow_up(key: &str, payment_type: FollowUpType, paid: String) -> Self {
        let amount = match payment_type {
            FollowUpType::Refund => &[("amount", "0.01"), ("currency", "EUR")][..],
            FollowUpType::Capture => &[("amount", "92.00"), ("currency", "EUR")],
            FollowUpType::Chargeback => {
                &[("amount", "92.00"), ("currency", "EUR"), ("chargebackResultCode", "000.100.203")]
            }
            FollowUpType::Reversal => &[],
        };
        let fields = to_fields(&[("paymentType", payment_type.code())], amount);
        let kind = RequestKind::FollowUp(payment_type, paid.clone());
        Self { path: format!("v1/payments/{paid}"), fields, key: key.to_owned(), kind }
    }

    fn create_initial(order: &str, payment_type: &str, account: &[(&str, &str)], kind: RequestKind) -> Self {
        let basic =
            [("amount", "92.00"), ("currency", "EUR"), ("paymentType", payment_type), ("merchantTransactionId", order)];
        let fields = to_fields(&basic, account);
        Self { path: "v1/payments".to_owned(), fields, key: order.to_owned(), kind }
    }

    /// Sends the request with its idempotency key. Any status is a response; only a broken connection is an error.
    pub(super) async fn send_to(&self, shop: &MerchantClient) -> anyhow::Result<ApiResponse> {
        let entity = ("entityId".to_owned(), shop.entity_id.clone());
        let body = encode_form(std::iter::once(&entity).chain(&self.fields).map(|(name, value)| (name, value)));
        let post = shop.bare_request(Method::POST, &self.path).bearer_auth(&shop.token).body(body);
        let post =
            post.header("content-type", "application/x-www-form-urlencoded").header("idempotency-key", &self.key);
        ApiResponse::read_from(post.send().await?).await
    }
}

fn to_fields(some: &[(&str, &str)], more: &[(&str, &str)]) -> Vec<(String, String)> {
    some.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
