//! Disputes: stages, deadlines, balances, events, and decisions at the same time.

use std::sync::Arc;

use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form, poll_until};
use tokio::task::JoinSet;

use crate::delivery::webhooks::WebhookScene;
use crate::dispute::evidence::{charge_back, png_file, upload};
use crate::support::*;

pub const REASON: (&str, &str) = ("chargebackResultCode", "000.100.203");

/// A merchant below a division, and the division's token for it.
pub struct DisputeScene {
    pub shop: MerchantClient,
    pub operator: MerchantClient,
}

impl DisputeScene {
    pub fn create() -> anyhow::Result<Self> {
        let gateway = TestGateway::shared();
        let division = gateway.create_merchant_with(&["--level", "division"])?;
        let shop = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
        let operator = MerchantClient { token: division.token, ..shop.clone() };
        Ok(Self { shop, operator })
    }

    /// Pays 92.00 EUR. Returns the id of the payment.
    pub async fn pay(&self) -> anyhow::Result<String> {
        let paid = self.shop.pay_by_card(&[]).await?;
        assert_result(&paid, 200, "000.100.110");
        Ok(paid.id().to_owned())
    }

    pub async fn open(&self, payment: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        self.operator.post("v1/disputes", &[&[("paymentId", payment)], fields].concat()).await
    }

    /// Opens a dispute with a chargeback about a new payment. Returns the id of the dispute.
    pub async fn open_chargeback(&self) -> anyhow::Result<String> {
        let opened = self.open(&self.pay().await?, &[("stage", "CHARGEBACK"), REASON]).await?;
        assert_stage(&opened, "CHARGEBACK", "MERCHANT");
        Ok(opened.id().to_owned())
    }

    pub async fn advance(&self, dispute: &str, stage: &str) -> anyhow::Result<ApiResponse> {
        self.operator.post(&format!("v1/disputes/{dispute}/advance"), &[("stage", stage)]).await
    }

    pub async fn represent(&self, dispute: &str) -> anyhow::Result<ApiResponse> {
        self.shop.post(&format!("v1/disputes/{dispute}/representment"), &[("note", "delivered")]).await
    }

    async fn accept(&self, dispute: &str) -> anyhow::Result<ApiResponse> {
        self.shop.post(&format!("v1/disputes/{dispute}/accept"), &[]).await
    }

    pub async fn read(&self, dispute: &str) -> anyhow::Result<Value> {
        Ok(self.shop.get(&format!("v1/disputes/{dispute}")).await?.json)
    }

    /// Waits until a dispute is at a stage. Returns it.
    async fn wait_for(&self, dispute: &str, stage: &str) -> anyhow::Result<Value> {
        poll_until("the dispute moves", async || {
            let read = self.read(dispute).await?;
            Ok((read["stage"] == stage).then_some(read))
        })
        .await
    }

    /// Returns the balance of the merchant in hundredths of a euro.
    fn balance(&self) -> anyhow::Result<i64> {
        let query =
            "SELECT CAST(coalesce(sum(receivable), 0) AS BIGINT) FROM balance WHERE entity = ?1 AND currency = 'EUR'";
        Ok(open_database(TestGateway::shared())?.query_row(query, [&self.shop.entity_id], |row| row.get(0))?)
    }
}

fn stage_of(answer: &ApiResponse) -> (String, String) {
    let text = |name: &str| answer.json[name].as_str().unwrap_or_default().to_owned();
    (text("stage"), text("turn"))
}

#[track_caller]
pub fn assert_stage(answer: &ApiResponse, stage: &str, turn: &str) {
    assert_result(answer, 200, "000.000.100");
    assert_eq!(stage_of(answer), (stage.to_owned(), turn.to_owned()), "{}", answer.text);
}

