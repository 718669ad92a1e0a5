//! Parts of yew that the form never reaches, although the compiler must think that it can: their code is taken out of
//! the page module. It would be a twentieth of what a shopper's phone loads.

use anyhow::{Result, ensure};
use walrus::ir::{Const, Instr, InstrLocId, Value};
use walrus::{FunctionKind, Module, ValType};

/// Beginnings of the names of functions that are never called, each with the reason. A call would do nothing: wasm2js
/// does not accept what follows a call that never returns.
const UNUSED: &[(&str, &str)] = &[
    ("<yew::virtual_dom::listeners::ListenerKind>::type_name", LISTENERS),
    ("<yew::dom_bundle::btag::listeners::ListenerRegistration>::register", LISTENERS),
    ("<yew::dom_bundle::subtree_root::SubtreeData>::add_listener", LISTENERS),
    ("<yew::dom_bundle::subtree_root::EventDescriptor as core::clone::Clone>::clone", LISTENERS),
    ("<hashbrown::raw::RawTable<(yew::dom_bundle::subtree_root::EventDescriptor", LISTENERS),
    ("<hashbrown::raw::RawTable<(u32, std::collections::hash::map::HashMap<yew::dom_bundle::subtree_root", LISTENERS),
    ("<hashbrown::map::HashMap<yew::dom_bundle::subtree_root::EventDescriptor", LISTENERS),
    ("<hashbrown::raw::RawTable<(yew::dom_bundle::blist::KeyedEntry", KEYS),
    ("<hashbrown::map::HashMap<yew::dom_bundle::blist::KeyedEntry", KEYS),
    ("<hashbrown::set::HashSet<yew::dom_bundle::blist::KeyedEntry", KEYS),
    ("<yew::virtual_dom::vraw::VRaw as", RAW),
    ("<yew::dom_bundle::braw::BRaw", RAW),
    ("<yew::virtual_dom::vsuspense::VSuspense as yew::dom_bundle", SUSPENSE),
    ("<yew::dom_bundle::bsuspense::BSuspense as", SUSPENSE),
    ("<yew::suspense::suspension::Suspension>::listen", SUSPENSE),
    ("<yew::html::component::scope::Scope<yew::suspense::component", SUSPENSE),
    ("<yew::html::component::scope::feat_csr_ssr::MsgQueue<yew::suspense::component", SUSPENSE),
    ("<yew::html::component::scope::AnyScope>::find_parent_scope::<yew::suspense::component", SUSPENSE),
    ("<yew::virtual_dom::vtag::TextareaFields as yew::dom_bundle::btag::Apply>", "there is no text area"),
];
/// The form's listeners are its own, see the module `dom` of the page module.
const LISTENERS: &str = "no event goes through yew";
const KEYS: &str = "no node has a key";
const RAW: &str = "no HTML is given to yew as text";
const SUSPENSE: &str = "nothing suspends";

/// Empties the functions of [`UNUSED`]. Binaryen removes the calls, and everything that only these functions use.
///
/// # Errors
/// If the module has no function of such a name: another version of yew has other names.
pub fn remove_unused(module: &mut Module) -> Result<()> {
    let mut found = vec![false; UNUSED.len()];
    for function in module.funcs.iter_mut() {
        let name = without_hashes(function.name.as_deref().unwrap_or_default());
        let Some(at) = UNUSED.iter().position(|(start, _)| name.starts_with(start)) else { continue };
        let FunctionKind::Local(local) = &mut function.kind else { continue };
        let results = module.types.results(local.ty());
        let Some(zeros) = results.iter().map(|kind| zero_of(*kind)).collect::<Option<Vec<_>>>() else { continue };
        found[at] = true;
        let entry = local.entry_block();
        local.block_mut(entry).instrs =
            zeros.into_iter().map(|value| (Instr::Const(Const { value }), InstrLocId::default())).collect();
    }
    let pieces: Vec<_> = module.data.iter().map(|data| data.id()).collect();
    pieces.into_iter().for_each(|id| forget_events(&mut module.data.get_mut(id).value));
    for ((start, reason), is_there) in UNUSED.iter().zip(found) {
        ensure!(is_there, "the page module has no function {start}, which was left out because {reason}");
    }
    Ok(())
}

/// Overwrites the names of events with zeros, if they stand in a row in this piece of memory: no function is left that
/// reads them.
fn forget_events(data: &mut [u8]) {
    let [first, last] = ["onabortonauxclick", "ontransitionrunontransitionstart"];
    let find = |text: &str| data.windows(text.len()).position(|window| window == text.as_bytes());
    let (Some(from), Some(to)) = (find(first), find(last)) else { return };
    let Some(names) = data.get_mut(from..to + last.len()) else { return };
    if names.iter().all(u8::is_ascii_lowercase) {
        names.fill(0);
    }
}

/// Returns the zero of a type of numbers.
fn zero_of(kind: ValType) -> Option<Value> {
    match kind {
        ValType::I32 => Some(Value::I32(0)),
        ValType::I64 => Some(Value::I64(0)),
        ValType::F32 => Some(Value::F32(0.0)),
        ValType::F64 => Some(Value::F64(0.0)),
        _ => None,
    }
}

/// Returns a function's name without the hashes behind the names of crates.
fn without_hashes(name: &str) -> String {
    let mut parts = name.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(']') {
        Some((hash, rest)) if hash.len() > 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => text + rest,
        _ => text + "[" + part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_are_forgotten_where_nothing_else_stands_between_them() {
        let forget = |text: &str| {
            let mut data = text.as_bytes().to_vec();
            forget_events(&mut data);
            String::from_utf8(data).unwrap_or_default().replace('\0', "")
        };
        assert_eq!(forget("a onabortonauxclickonblurontransitionrunontransitionstart b"), "a  b");
        for other in ["onabortonauxclick X ontransitionrunontransitionstart", "onabortonauxclick"] {
            assert_eq!(forget(other), other);
        }
    }

    #[test]
    fn only_hashes_are_left_out_of_names() {
        assert_eq!(without_hashes("<yew[e03a9df44561dfe8]::A as core[27cd]>::b"), "<yew::A as core[27cd]>::b");
        assert_eq!(without_hashes("<[u8]>::to_vec"), "<[u8]>::to_vec");
    }
}
