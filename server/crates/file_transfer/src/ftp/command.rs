//! Commands of FTP (RFC 959, 2228, 2428, 3659), as far as the server knows them.

/// Maximum length of a line with its end, as RFC 959 leaves room for.
pub(super) const MAX_LINE: usize = 512;

/// A command with its argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    User(&'a str),
    Pass(&'a str),
    Auth(&'a str),
    /// The size of protection buffers, which is always 0 with TLS.
    Pbsz,
    Prot(&'a str),
    Quit,
    Syst,
    Feat,
    Help,
    Noop,
    Opts(&'a str),
    Pwd,
    /// Changes the folder.
    Cwd(&'a str),
    Type(&'a str),
    Mode(&'a str),
    Stru(&'a str),
    Pasv,
    Epsv(&'a str),
    /// Lists the folder for people, `LIST`, or by names only, `NLST`.
    List {
        path: &'a str,
        names_only: bool,
    },
    Mlsd(&'a str),
    Mlst(&'a str),
    Size(&'a str),
    Mdtm(&'a str),
    Rest(&'a str),
    Retr(&'a str),
    Stat(&'a str),
    Abor,
    /// An active data connection, which would let a client send data to any address.
    Active,
    /// A command that would change something.
    Write,
    Unknown,
}

impl<'a> Command<'a> {
    /// Parses a line without its end. A control sequence of telnet before a command is skipped.
    pub(super) fn parse(line: &'a str) -> Self {
        let line = line.trim_start_matches(char::REPLACEMENT_CHARACTER);
        let (verb, argument) = line.split_once(' ').unwrap_or((line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "USER" => Self::User(argument),
            "PASS" => Self::Pass(argument),
            "AUTH" => Self::Auth(argument),
            "PBSZ" => Self::Pbsz,
            "PROT" => Self::Prot(argument),
            "QUIT" => Self::Quit,
            "SYST" => Self::Syst,
            "FEAT" => Self::Feat,
            "HELP" => Self::Help,
            "NOOP" | "CLNT" | "ALLO" => Self::Noop,
            "OPTS" => Self::Opts(argument),
            "PWD" | "XPWD" => Self::Pwd,
            "CWD" | "XCWD" => Self::Cwd(argument),
            "CDUP" | "XCUP" => Self::Cwd("/"),
            "TYPE" => Self::Type(argument),
            "MODE" => Self::Mode(argument),
            "STRU" => Self::Stru(argument),
            "PASV" => Self::Pasv,
            "EPSV" => Self::Epsv(argument),
            "LIST" => Self::List { path: skip_options(argument), names_only: false },
            "NLST" => Self::List { path: skip_options(argument), names_only: true },
            "MLSD" => Self::Mlsd(argument),
            "MLST" => Self::Mlst(argument),
            "SIZE" => Self::Size(argument),
            "MDTM" => Self::Mdtm(argument),
            "REST" => Self::Rest(argument),
            "RETR" => Self::Retr(argument),
            "STAT" => Self::Stat(argument),
            "ABOR" => Self::Abor,
            "PORT" | "EPRT" | "LPRT" => Self::Active,
            "STOR" | "STOU" | "APPE" | "DELE" | "RMD" | "XRMD" | "MKD" | "XMKD" | "RNFR" | "RNTO" | "MFMT" => {
                Self::Write
            }
            _ => Self::Unknown,
        }
    }
}

/// Returns the path of a listing without options such as `-la`, which clients send to other servers.
fn skip_options(argument: &str) -> &str {
    let mut rest = argument.trim_start();
    while rest.starts_with('-') {
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

/// Place in the only folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FolderPath<'a> {
    /// The folder itself.
    Folder,
    /// An entry with a name, which may not exist.
    Entry(&'a str),
}

impl<'a> FolderPath<'a> {
    /// Reads a path. There is one folder, so everything else is the name of an entry, and names with slashes or dots
    /// match no file.
    pub(super) fn parse(path: &'a str) -> Self {
        match path {
            "" | "/" | "." | "./" | "/." => Self::Folder,
            path => Self::Entry(path.strip_prefix("./").or_else(|| path.strip_prefix('/')).unwrap_or(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_any_case_and_an_argument_with_spaces() {
        for (line, command) in [
            ("user jane doe", Command::User("jane doe")),
            ("PASS  x ", Command::Pass(" x ")),
            ("List -la", Command::List { path: "", names_only: false }),
            ("NLST -1 /a b", Command::List { path: "/a b", names_only: true }),
            ("\u{fffd}\u{fffd}ABOR", Command::Abor),
            ("PORT 127,0,0,1,0,22", Command::Active),
            ("stor x", Command::Write),
            ("SITE EXEC", Command::Unknown),
            ("", Command::Unknown),
        ] {
            assert_eq!(Command::parse(line), command, "{line:?}");
        }
    }

    #[test]
    fn a_path_is_the_folder_or_a_name() {
        for (path, found) in [
            ("/", FolderPath::Folder),
            ("./a.csv", FolderPath::Entry("a.csv")),
            ("/a.csv", FolderPath::Entry("a.csv")),
            ("//a.csv", FolderPath::Entry("/a.csv")),
            ("../a.csv", FolderPath::Entry("../a.csv")),
            ("..", FolderPath::Entry("..")),
        ] {
            assert_eq!(FolderPath::parse(path), found);
        }
    }
}
