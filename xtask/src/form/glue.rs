//! The JavaScript that wasm-bindgen makes, cut to what the form needs: imports and exports with short names
//! instead of hashes, which no compressor shortens, and one way of starting instead of four. The rest is the minifier's.

use anyhow::{Context as _, Result, bail};
use wasm_bindgen_cli_support::Output;

/// How the module's bytes come to the glue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// As bytes that are already there.
    Bytes,
    /// As the promise of a response.
    Response,
    /// As the function `asmFunc`, see [`super::twin::Twin`].
    Function,
}

/// The name under which the glue is known inside its own function scope: a function that takes the
/// module and promises the exports.
pub const NAME: &str = "glue";

/// Everything from here on is wasm-bindgen's own ways of loading.
const LOADING: &str = "async function __wbg_load(";

/// Where the imports get the name of their module, in quotes.
const MODULE: &str = ": import0";

/// How the names of exports begin that call a closure; hashes and types follow.
const CLOSURE: &str = "wasm_bindgen_";

/// How the glue sees that its view of the memory is too old, and how it can see it when memory grows in JavaScript,
/// where the old one stays as it was.
const STALE: [(&str, &str); 2] = [
    ("cachedDataViewMemory0.buffer.detached === true", "cachedDataViewMemory0.buffer !== wasm.memory.buffer"),
    ("cachedUint8ArrayMemory0.byteLength === 0", "cachedUint8ArrayMemory0.buffer !== wasm.memory.buffer"),
];

/// Methods of the document that the glue calls. Markup can shadow them by the names of images and forms, so they are called by
/// their prototype.
const OF_DOCUMENT: [&str; 3] = ["createElement", "createElementNS", "createTextNode"];

/// Where the glue notes its own address, to look for a module beside it.
const ADDRESS: &str = "let script_src;";

/// Shortens the glue up to where it starts, and the names in the module with it.
///
/// # Errors
/// When wasm-bindgen writes its glue in another way than the pinned version does.
pub fn shorten(made: &mut Output) -> Result<String> {
    let mut text = made.js().to_owned();
    text = without_address(&text).context("the glue notes its address in an unknown way")?;
    for name in OF_DOCUMENT {
        text = text
            .replace(&format!("getObject(arg0).{name}("), &format!("Document.prototype.{name}.call(getObject(arg0), "));
        if text.contains(&format!(").{name}(")) || text.contains(&format!("arg0.{name}(")) {
            bail!("the glue calls {name} in an unknown way");
        }
    }
    let named = |text: &str| Some(text.split_once(MODULE)?.0.strip_suffix('"')?.rsplit_once('"')?.1.to_owned());
    let module = named(&text).context("the glue names its module in an unknown way")?;
    text = text.replace(&format!("\"{module}\"{MODULE}"), &format!("m{MODULE}"));
    for (count, import) in made.wasm_mut().imports.iter_mut().enumerate() {
        let old = format!("{}: function(", import.name);
        if import.module != module || text.matches(&old).count() != 1 {
            bail!("the glue does not know {}", import.name);
        }
        let short = format!("a{count}");
        text = text.replace(&old, &format!("{short}: function("));
        import.name = short;
        import.module = String::from("m");
    }
    // The longest first: some names begin with others.
    let mut closures: Vec<_> = made.wasm_mut().exports.iter_mut().filter(|e| e.name.starts_with(CLOSURE)).collect();
    closures.sort_by_key(|export| std::cmp::Reverse(export.name.len()));
    for (count, export) in closures.into_iter().enumerate() {
        let short = format!("x{count}");
        text = text.replace(&export.name, &short);
        export.name = short;
    }
    // What the compiler was allowed to use; browsers see that in the code.
    made.wasm_mut().customs.remove_raw("target_features");
    let (kept, _) = text.split_once(LOADING).context("the glue loads in an unknown way")?;
    Ok(kept.to_owned())
}

/// The glue without [`ADDRESS`] and the block behind it.
fn without_address(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(ADDRESS)?;
    let (block, after) = rest.split_once('}')?;
    block.contains("document.currentScript").then(|| [before, after].concat())
}

/// Shortened glue as the declaration of a function: it takes the module and promises the exports. With
/// [`Source::Function`] it takes nothing and gives them back at once.
///
/// # Errors
/// When wasm-bindgen watches its memory in another way than the pinned version does.
pub fn starting(shortened: &str, source: Source) -> Result<String> {
    let instantiate = match source {
        Source::Bytes => "instantiate",
        Source::Response => "instantiateStreaming",
        Source::Function => {
            let text = STALE.iter().fold(shortened.to_owned(), |text, (old, new)| text.replace(old, new));
            if ["detached === true", "byteLength === 0"].iter().any(|old| text.contains(old)) {
                bail!("the glue watches its memory in an unknown way");
            }
            return Ok(format!(
                "{text}return ()=>{{const imports=__wbg_get_imports().m;\
                 __wbg_finalize_init({{exports:asmFunc({{abort(){{throw Error(\"abort\");}},...imports,m:imports}})}});\
                 return exports}};}})({{}});"
            ));
        }
    };
    Ok(format!(
        "{shortened}return source=>WebAssembly.{instantiate}(source,__wbg_get_imports())\
         .then(made=>(__wbg_finalize_init(made.instance,made.module),exports));}})({{}});"
    ))
}
