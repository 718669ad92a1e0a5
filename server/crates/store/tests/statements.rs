//! The statements of the store are one text for both databases: each is compiled by SQLite and by PostgreSQL.
//!
//! They are found in the sources, so that one which no test runs is compiled as well.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use syn::parse::Parser as _;
use syn::visit::Visit;
use tillgate_engine::Session as _;
use tillgate_engine::postgres::{PostgresAddress, PostgresSession, SessionLimits};
use tillgate_engine::sqlite::SqliteSession;
use tillgate_store::AdminStore;
use tillgate_test_cluster::Cluster;

/// Files about things that only SQLite has: its file, its settings, its copies, the seal's own triggers, and the
/// acquirer's separate file.
const SQLITE_ONLY: &[&str] = &[
    "acquirer_host/ledger.rs",
    "copy/file_rules.rs",
    "copy/table_shape.rs",
    "keys/table_seal.rs",
    "keys/table_seal/acceptance.rs",
    "place/restore.rs",
    "place/restore_loss.rs",
    "place/store_file.rs",
    "read/snapshot.rs",
    "review/refused_requests.rs",
    "schema/check.rs",
];

/// The folder of what only a cluster has.
const POSTGRES_ONLY: &str = "cluster/";

/// Files with statements of which a part is chosen while the program runs. Only tests that run them on both databases
/// show that both take them.
const CHOSEN: &[&str] = &[
    "access/approval.rs",
    "access/entity.rs",
    "access/user.rs",
    "access/user_session.rs",
    "cluster/copied_rules.rs",
    "cluster/servers.rs",
    "copy/key_interval.rs",
    "copy/table_copy.rs",
    "copy/target.rs",
    "delivery/file_delivery.rs",
    "delivery/webhook.rs",
    "figures.rs",
    "form_build.rs",
    "keys/sealed.rs",
    "payment/open_work.rs",
    "payment/story.rs",
    "review/queue.rs",
    "review/reference.rs",
    "schedule/clock.rs",
    "settlement/reconciliation.rs",
    "settlement/reconciliation_file.rs",
];

/// First words of statements about tables that are not in the schema: temporary ones in files of their own, and the
/// mark of a store that moves.
const NOT_IN_SCHEMA: [&str; 3] =
    ["INSERT INTO seen ", "SELECT state, place FROM store_move", "INSERT INTO store_move "];

/// First words of a statement.
const VERBS: [&str; 5] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];

/// The statements of a file, and the texts of its constants, which are parts of statements.
#[derive(Default)]
struct Texts {
    constants: HashMap<String, String>,
    statements: BTreeSet<String>,
    /// True if there are statements of which a part is chosen while the program runs.
    has_chosen: bool,
}

impl<'ast> Visit<'ast> for Texts {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add(&literal.value());
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let arguments = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        let Ok(arguments) = arguments.parse2(call.tokens.clone()) else { return };
        arguments.iter().for_each(|argument| self.visit_expr(argument));
    }
}

impl Texts {
    /// Adds a text if it is a statement, with its constants in place.
    fn add(&mut self, text: &str) {
        if !VERBS.iter().any(|verb| text.trim_start().starts_with(verb)) {
            return;
        }
        if NOT_IN_SCHEMA.iter().any(|words| text.starts_with(words)) {
            return;
        }
        let mut whole = text.to_owned();
        for (name, value) in &self.constants {
            whole = whole.replace(&format!("{{{name}}}"), value);
        }
        if whole.contains('{') {
            self.has_chosen = true;
        } else {
            self.statements.insert(whole);
        }
    }
}

/// The constants of a file.
struct Constants<'a>(&'a mut HashMap<String, String>);

impl<'ast> Visit<'ast> for Constants<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &*item.expr {
            self.0.insert(item.ident.to_string(), text.value());
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// Returns the files of a folder and of those in it, except tests.
fn list_sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !["conformance", "tests"].iter().any(|tests| path.ends_with(tests)) {
                list_sources(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// Finds the statements of the store, by file.
fn find_statements() -> BTreeMap<String, Texts> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    list_sources(&source, &mut files);
    let mut found = BTreeMap::new();
    for path in files {
        let name = path.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
        if SQLITE_ONLY.contains(&&*name) {
            continue;
        }
        let file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut texts = Texts::default();
        Constants(&mut texts.constants).visit_file(&file);
        texts.visit_file(&file);
        found.insert(name, texts);
    }
    found
}

/// Opens an empty store on PostgreSQL.
fn open_on_postgres(cluster: &Cluster) -> PostgresSession {
    let address = PostgresAddress::parse(&cluster.create_database().unwrap(), "tests", SessionLimits::default());
    let session = PostgresSession::connect(&address.unwrap()).unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema/postgres_migrations");
    let mut migrations: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Their names begin with their numbers.
    migrations.sort();
    for migration in migrations {
        session.run_script(&fs::read_to_string(migration).unwrap()).unwrap();
    }
    session
}

/// Opens an empty store on SQLite.
fn open_on_sqlite(folder: &Path) -> SqliteSession {
    drop(AdminStore::open(folder).unwrap());
    SqliteSession::open(&folder.join("tillgate.db")).unwrap()
}

#[test]
fn every_statement_is_one_that_both_databases_take() {
    let (folder, cluster) = (tempfile::tempdir().unwrap(), Cluster::start(&[]).unwrap());
    let (sqlite, postgres) = (open_on_sqlite(folder.path()), open_on_postgres(&cluster));
    let (mut refused, mut count) = (Vec::new(), 0);
    let found = find_statements();
    let chosen: Vec<&str> = found.iter().filter(|(_, texts)| texts.has_chosen).map(|(file, _)| file.as_str()).collect();
    assert_eq!(chosen, CHOSEN, "these statements are compiled only where a test runs them");
    for (file, texts) in found {
        for statement in &texts.statements {
            count += 1;
            if !file.starts_with(POSTGRES_ONLY)
                && let Err(error) = sqlite.connection().prepare(statement)
            {
                refused.push(format!("{file}: SQLite: {error}\n    {statement}"));
            }
            if let Err(error) = postgres.check_statement(statement) {
                refused.push(format!("{file}: PostgreSQL: {error}\n    {statement}"));
            }
        }
    }
    assert!(count > 300, "only {count} statements were found");
    assert!(refused.is_empty(), "{} of {count}\n{}", refused.len(), refused.join("\n"));
}
