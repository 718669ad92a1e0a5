//! The tree of entities over HTTP: credentials of an entity give access to its descendants only, and settings are
//! inherited by descendants.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Method;
use tillgate_api::reference::{Caller, ROUTES, Route};
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form, poll_until};

use crate::access::entities::with_credentials_of;
use crate::checkout::presence::CONCURRENT_REQUESTS;
use crate::delivery::webhooks::WebhookScene;
use crate::support::*;

/// Two PSPs and a merchant without one.
///
/// ```text
/// psp ── north ── bakery ── till
///     ├─ south ── florist
///     └─ butcher
/// rival ── brewer
/// loner
/// ```
pub struct EntityTrees {
    pub gateway: TestGateway,
    pub psp: MerchantClient,
    pub north: MerchantClient,
    pub south: MerchantClient,
    pub bakery: MerchantClient,
    pub till: MerchantClient,
    pub florist: MerchantClient,
    pub butcher: MerchantClient,
    pub rival: MerchantClient,
    pub brewer: MerchantClient,
    pub loner: MerchantClient,
}

impl EntityTrees {
    /// Starts a gateway with these entities.
    pub fn create() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let below = |parent: &MerchantClient, more: &[&str]| {
            gateway.create_merchant_with(&[&["--parent", parent.entity_id.as_str()], more].concat())
        };
        let psp = gateway.create_merchant_with(&["--level", "psp"])?;
        let north = below(&psp, &["--level", "division"])?;
        let south = below(&psp, &["--level", "division"])?;
        let bakery = below(&north, &[])?;
        let till = gateway.create_merchant_with(&["--merchant", &bakery.entity_id])?;
        let florist = below(&south, &[])?;
        let butcher = below(&psp, &["--level", "merchant"])?;
        let rival = gateway.create_merchant_with(&["--level", "psp"])?;
        let brewer = below(&rival, &[])?;
        let loner = gateway.create_merchant()?;
        Ok(Self { gateway, psp, north, south, bakery, till, florist, butcher, rival, brewer, loner })
    }

    fn all_entities(&self) -> [&MerchantClient; 10] {
        let Self { psp, north, south, bakery, till, florist, butcher, rival, brewer, loner, .. } = self;
        [psp, north, south, bakery, till, florist, butcher, rival, brewer, loner]
    }

    /// Returns, for each entity, the merchants and channels that its credentials give access to.
    fn accessible_merchants(&self) -> Vec<(&MerchantClient, Vec<&MerchantClient>)> {
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

    /// Returns, for each PSP and division, the PSPs and divisions that its credentials give access to.
    fn accessible_groups(&self) -> [(&MerchantClient, Vec<&MerchantClient>); 4] {
        let Self { psp, north, south, rival, .. } = self;
        [(psp, vec![psp, north, south]), (north, vec![north]), (south, vec![south]), (rival, vec![rival])]
    }
}

fn is_among(entity: &MerchantClient, among: &[&MerchantClient]) -> bool {
    among.iter().any(|one| one.entity_id == entity.entity_id)
}

/// Calls a route with the merchant's token and, if its path has an id, with one that does not exist.
async fn call_route(shop: &MerchantClient, route: &Route) -> anyhow::Result<ApiResponse> {
    let path = route.path.trim_start_matches('/').replace("{advance}", "0s");
    let path = path.replace("{id}", &format!("8a{}", "0".repeat(30)));
    let method: Method = route.method.as_str().parse()?;
    // The entity of a request whose body is a file is in the query.
    if method == Method::POST && !route.has_file {
        return shop.post(&path, &[]).await;
    }
    let request = shop.bare_request(method, &format!("{path}?entityId={}", shop.entity_id)).bearer_auth(&shop.token);
    ApiResponse::read_from(request.send().await?).await
}

/// Returns the routes that a merchant's server calls.
fn merchant_routes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.caller == Caller::Merchant)
}

