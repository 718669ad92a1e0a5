//! Hostile and broken servers that files are pushed to: none reaches another address, delays others, or learns more
//! than its own password.

use tillgate_tests::push::{
    FtpReceiver, FtpReceiverOptions, FtpScript, PASSWORD, ScriptedFtp, SftpReceiver, TestAuthority, USER, create_key,
    list_names,
};
use tillgate_tests::{MerchantClient, TestGateway};

use crate::delivery::file_push::{
    LOCAL, complete_file, ftp_url, push_gateway, read_status, set_server, set_server_with_password, wait_for_fault,
    wait_for_state,
};
use crate::settlement::reconciliation_files::{file_name, today};
use crate::support::*;

/// Fingerprint of a host key that no server has.
const OTHER_HOST_KEY: &str = "SHA256:Nh0Me49Zh9fDw/VYUfq43IJmI1T+XrjiYONPND8GzaM";

/// Starts a server that misbehaves, and completes a file that is pushed to it. Returns the server, the merchant, and
/// the content of the file.
async fn push_to(script: FtpScript) -> anyhow::Result<(ScriptedFtp, MerchantClient, String)> {
    let gateway = push_gateway();
    let server = ScriptedFtp::start(script).await?;
    let shop = gateway.create_merchant()?;
    let url = match script {
        FtpScript::StallsInTls => format!("ftps://{USER}@127.0.0.1:{}/", server.port),
        _ => ftp_url(server.port),
    };
    set_server_with_password(gateway, &shop, &url, &[])?;
    // A short file would fit into the buffers of the connection.
    let records = if script == FtpScript::StallsInTransfer { 2_000 } else { 2 };
    let (_, content) = complete_file(gateway, &shop, today(), records).await?;
    Ok((server, shop, content))
}

/// Starts a server that misbehaves before it knows which protocol its client speaks, and completes a file that is
/// pushed to it by SFTP. Returns the server and the merchant.
async fn push_to_sftp(script: FtpScript) -> anyhow::Result<(ScriptedFtp, MerchantClient)> {
    let gateway = push_gateway();
    let server = ScriptedFtp::start(script).await?;
    let shop = gateway.create_merchant()?;
    let url = format!("sftp://{USER}@127.0.0.1:{}/", server.port);
    set_server_with_password(gateway, &shop, &url, &["--host-key", OTHER_HOST_KEY])?;
    complete_file(gateway, &shop, today(), 1).await?;
    Ok((server, shop))
}

