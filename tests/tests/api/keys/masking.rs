//! Card numbers in places where they do not belong: every parameter, header, path and query. No file, log line,
//! response or request to a merchant contains one, whatever separates its digits.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use memchr::memmem;
use reqwest::{Method, RequestBuilder};
use tillgate_api::reference::ROUTES;
use tillgate_shared::parameter::all_parameters;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, Receiver, TestGateway, encode_form, is_on_postgres};

use crate::checkout::browser_parameters::concrete_name;
use crate::checkout::presence::CONCURRENT_REQUESTS;
use crate::keys::secrets::{RecordedResponses, group_digits, number_with_check_digit};
use crate::request::catalogue::repeated_parameters;
use crate::support::*;

const OPTIONS: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// Returns notations of a number: with up to three characters between its digits or groups of digits, in Arabic-Indic
/// digits, and inside a word.
fn number_notations(number: &str) -> Vec<String> {
    let separators = ["", " ", "-", ".", "  ", " - ", "/", "_", ", ", "x", "%20", "\u{a0}", "\u{200b}", "#*#"];
    let mut all: Vec<String> = separators.iter().map(|separator| group_digits(number, separator)).collect();
    all.push(number.chars().map(|digit| format!("{digit} ")).collect::<String>().trim_end().to_owned());
    all.push(number.chars().filter_map(|digit| char::from_u32(digit as u32 - 0x30 + 0x660)).collect());
    all.push(format!("card{number}."));
    all
}

/// Returns the ASCII and Arabic-Indic digits in a text, in ASCII and without anything between them. Skips encoded
/// blanks, such as `%20`, whose digits do not count. Works on bytes, because the texts are large.
fn normalized_digits(text: &[u8]) -> Vec<u8> {
    let mut digits = Vec::with_capacity(text.len() / 4);
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = match (byte, after) {
            (b'0'..=b'9', _) => {
                digits.push(*byte);
                after
            }
            // Arabic-Indic digits, U+0660 to U+0669.
            (0xd9, [digit @ 0xa0..=0xa9, after @ ..]) => {
                digits.push(digit - 0xa0 + b'0');
                after
            }
            (b'%', [b'2', b'0', after @ ..]) => after,
            (b'%', _) => ["%C2%A0", "%E2%80%8B"]
                .into_iter()
                .find_map(|space| rest.strip_prefix(space.as_bytes()))
                .unwrap_or(after),
            _ => after,
        };
    }
    digits
}

/// Asserts that no notation of a number is in the log, the requests to the merchant (`received`), the responses, the
/// gateway's files, or a new backup.
fn assert_number_absent(
    gateway: &TestGateway,
    responses: &RecordedResponses,
    received: &str,
    number: &str,
) -> anyhow::Result<()> {
    let backup = gateway.folder().join(format!("backup-{number}.db"));
    gateway.copy_store(&backup)?;
    let mut places = vec![("the log".to_owned(), gateway.read_log().into_bytes())];
    places.push(("a request to the merchant".to_owned(), received.as_bytes().to_vec()));
    places.extend(responses.0.iter().map(|answer| ("a response".to_owned(), answer.clone().into_bytes())));
    for folder in [gateway.data_folder().as_path(), gateway.folder()] {
        for file in std::fs::read_dir(folder)? {
            let path = file?.path();
            if path.is_file() {
                places.push((path.display().to_string(), std::fs::read(&path)?));
            }
        }
    }
    let has_log = places.iter().any(|(place, _)| place.ends_with("-wal"));
    assert!(has_log || is_on_postgres(), "the write-ahead log is looked at");
    for (place, content) in &places {
        let found = memmem::find(&normalized_digits(content), number.as_bytes()).is_some();
        let excerpt = || String::from_utf8_lossy(content).chars().take(2000).collect::<String>();
        assert!(!found, "{place} holds {number}: {}", if place.contains('/') { String::new() } else { excerpt() });
    }
    Ok(())
}

/// Starts a gateway with the most detailed log, which may send requests to this machine, and creates a merchant.
fn start_tracing_gateway() -> anyhow::Result<(TestGateway, MerchantClient)> {
    let gateway = TestGateway::start_with_environment(&OPTIONS, &[("TILLGATE_LOG", "trace")])?;
    let shop = gateway.create_merchant_with(&["--customer-names-optional"])?;
    Ok((gateway, shop))
}

