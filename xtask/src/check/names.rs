//! Checks the names in Rust sources: one-word functions, types that share a name, and discouraged words.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::lexer;

/// Folders whose names are checked, each one package.
const FOLDERS: [&str; 6] = ["server", "shared", "tests", "widget", "www", "xtask"];
/// Tests that a macro runs on several stores. They have no attribute, but sentences as names like other tests.
const SUITES: [&str; 1] = ["server/crates/store/src/suite/"];

/// Maximum share of functions with a one-word name, in percent.
const ONE_WORD_PERCENT: usize = 35;
/// Minimum number of functions in a folder that the fault about one-word names lists.
const LISTED_FROM: usize = 10;
/// Maximum number of folders in that fault.
const LISTED: usize = 5;

/// Type names that a package may have several times: package, name, and the reason why the module tells them apart.
const SHARED_NAMES: &[(&str, &str, &str)] = &[];

/// Words that no name contains, as in snake_case, each with the words to use instead.
const DISCOURAGED: [(&str, &str); 33] = [
    ("agreed", "standing_instruction"),
    ("asked", "requested"),
    ("at_one_moment", "in_snapshot"),
    ("bones", "page_module"),
    ("books", "ledger or records"),
    ("cards_gone", "deleted_cards"),
    ("circumstances", "context"),
    ("courier", "delivery"),
    ("dispatch", "routing"),
    ("dispatched", "routed"),
    ("edge", "app_state"),
    ("elsewhere", "requires_redirect"),
    ("filing", "credential_changes"),
    ("forget", "delete_expired"),
    ("judge", "decide or validate"),
    ("judged", "decided"),
    ("kept", "stored or cached"),
    ("ladder", "retry_schedule"),
    ("leftovers", "wal_dirty"),
    ("manner", "frame_options"),
    ("naming", "recorder_factory"),
    ("promise", "deferred_effects"),
    ("refer", "modify or follow_up"),
    ("said", "result or response"),
    ("sayings", "texts"),
    ("shown", "summary"),
    ("three_d", "three_ds"),
    ("threeds", "three_ds"),
    ("told", "notified or wrote_message"),
    ("turn", "idempotency_check"),
    ("twin", "replay or static_page"),
    ("undo", "reverse or refund"),
    ("watched", "cache_stamp"),
];

/// Names that say too little for a type, unless other words stand beside them.
const VAGUE_TYPES: [&str; 20] = [
    "Answer", "Asked", "Attempt", "Case", "Chain", "Codes", "Entry", "File", "Fresh", "Held", "Kind", "Once", "Saved",
    "Shown", "Standing", "State", "Status", "Step", "Terms", "Waiting",
];

/// The kind of a named item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Module,
    /// A struct, an enum, a trait or a type alias.
    Type,
    Function,
}

/// A module, type or function in a source.
#[derive(Debug, PartialEq, Eq)]
struct NamedItem {
    kind: ItemKind,
    name: String,
    /// Number of its line, from 1.
    line: usize,
    /// True if other files may be able to name it: it has some `pub` except `pub(self)`.
    is_visible: bool,
    /// False for a test and for a function that a trait implementation has to name so.
    is_chosen: bool,
}

/// Numbers of functions.
#[derive(Debug, Default, Clone, Copy)]
struct FunctionCount {
    all: usize,
    /// Those with a one-word name.
    one_word: usize,
}

impl FunctionCount {
    /// Returns the share of one-word names in percent, rounded down; 0 if there are no functions.
    fn percent(self) -> usize {
        (self.one_word * 100).checked_div(self.all).unwrap_or(0)
    }
}

