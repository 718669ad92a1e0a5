//! docs/risk-walkthrough.md does what it says: this test runs its commands.

use std::os::unix::fs::PermissionsExt;

use anyhow::Context as _;
use tillgate_tests::{Receiver, TestGateway};

use crate::notifications::LOOPBACK;

/// A program in the place of `date`, by which it is the next day as soon as the first payment is made: whoever works
/// through the page may do so at midnight.
const DATE: &str = r#"#!/bin/sh
[ -e payment.json ] || exec "$REAL_DATE" "$@"
if [ "$2" = -d ]; then exec "$REAL_DATE" -u -d "$3 +1 day" "$4"; fi
exec "$REAL_DATE" -u -d '+1 day' "$2"
"#;
const PAGE: &str = include_str!("../../../docs/risk-walkthrough.md");

/// Returns the commands of a page: its blocks of `sh`, in their order.
pub fn read_commands(page: &str) -> String {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks.collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_walk_through_goes_from_a_rule_to_a_decision() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let shop = Receiver::start().await?;
    let folder = tempfile::tempdir()?;
    let program = tillgate_tests::binary_path();
    let programs = program.parent().context("the program has a folder")?;
    let path = std::env::var("PATH")?;
    let date = std::env::split_paths(&path).map(|folder| folder.join("date")).find(|file| file.is_file());
    let tools = tempfile::tempdir()?;
    std::fs::write(tools.path().join("date"), DATE)?;
    std::fs::set_permissions(tools.path().join("date"), PermissionsExt::from_mode(0o755))?;
    let path = format!("{}:{}:{path}", tools.path().display(), programs.display());
    let output = tokio::process::Command::new("bash")
        .args(["-euo", "pipefail", "-c", &read_commands(PAGE)])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("REAL_DATE", date.context("there is a program date")?)
        .env("GATEWAY", gateway.base_url().trim_end_matches('/'))
        .env("TILLGATE_DATA", gateway.data_folder())
        .env("SHOP", shop.url("decisions"))
        .kill_on_drop(true)
        .output()
        .await?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{errors}");
    // The dry run: three of fifteen would have been held, one of them charged back.
    for line in ["checked  15 payments, 2070.00 EUR", "changed  3 payments, 1920.00 EUR"] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let changed = printed.lines().find(|line| line.starts_with("changed")).unwrap_or_default();
    assert!(changed.contains("1 charged back, 640.00 EUR"), "{printed}");
    // The codes that the page shows in its comments, in its order.
    let codes: Vec<&str> = printed.lines().filter(|line| crate::support::has_shape(line, "999.999.999")).collect();
    assert_eq!(codes, ["000.100.110", "100.400.500", "000.100.110"], "{printed}");
    let audit = printed.rsplit("900.00").next().unwrap_or_default();
    assert!(audit.contains("ann") && audit.contains("Called the customer"), "{printed}");
    let told = shop.next_request().await?;
    assert_eq!(told.body, "transactionid=order-4712&decision=APPROVE&userid=ann");
    Ok(())
}
