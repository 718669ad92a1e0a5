//! Schedules: created, changed, ended and read. Their runs are tested in `schedule::runs`.

use serde_json::Value;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway};

use crate::payment::idempotency::post_with_key;
use crate::support::*;

pub const SCHEDULES: &str = "scheduling/v1/schedules";
pub const AGREEMENT: [(&str, &str); 2] =
    [("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")];
const ORDER: [(&str, &str); 3] = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "SD")];
const DAILY: [(&str, &str); 1] = [("job.expression", "0 0 12 * * ?")];

/// Stores a card with a standing instruction. Returns the id of the registration.
pub async fn register_card(shop: &MerchantClient, terms: &[(&str, &str)]) -> anyhow::Result<String> {
    let stored = shop.post("v1/registrations", &[&CARD, &AGREEMENT[..], terms].concat()).await?;
    assert_result(&stored, 200, "000.100.110");
    Ok(stored.id().to_owned())
}

/// Creates a schedule of a registration. Returns any response.
pub async fn create_schedule(
    shop: &MerchantClient,
    registration: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let defaults = ORDER.iter().filter(|(name, _)| !fields.iter().any(|(sent, _)| sent == name));
    let all: Vec<_> =
        defaults.copied().chain([("registrationId", registration)]).chain(fields.iter().copied()).collect();
    shop.post(SCHEDULES, &all).await
}

/// Reads a schedule by the id of a request of its chain.
pub async fn read_schedule(shop: &MerchantClient, id: &str) -> anyhow::Result<ApiResponse> {
    let found = shop.get(&format!("{SCHEDULES}/{id}")).await?;
    assert_result(&found, 200, "000.000.100");
    Ok(found)
}

