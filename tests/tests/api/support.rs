//! Helpers of all test modules: merchants of one gateway, assertions that show the whole response, and access to the
//! database.

use std::sync::OnceLock;

use serde_json::{Map, Value};
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};
pub use tillgate_tests::{backdate_checkout, reset_sandbox_clock};

/// Returns the shared sandbox merchant with the default options.
pub fn sandbox_shop() -> MerchantClient {
    static SHOP: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&SHOP, &[])
}

/// Returns another shared merchant of the same gateway.
pub fn other_shop() -> MerchantClient {
    static OTHER: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&OTHER, &[])
}

/// Returns the shared merchant whose entity refuses unknown parameters.
pub fn strict_shop() -> MerchantClient {
    static STRICT: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&STRICT, &["--strict"])
}

/// Returns the shared merchant whose entity accepts customer parameters without names.
pub fn nameless_shop() -> MerchantClient {
    static NAMELESS: OnceLock<MerchantClient> = OnceLock::new();
    shared_merchant(&NAMELESS, &["--customer-names-optional"])
}

/// Options of a gateway that serves live entities and trusts this machine as its proxy.
pub const LIVE: [&str; 4] = ["--public-url", "https://pay.example", "--trusted-proxy", "127.0.0.0/8"];

/// Returns the shared gateway of the tests with live entities. The first call starts it.
pub fn live_gateway() -> &'static TestGateway {
    static SHARED: OnceLock<TestGateway> = OnceLock::new();
    SHARED.get_or_init(|| match TestGateway::start_with(&LIVE) {
        Ok(gateway) => gateway,
        Err(error) => panic!("no gateway: {error:#}"),
    })
}

/// Returns the shared live merchant, behind a proxy that terminates TLS.
pub fn live_shop() -> MerchantClient {
    static SHOP: OnceLock<MerchantClient> = OnceLock::new();
    let made = SHOP.get_or_init(|| match live_gateway().create_merchant_with(&["--live"]) {
        Ok(merchant) => merchant,
        Err(error) => panic!("no merchant: {error:#}"),
    });
    MerchantClient::new(made.base.clone(), made.entity_id.clone(), made.token.clone()).behind_proxy()
}

/// Returns a new client of the merchant in `cell`. The first call creates the merchant with these options at the shared
/// gateway, and panics if that fails.
pub fn shared_merchant(cell: &'static OnceLock<MerchantClient>, arguments: &[&str]) -> MerchantClient {
    let made = cell.get_or_init(|| match TestGateway::shared().create_merchant_with(arguments) {
        Ok(merchant) => merchant,
        Err(error) => panic!("no merchant: {error:#}"),
    });
    // A new client, because connections belong to the runtime of one test.
    MerchantClient::new(made.base.clone(), made.entity_id.clone(), made.token.clone())
}

/// Asserts the status and result code of a response, and that it has a description of at most 255 characters.
#[track_caller]
pub fn assert_result(answer: &ApiResponse, status: u16, code: &str) {
    assert_eq!((answer.status, answer.result_code()), (status, code), "{}", answer.text);
    let description = answer.json["result"]["description"].as_str().unwrap_or_default();
    assert!((1..=255).contains(&description.chars().count()), "{}", answer.text);
}

/// Asserts a refusal (400 with 200.300.404) for exactly these parameters, in any order, each with a message.
#[track_caller]
pub fn assert_errors(answer: &ApiResponse, names: &[&str]) {
    assert_result(answer, 400, "200.300.404");
    let mut found = answer.invalid_parameters();
    found.sort_unstable();
    let mut names = names.to_vec();
    names.sort_unstable();
    assert_eq!(found, names, "{}", answer.text);
    for name in names {
        assert!(
            parameter_error(answer, name)["message"].as_str().is_some_and(|message| !message.is_empty()),
            "{}",
            answer.text
        );
    }
}

/// Returns the error of one parameter in a response, or null.
pub fn parameter_error(answer: &ApiResponse, name: &str) -> Value {
    let errors = answer.json["result"]["parameterErrors"].as_array();
    errors.into_iter().flatten().find(|error| error["name"] == name).cloned().unwrap_or_default()
}

/// Returns status and body of a response without `ndc` and `timestamp`, which differ between requests.
pub fn comparable_response(answer: &ApiResponse) -> (u16, Map<String, Value>) {
    let mut body = answer.json.as_object().cloned().unwrap_or_default();
    body.remove("ndc");
    body.remove("timestamp");
    (answer.status, body)
}

/// Returns the names of an object's members, in order. The list is empty if the value is no object.
pub fn member_names(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

/// Returns true if a text matches a shape: `9` matches a digit, `x` and `X` match a hexadecimal digit in lower and
/// upper case, and every other character matches itself.
pub fn has_shape(text: &str, shape: &str) -> bool {
    text.chars().count() == shape.chars().count()
        && text.chars().zip(shape.chars()).all(|(character, shape)| match shape {
            '9' => character.is_ascii_digit(),
            'x' => matches!(character, '0'..='9' | 'a'..='f'),
            'X' => matches!(character, '0'..='9' | 'A'..='F'),
            literal => character == literal,
        })
}

/// Asserts the content type of a response, and its last fields: build number, time and `ndc`.
#[track_caller]
pub fn assert_envelope(answer: &ApiResponse) {
    let text = |name: &str| answer.json[name].as_str().unwrap_or_default();
    let build = format!("{}@9999-99-99 99:99:99 +0000", "x".repeat(40));
    assert!(has_shape(text("buildNumber"), &build), "{}", answer.text);
    assert!(has_shape(text("timestamp"), "9999-99-99 99:99:99+0000"), "{}", answer.text);
    assert!((1..=69).contains(&text("ndc").len()), "{}", answer.text);
    assert_eq!(answer.headers["content-type"], "application/json;charset=UTF-8");
    let names = member_names(&answer.json);
    assert!(names.ends_with(&["buildNumber", "timestamp", "ndc"]), "{names:?}");
}

/// Opens the gateway's database for reading.
pub fn open_database(gateway: &TestGateway) -> anyhow::Result<Database> {
    Database::open_to_read(&gateway.data_folder())
}

/// Returns the stored payments of a checkout, ordered by id.
pub fn stored_payments(gateway: &TestGateway, checkout: &str) -> anyhow::Result<Vec<Value>> {
    let database = open_database(gateway)?;
    // The store of the shared gateway has thousands of payments, so the database selects those of the checkout.
    let query =
        "SELECT document FROM payment WHERE json_extract(CAST(document AS TEXT), '$.checkout') = ?1 ORDER BY id";
    let mut statement = database.prepare(query)?;
    let documents = statement.query_map([checkout], |row| row.get::<_, Vec<u8>>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(documents.iter().map(|document| serde_json::from_slice(document)).collect::<Result<_, _>>()?)
}
