//! Invalid bodies: a clear and immediate refusal, never a server error, and no allocation based on their claims.

use anyhow::Context as _;
use reqwest::header::HeaderMap;
use tillgate_tests::{ApiResponse, MerchantClient, PATIENCE, encode_form};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::*;

const FORM: &str = "application/x-www-form-urlencoded";
const MIB: usize = 1024 * 1024;

/// Posts a body as it is, with the merchant's token. `None`: no content type.
async fn post_body(
    shop: &MerchantClient,
    path: &str,
    content_type: Option<&str>,
    body: impl Into<reqwest::Body>,
) -> anyhow::Result<ApiResponse> {
    let mut request = shop.bare_request(reqwest::Method::POST, path).bearer_auth(&shop.token).body(body);
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    ApiResponse::read_from(request.send().await?).await
}

/// Creates a checkout, and returns the paths of all requests with a body that concern checkouts and payments.
async fn paths_with_body(shop: &MerchantClient) -> anyhow::Result<[String; 4]> {
    let made = shop.create_checkout(&[]).await?;
    let checkout = format!("v1/checkouts/{}", made.id());
    Ok(["v1/checkouts".to_owned(), checkout.clone(), format!("{checkout}/payment"), "v1/payments".to_owned()])
}

/// Asserts a refusal with this status, 200.300.404 and the usual last fields.
#[track_caller]
fn assert_refused(answer: &ApiResponse, status: u16) {
    assert_result(answer, status, "200.300.404");
    assert_envelope(answer);
}

#[tokio::test]
async fn broken_encodings_are_refused_by_name() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for path in paths_with_body(&shop).await? {
        for (body, name) in [
            ("card.holder=100%", "card.holder"),
            ("card.holder=%4", "card.holder"),
            ("card.holder=%GG", "card.holder"),
            ("card.holder=%u00e9", "card.holder"),
            ("card.holder=%FF%FE", "card.holder"),
            ("card.holder=%C3", "card.holder"),
            ("card.holder=%ED%A0%80", "card.holder"),
            ("card.holder=%C0%AF", "card.holder"),
            ("card.holder=Jane%00Jones", "card.holder"),
        ] {
            let refused = post_body(&shop, &path, Some(FORM), body).await?;
            assert_refused(&refused, 400);
            assert_eq!(refused.invalid_parameters(), [name], "{path} {body}: {}", refused.text);
        }
        for body in ["%ZZ=1", "a%00b=1", "a%0Ab=1", "=1", "%FF=1", "=", "[=1", "a]=1", "a[b=1", "a[[b]]=1"] {
            assert_refused(&post_body(&shop, &path, Some(FORM), body).await?, 400);
        }
    }
    let raw: &[u8] = b"card.holder=\xff\xfe\x80";
    assert_refused(&post_body(&shop, "v1/payments", Some(FORM), raw.to_vec()).await?, 400);
    Ok(())
}

#[tokio::test]
async fn absurd_indexes_are_refused_before_anything_is_made_of_them() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for path in paths_with_body(&shop).await? {
        for index in ["1000", "99999999999999999999", "4294967296", "-1", "+1", "01", "1.5", "0x10", "1e9", "٣"] {
            let name = format!("registrations[{index}].id");
            let refused = post_body(&shop, &path, Some(FORM), encode_form([(name.as_str(), "x")])).await?;
            // Non-ASCII digits are no index. Such a name is unknown and is ignored.
            if index.is_ascii() {
                assert_refused(&refused, 400);
                assert_eq!(refused.invalid_parameters(), [name], "{}", refused.text);
            }
            assert!(refused.status < 500, "{}", refused.text);
        }
    }
    // The highest index costs no more than the lowest.
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let fields = [("registrations[999].id", stored.id()), ("registrations[0].id", stored.id())];
    assert_result(&shop.create_checkout(&fields).await?, 200, "000.200.100");
    Ok(())
}