/// Returns the previewed runs of a schedule.
fn next_runs(answer: &ApiResponse) -> Vec<&str> {
    answer.json["plan"]["nextRuns"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn a_schedule_is_changed_and_ended_in_a_chain_with_one_live_request() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let registration = register_card(&shop, &[]).await?;
    let more =
        [("job.name", "Rent"), ("job.dayOfMonth", "15"), ("job.hour", "06"), ("merchantTransactionId", "rent-2027")];
    let created = create_schedule(&shop, &registration, &more).await?;
    assert_result(&created, 200, "000.000.100");
    assert_envelope(&created);
    assert_eq!((&created.json["paymentType"], &created.json["plan"]["active"]), (&"SD".into(), &true.into()));
    assert_eq!((&created.json["job"]["name"], &created.json["amount"]), (&"Rent".into(), &"12.00".into()));
    let runs = next_runs(&created);
    assert!(runs.len() == 5 && runs.iter().all(|run| run.ends_with("-15 06:00:00+0000")), "{runs:?}");

    let path = format!("{SCHEDULES}/{}/reschedule", created.id());
    let changed = shop.post(&path, &[("paymentType", "RS"), ("amount", "13.50"), ("job.dayOfWeek", "2")]).await?;
    assert_result(&changed, 200, "000.000.100");
    assert_eq!((&changed.json["paymentType"], &changed.json["amount"]), (&"RS".into(), &"13.50".into()));
    assert_eq!((&changed.json["job"]["name"], &changed.json["currency"]), (&"Rent".into(), &"EUR".into()));
    // The new time replaces all times, so the hour is not 6 any more.
    assert!(next_runs(&changed).iter().all(|run| run.ends_with(" 00:00:00+0000")), "{}", changed.text);
    assert_eq!(changed.json["referencedId"], created.id());

    let first = read_schedule(&shop, created.id()).await?;
    assert_eq!((&first.json["id"], &first.json["plan"]["active"]), (&created.id().into(), &false.into()));
    let second = read_schedule(&shop, changed.id()).await?;
    assert_eq!(second.json["plan"]["active"], true);
    let types: Vec<&Value> =
        second.json["chain"].as_array().into_iter().flatten().map(|step| &step["paymentType"]).collect();
    assert_eq!(types, ["RS", "SD"]);

    // Any id of the chain will do.
    let ended = shop.post(&format!("{SCHEDULES}/{}/deschedule", created.id()), &[("paymentType", "DS")]).await?;
    assert_result(&ended, 200, "000.000.100");
    assert_eq!((&ended.json["plan"]["active"], &ended.json["plan"]["ended"]), (&false.into(), &"DESCHEDULED".into()));
    assert!(next_runs(&ended).is_empty());
    for (action, code) in [("reschedule", "100.360.300"), ("deschedule", "100.360.303")] {
        assert_result(&shop.post(&format!("{SCHEDULES}/{}/{action}", ended.id()), &[]).await?, 400, code);
    }
    let listed = read_schedule(&shop, &registration).await?;
    assert_eq!(listed.json["schedules"][0]["id"], ended.id());
    assert_eq!(listed.json["schedules"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[tokio::test]
async fn the_older_delete_ends_a_schedule_too_and_debits_are_taken_as_schedules() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let registration = register_card(&shop, &[]).await?;
    let created = create_schedule(&shop, &registration, &[DAILY[0], ("paymentType", "DB")]).await?;
    assert_result(&created, 200, "000.000.100");
    assert_eq!(created.json["paymentType"], "SD");
    let path = format!("{SCHEDULES}/{}?entityId={}", created.id(), shop.entity_id);
    let request = shop.bare_request(reqwest::Method::DELETE, &path).bearer_auth(&shop.token);
    let ended = ApiResponse::read_from(request.send().await?).await?;
    assert_result(&ended, 200, "000.000.100");
    assert_eq!((&ended.json["paymentType"], &ended.json["plan"]["active"]), (&"DS".into(), &false.into()));
    Ok(())
}

#[tokio::test]
async fn what_could_not_run_is_refused_by_name() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let registration = register_card(&shop, &[]).await?;
    for (fields, code, name) in [
        (&[][..], "100.250.100", "job.expression"),
        (&[("job.name", "Rent")], "100.250.100", "job.expression"),
        (&[("job.dayOfWeek", "0")], "100.250.125", "job.dayOfWeek"),
        (&[("job.expression", "0 0 9 ? * 0")], "100.250.120", "job.expression"),
        (&[("job.expression", "0 0 9 30 2 ?")], "100.250.120", "job.expression"),
        (&[("job.expression", "0 9 1 * *")], "100.250.120", "job.expression"),
        (&[("job.year", "2020")], "100.250.120", "job.year"),
        (&[("job.hour", "06"), ("job.endDate", "2020-01-01 00:00:00")], "100.250.120", "job.hour"),
        (&[("job.hour", "06"), ("job.noticeNumber", "1")], "100.250.107", "job.noticeUnit"),
        (&[("job.hour", "06"), ("job.durationUnit", "DAY")], "100.250.106", "job.durationNumber"),
        (&[("job.hour", "06"), ("job.noticeCallable", "DURATION_END")], "100.250.106", "job.durationNumber"),
        (&[("job.hour", "06"), ("job.missedRuns", "LATER")], "200.300.404", "job.missedRuns"),
        (&[("job.dayOfMonth", "01"), ("job.dayOfWeek", "1")], "200.300.404", "job.dayOfWeek"),
        (&[("job.hour", "06"), ("card.cvv", "123")], "200.300.404", "card.cvv"),
        (&[("job.hour", "06"), ("card.holder", "Jo")], "200.300.404", "card.holder"),
        (&[("job.hour", "06"), AGREEMENT[0]], "200.300.404", "standingInstruction.mode"),
        (&[("job.hour", "06"), ("amount", "12.50"), ("currency", "JPY")], "200.300.404", "amount"),
        (&[("job.hour", "06"), ("paymentType", "PA")], "200.300.404", "paymentType"),
    ] {
        let refused = create_schedule(&shop, &registration, fields).await?;
        assert_result(&refused, 400, code);
        assert_eq!(refused.invalid_parameters(), [name], "{}", refused.text);
    }
    // Without an agreement with the cardholder every run would be refused.
    let plain = shop.post("v1/registrations", &CARD).await?;
    assert_errors(&create_schedule(&shop, plain.id(), &DAILY).await?, &["registrationId"]);
    let stranger = other_shop();
    let foreign = create_schedule(&stranger, &registration, &DAILY).await?;
    assert_eq!((foreign.status, foreign.invalid_parameters()), (400, vec!["registrationId"]), "{}", foreign.text);
    Ok(())
}

#[tokio::test]
async fn times_are_those_of_the_entitys_zone_and_a_skipped_one_is_after_the_gap() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--time-zone", "Europe/Berlin"])?;
    let registration = register_card(&shop, &[]).await?;
    // The last Sunday of March, when 02:00 to 03:00 does not exist, and that of October, when it exists twice.
    for (expression, expected) in [
        ("0 30 2 ? 3 1L 2090", "2090-03-26 03:00:00+0200"),
        ("0 30 2 ? 10 1L 2090", "2090-10-29 02:30:00+0200"),
        ("0 30 3 ? 10 1L 2090", "2090-10-29 03:30:00+0100"),
    ] {
        let created = create_schedule(&shop, &registration, &[("job.expression", expression)]).await?;
        assert_result(&created, 200, "000.000.100");
        assert_eq!(next_runs(&created), [expected]);
        assert_eq!(created.json["plan"]["timeZone"], "Europe/Berlin");
    }
    let window = [("job.hour", "06"), ("job.startDate", "2090-07-01 07:00:00"), ("job.endDate", "2090-07-03 06:00:00")];
    let created = create_schedule(&shop, &registration, &window).await?;
    assert_eq!(next_runs(&created), ["2090-07-02 06:00:00+0200", "2090-07-03 06:00:00+0200"]);
    Ok(())
}

#[tokio::test]
async fn a_schedule_with_a_notice_runs_until_that_is_over() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    let notice = [DAILY[0], ("job.noticeNumber", "3"), ("job.noticeUnit", "DAY"), ("job.noticeCallable", "ANYTIME")];
    let created = create_schedule(&shop, &registration, &notice).await?;
    let ended = shop.post(&format!("{SCHEDULES}/{}/deschedule", created.id()), &[]).await?;
    assert_result(&ended, 200, "000.000.100");
    assert_eq!((&ended.json["plan"]["active"], next_runs(&ended).len()), (&true.into(), 3), "{}", ended.text);
    let again = shop.post(&format!("{SCHEDULES}/{}/deschedule", ended.id()), &[]).await?;
    assert_result(&again, 400, "100.360.303");
    // A reschedule revokes it.
    let resumed = shop.post(&format!("{SCHEDULES}/{}/reschedule", ended.id()), &[]).await?;
    assert_eq!((next_runs(&resumed).len(), &resumed.json["plan"]["endsAt"]), (5, &Value::Null), "{}", resumed.text);
    Ok(())
}

