//! `tillgate file-push`: settings that are refused, and the audit log.

use std::process::Command;

use tillgate_tests::push::{PASSWORD, create_key, write_file};
use tillgate_tests::{TestGateway, binary_path};

use crate::delivery::file_push::{push_gateway, set_server, set_server_with_password};

const HOST_KEY: &str = "SHA256:Nh0Me49Zh9fDw/VYUfq43IJmI1T+XrjiYONPND8GzaM";

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_work_are_refused_with_a_reason_and_without_the_password() -> anyhow::Result<()> {
    let gateway = push_gateway();
    let shop = gateway.create_merchant()?;
    let folder = tempfile::tempdir()?;
    let write =
        |name: &str, text: &str| Ok::<_, anyhow::Error>(write_file(folder.path(), name, text)?.display().to_string());
    let (password, empty) = (write("password", PASSWORD)?, write("empty", "\n")?);
    let long = write("long", &"x".repeat(70_000))?;
    let [key, encrypted, rsa] = ["key", "encrypted", "rsa"].map(|name| folder.path().join(name));
    create_key(&key, "ed25519")?;
    create_key(&rsa, "rsa")?;
    let created =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "passphrase", "-f"]).arg(&encrypted).status()?;
    assert!(created.success());
    let [key, encrypted, rsa] = [key, encrypted, rsa].map(|path| path.display().to_string());
    let ftps = "ftps://bakery@files.example/daily";
    let sftp = "sftp://bakery@files.example/daily";
    let secret = &format!("sftp://bakery:{PASSWORD}@files.example/");
    for (url, options, reason) in [
        (
            "https://bakery@files.example/",
            &["--password-file", &password][..],
            "the address is not an address of ftps, sftp or ftp, such as sftp://user@files.example/folder (--url)",
        ),
        (
            secret,
            &["--password-file", &password],
            "the address contains a password: give the password separately (--url)",
        ),
        ("sftp://files.example/", &["--password-file", &password], "the address names no user"),
        ("sftp://bakery@files.example:25/", &["--password-file", &password], "port 25, which is not allowed"),
        ("ftps://bakery@files.example:990/", &["--password-file", &password], "port 990, which is not allowed"),
        (ftps, &[], "name a --password-file"),
        (ftps, &["--password-file", &empty], "has no password: one line"),
        (ftps, &["--password-file", &long], "is larger than 65536 bytes"),
        (ftps, &["--password-file", "/nowhere"], "opening /nowhere"),
        (ftps, &["--private-key-file", &key], "a private key is for sftp only (--private-key-file)"),
        (
            ftps,
            &["--password-file", &password, "--host-key", HOST_KEY],
            "a fingerprint of the host key is for sftp only (--host-key)",
        ),
        (ftps, &["--password-file", &password, "--ca-file", &password], "has no valid certificate in PEM"),
        (sftp, &["--private-key-file", &key], "sftp needs the fingerprint of the server's host key"),
        (sftp, &["--private-key-file", &key, "--host-key", "SHA256:abc"], "the host key is not a fingerprint"),
        (
            sftp,
            &["--private-key-file", &key, "--host-key", HOST_KEY, "--ca-file", &key],
            "certificates of issuers are for ftps only (--ca-file)",
        ),
        (sftp, &["--private-key-file", &encrypted, "--host-key", HOST_KEY], "remove the passphrase"),
        (sftp, &["--private-key-file", &password, "--host-key", HOST_KEY], "has no private key"),
        (sftp, &["--private-key-file", &rsa, "--host-key", HOST_KEY], "of another kind than Ed25519 and ECDSA"),
        (
            sftp,
            &["--private-key-file", &key, "--password-file", &password, "--host-key", HOST_KEY],
            "cannot be used with",
        ),
    ] {
        let error = set_server(gateway, &shop, url, options).err().map(|error| error.to_string()).unwrap_or_default();
        // The arguments are a part of the error, the rest is what the program has printed.
        let printed = error.split_once("failed:\n").map(|(_, printed)| printed).unwrap_or_default();
        assert!(printed.contains(reason), "{url} {options:?}: {error}");
        assert!(!printed.contains(PASSWORD), "{error}");
    }
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let refused = set_server_with_password(gateway, &channel, ftps, &[]);
    assert!(
        refused.is_err_and(|error| error.to_string().contains("divisions and merchants have reconciliation files"))
    );
    assert_eq!(gateway.run_command(&["file-push", "list", "--entity", &shop.entity_id])?, serde_json::json!([]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_change_of_a_server_is_in_the_audit_log_without_its_secret() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    set_server_with_password(&gateway, &shop, "ftps://bakery@files.example/daily", &["--from", "2026-10-01"])?;
    gateway.run_command(&["file-push", "remove", "--entity", &shop.entity_id])?;
    gateway.run_command(&["audit", "verify"])?;
    let exported =
        Command::new(binary_path()).args(["audit", "export", "--data"]).arg(gateway.data_folder()).output()?;
    let exported = String::from_utf8(exported.stdout)?;
    let lines: Vec<&str> = exported.lines().filter(|line| line.contains("file-push")).collect();
    assert_eq!(lines.len(), 2, "{exported}");
    assert!(lines[0].contains("file-push set") && lines[0].contains("files.example:21"), "{lines:?}");
    assert!(lines[1].contains("file-push remove") && lines[1].contains(&shop.entity_id), "{lines:?}");
    assert!(!exported.contains(PASSWORD) && !exported.contains("bakery"), "{lines:?}");
    Ok(())
}