#[tokio::test]
async fn a_name_that_comes_twice_is_refused_by_name() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let entity = shop.entity_id.as_str();
    let fields =
        [("entityId", entity), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("amount", "2.00")];
    for path in ["v1/checkouts", "v1/payments"] {
        let refused = post_body(&shop, path, Some(FORM), encode_form(fields)).await?;
        assert_refused(&refused, 400);
        assert_eq!(refused.invalid_parameters(), ["amount"]);
    }
    // Identical values are refused too, also in a query.
    let twice = [("entityId", entity), ("entityId", entity)];
    assert_eq!(
        post_body(&shop, "v1/checkouts", Some(FORM), encode_form(twice)).await?.invalid_parameters(),
        ["entityId"]
    );
    let path = format!("v1/payments/8a{}?entityId={entity}", "0".repeat(30));
    assert_eq!(shop.get(&path).await?.invalid_parameters(), ["entityId"]);
    Ok(())
}

#[tokio::test]
async fn too_many_pairs_are_refused_quickly() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let pairs = (0..25_000).map(|number| format!("customParameters[k{number:05}]=1")).collect::<Vec<_>>().join("&");
    let empty = "a=&".repeat(25_000);
    for body in [pairs, empty] {
        for path in paths_with_body(&shop).await? {
            // A comparison of each pair with all others would take many minutes.
            let answer = tokio::time::timeout(PATIENCE, post_body(&shop, &path, Some(FORM), body.clone())).await;
            assert_refused(&answer.context(path)??, 400);
        }
    }
    Ok(())
}

#[tokio::test]
async fn names_and_values_beyond_reason_are_refused_by_a_short_name() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let long = "x".repeat(100_000);
    for path in paths_with_body(&shop).await? {
        for body in [encode_form([(long.as_str(), "1")]), encode_form([("card.holder", long.as_str())])] {
            let refused = post_body(&shop, &path, Some(FORM), body).await?;
            assert_refused(&refused, 400);
            assert!(refused.text.len() < 2000, "{} bytes", refused.text.len());
        }
    }
    // A value within the limits of the body but beyond those of the parameter is not repeated in full.
    let refused = shop.pay_by_card(&[("billing.city", &"é".repeat(4000))]).await?;
    assert_errors(&refused, &["billing.city"]);
    assert!(refused.text.len() < 2000, "{} bytes", refused.text.len());
    Ok(())
}

