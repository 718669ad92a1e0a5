//! Every id of one entity is invisible to another, on every route: what belongs to somebody else is answered as what
//! never was. A route that the sweep does not know fails it.

use reqwest::Method;
use tillgate::api::docs::{Caller, ROUTES, Route};
use tillgate_tests::{Answer, Gateway, Merchant, form};

use crate::support::*;

/// What the owner's resources hold and nobody else may read.
const SECRETS: [(&str, &str); 4] = [
    ("merchantTransactionId", "sweep-owner-order-4711"),
    ("merchantInvoiceId", "sweep-owner-invoice-12"),
    ("customParameters[sweep]", "only-the-owner-knows"),
    ("card.holder", "Zaphod Unmistakable"),
];

/// How a route names somebody's things.
enum Names {
    /// By the id in its path: a checkout's.
    Checkout,
    /// By the id in its path: a tokenisation checkout's.
    Tokenisation,
    /// By the id in its path: a payment's.
    Payment,
    /// By the id in its path: a registration's.
    Registration,
    /// By fields, in the query or in the body, of which each names something of the owner's.
    Fields(&'static [&'static str]),
    /// Not at all.
    Nothing,
}

/// What each of the merchant's routes names. A new route is a new line here.
fn names(route: &Route) -> Names {
    match route.path {
        "/v1/checkouts" => Names::Fields(&["registrations[0].id"]),
        "/v1/checkouts/{id}/registration" => Names::Tokenisation,
        path if path.starts_with("/v1/checkouts/{id}") => Names::Checkout,
        "/v1/payments" | "/v1/clock/{advance}" | "/v1/policyReports" => Names::Nothing,
        "/v1/payments/{id}" | "/v1/query/{id}" | "/v3/query/{id}" => Names::Payment,
        "/v1/registrations" => Names::Nothing,
        path if path.starts_with("/v1/registrations/{id}") => Names::Registration,
        "/v1/query" | "/v3/query" => Names::Fields(&["merchantTransactionId"]),
        path => panic!("the sweep does not know {path}: say in `names` what it names"),
    }
}

/// What the owner has.
struct Owned {
    checkout: String,
    /// A checkout that is paid and read: its answer lies ready.
    settled: String,
    tokenisation: String,
    payment: String,
    registration: String,
}

impl Owned {
    async fn make(owner: &Merchant) -> anyhow::Result<Self> {
        let checkout = owner.checkout(&SECRETS[..3]).await?;
        assert_answer(&checkout, 200, "000.200.100");
        let settled = owner.checkout(&SECRETS[..3]).await?;
        owner.submit(settled.id(), &SECRETS[3..]).await?;
        for _ in 0..2 {
            assert_answer(&owner.status(settled.id()).await?, 200, "000.100.110");
        }
        let payment = owner.pay(&[&SECRETS[..], &[("paymentType", "PA")]].concat()).await?;
        assert_answer(&payment, 200, "000.100.110");
        let fields: Vec<_> = tillgate_tests::CARD.into_iter().filter(|(name, _)| *name != "card.holder").collect();
        let registration = owner.post("v1/registrations", &[&fields[..], &SECRETS[..]].concat()).await?;
        assert_answer(&registration, 200, "000.100.110");
        let wish = [("createRegistration", "true")];
        let tokenisation = owner.post("v1/checkouts", &[&wish[..], &SECRETS[..3]].concat()).await?;
        assert_answer(&tokenisation, 200, "000.200.100");
        Ok(Self {
            checkout: checkout.id().to_owned(),
            settled: settled.id().to_owned(),
            tokenisation: tokenisation.id().to_owned(),
            payment: payment.id().to_owned(),
            registration: registration.id().to_owned(),
        })
    }

    fn ids(&self) -> impl Iterator<Item = &str> {
        let all = [&self.checkout, &self.settled, &self.tokenisation, &self.payment, &self.registration];
        all.into_iter().map(String::as_str)
    }
}

/// An id of the same shape that nothing has.
fn never(id: &str) -> String {
    match id.split_once('.') {
        Some((digits, node)) => format!("{}.{node}", "0".repeat(digits.len())),
        None => format!("8a{}", "0".repeat(id.len() - 2)),
    }
}

/// What a request may be about, so that no refusal of a field hides the one of the id.
const WISHES: [&[(&str, &str)]; 5] = [
    &[("paymentType", "CP"), ("amount", "1.00"), ("currency", "EUR")],
    &[("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")],
    &[("paymentType", "RV")],
    &[("paymentType", "DB"), ("amount", "1.00"), ("currency", "EUR")],
    &[("amount", "1.00")],
];

