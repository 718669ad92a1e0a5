//! Limits of access tokens: scopes, expiry, networks. Wrong credentials, the time of the last use, and the storage of
//! tokens.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Method;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway, encode_form, poll_until};

use crate::checkout::presence::CONCURRENT_REQUESTS;
use crate::support::*;

const PROXY: [&str; 2] = ["--trusted-proxy", "127.0.0.0/8"];

/// Creates another token of a merchant with these options, and waits until the gateway knows it.
pub async fn create_token(
    gateway: &TestGateway,
    shop: &MerchantClient,
    options: &[&str],
) -> anyhow::Result<MerchantClient> {
    let made = gateway.run_command(&[&["token", "create", "--entity", &shop.entity_id], options].concat())?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    // The gateway loads all changes together, so when it knows the later token, it also knows this one.
    let marker = gateway.run_command(&["token", "create", "--entity", &shop.entity_id])?;
    let marker = MerchantClient::new(gateway.base_url(), shop.entity_id.clone(), text_field(&marker, "token"));
    poll_until("the gateway knows the token", async || {
        let answer = marker.get("v1/payments/unknown").await?;
        Ok((answer.status == 404).then_some(()))
    })
    .await?;
    Ok(MerchantClient::new(gateway.base_url(), shop.entity_id.clone(), token))
}

fn text_field(made: &Value, name: &str) -> String {
    made[name].as_str().unwrap_or_default().to_owned()
}

/// Returns the user and the password in a merchant's token. Both are empty if it is malformed.
fn decode_token(shop: &MerchantClient) -> (String, String) {
    let pair = String::from_utf8(STANDARD.decode(&shop.token).unwrap_or_default()).unwrap_or_default();
    pair.split_once('|').map(|(user, password)| (user.to_owned(), password.to_owned())).unwrap_or_default()
}

/// Returns the scope that a request needs, according to the reference.
fn required_scope(method: &str, path: &str, payment_type: Option<&str>) -> &'static str {
    match (method, payment_type) {
        ("get", _) => "read",
        _ if path.ends_with("/dryRun") => "read",
        _ if path.starts_with("/v1/clock") || path.starts_with("/v2/risk/") => "admin",
        _ if path.starts_with("/v2/reviews/") => "review",
        _ if path.starts_with("/v1/disputes") => "refund",
        ("post", Some("RF" | "RV" | "CB" | "CR" | "CD")) => "refund",
        _ => "pay",
    }
}

/// Sends a request with the merchant's token, or with user and password among the fields if `older`. Fields are in the
/// body of a POST without a file, otherwise in the query.
async fn send_request(
    shop: &MerchantClient,
    method: &str,
    path: &str,
    payment_type: Option<&str>,
    older: bool,
) -> anyhow::Result<ApiResponse> {
    let (user, password) = decode_token(shop);
    let mut fields = vec![("entityId", shop.entity_id.as_str())];
    fields.extend(payment_type.map(|kind| ("paymentType", kind)));
    if older {
        fields.extend([("authentication.userId", user.as_str()), ("authentication.password", password.as_str())]);
    }
    let (method, path) = (Method::from_bytes(method.to_uppercase().as_bytes())?, path.trim_start_matches('/'));
    let body = encode_form(fields.iter().copied());
    let request = match method == Method::POST && !path.ends_with("/evidence") {
        true => shop.bare_request(method, path).header("content-type", "application/x-www-form-urlencoded").body(body),
        false => shop.bare_request(method, &format!("{path}?{body}")),
    };
    let request = if older { request } else { request.bearer_auth(&shop.token) };
    ApiResponse::read_from(request.send().await?).await
}

/// Payment types of a request: none, payments, and what needs another scope.
const PAYMENT_TYPES: [Option<&str>; 8] =
    [None, Some("PA"), Some("DB"), Some("CP"), Some("RF"), Some("RV"), Some("CB"), Some("CD")];

