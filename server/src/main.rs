//! The one binary of Tillgate. Everything it can do is a sub-command; see `tillgate --help`.

fn main() -> std::process::ExitCode {
    tillgate::cli::run()
}
