//! Text files of operators, as Windows writes them: with a byte order mark, and with carriage returns. Each option that
//! names a text file takes both.

use std::path::{Path, PathBuf};

use tillgate_tests::TestGateway;

use crate::service::command_line::run_tillgate;

const MARK: &str = "\u{feff}";
const RULES: &str = "[[rule]]\nname = \"r\"\noutcome = \"deny\"\nwhen = 'amount > 5'\n";
const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";

/// A case: the command, with `FILE` for the file, and the text of the file.
struct FileCase {
    command: &'static [&'static str],
    text: &'static str,
}

const fn case(command: &'static [&'static str], text: &'static str) -> FileCase {
    FileCase { command, text }
}

/// Commands that work with a data folder, whose merchant is `ENTITY`.
const WITH_DATA: &[FileCase] = &[
    case(&["risk", "add", "ENTITY", "FILE"], RULES),
    case(&["settlement", "set", "ENTITY", "--file", "FILE"], "cut_off = \"18:00\"\ncurrency = \"EUR\"\n"),
    case(&["fx-rate", "import", "FILE"], "date,from,to,rate\n2026-11-01,USD,EUR,0.8641\n"),
    case(
        &["review-callback", "set", "--entity", "ENTITY", "FILE"],
        "urls = [\"https://shop.example/\"]\nkeys = [{ name = \"d\", field = \"decision\" }, { name = \"t\", field = \"transactionId\" }]\n",
    ),
    case(
        &["file-push", "set", "--entity", "ENTITY", "--url", "ftp://shop@files.example/", "--password-file", "FILE"],
        "s3cret\n",
    ),
];

/// Commands that need no data folder.
const ALONE: &[FileCase] = &[
    case(&["risk", "check", "FILE"], RULES),
    case(
        &["risk", "evaluate", "RULES", "--input", "FILE"],
        "[{ \"at\": \"2026-03-02T12:04:00Z\", \"amount\": \"7.00\", \"currency\": \"EUR\" }]\n",
    ),
];

fn variants(text: &str) -> [String; 4] {
    let windows = text.replace('\n', "\r\n");
    [text.to_owned(), format!("{MARK}{text}"), windows.clone(), format!("{MARK}{windows}")]
}

fn fill(command: &[&str], file: &Path, rules: &Path, entity: &str) -> Vec<String> {
    let path = |path: &Path| path.to_str().unwrap_or_default().to_owned();
    command
        .iter()
        .map(|word| match *word {
            "FILE" => path(file),
            "RULES" => path(rules),
            "ENTITY" => entity.to_owned(),
            word => word.to_owned(),
        })
        .collect()
}

#[tokio::test]
async fn a_text_file_means_the_same_with_a_mark_and_with_the_lines_of_windows() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (file, rules): (PathBuf, PathBuf) = (gateway.folder().join("file"), gateway.folder().join("rules.toml"));
    std::fs::write(&rules, RULES)?;
    for FileCase { command, text } in WITH_DATA {
        for variant in variants(text) {
            std::fs::write(&file, &variant)?;
            let command = fill(command, &file, &rules, &shop.entity_id);
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            gateway.run_command(&words).map_err(|error| error.context(format!("{variant:?}")))?;
        }
        // UTF-16, as editors that call it Unicode write it, is named.
        let utf16: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        std::fs::write(&file, utf16)?;
        let command = fill(command, &file, &rules, &shop.entity_id);
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let said = gateway.run_command(&words).expect_err("a refusal").to_string();
        assert!(said.contains("UTF-16"), "{said}");
    }
    for FileCase { command, text } in ALONE {
        let mut outputs = Vec::new();
        for variant in variants(text) {
            std::fs::write(&file, &variant)?;
            let command = fill(command, &file, &rules, "");
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let output = run_tillgate(&words).await?;
            assert!(output.status.success(), "{words:?} {variant:?}: {}", String::from_utf8_lossy(&output.stderr));
            outputs.push(output.stdout);
        }
        assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]), "{command:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_server_takes_its_files_with_a_mark() -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let list = |gateway: &Path, name: &str, text: &str| -> anyhow::Result<String> {
        let path = gateway.join(name);
        std::fs::write(&path, format!("{MARK}{}", text.replace('\n', "\r\n")))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        Ok(path.to_string_lossy().into_owned())
    };
    let folder = tempfile::TempDir::new()?;
    let networks = list(folder.path(), "networks", "network,country\n203.0.113.0/24,FR\n")?;
    let domains = list(folder.path(), "domains", "trash.example\n")?;
    let bins = list(folder.path(), "bins", "bin,country,funding\n42000000,DE,debit\n")?;
    let key = list(folder.path(), "key", KEY)?;
    let acquirer = list(folder.path(), "acquirer", KEY)?;
    let upstream = list(folder.path(), "upstream", "0123456789abcdef\n")?;
    let rules = "[schedules]\nstop = []\n[schemes.s]\nbrands = ['VISA']\nlimits = [{ attempts = 1, within = '1d' }]\n";
    let rules = list(folder.path(), "rules", rules)?;
    let gateway = TestGateway::start_with(&[
        "--retry-rules",
        &rules,
        "--risk-networks",
        &networks,
        "--risk-disposable",
        &domains,
        "--risk-bins",
        &bins,
        "--key-file",
        &key,
        "--acquirer",
        "http://127.0.0.1:9/",
        "--acquirer-key-file",
        &acquirer,
        "--upstream",
        "http://127.0.0.1:9/",
        "--upstream-token-file",
        &upstream,
    ])?;
    assert_eq!(reqwest::get(format!("{}health", gateway.base_url())).await?.status(), 200);
    Ok(())
}
