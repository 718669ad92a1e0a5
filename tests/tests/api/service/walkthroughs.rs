//! The walk-throughs of the documents do what they say: these tests run each page in one paste, and compare what it
//! prints with what the page shows.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use tillgate_tests::{Receiver, TestGateway};

use crate::delivery::notifications::LOOPBACK;

/// The pages that can be run.
const PAGES: [&str; 5] = ["accounting", "disputes", "review", "risk-walkthrough", "schedules"];

/// Place of something that differs between runs, such as an id or a time.
const ANYTHING: char = '…';

/// A page: its commands, and the lines that it says they print.
struct Walkthrough {
    commands: String,
    expected: Vec<String>,
    /// The command in the page that runs all of its commands.
    runner: String,
}

impl Walkthrough {
    /// Reads a page of the documents.
    fn read(page: &str) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(docs_folder().join(format!("{page}.md")))?;
        let (mut commands, mut expected, mut runner) = (Vec::new(), Vec::new(), Vec::new());
        let mut kind = "";
        for line in text.lines() {
            match line.strip_prefix("```") {
                Some(fence) => kind = if kind.is_empty() { if fence.is_empty() { "plain" } else { fence } } else { "" },
                None => match kind {
                    "sh" => commands.push(line),
                    "text" => expected.push(line.to_owned()),
                    "console" => runner.push(line),
                    _ => {}
                },
            }
        }
        ensure!(!commands.is_empty() && !expected.is_empty() && runner.len() == 1, "{page} is no walk-through");
        Ok(Self { commands: commands.join("\n"), expected, runner: runner.concat() })
    }
}

/// Returns the folder of the documents.
fn docs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// A run of a page that has ended.
struct Run {
    succeeded: bool,
    output: String,
    errors: String,
}

/// Runs a shell command in a folder below which its files are, beside a gateway. Programs in `tools` stand before all
/// others on the path.
async fn run_shell(
    command: &str,
    gateway: &TestGateway,
    tools: &Path,
    variables: &[(&str, String)],
) -> anyhow::Result<Run> {
    let program = tillgate_tests::binary_path();
    let programs = program.parent().context("the program has a folder")?;
    let path = format!("{}:{}:{}", tools.display(), programs.display(), std::env::var("PATH")?);
    let output = tokio::process::Command::new("bash")
        .args(["-euo", "pipefail", "-c", command])
        .current_dir(docs_folder().join(".."))
        .env("PATH", path)
        .env("TMPDIR", tools)
        .env("GATEWAY", gateway.base_url().trim_end_matches('/'))
        .env("TILLGATE_DATA", gateway.data_folder())
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .kill_on_drop(true)
        .output()
        .await?;
    Ok(Run {
        succeeded: output.status.success(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Returns true if a printed line is the expected one, in which an ellipsis stands for anything.
fn is_expected_line(expected: &str, printed: &str) -> bool {
    let mut parts = expected.split(ANYTHING);
    let Some(mut rest) = parts.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Finds the first expected line that was not printed after the ones before it. Other lines may be between them only
/// where the page has a line with nothing but an ellipsis, or none of the page's lines follows directly.
fn find_missing_line<'a>(expected: &'a [String], printed: &str) -> Option<&'a str> {
    let mut lines = printed.lines();
    let is_shown = |line: &&String| !line.chars().all(|c| c == ANYTHING || c.is_whitespace());
    expected.iter().filter(is_shown).find(|line| !lines.any(|other| is_expected_line(line, other))).map(String::as_str)
}

/// Runs a page in one paste, by the command that the page names. Fails if the page fails, or prints something else than
/// it shows.
async fn run_page(page: &str, gateway: &TestGateway, variables: &[(&str, String)]) -> anyhow::Result<()> {
    let (walkthrough, tools) = (Walkthrough::read(page)?, tempfile::tempdir()?);
    let run = run_shell(&walkthrough.runner, gateway, tools.path(), variables).await?;
    ensure!(run.succeeded, "{page}: {}\n{}", run.output, run.errors);
    let missing = find_missing_line(&walkthrough.expected, &run.output);
    ensure!(missing.is_none(), "{page} shows {missing:?}, but prints:\n{}", run.output);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_walk_through_goes_from_a_rule_to_a_decision() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let shop = Receiver::start().await?;
    run_page("risk-walkthrough", &gateway, &[("SHOP", shop.url("decisions"))]).await?;
    let told = shop.next_request().await?;
    assert_eq!(told.body, "transactionid=order-4712&decision=APPROVE&userid=ann");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_month_of_a_shop_ties_out_to_the_cent() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--ftp", "127.0.0.1:0"])?;
    run_page("accounting", &gateway, &[("FTP", gateway.ftp_address()?.to_string())]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_a_review_and_a_schedule_can_be_worked_through() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    for page in ["disputes", "review", "schedules"] {
        run_page(page, &gateway, &[]).await?;
    }
    Ok(())
}

/// Writes a program that stands in for the one of this name.
fn write_tool(folder: &Path, name: &str, script: &str) -> anyhow::Result<()> {
    std::fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n"))?;
    Ok(std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o755))?)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_walk_through_ends_when_a_request_fails_and_says_so() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let path = std::env::var("PATH")?;
    let curl = std::env::split_paths(&path).map(|folder| folder.join("curl")).find(|file| file.is_file());
    let curl = curl.context("there is no curl")?;
    for page in PAGES {
        let walkthrough = Walkthrough::read(page)?;
        for works in [0, 1, 3] {
            let tools = tempfile::tempdir()?;
            // Requests after the first ones fail, and no time passes while the page waits.
            let count = format!("echo >> {0}/calls; [ $(grep -c ^ {0}/calls) -le {works} ]", tools.path().display());
            write_tool(
                tools.path(),
                "curl",
                &format!("{count} || exec {} http://127.0.0.1:9/ -sS\nexec {0} \"$@\"", curl.display()),
            )?;
            write_tool(tools.path(), "sleep", "")?;
            let run = run_shell(&walkthrough.commands, &gateway, tools.path(), &[]).await?;
            let printed = format!("{page} after {works} requests: {}\n{}", run.output, run.errors);
            assert!(!run.succeeded && run.errors.contains("curl: ("), "{printed}");
            // It has not gone on: its last line is missing.
            let last = walkthrough.expected.iter().rev().find(|line| !line.chars().all(|c| c == ANYTHING));
            let is_last = |line: &str| last.is_some_and(|last| is_expected_line(last, line));
            assert!(!run.output.lines().last().is_some_and(is_last), "{printed}");
        }
    }
    Ok(())
}

#[test]
fn an_ellipsis_stands_for_anything_and_lines_are_looked_for_in_order() {
    assert!(is_expected_line("a … c", "a b c") && is_expected_line("…", "") && is_expected_line("a", "a"));
    assert!(!is_expected_line("a … c", "a c") && !is_expected_line("a", "ab") && !is_expected_line("…b…d", "b c"));
    let expected = ["one", "…", "two …"].map(str::to_owned);
    assert_eq!(find_missing_line(&expected, "one\nx\ntwo 2\n"), None);
    assert_eq!(find_missing_line(&expected, "two 2\none\n"), Some("two …"));
}
