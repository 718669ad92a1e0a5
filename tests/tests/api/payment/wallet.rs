//! Encrypted wallet tokens: the channel's key pair, and the results of valid, expired, modified and foreign tokens.

use anyhow::Context as _;
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};

use crate::service::command_line::run_tillgate;
use crate::support::*;

/// Creates a merchant with a key pair for wallets. Also returns the output of `tillgate wallet-key create`.
pub fn wallet_shop(gateway: &TestGateway) -> anyhow::Result<(MerchantClient, Value)> {
    let shop = gateway.create_merchant()?;
    let key = gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    Ok((shop, key))
}

/// Creates a token for a channel's key with these options of `tillgate wallet-token make`.
pub fn make_token(gateway: &TestGateway, shop: &MerchantClient, options: &[&str]) -> anyhow::Result<String> {
    let arguments = [&["wallet-token", "make", "--entity", shop.entity_id.as_str()], options].concat();
    let output = gateway.run_command(&arguments)?;
    output["paymentToken"].as_str().map(str::to_owned).context("no paymentToken")
}

async fn pay_by_wallet(shop: &MerchantClient, token: &str) -> anyhow::Result<ApiResponse> {
    pay_by_wallet_with(shop, token, &[]).await
}

/// Pays 92.00 EUR with a token of Apple Pay and `more` fields, server to server. Returns any response.
async fn pay_by_wallet_with(shop: &MerchantClient, token: &str, more: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    let basic = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "APPLEPAY"),
        ("walletPay.paymentToken", token),
    ];
    shop.post("v1/payments", &[&basic[..], more].concat()).await
}

/// Asserts a 400 that names only the token parameter, with a message that contains the reason and without the token.
#[track_caller]
pub fn assert_refused(answer: &ApiResponse, reason: &str) {
    assert_errors(answer, &["walletPay.paymentToken"]);
    let error = parameter_error(answer, "walletPay.paymentToken");
    assert_eq!(error["value"], Value::Null);
    assert!(error["message"].as_str().is_some_and(|message| message.contains(reason)), "{reason}: {}", answer.text);
}

#[tokio::test]
async fn a_token_is_decrypted_and_pays_with_the_card_inside() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, key) = wallet_shop(gateway)?;
    assert!(has_shape(key["keyId"].as_str().unwrap_or_default(), &"x".repeat(16)), "{key}");
    for kdf in ["hkdf", "x963"] {
        let card = ["--number", "5454545454545454", "--holder", "Jane Jones", "--eci", "02", "--kdf", kdf];
        let token = make_token(gateway, &shop, &card)?;
        let paid = pay_by_wallet(&shop, &token).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_eq!(paid.json["paymentBrand"], "APPLEPAY");
        let card = json!({
            "bin": "545454", "last4Digits": "5454", "holder": "Jane Jones", "expiryMonth": "05", "expiryYear": "2034",
        });
        assert_eq!(paid.json["card"], card);
        assert_eq!(paid.json["threeDSecure"], json!({ "eci": "02" }));
        assert!(paid.json["walletPay"].is_null(), "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_card_in_a_token_is_judged_as_any_other() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, _) = wallet_shop(gateway)?;
    let wrong = make_token(gateway, &shop, &["--number", "4200000000000001"])?;
    assert_result(&pay_by_wallet(&shop, &wrong).await?, 400, "100.100.101");
    let past = make_token(gateway, &shop, &["--expiry-year", "2001"])?;
    assert_result(&pay_by_wallet(&shop, &past).await?, 400, "100.100.303");
    for junk in [["--number", "4200"], ["--expiry-month", "13"], ["--eci", "99"]] {
        let token = make_token(gateway, &shop, &junk)?;
        assert_refused(&pay_by_wallet(&shop, &token).await?, "does not hold the data of a card");
    }
    Ok(())
}

#[tokio::test]
async fn a_token_pays_once() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, _) = wallet_shop(gateway)?;
    let used = make_token(gateway, &shop, &[])?;
    let paid = pay_by_wallet(&shop, &used).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_refused(&pay_by_wallet(&shop, &used).await?, "has been used already");
    // A different notation of the JSON is still the same token.
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&used)?)?;
    assert_refused(&pay_by_wallet(&shop, &pretty).await?, "has been used already");
    // A declined token is used up too, because the issuer has seen its cryptogram.
    let declined = make_token(gateway, &shop, &[])?;
    let forced = [("customParameters[forceResultCode]", "800.100.151")];
    assert_result(&pay_by_wallet_with(&shop, &declined, &forced).await?, 400, "800.100.151");
    assert_refused(&pay_by_wallet(&shop, &declined).await?, "has been used already");
    // A refused request does not use up the token.
    let spared = make_token(gateway, &shop, &[])?;
    assert_errors(&pay_by_wallet_with(&shop, &spared, &[("billing.country", "XX")]).await?, &["billing.country"]);
    assert_result(&pay_by_wallet(&shop, &spared).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn of_twenty_that_use_one_token_at_once_one_pays() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, _) = wallet_shop(gateway)?;
    let token = make_token(gateway, &shop, &[])?;
    let twins: Vec<_> = (0..20)
        .map(|_| {
            let (shop, token) = (shop.clone(), token.clone());
            tokio::spawn(async move { pay_by_wallet(&shop, &token).await })
        })
        .collect();
    let mut paid = 0;
    for twin in twins {
        let answer = twin.await??;
        if answer.status == 200 {
            paid += 1;
        } else {
            assert_refused(&answer, "has been used already");
        }
    }
    assert_eq!(paid, 1);
    Ok(())
}

