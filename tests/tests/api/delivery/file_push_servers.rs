//! Reconciliation files that are pushed to servers of other makers: several host keys, NIST curves, questions in place
//! of a password, and no sizes.

use tillgate_tests::push::{PASSWORD, PasswordSftpReceiver, SftpReceiver, SftpReceiverOptions, USER, list_names};

use crate::delivery::file_push::*;
use crate::settlement::reconciliation_files::today;

/// Pushes a file to a server of OpenSSH with an expected host key. Returns the fault, or nothing if it is sent.
async fn push_to_openssh(receiver: &SftpReceiver, host_key: &str) -> anyhow::Result<Option<String>> {
    let gateway = push_gateway();
    let shop = gateway.create_merchant()?;
    let key = receiver.user_key().display().to_string();
    set_server(gateway, &shop, &receiver.url(), &["--private-key-file", &key, "--host-key", host_key])?;
    let (name, content) = complete_file(gateway, &shop, today(), 3).await?;
    let delivery = wait_for_attempt(gateway, &shop).await?;
    if delivery["state"] == "sent" {
        assert_eq!(std::fs::read_to_string(receiver.files().join(name))?, content);
    }
    Ok(delivery["fault"].as_str().map(str::to_owned))
}

/// Pushes a file to a server of paramiko with the password. Returns the fault, or nothing if it is sent.
async fn push_with_password(receiver: &PasswordSftpReceiver) -> anyhow::Result<Option<String>> {
    let gateway = push_gateway();
    let shop = gateway.create_merchant()?;
    let url = format!("sftp://{USER}@127.0.0.1:{}/", receiver.port);
    set_server_with_password(gateway, &shop, &url, &["--host-key", &receiver.host_key])?;
    let (name, content) = complete_file(gateway, &shop, today(), 3).await?;
    let delivery = wait_for_attempt(gateway, &shop).await?;
    if delivery["state"] == "sent" {
        assert_eq!(std::fs::read_to_string(receiver.folder().join(name))?, content);
    }
    Ok(delivery["fault"].as_str().map(str::to_owned))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_several_host_keys_shows_the_expected_one() -> anyhow::Result<()> {
    let receiver = SftpReceiver::start_with(&["ed25519", "ecdsa"], "")?;
    for kind in ["ed25519", "ecdsa"] {
        assert_eq!(push_to_openssh(&receiver, &receiver.host_key_of(kind)?).await?, None, "{kind}");
    }
    let logins = |receiver: &SftpReceiver| receiver.log().matches("Accepted publickey").count();
    assert_eq!(logins(&receiver), 2);
    let other = format!("SHA256:{}", "A".repeat(43));
    let fault = push_to_openssh(&receiver, &other).await?.unwrap_or_default();
    assert!(fault.contains(&receiver.host_key()?) && fault.contains("not the expected one"), "{fault}");
    assert_eq!(logins(&receiver), 2, "{}", receiver.log());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_nist_curves_only_gets_its_files() -> anyhow::Result<()> {
    for (exchange, cipher, mac) in [
        ("ecdh-sha2-nistp256", "aes256-gcm@openssh.com", "hmac-sha2-256"),
        ("ecdh-sha2-nistp384", "aes256-ctr", "hmac-sha2-256"),
        ("ecdh-sha2-nistp521", "aes128-ctr", "hmac-sha2-512"),
    ] {
        let lines = format!("KexAlgorithms {exchange}\nCiphers {cipher}\nMACs {mac}\n");
        let receiver = SftpReceiver::start_with(&["ecdsa"], &lines)?;
        assert_eq!(push_to_openssh(&receiver, &receiver.host_key_of("ecdsa")?).await?, None, "{exchange}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_answers_the_one_hidden_question_of_a_server() -> anyhow::Result<()> {
    const PROMPT: (&str, bool) = ("Password: ", false);
    const CODE: (&str, bool) = ("Code: ", false);
    for rounds in [&[&[PROMPT][..]][..], &[&[("Passwort für bakery:", false)]], &[&[PROMPT], &[]], &[&[], &[PROMPT]]] {
        let receiver = PasswordSftpReceiver::start_with(&SftpReceiverOptions { rounds, stat_refusal: None })?;
        assert_eq!(push_with_password(&receiver).await?, None, "{rounds:?}");
        assert_eq!(receiver.count_logins(), 1, "{rounds:?}");
    }
    for (rounds, answers) in [
        (&[&[PROMPT, CODE][..]][..], 0),
        (&[&[("Name: ", true)]], 0),
        (&[&[PROMPT], &[CODE]], 1),
        (&[&[], &[], &[], &[], &[], &[PROMPT]], 0),
    ] {
        let receiver = PasswordSftpReceiver::start_with(&SftpReceiverOptions { rounds, stat_refusal: None })?;
        let fault = push_with_password(&receiver).await?.unwrap_or_default();
        assert!(fault.starts_with("login: the server refused it with"), "{rounds:?}: {fault}");
        assert!(!fault.contains(PASSWORD) && list_names(receiver.folder())?.is_empty());
        assert_eq!(receiver.count_logins(), answers, "{rounds:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_to_tell_sizes_gets_its_files() -> anyhow::Result<()> {
    // No such file, permission denied, failure, and unsupported operation.
    for status in [2, 3, 4, 8] {
        let options = SftpReceiverOptions { rounds: &[], stat_refusal: Some(status) };
        let receiver = PasswordSftpReceiver::start_with(&options)?;
        assert_eq!(push_with_password(&receiver).await?, None, "{status}");
    }
    push_gateway().wait_for_log("failed to report the size of a file").await
}
