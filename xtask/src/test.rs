//! `cargo xtask test`: sets up the tests' tools, builds everything, and runs the tests.

mod database;
mod phases;
mod programs;
mod shops;
pub mod tools;
mod widget;

use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context as _, Result, ensure};

use self::database::{Database, SUBJECTS};
use self::phases::Phases;
use self::programs::{Program, TestTime};
use crate::form::tools::PendingTools;
use crate::toolchain::run_beside;
use crate::{form, server};

/// Text of `cargo xtask test --help`.
pub const HELP: &str = "\
Sets up what is missing (the wasm toolchain, Chromium with its driver, Firefox, axe-core, TypeScript,
generators of clients, and the frameworks of merchants' pages), builds the form and the gateway, and runs all tests: units
and properties, HTTP against the real binary, and the form in real browsers. Prints the time of each
phase, of which some run beside each other, and the slowest tests: ten, and all above twenty seconds.

  api::NAME      only the tests over HTTP with NAME in their path; the form that is there is used
  browser::NAME  only the tests in browsers with NAME in their path
  NAME           only the tests with NAME in their path
  --database postgres
                 only the tests over HTTP and in browsers, on PostgreSQL in a throwaway cluster, without those of
                 tests/tests/api/about_file.txt. A run of all tests does this with a subject of each folder
  -- ARGUMENTS   given to every test program, for example --nocapture

RUST_TEST_THREADS says how many tests run at once; most of them wait more than they work.

Examples: cargo xtask test
          cargo xtask test api::refunds
          cargo xtask test --database postgres api::refunds
          cargo xtask test -- --nocapture double_click";

/// Builds everything, runs the selected tests, and prints the times. Fails with the names of the programs in which a
/// test failed.
pub fn run_tests(arguments: &[String]) -> Result<()> {
    let selection = Selection::parse(arguments)?;
    let phases = Phases::start();
    let (mut programs, environment) = prepare_tests(&selection, &phases)?;
    if selection.database == Database::Postgres {
        programs.retain(Program::is_black_box);
    }
    let run = |programs: &[Program], database: Database, arguments: &[String]| {
        let variables = [&environment[..], &[database.variable()].map(|(name, value)| (name, value.into()))].concat();
        programs::run_programs(programs, &[arguments, &database.skips()?].concat(), &variables, &phases)
    };
    let (mut tests, mut failed) = run(&programs, selection.database, &selection.rest)?;
    if selection.is_complete() {
        println!("\nOn PostgreSQL");
        programs.retain(Program::is_api);
        let subjects: Vec<String> = SUBJECTS.iter().map(|subject| (*subject).to_owned()).collect();
        let (others, failed_there) = run(&programs, Database::Postgres, &subjects)?;
        tests.extend(others);
        failed.extend(failed_there.into_iter().map(|title| format!("{title} on PostgreSQL")));
    }
    phases.print_times();
    print_slowest(tests);
    ensure!(failed.is_empty(), "a test failed in {}", failed.join(", "));
    Ok(())
}

/// Builds the form, the gateway and the test programs, and sets up their tools. Returns the programs and their
/// environment. Downloads run beside compilations, and so does the build of the form: its compiler keeps only one core
/// busy.
fn prepare_tests(selection: &Selection, phases: &Phases) -> Result<(Vec<programs::Program>, tools::Environment)> {
    let wants_form = selection.needs_form() || !crate::workspace_root().join("target/form/manifest.json").exists();
    let (build, pending) = form::tools::open_channel();
    thread::scope(|scope| {
        let tools =
            scope.spawn(|| phases.time_phase("tools", || run_beside(|| tools::set_up(selection.needs_browsers()))));
        let form = scope.spawn(move || if wants_form { build_form(phases, &pending).map(Some) } else { Ok(None) });
        let programs = phases.time_phase("gateway and test programs", || {
            programs::build_programs(selection.selected_program(), wants_form, build)
        });
        let form = join_thread(form).context("the form");
        let (programs, form) = (programs?, form?);
        let widget = form
            .filter(|_| selection.needs_widget())
            .map(|program| phases.time_phase("the widget's own tests", || widget::build_page(&program)))
            .transpose()?;
        let mut environment = join_thread(tools).context("setting up what the tests need")?;
        let binary = server::program_folder(server::Profile::Development).join("tillgate");
        environment.push(("TILLGATE_BIN", binary.into()));
        environment.extend(widget.map(|folder| ("TILLGATE_WIDGET_TESTS", folder.into())));
        Ok((programs, environment))
    })
}

