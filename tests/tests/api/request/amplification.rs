//! The size of responses and log lines is bounded by the size of the request, for every route and every input.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::{Client, Method};
use tillgate_api::reference::{ROUTES, Route};
use tillgate_shared::brand::Brand;
use tillgate_tests::{MerchantClient, TestGateway, encode_form};

use crate::checkout::presence::CONCURRENT_REQUESTS;
use crate::support::*;

/// Maximum number of response bytes per request byte. An HTML reference such as `&quot;` takes six.
const FACTOR: usize = 16;
/// Length of a query. Longer ones only take longer: what counts is the size of the response in relation to it.
const QUERY: usize = 4_000;
/// Length of a body. It holds some 1,200 parameters.
const BODY: usize = 16 * 1024;

/// Names that pages and forms read and that are not in the catalogue.
const OWN_NAMES: [&str; 12] = [
    "checkoutId",
    "brands",
    "locale",
    "requireCvv",
    "shopperResultUrl",
    "field",
    "inline",
    "methodTime",
    "brand",
    "answer",
    "returnCode",
    "transaction",
];

/// Returns as many pieces, numbered from 0, as fit into `length` bytes.
fn repeat_to_length(length: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(length);
    for number in 0.. {
        let next = piece(number);
        if text.len() + next.len() > length {
            break;
        }
        text.push_str(&next);
    }
    text
}

/// Returns form-encoded inputs of about `length` bytes, one for each kind of input that a response could repeat: names,
/// values, separators, brands and addresses.
fn repeatable_inputs(length: usize) -> Vec<String> {
    let codes: Vec<&str> = Brand::all().iter().map(|brand| brand.code).collect();
    let mut inputs = vec![
        // Many short names, many names of one list, many wrong values, many long names.
        repeat_to_length(length, |number| format!("{number:x}=&")),
        repeat_to_length(length, |number| format!("cart.items[{}].price=x{number}&", number % 1000)),
        repeat_to_length(length, |number| format!("customParameters[{number}]=%22&")),
        repeat_to_length(length, |number| format!("customParameters[{number}]={}&", "%3C".repeat(60))),
        repeat_to_length(length, |number| format!("{number}{}=&", "x".repeat(240))),
        repeat_to_length(length, |number| format!("{number}{}=%01&", "[".repeat(100))),
        // One name, repeated.
        repeat_to_length(length, |_| "brands=VISA&".to_owned()),
        repeat_to_length(length, |_| "entityId=8&".to_owned()),
        repeat_to_length(length, |_| "amount=x&".to_owned()),
        // Separators, and text that is no parameter.
        "&".repeat(length),
        "%".repeat(length),
        "!".repeat(length),
    ];
    for name in OWN_NAMES {
        for piece in ["X+", "%22", "%3C", "%01", "https://shop.example/%22", "IDEAL,", "VISA+"] {
            inputs.push(format!("{name}={}", repeat_to_length(length - 40, |_| piece.to_owned())));
        }
    }
    let all_codes = repeat_to_length(length - 40, |number| format!("{}+", codes[number % codes.len()]));
    inputs.push(format!("brands={all_codes}"));
    // An address is repeated in the form of every brand: both long addresses and addresses of a usual length.
    for address in [length / 4, 8000, 2000, 500] {
        inputs.push(format!(
            "brands={}&shopperResultUrl=https://shop.example/{}",
            codes.join("+"),
            "%22".repeat(address)
        ));
    }
    inputs
}

/// A merchant with an open checkout and a payment, for calls of every route.
struct RouteTargets {
    shop: MerchantClient,
    /// Client that uses no connection twice, because a route that does not read its body closes the connection.
    fresh: Client,
    checkout: String,
    payment: String,
}

impl RouteTargets {
    /// Returns the path of a route without its leading slash. Its placeholders are replaced by ids of these objects or
    /// by valid examples.
    fn path_of(&self, route: &Route) -> String {
        let id = if route.path.starts_with("/v1/checkouts") { &self.checkout } else { &self.payment };
        let path = route.path.trim_start_matches('/').replace("{id}", id).replace("{registration}", id);
        path.replace("{advance}", "1s").replace("{build}", id).replace("{*path}", "x")
    }

