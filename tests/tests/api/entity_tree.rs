//! The tree of entities over HTTP: credentials of each level act for what is below them and for nothing beside or above, and
//! settings hold for what is below.

use reqwest::Method;
use tillgate::api::docs::{Caller, ROUTES, Route};
use tillgate_tests::{Answer, CARD, Gateway, Merchant, form, until};

use crate::entities::through;
use crate::support::*;
use crate::webhooks::Scene;

/// Two PSPs and a merchant without one.
///
/// ```text
/// psp ── north ── bakery ── till
///     ├─ south ── florist
///     └─ butcher
/// rival ── brewer
/// loner
/// ```
pub struct Forest {
    pub gateway: Gateway,
    pub psp: Merchant,
    pub north: Merchant,
    pub south: Merchant,
    pub bakery: Merchant,
    pub till: Merchant,
    pub florist: Merchant,
    pub butcher: Merchant,
    pub rival: Merchant,
    pub brewer: Merchant,
    pub loner: Merchant,
}

impl Forest {
    pub fn grow() -> anyhow::Result<Self> {
        let gateway = Gateway::start()?;
        let below = |parent: &Merchant, more: &[&str]| {
            gateway.merchant_with(&[&["--parent", parent.entity_id.as_str()], more].concat())
        };
        let psp = gateway.merchant_with(&["--level", "psp"])?;
        let north = below(&psp, &["--level", "division"])?;
        let south = below(&psp, &["--level", "division"])?;
        let bakery = below(&north, &[])?;
        let till = gateway.merchant_with(&["--merchant", &bakery.entity_id])?;
        let florist = below(&south, &[])?;
        let butcher = below(&psp, &["--level", "merchant"])?;
        let rival = gateway.merchant_with(&["--level", "psp"])?;
        let brewer = below(&rival, &[])?;
        let loner = gateway.merchant()?;
        Ok(Self { gateway, psp, north, south, bakery, till, florist, butcher, rival, brewer, loner })
    }

    fn all(&self) -> [&Merchant; 10] {
        let Self { psp, north, south, bakery, till, florist, butcher, rival, brewer, loner, .. } = self;
        [psp, north, south, bakery, till, florist, butcher, rival, brewer, loner]
    }

    /// The merchants and channels that the credentials of each entity act for.
    fn covered(&self) -> Vec<(&Merchant, Vec<&Merchant>)> {
        let Self { psp, north, south, bakery, till, florist, butcher, rival, brewer, loner, .. } = self;
        vec![
            (psp, vec![bakery, till, florist, butcher]),
            (north, vec![bakery, till]),
            (south, vec![florist]),
            (bakery, vec![bakery, till]),
            (till, vec![till]),
            (florist, vec![florist]),
            (butcher, vec![butcher]),
            (rival, vec![brewer]),
            (brewer, vec![brewer]),
            (loner, vec![loner]),
        ]
    }

    /// The PSPs and divisions that the credentials of each of them act for.
    fn covered_above(&self) -> [(&Merchant, Vec<&Merchant>); 4] {
        let Self { psp, north, south, rival, .. } = self;
        [(psp, vec![psp, north, south]), (north, vec![north]), (south, vec![south]), (rival, vec![rival])]
    }
}

fn is_among(entity: &Merchant, among: &[&Merchant]) -> bool {
    among.iter().any(|one| one.entity_id == entity.entity_id)
}

async fn ask(shop: &Merchant, route: &Route) -> anyhow::Result<Answer> {
    let path = route.path.trim_start_matches('/').replace("{advance}", "0s");
    let path = path.replace("{id}", &format!("8a{}", "0".repeat(30)));
    let method: Method = route.method.as_str().parse()?;
    if method == Method::POST {
        return shop.post(&path, &[]).await;
    }
    let request = shop.bare(method, &format!("{path}?entityId={}", shop.entity_id)).bearer_auth(&shop.token);
    Answer::read(request.send().await?).await
}

fn merchant_routes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.caller == Caller::Merchant)
}

