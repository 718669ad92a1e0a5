//! Reconciliation files over HTTP: their days, their bytes, and the entities that may read them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_domain::settlement::reconciliation::file::{format_header, format_lines};
use tillgate_tests::records::{create_record, with_match};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::support::*;

/// A period with every file of a test.
pub const ALWAYS: &str = "date.from=2020-01-01&date.to=2099-12-31";

/// A division with two merchants, of which the first has a channel, and a merchant elsewhere.
pub struct ReconciliationScene {
    pub division: MerchantClient,
    pub bakery: MerchantClient,
    pub channel: MerchantClient,
    pub butcher: MerchantClient,
    pub stranger: MerchantClient,
}

impl ReconciliationScene {
    pub fn create(gateway: &TestGateway) -> anyhow::Result<Self> {
        let division = gateway.create_merchant_with(&["--level", "division"])?;
        let bakery = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
        Ok(Self {
            channel: gateway.create_merchant_with(&["--merchant", &bakery.entity_id])?,
            butcher: gateway.create_merchant_with(&["--parent", &division.entity_id])?,
            stranger: gateway.create_merchant()?,
            bakery,
            division,
        })
    }

    /// Creates a record of the bakery, of its channel, and of the butcher.
    pub fn create_records(&self, date: Date) -> anyhow::Result<[ReconciliationRecord; 3]> {
        let division = Some(&self.division);
        Ok([
            create_record(1, date, (&self.bakery, &self.bakery, division), "1.00")?,
            create_record(2, date, (&self.channel, &self.bakery, division), "2.00")?,
            create_record(3, date, (&self.butcher, &self.butcher, division), "3.00")?,
        ])
    }

    /// Ends the day of each merchant of the division.
    pub async fn end_day(&self) -> anyhow::Result<()> {
        self.bakery.advance_clock("24h").await?;
        self.butcher.advance_clock("24h").await
    }
}

/// Returns the current day in UTC.
pub fn today() -> Date {
    jiff::Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// Returns the name of a file.
pub fn file_name(entity: &MerchantClient, day: Date) -> String {
    format!("reconciliation_{}_{day}.csv", entity.entity_id)
}

/// Returns the listed files of an entity.
pub async fn list_files(client: &MerchantClient) -> anyhow::Result<Vec<Value>> {
    let answer = client.get(&format!("reconciliations/v1/files?{ALWAYS}")).await?;
    assert_result(&answer, 200, "000.000.100");
    assert_envelope(&answer);
    Ok(answer.json["files"].as_array().cloned().unwrap_or_default())
}

/// Waits until so many files of an entity are complete, and returns them.
pub async fn wait_for_files(client: &MerchantClient, count: usize) -> anyhow::Result<Vec<Value>> {
    poll_until("the files are complete", async || {
        let files = list_files(client).await?;
        Ok((files.len() >= count).then_some(files))
    })
    .await
}

/// Returns the bytes of a file with these records.
pub fn expected_file(records: &[ReconciliationRecord]) -> String {
    String::from_utf8_lossy(&[format_header(), format_lines(records).bytes].concat()).into_owned()
}

async fn read_file(client: &MerchantClient, name: &str) -> anyhow::Result<ApiResponse> {
    client.get(&format!("reconciliations/v1/files/{name}")).await
}

#[tokio::test]
async fn a_file_is_complete_when_its_day_is_over_for_every_merchant_and_never_changes() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let scene = ReconciliationScene::create(gateway)?;
    let day = today();
    let records = scene.create_records(day)?;
    gateway.write_records(&records)?;
    gateway.write_records(&[create_record(5, day, (&scene.stranger, &scene.stranger, None), "5.00")?])?;
    assert_eq!(list_files(&scene.division).await?, [] as [Value; 0]);
    // The day is over for one of the two merchants only. Another merchant's file shows that files were completed since.
    scene.bakery.advance_clock("24h").await?;
    scene.stranger.advance_clock("24h").await?;
    wait_for_files(&scene.stranger, 1).await?;
    assert_eq!(list_files(&scene.division).await?, [] as [Value; 0]);
    assert_eq!(read_file(&scene.division, &file_name(&scene.division, day)).await?.status, 404);
    scene.butcher.advance_clock("24h").await?;
    let files = wait_for_files(&scene.division, 1).await?;
    let name = file_name(&scene.division, day);
    let file = read_file(&scene.division, &name).await?;
    assert_eq!((file.status, file.text.as_str()), (200, expected_file(&records).as_str()));
    assert_eq!(
        files,
        [serde_json::json!({ "name": name, "day": day.to_string(), "size": file.text.len(), "records": 3 })]
    );
    assert_eq!(file.headers["content-length"], file.text.len().to_string());
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(file.headers["content-disposition"], format!("attachment; filename=\"{name}\""));

    // A line of the same day comes too late, and another one is matched.
    let matched = with_match(&records[0]);
    let late = create_record(4, day, (&scene.bakery, &scene.bakery, Some(&scene.division)), "4.00")?;
    gateway.write_records(&[matched.clone(), late.clone()])?;
    scene.end_day().await?;
    let files = wait_for_files(&scene.division, 2).await?;
    assert_eq!(read_file(&scene.division, &name).await?.text, file.text);
    let next = files[1]["name"].as_str().unwrap_or_default();
    assert_eq!(next, file_name(&scene.division, day.tomorrow()?));
    // The late line has its own date, in the next file.
    assert_eq!(read_file(&scene.division, next).await?.text, expected_file(&[late]));
    let answer = scene.bakery.get(&format!("reconciliations/v1/records?{ALWAYS}")).await?;
    assert!(answer.text.contains(matched.payment.as_ref().map_or("", |payment| payment.as_str())), "{}", answer.text);
    Ok(())
}