#[tokio::test]
async fn a_dispute_goes_from_the_retrieval_request_to_the_reversal_and_the_balance_follows() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let payment = scene.pay().await?;
    let opened = scene.open(&payment, &[("stage", "RETRIEVAL_REQUEST"), ("schemeReasonCode", "10.4")]).await?;
    assert_stage(&opened, "RETRIEVAL_REQUEST", "MERCHANT");
    let id = opened.id().to_owned();
    assert!(opened.json["chargebackId"].is_null() && opened.json["deadline"].is_string(), "{}", opened.text);
    assert_eq!(scene.balance()?, 9200);
    let file = upload(&scene.shop, &format!("v1/disputes/{id}/evidence"), "slip", "image/png", &png_file(9)).await?;
    assert_result(&file, 200, "000.000.100");
    let answered = scene.shop.post(&format!("v1/disputes/{id}/representment"), &[]).await?;
    assert_stage(&answered, "RETRIEVAL_REQUEST", "INSTITUTE");
    let path = format!("v1/disputes/{id}/advance");
    let charged = scene.operator.post(&path, &[("stage", "CHARGEBACK"), REASON, ("amount", "50.00")]).await?;
    assert_stage(&charged, "CHARGEBACK", "MERCHANT");
    assert_eq!((&charged.json["amount"], &charged.json["reason"]["code"]), (&"50.00".into(), &REASON.1.into()));
    assert_eq!(scene.balance()?, 4200);
    assert_stage(&scene.represent(&id).await?, "REPRESENTMENT", "INSTITUTE");
    let won = scene.advance(&id, "REVERSAL").await?;
    assert_stage(&won, "REVERSAL", "NONE");
    assert_eq!(scene.balance()?, 9200);
    let text = |name: &str| won.json[name].as_str().unwrap_or_default().to_owned();
    let chargeback = scene.shop.get(&format!("v1/payments/{}", text("chargebackId"))).await?;
    assert_result(&chargeback, 200, REASON.1);
    assert_eq!((&chargeback.json["paymentType"], &chargeback.json["state"]), (&"CB".into(), &"REVERSED".into()));
    let reversal = scene.shop.get(&format!("v1/payments/{}", text("reversalId"))).await?;
    assert_result(&reversal, 200, "000.100.110");
    assert_eq!((&reversal.json["paymentType"], &reversal.json["amount"]), (&"CR".into(), &"50.00".into()));
    let stages: Vec<&str> =
        won.json["steps"].as_array().into_iter().flatten().filter_map(|step| step["stage"].as_str()).collect();
    assert_eq!(stages, ["RETRIEVAL_REQUEST", "RETRIEVAL_REQUEST", "CHARGEBACK", "REPRESENTMENT", "REVERSAL"]);
    let report = scene.shop.get("reports/v1/chargebacks?date.from=2020-01-01&date.to=2099-12-31").await?;
    let counts = &report.json["brands"][0];
    assert_eq!((&counts["chargebacks"], &counts["chargebackAmount"]), (&1.into(), &"50.00".into()), "{}", report.text);
    assert_eq!((&counts["reversals"], &counts["reversalAmount"]), (&1.into(), &"50.00".into()), "{}", report.text);
    Ok(())
}

#[tokio::test]
async fn a_pre_arbitration_is_won_lost_or_accepted() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    for (ends_with, stage) in [("REVERSAL", "WON"), ("LOST", "LOST"), ("", "ACCEPTED")] {
        let id = scene.open_chargeback().await?;
        assert_stage(&scene.represent(&id).await?, "REPRESENTMENT", "INSTITUTE");
        assert_stage(&scene.advance(&id, "PRE_ARBITRATION").await?, "PRE_ARBITRATION", "MERCHANT");
        let ended = if ends_with.is_empty() {
            scene.accept(&id).await?
        } else {
            // While the merchant's time runs, the institute cannot decide against it.
            assert_eq!(scene.advance(&id, "LOST").await?.status, 409);
            assert_stage(&scene.represent(&id).await?, "PRE_ARBITRATION", "INSTITUTE");
            scene.advance(&id, ends_with).await?
        };
        assert_stage(&ended, stage, "NONE");
        assert_eq!(ended.json["reversalId"].is_string(), stage == "WON", "{}", ended.text);
    }
    Ok(())
}

