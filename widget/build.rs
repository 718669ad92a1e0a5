//! Compiles English into the page part: `locales/en.toml` becomes a table of keys and texts.
//! Every other language travels as a script of its own.

use std::fmt::Write as _;

fn main() {
    println!("cargo::rerun-if-changed=locales/en.toml");
    let source = std::fs::read_to_string("locales/en.toml").expect("locales/en.toml is there");
    let table: toml::Table = source.parse().expect("locales/en.toml is TOML");
    let mut out = String::new();
    for group in ["labels", "errors"] {
        let texts = table[group].as_table().expect("labels and errors are tables");
        let name = group.to_uppercase();
        let _ = writeln!(out, "/// Keys and English texts of `[{group}]`.");
        let _ = writeln!(out, "pub const {name}: &[(&str, &str)] = &[");
        for (key, text) in texts {
            let text = text.as_str().expect("a text");
            let _ = writeln!(out, "    ({key:?}, {text:?}),");
        }
        let _ = writeln!(out, "];");
    }
    let folder = std::env::var("OUT_DIR").expect("cargo names OUT_DIR");
    std::fs::write(std::path::Path::new(&folder).join("english.rs"), out).expect("OUT_DIR is writable");
}
