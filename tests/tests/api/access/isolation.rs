//! Isolation of entities: on every route, an id of another entity gets the same response as an id that does not exist.
//! A route that this test does not know fails it.

use reqwest::Method;
use tillgate_api::reference::{Caller, ROUTES, Route};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form};

use crate::dispute::evidence::{create_with_evidence, png_file, upload};
use crate::schedule::schedules::{AGREEMENT, create_schedule};
use crate::support::*;

/// Values in the owner's objects that nobody else may read.
const SECRETS: [(&str, &str); 4] = [
    ("merchantTransactionId", "sweep-owner-order-4711"),
    ("merchantInvoiceId", "sweep-owner-invoice-12"),
    ("customParameters[sweep]", "only-the-owner-knows"),
    ("card.holder", "Zaphod Unmistakable"),
];

/// A customer whose payments are held.
const SUSPICIOUS: [(&str, &str); 3] =
    [("customer.givenName", "Jo"), ("customer.surname", "Odd"), ("customer.email", "odd@shop.example")];

/// Options of an entity that holds payments.
const HOLDING: [&str; 4] = ["--risk", "on", "--review", "hold"];

/// The way in which a route refers to objects.
enum ObjectReference {
    /// By the id of a checkout in its path.
    Checkout,
    /// By the id of a tokenisation checkout in its path.
    Tokenisation,
    /// By the id of a payment in its path.
    Payment,
    /// By the id of a registration in its path.
    Registration,
    /// By the id of a held payment in its path.
    Review,
    /// By the id of a schedule in its path.
    Schedule,
    /// By the id of a dispute in its path.
    Dispute,
    /// By the id of an evidence file in its path.
    Evidence,
    /// By fields in the query or in the body, each of which refers to an object of the owner.
    Fields(&'static [&'static str]),
    /// No reference.
    Nothing,
}

/// Returns the kind of reference of each of the merchant's routes. Panics for an unknown route: a new route must be
/// added here.
fn object_reference(route: &Route) -> ObjectReference {
    match route.path {
        "/v1/checkouts" => ObjectReference::Fields(&["registrations[0].id"]),
        "/v1/checkouts/{id}/registration" => ObjectReference::Tokenisation,
        path if path.starts_with("/v1/checkouts/{id}") => ObjectReference::Checkout,
        "/v1/payments" | "/v1/clock/{advance}" | "/v1/policyReports" => ObjectReference::Nothing,
        "/v1/payments/{id}" | "/v1/query/{id}" | "/v3/query/{id}" => ObjectReference::Payment,
        "/v1/registrations" => ObjectReference::Nothing,
        path if path.starts_with("/v1/registrations/{id}") => ObjectReference::Registration,
        // Versions and list entries of another entity are tested in `risk::store`.
        "/v2/riskScreen" => ObjectReference::Nothing,
        "/v2/registrations/{id}/riskScreen" => ObjectReference::Registration,
        path if path.starts_with("/v2/risk/") => ObjectReference::Nothing,
        // That a report counts no payment of another entity is tested in `reports` and `settlements`.
        path if path.starts_with("/reports/v1/") => ObjectReference::Nothing,
        // Files and records of another entity are tested in `reconciliation_files`.
        path if path.starts_with("/reconciliations/v1/") => ObjectReference::Nothing,
        "/ledger/v1/balances" => ObjectReference::Nothing,
        "/v2/reviews" => ObjectReference::Fields(&["merchantTransactionId"]),
        path if path.starts_with("/v2/reviews/{id}") => ObjectReference::Review,
        "/scheduling/v1/schedules" => ObjectReference::Fields(&["registrationId"]),
        path if path.starts_with("/scheduling/v1/schedules/{id}") => ObjectReference::Schedule,
        // A list of another entity is tested in `disputes`.
        "/v1/disputes" => ObjectReference::Nothing,
        path if path.starts_with("/v1/disputes/{id}") => ObjectReference::Dispute,
        "/v1/evidence/{id}" => ObjectReference::Evidence,
        "/v1/query" | "/v3/query" => ObjectReference::Fields(&["merchantTransactionId"]),
        path => panic!("the test does not know {path}: add it to `object_reference`"),
    }
}

/// Ids of the owner's objects.
struct OwnerObjects {
    checkout: String,
    /// A checkout that is paid and whose status was read, so that its response is cached.
    settled: String,
    tokenisation: String,
    payment: String,
    registration: String,
    review: String,
    schedule: String,
    dispute: String,
    evidence: String,
}

