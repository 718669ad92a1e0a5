//! The requests of the bench, whole, as a merchant's server sends them.

use std::ops::Range;

/// Different requests of one kind; the generator goes through them in turn. More than a run sends of most kinds: an
/// order's reference grows, as in a shop, and hardly comes twice.
const VARIANTS: usize = 16_384;

/// An entity and its token.
#[derive(Debug, Clone)]
pub struct Merchant {
    /// The entity.
    pub entity_id: String,
    /// Its access token.
    pub token: String,
}

impl Merchant {
    /// Form bodies of a checkout: the order, the customer, where the bill goes.
    pub fn checkout_bodies(&self) -> Vec<String> {
        (0..VARIANTS).map(|variant| self.order(variant)).collect()
    }

    /// Form bodies of a card payment: the same, and the card.
    pub fn payment_bodies(&self) -> Vec<String> {
        (0..VARIANTS).map(|variant| format!("{}&{CARD}", self.order(variant))).collect()
    }

    /// The same, at the acquirer's host.
    pub fn external_payment_bodies(&self) -> Vec<String> {
        self.payment_bodies().into_iter().map(|body| format!("{body}&testMode=EXTERNAL")).collect()
    }

    /// Form bodies of card payments, each with a reference that no other has.
    pub fn single_payment_bodies(&self, numbers: Range<usize>) -> Vec<String> {
        numbers.map(|number| format!("{}&{CARD}", self.order_of(&single(number)))).collect()
    }

    /// Queries for those payments by their references.
    pub fn queries(&self, numbers: Range<usize>) -> Vec<String> {
        numbers.map(|number| self.get("/v1/query", &format!("&merchantTransactionId={}", single(number)))).collect()
    }

    /// Form bodies that store a card, each for another holder.
    pub fn registration_bodies(&self, count: usize) -> Vec<String> {
        let holder = |number| CARD.replace("Jane+Jones", &format!("Jane+Jones+{number:06}"));
        (0..count).map(|number| format!("entityId={}&{}", self.entity_id, holder(number))).collect()
    }

    /// The form body of a payment by a stored card.
    pub fn payment_by_registration(&self) -> String {
        format!("entityId={}&amount=92.00&currency=EUR&paymentType=DB", self.entity_id)
    }

    /// The form body that refunds a cent.
    pub fn refund(&self) -> String {
        format!("entityId={}&amount=0.01&currency=EUR&paymentType=RF", self.entity_id)
    }

    fn order(&self, variant: usize) -> String {
        self.order_of(&format!("order-{variant:06}"))
    }

    fn order_of(&self, reference: &str) -> String {
        format!(
            "entityId={}&amount=92.00&currency=EUR&paymentType=DB&merchantTransactionId={reference}\
             &customer.givenName=Jane&customer.surname=Jones&customer.email=jane.jones%40shop.example\
             &billing.street1=Harbour+Street+12&billing.city=Hamburg&billing.postcode=20457&billing.country=DE",
            self.entity_id
        )
    }

    /// Posts of these bodies to a path, with the token. A floor gets the same bytes; it only does not look at all of them.
    pub fn posts(&self, path: &str, bodies: &[String]) -> Vec<String> {
        let authorization = format!("Authorization: Bearer {}\r\n", self.token);
        bodies.iter().map(|body| post(path, &authorization, body)).collect()
    }

    /// Asks for the outcome of each checkout, below `path`.
    pub fn status(&self, path: impl Fn(&str) -> String, checkouts: &[String]) -> Vec<String> {
        checkouts.iter().map(|checkout| self.get(&path(checkout), "")).collect()
    }

    /// A query that reads all of the merchant's payments, up to as many as numbered pages have, and shows one.
    pub fn long_query(&self) -> String {
        self.get("/v1/query", "&date.from=2000-01-01&date.to=2099-12-31&paymentTypes=DB,PA&limit=1&pageNo=1")
    }

    fn get(&self, path: &str, more: &str) -> String {
        let Self { entity_id, token } = self;
        format!("GET {path}?entityId={entity_id}{more} HTTP/1.1\r\n{COMMON}Authorization: Bearer {token}\r\n\r\n")
    }
}

/// A merchant's reference that only one payment has.
fn single(number: usize) -> String {
    format!("single-order-{number:06}")
}

/// The hosted form's submit to each checkout.
pub fn submits(checkouts: &[String]) -> Vec<String> {
    checkouts.iter().map(|id| post(&format!("/v1/checkouts/{id}/payment"), "", CARD)).collect()
}

/// A card that the simulator approves.
const CARD: &str = "paymentBrand=VISA&card.number=4200000000000000&card.holder=Jane+Jones\
                    &card.expiryMonth=05&card.expiryYear=2034&card.cvv=123";

const COMMON: &str = "Host: 127.0.0.1\r\nUser-Agent: shop/1.0\r\nAccept: application/json\r\n";

fn post(path: &str, more: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\n{COMMON}{more}Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
