//! The bundle: the files in `target/form`, their manifest, and compressed copies of each.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tillgate_shared::brand::Brand;
use tillgate_shared::frame_messages;

use super::bindings::CompiledModule;
use super::marks::BrandMarks;
use super::{es5, frame_document, glue, lazy_scripts, locale, modules, packed, script};

/// Media type of a script.
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
/// A script with [`script::byte_literal`].
const SCRIPT_WITH_BYTES: &str = "text/javascript; charset=x-user-defined";
const STYLE: &str = "text/css; charset=utf-8";
const WASM: &str = "application/wasm";

/// Placeholder for the module's bytes.
const MODULE: &str = "__module__";

/// Environment variable with the path of the key that signs the manifest: Ed25519, PKCS #8 in PEM, as written by
/// `openssl genpkey -algorithm ed25519`.
const SIGNING_KEY: &str = "TILLGATE_FORM_SIGNING_KEY";

/// A file of the bundle.
struct BundleFile {
    media_type: &'static str,
    bytes: Vec<u8>,
}

/// Path of the page module inside the bundle's `static`.
const PAGE_SCRIPT: &str = "js/static.min.js";
/// Path of the page module in plain JavaScript.
const PAGE_PLAIN_JS: &str = "js/plain/static.min.js";
/// Path of the sheet with the marks of brands that the sheets of the styles do not draw.
const MARKS: &str = "css/marks.css";

/// Path of the script with the English texts that are not in the loader.
const ENGLISH_LATER: &str = "js/later-en.js";

/// The page module as browsers load it.
pub struct PageScripts {
    /// With its wasm inside.
    wasm: Vec<u8>,
    /// In plain JavaScript.
    plain_js: Vec<u8>,
}

impl PageScripts {
    /// Joins the compiled page module with its glue.
    ///
    /// # Errors
    /// If a script cannot be minified.
    pub fn join(page: &CompiledModule) -> Result<Self> {
        Ok(Self { wasm: page_script(page)?, plain_js: page_plain_js(page)? })
    }

    /// Reads the scripts of an earlier bundle.
    ///
    /// # Errors
    /// If one is missing.
    pub fn read(bundle: &Path) -> Result<Self> {
        let read = |name| fs::read(bundle.join("static").join(name)).with_context(|| format!("reading {name}"));
        Ok(Self { wasm: read(PAGE_SCRIPT)?, plain_js: read(PAGE_PLAIN_JS)? })
    }
}

/// Compression of a bundle's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Each file has copies in brotli and gzip, as small as they get.
    Best,
    /// No copies, for a build that is needed at once.
    Skip,
}

