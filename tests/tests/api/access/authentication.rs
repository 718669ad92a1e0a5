//! Credentials: the bearer token, the older pair of user and password, and the entity that both give access to.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form, poll_until};

use crate::support::*;

const CHECKOUT: [(&str, &str); 3] = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];

/// Creates a checkout of 1.00 EUR with these fields and this `Authorization` header. Sends no other credentials and no
/// other entity.
async fn create_checkout(
    shop: &MerchantClient,
    header: Option<&[u8]>,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let body = encode_form(CHECKOUT.iter().chain(fields).copied());
    let mut request = shop
        .bare_request(Method::POST, "v1/checkouts")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body);
    if let Some(header) = header {
        request = request.header(AUTHORIZATION, HeaderValue::from_bytes(header)?);
    }
    ApiResponse::read_from(request.send().await?).await
}

fn bearer_header(token: &str) -> Vec<u8> {
    format!("Bearer {token}").into_bytes()
}

/// Returns the user and the password in a token. Both are empty if the decoded token has no `|`.
pub fn decode_token(token: &str) -> anyhow::Result<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(token)?)?;
    let (user, password) = text.split_once('|').unwrap_or_default();
    Ok((user.to_owned(), password.to_owned()))
}

#[tokio::test]
async fn without_a_usable_header_the_answer_is_401() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let entity = [("entityId", shop.entity_id.as_str())];
    let missing = create_checkout(&shop, None, &entity).await?;
    let basic = format!("Basic {}", shop.token);
    let twice = format!("Bearer {0} {0}", shop.token);
    let glued = format!("Bearer{}", shop.token);
    let malformed: [&[u8]; 10] = [
        b"",
        b"Bearer",
        b"Bearer ",
        b"bearer",
        basic.as_bytes(),
        twice.as_bytes(),
        glued.as_bytes(),
        shop.token.as_bytes(),
        b"Digest username=\"x\"",
        b"Bearer \xff\xfe",
    ];
    assert_result(&missing, 401, "800.900.300");
    assert_envelope(&missing);
    assert_eq!(missing.headers["www-authenticate"], "Bearer");
    for header in malformed {
        let answer = create_checkout(&shop, Some(header), &entity).await?;
        assert_result(&answer, 401, "800.900.300");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    Ok(())
}

#[tokio::test]
async fn a_sandbox_says_what_a_status_without_a_header_lacks() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let encoded = tillgate_tests::encode_form([("access_token", shop.token.as_str())]);
    for query in
        [format!("entityId={}", shop.entity_id), format!("entityId={}&{encoded}", shop.entity_id), String::new()]
    {
        let path = format!("v1/checkouts/{}/payment?{query}", made.id());
        let answer = ApiResponse::read_from(shop.bare_request(reqwest::Method::GET, &path).send().await?).await?;
        assert_result(&answer, 401, "800.900.300");
        for word in ["Authorization: Bearer", "also when you read a status"] {
            assert!(answer.text.contains(word), "{}", answer.text);
        }
        assert!(!answer.text.contains(&shop.token), "{}", answer.text);
    }
    // A live entity says no more than that the header is missing.
    let live = live_shop();
    let path = format!("v1/checkouts/{}/payment?entityId={}", made.id(), live.entity_id);
    let answer = ApiResponse::read_from(live.bare_request(reqwest::Method::GET, &path).send().await?).await?;
    assert_result(&answer, 401, "800.900.300");
    assert!(answer.text.contains("header is missing") && !answer.text.contains("Bearer"), "{}", answer.text);
    Ok(())
}

#[tokio::test]
async fn a_malformed_header_is_not_saved_by_good_fields() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (user, password) = decode_token(&shop.token)?;
    let fields = [
        ("entityId", shop.entity_id.as_str()),
        ("authentication.userId", user.as_str()),
        ("authentication.password", password.as_str()),
    ];
    assert_result(&create_checkout(&shop, Some(b"Basic eDp5"), &fields).await?, 401, "800.900.300");
    assert_result(&create_checkout(&shop, Some(&bearer_header("eDp5")), &fields).await?, 403, "800.900.300");
    Ok(())
}

#[tokio::test]
async fn the_scheme_is_read_in_any_case() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let header = format!("{scheme} {}", shop.token);
        let answer = create_checkout(&shop, Some(header.as_bytes()), &[("entityId", &shop.entity_id)]).await?;
        assert_result(&answer, 200, "000.200.100");
    }
    Ok(())
}