#[tokio::test(flavor = "multi_thread")]
async fn data_goes_to_the_server_itself_whatever_address_it_announces() -> anyhow::Result<()> {
    // The address at which clouds give credentials to their machines, and one of a network behind the gateway.
    for address in [[169, 254, 169, 254], [10, 0, 0, 1], [127, 0, 0, 2]] {
        let (server, shop, content) = push_to(FtpScript::ForeignAddress(address)).await?;
        wait_for_state(push_gateway(), &shop, "sent").await?;
        assert_eq!(server.received(), [content.as_bytes()], "{address:?}");
    }
    for port in [25, 22, 6379] {
        let (server, shop, _) = push_to(FtpScript::ForeignPort(port)).await?;
        let fault = wait_for_fault(push_gateway(), &shop).await?;
        assert!(fault.contains(&format!("port {port} is not allowed")), "{fault}");
        assert_eq!(server.received(), [] as [Vec<u8>; 0]);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stalls_is_given_up_after_half_a_minute_and_delays_no_other() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let stalled = [
        (push_to(FtpScript::StallsInGreeting).await?, "greeting: no answer within 30 seconds"),
        (push_to(FtpScript::StallsInTls).await?, "encryption: no answer within 30 seconds"),
        (push_to(FtpScript::StallsAfterTransfer).await?, "transfer: no answer within 30 seconds"),
        (push_to(FtpScript::StallsInTransfer).await?, "transfer: no answer within 30 seconds"),
    ];
    let (_silent, silent_shop) = push_to_sftp(FtpScript::StallsInGreeting).await?;
    let receiver = FtpReceiver::start(&FtpReceiverOptions::default())?;
    let shop = gateway.create_merchant()?;
    set_server_with_password(gateway, &shop, &ftp_url(receiver.port), &[])?;
    complete_file(gateway, &shop, today(), 1).await?;
    wait_for_state(gateway, &shop, "sent").await?;
    for ((_, shop, _), expected) in &stalled {
        assert_eq!(wait_for_fault(gateway, shop).await?, *expected);
    }
    assert_eq!(wait_for_fault(gateway, &silent_shop).await?, "greeting: no answer within 30 seconds");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_without_an_end_is_not_read_to_the_end() -> anyhow::Result<()> {
    for script in [FtpScript::EndlessReply, FtpScript::EndlessLines] {
        let (_server, shop, _) = push_to(script).await?;
        let fault = wait_for_fault(push_gateway(), &shop).await?;
        assert!(fault.starts_with("greeting: the connection failed:"), "{fault}");
        assert!(fault.contains("reply"), "{fault}");
        // A client of SSH ignores lines before the server's version, but not for ever.
        let (_server, shop) = push_to_sftp(script).await?;
        let fault = wait_for_fault(push_gateway(), &shop).await?;
        assert!(fault.starts_with("greeting: "), "{fault}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_repeats_the_password_does_not_bring_it_into_log_and_status() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let (server, shop, _) = push_to(FtpScript::RepeatsPassword).await?;
    assert_eq!(wait_for_fault(gateway, &shop).await?, "login: the server refused it with 530");
    assert!(server.commands().contains(&format!("PASS {PASSWORD}")));
    gateway.wait_for_log("login: the server refused it with 530").await?;
    let listed = gateway.run_command(&["file-push", "list"])?.to_string();
    for text in [gateway.read_log(), read_status(gateway, &shop)?.to_string(), listed] {
        assert!(!text.contains(PASSWORD), "{text}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_did_not_arrive_whole_is_not_renamed() -> anyhow::Result<()> {
    let (server, shop, content) = push_to(FtpScript::WrongSize).await?;
    let fault = wait_for_fault(push_gateway(), &shop).await?;
    assert_eq!(fault, format!("size: the server has {} of {} bytes", content.len() - 1, content.len()));
    assert!(!server.commands().iter().any(|line| line.starts_with("RNFR")), "{:?}", server.commands());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_another_host_key_gets_no_login() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let receiver = SftpReceiver::start()?;
    let shop = gateway.create_merchant()?;
    let key = receiver.user_key().display().to_string();
    set_server(gateway, &shop, &receiver.url(), &["--private-key-file", &key, "--host-key", OTHER_HOST_KEY])?;
    complete_file(gateway, &shop, today(), 1).await?;
    let fault = wait_for_fault(gateway, &shop).await?;
    let host_key = receiver.host_key()?;
    assert_eq!(fault, format!("the server has the host key {host_key}, which is not the expected one"));
    assert!(!receiver.log().contains("Accepted"), "{}", receiver.log());
    // The right host key, and a key that the server does not know.
    let folder = tempfile::tempdir()?;
    let unknown = folder.path().join("key");
    create_key(&unknown, "ecdsa")?;
    let unknown = unknown.display().to_string();
    set_server(gateway, &shop, &receiver.url(), &["--private-key-file", &unknown, "--host-key", &host_key])?;
    gateway.wait_for_log("login: the server refused it with wrong user, password or key").await?;
    assert!(!receiver.log().contains("Accepted"), "{}", receiver.log());
    set_server(gateway, &shop, &receiver.url(), &["--private-key-file", &key, "--host-key", &host_key])?;
    wait_for_state(gateway, &shop, "sent").await?;
    assert!(receiver.log().contains("Accepted publickey"), "{}", receiver.log());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_certificate_of_another_authority_or_name_gets_no_login() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let (authority, other) = (TestAuthority::create()?, TestAuthority::create()?);
    let (certificate, key) = authority.certificate_and_key();
    let options = FtpReceiverOptions { certificate: Some((&certificate, &key)), ..FtpReceiverOptions::default() };
    let receiver = FtpReceiver::start(&options)?;
    let (ca, other) = (authority.ca().display().to_string(), other.ca().display().to_string());
    for (host, options) in [
        ("localhost", &["--ca-file", &other][..]),
        ("localhost", &[]),
        // The certificate is that of localhost.
        ("127.0.0.1", &["--ca-file", &ca]),
        ("files.localhost", &["--ca-file", &ca]),
    ] {
        let shop = gateway.create_merchant()?;
        let url = format!("ftps://{USER}@{host}:{}/", receiver.port);
        set_server_with_password(gateway, &shop, &url, options)?;
        complete_file(gateway, &shop, today(), 1).await?;
        let fault = wait_for_fault(gateway, &shop).await?;
        assert!(fault.starts_with("encryption: ") && fault.contains("certificate"), "{host} {options:?}: {fault}");
    }
    assert_eq!(receiver.commands("USER"), [] as [String; 0]);
    // A server without TLS gets no password either.
    let plain = FtpReceiver::start(&FtpReceiverOptions::default())?;
    let shop = gateway.create_merchant()?;
    set_server_with_password(gateway, &shop, &format!("ftps://{USER}@localhost:{}/", plain.port), &[])?;
    complete_file(gateway, &shop, today(), 1).await?;
    let fault = wait_for_fault(gateway, &shop).await?;
    assert!(fault.starts_with("encryption: the server refused it with 5"), "{fault}");
    assert_eq!(plain.commands("USER"), [] as [String; 0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_address_is_not_connected_to() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LIVE)?;
    let server = ScriptedFtp::start(FtpScript::WrongSize).await?;
    let from = today().to_string();
    for is_live in [false, true] {
        for host in ["localhost", "127.0.0.1", "[::1]", "files.localhost", "0x7f.1", "169.254.169.254", "10.0.0.1"] {
            let shop = gateway.create_merchant()?;
            complete_file(&gateway, &shop, today(), 1).await?;
            if is_live {
                gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--live"])?;
            }
            let url = format!("ftps://{USER}@{host}:{}/", server.port);
            assert_eq!(set_server_with_password(&gateway, &shop, &url, &["--from", &from])?["waiting"], 1);
            let fault = wait_for_fault(&gateway, &shop).await?;
            let is_refused = fault.contains("is not public") || fault.contains("the host is unknown");
            assert!(is_refused, "{host}: {fault}");
        }
    }
    assert_eq!(server.commands(), [] as [String; 0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_that_becomes_live_sends_nothing_without_encryption() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&[&LIVE[..], &LOCAL].concat())?;
    let server = ScriptedFtp::start(FtpScript::RepeatsPassword).await?;
    let shop = gateway.create_merchant()?;
    set_server_with_password(&gateway, &shop, &ftp_url(server.port), &[])?;
    complete_file(&gateway, &shop, today(), 1).await?;
    wait_for_fault(&gateway, &shop).await?;
    gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--live"])?;
    let retry = ["file-push", "retry", "--entity", &shop.entity_id];
    tillgate_tests::poll_until("the gateway knows that the entity is live", async || {
        gateway.run_command(&retry)?;
        Ok((wait_for_fault(&gateway, &shop).await? == "a live entity needs ftps or sftp").then_some(()))
    })
    .await?;
    let refused = set_server_with_password(&gateway, &shop, &ftp_url(server.port), &[]);
    assert!(refused.is_err_and(|error| error.to_string().contains("is live: use ftps or sftp")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_written_or_is_full_is_tried_again() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let receiver = FtpReceiver::start(&FtpReceiverOptions { read_only: true, ..FtpReceiverOptions::default() })?;
    let shop = gateway.create_merchant()?;
    set_server_with_password(gateway, &shop, &ftp_url(receiver.port), &[])?;
    complete_file(gateway, &shop, today(), 1).await?;
    assert_eq!(wait_for_fault(gateway, &shop).await?, "opening the file: the server refused it with 550");
    let missing = format!("{}missing", ftp_url(receiver.port));
    set_server_with_password(gateway, &shop, &missing, &[])?;
    gateway.wait_for_log("folder: the server refused it with 550").await?;

    // All writes to this device end with `No space left on device`.
    let receiver = SftpReceiver::start()?;
    let shop = gateway.create_merchant()?;
    let partial = receiver.files().join(format!(".{}.part", file_name(&shop, today())));
    std::os::unix::fs::symlink("/dev/full", &partial)?;
    let (key, host_key) = (receiver.user_key().display().to_string(), receiver.host_key()?);
    set_server(gateway, &shop, &receiver.url(), &["--private-key-file", &key, "--host-key", &host_key])?;
    let (name, content) = complete_file(gateway, &shop, today(), 1).await?;
    assert_eq!(wait_for_fault(gateway, &shop).await?, "transfer: the server refused it with an error");
    assert_eq!(read_status(gateway, &shop)?[0]["state"], "waiting");
    std::fs::remove_file(&partial)?;
    gateway.run_command(&["file-push", "retry", "--entity", &shop.entity_id])?;
    wait_for_state(gateway, &shop, "sent").await?;
    assert_eq!(list_names(&receiver.files())?, [name.as_str()]);
    assert!(std::fs::read_to_string(receiver.files().join(&name))? == content);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_ends_when_its_server_is_removed() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOCAL)?;
    let server = ScriptedFtp::start(FtpScript::StallsAfterTransfer).await?;
    let shop = gateway.create_merchant()?;
    set_server_with_password(&gateway, &shop, &ftp_url(server.port), &[])?;
    complete_file(&gateway, &shop, today(), 1).await?;
    tillgate_tests::poll_until("the file is sent", async || Ok((!server.received().is_empty()).then_some(()))).await?;
    gateway.run_command(&["file-push", "remove", "--entity", &shop.entity_id])?;
    // The new settings are used at once, although the attempt with those before has not ended by itself.
    let receiver = FtpReceiver::start(&FtpReceiverOptions::default())?;
    let from = today().to_string();
    set_server_with_password(&gateway, &shop, &ftp_url(receiver.port), &["--from", &from])?;
    wait_for_state(&gateway, &shop, "sent").await?;
    let log = gateway.read_log();
    assert!(!log.contains("was not pushed"), "{log}");
    Ok(())
}
