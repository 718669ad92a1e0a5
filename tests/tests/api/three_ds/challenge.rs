//! The challenge: every answer on the issuer's page, and the answers that are ignored.

use tillgate_tests::{Database, TestGateway};

use super::*;

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";
const CARD: (&str, &str) = ("card.number", "4200000000000018");

#[tokio::test]
async fn every_answer_of_the_issuers_page_ends_the_payment_with_its_code() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    assert_eq!(challenge_answers().len(), 9);
    for answer in challenge_answers() {
        let ended = &answer.result;
        let paid = pay_by_card(&shop, "VISA", CARD.1, &[("merchantTransactionId", "challenge-of-4711")]).await?;
        assert_result(&paid, 200, PENDING);
        let url = redirect_field(&paid, "url");
        let (found, page) = visit_page(&shop, url).await?;
        assert_eq!(found, 200, "{page}");
        for part in [
            "92.00 EUR",
            "•••• 0018",
            r#"<select id="returnCode" name="returnCode">"#,
            r#"<input type="submit""#,
            answer.label,
            &format!(r#"<option value="{}">"#, ended.code.code()),
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains(CARD.1), "{page}");
        let fields = [("transaction", challenge_transaction(&page)), ("returnCode", ended.code.code())];
        let (found, left) = post_to_page(&shop, url, &fields).await?;
        assert_eq!(found, 200, "{left}");
        let path = format!("/v1/payments/{}", paid.id()).replace('/', "%2F");
        let back = format!("https://shop.example/back?basket=7&amp;id={}&amp;resourcePath={path}#top", paid.id());
        assert!(left.contains(&format!(r#"<a id="back" href="{back}" target="_top" data-auto>"#)), "{left}");
        let read = read_payment(&shop, paid.id()).await?;
        let passes = ended.code.is_success();
        assert_result(&read, if passes { 200 } else { 400 }, ended.code.code());
        let reported = if ended.status.as_str() == "R" { "N" } else { ended.status.as_str() };
        assert_eq!(read.json["threeDSecure"]["authenticationStatus"], reported, "{}", read.text);
        assert_eq!(read.json["threeDSecure"]["eci"].is_null(), !passes, "{}", read.text);
        let reason = ended.reason.map_or(serde_json::Value::Null, |reason| reason.as_str().into());
        assert_eq!(read.json["threeDSecure"]["transactionStatusReason"], reason, "{}", read.text);
        // A declined payment has no amount. An authenticated payment is authorized like any other, with its security
        // code.
        assert_eq!(read.json["amount"].is_null(), !passes, "{}", read.text);
        assert_eq!(read.json["result"]["cvvResponse"] == "M", passes, "{}", read.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_counts_for_its_own_transaction_and_once() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let (one, other) = (pay_by_card(&shop, "VISA", CARD.1, &[]).await?, pay_by_card(&shop, "VISA", CARD.1, &[]).await?);
    let (url, other_url) = (redirect_field(&one, "url"), redirect_field(&other, "url"));
    let own = challenge_transaction(&visit_page(&shop, url).await?.1).to_owned();
    let foreign = challenge_transaction(&visit_page(&shop, other_url).await?.1).to_owned();
    for wrong in [foreign.as_str(), "", "x"] {
        let (found, page) = post_to_page(&shop, url, &[("transaction", wrong), ("returnCode", PAID)]).await?;
        assert_eq!(found, 409, "{page}");
        assert_result(&read_payment(&shop, one.id()).await?, 200, PENDING);
    }
    // An invalid answer shows the page again.
    let (found, page) = post_to_page(&shop, url, &[("transaction", &own), ("returnCode", "nonsense")]).await?;
    assert_eq!((found, challenge_transaction(&page)), (200, own.as_str()));
    assert_eq!(post_to_page(&shop, url, &[("transaction", &own), ("returnCode", "100.390.114")]).await?.0, 200);
    let ended = read_payment(&shop, one.id()).await?;
    assert_result(&ended, 400, "100.390.114");
    for again in [PAID, "100.390.114"] {
        assert_eq!(post_to_page(&shop, url, &[("transaction", &own), ("returnCode", again)]).await?.0, 409);
        assert_eq!(read_payment(&shop, one.id()).await?.json["result"], ended.json["result"]);
    }
    assert_result(&read_payment(&shop, other.id()).await?, 200, PENDING);
    Ok(())
}

#[tokio::test]
async fn of_fifty_answers_at_once_one_is_taken() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = pay_by_card(&shop, "VISA", CARD.1, &[]).await?;
    let url = redirect_field(&paid, "url").to_owned();
    let own = challenge_transaction(&visit_page(&shop, &url).await?.1).to_owned();
    let mut answers = tokio::task::JoinSet::new();
    for number in 0..50 {
        let (shop, url, own) = (shop.clone(), url.clone(), own.clone());
        let code = if number % 2 == 0 { PAID } else { "100.390.100" };
        answers.spawn(async move { post_to_page(&shop, &url, &[("transaction", &own), ("returnCode", code)]).await });
    }
    let mut taken = 0;
    while let Some(answer) = answers.join_next().await {
        taken += u32::from(answer??.0 == 200);
    }
    assert_eq!(taken, 1);
    assert_ne!(read_payment(&shop, paid.id()).await?.result_code(), PENDING);
    Ok(())
}

#[tokio::test]
async fn the_page_of_an_issuer_is_no_page_of_a_brand_and_the_other_way_round() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let asked = pay_by_card(&shop, "VISA", CARD.1, &[]).await?;
    let id = redirect_field(&asked, "url").rsplit('/').next().unwrap_or_default().to_owned();
    let brand = format!("{}v1/simulator/{id}", shop.base);
    assert_eq!(visit_page(&shop, &brand).await?.0, 404);
    assert_eq!(post_to_page(&shop, &brand, &[("answer", "success")]).await?.0, 404);
    assert_result(&read_payment(&shop, asked.id()).await?, 200, PENDING);
    let provider = crate::payment::asynchronous::pay_by_brand(&shop, "PAYPAL", &[]).await?;
    let id = redirect_field(&provider, "url").rsplit('/').next().unwrap_or_default().to_owned();
    for page in
        [format!("v1/threeDSecure/{id}"), format!("v1/threeDSecure/{id}/method"), "v1/threeDSecure/x".to_owned()]
    {
        assert_eq!(visit_page(&shop, &format!("{}{page}", shop.base)).await?.0, 404, "{page}");
    }
    let fields = [("transaction", "x"), ("returnCode", PAID)];
    assert_eq!(post_to_page(&shop, &format!("{}v1/threeDSecure/{id}", shop.base), &fields).await?.0, 404);
    assert_result(&read_payment(&shop, provider.id()).await?, 200, PENDING);
    Ok(())
}

#[tokio::test]
async fn a_challenge_survives_a_restart_and_the_security_code_does_not() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = pay_by_card(&shop, "VISA", CARD.1, &[("paymentType", "PA")]).await?;
    let path = redirect_field(&paid, "url").replace(&shop.base, "");
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let url = format!("{}{path}", shop.base);
    let own = challenge_transaction(&visit_page(&shop, &url).await?.1).to_owned();
    post_to_page(&shop, &url, &[("transaction", &own), ("returnCode", PAID)]).await?;
    let read = read_payment(&shop, paid.id()).await?;
    assert_result(&read, 200, PAID);
    assert!(read.json["result"]["cvvResponse"].is_null(), "{}", read.text);
    let captured = [("paymentType", "CP"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), &captured).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn an_answer_after_half_an_hour_does_not_count_and_ends_the_payment() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (answered, visited) =
        (pay_by_card(&shop, "VISA", CARD.1, &[]).await?, pay_by_card(&shop, "VISA", CARD.1, &[]).await?);
    let own = challenge_transaction(&visit_page(&shop, redirect_field(&answered, "url")).await?.1).to_owned();
    let path = |paid: &ApiResponse| redirect_field(paid, "url").replace(&shop.base, "");
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        let file = Database::open(data)?;
        let earlier = (jiff::Timestamp::now() - jiff::SignedDuration::from_mins(30)).to_string();
        let query = "UPDATE payment SET document = CAST(json_set(CAST(document AS TEXT), '$.created', ?1) AS BLOB)";
        let changed = file.execute(query, [earlier])?;
        anyhow::ensure!(changed == 2, "{changed} payments");
        Ok(())
    })?;
    let later = MerchantClient::new(gateway.base_url(), shop.entity_id.clone(), shop.token.clone());
    let at = |paid: &ApiResponse| format!("{}{}", later.base, path(paid));
    let (found, _) = post_to_page(&later, &at(&answered), &[("transaction", &own), ("returnCode", PAID)]).await?;
    assert_eq!(found, 409);
    assert_eq!(visit_page(&later, &at(&visited)).await?.0, 200);
    for paid in [answered, visited] {
        assert_result(&read_payment(&later, paid.id()).await?, 400, "100.396.103");
    }
    Ok(())
}

