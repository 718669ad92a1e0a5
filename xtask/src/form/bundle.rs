//! The bundle: what `target/form` holds, its manifest, and the compressed twins of every file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::country;

use super::compile::Part;
use super::{es5, fields, glue, locale, script};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const WASM: &str = "application/wasm";
/// The one place in the frame document that the server fills in.
const CONFIG: &str = "{{config}}";

/// Stands for the module's bytes until they are put in.
const MODULE: &str = "__module__";

/// The loader's source files, in the order in which they are joined.
const LOADER: [&str; 15] = [
    "safe.js",
    "old.js",
    "address.js",
    "dom.js",
    "words.js",
    "callbacks.js",
    "look.js",
    "shopper.js",
    "card.js",
    "place.js",
    "ready.js",
    "leave.js",
    "resources.js",
    "global.js",
    "start.js",
];
/// The same for what makes the forms of other brands.
const FORMS: [&str; 14] = [
    "words.js",
    "fields.js",
    "form.js",
    "popup.js",
    "wallet.js",
    "submit.js",
    "brands.js",
    "one_click.js",
    "cards.js",
    "threeds.js",
    "summary.js",
    "saqa.js",
    "spinner.js",
    "start.js",
];

/// Names the file with the key that signs the manifest: Ed25519, PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` writes
/// it.
const SIGNING_KEY: &str = "TILLGATE_FORM_SIGNING_KEY";

struct File {
    media_type: &'static str,
    bytes: Vec<u8>,
}

/// Writes the bundle of these two parts into the new folder `out`, with a word on the compiler that made them.
pub fn write(root: &Path, out: &Path, page: &Part, frame: &Part, made_by: &str) -> Result<()> {
    let widget = root.join("widget");
    let mut files = BTreeMap::new();
    let mut add = |name: &str, media_type, bytes| {
        files.insert(name.to_owned(), File { media_type, bytes });
    };
    add("js/static.min.js", SCRIPT, page_script(page)?);
    add("js/plain/static.min.js", SCRIPT, page_twin(page)?);
    let checks = ["browser.js", "send.js", "dress.js", "checks.js"].map(|name| read(&widget.join("frame").join(name)));
    let checks = with_fields(&checks.into_iter().collect::<Result<String>>()?);
    add("frame/frame.js", SCRIPT, frame_script(frame, &checks)?);
    add("frame/plain.js", SCRIPT, frame_twin(frame, &checks)?);
    add("frame/frame.wasm", WASM, frame.wasm.clone());
    for style in ["card", "plain", "forms"] {
        let source = read(&widget.join(format!("style/{style}.css")))?;
        add(&format!("css/{style}.css"), STYLE, script::strip_css(&source).into_bytes());
    }
    let locales = locale::read_all(&widget.join("locales"))?;
    for locale in &locales {
        let name = format!("js/locale-{}.js", locale.tag());
        add(&name, SCRIPT, locale.script.clone().into_bytes());
        add(&format!("js/forms-{}.js", locale.tag()), SCRIPT, locale.forms.clone().into_bytes());
    }
    let forms = forms_script(&widget, &locales)?;
    add("js/forms.min.js", SCRIPT, forms.into_bytes());
    let folder = widget.join("frame");
    let pins = [("%GLUE%", "frame/frame.js"), ("%PLAIN%", "frame/plain.js")];
    let code = pinned(joined(&folder, &["field.js", "digits.js"])?, &pins, &files)?;
    let document = frame_document(&folder, "pciIframe.html", Some("frame.css"), &code)?;
    let code = joined(&folder, &["field.js", "dress.js", "text.js"])?;
    let text = frame_document(&folder, "pciIframe.html", Some("frame.css"), &code)?;
    let code = with_fields(&joined(&folder, &["browser.js", "send.js", "relay.js"])?);
    let relay = frame_document(&folder, "internalRequestIframe.html", None, &code)?;
    let loader = loader_template(&widget, &locales, &files)?;

    let build = build_id(&files, &[&document.text, &text.text, &relay.text, &loader]);
    let loader = loader.replace("%BUILD%", &build);

    for (name, file) in &files {
        put(&out.join("static").join(name), &file.bytes)?;
    }
    put(&out.join("paymentWidgets.js"), loader.as_bytes())?;
    put(&out.join("pciIframe.html"), document.text.as_bytes())?;
    // The code's frame knows nothing of the checkout, so its document is compressed once and well.
    let code = document.text.replace(CONFIG, &json!({ "version": 1, "build": build }).to_string());
    put(&out.join("codeIframe.html"), code.as_bytes())?;
    put(&out.join("textIframe.html"), text.text.as_bytes())?;
    put(&out.join("internalRequestIframe.html"), relay.text.as_bytes())?;
    let listed: BTreeMap<&String, Value> = files
        .iter()
        .map(|(name, file)| {
            let entry = json!({"type": file.media_type, "integrity": script::integrity(&file.bytes)});
            (name, entry)
        })
        .collect();
    let manifest = json!({
        "build": build,
        "made_by": made_by,
        "loader": {"type": SCRIPT, "integrity": script::integrity(loader.as_bytes())},
        "frame": {"csp_script": document.scripts, "csp_style": document.styles},
        "text": {"csp_script": text.scripts, "csp_style": text.styles},
        "relay": {"csp_script": relay.scripts, "csp_style": relay.styles},
        "files": listed,
        "documents": {
            "pciIframe.html": {"integrity": script::integrity(document.text.as_bytes())},
            "codeIframe.html": {"integrity": script::integrity(code.as_bytes())},
            "textIframe.html": {"integrity": script::integrity(text.text.as_bytes())},
            "internalRequestIframe.html": {"integrity": script::integrity(relay.text.as_bytes())},
        },
    });
    let manifest = serde_json::to_string_pretty(&manifest)?;
    if let Some(key) = std::env::var_os(SIGNING_KEY) {
        fs::write(out.join("manifest.sig"), sign(Path::new(&key), &manifest)?)?;
    }
    fs::write(out.join("manifest.json"), manifest)?;
    Ok(())
}