/// Writes the bundle of the two modules into the new folder `out`. `made_by` names their compiler. The manifest is
/// signed if the environment names a key.
pub fn write_bundle(
    root: &Path,
    out: &Path,
    page: PageScripts,
    frame: &CompiledModule,
    made_by: &str,
    compression: Compression,
) -> Result<()> {
    let widget = root.join("widget");
    let write_file = |path: PathBuf, bytes: &[u8]| write_file(&path, bytes, compression);
    let mut files = BTreeMap::new();
    let mut add = |name: &str, media_type, bytes| {
        files.insert(name.to_owned(), BundleFile { media_type, bytes });
    };
    add(PAGE_SCRIPT, SCRIPT_WITH_BYTES, page.wasm);
    add(PAGE_PLAIN_JS, SCRIPT_WITH_BYTES, page.plain_js);
    let folder = widget.join("frame").canonicalize()?;
    let checks = frame_document::join_source(&folder, "checks.js")?;
    add("frame/frame.js", SCRIPT, frame_script(frame, &checks)?);
    add("frame/plain.js", SCRIPT_WITH_BYTES, frame_plain_js(frame, &checks)?);
    add("frame/frame.wasm", WASM, frame.wasm.clone());
    let marks = BrandMarks::read(&widget.join("style/marks.toml"))?;
    add_styles(&widget.join("style"), &marks, &mut add)?;
    let debit_hash = lazy_scripts::add_all(&widget, &mut add)?;
    let locales = locale::read_all(&widget.join("locales"), &debit_hash)?;
    for locale in &locales {
        let name = format!("js/locale-{}.js", locale.tag());
        add(&name, SCRIPT, locale.script.clone().into_bytes());
        add(&format!("js/later-{}.js", locale.tag()), SCRIPT, locale.later.clone().into_bytes());
    }
    let (english, later) = locale::english_texts(&widget.join("locales"), &debit_hash)?;
    add(ENGLISH_LATER, SCRIPT, later.into_bytes());
    let pins = [("%GLUE%", "frame/frame.js"), ("%PLAIN%", "frame/plain.js")];
    let field_document = |entry| {
        let code = insert_hashes(frame_document::join_source(&folder, entry)?, &pins, &files)?;
        frame_document::make_document(&folder, "pciIframe.html", Some("frame.css"), &code)
    };
    let (document, text) = (field_document("digits.js")?, field_document("text.js")?);
    let relay = frame_document::make_document(
        &folder,
        "internalRequestIframe.html",
        None,
        &frame_document::join_source(&folder, "relay.js")?,
    )?;
    let loader = loader_template(&widget, &locales, &english, &marks, &files)?;

    let build = build_id(&files, &[&document.text, &text.text, &relay.text, &loader]);
    let loader = loader.replace("%BUILD%", &build);

    for (name, file) in &files {
        write_file(out.join("static").join(name), &file.bytes)?;
    }
    write_file(out.join("paymentWidgets.js"), loader.as_bytes())?;
    let documents = [("pciIframe.html", &document), ("textIframe.html", &text), ("internalRequestIframe.html", &relay)];
    for (name, document) in documents {
        write_file(out.join(name), document.text.as_bytes())?;
    }
    let manifest = json!({
        "build": build,
        "made_by": made_by,
        "loader": {"type": SCRIPT, "integrity": script::integrity_hash(loader.as_bytes())},
        "frame": document.policy(),
        "text": text.policy(),
        "relay": relay.policy(),
        "files": list_files(&files),
        "documents": BTreeMap::from(documents.map(|(name, document)| {
            (name, json!({"integrity": script::integrity_hash(document.text.as_bytes())}))
        })),
    });
    write_manifest(out, &manifest)
}

