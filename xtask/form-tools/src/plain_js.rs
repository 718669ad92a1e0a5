//! Binaryen's outputs for a module: a smaller module, and the same module as plain JavaScript for pages whose policy
//! forbids wasm and for browsers without it. wasm2js writes the JavaScript, which is turned into a part of a classic
//! script here.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Newer features of wasm that compilers use; binaryen replaces them by older ones.
const FEATURES: [&str; 4] =
    ["--enable-bulk-memory", "--enable-sign-ext", "--enable-nontrapping-float-to-int", "--enable-mutable-globals"];
/// A part of bulk memory since version 120, unknown before.
const BULK_MEMORY: &str = "--enable-bulk-memory-opt";
/// Passes for a small size on the wire. Those of `-Oz` make the wasm module smaller before compression, and larger
/// after it: they reorder locals and inline functions, and what was repeated before is not repeated any more.
const PASSES: [&str; 3] = ["-O1", "--shrink-level=2", "--low-memory-unused"];
/// Passes for the module in plain JavaScript, which the others make larger.
const JAVASCRIPT_PASSES: [&str; 3] = ["-O1", "--shrink-level=1", "--low-memory-unused"];
/// Passes for fewer functions: browsers compile each function when it is called first. Only small functions with one
/// caller are inlined, and tiny ones, because anything else makes the module larger on the wire.
const INLINING: [&str; 3] =
    ["--inlining-optimizing", "--one-caller-inline-max-function-size=22", "--always-inline-max-function-size=3"];

/// A module in plain JavaScript.
pub struct PlainJs {
    /// Declares `asmFunc`, a function from imports to exports, which calls `placeData(offset, memory)` for its data.
    pub code: String,
    /// The module's initial memory, in one piece.
    pub data: Vec<u8>,
}

/// Makes a module smaller and translates it to JavaScript. Returns both. `work` is a folder for intermediate files.
///
/// # Errors
/// If binaryen is not available, or its output has an unknown format.
pub fn shrink_and_translate(wasm: &[u8], work: &Path) -> Result<(Vec<u8>, PlainJs)> {
    let (input, small, written) = (work.join("given.wasm"), work.join("small.wasm"), work.join("plain.js"));
    fs::write(&input, wasm)?;
    let help = run_program(Command::new("wasm-opt").arg("--help"))?;
    let run = |program: &str, from: &Path, to: &Path, passes: &[&str]| {
        let mut command = Command::new(program);
        command.args(FEATURES).args(help.contains(BULK_MEMORY).then_some(BULK_MEMORY)).args(passes);
        run_program(command.arg(from).arg("-o").arg(to))
    };
    run("wasm-opt", &input, &small, &[PASSES, INLINING].concat())?;
    run("wasm2js", &small, &written, &JAVASCRIPT_PASSES)?;
    Ok((fs::read(small)?, split_output(&fs::read_to_string(written)?)?))
}

/// Runs a program, and returns its standard output.
fn run_program(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().with_context(|| format!("could not start {name}"))?;
    ensure!(done.status.success(), "{name} failed ({}):\n{}", done.status, String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Extracts the module's function and its data from the output of wasm2js. Fails if the output has another shape than
/// expected.
fn split_output(text: &str) -> Result<PlainJs> {
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
        // There are only zeros between two pieces.
        let at = offset.checked_sub(base).filter(|at| *at >= data.len()).context(unknown)?;
        data.resize(at, 0);
        data.extend(bytes);
    }
    if !code.contains("function asmFunc(") {
        bail!(unknown);
    }
    let code = write_memory_without_descriptors(code).context(unknown)?;
    // Labels have a separate name space.
    let code = drop_coercions(&code.replace("label$", "$"));
    let code = format!("var bufferView; function initActiveSegments() {{ placeData({base}, bufferView); }}\n{code}");
    Ok(PlainJs { code, data })
}

/// Comparisons, whose sides are numbers without further ado.
const COMPARISONS: [&str; 6] = [" == ", " != ", " < ", " > ", " <= ", " >= "];

/// Drops conversions to integers that change nothing: `(a + 4 | 0) >> 2` as an index, and `(a | 0) == b`.
fn drop_coercions(code: &str) -> String {
    let mut short = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once('(') {
        short.push_str(before);
        match drop_coercion(&short, after) {
            Some((text, behind)) => {
                short.push_str(&text);
                rest = behind;
            }
            None => {
                short.push('(');
                rest = after;
            }
        }
    }
    short + rest
}

/// Returns the text in the place of a conversion whose parenthesis opens between these texts, and what follows.
fn drop_coercion<'a>(before: &str, after: &'a str) -> Option<(String, &'a str)> {
    let is_named = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let (name, rest) = after.split_at(after.find(|c| !is_named(c))?);
    if before.ends_with('[') {
        let (offset, rest) = rest.strip_prefix(" + ")?.split_once(" | 0) >> ")?;
        let is_number = !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_digit());
        let (shift, behind) = rest.split_at_checked(1).filter(|(_, behind)| is_number && behind.starts_with(']'))?;
        let shift = if shift == "0" { String::new() } else { format!(" >> {shift}") };
        return Some((format!("{name} + {offset}{shift}"), behind));
    }
    let behind = rest.strip_prefix(" | 0)")?;
    let is_compared = COMPARISONS.iter().any(|sign| behind.starts_with(sign) || before.ends_with(sign));
    (is_compared && !name.is_empty() && !before.ends_with(is_named)).then(|| (name.to_owned(), behind))
}