/// Glue and module of the page part in one script: a merchant's policy then needs our origin in
/// script-src alone, as nothing is fetched.
fn page_script(page: &Part) -> Result<Vec<u8>> {
    let (glue, name) = (&page.glue, glue::NAME);
    // The detour takes a tenth of the time that a loop over characters does.
    with_bytes(
        &page.wasm,
        &format!(
            "{glue}
            const text = {MODULE};
            const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(btoa(text)) : Uint8Array.from(text, (c) => c.charCodeAt());
            {name}(bytes).catch((e) => window.__tillgate.fail(e));"
        ),
    )
}

/// The page part in plain JavaScript.
fn page_twin(page: &Part) -> Result<Vec<u8>> {
    let starts = format!("try {{ {}(); }} catch (e) {{ window.__tillgate.fail(e); }}", glue::NAME);
    twin(page, &page.twin_glue, &starts)
}

/// The glue of the frame part, and the script that completes the frame with it.
fn frame_script(frame: &Part, checks: &str) -> Result<Vec<u8>> {
    let name = glue::NAME;
    let (file, hash) = ("`static/${own.config.build}/frame/frame.wasm`", script::hash(&frame.wasm));
    let begin = format!("const begin = () => {name}(fetch({file}, {{ integrity: \"sha256-{hash}\" }}));");
    let text = script::minify_js(&format!("(function() {{ \"use strict\"; {}\n{begin} {checks} }})();", frame.glue))?;
    if !text.is_ascii() {
        bail!("the script of the frame part is not ASCII");
    }
    Ok(text.into_bytes())
}

/// The same with the frame part in plain JavaScript.
fn frame_twin(frame: &Part, checks: &str) -> Result<Vec<u8>> {
    let begin = format!("const begin = async () => {}();", glue::NAME);
    twin(frame, &frame.twin_glue, &format!("{begin} {checks}"))
}

/// A part's twin between its glue and what starts it.
fn twin(part: &Part, glue: &str, starts: &str) -> Result<Vec<u8>> {
    let places = format!(
        "const placeData = (offset, memory) => memory.set(Uint8Array.from({MODULE}, (c) => c.charCodeAt()), offset);"
    );
    with_bytes(&part.twin.data, &format!("{places} {} {glue} {starts}", part.twin.code))
}

/// A script with these bytes as a literal in the place of [`MODULE`]. The minifier sees the literal as a global: it must not
/// reckon with its text.
fn with_bytes(bytes: &[u8], body: &str) -> Result<Vec<u8>> {
    let code = script::minify_js(&format!("(function() {{ \"use strict\"; {body} }})();"))?;
    let (before, after) = code.split_once(MODULE).context("the script has no place for its bytes")?;
    Ok([before, &script::byte_literal(bytes), after, "\n"].concat().into_bytes())
}

/// The signature of a manifest, in base64.
fn sign(key: &Path, manifest: &str) -> Result<String> {
    let pem = read(key)?;
    let text: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let refused = || format!("{} is not an Ed25519 key in PEM (PKCS #8)", key.display());
    let der = STANDARD.decode(text.trim()).with_context(refused)?;
    let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|error| anyhow!("{}: {error}", refused()))?;
    Ok(STANDARD.encode(pair.sign(manifest.as_bytes())))
}

struct Document {
    text: String,
    scripts: Vec<String>,
    styles: Vec<String>,
}

/// A document with its style and script put in, and their hashes for the policy.
fn frame_document(folder: &Path, template: &str, style: Option<&str>, code: &str) -> Result<Document> {
    let style = match style {
        Some(name) => script::strip_css(&read(&folder.join(name))?),
        None => String::new(),
    };
    let code = script::minify_js(code)?;
    let text: String = read(&folder.join(template))?.lines().map(str::trim).collect();
    let text = text.replace("%STYLE%", &style).replace("%SCRIPT%", &code);
    if text.matches(CONFIG).count() != 1 {
        bail!("{template} must hold {CONFIG} exactly once");
    }
    Ok(Document { scripts: vec![script::policy_source(&code)], styles: vec![script::policy_source(&style)], text })
}