#[tokio::test]
async fn altered_old_and_foreign_tokens_are_told_apart_and_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let ((shop, _), (stranger, _)) = (wallet_shop(gateway)?, wallet_shop(gateway)?);
    let good = make_token(gateway, &shop, &[])?;
    let altered = |part: &str, change: &dyn Fn(&str) -> String| -> anyhow::Result<String> {
        let mut token: Value = serde_json::from_str(&good)?;
        token[part] = change(token[part].as_str().unwrap_or_default()).into();
        Ok(token.to_string())
    };
    let flipped = |text: &str| {
        let (first, rest) = text.split_at(1);
        format!("{}{rest}", if first == "A" { "B" } else { "A" })
    };
    let why = "cannot be decrypted";
    assert_refused(&pay_by_wallet(&shop, &altered("data", &flipped)?).await?, why);
    assert_refused(&pay_by_wallet(&shop, &altered("nonce", &flipped)?).await?, why);
    assert_refused(&pay_by_wallet(&shop, &altered("kdf", &|_| "X9.63".to_owned())?).await?, why);
    for junk in ["dG9rZW4=", "{}", "[]", "null", "\"\"", &altered("version", &|_| "2".to_owned())?] {
        assert_refused(&pay_by_wallet(&shop, junk).await?, "is not a wallet token");
    }
    assert_refused(
        &pay_by_wallet(&shop, &altered("ephemeralPublicKey", &|_| "AAAA".to_owned())?).await?,
        "is not a wallet token",
    );

    assert_refused(&pay_by_wallet(&stranger, &good).await?, "a key that this channel does not have");
    let unkeyed = gateway.create_merchant()?;
    assert_refused(&pay_by_wallet(&unkeyed, &good).await?, "a key that this channel does not have");

    assert_refused(&pay_by_wallet(&shop, &make_token(gateway, &shop, &["--valid", "-1s"])?).await?, "has expired");
    assert_refused(
        &pay_by_wallet(&shop, &make_token(gateway, &shop, &["--valid", "25h"])?).await?,
        "more than 24 hours",
    );
    // The refused variants have not used up the original token.
    assert_result(&pay_by_wallet(&shop, &good).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_key_is_added_beside_another_and_tokens_for_both_pay() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, first) = wallet_shop(gateway)?;
    let second = gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    let listed = gateway.run_command(&["wallet-key", "list", "--entity", &shop.entity_id])?;
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    for key in [&first, &second] {
        assert!(listed.as_array().into_iter().flatten().any(|other| other["publicKey"] == key["publicKey"]));
        let token = make_token(gateway, &shop, &["--key", key["keyId"].as_str().unwrap_or_default()])?;
        assert_result(&pay_by_wallet(&shop, &token).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_retired_key_opens_no_token_and_its_secret_half_is_gone() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, old) = wallet_shop(&gateway)?;
    let new = gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    let id = |key: &Value| key["keyId"].as_str().unwrap_or_default().to_owned();
    let (old, new) = (id(&old), id(&new));
    let tokens = [make_token(&gateway, &shop, &["--key", &old])?, make_token(&gateway, &shop, &["--key", &old])?];
    assert_result(&pay_by_wallet(&shop, &tokens[0]).await?, 200, "000.100.110");
    let retire = |key: &str| gateway.run_command(&["wallet-key", "retire", "--entity", &shop.entity_id, "--key", key]);
    let retired = retire(&old)?;
    assert_eq!(retired["keyId"], old.as_str());
    assert!(retired["retired"].is_string(), "{retired}");
    assert_refused(&pay_by_wallet(&shop, &tokens[1]).await?, "was made for a key that this channel has retired");
    let sealed: Vec<u8> =
        open_database(&gateway)?.query_row("SELECT sealed FROM wallet_key WHERE id = ?1", [&old], |row| row.get(0))?;
    assert!(sealed.is_empty());
    // The other key is still active, and new tokens are made for it.
    assert_result(&pay_by_wallet(&shop, &make_token(&gateway, &shop, &[])?).await?, 200, "000.100.110");
    let refused = make_token(&gateway, &shop, &["--key", &old]).err().context("a token was made for a retired key")?;
    assert!(refused.to_string().contains("no such active wallet key"), "{refused}");
    let listed = gateway.run_command(&["wallet-key", "list", "--entity", &shop.entity_id])?;
    let active = |key: &str| {
        let mut keys = listed.as_array().into_iter().flatten();
        keys.any(|listed| listed["keyId"] == key && listed["retired"].is_null())
    };
    assert!(active(&new) && !active(&old), "{listed}");
    let data = gateway.data_folder();
    let list = ["wallet-key", "list", "--entity", &shop.entity_id, "--data", data.to_str().unwrap_or_default()];
    let lines = String::from_utf8(run_tillgate(&list).await?.stdout)?;
    let ends = |key: &str, state: &str| {
        lines.lines().any(|line| line.starts_with(key) && line.split("  ").nth(2).is_some_and(|s| s.starts_with(state)))
    };
    assert!(ends(&new, "active") && ends(&old, "retired 2"), "{lines}");
    Ok(())
}

