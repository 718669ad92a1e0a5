//! `cargo xtask …`: every chore of the project, each doing all of its own set-up.
//! A chore is a module with a `run` function and a row in the table below.

mod bench;
mod crash;
mod demo;
mod deny;
mod form;
mod fuzz_api;
mod server;
mod test;
mod toolchain;

use std::process::ExitCode;

/// One chore: its name, what it does in a line, its own help, and the function that does it.
struct Chore {
    name: &'static str,
    summary: &'static str,
    help: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const CHORES: &[Chore] = &[
    Chore { name: "demo", summary: "run the gateway and a demo shop", help: demo::HELP, run: demo::run },
    Chore { name: "test", summary: "run every test", help: test::HELP, run: test::run },
    Chore {
        name: "bench",
        summary: "measure the gateway against the machine's own floors",
        help: bench::HELP,
        run: bench::run,
    },
    Chore {
        name: "fuzz-api",
        summary: "let a fuzzer loose on the gateway, by its own description",
        help: fuzz_api::HELP,
        run: fuzz_api::run,
    },
    Chore {
        name: "crash",
        summary: "kill the gateway at random moments and see that it keeps its word",
        help: crash::HELP,
        run: crash::run,
    },
    Chore {
        name: "deny",
        summary: "check licences, sources and advisories of what the project depends on",
        help: deny::HELP,
        run: deny::run,
    },
    Chore {
        name: "toolchain",
        summary: "find or set up a compiler for wasm32-unknown-unknown",
        help: toolchain::HELP,
        run: toolchain::run,
    },
    Chore { name: "form", summary: "build the hosted form into target/form", help: form::HELP, run: form::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants_help = arguments.iter().any(|a| a == "--help" || a == "-h");
    let Some(name) = arguments.iter().find(|a| !a.starts_with('-')) else {
        print_help();
        return ExitCode::SUCCESS;
    };
    let Some(chore) = CHORES.iter().find(|c| c.name == name) else {
        eprintln!("There is no chore named {name:?}.\n");
        print_help();
        return ExitCode::FAILURE;
    };
    if wants_help {
        println!("cargo xtask {} - {}\n\n{}", chore.name, chore.summary, chore.help);
        return ExitCode::SUCCESS;
    }
    let rest: Vec<String> = arguments.iter().skip_while(|a| *a != name).skip(1).cloned().collect();
    match (chore.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\ncargo xtask {name} did not finish: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print_help() {
    println!("Tillgate's chores. Each does its own set-up; running one twice is cheap.\n");
    println!("Usage: cargo xtask <chore> [options]\n");
    for chore in CHORES {
        println!("  {:<10} {}", chore.name, chore.summary);
    }
    println!("\n`cargo xtask <chore> --help` tells more.");
}

/// The root folder of the workspace.
fn root() -> &'static std::path::Path {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