/// A script of a frame with the names of the fields that it passes on.
fn with_fields(source: &str) -> String {
    source.replace("%FIELDS%", &fields::allowed())
}

/// What makes the forms of other brands than cards, with its English texts, the countries' codes, and the hashes of the
/// files that follow it.
fn forms_script(widget: &Path, locales: &[locale::Locale]) -> Result<String> {
    let sheet = script::strip_css(&read(&widget.join("style/forms.css"))?);
    let mut pins = BTreeMap::from([("css", script::hash(sheet.as_bytes()))]);
    pins.extend(locales.iter().map(|locale| (locale.tag(), script::hash(locale.forms.as_bytes()))));
    let letters = || b'A'..=b'Z';
    let codes = letters().flat_map(|a| letters().map(move |b| String::from_utf8_lossy(&[a, b]).into_owned()));
    let countries: Vec<String> = codes.filter(|code| country::check(code).is_ok()).collect();
    let source = joined(&widget.join("forms"), &FORMS)?
        .replace("\"%ENGLISH%\"", &locale::english(&widget.join("locales"), &locale::FORMS)?)
        .replace("\"%PINS%\"", &json!(pins).to_string())
        .replace("%COUNTRIES%", &countries.join(""));
    script::minify_js(&source)
}

/// Source files as one script with a scope of its own.
fn joined(folder: &Path, names: &[&str]) -> Result<String> {
    let mut source = String::from("(function () {\n\"use strict\";\n");
    for name in names {
        source.push_str(&read(&folder.join(name))?);
    }
    source.push_str("})();");
    Ok(source)
}

/// The loader with everything put in but the build's name. Browsers of any age have to read it: its first file says what
/// those do that are too old for the rest.
fn loader_template(widget: &Path, locales: &[locale::Locale], files: &BTreeMap<String, File>) -> Result<String> {
    let source = joined(&widget.join("loader"), &LOADER)?;
    let cards: Vec<&str> = Brand::cards().iter().map(|brand| brand.code).collect();
    let card = read(&widget.join("style/card.css"))?;
    let skeleton = between(&card, "/* skeleton:", "/* end */").context("card.css has no skeleton")?;
    let skeleton = script::strip_css(skeleton);
    let pins = [
        ("%PAGE%", "js/static.min.js"),
        ("%TWIN%", "js/plain/static.min.js"),
        ("%FORMS%", "js/forms.min.js"),
        ("%CARD%", "css/card.css"),
        ("%BARE%", "css/plain.css"),
    ];
    let source = pinned(source, &pins, files)?
        .replace("%LOCALES%", &locale::directory(locales))
        .replace("%CARDS%", &cards.join(" "))
        .replace("\"%ENGLISH%\"", &locale::english(&widget.join("locales"), &locale::CARD)?)
        .replace("\"%SKELETON%\"", &json!(skeleton).to_string());
    es5::minify(&source).context("the loader")
}

/// A script with the hashes of files in their places.
fn pinned(mut source: String, pins: &[(&str, &str)], files: &BTreeMap<String, File>) -> Result<String> {
    for (place, name) in pins {
        let file = files.get(*name).with_context(|| format!("there is no {name}"))?;
        source = source.replace(place, &script::hash(&file.bytes));
    }
    Ok(source)
}

/// 32 hex digits over everything in the bundle.
fn build_id(files: &BTreeMap<String, File>, others: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for (name, file) in files {
        hasher.update(name.as_bytes());
        hasher.update((file.bytes.len() as u64).to_le_bytes());
        hasher.update(&file.bytes);
    }
    others.iter().for_each(|text| hasher.update(text));
    script::hex(&hasher.finalize()[..16])
}

/// The part of a text that begins with one mark and ends before the other.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    let (_, rest) = rest.split_once("*/")?;
    rest.split_once(to).map(|(part, _)| part)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

/// Writes a file and its compressed twins.
fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().context("a file without a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(path, bytes)?;
    let twin = |extension: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        name
    };
    let mut small = Vec::new();
    // A window that just holds the file: distances in a larger one take more bits.
    let lgwin = (usize::BITS - bytes.len().leading_zeros()).clamp(16, 22) as i32;
    let parameters =
        brotli::enc::BrotliEncoderParams { quality: 11, lgwin, size_hint: bytes.len(), ..Default::default() };
    brotli::BrotliCompress(&mut &bytes[..], &mut small, &parameters)?;
    fs::write(twin(".br"), small)?;
    let mut gzip = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::best());
    gzip.write_all(bytes)?;
    fs::write(twin(".gz"), gzip.finish()?)?;
    Ok(())
}