#[tokio::test]
async fn an_act_that_a_stage_does_not_allow_is_refused_and_changes_nothing() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let retrieval = scene.open(&scene.pay().await?, &[("stage", "RETRIEVAL_REQUEST")]).await?.id().to_owned();
    let chargeback = scene.open_chargeback().await?;
    let contested = scene.open_chargeback().await?;
    assert_stage(&scene.represent(&contested).await?, "REPRESENTMENT", "INSTITUTE");
    let lost = scene.open_chargeback().await?;
    assert_stage(&scene.represent(&lost).await?, "REPRESENTMENT", "INSTITUTE");
    assert_stage(&scene.advance(&lost, "LOST").await?, "LOST", "NONE");
    let won = scene.open_chargeback().await?;
    assert_stage(&scene.advance(&won, "REVERSAL").await?, "REVERSAL", "NONE");
    for (dispute, refused) in [
        (&retrieval, &["PRE_ARBITRATION", "REVERSAL", "LOST", "accept"][..]),
        (&chargeback, &["CHARGEBACK", "PRE_ARBITRATION", "LOST", "CLOSED"]),
        (&contested, &["CHARGEBACK", "CLOSED", "accept", "represent"]),
        (&lost, &["CHARGEBACK", "PRE_ARBITRATION", "LOST", "CLOSED", "accept", "represent"]),
        (&won, &["CHARGEBACK", "PRE_ARBITRATION", "REVERSAL", "LOST", "CLOSED", "accept", "represent"]),
    ] {
        let before = scene.read(dispute).await?["steps"].clone();
        for act in refused {
            let answer = match *act {
                "accept" => scene.accept(dispute).await?,
                "represent" => scene.represent(dispute).await?,
                stage => scene.advance(dispute, stage).await?,
            };
            assert_result(&answer, 409, "800.600.100");
        }
        assert_eq!(scene.read(dispute).await?["steps"], before);
    }
    for stage in ["EXPIRED", "ACCEPTED", "WON", "REPRESENTMENT", "", "lost"] {
        assert_errors(&scene.advance(&contested, stage).await?, &["stage"]);
    }
    let empty = scene.shop.post(&format!("v1/disputes/{chargeback}/representment"), &[]).await?;
    assert_errors(&empty, &["note"]);
    Ok(())
}