#[tokio::test]
async fn every_route_takes_credentials_for_what_is_below_them_and_for_nothing_else() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    for (holder, covered) in forest.accessible_merchants() {
        let above = forest.accessible_groups().into_iter().find(|(upper, _)| upper.entity_id == holder.entity_id);
        let above = above.map(|(_, above)| above).unwrap_or_default();
        for target in forest.all_entities() {
            let shop = with_credentials_of(target, holder);
            let sent = merchant_routes().map(async |route| {
                let answer = call_route(&shop, route).await?;
                let what = format!("{} {}: {}", route.method.as_str(), route.path, answer.text);
                let named = !parameter_error(&answer, "entityId").is_null();
                if is_among(target, &covered) {
                    assert!(answer.result_code() != "800.900.201" && !named, "{what}");
                } else if is_among(target, &above) && route.accepts_divisions {
                    // Those for divisions are tested in `reconciliation_files`.
                    assert!(answer.result_code() != "800.900.201", "{what}");
                } else if is_among(target, &above) {
                    assert_eq!((answer.status, answer.result_code()), (400, "200.300.404"), "{what}");
                    assert!(named, "{what}");
                } else {
                    assert_eq!((answer.status, answer.result_code()), (403, "800.900.201"), "{what}");
                }
                anyhow::Ok(())
            });
            stream::iter(sent).buffer_unordered(CONCURRENT_REQUESTS).try_collect::<Vec<()>>().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn no_way_of_naming_an_entity_takes_a_payment_at_an_upper_level() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let (psp, bakery) = (&forest.psp, &forest.bakery);
    let pay = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    for upper in [psp, &forest.north] {
        let id = upper.entity_id.as_str();
        for name in ["entityId", "authentication.entityId"] {
            let fields = encode_form([&pay[..], &CARD, &[(name, id)]].concat());
            let request = psp.bare_request(Method::POST, "v1/payments").bearer_auth(&psp.token);
            let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
            assert_result(&ApiResponse::read_from(request.send().await?).await?, 400, "200.300.404");
        }
        // The query is ignored if there is a body: the payment belongs to the bakery.
        let fields = encode_form([&pay[..], &CARD, &[("entityId", bakery.entity_id.as_str())]].concat());
        let request = psp.bare_request(Method::POST, &format!("v1/payments?entityId={id}")).bearer_auth(&psp.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
        let paid = ApiResponse::read_from(request.send().await?).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_result(&bakery.get(&payment_path(&paid)).await?, 200, "000.100.110");
    }
    let file = open_database(&forest.gateway)?;
    let upper =
        "SELECT count(*) FROM payment JOIN entity ON entity.id = payment.entity WHERE level IN ('psp', 'division')";
    assert_eq!(file.query_row(upper, [], |row| row.get::<_, u32>(0))?, 0);
    Ok(())
}

fn payment_path(paid: &ApiResponse) -> String {
    format!("v1/payments/{}", paid.id())
}

#[tokio::test]
async fn a_token_of_an_upper_level_pays_refunds_and_reads_at_the_merchant_that_it_names() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let paid = with_credentials_of(&forest.bakery, &forest.psp).pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    // The bakery's payment was routed to its till. All ancestors can read it.
    for holder in [&forest.psp, &forest.north, &forest.bakery, &forest.till] {
        assert_result(&with_credentials_of(&forest.till, holder).get(&payment_path(&paid)).await?, 200, "000.100.110");
    }
    let refund = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")];
    assert_result(
        &with_credentials_of(&forest.bakery, &forest.north).post(&payment_path(&paid), &refund).await?,
        200,
        "000.100.110",
    );
    let shop = with_credentials_of(&forest.florist, &forest.south);
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[]).await?;
    assert_result(&with_credentials_of(&forest.florist, &forest.psp).read_status(made.id()).await?, 200, "000.100.110");
    Ok(())
}

/// Sends every kind of request about objects of the bakery as another entity. Returns the responses in order.
async fn send_attacks(shop: &MerchantClient, owned: &BakeryObjects) -> anyhow::Result<Vec<ApiResponse>> {
    let BakeryObjects { payment, checkout, registration } = owned;
    let money = [("amount", "1.00"), ("currency", "EUR")];
    let kind = |kind: &'static str| [&[("paymentType", kind)], &money[..]].concat();
    let mut answers = Vec::new();
    for path in [
        format!("v1/payments/{payment}"),
        format!("v1/query/{payment}"),
        format!("v3/query/{payment}?includeLinkedTransactions=true"),
        "v1/query?merchantTransactionId=bakery-0001".to_owned(),
        "v3/query?merchantTransactionId=bakery-0001".to_owned(),
        format!("v1/checkouts/{checkout}/payment"),
        format!("v1/registrations/{registration}"),
    ] {
        answers.push(shop.get(&path).await?);
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
    let request = shop.bare_request(Method::DELETE, &format!("{delete}?entityId={id}")).bearer_auth(&shop.token);
    answers.push(ApiResponse::read_from(request.send().await?).await?);
    Ok(answers)
}

/// Ids of objects of the bakery.
struct BakeryObjects {
    payment: String,
    checkout: String,
    registration: String,
}

#[tokio::test]
async fn things_of_a_merchant_are_found_through_no_other_entity_whatever_the_token_covers() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let bakery = &forest.bakery;
    let paid = bakery.pay_by_card(&[("paymentType", "PA"), ("merchantTransactionId", "bakery-0001")]).await?;
    let checkout = bakery.create_checkout(&[]).await?;
    let registration = bakery.post("v1/registrations", &CARD).await?;
    assert_result(&registration, 200, "000.100.110");
    let owned = BakeryObjects {
        payment: paid.id().to_owned(),
        checkout: checkout.id().to_owned(),
        registration: registration.id().to_owned(),
    };
    for (target, holder) in [
        (&forest.brewer, &forest.rival),
        (&forest.florist, &forest.south),
        (&forest.loner, &forest.loner),
        // The holder has access to both, but a request is still about one of them.
        (&forest.florist, &forest.psp),
        (&forest.butcher, &forest.psp),
    ] {
        for answer in send_attacks(&with_credentials_of(target, holder), &owned).await? {
            assert!(matches!(answer.status, 400 | 404), "{}", answer.text);
            assert!(!["000.100.110", "000.200.100"].contains(&answer.result_code()), "{}", answer.text);
            assert!(!answer.text.contains("92.00") && !answer.text.contains("bakery-0001"), "{}", answer.text);
        }
    }
    assert_result(&bakery.get(&format!("v1/registrations/{}", owned.registration)).await?, 200, "000.100.110");
    let linked = bakery.get(&format!("v3/query/{}?includeLinkedTransactions=true", owned.payment)).await?;
    assert!(!linked.text.contains("referencedId"), "{}", linked.text);
    Ok(())
}

