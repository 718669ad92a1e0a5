//! Test programs: built by cargo, run one after the other, their tests timed.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

/// Name of the program with the tests over HTTP.
pub const API: &str = "api";
/// Name of the program with the tests in browsers.
pub const BROWSER: &str = "browser";

/// Tests that run at once in a program whose tests wait for other processes. Measured on two cores: more gain nothing.
const THREADS: &str = "6";

/// A test that ran.
pub struct Test {
    /// Program and path.
    pub name: String,
    /// Time that it took.
    pub seconds: f64,
}

/// Outcome of a program's run.
pub struct Outcome {
    /// True if every test passed.
    pub passed: bool,
    /// The tests that ran.
    pub tests: Vec<Test>,
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

/// Builds the gateway, and the test programs of the workspace or the one of the black-box tests with this name. All in one
/// call for the whole workspace: another choice of packages has other features of crates, and would compile those again.
///
/// # Errors
/// When something does not compile.
pub fn build(only: Option<&str>) -> Result<Vec<Program>> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(crate::root()).args(["build", "--workspace", "--message-format", "json-render-diagnostics"]);
    match only {
        Some(name) => cargo.args(["--bin", "tillgate", "--test", name]),
        None => cargo.args(["--bins", "--tests"]),
    };
    let messages = super::output(&mut cargo)?;
    let mut programs: Vec<Program> = messages.lines().filter_map(program).collect();
    // Units first: they are quick, and what fails there explains the rest.
    programs.sort_by_key(|program| (program.name == BROWSER, program.name == API, program.title()));
    Ok(programs)
}

/// Reads a message of cargo's. Returns `None` where it is not about a test program.
fn program(message: &str) -> Option<Program> {
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

impl Program {
    /// Package and target in words.
    pub fn title(&self) -> String {
        format!("{} {}", self.package, self.name)
    }

    /// Runs its tests and passes on what they print.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn run(&self, arguments: &[String], environment: &[(&str, OsString)]) -> Result<Outcome> {
        println!("\n{}", self.title());
        let mut command = Command::new(&self.file);
        command.current_dir(&self.folder).args(["-Zunstable-options", "--report-time"]).args(arguments);
        command.envs(environment.iter().map(|(name, value)| (name, value))).stdout(Stdio::piped());
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        // The harness tells times only where unstable options are allowed.
        command.env("RUSTC_BOOTSTRAP", "1");
        if (self.name == API || self.name == BROWSER) && std::env::var_os("RUST_TEST_THREADS").is_none() {
            command.env("RUST_TEST_THREADS", THREADS);
        }
        let mut child = command.spawn().with_context(|| format!("starting {}", self.file.display()))?;
        let mut tests = Vec::new();
        if let Some(printed) = child.stdout.take() {
            for line in BufReader::new(printed).lines() {
                let line = line?;
                println!("{line}");
                tests.extend(self.test(&line));
            }
        }
        Ok(Outcome { passed: child.wait()?.success(), tests })
    }

    /// Reads a line of the harness, such as `test refunds::all ... ok <1.250s>`.
    fn test(&self, line: &str) -> Option<Test> {
        let (path, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let seconds = rest.rsplit_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
        Some(Test { name: format!("{} {path}", self.title()), seconds })
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
        let program = program(message).unwrap();
        assert_eq!(program.title(), "tests api");
        let test = program.test("test refunds::all ... ok <1.250s>").unwrap();
        assert_eq!((test.name.as_str(), test.seconds), ("tests api refunds::all", 1.25));
        assert!(program.test("test refunds::all ... ok").is_none() && program.test("running 3 tests").is_none());
    }
}
