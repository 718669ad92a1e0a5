//! The FTP server with real clients: curl and lftp fetch the files of their entity over TLS.

use std::process::Output;
use std::sync::OnceLock;

use anyhow::Context as _;
use tillgate_tests::ftp::{FtpAccount, RawFtpClient, TestCertificate};
use tillgate_tests::records::create_record;
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::settlement::reconciliation_files::{expected_file, file_name, today, wait_for_files};

/// A gateway with an FTP server that requires TLS.
pub struct TlsScene {
    pub gateway: TestGateway,
    certificate: TestCertificate,
}

impl TlsScene {
    /// Returns the gateway of the tests with TLS. The first call starts it.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<TlsScene> = OnceLock::new();
        let start = || -> anyhow::Result<TlsScene> {
            let certificate = TestCertificate::create()?;
            let [file, key] = [certificate.certificate(), certificate.key()].map(|path| path.display().to_string());
            let arguments = ["--ftp", "127.0.0.1:0", "--ftp-certificate", &file, "--ftp-key", &key];
            Ok(TlsScene { gateway: TestGateway::start_with(&arguments)?, certificate })
        };
        SHARED.get_or_init(|| match start() {
            Ok(scene) => scene,
            Err(error) => panic!("no gateway with FTP: {error:#}"),
        })
    }

    /// Returns the path of the certificate.
    pub fn ca_file(&self) -> String {
        self.certificate.certificate().display().to_string()
    }
}

