//! `tillgate risk`: checks rules and tries them out, without a data folder. docs/risk.md does what it says.

use std::path::PathBuf;
use std::process::Output;

use anyhow::Context as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service::command_line::run_tillgate;

const PAGE: &str = include_str!("../../../../docs/risk.md");

/// Returns the last code block of a language on the page.
fn find_block(language: &str) -> anyhow::Result<&'static str> {
    let rest = PAGE.rsplit_once(&format!("```{language}\n")).context("no such block")?.1;
    Ok(rest.split("```").next().unwrap_or_default())
}

/// Files in a folder of their own.
struct Files(TempDir);

impl Files {
    fn new() -> anyhow::Result<Self> {
        Ok(Self(TempDir::new()?))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> anyhow::Result<String> {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, content)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Returns the options for the lists of the page.
    fn write_lists(&self) -> anyhow::Result<[String; 4]> {
        Ok([
            "--networks".to_owned(),
            self.write("networks.csv", find_block("csv")?)?,
            "--disposable".to_owned(),
            self.write("disposable.txt", find_block("text")?)?,
        ])
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn evaluate(rules: &str, input: &str, more: &[&str]) -> anyhow::Result<Output> {
    run_tillgate(&[&["risk", "evaluate", rules, "--input", input], more].concat()).await
}

#[tokio::test]
async fn the_starter_rules_pass_the_check_and_judge_the_examples_as_the_page_says() -> anyhow::Result<()> {
    let files = Files::new()?;
    let rules = files.write("rules.toml", find_block("toml")?)?;
    let payments = files.write("payments.json", find_block("json")?)?;
    let lists = files.write_lists()?;
    let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
    let checked = run_tillgate(&["risk", "check", &rules]).await?;
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let printed = text(&checked.stdout);
    assert!(printed.contains("rules       15") && printed.contains("counters    5"), "{printed}");
    let assessed = evaluate(&rules, &payments, &lists).await?;
    assert!(assessed.status.success(), "{}", text(&assessed.stderr));
    assert_eq!(text(&assessed.stdout), find_block("console")?);
    Ok(())
}

#[tokio::test]
async fn programs_get_json_in_the_shape_of_the_input() -> anyhow::Result<()> {
    let files = Files::new()?;
    let rules = files.write("rules.toml", find_block("toml")?)?;
    let checked = run_tillgate(&["risk", "check", &rules, "--json"]).await?;
    let checked: Value = serde_json::from_slice(&checked.stdout)?;
    assert_eq!(checked["thresholds"], json!({ "challenge": 30, "review": 60, "deny": 100 }));
    assert_eq!(checked["rules"].as_array().map(Vec::len), Some(15), "{checked}");
    assert_eq!(checked["zone"], "Europe/Berlin");

    let payment = json!({ "amount": "9.00", "currency": "EUR", "billing.country": "DE", "cvv": "N" });
    let one = files.write("one.json", payment.to_string())?;
    let many = files.write("many.json", json!([payment]).to_string())?;
    let one: Value = serde_json::from_slice(&evaluate(&rules, &one, &["--json"]).await?.stdout)?;
    let many: Value = serde_json::from_slice(&evaluate(&rules, &many, &["--json"]).await?.stdout)?;
    assert_eq!(many, json!([one]));
    assert_eq!(one["version"], checked["version"]);
    assert_eq!((&one["outcome"], &one["score"], &one["code"]), (&json!("deny"), &json!(0), &Value::Null));
    assert_eq!((&one["fired"], &one["inputs"]), (&json!(["wrong security code"]), &json!(["cvv"])));
    Ok(())
}

#[tokio::test]
async fn every_error_is_printed_with_file_line_and_column() -> anyhow::Result<()> {
    let files = Files::new()?;
    let wrong = "zone = 'Mars'\n[[rule]]\nname = 'a'\nscore = 1\nwhen = 'bilingCountry = \"DE\"'\n";
    let rules = files.write("rules.toml", wrong)?;
    let output = run_tillgate(&["risk", "check", &rules]).await?;
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    let lines: Vec<&str> = errors.lines().collect();
    let second = "5:9: there is no fact `bilingCountry`; did you mean `billing.country`?";
    assert!(lines[0].starts_with(&format!("{rules}:1:8: ")), "{errors}");
    assert_eq!(lines[1], format!("{rules}:{second}"));
    assert_eq!(lines[2], format!("tillgate: {rules} has 2 errors"));

    let output = run_tillgate(&["risk", "check", &rules, "--json"]).await?;
    assert_eq!(output.status.code(), Some(1));
    let errors: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!((&errors["errors"][1]["line"], &errors["errors"][1]["column"]), (&json!(5), &json!(9)), "{errors}");
    Ok(())
}

#[tokio::test]
async fn files_that_cannot_be_used_are_refused_with_a_reason() -> anyhow::Result<()> {
    let files = Files::new()?;
    let good = files.write("good.toml", "")?;
    for (content, reason) in [
        (&b"zone = '\xff'\n"[..], ":1:9: this is not UTF-8"),
        (&[b'#'; 1_048_577][..], "larger than 1048576 bytes"),
        (&b"\0"[..], ":1:1: "),
    ] {
        let rules = files.write("rules.toml", content)?;
        let output = run_tillgate(&["risk", "check", &rules]).await?;
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(reason), "{reason}: {}", text(&output.stderr));
    }
    for (payments, reason) in [
        ("3", "neither a JSON object nor an array"),
        ("{", "not JSON"),
        ("[{}, 3]", "payment 2 is not an object"),
        (r#"{ "card.number": "4200000000000042" }"#, "no card data in a file"),
        (r#"{ "card.cvv": "123" }"#, "no card data in a file"),
        (r#"{ "bilingCountry": "DE" }"#, "did you mean `billing.country`?"),
        (r#"{ "billing.country": "de" }"#, "two uppercase letters"),
        (r#"{ "amount": "1.00" }"#, "needs a `currency`"),
        (r#"{ "bin": "42" }"#, "six or eight digits"),
        (r#"{ "at": "yesterday" }"#, "write a time"),
        (r#"{ "account.age": "3 weeks" }"#, "write a duration"),
        (r#"{ "browser": "all" }"#, "list of names"),
    ] {
        let input = files.write("payments.json", payments)?;
        let output = evaluate(&good, &input, &[]).await?;
        assert_eq!(output.status.code(), Some(1), "{payments}");
        let printed = text(&output.stderr);
        assert!(printed.contains(reason), "{payments}: {printed}");
        assert!(!printed.contains("4200000000000042"), "{printed}");
    }
    let networks = files.write("networks.csv", "10.0.0.0/8,DE\n10.0.0.0/8,FR\n")?;
    let input = files.write("payments.json", "{}")?;
    let output = evaluate(&good, &input, &["--networks", &networks]).await?;
    assert!(text(&output.stderr).contains(&format!("{networks}:2:1: ")), "{}", text(&output.stderr));
    Ok(())
}
