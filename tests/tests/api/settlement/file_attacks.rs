//! Hostile and unlucky settlement files: endless fields, odd bytes, card numbers, two imports at once, and a kill.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway, binary_path, poll_until_blocking};

use crate::settlement::files::*;
use crate::settlement::settlements::read_records;
use crate::support::*;

/// Starts an import in a process of its own.
pub fn start_import(gateway: &TestGateway, entity: &str, path: &std::path::Path) -> anyhow::Result<Child> {
    Ok(Command::new(binary_path())
        .args(["settlement", "import"])
        .arg(path)
        .args(["--institute", entity, "--entity", entity, "--json", "--data"])
        .arg(gateway.data_folder())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?)
}

/// Returns a file with so many lines that no payment matches, each with its own reference.
fn format_many(count: usize) -> String {
    let references: Vec<String> = (0..count).map(|number| format!("R-{number}")).collect();
    let line = |reference| FileLine { reference, order: "order-none", amount: "1.00", ..Default::default() };
    format_file(&references.iter().map(|reference| line(reference.as_str())).collect::<Vec<_>>())
}

fn count_records(gateway: &TestGateway) -> anyhow::Result<usize> {
    let query = "SELECT count(*) FROM reconciliation_record";
    let count: i64 = open_database(gateway)?.query_row(query, [], |row| row.get(0))?;
    Ok(usize::try_from(count)?)
}

#[tokio::test]
async fn a_field_without_an_end_is_one_broken_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let path = write_file(gateway, format!("{HEADER}\n"))?;
    let mut file = fs::OpenOptions::new().append(true).open(&path)?;
    let good = FileLine { kinds: "FEE;MONTHLY", amount: "1.00", ..Default::default() }.format();
    file.write_all(b"L-1;\"")?;
    // A quoted field of 100 MB; the file is sparse.
    let length = file.metadata()?.len();
    file.set_len(length + 100_000_000)?;
    file.write_all(format!("\n{good}\n").as_bytes())?;
    let result = import_path(gateway, &shop.entity_id, &path, &["--on-error", "skip"])?;
    assert_eq!(counts(&result, ["records", "broken"]), [1, 1], "{result}");
    assert_eq!(result["errors"], json!([{ "line": 2, "message": "has more than 65536 bytes" }]));
    fs::remove_file(path)?;
    Ok(())
}

#[tokio::test]
async fn odd_bytes_break_only_their_own_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let good = FileLine { kinds: "FEE;MONTHLY", amount: "1.00", ..Default::default() }.format();
    let with = |reference: &[u8]| [reference, good.as_bytes()].concat();
    for (end, name) in [("\n", "LF"), ("\r\n", "CRLF"), ("\r", "CR")] {
        let mut text = b"\xef\xbb\xbf".to_vec();
        let lines: [Vec<u8>; 9] = [
            HEADER.as_bytes().to_vec(),
            with(format!("\"{name};1\"").as_bytes()),
            with(b"nul\0"),
            with(b"\xff\xfe"),
            with(b"\"open"),
            with(format!("=HYPERLINK(1){name}").as_bytes()),
            with(&[b'x'; 129]),
            vec![b';'; 65_000],
            with(name.as_bytes()),
        ];
        lines.iter().for_each(|line| text.extend([line.as_slice(), end.as_bytes()].concat()));
        let result = import_text(gateway, &shop, &text, &["--on-error", "skip"])?;
        // The line of separators has no value, and is none.
        assert_eq!(counts(&result, ["records", "broken", "known"]), [3, 4, 0], "{name}: {result}");
        let numbers: Vec<u64> =
            result["errors"].as_array().into_iter().flatten().filter_map(|fault| fault["line"].as_u64()).collect();
        assert_eq!(numbers, [3, 4, 5, 7], "{name}: {result}");
    }
    for (text, message) in [
        ("", "no header line"),
        ("\n", "lacks the column"),
        ("a;b\n1;2\n", "line 1"),
        (&*format!("{HEADER};Amount\n"), "Amount twice"),
        (&*format!("{HEADER};Extra\n"), "column 14"),
    ] {
        let refused = error_text(import_text(gateway, &shop, text, &["--on-error", "skip"]));
        assert!(refused.contains(message), "{message}: {refused}");
    }
    let refused = error_text(import_path(gateway, &shop.entity_id, std::path::Path::new("/dev/zero"), &[]));
    assert!(refused.contains("no regular file"), "{refused}");
    Ok(())
}

