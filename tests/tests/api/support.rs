//! What the tests share: merchants on one gateway, assertions that show the whole answer, and a look into its file.

use std::sync::OnceLock;

use anyhow::Context as _;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};
use tillgate_tests::{Answer, Gateway, Merchant};
pub use tillgate_tests::{set_back, take_clock_back};

/// A sandbox merchant with the options that an operator gets by giving none.
pub fn shop() -> Merchant {
    static SHOP: OnceLock<Merchant> = OnceLock::new();
    account(&SHOP, &[])
}

/// Another merchant of the same gateway.
pub fn other_shop() -> Merchant {
    static OTHER: OnceLock<Merchant> = OnceLock::new();
    account(&OTHER, &[])
}

/// A merchant whose entity refuses unknown parameters.
pub fn strict_shop() -> Merchant {
    static STRICT: OnceLock<Merchant> = OnceLock::new();
    account(&STRICT, &["--strict"])
}

/// A merchant whose entity takes customer parameters without names.
pub fn nameless_shop() -> Merchant {
    static NAMELESS: OnceLock<Merchant> = OnceLock::new();
    account(&NAMELESS, &["--customer-names-optional"])
}

/// Options of a gateway that serves live entities to this machine as its proxy.
pub const LIVE: [&str; 4] = ["--public-url", "https://pay.example", "--trusted-proxy", "127.0.0.0/8"];

/// One gateway for the tests with live entities.
pub fn live_gateway() -> &'static Gateway {
    static SHARED: OnceLock<Gateway> = OnceLock::new();
    SHARED.get_or_init(|| match Gateway::start_with(&LIVE) {
        Ok(gateway) => gateway,
        Err(error) => panic!("no gateway: {error:#}"),
    })
}

/// A merchant for real money, behind a proxy that terminates TLS.
pub fn live_shop() -> Merchant {
    static SHOP: OnceLock<Merchant> = OnceLock::new();
    let made = SHOP.get_or_init(|| match live_gateway().merchant_with(&["--live"]) {
        Ok(merchant) => merchant,
        Err(error) => panic!("no merchant: {error:#}"),
    });
    Merchant::new(made.base.clone(), made.entity_id.clone(), made.token.clone()).behind_proxy()
}

pub fn account(cell: &'static OnceLock<Merchant>, arguments: &[&str]) -> Merchant {
    let made = cell.get_or_init(|| match Gateway::shared().merchant_with(arguments) {
        Ok(merchant) => merchant,
        Err(error) => panic!("no merchant: {error:#}"),
    });
    // Connections belong to the runtime of one test.
    Merchant::new(made.base.clone(), made.entity_id.clone(), made.token.clone())
}

/// Status and result code of an answer, and that a refusal says why.
#[track_caller]
pub fn assert_answer(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code()), (status, code), "{}", answer.text);
    let description = answer.json["result"]["description"].as_str().unwrap_or_default();
    assert!((1..=255).contains(&description.chars().count()), "{}", answer.text);
}

/// A refusal that points at exactly these parameters, each with a message.
#[track_caller]
pub fn assert_errors(answer: &Answer, names: &[&str]) {
    assert_answer(answer, 400, "200.300.404");
    let mut found = answer.errors();
    found.sort_unstable();
    let mut names = names.to_vec();
    names.sort_unstable();
    assert_eq!(found, names, "{}", answer.text);
    for name in names {
        assert!(error(answer, name)["message"].as_str().is_some_and(|message| !message.is_empty()), "{}", answer.text);
    }
}

/// What an answer says about one parameter.
pub fn error(answer: &Answer, name: &str) -> Value {
    let errors = answer.json["result"]["parameterErrors"].as_array();
    errors.into_iter().flatten().find(|error| error["name"] == name).cloned().unwrap_or_default()
}

/// An answer without what differs from one request to the next.
pub fn outcome(answer: &Answer) -> (u16, Map<String, Value>) {
    let mut body = answer.json.as_object().cloned().unwrap_or_default();
    body.remove("ndc");
    body.remove("timestamp");
    (answer.status, body)
}

/// Names of an object's members, in order.
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

/// Whether a text has a shape: `9` stands for a digit, `x` and `X` for a hexadecimal one in lower and upper case, anything
/// else for itself.
pub fn has_shape(text: &str, shape: &str) -> bool {
    text.chars().count() == shape.chars().count()
        && text.chars().zip(shape.chars()).all(|(character, shape)| match shape {
            '9' => character.is_ascii_digit(),
            'x' => matches!(character, '0'..='9' | 'a'..='f'),
            'X' => matches!(character, '0'..='9' | 'A'..='F'),
            literal => character == literal,
        })
}

/// What every answer ends with: build number, time and request identifier.
#[track_caller]
pub fn assert_envelope(answer: &Answer) {
    let text = |name: &str| answer.json[name].as_str().unwrap_or_default();
    let build = format!("{}@9999-99-99 99:99:99 +0000", "x".repeat(40));
    assert!(has_shape(text("buildNumber"), &build), "{}", answer.text);
    assert!(has_shape(text("timestamp"), "9999-99-99 99:99:99+0000"), "{}", answer.text);
    assert!((1..=69).contains(&text("ndc").len()), "{}", answer.text);
    assert_eq!(answer.headers["content-type"], "application/json;charset=UTF-8");
    let names = keys(&answer.json);
    assert!(names.ends_with(&["buildNumber", "timestamp", "ndc"]), "{names:?}");
}

/// The gateway's file, for reading.
pub fn database(gateway: &Gateway) -> anyhow::Result<Connection> {
    let path = gateway.data().join("tillgate.db");
    Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).with_context(|| path.display().to_string())
}

/// The payments that are stored for a checkout.
pub fn stored_payments(gateway: &Gateway, checkout: &str) -> anyhow::Result<Vec<Value>> {
    let database = database(gateway)?;
    let mut statement = database.prepare("SELECT document FROM payment ORDER BY id")?;
    let documents = statement.query_map([], |row| row.get::<_, Vec<u8>>(0))?.collect::<Result<Vec<_>, _>>()?;
    let documents: Vec<Value> =
        documents.iter().map(|document| serde_json::from_slice(document)).collect::<Result<_, _>>()?;
    Ok(documents.into_iter().filter(|document| document["checkout"] == checkout).collect())
}