#[tokio::test]
async fn a_key_is_retired_once_and_by_its_own_entity() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let ((shop, key), (stranger, _)) = (wallet_shop(gateway)?, wallet_shop(gateway)?);
    let key = key["keyId"].as_str().unwrap_or_default();
    let retire =
        |entity: &str, key: &str| gateway.run_command(&["wallet-key", "retire", "--entity", entity, "--key", key]);
    for (entity, key) in [(stranger.entity_id.as_str(), key), (&shop.entity_id, "0000000000000000")] {
        assert!(
            retire(entity, key).is_err_and(|error| error.to_string().contains("no active wallet key")),
            "{entity} {key}"
        );
    }
    retire(&shop.entity_id, key)?;
    assert!(retire(&shop.entity_id, key).is_err_and(|error| error.to_string().contains("no active wallet key")));
    Ok(())
}

#[tokio::test]
async fn tokens_are_made_for_sandbox_entities_with_a_key_only() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let live = gateway.create_merchant_with(&["--live"])?;
    gateway.run_command(&["wallet-key", "create", "--entity", &live.entity_id])?;
    let refused = make_token(gateway, &live, &[]).err().context("a live token was made")?;
    assert!(refused.to_string().contains("is live"), "{refused}");
    let bare = gateway.create_merchant()?;
    let refused = make_token(gateway, &bare, &[]).err().context("a token was made for no key")?;
    assert!(refused.to_string().contains("no such active wallet key"), "{refused}");
    let unknown = gateway.run_command(&["wallet-key", "create", "--entity", &"0".repeat(32)]);
    assert!(unknown.is_err_and(|error| error.to_string().contains("there is no entity")));
    Ok(())
}

