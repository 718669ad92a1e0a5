//! Limits of access tokens: scopes, expiry, networks; wrong credentials; when tokens were used, and how they are stored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tillgate_tests::{Answer, Gateway, Merchant, form, until};

use crate::support::*;

const PROXY: [&str; 2] = ["--trusted-proxy", "127.0.0.0/8"];

/// Another token of a merchant, once the gateway knows it.
async fn token(gateway: &Gateway, shop: &Merchant, options: &[&str]) -> anyhow::Result<Merchant> {
    let made = gateway.command(&[&["token", "create", "--entity", &shop.entity_id], options].concat())?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    // The directory takes all changes at once: when it knows a later token it knows this one too.
    let marker = gateway.command(&["token", "create", "--entity", &shop.entity_id])?;
    let marker = Merchant::new(gateway.base(), shop.entity_id.clone(), field(&marker, "token"));
    until("the gateway knows the token", async || {
        let answer = marker.get("v1/payments/unknown").await?;
        Ok((answer.status == 404).then_some(()))
    })
    .await?;
    Ok(Merchant::new(gateway.base(), shop.entity_id.clone(), token))
}

fn field(made: &Value, name: &str) -> String {
    made[name].as_str().unwrap_or_default().to_owned()
}

/// The pair inside a token.
fn pair(shop: &Merchant) -> (String, String) {
    let pair = String::from_utf8(STANDARD.decode(&shop.token).unwrap_or_default()).unwrap_or_default();
    pair.split_once('|').map(|(user, password)| (user.to_owned(), password.to_owned())).unwrap_or_default()
}

/// The scope that a request needs, as the reference says it.
fn needed(method: &str, path: &str, payment_type: Option<&str>) -> &'static str {
    match (method, payment_type) {
        ("get", _) => "read",
        _ if path.starts_with("/v1/clock") => "admin",
        ("post", Some("RF" | "RV" | "CB" | "CD")) => "refund",
        _ => "pay",
    }
}

/// Sends a request with a token, or with the older pair.
async fn ask(
    shop: &Merchant,
    method: &str,
    path: &str,
    payment_type: Option<&str>,
    older: bool,
) -> anyhow::Result<Answer> {
    let (user, password) = pair(shop);
    let mut fields = vec![("entityId", shop.entity_id.as_str())];
    fields.extend(payment_type.map(|kind| ("paymentType", kind)));
    if older {
        fields.extend([("authentication.userId", user.as_str()), ("authentication.password", password.as_str())]);
    }
    let (method, path) = (Method::from_bytes(method.to_uppercase().as_bytes())?, path.trim_start_matches('/'));
    let body = form(fields.iter().copied());
    let request = match method == Method::POST {
        true => shop.bare(method, path).header("content-type", "application/x-www-form-urlencoded").body(body),
        false => shop.bare(method, &format!("{path}?{body}")),
    };
    let request = if older { request } else { request.bearer_auth(&shop.token) };
    Answer::read(request.send().await?).await
}

