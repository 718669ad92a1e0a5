//! Card numbers that are sent where they do not belong, in every parameter, header, path and query: no file, no log line, no
//! answer and no request to a merchant holds one, however its digits are separated.

use reqwest::{Method, RequestBuilder};
use tillgate::api::docs::ROUTES;
use tillgate_shared::parameter::catalogue;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, Receiver, form};

use crate::browser_parameters::concrete;
use crate::catalogue::everything;
use crate::secrets::{Answers, grouped, number};
use crate::support::*;

const OPTIONS: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// Ways to write a number, with up to three characters between the digits.
fn written(number: &str) -> Vec<String> {
    let separators = ["", " ", "-", ".", "  ", " - ", "/", "_", ", ", "x", "%20", "\u{a0}", "\u{200b}", "#*#"];
    let mut all: Vec<String> = separators.iter().map(|separator| grouped(number, separator)).collect();
    all.push(number.chars().map(|digit| format!("{digit} ")).collect::<String>().trim_end().to_owned());
    all.push(number.chars().filter_map(|digit| char::from_u32(digit as u32 - 0x30 + 0x660)).collect());
    all.push(format!("card{number}."));
    all
}

/// Returns the text's digits, of both scripts, in ASCII and without what separates them.
fn digits(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text).replace("%20", " ").replace("%C2%A0", " ").replace("%E2%80%8B", " ");
    let ascii = |character: char| match character as u32 {
        code @ 0x660..=0x669 => Some(b'0' + (code - 0x660) as u8),
        _ => u8::try_from(character).ok().filter(u8::is_ascii_digit),
    };
    text.chars().filter_map(ascii).collect()
}

/// Looks for a number everywhere but in what the test itself sent.
fn search(gateway: &Gateway, answers: &Answers, received: &str, number: &str) -> anyhow::Result<()> {
    let backup = gateway.folder().join(format!("backup-{number}.db"));
    gateway.command(&["backup", "--to", backup.to_str().unwrap_or_default()])?;
    let mut places = vec![("the log".to_owned(), gateway.log().into_bytes())];
    places.push(("a request to the merchant".to_owned(), received.as_bytes().to_vec()));
    places.extend(answers.0.iter().map(|answer| ("an answer".to_owned(), answer.clone().into_bytes())));
    for folder in [gateway.data().as_path(), gateway.folder()] {
        for file in std::fs::read_dir(folder)? {
            let path = file?.path();
            if path.is_file() {
                places.push((path.display().to_string(), std::fs::read(&path)?));
            }
        }
    }
    assert!(places.iter().any(|(place, _)| place.ends_with("-wal")), "the write-ahead log is looked at");
    for (place, content) in &places {
        let found = digits(content).windows(number.len()).any(|window| window == number.as_bytes());
        let shown = || String::from_utf8_lossy(content).chars().take(2000).collect::<String>();
        assert!(!found, "{place} holds {number}: {}", if place.contains('/') { String::new() } else { shown() });
    }
    Ok(())
}

fn gateway() -> anyhow::Result<(Gateway, Merchant)> {
    let gateway = Gateway::start_env(&OPTIONS, &[("TILLGATE_LOG", "trace")])?;
    let shop = gateway.merchant_with(&["--customer-names-optional"])?;
    Ok((gateway, shop))
}

/// An answer is a refusal that names the parameter, or it is a payment's: then the value was masked.
#[track_caller]
fn assert_masked_or_named(answer: &Answer, name: &str, value: &str) {
    let named = answer.errors().iter().any(|error| *error == name || name.starts_with("authentication."));
    let done = answer.status == 200 || answer.json["id"].is_string();
    assert!(named || done || answer.status == 403, "{name}={value}: {}", answer.text);
}

#[tokio::test]
async fn a_number_in_any_parameter_is_masked_or_refused_by_name_and_kept_nowhere() -> anyhow::Result<()> {
    let (gateway, shop) = gateway()?;
    let receiver = Receiver::start().await?;
    let notified = receiver.url("told");
    let number = number("491633850608283", 0);
    let written = written(&number);
    let mut answers = Answers::default();
    let everything = everything();
    let mut kept = 0;
    for (at, row) in catalogue().filter(|row| !row.secret).enumerate() {
        let (name, value) = (concrete(row.name), written[at % written.len()].as_str());
        // Beside everything else that can be sent, so that nothing but this value is wrong.
        let beside = everything.iter().filter(|(other, _)| *other != name);
        let beside: Vec<(&str, &str)> = beside.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let paid = answers.keep(shop.pay(&[&beside[..], &[(&name, value)]].concat()).await?);
        assert_masked_or_named(&paid, &name, value);
        kept += usize::from(paid.status == 200);
        answers.keep(shop.get(&format!("v1/payments/{}", paid.id())).await?);
        let query = form([(name.as_str(), value), ("date.from", "2026-01-01"), ("date.to", "2026-12-31")]);
        answers.keep(shop.get(&format!("v1/query?{query}")).await?);
        // Through the form.
        let made = answers.keep(shop.checkout(&[("notificationUrl", &notified), (&name, value)]).await?);
        let made = if made.status == 200 { made } else { shop.checkout(&[]).await? };
        answers.keep(shop.post(&format!("v1/checkouts/{}", made.id()), &[(&name, value)]).await?);
        let submitted = answers.keep(shop.submit(made.id(), &[(&name, value)]).await?);
        // By itself it may also lack what goes with it.
        assert!(submitted.status < 500, "{name}={value}: {}", submitted.text);
        answers.keep(shop.status(made.id()).await?);
    }
    assert!(kept > 100, "most free text is masked: {kept}");
    let registered = answers.keep(shop.post("v1/registrations", &CARD).await?);
    let paid = answers.keep(shop.pay(&[("paymentType", "PA")]).await?);
    for value in &written {
        for name in ["merchantTransactionId", "merchantMemo", "customParameters[abc]", "customer.merchantCustomerId"] {
            let card: Vec<_> = CARD.into_iter().chain([(name, value.as_str())]).collect();
            answers.keep(shop.post("v1/registrations", &card).await?);
            let fields = [("paymentType", "CP"), ("amount", "0.01"), ("currency", "EUR"), (name, value.as_str())];
            answers.keep(shop.post(&format!("v1/payments/{}", paid.id()), &fields).await?);
            let path = format!("v1/registrations/{}/payments", registered.id());
            answers.keep(shop.post(&path, &[&fields[1..], &[("paymentType", "DB")]].concat()).await?);
            let redirected = [("paymentBrand", "PAYPAL"), (name, value.as_str()), ("notificationUrl", &notified)];
            let redirected: Vec<_> = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")]
                .into_iter()
                .chain(redirected)
                .chain([crate::asynchronous::BACK])
                .collect();
            answers.keep(shop.post("v1/payments", &redirected).await?);
        }
    }
    shop.advance("2h").await?;
    receiver.next().await?;
    let received: String = receiver.rest().await.iter().map(|request| format!("{request:?}")).collect();
    search(&gateway, &answers, &received, &number)
}