#[tokio::test]
async fn a_duration_ends_only_at_its_end_and_the_refusal_has_the_date() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    let terms = [
        DAILY[0],
        ("job.startDate", "2089-12-31 00:00:00"),
        ("job.durationNumber", "12"),
        ("job.durationUnit", "MONTH"),
        ("job.noticeCallable", "DURATION_END"),
        ("job.noticeNumber", "1"),
        ("job.noticeUnit", "MONTH"),
    ];
    let created = create_schedule(&shop, &registration, &terms).await?;
    assert_result(&created, 200, "000.000.100");
    let path = format!("{SCHEDULES}/{}/deschedule", created.id());
    let refused = shop.post(&path, &[]).await?;
    assert_result(&refused, 400, "100.360.303");
    assert_eq!(refused.invalid_parameters(), ["job.noticeCallable"]);
    let message = parameter_error(&refused, "job.noticeCallable")["message"].clone();
    let message = message.as_str().unwrap_or_default();
    assert!(message.contains("ends at 2090-12-31 00:00:00") && message.contains("from 2090-11-30"), "{message}");
    // A short duration that is in its last day can end, and does so with it.
    let short = [
        ("job.hour", "*"),
        ("job.durationNumber", "6"),
        ("job.durationUnit", "HOUR"),
        ("job.noticeCallable", "DURATION_END"),
    ];
    let created = create_schedule(&shop, &registration, &short).await?;
    let ended = shop.post(&format!("{SCHEDULES}/{}/deschedule", created.id()), &[]).await?;
    assert_result(&ended, 200, "000.000.100");
    assert!(matches!(next_runs(&ended).len(), 5 | 6) && ended.json["plan"]["endsAt"].is_string(), "{}", ended.text);
    Ok(())
}