#[tokio::test]
async fn a_full_card_number_is_neither_stored_nor_printed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    const CARD: &str = "5555555555554444";
    let grouped = "5555 5555 5555 4444";
    let line = |reference, order, reason| FileLine { reference, order, reason, amount: "1.00", ..Default::default() };
    let lines = [
        line("L-1", CARD, ""),
        line(grouped, "order-0001", ""),
        line("L-3", "order-0001", CARD),
        FileLine { amount: CARD, ..line("L-4", "order-0001", "") },
        FileLine { currency: CARD, ..line("L-5", "order-0001", "") },
    ];
    let result = import_text(&gateway, &shop, format_file(&lines), &["--on-error", "skip"])?;
    assert_eq!(counts(&result, ["records", "broken"]), [0, 5], "{result}");
    assert!(!result.to_string().contains("55555"), "{result}");
    assert!(!gateway.read_log().contains("55555"));
    assert!(memchr::memmem::find(&gateway.read_stored_bytes()?, b"55555555").is_none());
    Ok(())
}

#[tokio::test]
async fn two_imports_at_once_take_each_line_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut lines = Vec::new();
    for number in 0..20 {
        lines.push((pay_externally(&shop, "10.00", &format!("order-{number:04}")).await?.id().to_owned(), number));
    }
    let settled: Vec<FileLine<'_>> = lines
        .iter()
        .map(|(payment, _)| FileLine { payment, amount: "10.00", fee: "0.10", ..Default::default() })
        .collect();
    let text = format!("{}{}", format_file(&settled), format_many(400).split_once('\n').unwrap_or_default().1);
    let path = write_file(&gateway, text)?;
    let imports = (0..3).map(|_| start_import(&gateway, &shop.entity_id, &path)).collect::<Result<Vec<_>, _>>()?;
    let mut records = 0;
    for import in imports {
        let output = import.wait_with_output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        records += serde_json::from_slice::<Value>(&output.stdout)?["records"].as_u64().unwrap_or(0);
    }
    assert_eq!((records, count_records(&gateway)?), (420, 420));
    assert_eq!((read_euros(&shop, "receivable").await?, read_euros(&shop, "fees").await?), (0, -200));
    assert_verified(&gateway)
}

#[tokio::test]
async fn an_import_that_was_killed_is_completed_by_another_one() -> anyhow::Result<()> {
    const LINES: usize = 3000;
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let path = write_file(&gateway, format_many(LINES))?;
    let mut import = start_import(&gateway, &shop.entity_id, &path)?;
    poll_until_blocking("some lines are taken", || Ok((count_records(&gateway)? > 0).then_some(())))?;
    import.kill()?;
    import.wait()?;
    let taken = count_records(&gateway)?;
    assert!((1..LINES).contains(&taken), "{taken}");
    // The gateway goes on while a file is imported.
    let mut import = start_import(&gateway, &shop.entity_id, &path)?;
    let mut slowest = Duration::ZERO;
    while import.try_wait()?.is_none() {
        let began = Instant::now();
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
        slowest = slowest.max(began.elapsed());
    }
    let output = import.wait_with_output()?;
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let [records, known, lines] = counts(&result, ["records", "known", "lines"]);
    assert_eq!((records, known, lines), ((LINES - taken) as u64, taken as u64, LINES as u64), "{result}");
    assert_eq!(count_records(&gateway)?, LINES);
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    assert_verified(&gateway)
}

#[tokio::test]
async fn options_and_mappings_that_cannot_be_meant_are_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop: MerchantClient = gateway.create_merchant()?;
    let path = write_file(gateway, format!("{HEADER}\n"))?;
    let psp = gateway.create_merchant_with(&["--level", "psp"])?;
    let refused = error_text(import_path(gateway, &psp.entity_id, &path, &[]));
    assert!(refused.contains("divisions and merchants"), "{refused}");
    let name = path.to_string_lossy();
    for institute in ["", " Acme", "A\nB", &"x".repeat(65)] {
        let arguments = ["settlement", "import", &name, "--institute", institute, "--entity", &shop.entity_id];
        assert!(error_text(gateway.run_command(&arguments)).contains("the institute's name"), "{institute:?}");
    }
    let mapping = gateway.folder().join(format!("mapping-{}.toml", shop.entity_id));
    for (text, message) in [
        ("format = \"X\"\ncolour = 1", "colour"),
        ("format = \"X\"\n[columns]\namount = \"a\"\nfee = \"a\"", "columns.fee"),
        ("format = \"X\"\nformat = \"Y\"", "format"),
        (&*"#".repeat(2_000_000), "larger than 1048576 bytes"),
    ] {
        fs::write(&mapping, text)?;
        let options = ["--mapping", &mapping.to_string_lossy()];
        let refused = error_text(import_path(gateway, &shop.entity_id, &path, &options));
        assert!(refused.contains(message), "{message}: {refused}");
    }
    assert!(read_records(&shop).await?.is_empty());
    Ok(())
}