/// Writes the exported memory as an object literal. wasm2js makes it of property descriptors, which inherit what a page
/// has added to `Object.prototype`: with a `get` there, the memory could not be created. Returns `None` for another
/// shape.
fn write_memory_without_descriptors(code: &str) -> Option<String> {
    let Some((before, rest)) = code.split_once("Object.create(Object.prototype, {") else {
        return Some(code.to_owned());
    };
    let (descriptors, after) = rest.split_once("})")?;
    let is_memory = descriptors.contains("__wasm_memory_grow") && descriptors.contains("return buffer;");
    let memory = "{ __proto__: null, \"grow\": __wasm_memory_grow, get \"buffer\"() { return buffer; } }";
    is_memory.then(|| [before, memory, after].concat())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_inherits_nothing() {
        let code = "return {\n \"memory\": Object.create(Object.prototype, {\n \"grow\": {\n \"value\": __wasm_memory_grow\n }, \
                    \n \"buffer\": {\n \"get\": function () {\n return buffer;\n }\n \n }\n }), \n \"a\": $1\n};";
        let written = write_memory_without_descriptors(code).unwrap();
        assert_eq!(
            written,
            "return {\n \"memory\": { __proto__: null, \"grow\": __wasm_memory_grow, get \"buffer\"() { return buffer; } }, \n \
             \"a\": $1\n};"
        );
        assert_eq!(write_memory_without_descriptors("return {};").unwrap(), "return {};");
        assert!(write_memory_without_descriptors("Object.create(Object.prototype, { x: 1 })").is_none());
    }

    #[test]
    fn only_conversions_that_change_nothing_are_dropped() {
        for (code, short) in [
            ("HEAP32[($0_1 + 600 | 0) >> 2] = 1", "HEAP32[$0_1 + 600 >> 2] = 1"),
            ("HEAPU8[($0_1 + 12 | 0) >> 0]", "HEAPU8[$0_1 + 12]"),
            ("if (($4_1 | 0) == ($7_1 | 0)) {", "if ($4_1 == $7_1) {"),
            ("($1 | 0) <= (1 | 0)", "$1 <= 1"),
            ("f($1 | 0) == 2", "f($1 | 0) == 2"),
            ("HEAP32[($1 + $2 | 0) >> 2]", "HEAP32[($1 + $2 | 0) >> 2]"),
            ("($1 + 4 | 0) >> 2", "($1 + 4 | 0) >> 2"),
            ("$2 = ($1 | 0) / 3 | 0", "$2 = ($1 | 0) / 3 | 0"),
        ] {
            assert_eq!(drop_coercions(code), short);
        }
    }

    #[test]
    fn data_comes_in_one_piece_and_the_code_without_it() {
        let text = "import { a0 } from 'm';\n var bufferView;\nfunction initActiveSegments(imports) {\n  \
            base64DecodeToExistingUint8Array(bufferView, 1024, \"AQI=\");\n  \
            base64DecodeToExistingUint8Array(bufferView, 1030, \"Aw==\");\n}\n\
            function asmFunc(env) { label$1: { break label$1; } }\n\nvar retasmFunc = asmFunc({ a0 });\nexport var x;";
        let plain_js = split_output(text).unwrap();
        assert_eq!(plain_js.data, [1, 2, 0, 0, 0, 0, 3]);
        assert!(
            plain_js.code.contains("placeData(1024, bufferView)") && plain_js.code.contains("{ $1: { break $1; } }")
        );
        assert!(!plain_js.code.contains("import") && !plain_js.code.contains("retasmFunc"));
        assert!(split_output("export default 1").is_err());
    }
}