/// Adds the style sheets. The rules of marks follow in both styles.
fn add_styles(folder: &Path, marks: &BrandMarks, add: &mut impl FnMut(&str, &'static str, Vec<u8>)) -> Result<()> {
    let first_marks = read_text(&folder.join("marks.css"))? + &marks.first_rules();
    for (name, more) in [("card", first_marks.as_str()), ("plain", &first_marks), ("later", ""), ("choice", "")] {
        let source = read_text(&folder.join(format!("{name}.css")))? + more;
        add(&format!("css/{name}.css"), STYLE, script::strip_css(&source).into_bytes());
    }
    add(MARKS, STYLE, marks.later_sheet().into_bytes());
    Ok(())
}

/// Returns type and hash of each file, for the manifest.
fn list_files(files: &BTreeMap<String, BundleFile>) -> BTreeMap<&str, Value> {
    let entry = |file: &BundleFile| json!({"type": file.media_type, "integrity": script::integrity_hash(&file.bytes)});
    files.iter().map(|(name, file)| (name.as_str(), entry(file))).collect()
}

/// Writes the manifest, and its signature if the environment names a key.
fn write_manifest(out: &Path, manifest: &Value) -> Result<()> {
    let manifest = serde_json::to_string_pretty(manifest)?;
    if let Some(key) = std::env::var_os(SIGNING_KEY) {
        fs::write(out.join("manifest.sig"), sign_manifest(Path::new(&key), &manifest)?)?;
    }
    fs::write(out.join("manifest.json"), manifest)?;
    Ok(())
}

/// Joins glue and module of the page into one script. Nothing else is fetched, so a merchant's policy needs our origin
/// in script-src only.
fn page_script(page: &CompiledModule) -> Result<Vec<u8>> {
    let (glue, name, decode, unpack) = (&page.glue, glue::NAME, decode_bytes(), packed::unpack_source());
    let (bytes, module) = match packed::pack_module(&page.wasm) {
        Ok(packed) => (packed.bytes, format!("unpack(bytes, {})", packed.arguments)),
        // Another compiler may write other instructions. The page is larger then.
        Err(error) => {
            eprintln!("    the page module is not packed: {error:#}");
            (page.wasm.clone(), "bytes".to_owned())
        }
    };
    // Both loops pass over every byte. On a slow processor they would be one long task, in which nobody can type.
    let starts = format!(
        "(async () => {{ const bytes = decode({MODULE}); await new Promise((next) => setTimeout(next)); \
         await {name}({module}); }})().catch((e) => window.__tillgate.fail(e));"
    );
    insert_bytes(&bytes, &format!("{glue} {decode} {unpack} {starts}"))
}

/// Returns the page module in plain JavaScript.
fn page_plain_js(page: &CompiledModule) -> Result<Vec<u8>> {
    let starts = format!("try {{ {}(); }} catch (e) {{ window.__tillgate.fail(e); }}", glue::NAME);
    join_plain_js(page, &page.plain_glue, &starts)
}

/// Joins the glue of the frame module and the script that completes the frame with it, and minifies both. Fails if the
/// result is not ASCII.
fn frame_script(frame: &CompiledModule, checks: &str) -> Result<Vec<u8>> {
    let name = glue::NAME;
    // The module is beside this script, whose address names the build.
    let file = "document.currentScript.src.replace(/js$/, \"wasm\")";
    let hash = script::sha256_base64(&frame.wasm);
    let begin = format!("const begin = () => {name}(fetch({file}, {{ integrity: \"sha256-{hash}\" }}));");
    let text = script::minify_js(&format!("(function() {{ \"use strict\"; {}\n{begin} {checks} }})();", frame.glue))?;
    if !text.is_ascii() {
        bail!("the script of the frame module is not ASCII");
    }
    Ok(text.into_bytes())
}

/// Same as [`frame_script`], with the frame module in plain JavaScript.
fn frame_plain_js(frame: &CompiledModule, checks: &str) -> Result<Vec<u8>> {
    let begin = format!("const begin = async () => {}();", glue::NAME);
    join_plain_js(frame, &frame.plain_glue, &format!("{begin} {checks}"))
}

/// Joins a module in plain JavaScript, its glue, and the code that starts it.
fn join_plain_js(part: &CompiledModule, glue: &str, starts: &str) -> Result<Vec<u8>> {
    let decode = decode_bytes();
    let places = format!("const placeData = (offset, memory) => memory.set(decode({MODULE}), offset);");
    insert_bytes(&part.plain_js.data, &format!("{decode} {places} {} {glue} {starts}", part.plain_js.code))
}

/// Returns JavaScript that declares `decode`, a function from the text of [`script::byte_literal`] to its bytes. A loop
/// takes a tenth of the time of `Uint8Array.from`.
fn decode_bytes() -> &'static str {
    "const decode = (text) => {
        const bytes = new Uint8Array(text.length);
        for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
        return bytes;
    };"
}

/// Wraps a script into a function, minifies it, and replaces [`MODULE`] by these bytes as a literal. They are inserted
/// last because the minifier must not evaluate them. Fails if the script lacks [`MODULE`], or is not ASCII.
fn insert_bytes(bytes: &[u8], body: &str) -> Result<Vec<u8>> {
    let code = script::minify_js(&format!("(function() {{ \"use strict\"; {body} }})();"))?;
    let (before, after) = code.split_once(MODULE).context("the script has no place for its bytes")?;
    if !code.is_ascii() {
        bail!("a script with bytes is not ASCII");
    }
    Ok([before.as_bytes(), &script::byte_literal(bytes), after.as_bytes(), b"\n"].concat())
}

/// Signs a manifest with the Ed25519 key in a PEM file. Returns the signature in base64.
fn sign_manifest(key: &Path, manifest: &str) -> Result<String> {
    let pem = read_text(key)?;
    let text: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let refused = || format!("{} is not an Ed25519 key in PEM (PKCS #8)", key.display());
    let der = STANDARD.decode(text.trim()).with_context(refused)?;
    let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|error| anyhow!("{}: {error}", refused()))?;
    Ok(STANDARD.encode(pair.sign(manifest.as_bytes())))
}