#[tokio::test]
async fn every_route_takes_credentials_for_what_is_below_them_and_for_nothing_else() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    for (holder, covered) in forest.covered() {
        let above = forest.covered_above().into_iter().find(|(upper, _)| upper.entity_id == holder.entity_id);
        let above = above.map(|(_, above)| above).unwrap_or_default();
        for target in forest.all() {
            for route in merchant_routes() {
                let answer = ask(&through(target, holder), route).await?;
                let what = format!("{} {}: {}", route.method.as_str(), route.path, answer.text);
                let named = !error(&answer, "entityId").is_null();
                if is_among(target, &covered) {
                    assert!(answer.code() != "800.900.201" && !named, "{what}");
                } else if is_among(target, &above) {
                    assert_eq!((answer.status, answer.code()), (400, "200.300.404"), "{what}");
                    assert!(named, "{what}");
                } else {
                    assert_eq!((answer.status, answer.code()), (403, "800.900.201"), "{what}");
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn no_way_of_naming_an_entity_takes_a_payment_at_an_upper_level() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    let (psp, bakery) = (&forest.psp, &forest.bakery);
    let pay = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    for upper in [psp, &forest.north] {
        let id = upper.entity_id.as_str();
        for name in ["entityId", "authentication.entityId"] {
            let fields = form([&pay[..], &CARD, &[(name, id)]].concat());
            let request = psp.bare(Method::POST, "v1/payments").bearer_auth(&psp.token);
            let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
            assert_answer(&Answer::read(request.send().await?).await?, 400, "200.300.404");
        }
        // A query next to a body names nobody: the payment is the bakery's.
        let fields = form([&pay[..], &CARD, &[("entityId", bakery.entity_id.as_str())]].concat());
        let request = psp.bare(Method::POST, &format!("v1/payments?entityId={id}")).bearer_auth(&psp.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
        let paid = Answer::read(request.send().await?).await?;
        assert_answer(&paid, 200, "000.100.110");
        assert_answer(&bakery.get(&path(&paid)).await?, 200, "000.100.110");
    }
    let file = database(&forest.gateway)?;
    let upper =
        "SELECT count(*) FROM payment JOIN entity ON entity.id = payment.entity WHERE level IN ('psp', 'division')";
    assert_eq!(file.query_row(upper, [], |row| row.get::<_, u32>(0))?, 0);
    Ok(())
}

fn path(paid: &Answer) -> String {
    format!("v1/payments/{}", paid.id())
}

#[tokio::test]
async fn a_token_of_an_upper_level_pays_refunds_and_reads_at_the_merchant_that_it_names() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    let paid = through(&forest.bakery, &forest.psp).pay(&[]).await?;
    assert_answer(&paid, 200, "000.100.110");
    // The bakery's payment went to its till, and is read by everybody above.
    for holder in [&forest.psp, &forest.north, &forest.bakery, &forest.till] {
        assert_answer(&through(&forest.till, holder).get(&path(&paid)).await?, 200, "000.100.110");
    }
    let refund = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")];
    assert_answer(&through(&forest.bakery, &forest.north).post(&path(&paid), &refund).await?, 200, "000.100.110");
    let shop = through(&forest.florist, &forest.south);
    let made = shop.checkout(&[]).await?;
    shop.submit(made.id(), &[]).await?;
    assert_answer(&through(&forest.florist, &forest.psp).status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

/// Every request of somebody else that names things of the bakery.
async fn attacks(shop: &Merchant, owned: &Owned) -> anyhow::Result<Vec<Answer>> {
    let Owned { payment, checkout, registration } = owned;
    let money = [("amount", "1.00"), ("currency", "EUR")];
    let kind = |kind: &'static str| [&[("paymentType", kind)], &money[..]].concat();
    let mut answers = Vec::new();
    for read in [
        format!("v1/payments/{payment}"),
        format!("v1/query/{payment}"),
        format!("v3/query/{payment}?includeLinkedTransactions=true"),
        "v1/query?merchantTransactionId=bakery-0001".to_owned(),
        "v3/query?merchantTransactionId=bakery-0001".to_owned(),
        format!("v1/checkouts/{checkout}/payment"),
        format!("v1/registrations/{registration}"),
    ] {
        answers.push(shop.get(&read).await?);
    }
    for kind in [kind("RF"), kind("RV"), kind("CP"), kind("CB")] {
        answers.push(shop.post(&format!("v1/payments/{payment}"), &kind).await?);
        let referring = [&kind[..], &[("referencedPaymentId", payment)]].concat();
        answers.push(shop.post("v1/payments", &referring).await?);
    }
    answers.push(shop.post(&format!("v1/checkouts/{checkout}"), &[("amount", "1.00")]).await?);
    answers.push(shop.post(&format!("v1/registrations/{registration}/payments"), &kind("DB")).await?);
    let offered = [&kind("DB")[..], &[("registrations[0].id", registration)]].concat();
    answers.push(shop.post("v1/checkouts", &offered).await?);
    let (delete, id) = (format!("v1/registrations/{registration}"), &shop.entity_id);
    let request = shop.bare(Method::DELETE, &format!("{delete}?entityId={id}")).bearer_auth(&shop.token);
    answers.push(Answer::read(request.send().await?).await?);
    Ok(answers)
}

/// Things of the bakery.
struct Owned {
    payment: String,
    checkout: String,
    registration: String,
}

#[tokio::test]
async fn things_of_a_merchant_are_found_through_no_other_entity_whatever_the_token_covers() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    let bakery = &forest.bakery;
    let paid = bakery.pay(&[("paymentType", "PA"), ("merchantTransactionId", "bakery-0001")]).await?;
    let checkout = bakery.checkout(&[]).await?;
    let registration = bakery.post("v1/registrations", &CARD).await?;
    assert_answer(&registration, 200, "000.100.110");
    let owned = Owned {
        payment: paid.id().to_owned(),
        checkout: checkout.id().to_owned(),
        registration: registration.id().to_owned(),
    };
    for (target, holder) in [
        (&forest.brewer, &forest.rival),
        (&forest.florist, &forest.south),
        (&forest.loner, &forest.loner),
        // It covers both, and a request still is about one of them.
        (&forest.florist, &forest.psp),
        (&forest.butcher, &forest.psp),
    ] {
        for answer in attacks(&through(target, holder), &owned).await? {
            assert!(matches!(answer.status, 400 | 404), "{}", answer.text);
            assert!(!["000.100.110", "000.200.100"].contains(&answer.code()), "{}", answer.text);
            assert!(!answer.text.contains("92.00") && !answer.text.contains("bakery-0001"), "{}", answer.text);
        }
    }
    assert_answer(&bakery.get(&format!("v1/registrations/{}", owned.registration)).await?, 200, "000.100.110");
    let linked = bakery.get(&format!("v3/query/{}?includeLinkedTransactions=true", owned.payment)).await?;
    assert!(!linked.text.contains("referencedId"), "{}", linked.text);
    Ok(())
}

#[tokio::test]
async fn a_merchant_that_moves_is_served_to_those_above_it_now_and_to_those_before_no_more() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    let Forest { gateway, north, south, rival, bakery, till, .. } = &forest;
    let key = async |shop: &Merchant| {
        let fields = [&[("entityId", shop.entity_id.as_str())], &CARD[..]].concat();
        let fields = [&fields[..], &[("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")]].concat();
        let request =
            shop.bare(Method::POST, "v1/payments").header("Idempotency-Key", "bread").bearer_auth(&shop.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form(fields));
        Answer::read(request.send().await?).await
    };
    let paid = key(&through(bakery, north)).await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_eq!(key(&through(bakery, north)).await?.text, paid.text);
    let list = "v1/query?merchantTransactionId=bread-0001";
    bakery.pay(&[("merchantTransactionId", "bread-0001")]).await?;
    for _ in 0..2 {
        assert_answer(&through(bakery, north).get(list).await?, 200, "000.000.100");
    }
    gateway.command(&["entity", "set", "--entity", &bakery.entity_id, "--parent", &south.entity_id])?;
    until("the move is known", async || {
        Ok((through(bakery, south).get(&path(&paid)).await?.status == 200).then_some(()))
    })
    .await?;
    for (target, holder) in [(bakery, north), (till, north), (bakery, rival), (till, rival)] {
        let shop = through(target, holder);
        assert_answer(&shop.get(&path(&paid)).await?, 403, "800.900.201");
        assert_answer(&shop.get(list).await?, 403, "800.900.201");
        assert_answer(&key(&shop).await?, 403, "800.900.201");
        assert_answer(&shop.pay(&[]).await?, 403, "800.900.201");
    }
    // It keeps its credentials, its channel and what it was answered; and all of it can leave the tree.
    assert_answer(&bakery.get(&path(&paid)).await?, 200, "000.100.110");
    assert_eq!(key(&through(bakery, south)).await?.text, paid.text);
    gateway.command(&["entity", "set", "--entity", &bakery.entity_id, "--parent", "none"])?;
    until("it is alone", async || Ok((through(till, south).get(&path(&paid)).await?.status == 403).then_some(())))
        .await?;
    assert_answer(&through(bakery, &forest.psp).get(&path(&paid)).await?, 403, "800.900.201");
    assert_answer(&through(till, bakery).get(&path(&paid)).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_token_of_an_upper_level_has_its_scopes_below_and_nothing_once_it_is_revoked() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    let gateway = &forest.gateway;
    let made = gateway.command(&["token", "create", "--entity", &forest.north.entity_id, "--scope", "read"])?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    let reader = Merchant::new(gateway.base(), forest.bakery.entity_id.clone(), token);
    let paid = forest.bakery.pay(&[]).await?;
    until("the token is known", async || Ok((reader.get(&path(&paid)).await?.status == 200).then_some(()))).await?;
    assert_answer(&reader.pay(&[]).await?, 403, "800.900.301");
    assert_answer(&reader.post(&path(&paid), &[("paymentType", "RV")]).await?, 403, "800.900.301");
    assert_answer(&through(&forest.florist, &reader).get("v1/query").await?, 403, "800.900.201");
    gateway.command(&["token", "revoke", "--user", made["userId"].as_str().unwrap_or_default()])?;
    until("it is revoked", async || Ok((reader.get(&path(&paid)).await?.code() == "800.900.300").then_some(()))).await
}

#[tokio::test]
async fn settings_hold_for_what_is_below_until_it_has_its_own() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    let set = |entity: &Merchant, options: &[&str]| {
        forest.gateway.command(&[&["entity", "set", "--entity", &entity.entity_id], options].concat()).map(drop)
    };
    let unknown = [("fieldOfNobody", "1")];
    let refuses = async |shop: &Merchant| anyhow::Ok(shop.pay(&unknown).await?.status == 400);
    set(&forest.psp, &["--strict", "on"])?;
    until("the PSP is strict", async || Ok(refuses(&forest.till).await?.then_some(()))).await?;
    assert!(refuses(&forest.bakery).await? && refuses(&forest.florist).await? && refuses(&forest.butcher).await?);
    assert!(!refuses(&forest.brewer).await? && !refuses(&forest.loner).await?);
    set(&forest.north, &["--strict", "off"])?;
    until("the division is not", async || Ok((!refuses(&forest.bakery).await?).then_some(()))).await?;
    assert!(!refuses(&forest.till).await? && refuses(&forest.florist).await?);
    set(&forest.till, &["--strict", "on"])?;
    until("the till is", async || Ok(refuses(&forest.till).await?.then_some(()))).await?;
    set(&forest.till, &["--inherit", "strict"])?;
    until("the till is as its division", async || Ok((!refuses(&forest.till).await?).then_some(()))).await?;
    set(&forest.north, &["--inherit", "strict", "--brands", "MASTER"])?;
    until("the division is as its PSP", async || Ok(refuses(&forest.bakery).await?.then_some(()))).await?;
    assert_answer(&forest.bakery.pay(&[]).await?, 400, "600.200.500");
    assert_answer(&forest.florist.pay(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_compatibility_mode_of_a_division_reads_the_entity_in_the_body_of_a_get() -> anyhow::Result<()> {
    let forest = Forest::grow()?;
    let Forest { gateway, north, bakery, florist, .. } = &forest;
    let paid = bakery.pay(&[]).await?;
    let get = async |holder: &Merchant, target: &Merchant| {
        let request = holder.bare(Method::GET, &path(&paid)).bearer_auth(&holder.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        Answer::read(request.body(form([("entityId", target.entity_id.as_str())])).send().await?).await
    };
    assert_answer(&get(north, bakery).await?, 400, "200.300.404");
    gateway.command(&["entity", "set", "--entity", &north.entity_id, "--compatible", "on"])?;
    until("the body is read", async || Ok((get(north, bakery).await?.status == 200).then_some(()))).await?;
    assert_answer(&get(&forest.psp, bakery).await?, 200, "000.100.110");
    assert_answer(&get(north, north).await?, 400, "200.300.404");
    assert_answer(&get(north, florist).await?, 403, "800.900.201");
    assert_answer(&get(&forest.psp, florist).await?, 400, "200.300.404");
    assert_answer(&get(&forest.south, florist).await?, 400, "200.300.404");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_of_a_psp_is_told_of_everything_below_it() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    let gateway = &scene.gateway;
    let psp = scene.shop.entity_id.as_str();
    gateway.command(&["entity", "set", "--entity", psp, "--level", "psp"])?;
    let loner = gateway.merchant()?;
    let division = gateway.merchant_with(&["--level", "division", "--parent", psp])?;
    let merchant = gateway.merchant_with(&["--parent", &division.entity_id])?;
    let till = gateway.merchant_with(&["--merchant", &merchant.entity_id])?;
    assert_answer(&loner.pay(&[]).await?, 200, "000.100.110");
    for shop in [&merchant, &till] {
        let paid = shop.pay(&[]).await?;
        assert_eq!(scene.told("PAYMENT").await?["id"], paid.id());
        let reversed = shop.post(&path(&paid), &[("paymentType", "RV")]).await?;
        assert_eq!(scene.told("PAYMENT").await?["id"], reversed.id());
    }
    Ok(())
}
