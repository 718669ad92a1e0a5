//! Reads the text file that an option names.

use std::io::stdin;
use std::path::Path;

use anyhow::anyhow;
use tillgate_os::text_file::{TextFileError, read_text, read_text_file};
use zeroize::Zeroizing;

/// Reads a text file of at most this many bytes, or the standard input for `-`.
pub(super) fn read_input_file(path: &Path, most: u64) -> anyhow::Result<Zeroizing<String>> {
    let text = if path == Path::new("-") { read_text(stdin(), most) } else { read_text_file(path, most) };
    let shown = path.display();
    text.map_err(|error| match error {
        // Editors jump to a position that is written so.
        TextFileError::NotUtf8(line, column) => anyhow!("{shown}:{line}:{column}: this is not UTF-8"),
        TextFileError::TooLarge(most) => anyhow!("{shown} is larger than {most} bytes"),
        TextFileError::Utf16 => anyhow!("{shown} is UTF-16: save it as UTF-8"),
        TextFileError::Io(error) => anyhow::Error::new(error).context(format!("opening {shown}")),
    })
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::path::PathBuf;

    use clap::{Command, CommandFactory as _};

    use super::super::Cli;

    /// Options that name a text file, which [`read_text_file`](tillgate_os::text_file::read_text_file) reads.
    const TEXTS: [&str; 25] = [
        "acquirer-key-file",
        "acquirer-lines",
        "acquirer-mac-key-file",
        "mac-key-file",
        "upstream-token-file",
        "ftp-certificate",
        "ftp-key",
        "key-file",
        "three-ds-key-file",
        "risk-networks",
        "risk-disposable",
        "risk-bins",
        "retry-rules",
        "file",
        "input",
        "networks",
        "disposable",
        "bins",
        "mapping",
        "password-file",
        "database-password-file",
        "from-password-file",
        "to-password-file",
        "private-key-file",
        "ca-file",
    ];
    /// Options that name a folder, a file that is written, or bytes that are no text of an operator: evidence, and the
    /// files of institutes, whose mapping names their encoding.
    const OTHERS: [&str; 7] = ["data", "form", "to", "from", "svg", "add", "output"];

    fn visit(command: &Command, path: &str, found: &mut Vec<(String, String)>) {
        for argument in command.get_arguments() {
            if argument.get_value_parser().type_id() == TypeId::of::<PathBuf>() {
                let name = argument.get_long().map_or_else(|| argument.get_id().to_string(), str::to_owned);
                found.push((path.to_owned(), name));
            }
        }
        for below in command.get_subcommands() {
            visit(below, &format!("{path} {}", below.get_name()), found);
        }
    }

    #[test]
    fn every_option_that_names_a_file_is_a_text_that_is_read_here_or_something_else() {
        let mut found = Vec::new();
        visit(&Cli::command(), "tillgate", &mut found);
        assert!(found.len() > 60, "{found:?}");
        for (command, name) in found {
            let is_known = TEXTS.contains(&name.as_str()) || OTHERS.contains(&name.as_str());
            assert!(is_known, "{command} --{name}: name its kind, and test it in tests/api/service/text_files.rs");
        }
    }
}
