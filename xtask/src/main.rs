//! `cargo xtask …`: the development tasks, each with all of its own set-up. A task is a module, with a function
//! in a row of the table below.

mod bench;
mod cargo;
mod check;
mod crash;
mod demo;
mod deny;
mod form;
mod fuzz_api;
mod npm;
mod server;
mod test;
mod toolchain;

use std::process::ExitCode;

/// A task: its name, a summary in one line, its help, and its function.
struct Task {
    name: &'static str,
    summary: &'static str,
    help: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const TASKS: &[Task] = &[
    Task { name: "demo", summary: "run the gateway and a demo shop", help: demo::HELP, run: demo::run_demo },
    Task { name: "test", summary: "run every test", help: test::HELP, run: test::run_tests },
    Task {
        name: "bench",
        summary: "measure the gateway against the machine's own floors",
        help: bench::HELP,
        run: bench::run_bench,
    },
    Task {
        name: "fuzz-api",
        summary: "let a fuzzer loose on the gateway, by its own description",
        help: fuzz_api::HELP,
        run: fuzz_api::run_fuzzer,
    },
    Task {
        name: "crash",
        summary: "kill the gateway, or parts of a cluster, and check that nothing is lost",
        help: crash::HELP,
        run: crash::run_crash_test,
    },
    Task {
        name: "check",
        summary: "check the documents' links, the comments' words and the names of types",
        help: check::HELP,
        run: check::run_checks,
    },
    Task {
        name: "deny",
        summary: "check licences, sources and advisories of what the project depends on",
        help: deny::HELP,
        run: deny::check_dependencies,
    },
    Task {
        name: "toolchain",
        summary: "find or set up a compiler for wasm32-unknown-unknown",
        help: toolchain::HELP,
        run: toolchain::print_toolchain,
    },
    Task {
        name: "form",
        summary: "build the hosted form into target/form",
        help: form::HELP,
        run: form::build_and_report,
    },
    Task {
        name: "npm",
        summary: "pack the form's npm package into target/npm",
        help: npm::HELP,
        run: npm::pack_and_report,
    },
];

/// Runs the task that the first argument without a dash names, or prints its help. Without one, prints the list of
/// tasks. Fails for an unknown name, and if the task fails.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants_help = arguments.iter().any(|a| a == "--help" || a == "-h");
    let Some(name) = arguments.iter().find(|a| !a.starts_with('-')) else {
        print_help();
        return ExitCode::SUCCESS;
    };
    let Some(task) = TASKS.iter().find(|c| c.name == name) else {
        eprintln!("There is no task named {name:?}.\n");
        print_help();
        return ExitCode::FAILURE;
    };
    if wants_help {
        println!("cargo xtask {} - {}\n\n{}", task.name, task.summary, task.help);
        return ExitCode::SUCCESS;
    }
    let rest: Vec<String> = arguments.iter().skip_while(|a| *a != name).skip(1).cloned().collect();
    match (task.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\ncargo xtask {name} did not finish: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the list of tasks.
fn print_help() {
    println!("Tillgate's tasks. Each does its own set-up; running one twice is cheap.\n");
    println!("Usage: cargo xtask <task> [options]\n");
    for task in TASKS {
        println!("  {:<10} {}", task.name, task.summary);
    }
    println!("\nSee `cargo xtask <task> --help` for details.");
}

/// Returns the root folder of the workspace.
fn workspace_root() -> &'static std::path::Path {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
