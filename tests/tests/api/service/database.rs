//! The store in PostgreSQL: the address of the database, starts that must not happen, and copies. These tests run on
//! PostgreSQL whatever the database of the others is.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use anyhow::Context as _;
use tempfile::TempDir;
use tillgate_test_cluster::Cluster;
use tillgate_tests::poll_until;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::service::command_line::{output_text, read_command_helps, tillgate_command};
use crate::service::machine::{Machine, cluster};
use crate::support::*;

const PASSWORD: &str = "hunter2-pass";

/// Returns what the first line of an error says.
fn sentence(text: &str) -> &str {
    text.lines().find(|line| line.starts_with("tillgate: ")).unwrap_or(text)
}

#[tokio::test]
async fn a_password_in_the_list_of_processes_is_refused_with_the_ways_out() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    for address in [
        format!("postgres://me:{PASSWORD}@127.0.0.1/tillgate"),
        format!("postgres://127.0.0.1/tillgate?user=me&password={PASSWORD}"),
    ] {
        for arguments in [vec!["--database", &address], vec![&*format!("--database={address}")]] {
            for command in [&["serve", "--data", data][..], &["entity", "list", "--data", data]] {
                let output = tillgate_command(&[command, &arguments].concat()).output().await?;
                let text = output_text(&output);
                assert!(!output.status.success() && !text.contains(PASSWORD), "{text}");
                for way in ["list of processes", "TILLGATE_DATABASE", "--database-password-file"] {
                    assert!(text.contains(way), "{text}");
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_wrong_address_is_named_without_what_it_contains() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    for (address, expected) in [
        (String::new(), "is not valid"),
        (format!("mysql://me:{PASSWORD}@db/tillgate"), "is not valid"),
        (format!("host=db user=me password={PASSWORD} dbname=tillgate"), "is not valid"),
        (format!("postgres://me:a@{PASSWORD}@db/tillgate"), "is not valid"),
        (format!("postgres://me:1/{PASSWORD}@db/tillgate"), "is not valid"),
        (format!("postgres://me:1?{PASSWORD}@db/tillgate"), "is not valid"),
        (format!("postgres://me:1#{PASSWORD}@db/tillgate"), "is not valid"),
        (format!("postgres://me:{PASSWORD}@db/tillgate?sslmode=prefer"), "sslmode must be"),
        (format!("postgres://me:{PASSWORD}@db/tillgate?sslrootcert=/absent"), "sslrootcert: /absent"),
        (format!("postgres://me:{PASSWORD}@db"), "names no database"),
        (format!("postgres:///tillgate?password={PASSWORD}"), "names no host"),
        (format!("postgres://me:{PASSWORD}@127.0.0.1:1/tillgate"), "The database cannot be reached"),
    ] {
        let machine = machine.another()?.with_address(&address);
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["entity", "list"], &["verify"]] {
            let text = machine.refuse(command).await?;
            assert!(text.contains(expected) && !text.contains(PASSWORD), "{address}: {text}");
            assert_eq!(text.lines().filter(|line| line.starts_with("tillgate:")).count(), 1, "{text}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_password_file_is_one_line_of_its_owner() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    let file = machine.folder.path().join("password");
    let path = file.to_str().context("a path")?;
    for (content, mode, expected) in
        [("", 0o600, "one line"), ("a\nb\n", 0o600, "one line"), ("a\n", 0o644, "chmod 600")]
    {
        std::fs::write(&file, content)?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode))?;
        let text = machine.refuse(&["entity", "list", "--database-password-file", path]).await?;
        assert!(text.contains(expected) && text.contains(path), "{text}");
    }
    for content in [format!("{PASSWORD}\n"), format!("\u{feff}{PASSWORD}\r\n")] {
        std::fs::write(&file, content)?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))?;
        let mut create = machine.command(&["entity", "create", "--name", "x", "--database-password-file", path]);
        assert!(create.output().await?.status.success());
    }
    let both = machine.another()?.with_address(&format!("postgres://me:{PASSWORD}@127.0.0.1/tillgate"));
    let text = both.refuse(&["entity", "list", "--database-password-file", path]).await?;
    assert!(text.contains("leave one of them out") && !text.contains(PASSWORD), "{text}");
    let absent = tillgate_command(&["entity", "list", "--database-password-file", path]).output().await?;
    assert!(!absent.status.success() && output_text(&absent).contains("--database"), "{}", output_text(&absent));
    Ok(())
}

#[tokio::test]
async fn a_database_that_is_no_store_is_refused_in_one_sentence_and_left_as_it_is() -> anyhow::Result<()> {
    let cases = [
        ("CREATE TABLE orders (id integer)", "a table orders of another program"),
        ("CREATE TABLE schema_version (version integer)", "a table schema_version of another program"),
        (
            "CREATE TABLE schema_version (version bigint); INSERT INTO schema_version VALUES (3)",
            "a table schema_version of another program",
        ),
        (
            "CREATE TABLE schema_version (version bigint); INSERT INTO schema_version VALUES (1000000)",
            "has version 1000000 of the schema",
        ),
        ("ALTER DATABASE NAME SET default_transaction_read_only = on", "takes no work"),
    ];
    for (script, expected) in cases {
        let machine = Machine::new()?;
        cluster().run_sql(machine.database(), &script.replace("NAME", machine.database()))?;
        for command in
            [&["serve", "--listen", "127.0.0.1:0"][..], &["entity", "list"], &["entity", "create", "--name", "x"]]
        {
            let text = machine.refuse(command).await?;
            assert!(text.contains(expected) && text.contains(machine.database()), "{script}: {text}");
            assert!(!text.contains("panicked"), "{text}");
        }
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
        let count: u32 = cluster().run_sql(machine.database(), tables)?.parse()?;
        assert!(count <= 1, "{script}: {count}");
    }
    Ok(())
}

#[tokio::test]
async fn a_database_whose_texts_are_not_compared_by_their_bytes_is_refused_with_the_statement_that_makes_a_right_one()
-> anyhow::Result<()> {
    let machine = Machine::new()?;
    let name = format!("{}_latin", machine.database());
    let create = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
    cluster().run_sql("postgres", &create)?;
    let machine = machine.with_address(&cluster().address(&name));
    let text = machine.refuse(&["serve", "--listen", "127.0.0.1:0"]).await?;
    assert!(text.contains("LATIN1") && text.contains("ENCODING 'UTF8' LOCALE 'C'"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_command_makes_no_store_of_a_mistyped_database() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    let text = machine.refuse(&["token", "list"]).await?;
    assert!(text.contains("there is no store in"), "{text}");
    assert_eq!(
        cluster().run_sql(machine.database(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")?,
        "0"
    );
    let text = machine.another()?.with_address(&cluster().address("absent")).refuse(&["token", "list"]).await?;
    assert!(sentence(&text).contains("does not exist"), "{text}");
    Ok(())
}

#[tokio::test]
async fn what_works_on_the_file_only_names_what_to_do_with_a_database() -> anyhow::Result<()> {
    let machine = Machine::new()?.with_address(&format!("postgres://me:{PASSWORD}@127.0.0.1:1/tillgate"));
    for (command, expected) in [
        (&["backup", "--to", "x.db"][..], "pg_dump"),
        (&["restore", "--from", "x.db"], "pg_restore"),
        (&["restore", "--from", "x.db"], "tillgate verify --database"),
        (&["seal", "accept", "--table", "token", "--reason", "x"], "no seal"),
        (&["demo"], "data folder"),
        (&["demo-data", "--entity", "8a"], "data folder"),
    ] {
        let text = machine.refuse(command).await?;
        assert!(text.contains(expected) && text.contains("--database (TILLGATE_DATABASE)"), "{text}");
        assert!(!text.contains(PASSWORD), "{text}");
    }
    assert!(!machine.data().exists());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn several_writers_are_for_a_database_and_a_folder_refuses_them() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--writers", "2", "--data", &data.to_string_lossy()];
    let output = tillgate_command(&serve).env_remove("TILLGATE_DATABASE").output().await?;
    assert!(output_text(&output).contains("--writers is for a database"), "{}", output_text(&output));
    assert!(!output.status.success() && !data.join("tillgate.db").exists());
    let machine = Machine::new()?;
    let mut command = machine.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server = command.env("TILLGATE_WRITERS", "1").stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let line = BufReader::new(server.stdout.take().context("no output")?).lines().next_line().await?;
    let base = format!("{}/", line.context("no server")?.trim_start_matches("listening on "));
    let shop = machine.create_merchant(&base).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(server.kill().await?)
}

#[tokio::test]
async fn neither_log_nor_help_nor_health_nor_audit_log_has_the_password() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    let address = format!("{}&password={PASSWORD}", machine.address);
    let machine = machine.with_address(&address);
    let (_server, base) = machine.serve().await?;
    let shop = machine.create_merchant(&base).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let health = reqwest::get(format!("{base}health")).await?.text().await?;
    let audit = machine.succeed(&["audit", "export"]).await?;
    let debug = machine.command(&["verify"]).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1").output().await?;
    let mut texts = vec![health, audit, output_text(&debug), machine.log()];
    for command in read_command_helps().await?.keys() {
        let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let mut help = tillgate_command(&arguments);
        texts.push(output_text(&help.env("TILLGATE_DATABASE", &machine.address).output().await?));
    }
    assert!(texts.len() > 60);
    for text in texts {
        assert!(!text.contains(PASSWORD) && !text.is_empty(), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn a_restored_copy_of_a_database_is_verified_and_a_changed_one_is_found() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    let (mut server, base) = machine.serve().await?;
    let shop = machine.create_merchant(&base).await?;
    let paid = shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    let verified = machine.succeed(&["verify"]).await?;
    assert!(verified.contains(", sound;") && verified.contains("no seal of its rows"), "{verified}");
    machine.succeed(&["audit", "verify"]).await?;
    server.kill().await?;
    let copy = format!("{}_copy", machine.database());
    cluster().run_sql("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {}", machine.database()))?;
    let address = cluster().address(&copy);
    let restored = machine.with_address(&address);
    restored.succeed(&["verify"]).await?;
    cluster().run_sql(&copy, "UPDATE balance SET receivable = receivable + 1, cash = cash - 1")?;
    let text = restored.refuse(&["verify"]).await?;
    assert!(text.contains("faults were found"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merchant_whose_latest_entries_are_gone_from_the_audit_log_is_noticed() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    let (mut server, base) = machine.serve().await?;
    let shops = [machine.create_merchant(&base).await?, machine.create_merchant(&base).await?];
    for shop in &shops {
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    server.kill().await?;
    let is_bound = |export: &str| export.lines().last().is_some_and(|line| line.contains("\"audit bind\""));
    let (mut server, _) = machine.serve().await?;
    poll_until("the ends of the chains are bound", async || {
        Ok(is_bound(&machine.succeed(&["audit", "export"]).await?).then_some(()))
    })
    .await?;
    let verified = machine.succeed(&["audit", "verify"]).await?;
    let head = verified.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    server.kill().await?;
    let shop = &shops[0].entity_id;
    let newest = format!("number = (SELECT max(number) FROM audit_entry WHERE entity = '{shop}')");
    let edits = [
        (format!("DELETE FROM audit_entry WHERE {newest}"), "binds other ends"),
        (format!("DELETE FROM audit_entry WHERE entity = '{shop}'"), "binds other ends"),
        (format!("UPDATE audit_entry SET entity = '{}' WHERE {newest}", shops[1].entity_id), "entries are missing"),
        (format!("UPDATE audit_entry SET number = number - 1 + 1000000 WHERE {newest}"), "binds other ends"),
        ("DELETE FROM audit_entry WHERE number = (SELECT max(number) FROM audit_entry)".to_owned(), "another head"),
    ];
    let (original, mut restored) = (machine.database().to_owned(), machine);
    for (number, (edit, expected)) in edits.iter().enumerate() {
        let copy = format!("{original}_{number}");
        cluster().run_sql("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {original}"))?;
        restored = restored.with_address(&cluster().address(&copy));
        restored.succeed(&["audit", "verify", "--head", &head]).await?;
        cluster().run_sql(&copy, &format!("ALTER TABLE audit_entry DISABLE TRIGGER ALL; {edit}"))?;
        let text = restored.refuse(&["audit", "verify", "--head", &head]).await?;
        assert!(text.contains(expected), "{edit}: {text}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_outlives_its_database_and_says_what_is_wrong_meanwhile() -> anyhow::Result<()> {
    let own = Cluster::start(&["fsync=on"])?;
    let machine = Machine { folder: TempDir::new()?, address: own.create_database()?, node: "tx01".to_owned() };
    let (_server, base) = machine.serve().await?;
    let shop = machine.create_merchant(&base).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    own.crash_and_restart()?;
    poll_until("payments succeed again", async || {
        let paid = shop.pay_by_card(&[]).await?;
        assert!(paid.status == 200 || paid.status == 503, "{}", paid.text);
        Ok((paid.status == 200).then_some(()))
    })
    .await?;
    drop(own);
    let health = poll_until("the health check fails", async || {
        let health = reqwest::get(format!("{base}health")).await?;
        Ok((health.status() == 503).then_some(health))
    })
    .await?;
    let health: serde_json::Value = health.json().await?;
    assert_eq!(health["reason"], "database-unreachable", "{health}");
    let paid = shop.pay_by_card(&[]).await?;
    assert_eq!(paid.status, 503, "{}", paid.text);
    assert!(paid.headers.contains_key("retry-after"));
    Ok(())
}

#[tokio::test]
async fn the_folder_of_a_machine_gets_no_file_of_the_store() -> anyhow::Result<()> {
    let machine = Machine::new()?;
    let (_server, base) = machine.serve().await?;
    machine.create_merchant(&base).await?;
    assert!(machine.data().join("control.sock").exists());
    assert!(!machine.data().join("tillgate.db").exists());
    assert_eq!(folder_mode(&machine.data())?, 0o700);
    Ok(())
}

fn folder_mode(path: &Path) -> anyhow::Result<u32> {
    Ok(std::fs::metadata(path)?.permissions().mode() & 0o777)
}