/// Checks the names of a repository. Returns a line for each fault.
///
/// # Errors
/// If a file cannot be read.
pub fn check_names(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut counts = BTreeMap::new();
    for package in FOLDERS {
        let mut items = Vec::new();
        for path in super::list_files(root, package, ".rs")? {
            let source = fs::read_to_string(root.join(&path)).with_context(|| format!("reading {path}"))?;
            let is_suite = SUITES.iter().any(|suite| path.starts_with(suite));
            let mut found = find_items(&source);
            found.retain(|item| item.kind != ItemKind::Function || (item.is_chosen && !is_suite));
            items.extend(found.into_iter().map(|item| (path.clone(), item)));
        }
        count_functions(&items, &mut counts);
        faults.extend(find_shared_names(package, &items, SHARED_NAMES));
        faults.extend(items.iter().filter_map(|(path, item)| {
            let fault = find_discouraged(item)?;
            Some(format!("{path}:{}: {fault}", item.line))
        }));
    }
    faults.extend(check_share(&counts));
    Ok(faults)
}

/// Counts the functions by folder. Names with underscores only at their ends have one word.
fn count_functions(items: &[(String, NamedItem)], counts: &mut BTreeMap<String, FunctionCount>) {
    for (path, item) in items.iter().filter(|(_, item)| item.kind == ItemKind::Function) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let count = counts.entry(folder.to_owned()).or_default();
        count.all += 1;
        count.one_word += usize::from(!item.name.trim_matches('_').contains('_'));
    }
}

/// Returns a fault with the share and the folders with the highest shares if too many functions have a one-word name.
fn check_share(counts: &BTreeMap<String, FunctionCount>) -> Option<String> {
    let sum = counts.values().fold(FunctionCount::default(), |sum, count| FunctionCount {
        all: sum.all + count.all,
        one_word: sum.one_word + count.one_word,
    });
    if sum.one_word * 100 <= sum.all * ONE_WORD_PERCENT {
        return None;
    }
    let mut folders: Vec<_> = counts.iter().filter(|(_, count)| count.all >= LISTED_FROM).collect();
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(count.percent()));
    let folders: Vec<String> =
        folders.iter().take(LISTED).map(|(folder, count)| format!("{folder} {} %", count.percent())).collect();
    Some(format!(
        "{} of {} functions ({} %) have a one-word name, at most {ONE_WORD_PERCENT} % are allowed; the most are in {}",
        sum.one_word,
        sum.all,
        sum.percent(),
        folders.join(", ")
    ))
}

/// Returns a fault for each name that several visible types of a package have, and for each exception that it does not
/// need any more.
fn find_shared_names(package: &str, items: &[(String, NamedItem)], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, item) in items.iter().filter(|(_, item)| item.kind == ItemKind::Type && item.is_visible) {
        places.entry(&item.name).or_default().push(format!("{path}:{}", item.line));
    }
    places.retain(|_, places| places.len() > 1);
    let excepted = |name: &str| exceptions.iter().any(|(of, excepted, _)| (*of, *excepted) == (package, name));
    let shared = places.iter().filter(|(name, _)| !excepted(name));
    let mut faults: Vec<String> =
        shared.map(|(name, places)| format!("several types are named {name}: {}", places.join(", "))).collect();
    let unneeded = exceptions.iter().filter(|(of, name, _)| *of == package && !places.contains_key(name));
    faults.extend(
        unneeded.map(|(_, name, _)| format!("{package} has one type {name} at most; delete the exception for it")),
    );
    faults
}

/// Returns the fault of a name with a discouraged word, or of a type whose name is vague.
fn find_discouraged(item: &NamedItem) -> Option<String> {
    let NamedItem { kind, name, .. } = item;
    let words = format!("_{}_", to_snake_case(name));
    if let Some((word, better)) = DISCOURAGED.iter().find(|(word, _)| words.contains(&format!("_{word}_"))) {
        return Some(format!("the name {name} contains {word:?}; use {better}"));
    }
    let is_vague = *kind == ItemKind::Type && VAGUE_TYPES.contains(&name.as_str());
    is_vague.then(|| format!("the type's name {name} says too little; put its object before it"))
}