#[tokio::test]
async fn every_route_takes_the_tokens_with_its_scope_and_no_others() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let description: Value = shop.client.get(format!("{}openapi.json", shop.base)).send().await?.json().await?;
    let mut routes = Vec::new();
    for (path, methods) in description["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let for_merchants = operation["security"].as_array().is_some_and(|all| !all.is_empty());
            assert_eq!(operation["x-scope"].is_string(), for_merchants, "{method} {path}");
            if for_merchants {
                assert_eq!(operation["x-scope"], required_scope(method, path, None), "{method} {path}");
                routes.push((
                    method.clone(),
                    path.replace("{advance}", "0s").replace("{id}", "unknown").replace("{version}", "unknown"),
                ));
            }
        }
    }
    assert!(routes.len() >= 18, "{routes:?}");
    for scope in ["read", "pay", "refund", "admin", "review"] {
        let limited = create_token(&gateway, &shop, &["--scope", scope]).await?;
        let cases = routes.iter().flat_map(|(method, path)| {
            // A request that is no POST has no payment type.
            let kinds = if method == "post" { &PAYMENT_TYPES[..] } else { &[None] };
            kinds.iter().flat_map(move |kind| [false, true].map(|older| (method, path, *kind, older)))
        });
        let sent = cases.map(async |(method, path, kind, older)| {
            let answer = send_request(&limited, method, path, kind, older).await?;
            let allowed = required_scope(method, path, kind) == scope;
            let case = format!("{scope}: {method} {path} {kind:?}: {}", answer.text);
            assert_eq!((answer.status, answer.result_code()) == (403, "800.900.301"), !allowed, "{case}");
            assert!(allowed || answer.text.contains(required_scope(method, path, kind)), "{case}");
            assert!(answer.status < 500, "{case}");
            anyhow::Ok(())
        });
        stream::iter(sent).buffer_unordered(CONCURRENT_REQUESTS).try_collect::<Vec<()>>().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_token_without_a_scope_repeats_no_earlier_response() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let reader = create_token(&gateway, &shop, &["--scope", "read"]).await?;
    let paid = shop.pay_by_card(&[]).await?;
    let refund = async |shop: &MerchantClient| {
        let fields =
            [("entityId", shop.entity_id.as_str()), ("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")];
        let request = shop.bare_request(Method::POST, &format!("v1/payments/{}", paid.id())).bearer_auth(&shop.token);
        let request =
            request.header("content-type", "application/x-www-form-urlencoded").header("idempotency-key", "r");
        ApiResponse::read_from(request.body(encode_form(fields.iter().copied())).send().await?).await
    };
    assert_result(&refund(&shop).await?, 200, "000.100.110");
    assert_result(&refund(&reader).await?, 403, "800.900.301");
    assert_eq!(reader.get(&format!("v1/payments/{}", paid.id())).await?.json["refundedAmount"], "1.00");
    Ok(())
}

#[tokio::test]
async fn an_expired_token_is_refused_and_says_so_to_its_holder_only() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let limited = create_token(&gateway, &shop, &["--expires", "90d"]).await?;
    let (user, _) = decode_token(&limited);
    assert_eq!(limited.get("v1/payments/unknown").await?.status, 404);
    let listed = gateway.run_command(&["token", "list", "--entity", &shop.entity_id])?;
    let listed = listed.as_array().into_iter().flatten().find(|token| token["userId"] == user.as_str()).cloned();
    let expires: jiff::Timestamp = text_field(&listed.unwrap_or_default(), "expires").parse()?;
    assert!(((expires - jiff::Timestamp::now()).total(jiff::Unit::Hour)? - 90.0 * 24.0).abs() < 1.0, "{expires}");
    let other = Database::open(&gateway.data_folder())?;
    other.execute("UPDATE token SET expires = 1 WHERE user_id = ?1", [&user])?;
    poll_until("the token has expired", async || {
        let answer = limited.get("v1/payments/unknown").await?;
        Ok((answer.status == 403).then_some(()))
    })
    .await?;
    let wrong = MerchantClient { token: STANDARD.encode(format!("{user}|wrong")), ..limited.clone() };
    for older in [false, true] {
        let expired = send_request(&limited, "get", "v1/payments/unknown", None, older).await?;
        assert_result(&expired, 403, "800.900.300");
        assert!(expired.text.contains("expired"), "{}", expired.text);
        let wrong = send_request(&wrong, "get", "v1/payments/unknown", None, older).await?;
        assert_result(&wrong, 403, "800.900.300");
        assert!(!wrong.text.contains("expired"), "{}", wrong.text);
    }
    Ok(())
}

