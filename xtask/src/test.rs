//! `cargo xtask test`: every test, with all that they need.

mod programs;
pub mod tools;

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use self::programs::Test;
use crate::{form, server};

/// Text of `cargo xtask test --help`.
pub const HELP: &str = "\
Sets up what is missing (the wasm toolchain, Chromium and Firefox with their drivers, axe-core,
TypeScript, and the frameworks of merchants' pages), builds the form and the gateway, and runs all
tests: units and properties, HTTP against the real binary, and the form in real browsers. Prints the
time of each phase and the ten slowest tests.

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
    let mut phases = Phases::default();
    let form = crate::root().join("target/form/manifest.json");
    if asked.needs_form() || !form.exists() {
        let folder = phases.time("form", || form::build(form::Options::default()))?;
        form::check_size(&folder)?;
    }
    let programs = phases.time("gateway and test programs", || programs::build(asked.program()))?;
    let binary = server::folder(server::Profile::Development).join("tillgate");
    let mut environment = vec![("TILLGATE_BIN", binary.into_os_string())];
    phases.time("tools", || {
        let packages = tools::packages()?;
        environment.push(("TILLGATE_AXE", packages.join(tools::AXE).into()));
        environment.push(("TILLGATE_TSC", packages.join(tools::COMPILER).into()));
        if asked.program().is_none_or(|name| name == programs::BROWSER) {
            tools::chromium()?;
            tools::firefox()?;
            environment.push(("GECKODRIVER", tools::geckodriver()?.into()));
        }
        Ok(())
    })?;
    let mut tests = Vec::new();
    let mut failed = Vec::new();
    for program in &programs {
        let outcome = phases.time(&program.title(), || program.run(&asked.rest, &environment))?;
        tests.extend(outcome.tests);
        if !outcome.passed {
            failed.push(program.title());
        }
    }
    phases.print();
    print_slowest(tests);
    ensure!(failed.is_empty(), "a test failed in {}", failed.join(", "));
    Ok(())
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
}

/// Phases of a run with their times, in seconds.
#[derive(Default)]
struct Phases(Vec<(String, f64)>);

impl Phases {
    fn time<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let done = work();
        self.0.push((name.to_owned(), started.elapsed().as_secs_f64()));
        done
    }

    fn print(&self) {
        println!("\nPhase                          seconds");
        for (name, seconds) in &self.0 {
            println!("{name:<30} {seconds:>7.1}");
        }
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
}
