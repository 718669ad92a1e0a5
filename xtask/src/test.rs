//! `cargo xtask test`: every test, with all that they need.

mod phases;
mod programs;
pub mod tools;
mod widget;

use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context as _, Result, ensure};

use self::phases::Phases;
use self::programs::Test;
use crate::toolchain::beside;
use crate::{form, server};

/// Text of `cargo xtask test --help`.
pub const HELP: &str = "\
Sets up what is missing (the wasm toolchain, Chromium with its driver, Firefox, axe-core, TypeScript,
and the frameworks of merchants' pages), builds the form and the gateway, and runs all tests: units
and properties, HTTP against the real binary, and the form in real browsers. Prints the time of each
phase, of which some run beside each other, and the ten slowest tests.

  api::NAME      only the tests over HTTP with NAME in their path; the form that is there is used
  browser::NAME  only the tests in browsers with NAME in their path
  NAME           only the tests with NAME in their path
  -- ARGUMENTS   given to every test program, for example --nocapture

RUST_TEST_THREADS says how many tests run at once; most of them wait more than they work.

Examples: cargo xtask test
          cargo xtask test api::refunds
          cargo xtask test -- --nocapture double_click";

/// Builds everything and runs the tests.
pub fn run(arguments: &[String]) -> Result<()> {
    let asked = Asked::read(arguments);
    let phases = Phases::start();
    let (programs, environment) = prepare(&asked, &phases)?;
    let (tests, failed) = programs::run(&programs, &asked.rest, &environment, &phases)?;
    phases.print();
    print_slowest(tests);
    ensure!(failed.is_empty(), "a test failed in {}", failed.join(", "));
    Ok(())
}

/// Builds the form, the gateway and the test programs, and sets up what they need. What is fetched does not wait for what is
/// compiled; and the form, whose compiler keeps one core busy, not for what the gateway needs besides.
fn prepare(asked: &Asked, phases: &Phases) -> Result<(Vec<programs::Program>, tools::Environment)> {
    let wants_form = asked.needs_form() || !crate::root().join("target/form/manifest.json").exists();
    // From here on, the gateway's build waits for the form.
    let turn = if wants_form { Some(form::turn()?) } else { None };
    thread::scope(|scope| {
        let tools = scope.spawn(|| phases.time("tools", || beside(|| tools::set_up(asked.needs_browsers()))));
        let form = turn.map(|turn| {
            scope.spawn(move || {
                let folder = phases.time("form", || beside(|| form::build_in(&turn, form::Options::default())))?;
                form::check_size(&folder)
            })
        });
        let programs = phases.time("gateway and test programs", || programs::build(asked.program()));
        form.map_or(Ok(()), joined).context("the form")?;
        let programs = programs?;
        let widget = asked.needs_widget().then(|| phases.time("the widget's own tests", widget::build)).transpose()?;
        let mut environment = joined(tools).context("setting up what the tests need")?;
        let binary = server::folder(server::Profile::Development).join("tillgate");
        environment.push(("TILLGATE_BIN", binary.into()));
        environment.extend(widget.map(|folder| ("TILLGATE_WIDGET_TESTS", folder.into())));
        Ok((programs, environment))
    })
}

fn joined<T>(work: ScopedJoinHandle<'_, T>) -> T {
    work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Tests that the command line asks for.
struct Asked {
    /// `api` or `browser`, where only one of them is asked for.
    program: Option<String>,
    /// Arguments of the test programs.
    rest: Vec<String>,
}

impl Asked {
    fn read(arguments: &[String]) -> Self {
        let mut program = None;
        let mut rest = Vec::new();
        for argument in arguments.iter().filter(|argument| *argument != "--") {
            match argument.split_once("::") {
                Some((name @ (programs::API | programs::BROWSER), filter)) => {
                    program = Some(name.to_owned());
                    rest.extend((!filter.is_empty()).then(|| filter.to_owned()));
                }
                _ => rest.push(argument.clone()),
            }
        }
        Self { program, rest }
    }

    fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Returns true if a change of the form's sources matters to the tests.
    fn needs_form(&self) -> bool {
        self.program() != Some(programs::API)
    }

    /// Returns true if tests in browsers may be among them.
    fn needs_browsers(&self) -> bool {
        self.program().is_none_or(|name| name == programs::BROWSER)
    }

    /// Returns true if the test that runs the widget's own ones may be among them.
    fn needs_widget(&self) -> bool {
        let others = |argument: &String| !argument.starts_with('-') && !widget::TEST.contains(argument.as_str());
        self.needs_browsers() && (self.rest.is_empty() || !self.rest.iter().all(others))
    }
}

fn print_slowest(mut tests: Vec<Test>) {
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("\nSlowest tests                  seconds");
    for test in tests.iter().take(10) {
        println!("{:>38.1}  {}", test.seconds, test.name);
    }
}

/// The output of a command that has to succeed.
fn output(command: &mut Command) -> Result<String> {
    let done = command.stderr(std::process::Stdio::inherit()).output().context("running cargo")?;
    ensure!(done.status.success(), "the tests do not compile");
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Asked {
        Asked::read(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn tests_over_http_need_no_new_form() {
        let one = asked(&["api::refunds"]);
        assert_eq!((one.program(), &one.rest[..], one.needs_form()), (Some("api"), &["refunds".to_owned()][..], false));
        let all = asked(&["--", "--nocapture", "double_click"]);
        assert_eq!((all.program(), all.rest.len(), all.needs_form()), (None, 2, true));
        // A module's path is no name of a program.
        assert_eq!(asked(&["queries::by_day"]).program(), None);
        assert!(asked(&["browser::"]).rest.is_empty());
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
            assert_eq!(asked(arguments).needs_widget(), needed, "{arguments:?}");
        }
    }
}
