//! Another codec, in a process of its own, finds the same values in our messages and makes the same bytes of them.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::random::any_message;
use super::*;
use crate::iso8583::layout::ValueLength;

/// Messages of each dialect.
const MESSAGES: usize = 400;

static SHIPPED: LazyLock<Vec<Dialect>> =
    LazyLock::new(|| DIALECTS.iter().map(|(_, text)| Dialect::parse(text).unwrap()).collect());

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Returns a message as a line for the other codec. Of a composite field it compares the bytes.
fn describe_message(dialect: &Dialect, message: &IsoMessage) -> Value {
    let (bytes, places) = dialect.encode_with_places(message).unwrap();
    let describe = |number: u8, value: &IsoValue| match value {
        IsoValue::Text(text) => json!(["text", text]),
        IsoValue::Bytes(bytes) => json!(["bytes", hex(bytes)]),
        IsoValue::Composite(_) => {
            let length = &dialect.field_layout(number).unwrap().value.length;
            let prefix = match length {
                ValueLength::Prefixed { prefix, .. } => prefix.coding.encoded_bytes(prefix.size),
                _ => 0,
            };
            let place = places.find(number).unwrap();
            json!(["raw", hex(&bytes[place.start + prefix..place.end])])
        }
    };
    let fields: serde_json::Map<String, Value> =
        message.fields().map(|(number, value)| (number.to_string(), describe(number, value))).collect();
    json!({
        "dialect": dialect.name(), "mti": message.mti().to_string(), "bytes": hex(&bytes), "fields": fields,
    })
}

#[test]
fn pyiso8583_finds_the_values_of_our_messages_and_makes_the_same_bytes() {
    let python = std::env::var("TILLGATE_PYISO8583").expect("`cargo xtask test` installs pyiso8583");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/iso8583");
    let files = DIALECTS.map(|(name, _)| folder.join(format!("dialects/{name}.toml")));
    let mut runner = TestRunner::deterministic();
    let mut lines = Vec::new();
    for dialect in SHIPPED.iter() {
        let messages = any_message(dialect);
        for _ in 0..MESSAGES {
            let message = messages.new_tree(&mut runner).unwrap().current();
            writeln!(lines, "{}", describe_message(dialect, &message)).unwrap();
        }
    }
    let mut check = Command::new(python);
    check.arg(folder.join("tests/pyiso8583_check.py")).args(files);
    let mut check = check.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A codec that finds a difference ends before it has read everything.
    let _ = check.stdin.take().unwrap().write_all(&lines);
    let output = check.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), (MESSAGES * DIALECTS.len()).to_string(), "{errors}");
}