/// Creates a merchant with a complete file of so many records and an FTP user. Returns them with the file's name and
/// content.
pub async fn create_reader(
    gateway: &TestGateway,
    records: u32,
) -> anyhow::Result<(MerchantClient, FtpAccount, String, String)> {
    let shop = gateway.create_merchant()?;
    let day = today();
    let mut all = Vec::new();
    for number in 0..records {
        all.push(create_record(number, day, (&shop, &shop, None), "1.00")?);
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    gateway.write_records(&all)?;
    shop.advance_clock("24h").await?;
    wait_for_files(&shop, 1).await?;
    let account = gateway.create_ftp_user(&shop.entity_id)?;
    let name = file_name(&shop, day);
    Ok((shop, account, name, expected_file(&all)))
}

/// Returns the standard output of a program that succeeded.
#[track_caller]
pub fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_fetches_the_same_bytes_over_ftps_as_over_https() -> anyhow::Result<()> {
    let scene = TlsScene::shared();
    let ca = scene.ca_file();
    let tls = ["--ssl-reqd", "--cacert", &ca];
    // More than one page of records.
    let (shop, account, name, content) = create_reader(&scene.gateway, 1203).await?;
    assert_eq!(printed(&account.run_curl("", &[&tls[..], &["--list-only"]].concat())?), format!("{name}\n"));
    let listing = printed(&account.run_curl("", &tls)?);
    assert!(listing.starts_with("-r--r--r--") && listing.contains(&content.len().to_string()), "{listing}");
    let over_https = shop.get(&format!("reconciliations/v1/files/{name}")).await?;
    for more in [&[][..], &["--disable-epsv"], &["--tlsv1.3"]] {
        let fetched = printed(&account.run_curl(&name, &[&tls[..], more].concat())?);
        assert!(fetched == content && fetched == over_https.text, "{more:?}");
    }
    // A download is continued, also across a page.
    for position in [1, 700, 300_000, content.len() - 1] {
        let from = position.to_string();
        let rest = printed(&account.run_curl(&name, &[&tls[..], &["--continue-at", &from]].concat())?);
        assert!(rest == content[position..], "from {position}");
    }
    let head = printed(&account.run_curl(&name, &[&tls[..], &["--head"]].concat())?);
    assert!(head.contains(&format!("Content-Length: {}", content.len())), "{head}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn lftp_mirrors_the_folder() -> anyhow::Result<()> {
    let scene = TlsScene::shared();
    let (_, account, name, content) = create_reader(&scene.gateway, 3).await?;
    let folder = tempfile::tempdir()?;
    let settings = format!("set ssl:ca-file {}; set ftp:ssl-force yes; set ftp:ssl-protect-data yes", scene.ca_file());
    let target = folder.path().display();
    let listed = printed(&account.run_lftp(&settings, &format!("cls -1; mirror / {target}; mirror / {target}"))?);
    assert!(listed.contains(&name), "{listed}");
    assert_eq!(std::fs::read_to_string(folder.path().join(&name))?, content);
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
    for command in
        [format!("put -O / {target}/{name}"), format!("rm {name}"), "mkdir x".to_owned(), format!("mv {name} x")]
    {
        assert!(!account.run_lftp(&settings, &command)?.status.success(), "{command}");
    }
    assert!(!account.run_lftp("set ftp:ssl-allow no", "cls -1")?.status.success());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_a_division_sees_its_files_and_a_revoked_user_nothing() -> anyhow::Result<()> {
    let scene = TlsScene::shared();
    let gateway = &scene.gateway;
    let division = gateway.create_merchant_with(&["--level", "division"])?;
    let shop = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
    let record = create_record(1, today(), (&shop, &shop, Some(&division)), "1.00")?;
    gateway.write_records(std::slice::from_ref(&record))?;
    shop.advance_clock("24h").await?;
    wait_for_files(&division, 1).await?;
    let account = gateway.create_ftp_user(&division.entity_id)?;
    let (ca, name) = (scene.ca_file(), file_name(&division, today()));
    let tls = ["--ssl-reqd", "--cacert", &ca];
    assert_eq!(printed(&account.run_curl(&name, &tls)?), expected_file(&[record]));
    let listed = gateway.run_command(&["ftp-user", "list", "--entity", &division.entity_id])?;
    assert_eq!(listed[0]["user"], account.user.as_str());
    assert!(!listed.to_string().contains(&account.password), "{listed}");
    gateway.run_command(&["ftp-user", "revoke", "--name", &account.user])?;
    assert_eq!(account.run_curl(&name, &tls)?.status.code(), Some(67));
    // The name cannot be given to somebody else.
    let again = ["ftp-user", "create", "--entity", &shop.entity_id, "--name", &account.user];
    assert!(gateway.run_command(&again).is_err());
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let refused = gateway.run_command(&["ftp-user", "create", "--entity", &channel.entity_id]);
    assert!(refused.is_err_and(|error| error.to_string().contains("channel")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_told_before_the_connection_is_encrypted_and_no_command_is_smuggled_in() -> anyhow::Result<()> {
    let scene = TlsScene::shared();
    let (_, account, name, _) = create_reader(&scene.gateway, 1).await?;
    let (mut client, _) = RawFtpClient::connect(account.address).await?;
    for line in [format!("USER {}", account.user), format!("PASS {}", account.password), format!("RETR {name}")] {
        let reply = client.send(&line).await?;
        assert!(reply.starts_with("530"), "{line}: {reply}");
    }
    // Commands in the packet before the handshake are not carried out after it.
    client.send_bytes(b"AUTH TLS\r\nUSER mallory\r\n").await?;
    assert!(client.read_reply().await?.starts_with("234"));
    assert!(client.is_closed().await?);
    assert_eq!(account.run_curl(&name, &[])?.status.code(), Some(67));
    // curl with --ftp-ssl-control leaves the data connection unencrypted.
    let ca = scene.ca_file();
    let unprotected = account.run_curl(&name, &["--ftp-ssl-control", "--cacert", &ca])?;
    assert!(!unprotected.status.success() && unprotected.stdout.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_used_without_a_restart_and_a_broken_one_is_not() -> anyhow::Result<()> {
    let (first, second) = (TestCertificate::create()?, TestCertificate::create()?);
    let folder = tempfile::tempdir()?;
    let [file, key] = ["certificate.pem", "key.pem"].map(|name| folder.path().join(name));
    let replace = |certificate: &TestCertificate| -> anyhow::Result<()> {
        std::fs::copy(certificate.certificate(), &file)?;
        std::fs::copy(certificate.key(), &key)?;
        Ok(())
    };
    replace(&first)?;
    let [file_name, key_name] = [&file, &key].map(|path| path.display().to_string());
    let arguments = ["--ftp", "127.0.0.1:0", "--ftp-certificate", &file_name, "--ftp-key", &key_name];
    let gateway = TestGateway::start_with(&arguments)?;
    let shop = gateway.create_merchant()?;
    let account = gateway.create_ftp_user(&shop.entity_id)?;
    let lists = |certificate: &TestCertificate| -> anyhow::Result<bool> {
        let ca = certificate.certificate().display().to_string();
        Ok(account.run_curl("", &["--ssl-reqd", "--cacert", &ca, "--list-only"])?.status.success())
    };
    assert!(lists(&first)? && !lists(&second)?);
    std::fs::write(&file, "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n")?;
    assert!(lists(&first)?, "{}", gateway.read_log());
    gateway.wait_for_log("keeps the earlier certificate").await?;
    replace(&second)?;
    assert!(lists(&second)? && !lists(&first)?, "{}", gateway.read_log());
    Ok(())
}

#[tokio::test]
async fn ftp_without_encryption_is_served_to_this_machine_only() -> anyhow::Result<()> {
    let error = TestGateway::start_with(&["--ftp", "0.0.0.0:0"]).err().context("it starts")?;
    assert!(format!("{error:#}").contains("--ftp-certificate"), "{error:#}");
    let gateway = TestGateway::start_with(&["--ftp", "0.0.0.0:0", "--ftp-plain"])?;
    poll_until("it listens", async || Ok(gateway.ftp_address().ok())).await?;
    Ok(())
}