#[tokio::test]
async fn a_wrong_token_is_403_and_every_wrong_one_looks_the_same() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (user, password) = decode_token(&shop.token)?;
    let other = decode_token(&other_shop().token)?;
    let encode = |user: &str, password: &str| STANDARD.encode(format!("{user}|{password}"));
    let mut cut = shop.token.clone();
    cut.pop();
    let wrong = [
        encode(&user, "wrong"),
        encode("wrong", &password),
        encode(&user, ""),
        encode("", ""),
        encode(&user, &other.1),
        encode(&other.0, &password),
        encode(&user, &password.to_uppercase()),
        encode(&user, &password[..password.len() - 1]),
        encode(&user, &format!("{password}0")),
        encode(&user, &format!("{password}\0")),
        encode(&user, &format!("|{password}")),
        STANDARD.encode(format!("{user}{password}")),
        STANDARD.encode([0xff, 0xfe, b'|', b'x']),
        "!!!".to_owned(),
        "x".repeat(7000),
        cut,
    ];
    let mut seen = Vec::new();
    for token in wrong {
        let answer = create_checkout(&shop, Some(&bearer_header(&token)), &[("entityId", &shop.entity_id)]).await?;
        assert_result(&answer, 403, "800.900.300");
        assert_envelope(&answer);
        seen.push(comparable_response(&answer));
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:?}");
    Ok(())
}

#[tokio::test]
async fn strangers_learn_nothing_about_the_body() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    // A wrong token is reported before any other fault of the request.
    let wrong = bearer_header(&STANDARD.encode("nobody|nothing"));
    for fields in
        [&[("amount", "x")][..], &[("entityId", "x")], &[("entityId", &shop.entity_id), ("billing.country", "x")]]
    {
        let answer = create_checkout(&shop, Some(&wrong), fields).await?;
        assert_result(&answer, 403, "800.900.300");
        assert!(answer.invalid_parameters().is_empty(), "{}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_older_fields_speak_for_a_merchant_in_bodies_and_queries() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (user, password) = decode_token(&shop.token)?;
    let credentials = [("authentication.userId", user.as_str()), ("authentication.password", password.as_str())];
    for entity in ["authentication.entityId", "entityId"] {
        let fields: Vec<_> = credentials.into_iter().chain([(entity, shop.entity_id.as_str())]).collect();
        let made = create_checkout(&shop, None, &fields).await?;
        assert_result(&made, 200, "000.200.100");
        let path = format!("v1/checkouts/{}/payment?{}", made.id(), encode_form(fields));
        let status = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
        assert_result(&status, 200, "000.200.000");
    }
    Ok(())
}

#[tokio::test]
async fn the_older_fields_fail_like_the_header() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (user, password) = decode_token(&shop.token)?;
    let (user, password) = (("authentication.userId", user.as_str()), ("authentication.password", password.as_str()));
    let entity = ("authentication.entityId", shop.entity_id.as_str());
    // An incomplete pair is treated as missing.
    for fields in
        [&[entity, user][..], &[entity, password], &[entity], &[entity, user, ("authentication.password", "")]]
    {
        let answer = create_checkout(&shop, None, fields).await?;
        assert!(matches!(answer.status, 401 | 403), "{}", answer.text);
        assert_eq!(answer.result_code(), "800.900.300");
    }
    let wrong_password = create_checkout(&shop, None, &[entity, user, ("authentication.password", "wrong")]).await?;
    let wrong_user = create_checkout(&shop, None, &[entity, ("authentication.userId", "wrong"), password]).await?;
    assert_result(&wrong_password, 403, "800.900.300");
    assert_eq!(comparable_response(&wrong_password), comparable_response(&wrong_user));
    assert!(!wrong_password.text.contains("wrong\""), "{}", wrong_password.text);
    // The entity is required in the same way.
    assert_errors(&create_checkout(&shop, None, &[user, password]).await?, &["entityId"]);
    let stranger = other_shop();
    let foreign =
        create_checkout(&shop, None, &[user, password, ("authentication.entityId", &stranger.entity_id)]).await?;
    assert_result(&foreign, 403, "800.900.201");
    Ok(())
}

#[tokio::test]
async fn credentials_are_not_kept_and_not_shown() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (user, password) = decode_token(&shop.token)?;
    let mut fields = vec![
        ("authentication.userId", user.as_str()),
        ("authentication.password", password.as_str()),
        ("authentication.entityId", shop.entity_id.as_str()),
    ];
    fields.extend(CHECKOUT);
    fields.extend(tillgate_tests::CARD);
    let paid = shop.post_as_browser("v1/payments", &fields).await?;
    assert_result(&paid, 200, "000.100.110");
    assert!(paid.json["authentication"].is_null() && !paid.text.contains(&password), "{}", paid.text);
    let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert!(!read.text.contains(&password) && !read.text.contains(&user), "{}", read.text);
    Ok(())
}

