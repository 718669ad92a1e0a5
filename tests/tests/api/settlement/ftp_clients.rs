//! The FTP server with clients of different abilities: patterns of names, and TLS sessions of data connections.

use serde_json::json;
use tillgate_tests::TestGateway;
use tillgate_tests::records::create_record;

use crate::settlement::ftp::{TlsScene, create_reader, printed};
use crate::settlement::reconciliation_files::{file_name, today, wait_for_files};

#[tokio::test(flavor = "multi_thread")]
async fn the_names_that_fit_a_pattern_are_listed() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--ftp", "127.0.0.1:0"])?;
    let (shop, account, first, _) = create_reader(&gateway, 1).await?;
    let day = today().tomorrow()?;
    gateway.write_records(&[create_record(9, day, (&shop, &shop, None), "1.00")?])?;
    shop.advance_clock("24h").await?;
    wait_for_files(&shop, 2).await?;
    let second = file_name(&shop, day);
    let of_day = format!("*{day}*");
    let patterns =
        ["*.csv", "*", "/*.csv", "./rec*", "-la *.csv", &of_day, "reconciliation_?*[0-9].csv", "*.pdf", "x*"];
    let listed = account.run_ftplib("names", None, json!({ "patterns": patterns }))?;
    let both = json!([[first, second], [first, second]]);
    let only = json!([[second], [second]]);
    let expected = json!([both, both, both, both, both, only, both, "550", "550"]);
    assert_eq!(listed, expected);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn real_clients_resume_their_session_with_each_version_of_tls() -> anyhow::Result<()> {
    let scene = TlsScene::shared();
    let ca = scene.ca_file();
    let (shop, account, first, content) = create_reader(&scene.gateway, 3).await?;
    let mut names = vec![first];
    for number in 1..4 {
        let day = today().checked_add(jiff::Span::new().days(i64::from(number)))?;
        scene.gateway.write_records(&[create_record(number + 10, day, (&shop, &shop, None), "1.00")?])?;
        shop.advance_clock("24h").await?;
        wait_for_files(&shop, names.len() + 1).await?;
        names.push(file_name(&shop, day));
    }
    for version in [&["--tls-max", "1.2"][..], &["--tlsv1.3"]] {
        let tls = [&["--ssl-reqd", "--cacert", &ca], version].concat();
        assert_eq!(printed(&account.run_curl("", &[&tls[..], &["--list-only"]].concat())?).lines().count(), 4);
        assert!(printed(&account.run_curl(&names[0], &tls)?) == content, "{version:?}");
    }
    for version in ["NORMAL:-VERS-TLS1.3", "NORMAL:-VERS-ALL:+VERS-TLS1.3"] {
        let folder = tempfile::tempdir()?;
        let settings = format!(
            "set ssl:ca-file {ca}; set ftp:ssl-force yes; set ftp:ssl-protect-data yes; set ssl:priority {version}"
        );
        printed(&account.run_lftp(&settings, &format!("mirror / {}", folder.path().display()))?);
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 4, "{version}");
    }
    for version in ["1.2", "1.3"] {
        let options = json!({ "tls": version, "reuse": true, "names": names });
        let fetched = account.run_ftplib("fetch", Some(&ca), options)?;
        assert_eq!((&fetched[0]["error"], &fetched[0]["content"]), (&json!(null), &json!(content)), "{version}");
        assert!(fetched[3]["error"].is_null() && fetched[3]["content"] != "", "{version}: {fetched}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_resume_gets_files_only_if_its_user_may() -> anyhow::Result<()> {
    let scene = TlsScene::shared();
    let ca = scene.ca_file();
    let (shop, account, name, content) = create_reader(&scene.gateway, 3).await?;
    for version in ["1.2", "1.3"] {
        let options = json!({ "tls": version, "reuse": false, "names": [name] });
        let refused = account.run_ftplib("fetch", Some(&ca), options.clone())?;
        assert!(refused[0]["error"].as_str().is_some_and(|error| error.starts_with("522")), "{version}: {refused}");
        assert_eq!(refused[0]["content"], "", "{version}");
        let lenient = scene.gateway.create_ftp_user_with(&shop.entity_id, &["--session-reuse", "off"])?;
        let fetched = lenient.run_ftplib("fetch", Some(&ca), options)?;
        assert_eq!((&fetched[0]["error"], &fetched[0]["content"]), (&json!(null), &json!(content)), "{version}");
    }
    let users = scene.gateway.run_command(&["ftp-user", "list", "--entity", &shop.entity_id])?;
    let reuse: Vec<bool> = users.as_array().into_iter().flatten().map(|user| user["sessionReuse"] == true).collect();
    assert_eq!(reuse.iter().filter(|reuses| !**reuses).count(), 2, "{users}");
    let wrong = ["ftp-user", "create", "--entity", &shop.entity_id, "--session-reuse", "maybe"];
    assert!(scene.gateway.run_command(&wrong).is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_who_connect_first_get_nothing_and_the_client_its_file() -> anyhow::Result<()> {
    let scene = TlsScene::shared();
    let ca = scene.ca_file();
    let (_, account, name, content) = create_reader(&scene.gateway, 3).await?;
    // A stranger with an account of its own, and a TLS session of its own.
    let other = scene.gateway.create_merchant()?;
    let stranger = scene.gateway.create_ftp_user(&other.entity_id)?;
    for version in ["1.2", "1.3"] {
        let stranger = json!({ "user": stranger.user, "password": stranger.password });
        let options = json!({ "tls": version, "name": name, "stranger": stranger });
        let result = account.run_ftplib("attack", Some(&ca), options)?;
        assert_eq!(result["stolen"], json!(["", "", "", ""]), "{version}: {result}");
        assert_eq!(result["content"], content, "{version}: {result}");
        assert!(result["reply"].as_str().is_some_and(|reply| reply.starts_with("226")), "{version}: {result}");
    }
    Ok(())
}