#[tokio::test]
async fn a_card_waits_sealed_while_its_cardholder_is_asked_and_goes_where_it_belongs_afterwards() -> anyhow::Result<()>
{
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let count = |table: &str| -> anyhow::Result<u32> {
        Ok(open_database(&gateway)?.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
    };
    let registering = [("createRegistration", "true")];
    // Number of stored cards and registrations after each answer.
    for (code, fields, cards, registrations) in [
        (PAID, &[][..], 1, 0),
        ("100.390.114", &[], 1, 0),
        (PAID, &registering, 1, 1),
        ("100.396.101", &registering, 1, 1),
    ] {
        let paid = pay_by_card(&shop, "VISA", CARD.1, fields).await?;
        assert_eq!((count("promise")?, paid.json["registrationId"].is_null()), (1, true));
        let url = redirect_field(&paid, "url");
        let own = challenge_transaction(&visit_page(&shop, url).await?.1).to_owned();
        post_to_page(&shop, url, &[("transaction", &own), ("returnCode", code)]).await?;
        let read = read_payment(&shop, paid.id()).await?;
        let registered = code == PAID && !fields.is_empty();
        assert_eq!(read.json["registrationId"].is_null(), !registered, "{}", read.text);
        assert_eq!((count("promise")?, count("card")?, count("registration_account")?), (0, cards, registrations));
    }
    for bytes in [gateway.read_stored_bytes()?, gateway.read_log().into_bytes()] {
        assert!(!bytes.windows(CARD.1.len()).any(|window| window == CARD.1.as_bytes()));
    }
    Ok(())
}
