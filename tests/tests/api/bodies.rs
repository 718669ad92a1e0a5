//! Bodies that are no bodies: a clear refusal at once, never a failure of ours, nothing allocated by what they claim.

use anyhow::Context as _;
use reqwest::header::HeaderMap;
use tillgate_tests::{Answer, Merchant, PATIENCE, form};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::*;

const FORM: &str = "application/x-www-form-urlencoded";
const MIB: usize = 1024 * 1024;

async fn send(
    shop: &Merchant,
    path: &str,
    kind: Option<&str>,
    body: impl Into<reqwest::Body>,
) -> anyhow::Result<Answer> {
    let mut request = shop.bare(reqwest::Method::POST, path).bearer_auth(&shop.token).body(body);
    if let Some(kind) = kind {
        request = request.header("content-type", kind);
    }
    Answer::read(request.send().await?).await
}

/// Every address that takes a body, with a checkout that is there.
async fn addresses(shop: &Merchant) -> anyhow::Result<[String; 4]> {
    let made = shop.checkout(&[]).await?;
    let checkout = format!("v1/checkouts/{}", made.id());
    Ok(["v1/checkouts".to_owned(), checkout.clone(), format!("{checkout}/payment"), "v1/payments".to_owned()])
}

#[track_caller]
fn assert_refused(answer: &Answer, status: u16) {
    assert_answer(answer, status, "200.300.404");
    assert_envelope(answer);
}

#[tokio::test]
async fn broken_encodings_are_refused_by_name() -> anyhow::Result<()> {
    let shop = shop();
    for path in addresses(&shop).await? {
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
            let refused = send(&shop, &path, Some(FORM), body).await?;
            assert_refused(&refused, 400);
            assert_eq!(refused.errors(), [name], "{path} {body}: {}", refused.text);
        }
        for body in ["%ZZ=1", "a%00b=1", "a%0Ab=1", "=1", "%FF=1", "=", "[=1", "a]=1", "a[b=1", "a[[b]]=1"] {
            assert_refused(&send(&shop, &path, Some(FORM), body).await?, 400);
        }
    }
    let raw: &[u8] = b"card.holder=\xff\xfe\x80";
    assert_refused(&send(&shop, "v1/payments", Some(FORM), raw.to_vec()).await?, 400);
    Ok(())
}

#[tokio::test]
async fn absurd_indexes_are_refused_before_anything_is_made_of_them() -> anyhow::Result<()> {
    let shop = shop();
    for path in addresses(&shop).await? {
        for index in ["1000", "99999999999999999999", "4294967296", "-1", "+1", "01", "1.5", "0x10", "1e9", "٣"] {
            let name = format!("registrations[{index}].id");
            let refused = send(&shop, &path, Some(FORM), form([(name.as_str(), "x")])).await?;
            // Digits of another script are no index; such a name is nobody's and is ignored.
            if index.is_ascii() {
                assert_refused(&refused, 400);
                assert_eq!(refused.errors(), [name], "{}", refused.text);
            }
            assert!(refused.status < 500, "{}", refused.text);
        }
    }
    // The highest that there is costs no more than the lowest.
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let fields = [("registrations[999].id", stored.id()), ("registrations[0].id", stored.id())];
    assert_answer(&shop.checkout(&fields).await?, 200, "000.200.100");
    Ok(())
}

#[tokio::test]
async fn a_name_that_comes_twice_is_refused_by_name() -> anyhow::Result<()> {
    let shop = shop();
    let entity = shop.entity_id.as_str();
    let fields =
        [("entityId", entity), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("amount", "2.00")];
    for path in ["v1/checkouts", "v1/payments"] {
        let refused = send(&shop, path, Some(FORM), form(fields)).await?;
        assert_refused(&refused, 400);
        assert_eq!(refused.errors(), ["amount"]);
    }
    // The same value twice is no better, and in a query neither.
    let twice = [("entityId", entity), ("entityId", entity)];
    assert_eq!(send(&shop, "v1/checkouts", Some(FORM), form(twice)).await?.errors(), ["entityId"]);
    let path = format!("v1/payments/8a{}?entityId={entity}", "0".repeat(30));
    assert_eq!(shop.get(&path).await?.errors(), ["entityId"]);
    Ok(())
}

#[tokio::test]
async fn too_many_pairs_are_refused_quickly() -> anyhow::Result<()> {
    let shop = shop();
    let pairs = (0..25_000).map(|number| format!("customParameters[k{number:05}]=1")).collect::<Vec<_>>().join("&");
    let empty = "a=&".repeat(25_000);
    for body in [pairs, empty] {
        for path in addresses(&shop).await? {
            // Looking every pair up among all others would take many minutes.
            let answer = tokio::time::timeout(PATIENCE, send(&shop, &path, Some(FORM), body.clone())).await;
            assert_refused(&answer.context(path)??, 400);
        }
    }
    Ok(())
}

#[tokio::test]
async fn names_and_values_beyond_reason_are_refused_by_a_short_name() -> anyhow::Result<()> {
    let shop = shop();
    let long = "x".repeat(100_000);
    for path in addresses(&shop).await? {
        for body in [form([(long.as_str(), "1")]), form([("card.holder", long.as_str())])] {
            let refused = send(&shop, &path, Some(FORM), body).await?;
            assert_refused(&refused, 400);
            assert!(refused.text.len() < 2000, "{} bytes", refused.text.len());
        }
    }
    // What is within the limits of a body and beyond those of the parameter is not repeated in full.
    let refused = shop.pay(&[("billing.city", &"é".repeat(4000))]).await?;
    assert_errors(&refused, &["billing.city"]);
    assert!(refused.text.len() < 2000, "{} bytes", refused.text.len());
    Ok(())
}