impl OwnerObjects {
    /// Creates one object of each kind with the values of `SECRETS`, and asserts success.
    async fn create(owner: &MerchantClient) -> anyhow::Result<Self> {
        let checkout = owner.create_checkout(&SECRETS[..3]).await?;
        assert_result(&checkout, 200, "000.200.100");
        let settled = owner.create_checkout(&SECRETS[..3]).await?;
        owner.submit_card(settled.id(), &SECRETS[3..]).await?;
        for _ in 0..2 {
            assert_result(&owner.read_status(settled.id()).await?, 200, "000.100.110");
        }
        let payment = owner.pay_by_card(&[&SECRETS[..], &[("paymentType", "PA")]].concat()).await?;
        assert_result(&payment, 200, "000.100.110");
        let fields: Vec<_> = tillgate_tests::CARD.into_iter().filter(|(name, _)| *name != "card.holder").collect();
        let listed = [("list", "review"), ("key", "email"), ("value", SUSPICIOUS[2].1)];
        assert_result(&owner.post("v2/risk/lists", &listed).await?, 200, "000.000.100");
        let review = owner.pay_by_card(&[&SECRETS[..], &SUSPICIOUS].concat()).await?;
        assert_result(&review, 200, crate::payment::held_payments::HELD);
        let registration = owner.post("v1/registrations", &[&fields[..], &SECRETS[..], &AGREEMENT].concat()).await?;
        assert_result(&registration, 200, "000.100.110");
        let daily = [&[("job.hour", "12"), ("amount", "92.00")], &SECRETS[..3]].concat();
        let schedule = create_schedule(owner, registration.id(), &daily).await?;
        assert_result(&schedule, 200, "000.000.100");
        let store_account = [("createRegistration", "true")];
        let tokenisation = owner.post("v1/checkouts", &[&store_account[..], &SECRETS[..3]].concat()).await?;
        assert_result(&tokenisation, 200, "000.200.100");
        let (dispute, evidence) = create_with_evidence(owner, &SECRETS[..]).await?;
        Ok(Self {
            checkout: checkout.id().to_owned(),
            settled: settled.id().to_owned(),
            tokenisation: tokenisation.id().to_owned(),
            payment: payment.id().to_owned(),
            registration: registration.id().to_owned(),
            review: review.id().to_owned(),
            schedule: schedule.id().to_owned(),
            dispute,
            evidence,
        })
    }

    fn all_ids(&self) -> impl Iterator<Item = &str> {
        let all = [
            &self.checkout,
            &self.settled,
            &self.tokenisation,
            &self.payment,
            &self.registration,
            &self.review,
            &self.schedule,
            &self.dispute,
            &self.evidence,
        ];
        all.into_iter().map(String::as_str)
    }
}

/// Returns an id of the same shape, all zeros, that does not exist.
fn missing_id(id: &str) -> String {
    match id.split_once('.') {
        Some((digits, node)) => format!("{}.{node}", "0".repeat(digits.len())),
        None => format!("8a{}", "0".repeat(id.len() - 2)),
    }
}

/// Valid fields of several kinds, so that no refusal of a field hides the refusal of the id.
const WISHES: [&[(&str, &str)]; 7] = [
    &[("stage", "LOST"), ("name", "proof.png")],
    &[("note", "seen"), ("reason", "7")],
    &[("paymentType", "CP"), ("amount", "1.00"), ("currency", "EUR")],
    &[("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")],
    &[("paymentType", "RV")],
    &[("paymentType", "DB"), ("amount", "1.00"), ("currency", "EUR")],
    &[("amount", "1.00")],
];

/// Calls a route with the merchant's token. Fields and `entityId` are in the body of a POST, otherwise in the query.
async fn call_route(
    shop: &MerchantClient,
    route: &Route,
    path: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let path = path.trim_start_matches('/');
    let method: Method = route.method.as_str().parse()?;
    if route.has_file {
        return upload(shop, path, "proof.png", "image/png", &png_file(9)).await;
    }
    if method == Method::POST {
        return shop.post(path, fields).await;
    }
    let all = fields.iter().copied().chain([("entityId", shop.entity_id.as_str())]);
    let request = shop.bare_request(method, &format!("{path}?{}", encode_form(all))).bearer_auth(&shop.token);
    ApiResponse::read_from(request.send().await?).await
}

/// Asserts that a response contains no id, secret value or amount of the owner, except `requested`, the id in the
/// request itself.
#[track_caller]
fn assert_no_leak(answer: &ApiResponse, owner: &MerchantClient, owned: &OwnerObjects, requested: &str, label: &str) {
    let secrets =
        SECRETS.iter().map(|(_, value)| *value).chain(owned.all_ids()).chain([owner.entity_id.as_str(), "92.00"]);
    for secret in secrets.filter(|secret| *secret != requested) {
        assert!(!answer.text.contains(secret), "{label} reveals {secret}: {}", answer.text);
    }
}

/// Returns status and body of a response as text, without `ndc` and `timestamp`, and with `id` replaced.
fn comparable_text(answer: &ApiResponse, id: &str) -> String {
    let mut json = answer.json.clone();
    if let Some(fields) = json.as_object_mut() {
        for name in ["ndc", "timestamp"] {
            fields.remove(name);
        }
    }
    format!("{} {}", answer.status, json.to_string().replace(id, "ID"))
}