/// Builds the form with tools that are being compiled, and checks its size. Returns the program with the tools.
fn build_form(phases: &Phases, tools: &PendingTools) -> Result<PathBuf> {
    let lock = form::lock_build()?;
    let options = form::BuildOptions::default();
    let folder = phases.time_phase("form", || run_beside(|| form::build_with_lock(&lock, options, tools)))?;
    form::check_size(&folder)?;
    tools.wait().map(Path::to_owned)
}

/// Waits for a thread and returns its result, or resumes its panic.
fn join_thread<T>(work: ScopedJoinHandle<'_, T>) -> T {
    work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Selection of tests on the command line.
struct Selection {
    /// The database that they run on.
    database: Database,
    /// `api` or `browser`, if only one of them is selected.
    program: Option<String>,
    /// Arguments of the test programs.
    rest: Vec<String>,
}

impl Selection {
    /// Parses `api::NAME` and `browser::NAME` into a program and the argument NAME; the last one selects the program.
    /// Other arguments stay, except `--`.
    ///
    /// # Errors
    /// If `--database` names none.
    fn parse(arguments: &[String]) -> Result<Self> {
        let (mut program, mut rest, mut arguments) = (None, Vec::new(), arguments.to_vec());
        let database = Database::take_option(&mut arguments)?;
        for argument in arguments.iter().filter(|argument| *argument != "--") {
            match argument.split_once("::") {
                Some((name @ (programs::API | programs::BROWSER), filter)) => {
                    program = Some(name.to_owned());
                    rest.extend((!filter.is_empty()).then(|| filter.to_owned()));
                }
                _ => rest.push(argument.clone()),
            }
        }
        Ok(Self { database, program, rest })
    }

    /// Returns true if nothing is left out.
    fn is_complete(&self) -> bool {
        self.database == Database::Sqlite && self.program.is_none() && self.rest.is_empty()
    }

    fn selected_program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Returns true if the tests need a form of the current sources: always, unless only HTTP tests are selected.
    fn needs_form(&self) -> bool {
        self.selected_program() != Some(programs::API)
    }

    /// Returns true if browser tests may be selected.
    fn needs_browsers(&self) -> bool {
        self.selected_program().is_none_or(|name| name == programs::BROWSER)
    }

    /// Returns true if the test that runs the widget's own tests may be selected: by no argument, by a part of its
    /// path, or by any option.
    fn needs_widget(&self) -> bool {
        let others = |argument: &String| !argument.starts_with('-') && !widget::TEST.contains(argument.as_str());
        self.needs_browsers() && (self.rest.is_empty() || !self.rest.iter().all(others))
    }
}

/// Time above which a test is printed, however many are slower.
const SLOW_SECONDS: f64 = 20.0;

/// Prints the slowest tests: ten, and all above [`SLOW_SECONDS`].
fn print_slowest(mut tests: Vec<TestTime>) {
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("\nSlowest tests                  seconds");
    for (_, test) in tests.iter().enumerate().take_while(|(at, test)| *at < 10 || test.seconds > SLOW_SECONDS) {
        println!("{:>38.1}  {}", test.seconds, test.name);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse_selection(arguments: &[&str]) -> Selection {
        Selection::parse(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn tests_over_http_need_no_new_form() {
        let one = parse_selection(&["api::refunds"]);
        assert_eq!(
            (one.selected_program(), &one.rest[..], one.needs_form()),
            (Some("api"), &["refunds".to_owned()][..], false)
        );
        let all = parse_selection(&["--", "--nocapture", "double_click"]);
        assert_eq!((all.selected_program(), all.rest.len(), all.needs_form()), (None, 2, true));
        // The path of a module is not the name of a program.
        assert_eq!(parse_selection(&["queries::by_day"]).selected_program(), None);
        assert!(parse_selection(&["browser::"]).rest.is_empty());
    }

    #[test]
    fn the_widgets_tests_are_compiled_where_they_may_run() {
        for (arguments, needed) in [
            (&[][..], true),
            (&["browser::widget"], true),
            (&["browser::"], true),
            (&["--", "--skip", "double_click"], true),
            (&["browser::double_click"], false),
            (&["api::refunds"], false),
        ] {
            assert_eq!(parse_selection(arguments).needs_widget(), needed, "{arguments:?}");
        }
    }
}
