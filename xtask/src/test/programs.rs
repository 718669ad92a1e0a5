//! Test programs: builds them with cargo, runs them in parallel, and measures the time of each test.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use anyhow::{Context as _, Result};

use super::phases::Phases;
use crate::form::tools::ToolsBuild;
use crate::{cargo, form};

/// Name of the program with the HTTP tests.
pub const API: &str = "api";
/// Name of the program with the browser tests.
pub const BROWSER: &str = "browser";

/// Number of parallel tests in programs whose tests wait for other processes. Measured on two cores: more do not help,
/// and each browser test has its own browser.
const THREADS: [(&str, &str); 2] = [(API, "6"), (BROWSER, "4")];

/// A test that ran.
pub struct TestTime {
    /// Program and path.
    pub name: String,
    /// Time that it took.
    pub seconds: f64,
}

/// Outcome of a program's run.
struct ProgramResult {
    passed: bool,
    tests: Vec<TestTime>,
}

/// A test program of the workspace.
pub struct Program {
    /// Name of its target.
    name: String,
    /// Name of its package.
    package: String,
    file: PathBuf,
    /// Folder of its package, in which its tests run.
    folder: PathBuf,
}

/// Builds the gateway, the tools of the form if `with_tools` is true, and either all test programs of the workspace or
/// the black-box test program with this name. Uses as few cargo calls as possible: another selection of packages has
/// other crate features, and compiles those crates again. `xtask` is such a selection, and is built before.
pub fn build_programs(only: Option<&str>, with_tools: bool, tools: ToolsBuild) -> Result<Vec<Program>> {
    let workspace: &[&str] = &["--workspace", "--exclude", "xtask"];
    let mut programs = Vec::new();
    let mut build = |arguments: &[&str]| {
        let read = |message: &str| {
            tools.read_message(message);
            programs.extend(parse_program(message));
        };
        cargo::build(arguments, read).context("the tests do not compile")
    };
    match only {
        Some(name) => {
            let tools: &[&str] = if with_tools { &["--bin", form::tools::NAME] } else { &[] };
            let selected = ["--bin", "tillgate", "--bin", "tillgate-shop", "--test", name];
            build(&[workspace, &selected, tools].concat())?;
        }
        None => {
            build(&[workspace, &["--lib", "--bins", "--tests", "--examples"]].concat())?;
            build(&["--package", "xtask", "--bins", "--tests"])?;
        }
    }
    // Unit tests come first: they are quick, and their failures explain the others.
    programs.sort_by_key(|program| (program.name == BROWSER, program.name == API, program.title()));
    Ok(programs)
}

/// Parses a message of cargo. Returns `None` if it is not about a test program.
fn parse_program(message: &str) -> Option<Program> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let text = |pointer: &str| message.pointer(pointer)?.as_str();
    let is_test = message.pointer("/profile/test")?.as_bool()?;
    let file = text("/executable").filter(|_| is_test)?;
    let folder = PathBuf::from(text("/manifest_path")?).parent()?.to_owned();
    Some(Program {
        name: text("/target/name")?.to_owned(),
        package: folder.file_name()?.to_string_lossy().into_owned(),
        file: file.into(),
        folder,
    })
}