#[tokio::test]
async fn every_id_of_one_entity_is_as_unknown_to_another_as_one_that_never_was() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (owner, stranger) = (gateway.create_merchant_with(&HOLDING)?, gateway.create_merchant_with(&HOLDING)?);
    let owned = OwnerObjects::create(&owner).await?;
    let before = [
        owner.get(&format!("v1/checkouts/{}/payment", owned.checkout)).await?,
        owner.get(&format!("v1/payments/{}", owned.payment)).await?,
    ];
    for route in ROUTES.iter().filter(|route| route.caller == Caller::Merchant) {
        let what = format!("{} {}", route.method.as_str(), route.path);
        let wishes: &[&[(&str, &str)]] = if route.method.as_str() == "POST" { &WISHES } else { &[&[]] };
        let own = match object_reference(route) {
            ObjectReference::Nothing | ObjectReference::Fields(_) => continue,
            ObjectReference::Checkout => owned.checkout.as_str(),
            ObjectReference::Payment => owned.payment.as_str(),
            ObjectReference::Tokenisation => owned.tokenisation.as_str(),
            ObjectReference::Registration => owned.registration.as_str(),
            ObjectReference::Review => owned.review.as_str(),
            ObjectReference::Schedule => owned.schedule.as_str(),
            ObjectReference::Dispute => owned.dispute.as_str(),
            ObjectReference::Evidence => owned.evidence.as_str(),
        };
        let mut unknown = 0;
        // Ids of the route's own kind, and of every other kind.
        for id in owned.all_ids() {
            for wish in wishes {
                let foreign = call_route(&stranger, route, &route.path.replace("{id}", id), wish).await?;
                let none = call_route(&stranger, route, &route.path.replace("{id}", &missing_id(id)), wish).await?;
                assert!((400..500).contains(&foreign.status), "{what}: {}", foreign.text);
                assert_eq!(comparable_text(&foreign, id), comparable_text(&none, &missing_id(id)), "{what}");
                assert_no_leak(&foreign, &owner, &owned, id, &what);
                if id == own && foreign.status == 404 {
                    unknown += 1;
                }
            }
        }
        assert!(unknown > 0, "{what} never says 404 to a stranger");
        // The same request succeeds for the owner.
        if route.method.as_str() == "GET" {
            let seen = call_route(&owner, route, &route.path.replace("{id}", own), &[]).await?;
            assert_eq!(seen.status, 200, "{what}: {}", seen.text);
        }
    }
    let after = [
        owner.get(&format!("v1/checkouts/{}/payment", owned.checkout)).await?,
        owner.get(&format!("v1/payments/{}", owned.payment)).await?,
    ];
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(comparable_text(before, "-"), comparable_text(after, "-"));
    }
    Ok(())
}

#[tokio::test]
async fn what_one_entity_names_in_a_field_is_not_found_by_another() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (owner, stranger) = (gateway.create_merchant_with(&HOLDING)?, gateway.create_merchant_with(&HOLDING)?);
    let owned = OwnerObjects::create(&owner).await?;
    for route in ROUTES.iter().filter(|route| route.caller == Caller::Merchant) {
        let ObjectReference::Fields(fields) = object_reference(route) else { continue };
        let what = format!("{} {}", route.method.as_str(), route.path);
        for name in fields {
            let (value, nothing) = match *name {
                "merchantTransactionId" => (SECRETS[0].1.to_owned(), "sweep-nobody-order-0000".to_owned()),
                "registrations[0].id" | "registrationId" => {
                    (owned.registration.clone(), missing_id(&owned.registration))
                }
                name => anyhow::bail!("the sweep has nothing to put into {name}"),
            };
            let order = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
            let rest: &[(&str, &str)] = if route.method.as_str() == "POST" { &order } else { &[] };
            let fields = |value: &str| -> Vec<(String, String)> {
                let named = [(*name, value)];
                rest.iter().chain(&named).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
            };
            let asked = async |value: &str| {
                let owned = fields(value);
                let fields: Vec<(&str, &str)> = owned.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
                call_route(&stranger, route, route.path, &fields).await
            };
            let (foreign, none) = (asked(&value).await?, asked(&nothing).await?);
            assert_eq!(
                (foreign.status, foreign.result_code()),
                (none.status, none.result_code()),
                "{what}: {}",
                foreign.text
            );
            assert_no_leak(&foreign, &owner, &owned, &value, &what);
        }
    }
    Ok(())
}

#[tokio::test]
async fn days_list_an_entitys_own_payments_only() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (owner, stranger) = (gateway.create_merchant_with(&HOLDING)?, gateway.create_merchant_with(&HOLDING)?);
    let owned = OwnerObjects::create(&owner).await?;
    let path = "v1/query?date.from=2020-01-01&date.to=2099-12-31";
    let own = owner.get(path).await?;
    assert!(own.text.contains(&owned.payment), "{}", own.text);
    let foreign = stranger.get(path).await?;
    assert_no_leak(&foreign, &owner, &owned, "", "GET /v1/query by day");
    Ok(())
}
