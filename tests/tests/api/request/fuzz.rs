//! Random bodies from fixed seeds: every response is complete and valid, and never a server error.

use reqwest::Method;
use tillgate_shared::parameter::all_parameters;
use tillgate_tests::{ApiResponse, TestGateway};

use crate::support::*;

/// A small random number generator (xorshift64*) with the same sequence for a seed on every machine.
struct Random(u64);

impl Random {
    /// Returns the next 48 random bits.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// Returns a random number below `end`, which is not 0.
    fn next_below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap_or_default() % end
    }

    /// Returns one of the choices, which are not empty.
    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.next_below(choices.len())]
    }
}

const PIECES: [&str; 40] = [
    "=",
    "&",
    "%",
    "%00",
    "%0A",
    "%FF",
    "%E2%82",
    "+",
    "[",
    "]",
    "[0]",
    "[n]",
    "[999999999999]",
    "[-1]",
    ".",
    "..",
    ";",
    "\u{0}",
    "92.00",
    "-1",
    "EUR",
    "JPY",
    "DB",
    "VISA",
    "4200000000000000",
    "true",
    "💳",
    "%F0%9F%92%B3",
    "\\u0000",
    "{\"a\":1}",
    "<script>",
    "' OR 1=1--",
    "${7*7}",
    "%s%n",
    "../../etc/passwd",
    "2034",
    "05",
    "customParameters[",
    "card.number=",
    "amount=",
];

/// Returns up to 23 random parts of a form body: bytes, pairs of a name and a piece, single pieces, and long
/// repetitions of a piece.
fn random_body(random: &mut Random, names: &[&str]) -> Vec<u8> {
    let mut body = Vec::new();
    for _ in 0..random.next_below(24) {
        match random.next_below(8) {
            0 => body.extend((0..random.next_below(40)).map(|_| u8::try_from(random.next() & 255).unwrap_or_default())),
            1..=3 => {
                body.extend_from_slice(random.one_of(names).as_bytes());
                body.push(b'=');
                body.extend_from_slice(random.one_of(&PIECES).as_bytes());
                body.push(b'&');
            }
            4 => body.extend(random.one_of(&PIECES).repeat(random.next_below(300)).into_bytes()),
            _ => body.extend_from_slice(random.one_of(&PIECES).as_bytes()),
        }
    }
    body
}

#[tokio::test]
async fn no_random_body_makes_the_gateway_fail() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let names: Vec<&str> = all_parameters().map(|row| row.name).chain([""]).collect();
    let made = shop.create_checkout(&[]).await?;
    let checkout = format!("v1/checkouts/{}", made.id());
    let submit = format!("{checkout}/payment");
    let kinds =
        ["application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=UTF-8", "application/json"];
    for seed in 1..=1200_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let path = random.one_of(&["v1/checkouts", &checkout, &submit, "v1/payments"]);
        let entity = format!("entityId={}&", shop.entity_id).into_bytes();
        let valid: &[u8] = b"amount=1.00&currency=EUR&paymentType=DB&card.number=4200000000000000&";
        let start = random.one_of(&[&[][..], &entity, &[entity.as_slice(), valid].concat()]).to_vec();
        let body = [start, random_body(&mut random, &names)].concat();
        let mut request =
            shop.bare_request(Method::POST, path).header("content-type", random.one_of(&kinds)).body(body.clone());
        if random.next_below(10) > 0 {
            request = request.bearer_auth(&shop.token);
        }
        let answer = ApiResponse::read_from(request.send().await?).await?;
        let shown = String::from_utf8_lossy(&body);
        assert!(answer.status < 500, "seed {seed}, {path}: {}\n{shown}", answer.text);
        assert!(!answer.result_code().is_empty(), "seed {seed}, {path}: {}\n{shown}", answer.text);
        assert!(!answer.json["ndc"].is_null(), "seed {seed}, {path}: {}\n{shown}", answer.text);
    }
    let log = TestGateway::shared().read_log();
    assert!(!log.contains("panicked") && !log.contains("internal error"), "{log}");
    Ok(())
}

#[tokio::test]
async fn no_random_address_makes_the_gateway_fail() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let pieces = [
        "/",
        "//",
        "v1",
        "checkouts",
        "payments",
        "payment",
        "static",
        "paymentWidgets.js",
        "pciIframe.html",
        "..",
        ".",
        "%2e%2e",
        "%2F",
        "%00",
        "%FF",
        "?",
        "checkoutId=",
        "&",
        "entityId=",
        "field=card.number",
        "#",
        "8a",
        "%F0%9F%92%B3",
        "js/static.min.js",
    ];
    for seed in 1..=600_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let path: String = (0..1 + random.next_below(8)).map(|_| random.one_of(&pieces)).collect();
        let method = random.one_of(&["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]);
        let request = shop.bare_request(Method::from_bytes(method.as_bytes())?, &path).bearer_auth(&shop.token);
        let status = request.send().await?.status().as_u16();
        assert!(status < 500, "seed {seed}: {method} {path} is {status}");
    }
    Ok(())
}