#[tokio::test]
async fn a_merchant_that_moves_is_served_to_those_above_it_now_and_to_those_before_no_more() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let EntityTrees { gateway, north, south, rival, bakery, till, .. } = &forest;
    let key = async |shop: &MerchantClient| {
        let fields = [&[("entityId", shop.entity_id.as_str())], &CARD[..]].concat();
        let fields = [&fields[..], &[("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")]].concat();
        let request =
            shop.bare_request(Method::POST, "v1/payments").header("Idempotency-Key", "bread").bearer_auth(&shop.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(encode_form(fields));
        ApiResponse::read_from(request.send().await?).await
    };
    let paid = key(&with_credentials_of(bakery, north)).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(key(&with_credentials_of(bakery, north)).await?.text, paid.text);
    let list = "v1/query?merchantTransactionId=bread-0001";
    bakery.pay_by_card(&[("merchantTransactionId", "bread-0001")]).await?;
    for _ in 0..2 {
        assert_result(&with_credentials_of(bakery, north).get(list).await?, 200, "000.000.100");
    }
    gateway.run_command(&["entity", "set", "--entity", &bakery.entity_id, "--parent", &south.entity_id])?;
    poll_until("the move is known", async || {
        Ok((with_credentials_of(bakery, south).get(&payment_path(&paid)).await?.status == 200).then_some(()))
    })
    .await?;
    for (target, holder) in [(bakery, north), (till, north), (bakery, rival), (till, rival)] {
        let shop = with_credentials_of(target, holder);
        assert_result(&shop.get(&payment_path(&paid)).await?, 403, "800.900.201");
        assert_result(&shop.get(list).await?, 403, "800.900.201");
        assert_result(&key(&shop).await?, 403, "800.900.201");
        assert_result(&shop.pay_by_card(&[]).await?, 403, "800.900.201");
    }
    // The bakery keeps its credentials, its channel and its stored responses. Finally all of it leaves the tree.
    assert_result(&bakery.get(&payment_path(&paid)).await?, 200, "000.100.110");
    assert_eq!(key(&with_credentials_of(bakery, south)).await?.text, paid.text);
    gateway.run_command(&["entity", "set", "--entity", &bakery.entity_id, "--parent", "none"])?;
    poll_until("it is alone", async || {
        Ok((with_credentials_of(till, south).get(&payment_path(&paid)).await?.status == 403).then_some(()))
    })
    .await?;
    assert_result(&with_credentials_of(bakery, &forest.psp).get(&payment_path(&paid)).await?, 403, "800.900.201");
    assert_result(&with_credentials_of(till, bakery).get(&payment_path(&paid)).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_token_of_an_upper_level_has_its_scopes_below_and_nothing_once_it_is_revoked() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let gateway = &forest.gateway;
    let made = gateway.run_command(&["token", "create", "--entity", &forest.north.entity_id, "--scope", "read"])?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    let reader = MerchantClient::new(gateway.base_url(), forest.bakery.entity_id.clone(), token);
    let paid = forest.bakery.pay_by_card(&[]).await?;
    poll_until(
        "the token is known",
        async || Ok((reader.get(&payment_path(&paid)).await?.status == 200).then_some(())),
    )
    .await?;
    assert_result(&reader.pay_by_card(&[]).await?, 403, "800.900.301");
    assert_result(&reader.post(&payment_path(&paid), &[("paymentType", "RV")]).await?, 403, "800.900.301");
    assert_result(&with_credentials_of(&forest.florist, &reader).get("v1/query").await?, 403, "800.900.201");
    gateway.run_command(&["token", "revoke", "--user", made["userId"].as_str().unwrap_or_default()])?;
    poll_until("it is revoked", async || {
        Ok((reader.get(&payment_path(&paid)).await?.result_code() == "800.900.300").then_some(()))
    })
    .await
}

#[tokio::test]
async fn settings_hold_for_what_is_below_until_it_has_its_own() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let set = |entity: &MerchantClient, options: &[&str]| {
        forest.gateway.run_command(&[&["entity", "set", "--entity", &entity.entity_id], options].concat()).map(drop)
    };
    let unknown = [("fieldOfNobody", "1")];
    let refuses = async |shop: &MerchantClient| anyhow::Ok(shop.pay_by_card(&unknown).await?.status == 400);
    set(&forest.psp, &["--strict", "on"])?;
    poll_until("the PSP is strict", async || Ok(refuses(&forest.till).await?.then_some(()))).await?;
    assert!(refuses(&forest.bakery).await? && refuses(&forest.florist).await? && refuses(&forest.butcher).await?);
    assert!(!refuses(&forest.brewer).await? && !refuses(&forest.loner).await?);
    set(&forest.north, &["--strict", "off"])?;
    poll_until("the division is not", async || Ok((!refuses(&forest.bakery).await?).then_some(()))).await?;
    assert!(!refuses(&forest.till).await? && refuses(&forest.florist).await?);
    set(&forest.till, &["--strict", "on"])?;
    poll_until("the till is", async || Ok(refuses(&forest.till).await?.then_some(()))).await?;
    set(&forest.till, &["--inherit", "strict"])?;
    poll_until("the till is as its division", async || Ok((!refuses(&forest.till).await?).then_some(()))).await?;
    set(&forest.north, &["--inherit", "strict", "--brands", "MASTER"])?;
    poll_until("the division is as its PSP", async || Ok(refuses(&forest.bakery).await?.then_some(()))).await?;
    assert_result(&forest.bakery.pay_by_card(&[]).await?, 400, "600.200.500");
    assert_result(&forest.florist.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_compatibility_mode_of_a_division_reads_the_entity_in_the_body_of_a_get() -> anyhow::Result<()> {
    let forest = EntityTrees::create()?;
    let EntityTrees { gateway, north, bakery, florist, .. } = &forest;
    let paid = bakery.pay_by_card(&[]).await?;
    let get = async |holder: &MerchantClient, target: &MerchantClient| {
        let request = holder.bare_request(Method::GET, &payment_path(&paid)).bearer_auth(&holder.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        ApiResponse::read_from(request.body(encode_form([("entityId", target.entity_id.as_str())])).send().await?).await
    };
    assert_result(&get(north, bakery).await?, 400, "200.300.404");
    gateway.run_command(&["entity", "set", "--entity", &north.entity_id, "--compatible", "on"])?;
    poll_until("the body is read", async || Ok((get(north, bakery).await?.status == 200).then_some(()))).await?;
    assert_result(&get(&forest.psp, bakery).await?, 200, "000.100.110");
    assert_result(&get(north, north).await?, 400, "200.300.404");
    assert_result(&get(north, florist).await?, 403, "800.900.201");
    assert_result(&get(&forest.psp, florist).await?, 400, "200.300.404");
    assert_result(&get(&forest.south, florist).await?, 400, "200.300.404");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_of_a_psp_is_told_of_everything_below_it() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let gateway = &scene.gateway;
    let psp = scene.shop.entity_id.as_str();
    gateway.run_command(&["entity", "set", "--entity", psp, "--level", "psp"])?;
    let loner = gateway.create_merchant()?;
    let division = gateway.create_merchant_with(&["--level", "division", "--parent", psp])?;
    let merchant = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
    let till = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    assert_result(&loner.pay_by_card(&[]).await?, 200, "000.100.110");
    for shop in [&merchant, &till] {
        let paid = shop.pay_by_card(&[]).await?;
        assert_eq!(scene.expect_event("PAYMENT").await?["id"], paid.id());
        let reversed = shop.post(&payment_path(&paid), &[("paymentType", "RV")]).await?;
        assert_eq!(scene.expect_event("PAYMENT").await?["id"], reversed.id());
    }
    Ok(())
}
