//! What binaryen makes of a module: a smaller one, and the same as plain JavaScript for pages whose policy forbids wasm and
//! browsers that have none. That is written by its wasm2js, and here it becomes a part of a classic script.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::toolchain::{binaryen, output};

/// What compilers use of the newer instructions; binaryen writes them in older words.
const FEATURES: [&str; 4] =
    ["--enable-bulk-memory", "--enable-sign-ext", "--enable-nontrapping-float-to-int", "--enable-mutable-globals"];
/// A part of bulk memory since version 120, and unknown before.
const BULK_MEMORY: &str = "--enable-bulk-memory-opt";
/// Small on the wire; and what is taken into another function is one less that browsers compile when it is first called.
const PASSES: [&str; 3] = ["-Oz", "--converge", "--low-memory-unused"];

/// A module in JavaScript.
pub struct Twin {
    /// Declares `asmFunc`, a function from imports to exports, which calls `placeData(offset, memory)` for its data.
    pub code: String,
    /// What the module finds in its memory, in one piece.
    pub data: Vec<u8>,
}

/// Makes a module smaller, and its twin, with `work` for the files in between.
///
/// # Errors
/// When binaryen is not to be had, or writes in an unknown way.
pub fn make(wasm: &[u8], work: &Path) -> Result<(Vec<u8>, Twin)> {
    binaryen::ensure()?;
    let (given, small, written) = (work.join("given.wasm"), work.join("small.wasm"), work.join("twin.js"));
    fs::write(&given, wasm)?;
    let help = output(Command::new("wasm-opt").arg("--help"))?;
    let run = |program: &str, from: &Path, to: &Path, passes: &[&str]| {
        let mut command = Command::new(program);
        command.args(FEATURES).args(help.contains(BULK_MEMORY).then_some(BULK_MEMORY)).args(passes);
        output(command.arg(from).arg("-o").arg(to))
    };
    run("wasm-opt", &given, &small, &PASSES)?;
    run("wasm2js", &small, &written, &PASSES.map(|pass| if pass == "--converge" { "-Oz" } else { pass }))?;
    Ok((fs::read(small)?, take_apart(&fs::read_to_string(written)?)?))
}

/// The module's function and its data, out of what wasm2js writes.
fn take_apart(text: &str) -> Result<Twin> {
    let unknown = "wasm2js writes in an unknown way";
    let (rest, _) = text.split_once("\nvar retasmFunc = ").context(unknown)?;
    let (_, rest) = rest.split_once("function initActiveSegments(imports) {\n").context(unknown)?;
    let (segments, code) = rest.split_once("\n}\n").context(unknown)?;
    let (mut base, mut data) = (0, Vec::new());
    for line in segments.lines() {
        let arguments = line.trim().strip_prefix("base64DecodeToExistingUint8Array(bufferView, ");
        let (offset, literal) = arguments.and_then(|it| it.split_once(", ")).context(unknown)?;
        let bytes = STANDARD.decode(literal.trim_start_matches('"').trim_end_matches("\");"))?;
        let offset: usize = offset.parse().context(unknown)?;
        if data.is_empty() {
            base = offset;
        }
        // Between two pieces there are only zeros.
        let at = offset.checked_sub(base).filter(|at| *at >= data.len()).context(unknown)?;
        data.resize(at, 0);
        data.extend(bytes);
    }
    if !code.contains("function asmFunc(") {
        bail!(unknown);
    }
    // Labels have a name space of their own.
    let code = code.replace("label$", "$");
    let code = format!("var bufferView; function initActiveSegments() {{ placeData({base}, bufferView); }}\n{code}");
    Ok(Twin { code, data })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn data_comes_in_one_piece_and_the_code_without_it() {
        let text = "import { a0 } from 'm';\n var bufferView;\nfunction initActiveSegments(imports) {\n  \
            base64DecodeToExistingUint8Array(bufferView, 1024, \"AQI=\");\n  \
            base64DecodeToExistingUint8Array(bufferView, 1030, \"Aw==\");\n}\n\
            function asmFunc(env) { label$1: { break label$1; } }\n\nvar retasmFunc = asmFunc({ a0 });\nexport var x;";
        let twin = take_apart(text).unwrap();
        assert_eq!(twin.data, [1, 2, 0, 0, 0, 0, 3]);
        assert!(twin.code.contains("placeData(1024, bufferView)") && twin.code.contains("{ $1: { break $1; } }"));
        assert!(!twin.code.contains("import") && !twin.code.contains("retasmFunc"));
        assert!(take_apart("export default 1").is_err());
    }
}
