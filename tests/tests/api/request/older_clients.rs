//! Clients that were written for earlier versions of this contract: credentials among the parameters, the test mode in
//! a query, two slashes in a path. They work after a change of the base address only.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, encode_form};

use crate::support::*;

const KIND: &str = "application/x-www-form-urlencoded";
const ORDER: [(&str, &str); 3] = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];

/// Place of a client's credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CredentialPlace {
    Body,
    Query,
}

/// A client that sends no `Authorization` header.
#[derive(Clone)]
struct OlderClient {
    shop: MerchantClient,
    credentials: Vec<(&'static str, String)>,
    place: CredentialPlace,
}

impl OlderClient {
    /// Creates a client from the user and password in the merchant's token. `entity` is the name of the parameter with
    /// the entity's id.
    fn new(shop: MerchantClient, place: CredentialPlace, entity: &'static str) -> anyhow::Result<Self> {
        let pair = String::from_utf8(STANDARD.decode(&shop.token)?)?;
        let (user, password) = pair.split_once('|').unwrap_or_default();
        let credentials = vec![
            ("authentication.userId", user.to_owned()),
            ("authentication.password", password.to_owned()),
            (entity, shop.entity_id.clone()),
        ];
        Ok(Self { shop, credentials, place })
    }

    /// Sends a request with credentials: at the client's own place for a POST, otherwise in the query. The path begins
    /// with two slashes.
    async fn send_request(&self, method: Method, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        let credentials: Vec<(&str, &str)> =
            self.credentials.iter().map(|(name, value)| (*name, value.as_str())).collect();
        // Two slashes, because base addresses end with one and paths begin with one.
        let address = |query: &[(&str, &str)]| format!("/{path}?{}", encode_form(query.iter().copied()));
        let request = if method != Method::POST {
            self.shop.bare_request(method, &address(&[&credentials, fields].concat()))
        } else if self.place == CredentialPlace::Query {
            self.shop
                .bare_request(method, &address(&credentials))
                .header("content-type", KIND)
                .body(encode_form(fields.iter().copied()))
        } else {
            let all = [&credentials, fields].concat();
            self.shop.bare_request(method, &format!("/{path}")).header("content-type", KIND).body(encode_form(all))
        };
        ApiResponse::read_from(request.send().await?).await
    }
}

/// Returns a merchant's older clients of every kind.
fn all_clients() -> anyhow::Result<Vec<OlderClient>> {
    let mut clients = Vec::new();
    for place in [CredentialPlace::Body, CredentialPlace::Query] {
        for entity in ["authentication.entityId", "entityId"] {
            clients.push(OlderClient::new(sandbox_shop(), place, entity)?);
        }
    }
    Ok(clients)
}

#[tokio::test]
async fn an_older_client_prepares_updates_and_reads_a_checkout() -> anyhow::Result<()> {
    for client in all_clients()? {
        let made = client.send_request(Method::POST, "v1/checkouts", &ORDER).await?;
        assert_result(&made, 200, "000.200.100");
        assert_eq!(made.json["ndc"], made.id());
        let path = format!("v1/checkouts/{}", made.id());
        let updated = client.send_request(Method::POST, &path, &[("merchantTransactionId", "order-4711")]).await?;
        assert_result(&updated, 200, "000.200.101");
        let path = format!("{path}/payment");
        let test_mode = [("testMode", "INTERNAL")];
        assert_result(&client.send_request(Method::GET, &path, &test_mode).await?, 200, "000.200.000");
        assert_result(&client.shop.post_as_browser(&format!("/{path}"), &CARD).await?, 200, "000.000.100");
        let status = client.send_request(Method::GET, &path, &test_mode).await?;
        assert_result(&status, 200, "000.100.110");
        assert_eq!((&status.json["amount"], &status.json["ndc"]), (&"92.00".into(), &made.id().into()));
    }
    Ok(())
}

#[tokio::test]
async fn an_older_client_pays_reads_captures_refunds_and_finds() -> anyhow::Result<()> {
    for client in all_clients()? {
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "PA")];
        let reserved = client.send_request(Method::POST, "v1/payments", &[&order[..], &CARD].concat()).await?;
        assert_result(&reserved, 200, "000.100.110");
        let path = format!("v1/payments/{}", reserved.id());
        assert_eq!(client.send_request(Method::GET, &path, &[]).await?.id(), reserved.id());
        let capture = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "CP")];
        let captured = client.send_request(Method::POST, &path, &capture).await?;
        assert_result(&captured, 200, "000.100.110");
        let refund = [("amount", "10.00"), ("currency", "EUR"), ("paymentType", "RF"), ("testMode", "INTERNAL")];
        let refunded = client.send_request(Method::POST, &format!("v1/payments/{}", captured.id()), &refund).await?;
        assert_result(&refunded, 200, "000.100.110");
        for path in ["v1/query", "v3/query"] {
            let linked = [("includeLinkedTransactions", "true"), ("testMode", "INTERNAL")];
            let found = client.send_request(Method::GET, &format!("{path}/{}", reserved.id()), &linked).await?;
            assert_eq!(found.json["payments"].as_array().map(Vec::len), Some(3), "{}", found.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_older_client_registers_reads_pays_with_keeps_and_deletes_a_card() -> anyhow::Result<()> {
    for (number, client) in all_clients()?.into_iter().enumerate() {
        let shopper = format!("older-{number}");
        let customer = [
            ("customer.merchantCustomerId", shopper.as_str()),
            ("customer.givenName", "Jane"),
            ("customer.surname", "Jones"),
        ];
        // Some of these clients send the test mode with every request.
        let mode: &[(&str, &str)] = if number % 2 == 0 { &[] } else { &[("testMode", "INTERNAL")] };
        let made =
            client.send_request(Method::POST, "v1/registrations", &[&CARD[..], &customer, mode].concat()).await?;
        assert_result(&made, 200, "000.100.110");
        let path = format!("v1/registrations/{}", made.id());
        for fields in [&[][..], &[("testMode", "EXTERNAL")]] {
            assert_result(&client.send_request(Method::GET, &path, fields).await?, 200, "000.100.110");
        }
        let paid = client.send_request(Method::POST, &format!("{path}/payments"), &ORDER).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_result(
            &client.send_request(Method::POST, &format!("{path}/extendlife"), &[]).await?,
            200,
            "000.100.110",
        );
        let deleted = client.send_request(Method::DELETE, &path, &[("testMode", "EXTERNAL")]).await?;
        assert_result(&deleted, 200, "000.100.110");
        assert_eq!(deleted.json["paymentType"], "DR");
        assert_result(&client.send_request(Method::GET, &path, &[]).await?, 400, "100.150.202");
    }
    Ok(())
}

#[tokio::test]
async fn typed_errors_of_older_clients_have_their_statuses_and_codes() -> anyhow::Result<()> {
    for client in all_clients()? {
        let unknown = format!("8a{}", "0".repeat(30));
        let declined = [("customParameters[forceResultCode]", "800.100.151")];
        let capture = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "CP")];
        for (method, path, fields, status, code) in [
            (Method::POST, "v1/payments".to_owned(), [&ORDER[..], &CARD, &declined].concat(), 400, "800.100.151"),
            (Method::POST, "v1/payments".to_owned(), [&ORDER[..1], &CARD].concat(), 400, "200.300.404"),
            (Method::POST, format!("v1/payments/{unknown}"), capture.to_vec(), 400, "700.400.510"),
            (Method::GET, format!("v1/payments/{unknown}"), vec![], 404, "200.300.404"),
            (Method::GET, format!("v1/query/{unknown}"), vec![], 404, "700.400.580"),
            (Method::GET, "v1/query".to_owned(), vec![("merchantTransactionId", "nobodys-order")], 404, "700.400.580"),
            (Method::GET, format!("v1/registrations/{unknown}"), vec![], 404, "200.300.404"),
            (Method::DELETE, format!("v1/registrations/{unknown}"), vec![], 404, "200.300.404"),
        ] {
            let answer = client.send_request(method, &path, &fields).await?;
            assert_result(&answer, status, code);
        }
        let mut wrong = client.clone();
        "wrong".clone_into(&mut wrong.credentials[1].1);
        for (method, fields) in [(Method::POST, &ORDER[..]), (Method::GET, &[])] {
            let path = if method == Method::POST { "v1/payments" } else { "v1/query" };
            assert_result(&wrong.send_request(method, path, fields).await?, 403, "800.900.300");
        }
        let mut foreign = client.clone();
        other_shop().entity_id.clone_into(&mut foreign.credentials[2].1);
        assert_result(&foreign.send_request(Method::POST, "v1/payments", &ORDER).await?, 403, "800.900.201");
    }
    Ok(())
}