/// Converts CamelCase to snake_case: `ThreeDSecure` to `three_d_secure`, `HTTPServer` to `http_server`. Names in
/// snake_case stay the same.
fn to_snake_case(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| characters.get(before)).copied().unwrap_or('_');
        let starts_word = character.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || (before.is_uppercase() && characters.get(at + 1).is_some_and(|after| after.is_lowercase())));
        if starts_word {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

/// Finds the modules, types and functions of a source, inside other items too. Names that a macro puts in are not
/// found.
fn find_items(source: &str) -> Vec<NamedItem> {
    let code = lexer::blank_literals(source);
    let tokens = split_tokens(&code);
    let text = |at: usize| tokens.get(at).map_or("", |(text, _)| *text);
    let mut items = Vec::new();
    let (mut depth, mut is_test) = (0_usize, false);
    // Depths outside of the trait implementations around the current token.
    let mut implementations: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let kind = match text(at) {
            "{" => {
                depth += 1;
                None
            }
            "}" => {
                depth = depth.saturating_sub(1);
                implementations.pop_if(|outside| *outside == depth);
                None
            }
            "#" if text(at + 1) == "[" => {
                let end = attribute_end(&tokens, at + 1);
                is_test |= is_test_attribute(&tokens[at + 2..end]);
                at = end;
                None
            }
            "impl" if is_item_start(&tokens, at) => {
                if implements_trait(&tokens[at..]) {
                    implementations.push(depth);
                }
                None
            }
            "mod" => Some(ItemKind::Module),
            "struct" | "enum" | "trait" | "type" => Some(ItemKind::Type),
            "fn" => Some(ItemKind::Function),
            _ => None,
        };
        if let Some(kind) = kind {
            if let Some((name, line)) = tokens.get(at + 1).filter(|(name, _)| is_name(name)) {
                items.push(NamedItem {
                    kind,
                    name: (*name).to_owned(),
                    line: *line,
                    is_visible: is_visible(&tokens[..at]),
                    is_chosen: !is_test && implementations.is_empty(),
                });
            }
            is_test = false;
        }
        at += 1;
    }
    items
}

/// Splits code without literals into names, numbers and single characters, each with the number of its line.
pub(super) fn split_tokens(code: &str) -> Vec<(&str, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length =
                if is_word(first) { rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (token, after) = rest.split_at(length);
            tokens.push((token, index + 1));
            rest = after.trim_start();
        }
    }
    tokens
}