/// Joins the loader and inserts everything except the build's id. Browsers of any age must be able to parse it: its
/// first file handles those that are too old for the rest.
fn loader_template(
    widget: &Path,
    locales: &[locale::Locale],
    english: &str,
    marks: &BrandMarks,
    files: &BTreeMap<String, BundleFile>,
) -> Result<String> {
    let source = modules::join_modules(&widget.join("loader/main.js").canonicalize()?)?;
    let (told, others): (Vec<&Brand>, Vec<&Brand>) = Brand::cards().iter().partition(|brand| brand.is_told_by_number());
    let cards: Vec<&str> = told.iter().chain(&others).map(|brand| brand.code).collect();
    let card = read_text(&widget.join("style/card.css"))?;
    let skeleton = text_between(&card, "/* skeleton:", "/* end */").context("card.css has no skeleton")?;
    let skeleton = script::strip_css(skeleton);
    let pins = [
        ("%PAGE%", PAGE_SCRIPT),
        ("%TWIN%", PAGE_PLAIN_JS),
        ("%LATER%", ENGLISH_LATER),
        ("%CARD%", "css/card.css"),
        ("%BARE%", "css/plain.css"),
        ("%PARTS%", "js/parts.js"),
        ("%LATER_STYLE%", "css/later.css"),
        ("%CHOICE%", "js/choice.js"),
        ("%FAULT%", "js/fault.js"),
        ("%CHOICE_STYLE%", "css/choice.css"),
        ("%FONTS%", "js/fonts.js"),
        ("%NEXT%", "js/focusNextField.js"),
        ("%MARKS%", MARKS),
    ];
    let source = insert_hashes(source, &pins, files)?
        .replace("%LOCALES%", &locale::list_names(locales))
        .replace("%CARDS%", &cards.join(" "))
        .replace("\"%TOLD%\"", &told.len().to_string())
        .replace("%MARKED%", &marks.first_codes().join(" "))
        .replace("\"%WIRE%\"", &frame_messages::VERSION.to_string())
        .replace("\"%ENGLISH%\"", english)
        .replace("\"%SKELETON%\"", &json!(skeleton).to_string());
    es5::minify_es5(&source).context("the loader")
}

/// Replaces each placeholder in a script by the SHA-256 of a file of the bundle, in base64. Fails if there is no such
/// file.
fn insert_hashes(mut source: String, pins: &[(&str, &str)], files: &BTreeMap<String, BundleFile>) -> Result<String> {
    for (place, name) in pins {
        let file = files.get(*name).with_context(|| format!("there is no {name}"))?;
        source = source.replace(place, &script::sha256_base64(&file.bytes));
    }
    Ok(source)
}

/// Returns the build's id: 32 hexadecimal digits of a hash over the names and bytes of the files and over the
/// documents.
fn build_id(files: &BTreeMap<String, BundleFile>, others: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for (name, file) in files {
        hasher.update(name.as_bytes());
        hasher.update((file.bytes.len() as u64).to_le_bytes());
        hasher.update(&file.bytes);
    }
    others.iter().for_each(|text| hasher.update(text));
    script::to_hex(&hasher.finalize()[..16])
}

/// Returns the part of a text from the end of the comment that begins with `from` up to `to`, or `None` if one of them
/// is missing.
fn text_between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    let (_, rest) = rest.split_once("*/")?;
    rest.split_once(to).map(|(part, _)| part)
}

/// Reads a file, or fails with its path.
pub fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

/// Writes a file and, if wanted, its copies in brotli (`.br`) and gzip (`.gz`). Creates its folder.
fn write_file(path: &Path, bytes: &[u8], compression: Compression) -> Result<()> {
    let folder = path.parent().context("a file without a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(path, bytes)?;
    if compression == Compression::Skip {
        return Ok(());
    }
    let copy_name = |extension: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        name
    };
    let mut small = Vec::new();
    // The smallest window that holds the file: distances in a larger one take more bits.
    let lgwin = (usize::BITS - bytes.len().leading_zeros()).clamp(16, 22) as i32;
    let parameters =
        brotli::enc::BrotliEncoderParams { quality: 11, lgwin, size_hint: bytes.len(), ..Default::default() };
    brotli::BrotliCompress(&mut &bytes[..], &mut small, &parameters)?;
    fs::write(copy_name(".br"), small)?;
    let mut gzip = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::best());
    gzip.write_all(bytes)?;
    fs::write(copy_name(".gz"), gzip.finish()?)?;
    Ok(())
}