/// Reads an unknown payment, through a trusted proxy that forwards this address. Returns any response.
async fn read_from_address(shop: &MerchantClient, address: &str) -> anyhow::Result<ApiResponse> {
    let path = format!("v1/payments/unknown?entityId={}", shop.entity_id);
    let request = shop.bare_request(Method::GET, &path).bearer_auth(&shop.token).header("x-forwarded-for", address);
    ApiResponse::read_from(request.send().await?).await
}

#[tokio::test]
async fn outside_of_its_networks_a_token_is_like_a_wrong_one() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&PROXY)?;
    let shop = gateway.create_merchant()?;
    let networks = ["--network", "192.0.2.0/24", "--network", "2001:db8::/48", "--network", "198.51.100.7"];
    let limited = create_token(&gateway, &shop, &networks).await?;
    let wrong = MerchantClient { token: STANDARD.encode("nobody|wrong"), ..limited.clone() };
    for (address, allowed) in [
        ("192.0.2.1", true),
        ("::ffff:192.0.2.255", true),
        ("2001:db8::1", true),
        ("198.51.100.7", true),
        ("203.0.113.1, 192.0.2.1", true),
        ("192.0.3.1", false),
        ("198.51.100.8", false),
        ("2001:db8:1::1", false),
        ("192.0.2.1, 203.0.113.1", false),
        ("127.0.0.1", false),
    ] {
        let answer = read_from_address(&limited, address).await?;
        if allowed {
            assert_eq!(answer.status, 404, "{address}: {}", answer.text);
        } else {
            assert_eq!(
                comparable_response(&answer),
                comparable_response(&read_from_address(&wrong, address).await?),
                "{address}"
            );
            assert_result(&answer, 403, "800.900.300");
        }
    }
    // A refused request does not count as a use.
    let (user, _) = decode_token(&limited);
    let used = async || -> anyhow::Result<Option<i64>> {
        let query = "SELECT used FROM token WHERE user_id = ?1";
        Ok(open_database(&gateway)?.query_row(query, [&user], |row| row.get(0))?)
    };
    let minute = poll_until("the use is written", async || used().await).await?;
    assert_eq!(minute % 60_000, 0);
    assert!((jiff::Timestamp::now().as_millisecond() - minute) < 5 * 60_000);
    let listed = gateway.run_command(&["token", "list", "--entity", &shop.entity_id])?;
    let listed = listed.as_array().into_iter().flatten().find(|token| token["userId"] == user.as_str()).cloned();
    let listed = listed.unwrap_or_default();
    assert_eq!(listed["networks"], serde_json::json!(["192.0.2.0/24", "2001:db8::/48", "198.51.100.7/32"]));
    assert_eq!(listed["scopes"], serde_json::json!(["read", "pay", "refund", "admin", "review"]));
    assert!(listed["lastUsed"].is_string(), "{listed}");
    Ok(())
}