#[tokio::test]
async fn of_a_posts_query_nothing_counts_but_who_asks_and_the_body_stands_above_it() -> anyhow::Result<()> {
    let (shop, other) = (sandbox_shop(), other_shop());
    let post = async |query: &str, fields: &[(&str, &str)]| -> anyhow::Result<ApiResponse> {
        let request = shop.bare_request(Method::POST, &format!("v1/checkouts?{query}")).bearer_auth(&shop.token);
        ApiResponse::read_from(
            request.header("content-type", KIND).body(encode_form(fields.iter().copied())).send().await?,
        )
        .await
    };
    let entity = format!("entityId={}", shop.entity_id);
    assert_result(&post(&entity, &ORDER).await?, 200, "000.200.100");
    assert_errors(&post(&format!("{entity}&amount=92.00"), &ORDER[1..]).await?, &["amount"]);
    let own = [("entityId", shop.entity_id.as_str())];
    assert_result(
        &post(&format!("entityId={}", other.entity_id), &[&ORDER[..], &own].concat()).await?,
        200,
        "000.200.100",
    );
    assert_errors(&post(&format!("{entity}&{entity}"), &ORDER).await?, &["entityId"]);
    assert_result(&post("x=%ZZ", &[&ORDER[..], &own].concat()).await?, 400, "200.300.404");
    Ok(())
}