    /// Sends a request with the merchant's token to a route. Returns the bytes of the response: names and values of its
    /// headers, and its body. Fails if the status is 500.
    async fn response_size(&self, route: &Route, query: &str, body: Option<&str>) -> anyhow::Result<usize> {
        let method: Method = route.method.as_str().parse()?;
        let client = if body.is_some() { &self.fresh } else { &self.shop.client };
        let request = client.request(method, format!("{}{}?{query}", self.shop.base, self.path_of(route)));
        let request = request.bearer_auth(&self.shop.token).header("content-type", "application/x-www-form-urlencoded");
        let answer = request.body(body.unwrap_or_default().to_owned()).send().await?;
        anyhow::ensure!(answer.status() != 500, "{} {}", route.method.as_str(), route.path);
        let head: usize = answer.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        Ok(head + answer.bytes().await?.len())
    }

    /// Asserts that the route's responses to these queries and, if it takes any, to these bodies are bounded by the
    /// size of the request.
    async fn check_route(&self, route: &Route, queries: &[String], bodies: &[String]) -> anyhow::Result<()> {
        let identity = encode_form([("entityId", self.shop.entity_id.as_str()), ("checkoutId", &self.checkout)]);
        let every: Vec<&str> = Brand::all().iter().map(|brand| brand.code).collect();
        // Baseline: the response for every brand once.
        let usual = self.response_size(route, &format!("{identity}&brands={}", every.join("+")), None).await?;
        let bodies = if route.method.as_str() == "POST" { bodies } else { &[] };
        let inputs = queries.iter().map(|input| (input, false)).chain(bodies.iter().map(|input| (input, true)));
        let checks = inputs.map(async |(input, in_body)| {
            let fields = format!("{identity}&{input}");
            let (size, factor) = match in_body {
                true => (self.response_size(route, &identity, Some(&fields)).await?, 2),
                false => (self.response_size(route, &fields, None).await?, FACTOR),
            };
            let start: String = input.chars().take(60).collect();
            assert!(size <= usual + 13_000 + factor * input.len(), "{} {start}: {size}", route.path);
            anyhow::Ok(())
        });
        stream::iter(checks).buffer_unordered(CONCURRENT_REQUESTS).try_collect::<Vec<()>>().await?;
        Ok(())
    }
}

/// Creates a merchant with these options, an open checkout and a payment.
async fn create_route_targets(gateway: &TestGateway, options: &[&str]) -> anyhow::Result<RouteTargets> {
    let shop = gateway.create_merchant_with(options)?;
    let fresh = Client::builder().pool_max_idle_per_host(0).build()?;
    let checkout = shop.create_checkout(&[]).await?.id().to_owned();
    let payment = shop.pay_by_card(&[]).await?.id().to_owned();
    Ok(RouteTargets { shop, fresh, checkout, payment })
}

#[tokio::test]
async fn no_route_answers_more_than_a_small_multiple_of_what_it_is_sent() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    // A strict entity repeats every unknown name in its response.
    let things = create_route_targets(&gateway, &["--strict"]).await?;
    let (queries, bodies) =
        (repeatable_inputs(QUERY), repeatable_inputs(BODY).into_iter().step_by(3).collect::<Vec<_>>());
    for route in ROUTES.iter() {
        things.check_route(route, &queries, &bodies).await?;
    }
    let log = gateway.read_log();
    let longest = log.lines().map(str::len).max().unwrap_or_default();
    assert!(longest < 2 * QUERY, "a line of {longest} bytes");
    Ok(())
}

#[tokio::test]
async fn the_plain_form_has_each_brand_once() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let path = |brands: &str| format!("v1/plainForm.html?checkoutId={}&brands={brands}", made.id());
    let once = shop.bare_request(Method::GET, &path("VISA+IDEAL+MASTER")).send().await?.text().await?;
    let often = shop.bare_request(Method::GET, &path(&"VISA+IDEAL+MASTER+".repeat(3000))).send().await?.text().await?;
    assert_eq!(once, often);
    Ok(())
}
