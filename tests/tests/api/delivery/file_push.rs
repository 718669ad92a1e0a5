//! Reconciliation files that are pushed to real servers: pyftpdlib with and without TLS, and OpenSSH.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::Context as _;
use jiff::civil::Date;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::push::{
    FtpReceiver, FtpReceiverOptions, PASSWORD, PasswordSftpReceiver, SftpReceiver, TestAuthority, USER, list_names,
    write_file,
};
use tillgate_tests::records::create_record;
use tillgate_tests::{Database, MerchantClient, TestGateway, poll_until};

use crate::settlement::reconciliation_files::{expected_file, file_name, today, wait_for_files};

/// Arguments of a gateway that may connect to servers of this machine.
pub const LOCAL: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// Returns the gateway of these tests. The first call starts it.
pub fn push_gateway() -> &'static TestGateway {
    static SHARED: OnceLock<TestGateway> = OnceLock::new();
    SHARED.get_or_init(|| match TestGateway::start_with(&LOCAL) {
        Ok(gateway) => gateway,
        Err(error) => panic!("no gateway: {error:#}"),
    })
}

/// Sets the server of a merchant.
pub fn set_server(gateway: &TestGateway, shop: &MerchantClient, url: &str, options: &[&str]) -> anyhow::Result<Value> {
    gateway.run_command(&[&["file-push", "set", "--entity", &shop.entity_id, "--url", url], options].concat())
}

/// Sets a server with a password.
pub fn set_server_with_password(
    gateway: &TestGateway,
    shop: &MerchantClient,
    url: &str,
    options: &[&str],
) -> anyhow::Result<Value> {
    let folder = TempDir::new()?;
    let password = write_file(folder.path(), "password", &format!("{PASSWORD}\n"))?.display().to_string();
    set_server(gateway, shop, url, &[&["--password-file", &password], options].concat())
}

/// Returns the address of a folder at a plain FTP server of this machine.
pub fn ftp_url(port: u16) -> String {
    format!("ftp://{USER}@127.0.0.1:{port}/")
}