#[tokio::test]
async fn every_route_takes_the_tokens_with_its_scope_and_no_others() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let description: Value = shop.client.get(format!("{}openapi.json", shop.base)).send().await?.json().await?;
    let mut routes = Vec::new();
    for (path, methods) in description["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let for_merchants = operation["security"].as_array().is_some_and(|all| !all.is_empty());
            assert_eq!(operation["x-scope"].is_string(), for_merchants, "{method} {path}");
            if for_merchants {
                assert_eq!(operation["x-scope"], needed(method, path, None), "{method} {path}");
                routes.push((method.clone(), path.replace("{advance}", "0s").replace("{id}", "unknown")));
            }
        }
    }
    assert!(routes.len() >= 18, "{routes:?}");
    for scope in ["read", "pay", "refund", "admin"] {
        let limited = token(&gateway, &shop, &["--scope", scope]).await?;
        for (method, path) in &routes {
            for kind in [None, Some("PA"), Some("DB"), Some("CP"), Some("RF"), Some("RV"), Some("CB"), Some("CD")] {
                let kind = kind.filter(|_| method == "post");
                for older in [false, true] {
                    let answer = ask(&limited, method, path, kind, older).await?;
                    let allowed = needed(method, path, kind) == scope;
                    let case = format!("{scope}: {method} {path} {kind:?}: {}", answer.text);
                    assert_eq!((answer.status, answer.code()) == (403, "800.900.301"), !allowed, "{case}");
                    assert!(allowed || answer.text.contains(needed(method, path, kind)), "{case}");
                    assert!(answer.status < 500, "{case}");
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_token_without_a_scope_repeats_no_earlier_response() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let reader = token(&gateway, &shop, &["--scope", "read"]).await?;
    let paid = shop.pay(&[]).await?;
    let refund = async |shop: &Merchant| {
        let fields =
            [("entityId", shop.entity_id.as_str()), ("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")];
        let request = shop.bare(Method::POST, &format!("v1/payments/{}", paid.id())).bearer_auth(&shop.token);
        let request =
            request.header("content-type", "application/x-www-form-urlencoded").header("idempotency-key", "r");
        Answer::read(request.body(form(fields.iter().copied())).send().await?).await
    };
    assert_answer(&refund(&shop).await?, 200, "000.100.110");
    assert_answer(&refund(&reader).await?, 403, "800.900.301");
    assert_eq!(reader.get(&format!("v1/payments/{}", paid.id())).await?.json["refundedAmount"], "1.00");
    Ok(())
}

#[tokio::test]
async fn an_expired_token_is_refused_and_says_so_to_its_holder_only() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let limited = token(&gateway, &shop, &["--expires", "90d"]).await?;
    let (user, _) = pair(&limited);
    assert_eq!(limited.get("v1/payments/unknown").await?.status, 404);
    let listed = gateway.command(&["token", "list", "--entity", &shop.entity_id])?;
    let listed = listed.as_array().into_iter().flatten().find(|token| token["userId"] == user.as_str()).cloned();
    let expires: jiff::Timestamp = field(&listed.unwrap_or_default(), "expires").parse()?;
    assert!(((expires - jiff::Timestamp::now()).total(jiff::Unit::Hour)? - 90.0 * 24.0).abs() < 1.0, "{expires}");
    let other = Connection::open(gateway.data().join("tillgate.db"))?;
    other.execute("UPDATE token SET expires = 1 WHERE user_id = ?1", [&user])?;
    until("the token has expired", async || {
        let answer = limited.get("v1/payments/unknown").await?;
        Ok((answer.status == 403).then_some(()))
    })
    .await?;
    let wrong = Merchant { token: STANDARD.encode(format!("{user}|wrong")), ..limited.clone() };
    for older in [false, true] {
        let expired = ask(&limited, "get", "v1/payments/unknown", None, older).await?;
        assert_answer(&expired, 403, "800.900.300");
        assert!(expired.text.contains("expired"), "{}", expired.text);
        let wrong = ask(&wrong, "get", "v1/payments/unknown", None, older).await?;
        assert_answer(&wrong, 403, "800.900.300");
        assert!(!wrong.text.contains("expired"), "{}", wrong.text);
    }
    Ok(())
}

/// Reads an unknown payment as if from an address, behind a trusted proxy.
async fn from(shop: &Merchant, address: &str) -> anyhow::Result<Answer> {
    let path = format!("v1/payments/unknown?entityId={}", shop.entity_id);
    let request = shop.bare(Method::GET, &path).bearer_auth(&shop.token).header("x-forwarded-for", address);
    Answer::read(request.send().await?).await
}

#[tokio::test]
async fn outside_of_its_networks_a_token_is_like_a_wrong_one() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&PROXY)?;
    let shop = gateway.merchant()?;
    let networks = ["--network", "192.0.2.0/24", "--network", "2001:db8::/48", "--network", "198.51.100.7"];
    let limited = token(&gateway, &shop, &networks).await?;
    let wrong = Merchant { token: STANDARD.encode("nobody|wrong"), ..limited.clone() };
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
        let answer = from(&limited, address).await?;
        if allowed {
            assert_eq!(answer.status, 404, "{address}: {}", answer.text);
        } else {
            assert_eq!(outcome(&answer), outcome(&from(&wrong, address).await?), "{address}");
            assert_answer(&answer, 403, "800.900.300");
        }
    }
    // A refused use is no use.
    let (user, _) = pair(&limited);
    let used = async || -> anyhow::Result<Option<i64>> {
        let query = "SELECT used FROM token WHERE user_id = ?1";
        Ok(database(&gateway)?.query_row(query, [&user], |row| row.get(0))?)
    };
    let minute = until("the use is written", async || used().await).await?;
    assert_eq!(minute % 60_000, 0);
    assert!((jiff::Timestamp::now().as_millisecond() - minute) < 5 * 60_000);
    let listed = gateway.command(&["token", "list", "--entity", &shop.entity_id])?;
    let listed = listed.as_array().into_iter().flatten().find(|token| token["userId"] == user.as_str()).cloned();
    let listed = listed.unwrap_or_default();
    assert_eq!(listed["networks"], serde_json::json!(["192.0.2.0/24", "2001:db8::/48", "198.51.100.7/32"]));
    assert_eq!(listed["scopes"], serde_json::json!(["read", "pay", "refund", "admin"]));
    assert!(listed["lastUsed"].is_string(), "{listed}");
    Ok(())
}