#[tokio::test]
async fn only_the_operator_speaks_for_the_institute() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let (id, payment) = (scene.open_chargeback().await?, scene.pay().await?);
    let open = scene.shop.post("v1/disputes", &[("paymentId", &payment), ("stage", "CHARGEBACK"), REASON]).await?;
    assert_eq!(open.status, 403, "{}", open.text);
    for stage in ["REVERSAL", "LOST"] {
        let answer = scene.shop.post(&format!("v1/disputes/{id}/advance"), &[("stage", stage)]).await?;
        assert_eq!(answer.status, 403, "{}", answer.text);
    }
    // A reversal as a payment of its own would credit the merchant, whichever route it takes.
    let chargeback = scene.read(&id).await?["chargebackId"].as_str().unwrap_or_default().to_owned();
    let reversal = [("paymentType", "CR"), ("amount", "92.00"), ("currency", "EUR")];
    let of_payment = [&reversal[..], &[("referencedPaymentId", chargeback.as_str())]].concat();
    let path = format!("v1/payments/{chargeback}");
    for (path, fields) in [(path.as_str(), &reversal[..]), ("v1/payments", &of_payment)] {
        let answer = scene.shop.post(path, fields).await?;
        assert_eq!(answer.status, 403, "{}", answer.text);
    }
    assert_eq!(scene.read(&id).await?["stage"], "CHARGEBACK");
    // Another division's token is no credential for this merchant, and its own merchant has no such dispute.
    let stranger = DisputeScene::create()?.operator;
    let foreign = MerchantClient { entity_id: scene.shop.entity_id.clone(), ..stranger.clone() };
    let reverse = [("stage", "REVERSAL")];
    assert_eq!(foreign.post(&format!("v1/disputes/{id}/advance"), &reverse).await?.status, 403);
    assert_eq!(stranger.post(&format!("v1/disputes/{id}/advance"), &reverse).await?.status, 404);
    assert_eq!(stranger.post("v1/disputes", &[("paymentId", &payment), ("stage", "CHARGEBACK")]).await?.status, 404);
    assert_eq!(stranger.get("v1/disputes?state=all").await?.json["disputes"], serde_json::json!([]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_is_reminded_of_and_ends_the_dispute_with_its_events() -> anyhow::Result<()> {
    let events = WebhookScene::new(&["--types", "DISPUTE"]).await?;
    let shop = &events.shop;
    let id = charge_back(shop, &[]).await?;
    let created = events.expect_event("DISPUTE CREATED").await?;
    assert_eq!((&created["id"], &created["stage"]), (&id.as_str().into(), &"CHARGEBACK".into()));
    // Visa gives 30 days, and the reminder comes 5 days before.
    shop.advance_clock("601h").await?;
    let reminder = events.expect_event("DISPUTE REMINDER").await?;
    assert_eq!((&reminder["stage"], &reminder["deadline"]), (&"CHARGEBACK".into(), &created["deadline"]));
    shop.advance_clock("120h").await?;
    let expired = events.expect_event("DISPUTE UPDATED").await?;
    assert_eq!((&expired["stage"], &expired["turn"]), (&"EXPIRED".into(), &"NONE".into()));
    let late = shop.post(&format!("v1/disputes/{id}/representment"), &[("note", "late")]).await?;
    assert_result(&late, 409, "800.600.100");
    let query = "SELECT json_extract(CAST(document AS TEXT), '$.details.action') FROM audit_entry
         WHERE json_extract(CAST(document AS TEXT), '$.action') = 'dispute' ORDER BY number";
    let database = open_database(&events.gateway)?;
    let actions: Vec<String> = database.prepare(query)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    assert_eq!(actions, ["CHARGE_BACK", "EXPIRE"]);
    events.gateway.run_command(&["audit", "verify"])?;
    Ok(())
}

#[tokio::test]
async fn the_operator_sets_another_deadline_and_an_answer_in_time_stops_it() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let one_day = [("stage", "CHARGEBACK"), ("responseDays", "1")];
    let short = scene.open(&scene.pay().await?, &one_day).await?.id().to_owned();
    let answered = scene.open(&scene.pay().await?, &one_day).await?;
    assert_stage(&scene.represent(answered.id()).await?, "REPRESENTMENT", "INSTITUTE");
    let retrieval = scene.open(&scene.pay().await?, &[("stage", "RETRIEVAL_REQUEST"), one_day[1]]).await?;
    scene.shop.advance_clock("25h").await?;
    let expired = scene.wait_for(&short, "EXPIRED").await?;
    assert!(expired["deadline"].is_null() && expired["endedAt"].is_string(), "{expired}");
    scene.wait_for(retrieval.id(), "EXPIRED").await?;
    assert_eq!(scene.read(answered.id()).await?["stage"], "REPRESENTMENT");
    // The institute may return the amount in spite of that, but not of a retrieval request, which moved none.
    assert_stage(&scene.advance(&short, "REVERSAL").await?, "REVERSAL", "NONE");
    assert_eq!(scene.advance(retrieval.id(), "REVERSAL").await?.status, 409);
    let payment = retrieval.json["paymentId"].as_str().unwrap_or_default();
    assert_stage(&scene.open(payment, &[("stage", "CHARGEBACK")]).await?, "CHARGEBACK", "MERCHANT");
    Ok(())
}

#[tokio::test]
async fn of_decisions_at_the_same_time_exactly_one_wins() -> anyhow::Result<()> {
    let scene = Arc::new(DisputeScene::create()?);
    let payment = scene.pay().await?;
    let mut opened = JoinSet::new();
    for _ in 0..8 {
        let (scene, payment) = (Arc::clone(&scene), payment.clone());
        opened.spawn(async move { scene.open(&payment, &[("stage", "CHARGEBACK"), ("amount", "20.00")]).await });
    }
    let answers: Vec<ApiResponse> = opened.join_all().await.into_iter().collect::<Result<_, _>>()?;
    let won: Vec<&ApiResponse> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!((won.len(), scene.balance()?), (1, 7200));
    let id = won[0].id().to_owned();
    let mut decided = JoinSet::new();
    for number in 0..12 {
        let (scene, id) = (Arc::clone(&scene), id.clone());
        decided.spawn(async move {
            match number % 3 {
                0 => scene.accept(&id).await,
                1 => scene.represent(&id).await,
                _ => scene.advance(&id, "REVERSAL").await,
            }
        });
    }
    let answers: Vec<ApiResponse> = decided.join_all().await.into_iter().collect::<Result<_, _>>()?;
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 409)));
    // The merchant decides at most once, and the amount is returned once.
    let stages: Vec<String> =
        answers.iter().filter(|answer| answer.status == 200).map(|answer| stage_of(answer).0).collect();
    let count = |names: &[&str]| stages.iter().filter(|stage| names.contains(&stage.as_str())).count();
    assert!(count(&["ACCEPTED", "REPRESENTMENT"]) <= 1 && count(&["REVERSAL"]) == 1, "{stages:?}");
    assert_eq!(scene.balance()?, 9200);
    Ok(())
}

