//! Makes what browsers load from the compiled modules of the form. `cargo xtask` calls this program. It is a program of
//! its own because a minifier and wasm-bindgen take minutes to compile: so they compile beside the gateway, and
//! `cargo xtask` starts at once.

mod banks;
mod bindings;
mod bundle;
#[cfg(test)]
mod debit_tests;
mod es5;
mod fields;
mod frame_document;
mod glue;
mod lazy_scripts;
mod locale;
mod marks;
mod modules;
mod packed;
mod plain_js;
mod script;
#[cfg(test)]
mod script_tests;
mod test_page;
mod unused;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use self::bindings::bind_module;
use self::bundle::{Compression, PageScripts};
use self::glue::ModuleSource;

const USAGE: &str = "\
usage: form-tools bundle OUT WORK COMPILER FRAME.wasm PAGE.wasm   a build of the form
       form-tools draft OUT WORK COMPILER FRAME.wasm BUNDLE       the same with the page module of a bundle, quickly
       form-tools tests OUT TESTS.wasm                            the page that runs the page module's own tests

OUT is a folder to create, WORK one for intermediate files, and COMPILER the text about it in the manifest.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run_command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command that these arguments name.
fn run_command(arguments: &[&str]) -> Result<()> {
    match *arguments {
        ["bundle", out, work, compiler, frame, page] => {
            let work = Path::new(work);
            let page = bind_module("page", Path::new(page), work, ModuleSource::Bytes)?;
            let frame = bind_module("frame", Path::new(frame), work, ModuleSource::Response)?;
            let page = PageScripts::join(&page)?;
            bundle::write_bundle(workspace_root(), Path::new(out), page, &frame, compiler, Compression::Best)
        }
        ["draft", out, work, compiler, frame, bundle] => {
            let frame = bind_module("frame", Path::new(frame), Path::new(work), ModuleSource::Response)?;
            let page = PageScripts::read(Path::new(bundle))?;
            bundle::write_bundle(workspace_root(), Path::new(out), page, &frame, compiler, Compression::Skip)
        }
        ["tests", out, tests] => test_page::write_page(Path::new(out), Path::new(tests)),
        _ => bail!("{USAGE}"),
    }
}

/// Returns the root folder of the workspace.
fn workspace_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}