#[tokio::test]
async fn a_number_in_a_name_a_header_a_path_or_a_query_is_kept_nowhere() -> anyhow::Result<()> {
    let (gateway, shop) = gateway()?;
    let strict = gateway.merchant_with(&["--strict"])?;
    let number = number("491633850608283", 0);
    let mut answers = Answers::default();
    let with = |request: RequestBuilder, name: &str, value: &str| match value.is_ascii() {
        true => request.header(name, value),
        false => request,
    };
    let headers = [
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
    for value in &written(&number) {
        for name in [value.clone(), format!("customParameters[{value}]"), format!("cart.items[0].{value}")] {
            for shop in [&shop, &strict] {
                answers.keep(shop.pay(&[(&name, "x")]).await?);
                answers.keep(shop.pay(&[(&name, value)]).await?);
            }
            let made = shop.checkout(&[]).await?;
            answers.keep(shop.submit(made.id(), &[(&name, value)]).await?);
        }
        for header in headers {
            let made = shop.checkout(&[("entityId", shop.entity_id.as_str())]).await?;
            let browser =
                [("customer.browser.screenWidth", "100"), ("paymentBrand", "PAYPAL"), crate::asynchronous::BACK];
            let kind = "application/x-www-form-urlencoded";
            let submit = shop.bare(Method::POST, &format!("v1/checkouts/{}/payment", made.id()));
            let submit = submit.header("content-type", kind).body(form(browser));
            let entity = ("entityId", shop.entity_id.as_str());
            let basic = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), entity];
            let pay = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token).header("content-type", kind);
            let pay = pay.body(form(basic.into_iter().chain(browser)));
            let frame = shop.bare(Method::GET, &format!("v1/pciIframe.html?checkoutId={}&brands=VISA", made.id()));
            for request in [submit, pay, frame] {
                answers.keep(Answer::read(with(request, header, value).send().await?).await?);
            }
            answers.keep(shop.status(made.id()).await?);
        }
        for route in ROUTES {
            let mut path = route.path.trim_start_matches('/').to_owned();
            for name in ["{id}", "{registration}", "{build}", "{*path}", "{path}", "{advance}"] {
                path = path.replace(name, &value.replace(['#', '/', '%'], "."));
            }
            let query =
                form([("checkoutId", value), ("brands", value), ("lang", value), ("id", value), (value, value)]);
            let method: Method = route.method.as_str().parse()?;
            let request = shop.bare(method.clone(), &format!("{path}?{query}"));
            answers.keep(Answer::read(request.send().await?).await?);
            let request = shop.bare(method, &format!("{path}?{query}")).bearer_auth(&shop.token);
            answers.keep(Answer::read(request.body(query).send().await?).await?);
        }
    }
    search(&gateway, &answers, "", &number)
}

#[tokio::test]
async fn a_reference_that_looks_like_a_card_number_is_refused_and_others_are_found_as_they_were_sent()
-> anyhow::Result<()> {
    let shop = shop();
    for name in ["merchantTransactionId", "merchantInvoiceId", "customer.merchantCustomerId", "customer.ip"] {
        let refused = shop.pay(&[(name, "4916 3385 0608 2832")]).await?;
        assert_errors(&refused, &[name]);
        let error = error(&refused, name);
        assert!(error["message"].as_str().is_some_and(|text| text.contains("card number")), "{error}");
        assert_eq!(error["value"], "491633******2832");
    }
    // As many digits, a letter between them; a product's code; a time; ids of others.
    for reference in [
        "4916338a506082832",
        "4006381333931",
        "20261123040000123",
        "1763870400123",
        "4916338506082831",
        "550e8400-e29b-41d4-a716-446655440000",
        "DE89370400440532013000",
    ] {
        let paid = shop.pay(&[("merchantTransactionId", reference)]).await?;
        assert_answer(&paid, 200, "000.100.110");
        assert_eq!(paid.json["merchantTransactionId"], reference);
        let found = shop.get(&format!("v1/query?merchantTransactionId={reference}")).await?;
        let payments = found.json["payments"].as_array().cloned().unwrap_or_default();
        assert!(payments.iter().any(|payment| payment["id"] == paid.id()), "{}", found.text);
    }
    // An older payment may have such a reference: looking it up is no error.
    assert_answer(&shop.get("v1/query?merchantTransactionId=4916338506082832").await?, 404, "700.400.580");
    Ok(())
}