#[tokio::test]
async fn wrong_credentials_are_slowed_by_address_and_right_ones_never() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&[&PROXY[..], &["--wrong-credentials-per-address", "6"]].concat())?;
    let shop = gateway.merchant()?;
    let (user, _) = pair(&shop);
    let wrong = |pair: &str| Merchant { token: STANDARD.encode(pair), ..shop.clone() };
    // Unknown users and wrong secrets count alike, and so do addresses of one subscriber.
    let guesses = [wrong(&format!("{user}|wrong")), wrong("nobody|wrong")];
    for (first, same, other) in
        [("192.0.2.1", "192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1")]
    {
        for guess in guesses.iter().cycle().take(6) {
            assert_answer(&from(guess, first).await?, 403, "800.900.300");
        }
        for guess in &guesses {
            let slowed = from(guess, same).await?;
            assert_answer(&slowed, 429, "800.120.100");
            let wait: u32 = slowed.headers["retry-after"].to_str()?.parse()?;
            assert!((1..=3600).contains(&wait), "{wait}");
            assert_answer(&from(guess, other).await?, 403, "800.900.300");
        }
        assert_eq!(from(&shop, same).await?.status, 404);
    }
    Ok(())
}

/// True if a file of the store has these bytes in it.
fn stored(gateway: &Gateway, bytes: &[u8]) -> bool {
    ["tillgate.db", "tillgate.db-wal"].iter().any(|name| {
        let file = std::fs::read(gateway.data().join(name)).unwrap_or_default();
        file.windows(bytes.len()).any(|window| window == bytes)
    })
}

#[tokio::test]
async fn a_copy_of_the_store_verifies_no_guess_of_a_token() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let (user, password) = pair(&shop);
    let plain: [u8; 32] = Sha256::digest(password.as_bytes()).into();
    until("the hash has its key", async || Ok((!stored(&gateway, &plain)).then_some(()))).await?;
    let keyed: [u8; 32] =
        database(&gateway)?.query_row("SELECT hash FROM token WHERE user_id = ?1", [&user], |row| row.get(0))?;
    assert_ne!(keyed, plain);
    // A hash of an earlier version gets its key at the next start, and the token works all the while.
    let gateway = gateway.restart_after(&[], |data| {
        let other = Connection::open(data.join("tillgate.db"))?;
        other.execute("UPDATE token SET hash = ?1, keyed = 0 WHERE user_id = ?2", rusqlite::params![plain, user])?;
        Ok(())
    })?;
    let shop = Merchant { base: gateway.base(), ..shop };
    assert_eq!(shop.get("v1/payments/unknown").await?.status, 404);
    until("the hash has its key", async || Ok((!stored(&gateway, &plain)).then_some(()))).await?;
    assert_eq!(shop.get("v1/payments/unknown").await?.status, 404);
    let again: [u8; 32] =
        database(&gateway)?.query_row("SELECT hash FROM token WHERE user_id = ?1", [&user], |row| row.get(0))?;
    assert_eq!(again, keyed);
    // Nobody is let in by a key that is not the one of this store.
    let other = gateway.data().with_file_name("other.key");
    let error = gateway.restart(&["--key-file", &other.to_string_lossy()]).err();
    assert!(error.is_some_and(|error| !error.to_string().is_empty()), "a foreign key was taken");
    Ok(())
}

#[test]
fn a_token_with_a_limit_that_cannot_be_read_is_not_made() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
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
        let made = gateway.command(&["token", "create", "--entity", &shop.entity_id, &option]);
        assert!(made.is_err(), "{bad:?}");
    }
    let tokens = gateway.command(&["token", "list", "--entity", &shop.entity_id])?;
    assert_eq!(tokens.as_array().map(Vec::len), Some(1));
    Ok(())
}
