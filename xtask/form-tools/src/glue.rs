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

/// Parts of the glue's check for an outdated view of the memory. Old browsers have no `detached`, so they would read
/// the property that a page gives every object, and keep a view that is no longer valid.
const DETACHED: [&str; 2] =
    ["cachedDataViewMemory0.buffer.detached === true || ", "cachedDataViewMemory0.buffer.detached === undefined && "];

/// Check in the glue for an outdated view of the memory, with its replacement for plain JavaScript. There the old view
/// does not change when memory grows.
const STALE: (&str, &str) =
    ("cachedUint8ArrayMemory0.byteLength === 0", "cachedUint8ArrayMemory0.buffer !== wasm.memory.buffer");

/// Properties that yew and the glue give to nodes, events and functions of the page. Pages may give every object
/// properties of these names, so symbols take the place of the names.
const MARKS: [&str; 4] = ["__yew_subtree_id", "__yew_subtree_cache_key", "__yew_listener_id", "_wbg_cb_unref"];

/// Start of the glue, up to the place where the symbols of [`MARKS`] are declared.
const BODY: &str = "(function(exports) {";

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
    text = ignore_inherited(&text)?;
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

/// Makes the glue independent of what a page adds to every object: empty objects inherit nothing, since browsers read
/// the options of a listener or an event from them; [`MARKS`] are symbols; and buffers are compared.
///
/// # Errors
/// If wasm-bindgen writes its glue differently from the pinned version.
fn ignore_inherited(glue: &str) -> Result<String> {
    let mut text = glue.replace("new Object()", "Object.create(null)");
    for part in DETACHED {
        text = text.replace(part, "");
    }
    if text.contains(".detached") || text.contains("= {};") {
        bail!("the glue looks for detached memory, or makes an empty object, in an unknown way");
    }
    let mut symbols = String::new();
    for name in MARKS.into_iter().filter(|name| glue.contains(&format!(".{name}"))) {
        text = text.replace(&format!(".{name}"), &format!("[{name}]"));
        symbols.push_str(&format!("const {name} = Symbol();"));
    }
    let (start, rest) = text.split_once(BODY).context("the glue begins in an unknown way")?;
    Ok([start, BODY, &symbols, rest].concat())
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
            let text = shortened.replace(STALE.0, STALE.1);
            if text.contains("byteLength === 0") {
                bail!("the glue watches its memory in an unknown way");
            }
            return Ok(format!(
                "{text}return ()=>{{const imports=__wbg_get_imports().m;\
                 __wbg_finalize_init({{exports:asmFunc({{abort(){{throw Error(\"abort\");}},...imports,m:imports}})}});\
                 return exports}};}})({{__proto__:null}});"
            ));
        }
    };
    Ok(format!("{shortened}return {load};}})({{__proto__:null}});"))
}
