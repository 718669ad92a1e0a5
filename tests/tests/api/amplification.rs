//! The size of answers and log lines is bounded by the size of the request, on every route and with every input.

use reqwest::Method;
use tillgate::api::docs::{ROUTES, Route};
use tillgate_shared::brand::Brand;
use tillgate_tests::{Gateway, Merchant, form};

use crate::support::*;

/// Bytes of an answer for a byte of the request, at most. An HTML reference such as `&quot;` takes six.
const FACTOR: usize = 16;
/// Length of a query: a quarter of the longest that is accepted.
const QUERY: usize = 15_000;
/// Length of a body: as long as 5,000 parameters, a quarter of the most that are read.
const BODY: usize = 64 * 1024;

/// Names that pages and forms read outside of the catalogue.
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

/// Repeats a piece up to a length.
fn filled(length: usize, piece: impl Fn(usize) -> String) -> String {
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

/// Encoded parameters that fill `length` bytes, of every kind that could be repeated in an answer.
fn inputs(length: usize) -> Vec<String> {
    let all: Vec<&str> = Brand::all().iter().map(|brand| brand.code).collect();
    let mut inputs = vec![
        // Many short names, many names of one list, many wrong values, many long names.
        filled(length, |number| format!("{number:x}=&")),
        filled(length, |number| format!("cart.items[{}].price=x{number}&", number % 1000)),
        filled(length, |number| format!("customParameters[{number}]=%22&")),
        filled(length, |number| format!("customParameters[{number}]={}&", "%3C".repeat(60))),
        filled(length, |number| format!("{number}{}=&", "x".repeat(240))),
        filled(length, |number| format!("{number}{}=%01&", "[".repeat(100))),
        // One name, again and again.
        filled(length, |_| "brands=VISA&".to_owned()),
        filled(length, |_| "entityId=8&".to_owned()),
        filled(length, |_| "amount=x&".to_owned()),
        // Separators, and text that is no parameter.
        "&".repeat(length),
        "%".repeat(length),
        "!".repeat(length),
    ];
    for name in OWN_NAMES {
        for piece in ["X+", "%22", "%3C", "%01", "https://shop.example/%22", "IDEAL,", "VISA+"] {
            inputs.push(format!("{name}={}", filled(length - 40, |_| piece.to_owned())));
        }
    }
    let every = filled(length - 40, |number| format!("{}+", all[number % all.len()]));
    inputs.push(format!("brands={every}"));
    // An address is repeated in the form of every brand: long ones, and those of a usual length.
    for address in [length / 4, 8000, 2000, 500] {
        inputs.push(format!(
            "brands={}&shopperResultUrl=https://shop.example/{}",
            all.join("+"),
            "%22".repeat(address)
        ));
    }
    inputs
}

/// What a shop has that a route can be asked for.
struct Things {
    shop: Merchant,
    checkout: String,
    payment: String,
}

impl Things {
    fn path(&self, route: &Route) -> String {
        let id = if route.path.starts_with("/v1/checkouts") { &self.checkout } else { &self.payment };
        let path = route.path.trim_start_matches('/').replace("{id}", id).replace("{registration}", id);
        path.replace("{advance}", "1s").replace("{build}", id).replace("{*path}", "x")
    }

    /// The size of an answer to a route with this query and body.
    async fn size(&self, route: &Route, query: &str, body: Option<&str>) -> anyhow::Result<usize> {
        let method: Method = route.method.as_str().parse()?;
        let request = self.shop.bare(method, &format!("{}?{query}", self.path(route))).bearer_auth(&self.shop.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = request.body(body.unwrap_or_default().to_owned()).send().await?;
        anyhow::ensure!(answer.status() != 500, "{} {}", route.method.as_str(), route.path);
        let head: usize = answer.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        Ok(head + answer.bytes().await?.len())
    }
}

async fn things(gateway: &Gateway, options: &[&str]) -> anyhow::Result<Things> {
    let mut shop = gateway.merchant_with(options)?;
    // A route that leaves its body unread closes the connection.
    shop.client = reqwest::Client::builder().pool_max_idle_per_host(0).build()?;
    let checkout = shop.checkout(&[]).await?.id().to_owned();
    let payment = shop.pay(&[]).await?.id().to_owned();
    Ok(Things { shop, checkout, payment })
}

#[tokio::test]
async fn no_route_answers_more_than_a_small_multiple_of_what_it_is_sent() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    // A strict entity tells every name that it does not know.
    let things = things(&gateway, &["--strict"]).await?;
    let (queries, bodies) = (inputs(QUERY), inputs(BODY).into_iter().step_by(3).collect::<Vec<_>>());
    for route in ROUTES {
        let identity = form([("entityId", things.shop.entity_id.as_str()), ("checkoutId", &things.checkout)]);
        let every: Vec<&str> = Brand::all().iter().map(|brand| brand.code).collect();
        // What every brand once takes.
        let usual = things.size(route, &format!("{identity}&brands={}", every.join("+")), None).await?;
        let has_body = route.method.as_str() == "POST";
        for input in &queries {
            let size = things.size(route, &format!("{identity}&{input}"), None).await?;
            let start: String = input.chars().take(60).collect();
            assert!(size <= usual + 50_000 + FACTOR * input.len(), "{} {start}: {size}", route.path);
        }
        for input in bodies.iter().filter(|_| has_body) {
            let body = format!("{identity}&{input}");
            let size = things.size(route, &identity, Some(&body)).await?;
            let start: String = input.chars().take(60).collect();
            assert!(size <= usual + 50_000 + 2 * input.len(), "{} {start}: {size}", route.path);
        }
    }

    let log = gateway.log();
    let longest = log.lines().map(str::len).max().unwrap_or_default();
    assert!(longest < 2 * QUERY, "a line of {longest} bytes");
    Ok(())
}

#[tokio::test]
async fn the_plain_form_has_each_brand_once() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    let path = |brands: &str| format!("v1/plainForm.html?checkoutId={}&brands={brands}", made.id());
    let once = shop.bare(Method::GET, &path("VISA+IDEAL+MASTER")).send().await?.text().await?;
    let often = shop.bare(Method::GET, &path(&"VISA+IDEAL+MASTER+".repeat(3000))).send().await?.text().await?;
    assert_eq!(once, often);
    Ok(())
}
