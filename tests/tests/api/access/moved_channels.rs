//! A channel that is moved to another merchant: the old merchant can read nothing of it, neither from the store nor
//! from caches.

use reqwest::Method;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form, poll_until};

use crate::support::*;

/// A request that can be repeated, with an optional idempotency key.
struct MerchantRequest {
    method: Method,
    path: String,
    fields: Vec<(&'static str, String)>,
    key: Option<&'static str>,
}

impl MerchantRequest {
    fn get(path: String) -> Self {
        Self { method: Method::GET, path, fields: Vec::new(), key: None }
    }

    /// Sends the request with the merchant's token, entity and the idempotency key. Fields are in the body of a POST,
    /// otherwise in the query. Returns any response.
    async fn send(&self, shop: &MerchantClient) -> anyhow::Result<ApiResponse> {
        let mut fields: Vec<(&str, &str)> = vec![("entityId", &shop.entity_id)];
        fields.extend(self.fields.iter().map(|(name, value)| (*name, value.as_str())));
        let fields = encode_form(fields);
        let request = if self.method == Method::POST {
            let kind = ("content-type", "application/x-www-form-urlencoded");
            shop.bare_request(Method::POST, &self.path).header(kind.0, kind.1).body(fields)
        } else {
            shop.bare_request(self.method.clone(), &format!("{}?{fields}", self.path))
        };
        let request = match self.key {
            Some(key) => request.header("Idempotency-Key", key),
            None => request,
        };
        ApiResponse::read_from(request.bearer_auth(&shop.token).send().await?).await
    }
}

#[tokio::test]
async fn a_channel_that_changes_its_merchant_is_served_to_the_old_one_no_more() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (old, new) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let channel = gateway.create_merchant_with(&["--merchant", &old.entity_id])?;
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string();
    let own = |name: &'static str, value: &str| (name, value.to_owned());
    let card: Vec<(&'static str, String)> = tillgate_tests::CARD.iter().map(|(name, value)| own(name, value)).collect();
    let order = [own("amount", "92.00"), own("currency", "EUR"), own("paymentType", "DB")];
    let keyed = |path: &str, key, more: &[(&'static str, String)]| MerchantRequest {
        method: Method::POST,
        path: path.to_owned(),
        fields: more.to_vec(),
        key: Some(key),
    };
    // Requests of the old merchant about its channel, with the channel's name in each response.
    let paying =
        [&order[..], &card, &[own("merchantTransactionId", "moved-0001"), own("createRegistration", "true")]].concat();
    let pay = keyed("v1/payments", "key-pay", &paying);
    let paid = pay.send(&old).await?;
    assert_result(&paid, 200, "000.100.110");
    let file = open_database(&gateway)?;
    let owner: String = file.query_row("SELECT entity FROM payment WHERE id = ?1", [paid.id()], |row| row.get(0))?;
    assert_eq!(owner, channel.entity_id, "it is the channel's payment");
    let refund = [own("paymentType", "RF"), own("amount", "1.00"), own("currency", "EUR")];
    let refund = keyed(&format!("v1/payments/{}", paid.id()), "key-refund", &refund);
    let checkout = old.create_checkout(&[]).await?;
    old.submit_card(checkout.id(), &[]).await?;
    let made = channel.create_checkout(&[]).await?;
    channel.submit_card(made.id(), &[]).await?;
    let stored = channel
        .post(
            "v1/registrations",
            &[
                ("paymentBrand", "VISA"),
                ("card.number", "4200000000000000"),
                ("card.holder", "Jane Jones"),
                ("card.expiryMonth", "05"),
                ("card.expiryYear", "2034"),
            ],
        )
        .await?;
    assert_result(&stored, 200, "000.100.110");
    let update = keyed(
        &format!("v1/checkouts/{}", channel.create_checkout(&[]).await?.id()),
        "key-update",
        &[own("amount", "1.00")],
    );
    let query = |fields: &[(&'static str, &str)]| MerchantRequest {
        fields: fields.iter().map(|(name, value)| own(name, value)).collect(),
        ..MerchantRequest::get("v1/query".to_owned())
    };
    let requests = [
        pay,
        refund,
        update,
        MerchantRequest::get(format!("v1/payments/{}", paid.id())),
        MerchantRequest::get(format!("v1/query/{}", paid.id())),
        MerchantRequest {
            fields: vec![own("includeLinkedTransactions", "true")],
            ..MerchantRequest::get(format!("v3/query/{}", paid.id()))
        },
        query(&[("merchantTransactionId", "moved-0001")]),
        query(&[("date.from", &today), ("date.to", &today)]),
        query(&[("date.from", &today), ("date.to", &today), ("pageNo", "1")]),
        MerchantRequest::get(format!("v1/checkouts/{}/payment", checkout.id())),
        MerchantRequest::get(format!("v1/checkouts/{}/payment", made.id())),
        MerchantRequest::get(format!("v1/registrations/{}", stored.id())),
    ];
    for asked in &requests {
        // Sent twice, because the second response may come from a cache.
        for _ in 0..2 {
            let answer = asked.send(&old).await?;
            assert_eq!(answer.status, 200, "{} {}: {}", asked.method, asked.path, answer.text);
        }
    }
    gateway.run_command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", &new.entity_id])?;
    let as_channel =
        |shop: &MerchantClient| MerchantClient::new(shop.base.clone(), channel.entity_id.clone(), shop.token.clone());
    poll_until("the change is known", async || {
        let read = as_channel(&new).get(&format!("v1/payments/{}", paid.id())).await?;
        Ok((read.status == 200).then_some(()))
    })
    .await?;
    for asked in &requests {
        let answer = asked.send(&old).await?;
        let told = [paid.id(), stored.id(), "moved-0001", "4200", channel.entity_id.as_str()];
        assert!(matches!(answer.status, 403 | 404), "{} {}: {}", asked.method, asked.path, answer.text);
        for secret in told {
            assert!(!answer.text.contains(secret), "{secret} in {}: {}", asked.path, answer.text);
        }
        assert_result(&asked.send(&as_channel(&old)).await?, 403, "800.900.201");
    }
    // No payment was repeated, and the new merchant can read the channel's payments.
    let count = "SELECT count(*) FROM payment WHERE entity IN (?1, ?2)";
    let payments: u32 = file.query_row(count, [&old.entity_id, &channel.entity_id], |row| row.get(0))?;
    assert_eq!(payments, 4);
    let found = new.get("v1/query?merchantTransactionId=moved-0001").await?;
    assert!(found.text.contains(paid.id()), "{}", found.text);
    Ok(())
}

#[tokio::test]
async fn a_merchant_that_gets_a_channel_is_not_answered_from_before() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (merchant, channel) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let reference = [("merchantTransactionId", "order-0007")];
    for shop in [&merchant, &channel] {
        assert_result(&shop.pay_by_card(&reference).await?, 200, "000.100.110");
    }
    let found = async || {
        let answer = merchant.get("v1/query?merchantTransactionId=order-0007").await?;
        anyhow::Ok(answer.json["payments"].as_array().map_or(0, Vec::len))
    };
    assert_eq!((found().await?, found().await?), (1, 1));
    gateway.run_command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", &merchant.entity_id])?;
    poll_until("its channel's payment is found", async || Ok((found().await? == 2).then_some(()))).await
}
