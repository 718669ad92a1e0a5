//! docs/accounting.md does what it says: this test runs its commands.

use anyhow::Context as _;
use tillgate_tests::TestGateway;

const PAGE: &str = include_str!("../../../docs/accounting.md");

#[tokio::test(flavor = "multi_thread")]
async fn the_first_month_of_a_shop_ties_out_to_the_cent() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--ftp", "127.0.0.1:0"])?;
    let folder = tempfile::tempdir()?;
    let program = tillgate_tests::binary_path();
    let programs = program.parent().context("the program has a folder")?;
    let path = format!("{}:{}", programs.display(), std::env::var("PATH")?);
    let output = tokio::process::Command::new("bash")
        .args(["-euo", "pipefail", "-c", &crate::risk_walkthrough::read_commands(PAGE)])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("TILLGATE_DATA", gateway.data_folder())
        .env("GATEWAY", gateway.base_url().trim_end_matches('/'))
        .env("FTP", gateway.ftp_address()?.to_string())
        .output()
        .await?;
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}\n{errors}");
    assert!(printed.contains("sound"), "{printed}");
    Ok(())
}
