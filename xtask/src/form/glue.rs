//! The JavaScript glue of wasm-bindgen, reduced to what the form needs: short names of imports and exports instead of
//! hashes, which do not compress, and one way of starting instead of four. The minifier does the rest.

use anyhow::{Context as _, Result, bail};
use wasm_bindgen_cli_support::Output;

/// The form in which the glue receives the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleSource {
    /// Bytes that are already loaded.
    Bytes,
    /// The promise of a response.
    Response,
    /// The function `asmFunc`, see [`super::plain_js::PlainJs`].
    Function,
}

/// Name of the glue inside its own function scope: a function that takes the module and returns a promise. That of a
/// [`ModuleSource::Response`] is one of the exports.
pub const NAME: &str = "glue";

/// Start of wasm-bindgen's own loading code, which reaches to the end of the glue.
const LOADING: &str = "async function __wbg_load(";

/// Text after the name of the imports' module, which is in quotes.
const MODULE: &str = ": import0";

/// Prefix of the names of exports that call a closure; hashes and types follow.
const CLOSURE: &str = "wasm_bindgen_";

/// Checks in the glue for an outdated view of the memory, with their replacements for plain JavaScript. There the old
/// view does not change when memory grows.
const STALE: [(&str, &str); 2] = [
    ("cachedDataViewMemory0.buffer.detached === true", "cachedDataViewMemory0.buffer !== wasm.memory.buffer"),
    ("cachedUint8ArrayMemory0.byteLength === 0", "cachedUint8ArrayMemory0.buffer !== wasm.memory.buffer"),
];

/// Methods of the document that the glue calls. Names of images and forms in the markup can shadow them, so the glue
/// calls those of the prototype.
const OF_DOCUMENT: [&str; 3] = ["createElement", "createElementNS", "createTextNode"];

/// Start of the block in which the glue notes its own address, to look for a module beside it.
const ADDRESS: &str = "let script_src;";

/// Shortens the glue up to its loading code, and the names in the module with it.
///
/// # Errors
/// If wasm-bindgen writes its glue differently from the pinned version.
pub fn shorten_names(output: &mut Output) -> Result<String> {
    let mut text = output.js().to_owned();
    text = remove_address(&text).context("the glue notes its address in an unknown way")?;
    for name in OF_DOCUMENT {
        text = text
            .replace(&format!("getObject(arg0).{name}("), &format!("Document.prototype.{name}.call(getObject(arg0), "));
        if text.contains(&format!(").{name}(")) || text.contains(&format!("arg0.{name}(")) {
            bail!("the glue calls {name} in an unknown way");
        }
    }
    let module_name = |text: &str| Some(text.split_once(MODULE)?.0.strip_suffix('"')?.rsplit_once('"')?.1.to_owned());
    let module = module_name(&text).context("the glue names its module in an unknown way")?;
    text = text.replace(&format!("\"{module}\"{MODULE}"), &format!("m{MODULE}"));
    for (count, import) in output.wasm_mut().imports.iter_mut().enumerate() {
        let old = format!("{}: function(", import.name);
        if import.module != module || text.matches(&old).count() != 1 {
            bail!("the glue does not know {}", import.name);
        }
        let short = format!("a{count}");
        text = text.replace(&old, &format!("{short}: function("));
        import.name = short;
        import.module = String::from("m");
    }
    // Longest names first, because some names are prefixes of others.
    let mut closures: Vec<_> = output.wasm_mut().exports.iter_mut().filter(|e| e.name.starts_with(CLOSURE)).collect();
    closures.sort_by_key(|export| std::cmp::Reverse(export.name.len()));
    for (count, export) in closures.into_iter().enumerate() {
        let short = format!("x{count}");
        text = text.replace(&export.name, &short);
        export.name = short;
    }
    // The list of features that the compiler was allowed to use. Browsers detect them in the code.
    output.wasm_mut().customs.remove_raw("target_features");
    let (glue, _) = text.split_once(LOADING).context("the glue loads in an unknown way")?;
    Ok(glue.to_owned())
}

/// Removes [`ADDRESS`] and the block after it from the glue. Returns `None` if the glue has no such block.
fn remove_address(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(ADDRESS)?;
    let (block, after) = rest.split_once('}')?;
    block.contains("document.currentScript").then(|| [before, after].concat())
}

/// Wraps shortened glue into the declaration of a function that takes the module and returns a promise ([`NAME`]).
/// With [`ModuleSource::Function`] it takes nothing and returns the exports at once.
///
/// # Errors
/// If wasm-bindgen checks its memory differently from the pinned version.
pub fn wrap_in_function(shortened: &str, source: ModuleSource) -> Result<String> {
    let load = match source {
        // A page may give every object a function `then`, which a promise of an object would call and wait for. Then
        // the module is instantiated without a promise, which old browsers allow for small modules only.
        ModuleSource::Bytes => {
            "async source=>{const imports=__wbg_get_imports();if(\"then\"in Object.prototype){\
             const module=new WebAssembly.Module(source);\
             __wbg_finalize_init(new WebAssembly.Instance(module,imports),module);\
             }else{const made=await WebAssembly.instantiate(source,imports);\
             __wbg_finalize_init(made.instance,made.module);}}"
        }
        ModuleSource::Response => {
            "source=>WebAssembly.instantiateStreaming(source,__wbg_get_imports())\
             .then(made=>(__wbg_finalize_init(made.instance,made.module),exports))"
        }
        ModuleSource::Function => {
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
    Ok(format!("{shortened}return {load};}})({{}});"))
}
