//! Cuts out of the page part what it never calls and no compiler can know: yew reaches every kind of node and every event
//! through tables. What is cut stops the module, so a form that came to need it would fail every browser test.

use walrus::{FunctionBuilder, FunctionKind, Module};

/// Parts of the names of functions, each with why nobody calls them.
const NEVER: [(&str, &str); 8] = [
    ("ListenerRegistration>::register", "events do not go through yew"),
    ("VSuspense as yew::dom_bundle::traits::Reconcilable>", "nothing is suspended"),
    ("BSuspense as yew::dom_bundle::traits::ReconcileTarget>", "nothing is suspended"),
    ("VRaw as yew::dom_bundle::traits::Reconcilable>", "no HTML is put in as text"),
    ("BRaw>", "no HTML is put in as text"),
    ("yew::dom_bundle::blist::KeyedEntry", "lists have no keys"),
    ("TextareaFields", "there is no area of text"),
    ("HtmlTextAreaElement> as yew", "there is no area of text"),
];

/// Cuts a module. What a compiler has put into its callers stays: then the form is larger, and its size is watched.
pub fn snip(module: &mut Module) {
    let never = |name: &String| {
        let name = plain(name);
        NEVER.iter().any(|(part, _)| name.contains(part))
    };
    let found = module.funcs.iter().filter(|function| function.name.as_ref().is_some_and(never));
    let found: Vec<_> = found.map(walrus::Function::id).collect();
    for id in found {
        let (parameters, results) = module.types.params_results(module.funcs.get(id).ty());
        let (parameters, results) = (parameters.to_vec(), results.to_vec());
        let mut builder = FunctionBuilder::new(&mut module.types, &parameters, &results);
        builder.func_body().unreachable();
        let parameters = parameters.into_iter().map(|kind| module.locals.add(kind)).collect();
        module.funcs.get_mut(id).kind = FunctionKind::Local(builder.local_func(parameters));
    }
}

/// A name without the numbers of crates: `yew[0123456789abcdef]::…`.
fn plain(name: &str) -> String {
    let mut pieces = name.split('[');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |name, piece| match piece.split_once(']') {
        Some((number, rest)) if number.chars().all(|c| c.is_ascii_hexdigit()) => name + rest,
        _ => name + "[" + piece,
    })
}
