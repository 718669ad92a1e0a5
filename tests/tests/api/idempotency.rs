//! `Idempotency-Key`: the same request, sent again under the same name, is answered again and does nothing.

use reqwest::Method;
use tillgate::api::docs::{Caller, ROUTES};
use tillgate_tests::{Answer, CARD, Gateway, Merchant, form, until};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::hardship::{PATIENT, hog};
use crate::support::*;

/// A debit as merchants send it.
fn debit(amount: &str) -> Vec<(&str, &str)> {
    let order = [("amount", amount), ("currency", "EUR"), ("paymentType", "DB")];
    order.into_iter().chain(CARD).collect()
}

/// Posts in the merchant's name with a header `Idempotency-Key`.
async fn post(shop: &Merchant, path: &str, key: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let entity = [("entityId", shop.entity_id.as_str())];
    let body = form(entity.iter().chain(fields).copied());
    let request = shop.bare(Method::POST, path).bearer_auth(&shop.token).header("idempotency-key", key);
    Answer::read(request.header("content-type", "application/x-www-form-urlencoded").body(body).send().await?).await
}

async fn pay(shop: &Merchant, key: &str) -> anyhow::Result<Answer> {
    post(shop, "v1/payments", key, &debit("92.00")).await
}

/// The same bytes as before, and a header that says so.
#[track_caller]
fn assert_replay(again: &Answer, first: &Answer) {
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.headers["content-type"], first.headers["content-type"]);
    assert!(!first.headers.contains_key("idempotent-replayed"), "{:?}", first.headers);
}

/// A refusal that names the header.
#[track_caller]
fn assert_about_the_header(answer: &Answer) {
    assert_errors(answer, &["Idempotency-Key"]);
    let description = answer.json["result"]["description"].as_str().unwrap_or_default();
    assert!(description.contains("Idempotency-Key"), "{}", answer.text);
}

fn payments_of(gateway: &Gateway, shop: &Merchant) -> anyhow::Result<u32> {
    let query = "SELECT count(*) FROM payment WHERE entity = ?1";
    Ok(database(gateway)?.query_row(query, [&shop.entity_id], |row| row.get(0))?)
}

#[tokio::test]
async fn a_payment_sent_twice_under_one_key_is_made_once_and_answered_twice_in_the_same_bytes() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant()?;
    let first = pay(&shop, "order-4711").await?;
    assert_answer(&first, 200, "000.100.110");
    for _ in 0..3 {
        assert_replay(&pay(&shop, "order-4711").await?, &first);
    }
    assert_eq!(payments_of(gateway, &shop)?, 1);
    // What it made is what it says.
    assert_eq!(shop.get(&format!("v1/payments/{}", first.id())).await?.id(), first.id());
    assert_ne!(pay(&shop, "order-4712").await?.id(), first.id());
    Ok(())
}