#[tokio::test]
async fn a_request_that_is_repeated_with_its_key_makes_one_schedule() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let registration = register_card(&shop, &[]).await?;
    let fields = [&ORDER[..], &DAILY, &[("registrationId", registration.as_str())]].concat();
    let first = post_with_key(&shop, SCHEDULES, "schedule-once", &fields).await?;
    assert_result(&first, 200, "000.000.100");
    assert_eq!(post_with_key(&shop, SCHEDULES, "schedule-once", &fields).await?.text, first.text);
    let path = format!("{SCHEDULES}/{}/reschedule", first.id());
    let changed = post_with_key(&shop, &path, "change-once", &[("amount", "7.00")]).await?;
    assert_eq!(post_with_key(&shop, &path, "change-once", &[("amount", "7.00")]).await?.text, changed.text);
    let listed = read_schedule(&shop, &registration).await?;
    let schedules = listed.json["schedules"].as_array().cloned().unwrap_or_default();
    assert_eq!(schedules.iter().map(|schedule| &schedule["id"]).collect::<Vec<_>>(), [changed.id()]);
    let chain = read_schedule(&shop, first.id()).await?.json["chain"].as_array().map(Vec::len);
    assert_eq!(chain, Some(2));
    Ok(())
}

#[tokio::test]
async fn fifty_changes_at_once_leave_one_live_request() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let registration = register_card(&shop, &[]).await?;
    let created = create_schedule(&shop, &registration, &DAILY).await?;
    let path = format!("{SCHEDULES}/{}/reschedule", created.id());
    let tasks: Vec<_> = (1..=50)
        .map(|number| {
            let (shop, path) = (shop.clone(), path.clone());
            tokio::spawn(async move { shop.post(&path, &[("amount", &format!("{number}.00"))]).await })
        })
        .collect();
    for task in tasks {
        assert_result(&task.await??, 200, "000.000.100");
    }
    let chain = read_schedule(&shop, created.id()).await?.json["chain"].as_array().cloned().unwrap_or_default();
    assert_eq!((chain.len(), chain.iter().filter(|step| step["active"] == true).count()), (51, 1));
    Ok(())
}

#[tokio::test]
async fn a_registration_has_a_limited_number_of_active_schedules() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let registration = register_card(&shop, &[]).await?;
    let mut last = String::new();
    for _ in 0..100 {
        let created = create_schedule(&shop, &registration, &DAILY).await?;
        assert_result(&created, 200, "000.000.100");
        last = created.id().to_owned();
    }
    assert_errors(&create_schedule(&shop, &registration, &DAILY).await?, &["registrationId"]);
    assert_result(&shop.post(&format!("{SCHEDULES}/{last}/deschedule"), &[]).await?, 200, "000.000.100");
    assert_result(&create_schedule(&shop, &registration, &DAILY).await?, 200, "000.000.100");
    Ok(())
}