/// Asserts that the request was refused and names the parameter, or made a payment, in which the value is masked. A 403
/// is accepted too, and any parameter error for `authentication.…`.
#[track_caller]
fn assert_masked_or_named(answer: &ApiResponse, name: &str, value: &str) {
    let is_named =
        answer.invalid_parameters().iter().any(|error| *error == name || name.starts_with("authentication."));
    let is_payment = answer.status == 200 || answer.json["id"].is_string();
    assert!(is_named || is_payment || answer.status == 403, "{name}={value}: {}", answer.text);
}

/// Sends a value of one parameter in a payment with all parameters of `everything`, in queries, and in a checkout, its
/// update and its form. Asserts that it is masked or refused by name. Returns whether the payment was made, and the
/// responses.
async fn send_in_parameter(
    shop: &MerchantClient,
    everything: &[(String, String)],
    (name, value): (&str, &str),
    notified: &str,
) -> anyhow::Result<(bool, RecordedResponses)> {
    let mut answers = RecordedResponses::default();
    // Sent with all other parameters, so that only this value can be invalid.
    let beside = everything.iter().filter(|(other, _)| other != name);
    let beside: Vec<(&str, &str)> = beside.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let paid = answers.record(shop.pay_by_card(&[&beside[..], &[(name, value)]].concat()).await?);
    assert_masked_or_named(&paid, name, value);
    answers.record(shop.get(&format!("v1/payments/{}", paid.id())).await?);
    // One payment of the list, which `list_payments` reads as a whole. Each payment has hundreds of parameters.
    let mut query = vec![(name, value), ("date.from", "2026-01-01"), ("date.to", "2026-12-31"), ("limit", "1")];
    query.truncate(if name == "limit" { 3 } else { 4 });
    answers.record(shop.get(&format!("v1/query?{}", encode_form(query))).await?);
    // The same value in a checkout, its update and its form.
    let made = answers.record(shop.create_checkout(&[("notificationUrl", notified), (name, value)]).await?);
    let made = if made.status == 200 { made } else { shop.create_checkout(&[]).await? };
    answers.record(shop.post(&format!("v1/checkouts/{}", made.id()), &[(name, value)]).await?);
    let submitted = answers.record(shop.submit_card(made.id(), &[(name, value)]).await?);
    // Alone, the parameter may lack others that it requires.
    assert!(submitted.status < 500, "{name}={value}: {}", submitted.text);
    answers.record(shop.read_status(made.id()).await?);
    Ok((paid.status == 200, answers))
}

/// Reads the list of all payments of a merchant, page by page, and records the responses. Returns the number of
/// payments.
async fn list_payments(shop: &MerchantClient, answers: &mut RecordedResponses) -> anyhow::Result<usize> {
    let mut count = 0;
    let mut cursor = String::new();
    loop {
        let path = format!("v1/query?date.from=2020-01-01&date.to=2099-12-31&limit=100{cursor}");
        let page = answers.record(shop.get(&path).await?);
        count += page.json["payments"].as_array().map_or(0, Vec::len);
        let Some(at) = page.json["cursor"].as_str() else { return Ok(count) };
        cursor = format!("&cursor={at}");
    }
}

/// Sends a value in references and free text of registrations, of payments with and without one, and of a redirect to
/// a shopper's account. Returns the responses.
async fn send_in_follow_ups(
    shop: &MerchantClient,
    (payment, registration): (&str, &str),
    value: &str,
    notified: &str,
) -> anyhow::Result<RecordedResponses> {
    let mut answers = RecordedResponses::default();
    for name in ["merchantTransactionId", "merchantMemo", "customParameters[abc]", "customer.merchantCustomerId"] {
        let card: Vec<_> = CARD.into_iter().chain([(name, value)]).collect();
        answers.record(shop.post("v1/registrations", &card).await?);
        let fields = [("paymentType", "CP"), ("amount", "0.01"), ("currency", "EUR"), (name, value)];
        answers.record(shop.post(&format!("v1/payments/{payment}"), &fields).await?);
        let path = format!("v1/registrations/{registration}/payments");
        answers.record(shop.post(&path, &[&fields[1..], &[("paymentType", "DB")]].concat()).await?);
        let redirected = [("paymentBrand", "PAYPAL"), (name, value), ("notificationUrl", notified)];
        let redirected: Vec<_> = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")]
            .into_iter()
            .chain(redirected)
            .chain([crate::payment::asynchronous::BACK])
            .collect();
        answers.record(shop.post("v1/payments", &redirected).await?);
    }
    Ok(answers)
}