/// Something that each of the merchant's POST routes takes.
async fn example(shop: &Merchant, route: &str) -> anyhow::Result<(String, Vec<(&'static str, &'static str)>)> {
    let checkout = vec![("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), ("integrity", "true")];
    Ok(match route {
        "/v1/checkouts" => ("v1/checkouts".to_owned(), checkout),
        "/v1/checkouts/{id}" => (format!("v1/checkouts/{}", shop.checkout(&[]).await?.id()), vec![("amount", "50.00")]),
        "/v1/checkouts/{id}/confirm" => {
            let checkout = shop.checkout(&[]).await?;
            shop.submit(checkout.id(), &[("useSummaryPage", "true")]).await?;
            (format!("v1/checkouts/{}/confirm", checkout.id()), Vec::new())
        }
        "/v1/payments" => ("v1/payments".to_owned(), debit("92.00")),
        "/v1/payments/{id}" => {
            let refund = vec![("paymentType", "RF"), ("amount", "10.00"), ("currency", "EUR")];
            (format!("v1/payments/{}", shop.pay(&[]).await?.id()), refund)
        }
        "/v1/registrations" => ("v1/registrations".to_owned(), tillgate_tests::CARD.to_vec()),
        "/v1/registrations/{id}/extendlife" => {
            let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
            (format!("v1/registrations/{}/extendlife", stored.id()), vec![("job.durationNumber", "12")])
        }
        "/v1/registrations/{id}/payments" => {
            let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
            let charge = vec![("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
            (format!("v1/registrations/{}/payments", stored.id()), charge)
        }
        "/v1/clock/{advance}" => ("v1/clock/0s".to_owned(), Vec::new()),
        route => anyhow::bail!("no example for {route}: add one, and hand its answer to `Merchant::once`"),
    })
}

#[tokio::test]
async fn every_post_of_the_merchants_takes_a_key() -> anyhow::Result<()> {
    let shop = shop();
    for row in ROUTES.iter().filter(|row| row.caller == Caller::Merchant && row.method.as_str() == "POST") {
        let (method, route) = (row.method.as_str(), row.path);
        let (path, fields) = example(&shop, route).await?;
        let key = format!("{method}:{path}");
        let first = post(&shop, &path, &key, &fields).await?;
        assert_eq!(first.status, 200, "{route}: {}", first.text);
        assert_envelope(&first);
        let again = post(&shop, &path, &key, &fields).await?;
        assert_eq!(again.text, first.text, "{route}");
        assert_replay(&again, &first);
        let more: Vec<_> = fields.iter().copied().chain([("customParameters[SHOPPER_x]", "1")]).collect();
        assert_about_the_header(&post(&shop, &path, &key, &more).await?);
    }
    Ok(())
}

#[tokio::test]
async fn another_request_under_a_used_key_is_refused_and_not_carried_out() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant()?;
    let first = pay(&shop, "k").await?;
    assert_about_the_header(&post(&shop, "v1/payments", "k", &debit("92.01")).await?);
    let other_card: Vec<_> =
        debit("92.00").into_iter().map(|(n, v)| (n, if n == "card.number" { "4242424242424242" } else { v })).collect();
    assert_about_the_header(&post(&shop, "v1/payments", "k", &other_card).await?);
    let checkout = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_about_the_header(&post(&shop, "v1/checkouts", "k", &checkout).await?);
    assert_eq!(payments_of(gateway, &shop)?, 1);
    // The order of the parameters makes no other request of it.
    let reversed: Vec<_> = debit("92.00").into_iter().rev().collect();
    assert_replay(&post(&shop, "v1/payments", "k", &reversed).await?, &first);
    Ok(())
}

#[tokio::test]
async fn a_key_has_1_to_255_visible_ascii_characters_and_comes_once() -> anyhow::Result<()> {
    let shop = shop();
    for bad in ["", "a b", "tab\there", &"k".repeat(256)] {
        assert_about_the_header(&pay(&shop, bad).await?);
    }
    let request = |shop: &Merchant| {
        let entity = [("entityId", shop.entity_id.clone())];
        let fields = debit("92.00").into_iter().map(|(name, value)| (name, value.to_owned()));
        let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token);
        request.header("content-type", "application/x-www-form-urlencoded").body(form(entity.into_iter().chain(fields)))
    };
    let twice = request(&shop).header("idempotency-key", "a").header("idempotency-key", "b");
    assert_about_the_header(&Answer::read(twice.send().await?).await?);
    let latin = request(&shop).header("idempotency-key", &b"schl\xfcssel"[..]);
    assert_about_the_header(&Answer::read(latin.send().await?).await?);
    for good in ["!", "~{}\"'", &"k".repeat(255)] {
        let first = pay(&shop, good).await?;
        assert_replay(&pay(&shop, good).await?, &first);
    }
    Ok(())
}

#[tokio::test]
async fn a_key_means_something_inside_its_own_entity_only() -> anyhow::Result<()> {
    let (shop, stranger) = (shop(), other_shop());
    let (mine, theirs) = (pay(&shop, "shared").await?, pay(&stranger, "shared").await?);
    assert_ne!(mine.id(), theirs.id());
    assert_replay(&pay(&shop, "shared").await?, &mine);
    assert_replay(&pay(&stranger, "shared").await?, &theirs);
    // Whoever has no right to the entity learns nothing of its keys.
    let thief = Merchant::new(shop.base.clone(), shop.entity_id.clone(), stranger.token.clone());
    assert_answer(&pay(&thief, "shared").await?, 403, "800.900.201");
    Ok(())
}

#[tokio::test]
async fn a_decline_is_an_answer_and_a_refusal_leaves_the_key_free() -> anyhow::Result<()> {
    let shop = shop();
    let declined: Vec<_> =
        debit("92.00").into_iter().chain([("customParameters[forceResultCode]", "800.100.151")]).collect();
    let first = post(&shop, "v1/payments", "declined", &declined).await?;
    assert_answer(&first, 400, "800.100.151");
    assert_replay(&post(&shop, "v1/payments", "declined", &declined).await?, &first);
    // Nothing came of a request that was wrong: put right, it may go under the same key.
    assert_errors(&post(&shop, "v1/payments", "mended", &debit("92.001")).await?, &["amount"]);
    let paid = pay(&shop, "mended").await?;
    assert_answer(&paid, 200, "000.100.110");
    assert_replay(&pay(&shop, "mended").await?, &paid);
    Ok(())
}

#[tokio::test]
async fn a_twin_that_comes_while_the_first_is_under_way_is_told_so() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&PATIENT)?;
    let shop = gateway.merchant()?;
    let other = hog(&gateway)?;
    let mut twins = JoinSet::new();
    for _ in 0..2 {
        let shop = Merchant::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        twins.spawn(async move { pay(&shop, "twin").await });
    }
    // Nobody can write: one waits, and the other is answered all the same.
    let second = twins.join_next().await.expect("there are two")??;
    assert_answer(&second, 409, "800.600.100");
    assert_eq!(second.headers["retry-after"], "1");
    assert!(twins.try_join_next().is_none(), "paid without a commit");
    drop(other);
    let first = twins.join_next().await.expect("there is one left")??;
    assert_answer(&first, 200, "000.100.110");
    assert_replay(&pay(&shop, "twin").await?, &first);
    assert_eq!(payments_of(&gateway, &shop)?, 1);
    Ok(())
}