async fn ask(shop: &Merchant, route: &Route, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let path = path.trim_start_matches('/');
    let method: Method = route.method.as_str().parse()?;
    if method == Method::POST {
        return shop.post(path, fields).await;
    }
    let all = fields.iter().copied().chain([("entityId", shop.entity_id.as_str())]);
    let request = shop.bare(method, &format!("{path}?{}", form(all))).bearer_auth(&shop.token);
    Answer::read(request.send().await?).await
}

/// Nothing of the owner's is in an answer; what the request itself said may be.
#[track_caller]
fn assert_no_leak(answer: &Answer, owner: &Merchant, owned: &Owned, said: &str, what: &str) {
    let secrets = SECRETS.iter().map(|(_, value)| *value).chain(owned.ids()).chain([owner.entity_id.as_str(), "92.00"]);
    for secret in secrets.filter(|secret| *secret != said) {
        assert!(!answer.text.contains(secret), "{what} tells {secret}: {}", answer.text);
    }
}

/// What can be told of an answer once its own id is taken out.
fn without(answer: &Answer, id: &str) -> String {
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
    let gateway = Gateway::shared();
    let (owner, stranger) = (gateway.merchant()?, gateway.merchant()?);
    let owned = Owned::make(&owner).await?;
    let before = [
        owner.get(&format!("v1/checkouts/{}/payment", owned.checkout)).await?,
        owner.get(&format!("v1/payments/{}", owned.payment)).await?,
    ];
    for route in ROUTES.iter().filter(|route| route.caller == Caller::Merchant) {
        let what = format!("{} {}", route.method.as_str(), route.path);
        let wishes: &[&[(&str, &str)]] = if route.method.as_str() == "POST" { &WISHES } else { &[&[]] };
        let own = match names(route) {
            Names::Nothing | Names::Fields(_) => continue,
            Names::Checkout => owned.checkout.as_str(),
            Names::Payment => owned.payment.as_str(),
            Names::Tokenisation => owned.tokenisation.as_str(),
            Names::Registration => owned.registration.as_str(),
        };
        let mut unknown = 0;
        // Ids of the route's own kind, and of every other kind.
        for id in owned.ids() {
            for wish in wishes {
                let foreign = ask(&stranger, route, &route.path.replace("{id}", id), wish).await?;
                let none = ask(&stranger, route, &route.path.replace("{id}", &never(id)), wish).await?;
                assert!((400..500).contains(&foreign.status), "{what}: {}", foreign.text);
                assert_eq!(without(&foreign, id), without(&none, &never(id)), "{what}");
                assert_no_leak(&foreign, &owner, &owned, id, &what);
                if id == own && foreign.status == 404 {
                    unknown += 1;
                }
            }
        }
        assert!(unknown > 0, "{what} never says 404 to a stranger");
        // The same request is no stranger's when the owner reads.
        if route.method.as_str() == "GET" {
            let seen = ask(&owner, route, &route.path.replace("{id}", own), &[]).await?;
            assert_eq!(seen.status, 200, "{what}: {}", seen.text);
        }
    }
    let after = [
        owner.get(&format!("v1/checkouts/{}/payment", owned.checkout)).await?,
        owner.get(&format!("v1/payments/{}", owned.payment)).await?,
    ];
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(without(before, "-"), without(after, "-"));
    }
    Ok(())
}

#[tokio::test]
async fn what_one_entity_names_in_a_field_is_not_found_by_another() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let (owner, stranger) = (gateway.merchant()?, gateway.merchant()?);
    let owned = Owned::make(&owner).await?;
    for route in ROUTES.iter().filter(|route| route.caller == Caller::Merchant) {
        let Names::Fields(fields) = names(route) else { continue };
        let what = format!("{} {}", route.method.as_str(), route.path);
        for name in fields {
            let (value, nothing) = match *name {
                "merchantTransactionId" => (SECRETS[0].1.to_owned(), "sweep-nobody-order-0000".to_owned()),
                "registrations[0].id" => (owned.registration.clone(), never(&owned.registration)),
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
                ask(&stranger, route, route.path, &fields).await
            };
            let (foreign, none) = (asked(&value).await?, asked(&nothing).await?);
            assert_eq!((foreign.status, foreign.code()), (none.status, none.code()), "{what}: {}", foreign.text);
            assert_no_leak(&foreign, &owner, &owned, &value, &what);
        }
    }
    Ok(())
}

#[tokio::test]
async fn days_list_an_entitys_own_payments_only() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let (owner, stranger) = (gateway.merchant()?, gateway.merchant()?);
    let owned = Owned::make(&owner).await?;
    let path = "v1/query?date.from=2020-01-01&date.to=2099-12-31";
    let own = owner.get(path).await?;
    assert!(own.text.contains(&owned.payment), "{}", own.text);
    let foreign = stranger.get(path).await?;
    assert_no_leak(&foreign, &owner, &owned, "", "GET /v1/query by day");
    Ok(())
}