#[tokio::test]
async fn a_number_in_any_parameter_is_masked_or_refused_by_name_and_kept_nowhere() -> anyhow::Result<()> {
    let (gateway, shop) = start_tracing_gateway()?;
    let receiver = Receiver::start().await?;
    let notified = receiver.url("told");
    let number = number_with_check_digit("491633850608283", 0);
    let written = number_notations(&number);
    let everything = repeated_parameters();
    let sent = all_parameters().filter(|row| !row.secret).enumerate().map(async |(at, row)| {
        let value = written[at % written.len()].as_str();
        send_in_parameter(&shop, &everything, (&concrete_name(row.name), value), &notified).await
    });
    let sent: Vec<_> = stream::iter(sent).buffer_unordered(CONCURRENT_REQUESTS).try_collect().await?;
    let kept = sent.iter().filter(|(is_paid, _)| *is_paid).count();
    assert!(kept > 100, "most free text is masked: {kept}");
    let mut answers = RecordedResponses(sent.into_iter().flat_map(|(_, answers)| answers.0).collect());
    assert!(list_payments(&shop, &mut answers).await? >= kept);
    let registered = answers.record(shop.post("v1/registrations", &CARD).await?);
    let paid = answers.record(shop.pay_by_card(&[("paymentType", "PA")]).await?);
    for value in &written {
        answers.0.extend(send_in_follow_ups(&shop, (paid.id(), registered.id()), value, &notified).await?.0);
    }
    shop.advance_clock("2h").await?;
    receiver.next_request().await?;
    let received: String = receiver.drain_requests().await.iter().map(|request| format!("{request:?}")).collect();
    assert_number_absent(&gateway, &answers, &received, &number)
}

/// Headers in which a value is sent.
const HEADERS: [&str; 15] = [
    "user-agent",
    "accept",
    "accept-language",
    "x-forwarded-for",
    "x-forwarded-proto",
    "host",
    "origin",
    "referer",
    "idempotency-key",
    "content-encoding",
    "authorization",
    "cookie",
    "sec-fetch-site",
    "x-request-id",
    "content-type",
];

/// Sends a value in names of parameters of payments and forms. Returns the responses.
async fn send_in_names(shops: [&MerchantClient; 2], value: &str) -> anyhow::Result<RecordedResponses> {
    let mut answers = RecordedResponses::default();
    for name in [value.to_owned(), format!("customParameters[{value}]"), format!("cart.items[0].{value}")] {
        for shop in shops {
            answers.record(shop.pay_by_card(&[(&name, "x")]).await?);
            answers.record(shop.pay_by_card(&[(&name, value)]).await?);
        }
        let made = shops[0].create_checkout(&[]).await?;
        answers.record(shops[0].submit_card(made.id(), &[(&name, value)]).await?);
    }
    Ok(answers)
}

/// Sends a value in each of [`HEADERS`] to a form, to a payment and to a page. Returns the responses.
async fn send_in_headers(shop: &MerchantClient, value: &str) -> anyhow::Result<RecordedResponses> {
    let mut answers = RecordedResponses::default();
    let with = |request: RequestBuilder, name: &str| match value.is_ascii() {
        true => request.header(name, value),
        false => request,
    };
    for header in HEADERS {
        let made = shop.create_checkout(&[("entityId", shop.entity_id.as_str())]).await?;
        let browser =
            [("customer.browser.screenWidth", "100"), ("paymentBrand", "PAYPAL"), crate::payment::asynchronous::BACK];
        let kind = "application/x-www-form-urlencoded";
        let submit = shop.bare_request(Method::POST, &format!("v1/checkouts/{}/payment", made.id()));
        let submit = submit.header("content-type", kind).body(encode_form(browser));
        let entity = ("entityId", shop.entity_id.as_str());
        let basic = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), entity];
        let pay = shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", kind);
        let pay = pay.body(encode_form(basic.into_iter().chain(browser)));
        let frame = shop.bare_request(Method::GET, &format!("v1/pciIframe.html?checkoutId={}&brands=VISA", made.id()));
        for request in [submit, pay, frame] {
            answers.record(ApiResponse::read_from(with(request, header).send().await?).await?);
        }
        answers.record(shop.read_status(made.id()).await?);
    }
    Ok(answers)
}