#[tokio::test]
async fn fifty_twins_at_once_make_one_payment() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant()?;
    let mut twins = JoinSet::new();
    for _ in 0..50 {
        let shop = Merchant::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        twins.spawn(async move { pay(&shop, "fifty").await });
    }
    let answers: Vec<Answer> = twins.join_all().await.into_iter().collect::<Result<_, _>>()?;
    let (paid, told): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(!paid.is_empty());
    for answer in &paid {
        assert_eq!(answer.text, paid[0].text);
    }
    assert_eq!(paid.iter().filter(|answer| !answer.headers.contains_key("idempotent-replayed")).count(), 1);
    for answer in told {
        assert_answer(answer, 409, "800.600.100");
    }
    assert_eq!(payments_of(gateway, &shop)?, 1);
    Ok(())
}

#[tokio::test]
async fn a_merchant_who_hangs_up_and_sends_again_pays_once() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&PATIENT)?;
    let shop = gateway.merchant()?;
    let entity = [("entityId", shop.entity_id.as_str())];
    let body = form(entity.into_iter().chain(debit("92.00")));
    let host = shop.base.trim_start_matches("http://").trim_end_matches('/');
    let other = hog(&gateway)?;
    for _ in 0..5 {
        // The whole request arrives; the answer finds nobody.
        let request = format!(
            "POST /v1/payments HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: gone\r\n\
             Content-Length: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
            shop.token,
            body.len()
        );
        let mut connection = TcpStream::connect(host).await?;
        connection.write_all(request.as_bytes()).await?;
        drop(connection);
    }
    drop(other);
    let answer = until("an answer", async || {
        let answer = pay(&shop, "gone").await?;
        Ok((answer.status != 409).then_some(answer))
    })
    .await?;
    assert_answer(&answer, 200, "000.100.110");
    assert_eq!(payments_of(&gateway, &shop)?, 1);
    Ok(())
}

#[tokio::test]
async fn an_answer_is_given_again_after_a_power_cut_and_forgotten_after_a_day() -> anyhow::Result<()> {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let (paid, old) = (pay(&shop, "young").await?, pay(&shop, "old").await?);
    let gateway = gateway.restart_after(&[], |data| {
        // A day passes for one of them, and almost a day for the other.
        let database = rusqlite::Connection::open(data.join("tillgate.db"))?;
        database.execute("UPDATE answer SET until = until - ?1 WHERE key = 'old'", [DAY])?;
        database.execute("UPDATE answer SET until = until - ?1 WHERE key = 'young'", [DAY - 60_000])?;
        Ok(())
    })?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_replay(&pay(&shop, "young").await?, &paid);
    until("what is too old is deleted", async || {
        let query = "SELECT count(*) FROM answer WHERE key = 'old'";
        Ok((database(&gateway)?.query_row(query, [], |row| row.get::<_, u32>(0))? == 0).then_some(()))
    })
    .await?;
    let new = pay(&shop, "old").await?;
    assert_answer(&new, 200, "000.100.110");
    assert_ne!(new.id(), old.id());
    assert_replay(&pay(&shop, "old").await?, &new);
    Ok(())
}

#[tokio::test]
async fn what_is_kept_of_a_request_holds_no_card_and_no_code() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant()?;
    pay(&shop, "secrets").await?;
    let (fingerprint, body): (Vec<u8>, Vec<u8>) = database(gateway)?.query_row(
        "SELECT fingerprint, body FROM answer WHERE entity = ?1",
        [&shop.entity_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let body = String::from_utf8(body)?;
    assert!(!body.contains("4200000000000000") && !body.contains("\"cvv\""), "{body}");
    // Keyed: another gateway, with another key, has another fingerprint of the same request.
    // The id of that key, and the code.
    assert_eq!(fingerprint.len(), 4 + 32);
    // The code is no part of it: a request that differs in nothing else is the same.
    let first = pay(&shop, "code").await?;
    let other_code: Vec<_> =
        debit("92.00").into_iter().map(|(n, v)| (n, if n == "card.cvv" { "321" } else { v })).collect();
    assert_replay(&post(&shop, "v1/payments", "code", &other_code).await?, &first);
    Ok(())
}