#[tokio::test]
async fn a_shopper_pays_a_checkout_with_a_token_once() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, _) = wallet_shop(gateway)?;
    let (made, other) = (shop.create_checkout(&[]).await?, shop.create_checkout(&[]).await?);
    let token = make_token(gateway, &shop, &[])?;
    let form = [("paymentBrand", "GOOGLEPAY"), ("walletPay.paymentToken", token.as_str())];
    let path = |id: &str| format!("v1/checkouts/{id}/payment");
    assert_result(&shop.post_as_browser(&path(made.id()), &form).await?, 200, "000.000.100");
    // A repeated click is not a second payment and no error.
    assert_result(&shop.post_as_browser(&path(made.id()), &form).await?, 200, "000.000.100");
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["card"]["last4Digits"], "0000");
    assert_refused(&shop.post_as_browser(&path(other.id()), &form).await?, "has been used already");
    assert_result(&shop.read_status(other.id()).await?, 200, "000.200.000");
    Ok(())
}

#[tokio::test]
async fn nothing_of_a_token_or_of_the_secret_key_is_in_a_log_or_a_row() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with_environment(&[], &[("TILLGATE_LOG", "trace")])?;
    let (shop, _) = wallet_shop(&gateway)?;
    let token = make_token(&gateway, &shop, &["--number", "5105105105105100"])?;
    let paid = pay_by_wallet(&shop, &token).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_refused(&pay_by_wallet(&shop, &token).await?, "has been used already");
    let data: Value = serde_json::from_str(&token)?;
    let data = data["data"].as_str().unwrap_or_default();
    assert!(data.len() > 100);
    let mut places = vec![gateway.read_log(), paid.text];
    places.extend(gateway.read_data_files()?.iter().map(|content| String::from_utf8_lossy(content).into_owned()));
    for place in places {
        assert!(!place.contains("5105105105105100") && !place.contains(&data[..40]));
    }
    let sealed: Vec<u8> = open_database(&gateway)?.query_row("SELECT sealed FROM wallet_key", [], |row| row.get(0))?;
    // Format, key id, nonce, 32 bytes and their authentication tag.
    assert_eq!(sealed.len(), 1 + 4 + 12 + 32 + 16);
    Ok(())
}

#[tokio::test]
async fn a_used_token_is_remembered_across_a_restart_and_forgotten_when_it_is_worthless() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, _) = wallet_shop(&gateway)?;
    let token = make_token(&gateway, &shop, &[])?;
    assert_result(&pay_by_wallet(&shop, &token).await?, 200, "000.100.110");
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_refused(&pay_by_wallet(&shop, &token).await?, "has been used already");

    let remembered = |gateway: &TestGateway| -> anyhow::Result<u32> {
        Ok(open_database(gateway)?.query_row("SELECT count(*) FROM wallet_token", [], |row| row.get(0))?)
    };
    assert_eq!(remembered(&gateway)?, 1);
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        Database::open(data)?.execute("UPDATE wallet_token SET until = 1", [])?;
        Ok(())
    })?;
    tillgate_tests::poll_until("the worthless token is forgotten", async || {
        Ok((remembered(&gateway)? == 0).then_some(()))
    })
    .await?;
    Ok(())
}
