//! Webhooks and notifications of payments at an acquirer's host: one for each outcome, and one that says pending only
//! if the response to the merchant said so.

use serde_json::Value;
use tillgate_tests::{ApiResponse, Receiver, poll_until};

use crate::acquirer::payments::AcquirerScene;
use crate::delivery::webhooks::decrypt_event;
use crate::support::*;

const ARGUMENTS: [&str; 4] = ["--acquirer-timeout", "1s", "--allow-network", "127.0.0.0/8"];
const PAID: &str = "000.100.112";
const PENDING: &str = "000.200.000";

/// A merchant, and the receiver of its webhook and its notifications.
struct NotifiedMerchant {
    scene: AcquirerScene,
    receiver: Receiver,
    webhook: Value,
    notification_url: String,
}

impl NotifiedMerchant {
    /// Starts a host and a gateway, and activates a webhook of the merchant. Its test event is already received.
    async fn start() -> anyhow::Result<Self> {
        let scene = AcquirerScene::start(&["--control"], &ARGUMENTS).await?;
        let receiver = Receiver::start().await?;
        let url = receiver.url("events");
        let entity = scene.shop.entity_id.as_str();
        let webhook = scene.gateway.run_command(&["webhook", "create", "--entity", entity, "--url", &url])?;
        let id = webhook["webhookId"].as_str().unwrap_or_default();
        scene.gateway.run_command(&["webhook", "test", "--webhook", id, "--allow-network", "127.0.0.0/8"])?;
        receiver.next_request().await?;
        let notification_url = receiver.url("notify");
        Ok(Self { scene, receiver, webhook, notification_url })
    }

    /// Waits for `count` messages about payments. Returns kind, payment id and result code of each, sorted. A
    /// notification has no code.
    async fn next_messages(&self, count: usize) -> anyhow::Result<Vec<(&'static str, String, String)>> {
        let mut messages = Vec::new();
        for _ in 0..count {
            let request = self.receiver.next_request().await?;
            messages.push(match request.method.as_str() {
                "GET" => ("notification", request.query_parameters()[0].1.clone(), String::new()),
                _ => {
                    let payload = decrypt_event(&self.webhook, &request, &request.body)?["payload"].clone();
                    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    ("webhook", text(&payload["id"]), text(&payload["result"]["code"]))
                }
            });
        }
        messages.sort();
        Ok(messages)
    }

    /// Asserts that no other message is left. Events are sent in order, so the event of one more payment is the next
    /// message; then it waits until none is due.
    async fn assert_silent(&self) -> anyhow::Result<()> {
        let last = self.scene.pay_by_card("1.00", &[]).await?;
        assert_eq!(self.next_messages(1).await?, [("webhook", last.id().to_owned(), PAID.to_owned())]);
        let query = "SELECT count(*) FROM message WHERE due IS NOT NULL";
        poll_until("everything is delivered", async || {
            let left: u32 = open_database(&self.scene.gateway)?.query_row(query, [], |row| row.get(0))?;
            Ok((left == 0).then_some(()))
        })
        .await?;
        assert!(self.receiver.drain_requests().await.is_empty());
        Ok(())
    }

    /// Sends a follow-up payment of 92.00 EUR that is notified to the receiver. Returns any response.
    async fn send_follow_up(&self, payment: &ApiResponse, payment_type: &str) -> anyhow::Result<ApiResponse> {
        let fields = [
            ("paymentType", payment_type),
            ("amount", "92.00"),
            ("currency", "EUR"),
            ("notificationUrl", self.notification_url.as_str()),
        ];
        self.scene.shop.post(&format!("v1/payments/{}", payment.id()), &fields).await
    }
}

/// Returns the messages about a payment as [`NotifiedMerchant::next_messages`] does: one webhook for each code, and
/// this number of notifications.
fn expected_messages(
    payment: &ApiResponse,
    codes: &[&str],
    notifications: usize,
) -> Vec<(&'static str, String, String)> {
    let id = payment.id().to_owned();
    let notified = (0..notifications).map(|_| ("notification", id.clone(), String::new()));
    let mut all: Vec<_> =
        notified.chain(codes.iter().map(|code| ("webhook", id.clone(), (*code).to_owned()))).collect();
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_and_its_follow_ups_are_told_of_once_if_the_host_answers_in_time() -> anyhow::Result<()> {
    let told = NotifiedMerchant::start().await?;
    let paid = told.scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    assert_eq!(told.next_messages(1).await?, expected_messages(&paid, &[PAID], 0));
    let captured = told.send_follow_up(&paid, "CP").await?;
    assert_result(&captured, 200, PAID);
    assert_eq!(told.next_messages(2).await?, expected_messages(&captured, &[PAID], 1));
    let refunded = told.send_follow_up(&captured, "RF").await?;
    assert_eq!(told.next_messages(2).await?, expected_messages(&refunded, &[PAID], 1));
    let declined = told.send_follow_up(&captured, "RF").await?;
    assert_eq!(declined.result_code(), "700.400.200");
    assert_eq!(told.next_messages(2).await?, expected_messages(&declined, &["700.400.200"], 1));
    told.assert_silent().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_was_answered_as_pending_is_told_of_twice() -> anyhow::Result<()> {
    let told = NotifiedMerchant::start().await?;
    let paid = told.scene.pay_by_card("92.00", &[]).await?;
    told.next_messages(1).await?;
    told.scene.host.schedule_fault("refund", "silent", 1).await?;
    let refunded = told.send_follow_up(&paid, "RF").await?;
    assert_result(&refunded, 200, PENDING);
    assert_eq!(told.next_messages(4).await?, expected_messages(&refunded, &[PENDING, PAID], 2));
    told.assert_silent().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_whose_gateway_was_killed_is_told_of_once_it_is_found_out() -> anyhow::Result<()> {
    let mut told = NotifiedMerchant::start().await?;
    let paid = told.scene.pay_by_card("92.00", &[]).await?;
    told.next_messages(1).await?;
    told.scene.host.schedule_fault("refund", "silent", 1).await?;
    let (shop, notify) = (told.scene.shop.clone(), told.notification_url.clone());
    let path = format!("v1/payments/{}", paid.id());
    let asking = tokio::spawn(async move {
        let fields = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR"), ("notificationUrl", &notify)];
        shop.post(&path, &fields).await.map(drop)
    });
    told.scene.wait_until_booked("refund", 1).await?;
    told.scene = told.scene.restart_gateway()?;
    assert!(asking.await?.is_err(), "nobody was answered");
    let events = told.next_messages(2).await?;
    assert_eq!(
        events.iter().map(|(how, _, code)| (*how, code.as_str())).collect::<Vec<_>>(),
        [("notification", ""), ("webhook", PAID)]
    );
    told.assert_silent().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_sends_its_shopper_away_is_told_of_as_pending_and_with_its_outcome() -> anyhow::Result<()> {
    let told = NotifiedMerchant::start().await?;
    let fields = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "PAYPAL"),
        ("testMode", "EXTERNAL"),
        ("notificationUrl", told.notification_url.as_str()),
        crate::payment::asynchronous::BACK,
    ];
    let paid = told.scene.shop.post("v1/payments", &fields).await?;
    assert_eq!(told.next_messages(1).await?, expected_messages(&paid, &[PENDING], 0));
    let url = crate::payment::asynchronous::redirect_url(&paid);
    let request = told.scene.shop.client.post(url).header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(request.body("decision=pay").send().await?.status().as_u16(), 200);
    assert_eq!(told.next_messages(2).await?, expected_messages(&paid, &[PAID], 1));
    told.assert_silent().await
}