#[tokio::test]
async fn a_body_of_another_kind_is_refused() -> anyhow::Result<()> {
    let shop = shop();
    for path in addresses(&shop).await? {
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
            let refused = send(&shop, &path, Some(kind), body).await?;
            assert_refused(&refused, 400);
            let description = refused.json["result"]["description"].as_str().unwrap_or_default();
            assert!(description.contains("application/x-www-form-urlencoded"), "{}", refused.text);
        }
        // JSON that says it is a form is a strange name without a value.
        assert_refused(&send(&shop, &path, Some(FORM), r#"{"amount":"1.00"}"#).await?, 400);
    }
    Ok(())
}

#[tokio::test]
async fn the_media_type_of_a_form_is_read_as_it_is_meant() -> anyhow::Result<()> {
    let shop = shop();
    let entity = shop.entity_id.as_str();
    let body = form([("entityId", entity), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")]);
    let kinds =
        [FORM, "application/x-www-form-urlencoded; charset=UTF-8", "Application/X-WWW-Form-URLEncoded;charset=utf-8"];
    for kind in kinds.into_iter().map(Some).chain([None]) {
        assert_answer(&send(&shop, "v1/checkouts", kind, body.clone()).await?, 200, "000.200.100");
    }
    // An extra separator here and there is harmless.
    assert_answer(&send(&shop, "v1/checkouts", Some(FORM), format!("&{body}&&")).await?, 200, "000.200.100");
    Ok(())
}

/// Sends raw bytes and reads what comes back until the other side closes or has answered.
async fn raw(shop: &Merchant, request: Vec<u8>) -> anyhow::Result<String> {
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let (mut reader, mut writer) = TcpStream::connect(host).await?.into_split();
    let sent = tokio::spawn(async move {
        // The other side may well hang up before it has taken everything.
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

fn head(shop: &Merchant, path: &str, more: &str) -> String {
    format!(
        "POST /{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: {FORM}\r\n{more}\r\n\r\n",
        shop.token
    )
}

#[tokio::test]
async fn a_body_that_announces_more_than_a_mebibyte_is_refused_before_it_is_sent() -> anyhow::Result<()> {
    let shop = shop();
    for path in addresses(&shop).await? {
        for length in [MIB + 1, 1 << 40] {
            let answer = raw(&shop, head(&shop, &path, &format!("Content-Length: {length}")).into_bytes()).await?;
            assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
            assert!(answer.contains(r#""code":"200.300.404""#) && answer.contains("1 MiB"), "{path}: {answer}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_body_that_grows_beyond_a_mebibyte_is_refused() -> anyhow::Result<()> {
    let shop = shop();
    for path in addresses(&shop).await? {
        let mut request = head(&shop, &path, "Transfer-Encoding: chunked").into_bytes();
        let chunk = [format!("{:x}\r\n", 65_536).into_bytes(), vec![b'x'; 65_536], b"\r\n".to_vec()].concat();
        for _ in 0..17 {
            request.extend_from_slice(&chunk);
        }
        request.extend_from_slice(b"0\r\n\r\n");
        let answer = raw(&shop, request).await?;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
    }
    Ok(())
}

#[tokio::test]
async fn a_body_of_exactly_a_mebibyte_is_read() -> anyhow::Result<()> {
    let shop = shop();
    // Forty-byte pairs: few enough, and each of them within its limits.
    let pair = |number: usize| format!("unknown{number:07}={}&", "x".repeat(100));
    let mut body: String = (0..)
        .map(pair)
        .scan(0, |length, pair| {
            *length += pair.len();
            (*length <= MIB - 500).then_some(pair)
        })
        .collect();
    body.push_str(&form([
        ("entityId", shop.entity_id.as_str()),
        ("amount", "1.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
    ]));
    body.push_str(&"&".repeat(MIB - body.len()));
    assert_eq!(body.len(), MIB);
    assert_answer(&send(&shop, "v1/checkouts", Some(FORM), body).await?, 200, "000.200.100");
    Ok(())
}

#[tokio::test]
async fn a_connection_that_is_cut_in_a_body_changes_nothing() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    let body = form(tillgate_tests::CARD);
    let mut request = head(&shop, &path, &format!("Content-Length: {}", body.len() + 10)).into_bytes();
    request.extend_from_slice(body.as_bytes());
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let mut connection = TcpStream::connect(host).await?;
    connection.write_all(&request).await?;
    connection.shutdown().await?;
    let mut answer = Vec::new();
    // Read to the end: by then the gateway has seen that nothing more comes.
    let _ = connection.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("000.000.100"));
    assert_answer(&shop.status(made.id()).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn a_query_that_is_no_query_is_refused_like_a_body() -> anyhow::Result<()> {
    let shop = shop();
    for query in ["entityId=%ZZ", "entityId=%FF", "a%00b=1", "[=1", &format!("entityId={}", "a".repeat(20_000))] {
        let request = shop.bare(reqwest::Method::GET, &format!("v1/payments/x?{query}")).bearer_auth(&shop.token);
        let refused = Answer::read(request.send().await?).await?;
        assert_refused(&refused, 400);
    }
    Ok(())
}

#[tokio::test]
async fn many_and_long_headers_are_no_failure_of_ours() -> anyhow::Result<()> {
    let shop = shop();
    let mut many = HeaderMap::new();
    for number in 0..90 {
        many.insert(reqwest::header::HeaderName::try_from(format!("x-{number}"))?, "y".repeat(1000).try_into()?);
    }
    let request = shop.bare(reqwest::Method::GET, "v1/payments/x").headers(many).bearer_auth(&shop.token);
    let status = request.send().await?.status().as_u16();
    assert!((400..500).contains(&status), "{status}");
    Ok(())
}