/// Sends a value in the path and in the query of each route, without and with the merchant's token. Returns the
/// responses.
async fn send_in_addresses(shop: &MerchantClient, value: &str) -> anyhow::Result<RecordedResponses> {
    let mut answers = RecordedResponses::default();
    for route in ROUTES.iter() {
        let mut path = route.path.trim_start_matches('/').to_owned();
        for name in ["{id}", "{registration}", "{build}", "{*path}", "{path}", "{advance}"] {
            path = path.replace(name, &value.replace(['#', '/', '%'], "."));
        }
        let query =
            encode_form([("checkoutId", value), ("brands", value), ("lang", value), ("id", value), (value, value)]);
        let method: Method = route.method.as_str().parse()?;
        let request = shop.bare_request(method.clone(), &format!("{path}?{query}"));
        answers.record(ApiResponse::read_from(request.send().await?).await?);
        let request = shop.bare_request(method, &format!("{path}?{query}")).bearer_auth(&shop.token);
        answers.record(ApiResponse::read_from(request.body(query).send().await?).await?);
    }
    Ok(answers)
}

#[tokio::test]
async fn a_number_in_a_name_a_header_a_path_or_a_query_is_kept_nowhere() -> anyhow::Result<()> {
    let (gateway, shop) = start_tracing_gateway()?;
    let strict = gateway.create_merchant_with(&["--strict"])?;
    let number = number_with_check_digit("491633850608283", 0);
    let written = number_notations(&number);
    let sent = written.iter().map(async |value| {
        let mut answers = send_in_names([&shop, &strict], value).await?;
        answers.0.extend(send_in_headers(&shop, value).await?.0);
        answers.0.extend(send_in_addresses(&shop, value).await?.0);
        anyhow::Ok(answers.0)
    });
    let sent: Vec<_> = stream::iter(sent).buffer_unordered(CONCURRENT_REQUESTS).try_collect().await?;
    assert_number_absent(&gateway, &RecordedResponses(sent.concat()), "", &number)
}

#[tokio::test]
async fn a_reference_that_looks_like_a_card_number_is_refused_and_others_are_found_as_they_were_sent()
-> anyhow::Result<()> {
    let shop = sandbox_shop();
    for name in ["merchantTransactionId", "merchantInvoiceId", "customer.merchantCustomerId", "customer.ip"] {
        let refused = shop.pay_by_card(&[(name, "4916 3385 0608 2832")]).await?;
        assert_errors(&refused, &[name]);
        let error = parameter_error(&refused, name);
        assert!(error["message"].as_str().is_some_and(|text| text.contains("card number")), "{error}");
        assert_eq!(error["value"], "491633******2832");
    }
    // Digits with a letter between them, a product code, times, ids of other systems.
    for reference in [
        "4916338a506082832",
        "4006381333931",
        "20261123040000123",
        "1763870400123",
        "4916338506082831",
        "550e8400-e29b-41d4-a716-446655440000",
        "DE89370400440532013000",
    ] {
        let paid = shop.pay_by_card(&[("merchantTransactionId", reference)]).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["merchantTransactionId"], reference);
        let found = shop.get(&format!("v1/query?merchantTransactionId={reference}")).await?;
        let payments = found.json["payments"].as_array().cloned().unwrap_or_default();
        assert!(payments.iter().any(|payment| payment["id"] == paid.id()), "{}", found.text);
    }
    // An older payment may have such a reference, so the query is no error.
    assert_result(&shop.get("v1/query?merchantTransactionId=4916338506082832").await?, 404, "700.400.580");
    Ok(())
}
