//! Removes functions from the page module that are never called, but that no compiler can remove: yew reaches every
//! kind of node and every event through tables. A removed function stops the module, so a form that needs it fails
//! every browser test.

use walrus::{FunctionBuilder, FunctionKind, Module};

/// Parts of the names of such functions, each with the reason why nothing calls them.
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

/// Replaces the bodies of the functions in a module by a trap. Code that the compiler has inlined into their callers
/// stays; the form is larger then, and its size is limited.
pub fn remove_dead_functions(module: &mut Module) {
    let never = |name: &String| {
        let name = strip_hashes(name);
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

/// Returns a name without crate hashes, such as `yew[0123456789abcdef]::…`.
fn strip_hashes(name: &str) -> String {
    let mut pieces = name.split('[');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |name, piece| match piece.split_once(']') {
        Some((number, rest)) if number.chars().all(|c| c.is_ascii_hexdigit()) => name + rest,
        _ => name + "[" + piece,
    })
}
