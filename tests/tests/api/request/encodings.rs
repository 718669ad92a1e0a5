//! Edge cases of form bodies: bytes and values in tables. Each row is accepted or refused with 400 and the
//! parameter's name, and no refusal repeats a secret.

use reqwest::Method;
use tillgate_shared::parameter::all_parameters;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form};

use crate::support::*;

pub const FORM: &str = "application/x-www-form-urlencoded";

/// Headers of a request, by name.
type Headers = Vec<(&'static str, &'static str)>;

/// Expected result of a row.
#[derive(Debug, Clone, Copy)]
pub enum ExpectedResult {
    /// The payment is made, and the response repeats this parameter with this value. `None`: it does not repeat it.
    Paid(&'static str, Option<&'static str>),
    /// 400 with 200.300.404 and this parameter.
    RefusedParameter(&'static str),
    /// 400 with 200.300.404 for the body as a whole.
    RefusedBody,
}
use ExpectedResult::{Paid, RefusedBody, RefusedParameter};

/// Returns a form-encoded valid payment without the parameters that `more` contains.
pub fn order_without(shop: &MerchantClient, more: &str) -> String {
    let is_in_more = |name: &str| more.split('&').any(|pair| pair.split('=').next() == Some(name));
    let order =
        [("entityId", shop.entity_id.as_str()), ("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    encode_form(order.into_iter().chain(CARD).filter(|(name, _)| !is_in_more(name)))
}

/// Posts a body as it is, with the merchant's token and these headers.
pub async fn post_body(
    shop: &MerchantClient,
    path: &str,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> anyhow::Result<ApiResponse> {
    let mut request = shop.bare_request(Method::POST, path).bearer_auth(&shop.token).body(body);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    ApiResponse::read_from(request.send().await?).await
}

/// Returns the value of a parameter in a response. Dots in the name are nested objects, brackets are part of the name.
fn repeated_text<'a>(answer: &'a ApiResponse, name: &str) -> Option<&'a str> {
    let nested = name.split('.').try_fold(&answer.json, |value, part| value.get(part));
    let keyed = || {
        let (group, key) = name.strip_suffix(']')?.split_once('[')?;
        answer.json.get(group)?.get(key)
    };
    nested.or_else(keyed)?.as_str()
}

/// Asserts that a response is the expected result and has the usual last fields. `label` is shown in failures.
#[track_caller]
pub fn assert_expected(answer: &ApiResponse, expected: ExpectedResult, label: &str) {
    match expected {
        Paid(name, value) => {
            assert_eq!((answer.status, answer.result_code()), (200, "000.100.110"), "{label}: {}", answer.text);
            assert_eq!(repeated_text(answer, name), value, "{label}: {}", answer.text);
        }
        RefusedParameter(name) => {
            assert_eq!((answer.status, answer.result_code()), (400, "200.300.404"), "{label}: {}", answer.text);
            assert_eq!(answer.invalid_parameters(), [name], "{label}: {}", answer.text);
        }
        RefusedBody => {
            assert_eq!((answer.status, answer.result_code()), (400, "200.300.404"), "{label}: {}", answer.text);
            assert!(answer.invalid_parameters().is_empty(), "{label}: {}", answer.text);
        }
    }
    assert_envelope(answer);
}

/// Pays once for each row, with the row's bytes after a valid order, and asserts the expected result.
pub async fn assert_rows(shop: &MerchantClient, rows: &[(&[u8], ExpectedResult)]) -> anyhow::Result<()> {
    for (more, expected) in rows {
        let body = [order_without(shop, &String::from_utf8_lossy(more)).as_bytes(), b"&", more].concat();
        let answer = post_body(shop, "v1/payments", &[("content-type", FORM)], body).await?;
        assert_expected(&answer, *expected, &String::from_utf8_lossy(more));
    }
    Ok(())
}

const MEMO: &str = "merchantMemo";

#[tokio::test]
async fn a_value_is_percent_encoded_utf_8_or_refused_by_name() -> anyhow::Result<()> {
    let memo = |value| Paid(MEMO, Some(value));
    let rows: &[(&[u8], ExpectedResult)] = &[
        (b"merchantMemo=caf%C3%A9+au+lait", memo("café au lait")),
        (b"merchantMemo=caf%c3%a9%20au%20lait", memo("café au lait")),
        (b"merchantMemo=caf\xc3\xa9 au lait", memo("café au lait")),
        (b"merchantMemo=%F0%9F%92%B3%F0%9F%92%B3%F0%9F%92%B3%F0%9F%92%B3....", memo("💳💳💳💳....")),
        (b"merchantMemo=%EF%BB%BFa mark first", memo("\u{feff}a mark first")),
        (b"merchantMemo=100%25 sure, 2%2B2=4", memo("100% sure, 2+2=4")),
        (b"merchantMemo=%2525 is not %25", memo("%25 is not %")),
        (b"merchantMemo=%EF%BF%BF%EF%BF%BE noncharacters", memo("\u{ffff}\u{fffe} noncharacters")),
        (b"merchantMemo=%F4%8F%BF%BF the last one", memo("\u{10ffff} the last one")),
        (b"%6d%65rchantM%65mo=an encoded name", memo("an encoded name")),
        // Percent signs without two hexadecimal digits.
        (b"merchantMemo=100% sure, yes", RefusedParameter(MEMO)),
        (b"merchantMemo=unfinished %", RefusedParameter(MEMO)),
        (b"merchantMemo=unfinished %4", RefusedParameter(MEMO)),
        (b"merchantMemo=unfinished %4&x=1", RefusedParameter(MEMO)),
        (b"merchantMemo=%G0 no digit", RefusedParameter(MEMO)),
        (b"merchantMemo=%+1 no digit", RefusedParameter(MEMO)),
        (b"merchantMemo=%u20AC of scripts", RefusedParameter(MEMO)),
        (b"merchantMemo=%\xef\xbc\x91\xef\xbc\x91 full-width", RefusedParameter(MEMO)),
        // ISO 8859-1 and Windows-1252.
        (b"merchantMemo=caf\xe9 au lait", RefusedParameter(MEMO)),
        (b"merchantMemo=caf%E9 au lait", RefusedParameter(MEMO)),
        (b"merchantMemo=10 %80 and more", RefusedParameter(MEMO)),
        // UTF-16 in both byte orders.
        (b"merchantMemo=%FF%FEm%00e%00m%00o%00", RefusedParameter(MEMO)),
        (b"merchantMemo=%FE%FF%00m%00e%00m%00o", RefusedParameter(MEMO)),
        // Invalid UTF-8: overlong, truncated, beyond the range, surrogates alone and in pairs.
        (b"merchantMemo=overlong %C0%AF", RefusedParameter(MEMO)),
        (b"merchantMemo=overlong %E0%80%AF", RefusedParameter(MEMO)),
        (b"merchantMemo=overlong %F0%80%80%AF", RefusedParameter(MEMO)),
        (b"merchantMemo=overlong nought %C0%80", RefusedParameter(MEMO)),
        (b"merchantMemo=half %E2%82", RefusedParameter(MEMO)),
        (b"merchantMemo=half %F0%9F%92", RefusedParameter(MEMO)),
        (b"merchantMemo=a tail %B3", RefusedParameter(MEMO)),
        (b"merchantMemo=beyond %F4%90%80%80", RefusedParameter(MEMO)),
        (b"merchantMemo=beyond %F8%88%80%80%80", RefusedParameter(MEMO)),
        (b"merchantMemo=surrogate %ED%A0%BD", RefusedParameter(MEMO)),
        (b"merchantMemo=surrogate %ED%B2%B3", RefusedParameter(MEMO)),
        (b"merchantMemo=surrogates %ED%A0%BD%ED%B2%B3", RefusedParameter(MEMO)),
        // NUL, and characters that a single-line value does not accept.
        (b"merchantMemo=nought %00 here", RefusedParameter(MEMO)),
        (b"merchantMemo=nought \0 here", RefusedParameter(MEMO)),
        (b"merchantMemo=a new%0Aline", RefusedParameter(MEMO)),
        (b"merchantMemo=a next%C2%85line", RefusedParameter(MEMO)),
        (b"merchantMemo=deleted %7F", RefusedParameter(MEMO)),
        (b"merchantMemo=escape %1B[31m", RefusedParameter(MEMO)),
        (b"customParameters[lines]=a new%0D%0Aline", Paid("customParameters[lines]", Some("a new\r\nline"))),
        (b"customParameters[lines]=nought %00 here", RefusedParameter("customParameters[lines]")),
        // Unknown parameters are decoded like all others.
        (b"nobodys=caf%E9", RefusedParameter("nobodys")),
        (b"nobodys=%ED%A0%BD", RefusedParameter("nobodys")),
        (b"nobodys=1%", RefusedParameter("nobodys")),
    ];
    assert_rows(&sandbox_shop(), rows).await
}

#[tokio::test]
async fn lengths_count_code_points_whatever_they_are_made_of() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    // A memo has 8 to 255 characters. A reader may see several code points as one letter.
    for unit in ["💳", "é", "e\u{301}", "\u{202e}", "\u{200d}", "👩‍👩‍👧", "ﷺ", "𝟙", "\u{2028}", "\u{e000}"]
    {
        let points = unit.chars().count();
        for (count, good) in [(8, true), (7, false), (255, true), (256, false)] {
            let value: String = unit.chars().cycle().take(count).collect();
            let body = [order_without(&shop, MEMO), encode_form([(MEMO, value.as_str())])].join("&");
            let answer = post_body(&shop, "v1/payments", &[("content-type", FORM)], body.into_bytes()).await?;
            let what = format!("{unit:?} of {points}, {count} code points");
            assert_expected(&answer, if good { Paid("amount", Some("92.00")) } else { RefusedParameter(MEMO) }, &what);
            if good {
                // The value is unchanged: not normalized, reordered or dropped.
                assert_eq!(repeated_text(&answer, MEMO), Some(value.as_str()), "{what}");
            }
        }
        // Long values are cut between code points.
        let long: String = unit.chars().cycle().take(60).collect();
        let paid = shop.pay_by_card(&[("customer.givenName", &long), ("customer.surname", "Jones")]).await?;
        let kept: String = long.chars().take(48).collect();
        assert_expected(&paid, Paid("amount", Some("92.00")), unit);
        assert_eq!(repeated_text(&paid, "customer.givenName"), Some(kept.as_str()), "{unit:?}");
    }
    Ok(())
}

#[tokio::test]
async fn digits_and_letters_of_other_scripts_are_no_digits_and_letters() -> anyhow::Result<()> {
    let rows: &[(&[u8], ExpectedResult)] = &[
        ("amount=٩٢.٠٠".as_bytes(), RefusedParameter("amount")),
        ("amount=\u{ff19}\u{ff12}.00".as_bytes(), RefusedParameter("amount")),
        ("amount=92․00".as_bytes(), RefusedParameter("amount")),
        ("amount=\u{202e}00.29".as_bytes(), RefusedParameter("amount")),
        ("amount=92.00\u{200b}".as_bytes(), RefusedParameter("amount")),
        ("amount=%EF%BB%BF92.00".as_bytes(), RefusedParameter("amount")),
        ("amount=92.00\u{a0}".as_bytes(), RefusedParameter("amount")),
        ("amount=\u{2003}92.00".as_bytes(), RefusedParameter("amount")),
        ("currency=ЕUR".as_bytes(), RefusedParameter("currency")),
        ("currency=EUR\u{301}".as_bytes(), RefusedParameter("currency")),
        ("paymentType=DВ".as_bytes(), RefusedParameter("paymentType")),
        ("card.cvv=١٢٣".as_bytes(), RefusedParameter("card.cvv")),
        ("card.cvv=\u{ff11}\u{ff12}\u{ff13}".as_bytes(), RefusedParameter("card.cvv")),
        ("card.expiryMonth=०५".as_bytes(), RefusedParameter("card.expiryMonth")),
        ("card.expiryYear=𝟚𝟘𝟛𝟜".as_bytes(), RefusedParameter("card.expiryYear")),
        ("card.number=٤٢٠٠٠٠٠٠٠٠٠٠٠٠٠٠".as_bytes(), RefusedParameter("card.number")),
        ("entityId=٨a".as_bytes(), RefusedParameter("entityId")),
        ("testMode=INTERNAL\u{200e}".as_bytes(), RefusedParameter("testMode")),
        ("customParameters[clé]=1".as_bytes(), RefusedParameter("customParameters[clé]")),
        ("customParameters[ab\u{202e}c]=1".as_bytes(), RefusedParameter("customParameters[ab\u{202e}c]")),
    ];
    assert_rows(&sandbox_shop(), rows).await
}

#[tokio::test]
async fn a_whole_body_of_another_encoding_is_refused() -> anyhow::Result<()> {
    use std::io::Write as _;
    let shop = sandbox_shop();
    let body = order_without(&shop, "");
    let utf_16 = |bytes: fn(u16) -> [u8; 2]| body.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(body.as_bytes())?;
    let gzip = gzip.finish()?;
    let plain = body.clone().into_bytes();
    let json = serde_json::json!({ "entityId": shop.entity_id, "card.cvv": "0917" }).to_string().into_bytes();
    let multipart =
        format!("--x\r\nContent-Disposition: form-data; name=\"entityId\"\r\n\r\n{}\r\n--x--\r\n", shop.entity_id);
    let kind = |kind: &'static str| ("content-type", kind);
    let coded = |coding: &'static str| ("content-encoding", coding);
    // Expected result: paid, refused as a whole, or refused with a name.
    let (paid, whole, named) = (Some(true), Some(false), None);
    let rows: Vec<(&str, Headers, Vec<u8>, Option<bool>)> = vec![
        ("plain", vec![kind(FORM)], plain.clone(), paid),
        ("no media type", vec![], plain.clone(), paid),
        ("UTF-8", vec![kind("application/x-www-form-urlencoded; charset=UTF-8")], plain.clone(), paid),
        ("quoted", vec![kind("application/x-www-form-urlencoded;charset=\"utf-8\"")], plain.clone(), paid),
        // Old clients declare the default character set of their language, and send ASCII.
        (
            "ASCII in ISO 8859-1",
            vec![kind("application/x-www-form-urlencoded; charset=ISO-8859-1")],
            plain.clone(),
            paid,
        ),
        ("JSON", vec![kind("application/json")], json.clone(), whole),
        ("JSON as a form", vec![kind(FORM)], json, named),
        ("multipart", vec![kind("multipart/form-data; boundary=x")], multipart.clone().into_bytes(), whole),
        ("multipart as a form", vec![kind(FORM)], multipart.into_bytes(), named),
        ("text", vec![kind("text/plain;charset=UTF-8")], plain.clone(), whole),
        ("XML", vec![kind("application/xml")], b"<entityId/>".to_vec(), whole),
        ("an empty media type", vec![kind("")], plain.clone(), whole),
        ("a list of media types", vec![kind("application/x-www-form-urlencoded, text/plain")], plain.clone(), whole),
        ("nothing", vec![kind(FORM)], Vec::new(), named),
        ("a mark in front", vec![kind(FORM)], [&b"\xef\xbb\xbf"[..], &plain].concat(), named),
        ("UTF-16 LE", vec![kind(FORM)], utf_16(u16::to_le_bytes), named),
        ("UTF-16 BE", vec![kind(FORM)], utf_16(u16::to_be_bytes), named),
        ("UTF-16 with a mark", vec![kind(FORM)], [vec![0xff, 0xfe], utf_16(u16::to_le_bytes)].concat(), named),
        ("gzip", vec![kind(FORM), coded("gzip")], gzip.clone(), whole),
        ("gzip that is none", vec![kind(FORM), coded("gzip")], plain.clone(), whole),
        ("gzip unannounced", vec![kind(FORM)], gzip, named),
        ("deflate", vec![kind(FORM), coded("deflate")], plain.clone(), whole),
        ("br", vec![kind(FORM), coded("br")], plain.clone(), whole),
        ("an unknown coding", vec![kind(FORM), coded("x-own")], plain.clone(), whole),
        ("identity", vec![kind(FORM), coded("Identity")], plain.clone(), paid),
    ];
    for (what, headers, body, then) in rows {
        let answer = post_body(&shop, "v1/payments", &headers, body).await?;
        if then == paid {
            assert_eq!((answer.status, answer.result_code()), (200, "000.100.110"), "{what}: {}", answer.text);
        } else {
            assert_eq!((answer.status, answer.result_code()), (400, "200.300.404"), "{what}: {}", answer.text);
            assert_eq!(answer.invalid_parameters().len(), usize::from(then == named), "{what}: {}", answer.text);
        }
        assert_envelope(&answer);
    }
    Ok(())
}

#[tokio::test]
async fn no_secret_comes_back_with_what_was_wrong_nor_goes_into_the_log() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with_environment(&[], &[("TILLGATE_LOG", "trace")])?;
    let lenient = gateway.create_merchant()?;
    let strict = gateway.create_merchant_with(&["--strict"])?;
    // `authentication.entityId`, the older name of `entityId`, is no secret and is repeated like it.
    let rows = all_parameters().filter(|row| row.secret && row.name != "authentication.entityId");
    let secrets: Vec<&str> = rows.map(|row| row.name).collect();
    assert!(secrets.len() >= 8, "{secrets:?}");
    // Marks that are neither detected as card numbers nor likely to occur as a count or a duration.
    const MARKS: [&str; 2] = ["zq0917yx", "0917364509"];
    for (shop, secret, mark) in [&lenient, &strict]
        .into_iter()
        .flat_map(|shop| secrets.iter().flat_map(move |secret| MARKS.map(|mark| (shop, *secret, mark))))
    {
        let entity = &shop.entity_id;
        let made = shop.create_checkout(&[]).await?;
        let submit = format!("v1/checkouts/{}/payment", made.id());
        let paths = ["v1/payments", "v1/registrations", "v1/checkouts", &submit];
        let bodies = [
            format!("entityId={entity}&{secret}={mark}"),
            format!("entityId={entity}&{secret}={mark}%"),
            format!("entityId={entity}&{secret}={mark}%FF"),
            format!("entityId={entity}&{secret}={mark}%00"),
            format!("entityId={entity}&{secret}={mark}%0A{mark}"),
            format!("entityId={entity}&{secret}={mark}&{secret}={mark}"),
            format!("entityId={entity}&{secret}={}", mark.repeat(200)),
            format!("entityId={entity}&{secret}={}", mark.repeat(2000)),
            format!("entityId={entity}&{secret}={mark}&amount=%ZZ"),
            format!("{secret}={mark}"),
            format!("entityId=&{secret}={mark}"),
            // Other separators and other kinds of bodies: the secret is part of a name or of another parameter's value.
            format!("entityId={entity};{secret}={mark}"),
            format!("entityId={entity}%26{secret}={mark}"),
            format!("entityId={entity}%26{secret}%3D{mark}"),
            format!("entityId={entity}\n{secret}={mark}\n"),
            format!("entityId={entity}&amount=1.00;{secret}={mark}"),
            format!("entityId={entity}&amount=1.00%0A{secret}: {mark}"),
            format!(r#"entityId={entity}&{{"{secret}":"{mark}"}}"#),
            format!(r#"entityId={entity}&[{{"{secret}":"{mark}"}}"#),
            format!(r#"{{"entityId":"{entity}","{secret}":"{mark}"}}"#),
            format!("entityId={entity}&{secret}:{mark}"),
            format!("entityId={entity}&{secret} {mark}"),
            format!("entityId={entity}&{secret}%3D{mark}"),
        ];
        // Each body is sent to each address with some of the secrets.
        for (body, turn) in bodies.iter().zip(secret.len()..) {
            let path = paths[turn % paths.len()];
            let answer = post_body(shop, path, &[("content-type", FORM)], body.clone().into_bytes()).await?;
            assert!(answer.status < 500, "{path} {body}: {}", answer.text);
            let told = format!("{:?} {}", answer.headers, answer.text);
            assert!(!told.contains(mark), "{path} {body}: {told}");
        }
        let query = shop.get(&format!("v1/payments/x?{secret}={mark}&{secret}={mark}")).await?;
        assert!(!query.text.contains(mark), "{}", query.text);
    }
    let log = gateway.read_log();
    for mark in MARKS {
        assert!(!log.contains(mark), "the log holds {mark}: {:?}", log.lines().find(|line| line.contains(mark)));
    }
    assert!(!log.contains("internal error") && !log.contains("panicked"));
    Ok(())
}
