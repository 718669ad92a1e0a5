//! Complete requests of the bench, as a merchant's server sends them.

use std::ops::Range;

/// Number of different requests of one kind, which the generator sends in turn. This is more than a run sends of most
/// kinds: as in a shop, an order's reference is hardly ever used twice.
const VARIANTS: usize = 16_384;

/// An entity and its token.
#[derive(Debug, Clone)]
pub struct MerchantAccess {
    /// Id of the entity.
    pub entity_id: String,
    /// Its access token.
    pub token: String,
}

impl MerchantAccess {
    /// Returns [`VARIANTS`] form bodies of a checkout, each with its own reference: order, customer, billing address.
    pub fn checkout_bodies(&self) -> Vec<String> {
        (0..VARIANTS).map(|variant| self.order_body(variant)).collect()
    }

    /// Returns [`VARIANTS`] form bodies of a card payment: those of a checkout, and the card.
    pub fn payment_bodies(&self) -> Vec<String> {
        (0..VARIANTS).map(|variant| format!("{}&{CARD}", self.order_body(variant))).collect()
    }

    /// Returns form bodies of a card payment, each by another shopper in the US with a device and an address. Rules on
    /// payments from Germany would end at their first comparison.
    pub fn shopper_payment_bodies(&self) -> Vec<String> {
        let of_shopper = |(shopper, body): (usize, String)| {
            let (high, low) = (shopper / 256, shopper % 256);
            let body = body.replace("jane.jones", &format!("jane.jones.{shopper}")).replace("country=DE", "country=US");
            format!("{body}&customer.ip=10.{high}.{low}.1&customer.browserFingerprint.id=device-{shopper}")
        };
        self.payment_bodies().into_iter().enumerate().map(of_shopper).collect()
    }

    /// Returns form bodies of a card payment at the acquirer's host.
    pub fn external_payment_bodies(&self) -> Vec<String> {
        self.payment_bodies().into_iter().map(|body| format!("{body}&testMode=EXTERNAL")).collect()
    }

    /// Returns form bodies of card payments with these numbers. Each number has a reference that no other payment has.
    pub fn single_payment_bodies(&self, numbers: Range<usize>) -> Vec<String> {
        numbers.map(|number| format!("{}&{CARD}", self.order_body_with_reference(&single_reference(number)))).collect()
    }

    /// Returns queries by reference for the payments of [`Self::single_payment_bodies`] with these numbers.
    pub fn reference_queries(&self, numbers: Range<usize>) -> Vec<String> {
        numbers
            .map(|number| {
                self.get_request("/v1/query", &format!("&merchantTransactionId={}", single_reference(number)))
            })
            .collect()
    }

    /// Returns form bodies that store a card, each for another holder.
    pub fn registration_bodies(&self, count: usize) -> Vec<String> {
        let holder = |number| CARD.replace("Jane+Jones", &format!("Jane+Jones+{number:06}"));
        (0..count).map(|number| format!("entityId={}&{}", self.entity_id, holder(number))).collect()
    }

    /// Returns the form body of a debit of 92.00 EUR with a stored card, which the path names.
    pub fn registration_payment_body(&self) -> String {
        format!("entityId={}&amount=92.00&currency=EUR&paymentType=DB", self.entity_id)
    }

    /// Returns the form body of a refund of one cent.
    pub fn refund_body(&self) -> String {
        format!("entityId={}&amount=0.01&currency=EUR&paymentType=RF", self.entity_id)
    }

    /// Returns the form body of a checkout whose reference is made of this number.
    fn order_body(&self, variant: usize) -> String {
        self.order_body_with_reference(&format!("order-{variant:06}"))
    }

    /// Returns the form body of a debit of 92.00 EUR with this reference, a customer and a billing address.
    fn order_body_with_reference(&self, reference: &str) -> String {
        format!(
            "entityId={}&amount=92.00&currency=EUR&paymentType=DB&merchantTransactionId={reference}\
             &customer.givenName=Jane&customer.surname=Jones&customer.email=jane.jones%40shop.example\
             &billing.street1=Harbour+Street+12&billing.city=Hamburg&billing.postcode=20457&billing.country=DE",
            self.entity_id
        )
    }

    /// Returns POST requests with these bodies to a path, with the token. A floor gets the same bytes, but does not
    /// read all of them.
    pub fn post_requests(&self, path: &str, bodies: &[String]) -> Vec<String> {
        let authorization = format!("Authorization: Bearer {}\r\n", self.token);
        bodies.iter().map(|body| post_request(path, &authorization, body)).collect()
    }

    /// Returns a GET request with entity and token for each checkout. `path` builds its path from the id.
    pub fn status_requests(&self, path: impl Fn(&str) -> String, checkouts: &[String]) -> Vec<String> {
        checkouts.iter().map(|checkout| self.get_request(&path(checkout), "")).collect()
    }

    /// Returns a query that reads all of the merchant's payments, up to the limit of numbered pages, and shows one.
    pub fn long_query(&self) -> String {
        self.get_request("/v1/query", "&date.from=2000-01-01&date.to=2099-12-31&paymentTypes=DB,PA&limit=1&pageNo=1")
    }

    /// Returns a GET request with the entity in its query, further parameters (each with its `&`), and the token.
    fn get_request(&self, path: &str, more: &str) -> String {
        let Self { entity_id, token } = self;
        format!("GET {path}?entityId={entity_id}{more} HTTP/1.1\r\n{COMMON}Authorization: Bearer {token}\r\n\r\n")
    }
}

/// Returns a merchant's reference that only one payment has.
fn single_reference(number: usize) -> String {
    format!("single-order-{number:06}")
}

/// Returns the hosted form's submit for each checkout.
pub fn submit_requests(checkouts: &[String]) -> Vec<String> {
    checkouts.iter().map(|id| post_request(&format!("/v1/checkouts/{id}/payment"), "", CARD)).collect()
}

/// A card that the simulator approves.
const CARD: &str = "paymentBrand=VISA&card.number=4200000000000000&card.holder=Jane+Jones\
                    &card.expiryMonth=05&card.expiryYear=2034&card.cvv=123";

/// Headers of every request.
const COMMON: &str = "Host: 127.0.0.1\r\nUser-Agent: shop/1.0\r\nAccept: application/json\r\n";

/// Returns a POST request with a form body, and with further headers, each with its line break.
fn post_request(path: &str, more: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\n{COMMON}{more}Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
