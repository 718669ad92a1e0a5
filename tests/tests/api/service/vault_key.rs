//! The vault's key: its file, its permissions, and the environment variable in its place.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;
use tillgate_tests::TestGateway;

use crate::service::command_line::{output_text, run_tillgate};
use crate::support::*;

#[tokio::test]
async fn the_vaults_key_is_its_owners_alone_and_lies_outside_the_data() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let key = gateway.folder().join("data.key");
    assert_eq!(std::fs::metadata(&key)?.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&key)?.trim().len(), 64);
    assert_eq!(std::fs::metadata(gateway.data_folder())?.permissions().mode() & 0o077, 0);
    for content in gateway.read_data_files()? {
        let secret = std::fs::read(&key)?;
        assert!(!content.windows(64).any(|window| window == &secret[..64]));
    }
    Ok(())
}

#[tokio::test]
async fn a_key_where_others_find_it_is_refused() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let serve = async |key: &Path| {
        let key = key.to_str().unwrap_or_default();
        run_tillgate(&["serve", "--data", data, "--listen", "127.0.0.1:0", "--key-file", key]).await
    };
    let inside = Path::new(data).join("vault.key");
    let around = folder.path().join("elsewhere/../data/vault.key");
    std::fs::create_dir(folder.path().join("elsewhere"))?;
    for key in [&inside, &around] {
        let output = serve(key).await?;
        assert!(
            !output.status.success() && output_text(&output).contains("inside the data folder"),
            "{}",
            output_text(&output)
        );
        assert!(!inside.exists(), "{} was made", inside.display());
    }
    let open = folder.path().join("open.key");
    std::fs::write(&open, "0".repeat(64))?;
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644))?;
    let output = serve(&open).await?;
    assert!(!output.status.success() && output_text(&output).contains("chmod 600"), "{}", output_text(&output));
    let short = folder.path().join("short.key");
    std::fs::write(&short, "0123")?;
    std::fs::set_permissions(&short, std::fs::Permissions::from_mode(0o600))?;
    let output = serve(&short).await?;
    assert!(
        !output.status.success() && output_text(&output).contains("64 hexadecimal digits"),
        "{}",
        output_text(&output)
    );
    assert!(!output_text(&output).contains("0123\n"), "{}", output_text(&output));
    Ok(())
}

#[tokio::test]
async fn the_key_may_come_from_the_environment() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with_environment(&[], &[("TILLGATE_VAULT_KEY", &"0f".repeat(32))])?;
    let shop = gateway.create_merchant()?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    assert!(!gateway.folder().join("data.key").exists());
    let broken = TestGateway::start_with_environment(&[], &[("TILLGATE_VAULT_KEY", "nonsense")]);
    let error = broken.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("TILLGATE_VAULT_KEY") && !error.contains("nonsense"), "{error}");
    Ok(())
}
