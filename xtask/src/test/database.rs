//! The database of the tests: SQLite, or PostgreSQL in a throwaway cluster.

use anyhow::{Context as _, Result, bail, ensure};

/// Variable that tells the test programs the database (`tests/src/database.rs`).
const VARIABLE: &str = "TILLGATE_TEST_DATABASE";

/// Tests about SQLite's file itself, which are left out on PostgreSQL, each with the reason.
const ABOUT_FILE: &str = include_str!("../../../tests/tests/api/about_file.txt");

/// A subject of each folder, which every complete run also tests on PostgreSQL.
pub const SUBJECTS: &[&str] = &[
    "access::tokens::",
    "acquirer::payments::",
    "checkout::checkouts::",
    "delivery::webhook_events::",
    "dispute::disputes::",
    "keys::masking::",
    "payment::follow_ups::",
    "registration::accounts::",
    "report::reports::",
    "request::constraints::",
    "review::queue::",
    "risk::payments::",
    "schedule::clock::",
    "service::information::",
    "settlement::settlement_runs::",
    "three_ds::challenge::",
];

/// A database that the tests can run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// A file in each data folder.
    Sqlite,
    /// A database for each gateway, in a cluster for each test program.
    Postgres,
}

impl Database {
    /// Takes `--database NAME` out of the arguments.
    ///
    /// # Errors
    /// If the name is unknown or missing.
    pub fn take_option(arguments: &mut Vec<String>) -> Result<Self> {
        let Some(at) = arguments.iter().position(|argument| argument == "--database") else { return Ok(Self::Sqlite) };
        ensure!(at + 1 < arguments.len(), "--database needs a name: postgres or sqlite");
        let name = arguments.drain(at..=at + 1).next_back();
        match name.as_deref() {
            Some("postgres") => Ok(Self::Postgres),
            Some("sqlite") => Ok(Self::Sqlite),
            _ => bail!("--database is postgres or sqlite"),
        }
    }

    /// Returns the variable for the test programs with its value.
    pub fn variable(self) -> (&'static str, &'static str) {
        let name = match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        };
        (VARIABLE, name)
    }

    /// Returns the arguments of a test program that leave out what is not about this database.
    ///
    /// # Errors
    /// If a line of the list has no reason.
    pub fn skips(self) -> Result<Vec<String>> {
        match self {
            Self::Sqlite => Ok(Vec::new()),
            Self::Postgres => {
                let tests = list_file_tests()?.into_iter();
                Ok(tests.flat_map(|(test, _)| ["--skip".to_owned(), test.to_owned()]).collect())
            }
        }
    }
}

/// Lists the tests about the file: the path of a test or of a module, and the reason.
fn list_file_tests() -> Result<Vec<(&'static str, &'static str)>> {
    let lines = ABOUT_FILE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &'static str| {
        let (test, reason) = line.split_once("  ").with_context(|| format!("about_file.txt: no reason: {line}"))?;
        Ok((test, reason.trim()))
    };
    lines.map(split).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the source of the module of a test, and the name of the test, empty for a whole module.
    fn find_source(path: &str) -> (Option<String>, &str) {
        let (module, test) = path.rsplit_once("::").unwrap();
        let file = crate::workspace_root().join("tests/tests/api").join(module.replace("::", "/"));
        let sources = [file.with_extension("rs"), file.join("mod.rs")];
        (sources.iter().find_map(|source| std::fs::read_to_string(source).ok()), test)
    }

    #[test]
    fn every_test_that_postgresql_leaves_out_exists_and_has_a_reason() {
        for (path, reason) in list_file_tests().unwrap() {
            let (source, test) = find_source(path);
            let source = source.unwrap_or_else(|| panic!("{path} is in no file"));
            assert!(test.is_empty() || source.contains(&format!("fn {test}(")), "{path}");
            assert!(!reason.is_empty(), "{path}");
        }
    }

    #[test]
    fn every_folder_of_the_http_tests_has_a_subject_on_postgresql_that_exists() {
        let folders = std::fs::read_dir(crate::workspace_root().join("tests/tests/api")).unwrap();
        for folder in folders.map(|entry| entry.unwrap()).filter(|entry| entry.path().join("mod.rs").exists()) {
            let name = folder.file_name().into_string().unwrap();
            let subjects = SUBJECTS.iter().filter(|subject| subject.starts_with(&format!("{name}::")));
            assert_eq!(subjects.count(), 1, "{name}");
        }
        for subject in SUBJECTS {
            assert!(find_source(subject).0.is_some(), "{subject}");
        }
    }

    #[test]
    fn the_option_of_the_database_is_no_argument_of_the_tests() {
        let take = |arguments: &[&str]| {
            let mut arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
            (Database::take_option(&mut arguments).ok(), arguments)
        };
        assert_eq!(take(&["refunds"]), (Some(Database::Sqlite), vec!["refunds".to_owned()]));
        assert_eq!(
            take(&["--database", "postgres", "refunds"]),
            (Some(Database::Postgres), vec!["refunds".to_owned()])
        );
        assert_eq!(take(&["--database"]).0, None);
        assert_eq!(take(&["--database", "mysql"]).0, None);
    }
}