#[tokio::test]
async fn a_body_of_another_kind_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for path in paths_with_body(&shop).await? {
        for (kind, body) in [
            ("application/json", r#"{"amount":"1.00"}"#),
            (
                "multipart/form-data; boundary=x",
                "--x\r\nContent-Disposition: form-data; name=\"amount\"\r\n\r\n1.00\r\n--x--\r\n",
            ),
            ("text/plain", "amount=1.00"),
            ("", "amount=1.00"),
            ("application/x-www-form-urlencoded2", "amount=1.00"),
        ] {
            let refused = post_body(&shop, &path, Some(kind), body).await?;
            assert_refused(&refused, 400);
            let description = refused.json["result"]["description"].as_str().unwrap_or_default();
            assert!(description.contains("application/x-www-form-urlencoded"), "{}", refused.text);
        }
        // A JSON document declared as a form is read as an unknown name without a value.
        assert_refused(&post_body(&shop, &path, Some(FORM), r#"{"amount":"1.00"}"#).await?, 400);
    }
    Ok(())
}

#[tokio::test]
async fn the_media_type_of_a_form_is_read_as_it_is_meant() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let entity = shop.entity_id.as_str();
    let body = encode_form([("entityId", entity), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")]);
    let kinds =
        [FORM, "application/x-www-form-urlencoded; charset=UTF-8", "Application/X-WWW-Form-URLEncoded;charset=utf-8"];
    for kind in kinds.into_iter().map(Some).chain([None]) {
        assert_result(&post_body(&shop, "v1/checkouts", kind, body.clone()).await?, 200, "000.200.100");
    }
    // Additional separators are harmless.
    assert_result(&post_body(&shop, "v1/checkouts", Some(FORM), format!("&{body}&&")).await?, 200, "000.200.100");
    Ok(())
}

/// Sends raw bytes. Reads until the gateway closes the connection, or until a read ends with `}` as a JSON response
/// does, and returns what was read. Never closes the connection first.
async fn send_raw(shop: &MerchantClient, request: Vec<u8>) -> anyhow::Result<String> {
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let (mut reader, mut writer) = TcpStream::connect(host).await?.into_split();
    let sent = tokio::spawn(async move {
        // The gateway may close the connection before it has read everything.
        let _ = writer.write_all(&request).await;
        writer
    });
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = reader.read(&mut chunk).await {
        answer.extend_from_slice(&chunk[..length]);
        if answer.ends_with(b"}") {
            break;
        }
    }
    drop(sent.await?);
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Returns the head of a form-encoded POST with the merchant's token. `more` contains further header lines, such as the
/// length.
fn request_head(shop: &MerchantClient, path: &str, headers: &str) -> String {
    format!(
        "POST /{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: {FORM}\r\n{headers}\r\n\r\n",
        shop.token
    )
}

#[tokio::test]
async fn a_body_that_announces_more_than_a_mebibyte_is_refused_before_it_is_sent() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for path in paths_with_body(&shop).await? {
        for length in [MIB + 1, 1 << 40] {
            let answer =
                send_raw(&shop, request_head(&shop, &path, &format!("Content-Length: {length}")).into_bytes()).await?;
            assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
            assert!(answer.contains(r#""code":"200.300.404""#) && answer.contains("1 MiB"), "{path}: {answer}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_body_that_grows_beyond_a_mebibyte_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for path in paths_with_body(&shop).await? {
        let mut request = request_head(&shop, &path, "Transfer-Encoding: chunked").into_bytes();
        let chunk = [format!("{:x}\r\n", 65_536).into_bytes(), vec![b'x'; 65_536], b"\r\n".to_vec()].concat();
        for _ in 0..17 {
            request.extend_from_slice(&chunk);
        }
        request.extend_from_slice(b"0\r\n\r\n");
        let answer = send_raw(&shop, request).await?;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
    }
    Ok(())
}

#[tokio::test]
async fn a_body_of_exactly_a_mebibyte_is_read() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    // Pairs of 116 bytes: their number and each of them are within the limits.
    let pair = |number: usize| format!("unknown{number:07}={}&", "x".repeat(100));
    let mut body: String = (0..)
        .map(pair)
        .scan(0, |length, pair| {
            *length += pair.len();
            (*length <= MIB - 500).then_some(pair)
        })
        .collect();
    body.push_str(&encode_form([
        ("entityId", shop.entity_id.as_str()),
        ("amount", "1.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
    ]));
    body.push_str(&"&".repeat(MIB - body.len()));
    assert_eq!(body.len(), MIB);
    assert_result(&post_body(&shop, "v1/checkouts", Some(FORM), body).await?, 200, "000.200.100");
    Ok(())
}

#[tokio::test]
async fn a_connection_that_is_cut_in_a_body_changes_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let body = encode_form(tillgate_tests::CARD);
    let mut request = request_head(&shop, &path, &format!("Content-Length: {}", body.len() + 10)).into_bytes();
    request.extend_from_slice(body.as_bytes());
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let mut connection = TcpStream::connect(host).await?;
    connection.write_all(&request).await?;
    connection.shutdown().await?;
    let mut answer = Vec::new();
    // After this read, the gateway has seen the end of the request.
    let _ = connection.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("000.000.100"));
    assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn a_query_that_is_no_query_is_refused_like_a_body() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for query in ["entityId=%ZZ", "entityId=%FF", "a%00b=1", "[=1", &format!("entityId={}", "a".repeat(20_000))] {
        let request =
            shop.bare_request(reqwest::Method::GET, &format!("v1/payments/x?{query}")).bearer_auth(&shop.token);
        let refused = ApiResponse::read_from(request.send().await?).await?;
        assert_refused(&refused, 400);
    }
    Ok(())
}

#[tokio::test]
async fn many_and_long_headers_are_no_failure_of_ours() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let mut many = HeaderMap::new();
    for number in 0..90 {
        many.insert(reqwest::header::HeaderName::try_from(format!("x-{number}"))?, "y".repeat(1000).try_into()?);
    }
    let request = shop.bare_request(reqwest::Method::GET, "v1/payments/x").headers(many).bearer_auth(&shop.token);
    let status = request.send().await?.status().as_u16();
    assert!((400..500).contains(&status), "{status}");
    Ok(())
}