/// Completes a file of a merchant with so many records of a day. Returns its name and content.
pub async fn complete_file(
    gateway: &TestGateway,
    shop: &MerchantClient,
    day: Date,
    records: u32,
) -> anyhow::Result<(String, String)> {
    let mut all = Vec::new();
    for number in 0..records {
        all.push(create_record(number, day, (shop, shop, None), "1.00")?);
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    gateway.write_records(&all)?;
    let name = file_name(shop, day);
    let is_there = |files: &[Value]| files.iter().any(|file| file["name"] == name.as_str());
    let before = wait_for_files(shop, 0).await?.len();
    shop.advance_clock("24h").await?;
    let files = wait_for_files(shop, before + 1).await?;
    anyhow::ensure!(is_there(&files), "{files:?}");
    Ok((name, expected_file(&all)))
}

/// Waits until the delivery of a merchant's latest file has a state. Returns it.
pub async fn wait_for_state(gateway: &TestGateway, shop: &MerchantClient, state: &str) -> anyhow::Result<Value> {
    poll_until(&format!("the file is {state}"), async || {
        let delivery = read_status(gateway, shop)?.get(0).cloned().unwrap_or_default();
        Ok((delivery["state"] == state).then_some(delivery))
    })
    .await
}

/// Waits until an attempt to send a merchant's latest file has failed. Returns the reason.
pub async fn wait_for_fault(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<String> {
    poll_until("an attempt has failed", async || {
        let status = read_status(gateway, shop)?;
        Ok(status[0]["fault"].as_str().map(str::to_owned))
    })
    .await
}

/// Waits until a merchant's latest file is sent, or an attempt has failed. Returns the delivery.
pub async fn wait_for_attempt(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<Value> {
    poll_until("the file is sent, or an attempt has failed", async || {
        let delivery = read_status(gateway, shop)?.get(0).cloned().unwrap_or_default();
        Ok((delivery["state"] == "sent" || delivery["fault"].is_string()).then_some(delivery))
    })
    .await
}

/// Returns the deliveries of a merchant, the latest day first.
pub fn read_status(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<Value> {
    gateway.run_command(&["file-push", "status", "--entity", &shop.entity_id])
}

#[track_caller]
fn assert_received(folder: &Path, files: &[(&str, &str)]) {
    let names: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(list_names(folder).unwrap_or_default(), names);
    for (name, content) in files {
        assert!(std::fs::read_to_string(folder.join(name)).is_ok_and(|received| received == *content), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_pushed_over_ftps_as_soon_as_it_is_complete() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let authority = TestAuthority::create()?;
    let (certificate, key) = authority.certificate_and_key();
    let options = FtpReceiverOptions { certificate: Some((&certificate, &key)), ..FtpReceiverOptions::default() };
    let receiver = FtpReceiver::start(&options)?;
    std::fs::create_dir_all(receiver.folder().join("in box/daily"))?;
    let shop = gateway.create_merchant()?;
    let url = format!("ftps://{USER}@localhost:{}/in%20box/daily/", receiver.port);
    let ca = authority.ca().display().to_string();
    let saved = set_server_with_password(gateway, &shop, &url, &["--ca-file", &ca])?;
    assert_eq!((&saved["entityId"], &saved["waiting"]), (&shop.entity_id.as_str().into(), &0.into()));
    // More than one page of records, and more than one part.
    let (name, content) = complete_file(gateway, &shop, today(), 1203).await?;
    let delivery = wait_for_state(gateway, &shop, "sent").await?;
    assert_eq!((&delivery["failures"], &delivery["fault"]), (&0.into(), &Value::Null), "{delivery}");
    assert_received(&receiver.folder().join("in box/daily"), &[(&name, &content)]);
    let over_https = shop.get(&format!("reconciliations/v1/files/{name}")).await?;
    assert!(over_https.text == content);
    // A receiver sees no part of a file under the final name.
    assert_eq!(receiver.commands("STOR"), [format!(".{name}.part")]);
    poll_until("the server has logged the name", async || Ok(receiver.commands("RNTO").pop())).await?;
    assert_eq!(receiver.commands("RNTO"), [name.as_str()]);
    let listed = gateway.run_command(&["file-push", "list", "--entity", &shop.entity_id])?;
    assert_eq!((&listed[0]["url"], &listed[0]["waiting"], &listed[0]["failed"]), (&url.into(), &0.into(), &0.into()));
    gateway.wait_for_log(&format!("\"file\":\"{name}\"")).await?;
    for text in [gateway.read_log(), listed.to_string(), delivery.to_string()] {
        assert!(!text.contains(PASSWORD), "{text}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_pushed_over_sftp_and_replaces_one_that_a_crash_has_left() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let receiver = SftpReceiver::start()?;
    let shop = gateway.create_merchant()?;
    let (key, host_key) = (receiver.user_key().display().to_string(), receiver.host_key()?);
    let options = ["--private-key-file", &key, "--host-key", &host_key];
    set_server(gateway, &shop, &receiver.url(), &options)?;
    let (name, content) = complete_file(gateway, &shop, today(), 1203).await?;
    wait_for_state(gateway, &shop, "sent").await?;
    assert_received(&receiver.files(), &[(&name, &content)]);
    // The next file goes to the same server. A file of the same size is already there.
    let tomorrow = today().tomorrow()?;
    let next = file_name(&shop, tomorrow);
    let length = expected_file(&[create_record(0, tomorrow, (&shop, &shop, None), "1.00")?]).len();
    write_file(&receiver.files(), &next, &"x".repeat(length))?;
    write_file(&receiver.files(), &format!(".{next}.part"), &"y".repeat(length * 2))?;
    let (_, next_content) = complete_file(gateway, &shop, tomorrow, 1).await?;
    wait_for_state(gateway, &shop, "sent").await?;
    assert_received(&receiver.files(), &[(&name, &content), (&next, &next_content)]);
    // A file of another size is somebody else's.
    let third = file_name(&shop, tomorrow.tomorrow()?);
    write_file(&receiver.files(), &third, "a different file")?;
    let (_, third_content) = complete_file(gateway, &shop, tomorrow.tomorrow()?, 1).await?;
    let fault = wait_for_fault(gateway, &shop).await?;
    assert!(fault.contains("there is a file of another size with its name"), "{fault}");
    assert_eq!(std::fs::read_to_string(receiver.files().join(&third))?, "a different file");
    std::fs::remove_file(receiver.files().join(&third))?;
    let retried = gateway.run_command(&["file-push", "retry", "--entity", &shop.entity_id])?;
    assert_eq!(retried["files"], 1);
    wait_for_state(gateway, &shop, "sent").await?;
    assert_received(&receiver.files(), &[(&name, &content), (&next, &next_content), (&third, &third_content)]);
    let log = gateway.read_log();
    assert!(!log.contains("PRIVATE KEY"), "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_pushed_over_sftp_with_a_password() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let receiver = PasswordSftpReceiver::start()?;
    let shop = gateway.create_merchant()?;
    let url = format!("sftp://{USER}@127.0.0.1:{}/", receiver.port);
    let options = ["--host-key", receiver.host_key.as_str()];
    set_server_with_password(gateway, &shop, &url, &options)?;
    let (name, content) = complete_file(gateway, &shop, today(), 1203).await?;
    wait_for_state(gateway, &shop, "sent").await?;
    assert_received(receiver.folder(), &[(&name, &content)]);
    // The file is sent again. This server replaces no file by itself.
    let day = today().to_string();
    gateway.run_command(&["file-push", "retry", "--entity", &shop.entity_id, "--day", &day])?;
    poll_until("the file is sent again", async || Ok((receiver.count_logins() == 2).then_some(()))).await?;
    wait_for_state(gateway, &shop, "sent").await?;
    assert_received(receiver.folder(), &[(&name, &content)]);
    // Another user has no access, and the password is tried once only.
    let other = url.replace(USER, "mallory");
    set_server_with_password(gateway, &shop, &other, &[&options[..], &["--from", &day]].concat())?;
    let fault = wait_for_fault(gateway, &shop).await?;
    assert_eq!(fault, "login: the server refused it with wrong user, password or key");
    assert_eq!(receiver.count_logins(), 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn earlier_files_are_sent_from_a_day_on_in_the_order_of_their_days() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let shop = gateway.create_merchant()?;
    let mut day = today();
    let mut files = Vec::new();
    for _ in 0..4 {
        files.push(complete_file(gateway, &shop, day, 1).await?);
        day = day.tomorrow()?;
    }
    let receiver = FtpReceiver::start(&FtpReceiverOptions::default())?;
    let from = today().tomorrow()?.to_string();
    let saved = set_server_with_password(gateway, &shop, &ftp_url(receiver.port), &["--from", &from])?;
    assert_eq!(saved["waiting"], 3);
    wait_for_state(gateway, &shop, "sent").await?;
    let expected: Vec<(&str, &str)> = files[1..].iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_received(receiver.folder(), &expected);
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    // The server writes its log after it has answered.
    let are_logged = async || Ok((receiver.commands("RNTO").len() >= names.len()).then_some(()));
    poll_until("the server has logged the names", are_logged).await?;
    assert_eq!(receiver.commands("RNTO"), names);
    // One day is sent again, although the server has it.
    std::fs::remove_file(receiver.folder().join(&files[2].0))?;
    let day = today().tomorrow()?.tomorrow()?.to_string();
    gateway.run_command(&["file-push", "retry", "--entity", &shop.entity_id, "--day", &day])?;
    poll_until("the file is there again", async || Ok(receiver.folder().join(&files[2].0).exists().then_some(())))
        .await?;
    assert_received(receiver.folder(), &expected);
    assert!(gateway.run_command(&["file-push", "retry", "--entity", &shop.entity_id, "--day", "2001-01-01"]).is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_gets_its_files_later_and_delays_no_other() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let (down, up) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let receiver = FtpReceiver::start(&FtpReceiverOptions::default())?;
    // The port was free just now, so a connection to it is refused.
    let closed = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    set_server_with_password(gateway, &down, &ftp_url(closed), &[])?;
    set_server_with_password(gateway, &up, &ftp_url(receiver.port), &[])?;
    let (late, late_content) = complete_file(gateway, &down, today(), 1).await?;
    let (name, content) = complete_file(gateway, &up, today(), 1).await?;
    let fault = wait_for_fault(gateway, &down).await?;
    assert!(fault.contains("the connection failed"), "{fault}");
    wait_for_state(gateway, &up, "sent").await?;
    assert_received(receiver.folder(), &[(&name, &content)]);
    let waiting = read_status(gateway, &down)?[0].clone();
    assert_eq!((&waiting["state"], &waiting["failures"]), (&"waiting".into(), &1.into()));
    assert!(waiting["next"].as_str() > waiting["tried"].as_str(), "{waiting}");
    // The merchant moves to a server that works. Files that wait go there at once.
    let moved = FtpReceiver::start(&FtpReceiverOptions::default())?;
    assert_eq!(set_server_with_password(gateway, &down, &ftp_url(moved.port), &[])?["waiting"], 1);
    wait_for_state(gateway, &down, "sent").await?;
    assert_received(moved.folder(), &[(&late, &late_content)]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_upload_and_rename_leaves_one_file_with_its_final_name() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOCAL)?;
    let options = FtpReceiverOptions { stalled_command: Some("RNFR"), ..FtpReceiverOptions::default() };
    let receiver = FtpReceiver::start(&options)?;
    let shop = gateway.create_merchant()?;
    set_server_with_password(&gateway, &shop, &ftp_url(receiver.port), &[])?;
    let (name, content) = complete_file(&gateway, &shop, today(), 3).await?;
    poll_until("the rename begins", async || Ok((!receiver.commands("RNFR").is_empty()).then_some(()))).await?;
    assert_eq!(list_names(receiver.folder())?, [format!(".{name}.part")]);
    let gateway = gateway.kill_and_restart(&LOCAL)?;
    wait_for_state(&gateway, &shop, "sent").await?;
    assert_received(receiver.folder(), &[(&name, &content)]);
    assert_eq!((receiver.commands("STOR").len(), receiver.commands("RNTO").len()), (2, 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_division_has_its_own_server_and_a_removed_one_gets_nothing_more() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let division = gateway.create_merchant_with(&["--level", "division"])?;
    let shop = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
    let receiver = FtpReceiver::start(&FtpReceiverOptions::default())?;
    set_server_with_password(gateway, &division, &ftp_url(receiver.port), &[])?;
    let record = create_record(1, today(), (&shop, &shop, Some(&division)), "1.00")?;
    gateway.write_records(std::slice::from_ref(&record))?;
    shop.advance_clock("24h").await?;
    wait_for_state(gateway, &division, "sent").await?;
    // The merchant below has a file, too, and no server.
    assert_received(receiver.folder(), &[(&file_name(&division, today()), &expected_file(&[record]))]);
    assert!(read_status(gateway, &shop).is_err_and(|error| error.to_string().contains("no files of")));
    gateway.run_command(&["file-push", "remove", "--entity", &division.entity_id])?;
    assert!(gateway.run_command(&["file-push", "remove", "--entity", &division.entity_id]).is_err());
    let tomorrow = today().tomorrow()?;
    gateway.write_records(&[create_record(2, tomorrow, (&shop, &shop, Some(&division)), "1.00")?])?;
    shop.advance_clock("24h").await?;
    wait_for_files(&division, 2).await?;
    // Another server shows that later files were sent since.
    let other = gateway.create_merchant()?;
    let (from, url) = (today().to_string(), ftp_url(receiver.port));
    complete_file(gateway, &other, today(), 1).await?;
    set_server_with_password(gateway, &other, &url, &["--from", &from])?;
    wait_for_state(gateway, &other, "sent").await?;
    assert_eq!(list_names(receiver.folder())?.len(), 2);
    let listed = gateway.run_command(&["file-push", "list"])?;
    let listed = listed.as_array().context("a list")?;
    assert!(!listed.iter().any(|target| target["entityId"] == division.entity_id.as_str()), "{listed:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_given_up_after_the_last_attempt_and_sent_again_on_request() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOCAL)?;
    let closed = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let shop = gateway.create_merchant()?;
    set_server_with_password(&gateway, &shop, &ftp_url(closed), &[])?;
    let (name, content) = complete_file(&gateway, &shop, today(), 1).await?;
    wait_for_fault(&gateway, &shop).await?;
    // All attempts of a month but the last one have failed.
    let database = Database::open(&gateway.data_folder())?;
    database.execute("UPDATE file_delivery SET failures = 37, due = 0", [])?;
    let given_up = wait_for_state(&gateway, &shop, "failed").await?;
    assert_eq!((&given_up["failures"], &given_up["next"]), (&38.into(), &Value::Null), "{given_up}");
    let listed = gateway.run_command(&["file-push", "list"])?;
    assert_eq!((&listed[0]["waiting"], &listed[0]["failed"]), (&0.into(), &1.into()));
    gateway.wait_for_log("is given up").await?;
    let receiver = FtpReceiver::start(&FtpReceiverOptions::default())?;
    assert_eq!(set_server_with_password(&gateway, &shop, &ftp_url(receiver.port), &[])?["waiting"], 0);
    assert_eq!(gateway.run_command(&["file-push", "retry", "--entity", &shop.entity_id])?["files"], 1);
    wait_for_state(&gateway, &shop, "sent").await?;
    assert_received(receiver.folder(), &[(&name, &content)]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_that_is_moved_to_a_level_without_files_sends_none() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let closed = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let shop = gateway.create_merchant()?;
    set_server_with_password(gateway, &shop, &ftp_url(closed), &[])?;
    complete_file(gateway, &shop, today(), 1).await?;
    wait_for_fault(gateway, &shop).await?;
    gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--level", "psp"])?;
    // The gateway knows the new level a little later.
    let delivery = poll_until("the delivery ends", async || {
        gateway.run_command(&["file-push", "retry", "--entity", &shop.entity_id])?;
        wait_for_fault(gateway, &shop).await?;
        let delivery = read_status(gateway, &shop)?[0].clone();
        Ok((delivery["state"] == "failed").then_some(delivery))
    })
    .await?;
    assert_eq!(delivery["fault"], "the entity has no files");
    Ok(())
}