#[tokio::test]
async fn a_merchant_below_a_division_has_files_of_its_own_lines_and_never_sees_another_merchants() -> anyhow::Result<()>
{
    let gateway = TestGateway::shared();
    let scene = ReconciliationScene::create(gateway)?;
    let day = today();
    let records = scene.create_records(day)?;
    gateway.write_records(&records)?;
    scene.end_day().await?;
    let [bakery, channel, butcher] = &records;
    for (client, own) in
        [(&scene.division, &records[..]), (&scene.bakery, &records[..2]), (&scene.butcher, &records[2..])]
    {
        assert_eq!(wait_for_files(client, 1).await?.len(), 1);
        assert_eq!(read_file(client, &file_name(client, day)).await?.text, expected_file(own));
    }
    // The division may also ask for the file of a merchant.
    let of_merchant =
        MerchantClient::new(scene.bakery.base.clone(), scene.bakery.entity_id.clone(), scene.division.token.clone());
    assert_eq!(read_file(&of_merchant, &file_name(&scene.bakery, day)).await?.text, expected_file(&records[..2]));
    let files = scene.channel.get(&format!("reconciliations/v1/files?{ALWAYS}")).await?;
    assert_errors(&files, &["entityId"]);
    let own = scene.channel.get(&format!("reconciliations/v1/records?{ALWAYS}")).await?;
    assert!(own.text.contains(channel.id.as_str()), "{}", own.text);
    assert!(!own.text.contains(bakery.id.as_str()) && !own.text.contains(butcher.id.as_str()), "{}", own.text);

    let missing = read_file(&scene.stranger, &file_name(&scene.stranger, day)).await?;
    assert_eq!(missing.status, 404);
    for thief in [&scene.stranger, &scene.butcher, &scene.channel] {
        for name in [file_name(&scene.bakery, day), file_name(&scene.division, day)] {
            let answer = read_file(thief, &name).await?;
            assert_eq!(comparable_response(&answer), comparable_response(&missing), "{name}");
            let encoded = format!("..%2F{name}");
            assert_eq!(comparable_response(&read_file(thief, &encoded).await?), comparable_response(&missing));
        }
        for owner in [&scene.bakery, &scene.division] {
            let foreign = MerchantClient::new(thief.base.clone(), owner.entity_id.clone(), thief.token.clone());
            for path in [
                format!("reconciliations/v1/files?{ALWAYS}"),
                format!("reconciliations/v1/files/{}", file_name(owner, day)),
                format!("reconciliations/v1/records?{ALWAYS}"),
                format!("reports/v1/reconciliations/aggregations?{ALWAYS}"),
            ] {
                let answer = foreign.get(&path).await?;
                assert_eq!(answer.status, 403, "{path}: {}", answer.text);
            }
        }
        let answer = thief.get(&format!("reconciliations/v1/records?{ALWAYS}")).await?;
        assert!(!answer.text.contains(bakery.id.as_str()), "{}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_channel_that_was_moved_does_not_show_the_lines_of_its_former_merchant() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (old, new) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let channel = gateway.create_merchant_with(&["--merchant", &old.entity_id])?;
    let record = create_record(1, today(), (&channel, &old, None), "1.00")?;
    gateway.write_records(std::slice::from_ref(&record))?;
    gateway.run_command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", &new.entity_id])?;
    let path = format!("reconciliations/v1/records?{ALWAYS}");
    poll_until("the channel is moved", async || {
        let answer = channel.get(&path).await?;
        Ok((answer.status == 200 && answer.text.is_empty()).then_some(()))
    })
    .await?;
    assert_eq!(new.get(&path).await?.text, "");
    // The old merchant was paid for it.
    assert!(old.get(&path).await?.text.contains(record.id.as_str()));
    Ok(())
}

#[tokio::test]
async fn a_file_of_many_pages_has_each_line_once() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let day = today();
    let records: Vec<ReconciliationRecord> =
        (0..1203).map(|number| create_record(number, day, (&shop, &shop, None), "1.00")).collect::<Result<_, _>>()?;
    gateway.write_records(&records)?;
    shop.advance_clock("24h").await?;
    let files = wait_for_files(&shop, 1).await?;
    let mut sorted = records.clone();
    sorted.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(files[0]["records"], 1203);
    assert_eq!(read_file(&shop, &file_name(&shop, day)).await?.text, expected_file(&sorted));
    Ok(())
}