/// Returns true for a name, and false for a number or a mark.
pub(super) fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the index of the bracket that closes the one at `open`, or the number of tokens if there is none.
fn attribute_end(tokens: &[(&str, usize)], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, (token, _)) in tokens.iter().enumerate().skip(open) {
        match *token {
            "[" => depth += 1,
            "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Returns true if an attribute marks a test, such as `test` and `tokio::test(flavor = …)`, unlike `cfg(test)`.
fn is_test_attribute(attribute: &[(&str, usize)]) -> bool {
    let path = attribute.iter().map(|(token, _)| *token).take_while(|token| is_name(token) || *token == ":");
    path.last() == Some("test")
}

/// Returns true if an `impl` begins an item, and is not a type such as `impl Fn()`.
fn is_item_start(tokens: &[(&str, usize)], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|(token, _)| *token);
    before.is_none_or(|before| ["{", "}", ";", "]", "unsafe"].contains(&before))
}

/// Returns true if the `impl` at the beginning is of the form `impl Trait for Type`. Ignores `for<'a>` inside a type.
fn implements_trait(tokens: &[(&str, usize)]) -> bool {
    let head = tokens.iter().take_while(|(token, _)| *token != "{").count();
    (0..head).any(|at| tokens[at].0 == "for" && tokens.get(at + 1).is_some_and(|(after, _)| *after != "<"))
}

/// Returns true if `pub`, or `pub` with a scope other than `self`, is the end of these tokens.
fn is_visible(before: &[(&str, usize)]) -> bool {
    let mut before: Vec<&str> = before.iter().rev().take(32).map(|(token, _)| *token).collect();
    if before.first() == Some(&"unsafe") {
        before.remove(0);
    }
    match before[..] {
        ["pub", ..] => true,
        [")", "self", "(", "pub", ..] => false,
        [")", ref scope @ ..] => {
            let open = scope.iter().position(|token| *token == "(");
            open.is_some_and(|open| scope.get(open + 1) == Some(&"pub"))
        }
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sample_items(source: &str) -> Vec<(String, NamedItem)> {
        find_items(source).into_iter().map(|item| ("server/src/a.rs".to_owned(), item)).collect()
    }

    #[test]
    fn the_names_of_the_repository_have_no_faults() {
        let faults = check_names(crate::workspace_root()).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn items_are_found_with_their_visibility_and_lines() {
        let source = "mod a;\npub(crate) struct B<T>(pub T);\npub(in super::x) enum C { D }\ntrait E { type F; }\n\
                      pub(self) type G = fn(u8) -> u8;\n// struct H;\nlet i = \"struct J\";\npub unsafe trait K {}\n";
        let found: Vec<_> = find_items(source).into_iter().map(|it| (it.name, it.line, it.is_visible)).collect();
        let expected = [
            ("a", 1, false),
            ("B", 2, true),
            ("C", 3, true),
            ("E", 4, false),
            ("F", 4, false),
            ("G", 5, false),
            ("K", 8, true),
        ];
        assert_eq!(found, expected.map(|(name, line, is_visible)| (name.to_owned(), line, is_visible)));
    }

    #[test]
    fn tests_and_functions_of_foreign_traits_do_not_count() {
        let chosen = |source: &str| -> Vec<String> {
            let items = find_items(source).into_iter();
            items.filter(|item| item.kind == ItemKind::Function && item.is_chosen).map(|item| item.name).collect()
        };
        assert_eq!(chosen("#[test]\nfn a() {}\n#[tokio::test(flavor = \"x\")]\nasync fn b() {}\nfn c() {}"), ["c"]);
        assert_eq!(chosen("#[cfg(test)]\nmod tests { fn d() {} #[derive(A)] struct B; pub fn e() {} }"), ["d", "e"]);
        assert_eq!(chosen("impl<T> A for B<T> { fn f() {} } impl B<dyn for<'a> C<'a>> { fn g() {} }"), ["g"]);
        assert_eq!(chosen("fn h() -> impl A { for i in j {} } trait K { fn l(); } macro! { fn $m() {} }"), ["h", "l"]);
    }

    #[test]
    fn too_many_one_word_names_are_a_fault_that_names_the_folders() {
        let check = |one_word: usize| {
            let names =
                (0..20).map(|at| if at < one_word { format!("fn a{at}() {{}}\n") } else { "fn a_b() {}".into() });
            let mut counts = BTreeMap::new();
            count_functions(&sample_items(&names.collect::<String>()), &mut counts);
            check_share(&counts)
        };
        assert_eq!(check(7), None);
        let fault = check(8).unwrap();
        assert!(fault.contains("8 of 20") && fault.contains("40 %") && fault.contains("server/src 40 %"), "{fault}");
        // Underscores at the ends separate no words.
        let mut counts = BTreeMap::new();
        count_functions(&sample_items("fn _a() {} fn a_() {}"), &mut counts);
        assert!(check_share(&counts).is_some());
    }

    #[test]
    fn a_name_of_two_visible_types_is_a_fault_unless_it_is_excepted() {
        let twice = sample_items("pub struct A; mod b { pub(super) enum A {} } struct C; mod d { struct C; }");
        let faults = find_shared_names("server", &twice, &[]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("named A: server/src/a.rs:1"), "{faults:?}");
        let exception = [("server", "A", "a test")];
        assert!(find_shared_names("server", &twice, &exception).is_empty());
        assert_eq!(find_shared_names("server", &sample_items("pub struct A;"), &exception).len(), 1);
    }

    #[test]
    fn a_discouraged_word_is_a_fault_in_either_spelling() {
        let fault = |source: &str| find_items(source).iter().find_map(find_discouraged);
        for source in [
            "fn is_kept_here() {}",
            "struct Leftovers;",
            "mod threeds;",
            "enum ThreeDSecure {}",
            "fn told() {}",
            "struct Step;",
        ] {
            assert!(fault(source).is_some(), "{source}");
        }
        for source in ["fn keep() {}", "struct ThreeDsData;", "mod three_ds;", "struct ChallengeStep;", "fn step() {}"]
        {
            assert_eq!(fault(source), None, "{source}");
        }
        assert_eq!(to_snake_case("HTTPServer2Name"), "http_server2_name");
    }
}