#[tokio::test]
async fn wrong_credentials_are_slowed_by_address_and_right_ones_never() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&[&PROXY[..], &["--wrong-credentials-per-address", "6"]].concat())?;
    let shop = gateway.create_merchant()?;
    let (user, _) = decode_token(&shop);
    let wrong = |pair: &str| MerchantClient { token: STANDARD.encode(pair), ..shop.clone() };
    // Unknown users and wrong secrets are counted alike, and addresses of one subscriber are counted together.
    let guesses = [wrong(&format!("{user}|wrong")), wrong("nobody|wrong")];
    for (first, same, other) in
        [("192.0.2.1", "192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1")]
    {
        for guess in guesses.iter().cycle().take(6) {
            assert_result(&read_from_address(guess, first).await?, 403, "800.900.300");
        }
        for guess in &guesses {
            let slowed = read_from_address(guess, same).await?;
            assert_result(&slowed, 429, "800.120.100");
            let wait: u32 = slowed.headers["retry-after"].to_str()?.parse()?;
            assert!((1..=3600).contains(&wait), "{wait}");
            assert_result(&read_from_address(guess, other).await?, 403, "800.900.300");
        }
        assert_eq!(read_from_address(&shop, same).await?.status, 404);
    }
    Ok(())
}

/// Returns true if the store contains these bytes. One that cannot be read contains none.
fn has_stored_bytes(gateway: &TestGateway, bytes: &[u8]) -> bool {
    let stored = gateway.read_stored_bytes().unwrap_or_default();
    stored.windows(bytes.len()).any(|window| window == bytes)
}

#[tokio::test]
async fn a_copy_of_the_store_verifies_no_guess_of_a_token() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (user, password) = decode_token(&shop);
    let plain: [u8; 32] = Sha256::digest(password.as_bytes()).into();
    poll_until("the hash has its key", async || Ok((!has_stored_bytes(&gateway, &plain)).then_some(()))).await?;
    let keyed: [u8; 32] =
        open_database(&gateway)?.query_row("SELECT hash FROM token WHERE user_id = ?1", [&user], |row| row.get(0))?;
    assert_ne!(keyed, plain);
    // A hash without the key was not written by the gateway, and opens nothing.
    let write_hash = |data: &std::path::Path, hash: [u8; 32], is_keyed: bool| -> anyhow::Result<()> {
        let other = Database::open(data)?;
        let query = "UPDATE token SET hash = ?1, keyed = ?2 WHERE user_id = ?3";
        other.execute(query, rusqlite::params![hash, is_keyed, user])?;
        Ok(())
    };
    let gateway = gateway.kill_and_restart_after(&[], |data| write_hash(data, plain, false))?;
    let shop = MerchantClient { base: gateway.base_url(), ..shop };
    assert_eq!(shop.get("v1/payments/unknown").await?.status, 403);
    let gateway = gateway.kill_and_restart_after(&[], |data| write_hash(data, keyed, true))?;
    let shop = MerchantClient { base: gateway.base_url(), ..shop };
    assert_eq!(shop.get("v1/payments/unknown").await?.status, 404);
    // A token is not accepted with the key of another store.
    let other = gateway.data_folder().with_file_name("other.key");
    let error = gateway.kill_and_restart(&["--key-file", &other.to_string_lossy()]).err();
    assert!(error.is_some_and(|error| !error.to_string().is_empty()), "a foreign key was taken");
    Ok(())
}

#[test]
fn a_token_with_a_limit_that_cannot_be_read_is_not_made() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for bad in [
        ["--scope", "everything"],
        ["--scope", ""],
        ["--network", "192.0.2.0/33"],
        ["--network", "shop.example"],
        ["--expires", "2001-01-01"],
        ["--expires", "soon"],
        ["--expires", "-1d"],
    ] {
        let option = format!("{}={}", bad[0], bad[1]);
        let made = gateway.run_command(&["token", "create", "--entity", &shop.entity_id, &option]);
        assert!(made.is_err(), "{bad:?}");
    }
    let tokens = gateway.run_command(&["token", "list", "--entity", &shop.entity_id])?;
    assert_eq!(tokens.as_array().map(Vec::len), Some(1));
    Ok(())
}