/// Runs the programs. Browser tests wait a lot, so they run beside all others. The output of a program is printed in
/// one piece, in the order of the programs. Returns the tests that ran, and the programs in which one failed.
///
/// # Errors
/// If a program cannot be started.
pub fn run_programs(
    programs: &[Program],
    arguments: &[String],
    environment: &[(&str, OsString)],
    phases: &Phases,
) -> Result<(Vec<TestTime>, Vec<String>)> {
    let (printers, printed): (Vec<_>, Vec<_>) = programs.iter().map(|_| mpsc::channel()).unzip();
    let run_all = |lane: Vec<(&Program, Sender<String>)>| -> Result<Vec<(String, ProgramResult)>> {
        let run = |(program, printer): (&Program, _)| {
            let title = program.title();
            let outcome = phases.time_phase(&title, || program.run_tests(arguments, environment, &printer))?;
            Ok((title, outcome))
        };
        lane.into_iter().map(run).collect()
    };
    let (slow, quick): (Vec<_>, Vec<_>) =
        programs.iter().zip(printers).partition(|(program, _)| program.name == BROWSER);
    let outcomes = thread::scope(|scope| {
        let lanes = [slow, quick].map(|lane| scope.spawn(|| run_all(lane)));
        print_output(programs, printed);
        let outcomes = lanes.map(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        outcomes.into_iter().collect::<Result<Vec<_>>>()
    })?;
    let (mut tests, mut failed) = (Vec::new(), Vec::new());
    for (title, outcome) in outcomes.into_iter().flatten() {
        tests.extend(outcome.tests);
        failed.extend((!outcome.passed).then_some(title));
    }
    Ok((tests, failed))
}

/// Prints the output of the programs, each completely before the next.
fn print_output(programs: &[Program], printed: Vec<Receiver<String>>) {
    for (program, lines) in programs.iter().zip(printed) {
        println!("\n{}", program.title());
        for line in lines {
            println!("{line}");
        }
    }
}

impl Program {
    /// Returns the package and target as text.
    pub fn title(&self) -> String {
        format!("{} {}", self.package, self.name)
    }

    /// Returns true if it has the HTTP tests.
    pub fn is_api(&self) -> bool {
        self.name == API
    }

    /// Returns true if its tests run the gateway as a program.
    pub fn is_black_box(&self) -> bool {
        self.is_api() || self.name == BROWSER
    }

    /// Runs its tests with these arguments, and sends each line that they print. Returns the tests that ran, and
    /// whether all passed.
    fn run_tests(
        &self,
        arguments: &[String],
        environment: &[(&str, OsString)],
        printer: &Sender<String>,
    ) -> Result<ProgramResult> {
        let mut command = Command::new(&self.file);
        command.current_dir(&self.folder).args(["-Zunstable-options", "--report-time"]).args(arguments);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        // The test harness reports times only if unstable options are allowed.
        command.env("RUSTC_BOOTSTRAP", "1");
        let threads = THREADS.into_iter().find(|(program, _)| *program == self.name);
        if let Some((_, threads)) = threads.filter(|_| std::env::var_os("RUST_TEST_THREADS").is_none()) {
            command.env("RUST_TEST_THREADS", threads);
        }
        let mut child = command.spawn().with_context(|| format!("starting {}", self.file.display()))?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let tests = thread::scope(|scope| {
            scope.spawn(|| send_lines(errors, printer, |_| {}));
            let mut tests = Vec::new();
            send_lines(output, printer, |line| tests.extend(self.parse_test_line(line)));
            tests
        });
        Ok(ProgramResult { passed: child.wait()?.success(), tests })
    }

    /// Parses a line of the test harness, such as `test refunds::all ... ok <1.250s>`. Returns `None` for a line
    /// without a time.
    fn parse_test_line(&self, line: &str) -> Option<TestTime> {
        let (path, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let seconds = rest.rsplit_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
        Some(TestTime { name: format!("{} {path}", self.title()), seconds })
    }
}

/// Sends all lines of a stream until it ends, and passes each to `see`. Without a stream, does nothing.
fn send_lines(stream: Option<impl Read>, printer: &Sender<String>, mut see: impl FnMut(&str)) {
    let Some(stream) = stream else { return };
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        see(&line);
        // If the receiver is gone, this process is ending.
        let _ = printer.send(line);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_tells_how_long_a_test_took() {
        let message = r#"{"reason":"compiler-artifact","manifest_path":"/work/tests/Cargo.toml","target":{"name":"api"},
            "profile":{"test":true},"executable":"/work/target/debug/deps/api-1"}"#;
        let program = parse_program(message).unwrap();
        assert_eq!(program.title(), "tests api");
        let test = program.parse_test_line("test refunds::all ... ok <1.250s>").unwrap();
        assert_eq!((test.name.as_str(), test.seconds), ("tests api refunds::all", 1.25));
        assert!(
            program.parse_test_line("test refunds::all ... ok").is_none()
                && program.parse_test_line("running 3 tests").is_none()
        );
    }

    #[test]
    fn a_program_that_fails_is_named_and_its_output_passed_on() {
        let program = |name: &str, file: &str| Program {
            name: name.to_owned(),
            package: "tests".to_owned(),
            file: file.into(),
            folder: "/".into(),
        };
        let programs = [program("unit", "/bin/true"), program(API, "/bin/false"), program(BROWSER, "/bin/echo")];
        let (tests, failed) = run_programs(&programs, &[], &[], &Phases::start()).unwrap();
        assert_eq!(failed, ["tests api"]);
        assert!(tests.is_empty());
        let (printer, printed) = mpsc::channel();
        assert!(programs[2].run_tests(&["it".to_owned()], &[], &printer).unwrap().passed);
        assert_eq!(printed.try_iter().collect::<Vec<_>>(), ["-Zunstable-options --report-time it"]);
    }
}
