//! Joins JavaScript modules into one script: the loader and the scripts of the frames are small modules with imports,
//! and browsers load each as one file. Names are unique across the modules of a script, so that joining renames
//! nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use oxc::allocator::Allocator;
use oxc::ast::ast::{ImportDeclarationSpecifier, Statement};
use oxc::parser::Parser;
use oxc::span::{GetSpan, SourceType};

/// Joins a module and all that it imports, each before its users, into one strict script with its own scope.
///
/// # Errors
/// If a file is missing, is no module, or imports a name that another file does not export.
pub fn join_modules(entry: &Path) -> Result<String> {
    let mut script = String::from("(function () {\n\"use strict\";\n");
    add_module(entry, &mut Vec::new(), &mut script)?;
    script.push_str("})();");
    Ok(script)
}

/// Adds a module after those that it imports, unless it is there already. Returns the names that it exports.
fn add_module(
    path: &Path,
    known: &mut Vec<(PathBuf, BTreeSet<String>)>,
    script: &mut String,
) -> Result<BTreeSet<String>> {
    if let Some((_, names)) = known.iter().find(|(other, _)| other == path) {
        return Ok(names.clone());
    }
    let source = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let module = split_module(&source).with_context(|| format!("in {}", path.display()))?;
    // A module that imports itself by way of others finds itself here.
    known.push((path.to_owned(), module.exports.clone()));
    for (from, names) in &module.imports {
        let file = path.parent().context("a file without a folder")?.join(from);
        let file = file.canonicalize().with_context(|| format!("{} imports {from}", path.display()))?;
        let exported = add_module(&file, known, script)?;
        if let Some(name) = names.iter().find(|name| !exported.contains(*name)) {
            bail!("{} imports {name}, which {from} does not export", path.display());
        }
    }
    script.push_str(&module.code);
    Ok(module.exports)
}

/// A module without its imports and exports.
struct SplitModule {
    /// Files with the names that it imports.
    imports: Vec<(String, Vec<String>)>,
    exports: BTreeSet<String>,
    code: String,
}

/// Splits a module. Imports are lists of names that are not renamed, and exports are declarations.
fn split_module(source: &str) -> Result<SplitModule> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::mjs()).parse();
    if let Some(error) = parsed.diagnostics.first() {
        bail!("{error}");
    }
    let (mut imports, mut exports, mut code, mut copied) = (Vec::new(), BTreeSet::new(), String::new(), 0);
    for statement in &parsed.program.body {
        let span = statement.span();
        let keep_from = match statement {
            Statement::ImportDeclaration(import) => {
                let specifiers = import.specifiers.iter().flatten();
                let names: Option<Vec<String>> = specifiers.map(read_specifier).collect();
                imports.push((import.source.value.to_string(), names.context("imports must be lists of plain names")?));
                span.end
            }
            Statement::ExportDeclaration(export) => {
                exports.extend(declared_names(&export.declaration));
                export.declaration.span().start
            }
            Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportDefaultDeclaration(_)
            | Statement::ExportAllDeclaration(_) => bail!("exports must be declarations with names"),
            _ => continue,
        };
        code.push_str(&source[copied..span.start as usize]);
        copied = keep_from as usize;
    }
    code.push_str(&source[copied..]);
    Ok(SplitModule { imports, exports, code })
}

/// Returns the name of an import, or `None` if it is renamed or not a plain name.
fn read_specifier(specifier: &ImportDeclarationSpecifier<'_>) -> Option<String> {
    match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(it) if it.imported.name() == it.local.name => {
            Some(it.local.name.to_string())
        }
        _ => None,
    }
}

/// Returns the names that a declaration declares.
fn declared_names(declaration: &oxc::ast::ast::Declaration<'_>) -> Vec<String> {
    use oxc::ast::ast::Declaration;
    match declaration {
        Declaration::FunctionDeclaration(function) => function.id.iter().map(|id| id.name.to_string()).collect(),
        Declaration::VariableDeclaration(variables) => variables
            .declarations
            .iter()
            .filter_map(|variable| variable.id.get_identifier_name().map(|name| name.to_string()))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn write_modules(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn each_module_comes_once_and_before_its_users() {
        let folder = write_modules(&[
            ("a.js", "import { b } from \"./b.js\";\nimport { c } from \"./c.js\";\nb(c);\n"),
            ("b.js", "import { c } from \"./c.js\";\nexport function b() { return c; }\n"),
            ("c.js", "// A constant.\nexport var c = 1;\n"),
        ]);
        let script = join_modules(&folder.path().join("a.js")).unwrap();
        let body: Vec<&str> = script.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(
            body,
            [
                "(function () {",
                "\"use strict\";",
                "// A constant.",
                "var c = 1;",
                "function b() { return c; }",
                "b(c);",
                "})();"
            ]
        );
    }

    #[test]
    fn a_name_that_nobody_exports_and_a_renamed_one_are_refused() {
        for (text, expected) in [
            ("import { x } from \"./b.js\";", "imports x"),
            ("import { b as x } from \"./b.js\";", "plain names"),
            ("import x from \"./b.js\";", "plain names"),
            ("export default 1;", "declarations"),
            ("import { b } from \"./missing.js\";", "missing.js"),
        ] {
            let folder = write_modules(&[("a.js", text), ("b.js", "export var b = 1;")]);
            let error = format!("{:#}", join_modules(&folder.path().join("a.js")).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