#[tokio::test]
async fn the_same_request_with_an_idempotency_key_charges_back_once() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let (payment, operator) = (scene.pay().await?, &scene.operator);
    let entity = ("entityId", operator.entity_id.as_str());
    let body = encode_form([entity, ("paymentId", &payment), ("stage", "CHARGEBACK")]);
    let mut texts = Vec::new();
    for _ in 0..2 {
        let request = operator.bare_request(reqwest::Method::POST, "v1/disputes").bearer_auth(&operator.token);
        let request = request.header("idempotency-key", format!("dispute-{payment}"));
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body.clone());
        let answer = ApiResponse::read_from(request.send().await?).await?;
        assert_stage(&answer, "CHARGEBACK", "MERCHANT");
        texts.push(answer.text);
    }
    assert_eq!(texts[0], texts[1]);
    Ok(())
}

#[tokio::test]
async fn the_operator_opens_advances_lists_and_shows_on_the_command_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[("merchantTransactionId", "order-of-the-dispute")]).await?;
    let query = "v1/query?merchantTransactionId=order-of-the-dispute&includeLinkedTransactions=true";
    // The gateway caches this answer before the command line writes.
    for _ in 0..2 {
        assert!(!shop.get(query).await?.text.contains("\"CB\""));
    }
    let more = ["--reason", "000.100.203", "--scheme-reason", "13.1", "--amount", "12.00", "--note", "not delivered"];
    let open = [&["dispute", "open", &shop.entity_id, paid.id()], &more[..]].concat();
    let opened = gateway.run_command(&open)?;
    let id = opened["disputeId"].as_str().unwrap_or_default();
    assert_eq!((&opened["stage"], &opened["amount"]), (&"CHARGEBACK".into(), &"12.00".into()));
    assert!(gateway.run_command(&open).is_err());
    poll_until("the gateway reads the chargeback", async || {
        Ok(shop.get(query).await?.text.contains("\"CB\"").then_some(()))
    })
    .await?;
    let listed = gateway.run_command(&["dispute", "list", &shop.entity_id])?;
    assert_eq!(listed["disputes"][0]["disputeId"], id);
    for stage in ["lost", "never"] {
        assert!(gateway.run_command(&["dispute", "advance", id, stage]).is_err());
    }
    let represented = shop.post(&format!("v1/disputes/{id}/representment"), &[("note", "it was")]).await?;
    assert_stage(&represented, "REPRESENTMENT", "INSTITUTE");
    let won = gateway.run_command(&["dispute", "advance", id, "reversal"])?;
    assert_eq!(won["stage"], "REVERSAL");
    let shown = gateway.run_command(&["dispute", "show", id])?;
    assert_eq!(shown["steps"].as_array().map(Vec::len), Some(3));
    assert!(shown["steps"][0]["actor"].is_string() && shown["steps"][0]["note"] == "not delivered", "{shown}");
    assert_eq!(gateway.run_command(&["dispute", "list", &shop.entity_id])?["disputes"], serde_json::json!([]));
    assert_eq!(shop.get(&format!("v1/disputes/{id}")).await?.json["reversalId"], won["reversalId"]);
    Ok(())
}