#[tokio::test]
async fn a_request_without_an_entity_names_it() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let missing = create_checkout(&shop, Some(&bearer_header(&shop.token)), &[]).await?;
    assert_errors(&missing, &["entityId"]);
    assert!(parameter_error(&missing, "entityId")["value"].is_null());
    assert_errors(
        &create_checkout(&shop, Some(&bearer_header(&shop.token)), &[("entityId", "")]).await?,
        &["entityId"],
    );
    for wrong in ["x", &shop.entity_id.to_uppercase(), &shop.entity_id[1..], &format!("{}0", shop.entity_id)] {
        let refused = create_checkout(&shop, Some(&bearer_header(&shop.token)), &[("entityId", wrong)]).await?;
        // An id without letters is the same in upper case.
        if wrong != shop.entity_id {
            assert_errors(&refused, &["entityId"]);
        }
    }
    Ok(())
}

#[tokio::test]
async fn another_merchants_entity_looks_like_one_that_never_was() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let ask =
        async |entity: &str| create_checkout(&shop, Some(&bearer_header(&shop.token)), &[("entityId", entity)]).await;
    let foreign = ask(&stranger.entity_id).await?;
    assert_result(&foreign, 403, "800.900.201");
    assert_envelope(&foreign);
    let never = ask(&"0".repeat(32)).await?;
    assert_eq!(comparable_response(&foreign), comparable_response(&never));
    // The response envelope reveals nothing either: the `ndc` of both responses contains no entity.
    for answer in [&foreign, &never] {
        assert!(
            !answer.text.contains(&stranger.entity_id) && !answer.text.contains(&"0".repeat(32)),
            "{}",
            answer.text
        );
    }
    let status = |entity: &str| format!("v1/payments/x?entityId={entity}");
    for entity in [stranger.entity_id.as_str(), &"0".repeat(32)] {
        let request = shop.bare_request(Method::GET, &status(entity)).bearer_auth(&shop.token);
        assert_result(&ApiResponse::read_from(request.send().await?).await?, 403, "800.900.201");
    }
    Ok(())
}

#[tokio::test]
async fn a_token_made_beside_a_running_gateway_works_and_a_revoked_one_does_not() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let first = sandbox_shop();
    let made = gateway.run_command(&["token", "create", "--entity", &first.entity_id, "--label", "web shop"])?;
    let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
    let second = MerchantClient::new(gateway.base_url(), first.entity_id.clone(), text("token"));
    poll_until("the new token is taken", async || Ok((second.create_checkout(&[]).await?.status == 200).then_some(())))
        .await?;

    // Both tokens give access to the same entity.
    let checkout = second.create_checkout(&[]).await?;
    assert_result(&first.read_status(checkout.id()).await?, 200, "000.200.000");

    gateway.run_command(&["token", "revoke", "--user", &text("userId")])?;
    let refused = poll_until("the revoked token is refused", async || {
        let answer = second.read_status(checkout.id()).await?;
        Ok((answer.status == 403).then_some(answer))
    })
    .await?;
    assert_result(&refused, 403, "800.900.300");
    let unknown = first.bare_request(Method::GET, "v1/payments/x").bearer_auth(STANDARD.encode("nobody|nothing"));
    assert_eq!(
        comparable_response(&refused),
        comparable_response(&ApiResponse::read_from(unknown.send().await?).await?)
    );
    // The other token stays valid.
    assert_result(&first.read_status(checkout.id()).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn the_secret_half_of_a_token_is_stored_nowhere() -> anyhow::Result<()> {
    let (gateway, shop) = (TestGateway::shared(), sandbox_shop());
    assert_result(&shop.create_checkout(&[]).await?, 200, "000.200.100");
    let (_, password) = decode_token(&shop.token)?;
    for entry in std::fs::read_dir(gateway.data_folder())? {
        let path = entry?.path();
        if path.is_file() {
            let content = std::fs::read(&path)?;
            for secret in [password.as_bytes(), shop.token.as_bytes()] {
                let found = content.windows(secret.len()).any(|window| window == secret);
                assert!(!found, "{} holds a token", path.display());
            }
        }
    }
    assert!(!gateway.read_log().contains(&password) && !gateway.read_log().contains(&shop.token));
    Ok(())
}
