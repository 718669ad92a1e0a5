//! Checks the documents: links, headings, paths of files, that each is linked, and the length of the README.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};

/// Document that newcomers read first.
const README: &str = "README.md";
/// Maximum number of lines in the README.
const README_LINES: usize = 100;
/// Folder of all other documents.
const DOCS: &str = "docs";
/// Folders with sources that documents may name.
const SOURCES: [&str; 6] = ["server", "shared", "tests", "widget", "www", "xtask"];

/// Checks the links and named paths of all documents, that each is linked, and the length of the README. Returns a
/// sorted line for each fault.
pub fn check_documents(root: &Path) -> Result<Vec<String>> {
    let mut names = super::list_files(root, DOCS, ".md")?;
    names.push(README.to_owned());
    let mut documents = HashMap::new();
    for name in names {
        let text = fs::read_to_string(root.join(&name)).with_context(|| format!("reading {name}"))?;
        documents.insert(PathBuf::from(name), text);
    }
    let mut sources = Vec::new();
    for folder in SOURCES {
        sources.extend(super::list_files(root, folder, "")?);
    }
    let mut faults = Vec::new();
    for (name, text) in &documents {
        let report = |fault: String| format!("{}: {fault}", name.display());
        faults.extend(find_links(text).filter_map(|link| find_link_fault(root, &documents, name, link)).map(report));
        faults.extend(
            find_paths(text)
                .filter(|path| !path_exists(&sources, path))
                .map(|path| report(format!("there is no {path}"))),
        );
        let lines = text.lines().count();
        if name == Path::new(README) && lines > README_LINES {
            faults.push(report(format!("{lines} lines, at most {README_LINES} are allowed")));
        }
    }
    faults.extend(find_unlinked(&documents).map(|name| format!("{}: no other document links to it", name.display())));
    faults.sort();
    Ok(faults)
}

/// Finds the documents that no other document links to. Readers cannot find them. The README is the first one.
fn find_unlinked(documents: &HashMap<PathBuf, String>) -> impl Iterator<Item = &PathBuf> {
    let is_linked_from = |name: &Path, other: &Path, text: &str| {
        let path = |link: &str| link.split('#').next().map(str::to_owned).filter(|path| !path.is_empty());
        other != name
            && find_links(text).filter_map(path).any(|path| resolve_path(other, &path).as_deref() == Some(name))
    };
    documents
        .keys()
        .filter(|name| name.as_path() != Path::new(README))
        .filter(move |name| !documents.iter().any(|(other, text)| is_linked_from(name, other, text)))
}

/// Returns the lines of a document outside of code blocks.
fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Finds the targets of links and pictures outside of code blocks, without titles.
fn find_links(text: &str) -> impl Iterator<Item = &str> {
    const STARTS: [(&str, char); 3] = [("](", ')'), ("src=\"", '"'), ("href=\"", '"')];
    prose_lines(text).flat_map(|line| {
        STARTS.into_iter().flat_map(move |(start, end)| {
            line.split(start).skip(1).filter_map(move |rest| rest.split([end, ' ']).next())
        })
    })
}

/// Finds paths of sources in inline code: Rust files, and whatever lies in a folder of sources.
fn find_paths(text: &str) -> impl Iterator<Item = &str> {
    prose_lines(text).flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|code| {
        let is_path = code.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)) && !code.starts_with('/');
        let first = code.split('/').next().unwrap_or_default();
        is_path && (code.ends_with(".rs") || (code.contains('/') && SOURCES.contains(&first)))
    })
}

/// Returns true if a source has this path, or a path that ends with it in whole segments, or lies in this folder, which
/// is named from the root.
fn path_exists(sources: &[String], path: &str) -> bool {
    let path = path.trim_end_matches('/');
    sources.iter().any(|source| {
        let is_end = source.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'));
        is_end || source.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Returns the fault of a link that leads to no file or no heading, and `None` for other links. Addresses on other
/// hosts are not checked.
fn find_link_fault(root: &Path, documents: &HashMap<PathBuf, String>, from: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { from.to_path_buf() } else { resolve_path(from, path)? };
    if !documents.contains_key(&target) && !root.join(&target).exists() {
        return Some(format!("the link {link} leads to no file"));
    }
    let is_known = anchor.is_empty()
        || documents.get(&target).is_some_and(|text| heading_anchors(text).contains(&anchor.to_owned()));
    (!is_known).then(|| format!("the link {link} leads to no heading"))
}

/// Resolves a relative path in a document. Steps above the root are ignored, so that such a path is found missing.
fn resolve_path(from: &Path, path: &str) -> Option<PathBuf> {
    let mut target = from.parent()?.to_path_buf();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => _ = target.pop(),
            Component::Normal(name) => target.push(name),
            _ => {}
        }
    }
    Some(target)
}

/// Returns the anchors of a document's headings, in GitHub's spelling. Repeated headings are numbered: `one`, `one-1`.
fn heading_anchors(text: &str) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let headings =
        prose_lines(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let text: String = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect();
        let anchor = text.to_lowercase().replace(' ', "-");
        let count = counts.entry(anchor.clone()).or_default();
        *count += 1;
        if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
    };
    headings.map(anchor).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_link_and_every_path_in_the_documents_exists_and_the_readme_is_short() {
        let faults = check_documents(crate::workspace_root()).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        let text = fs::read_to_string(crate::workspace_root().join(README)).unwrap();
        assert!(find_links(&text).count() > 20);
    }

    #[test]
    fn links_are_found_outside_of_code_only() {
        let text = "[a](b.md#c), ![d](e.png \"title\")\n```\n[f](g)\n```\n<img src=\"h.png\" alt=\"\">";
        assert_eq!(find_links(text).collect::<Vec<_>>(), ["b.md#c", "e.png", "h.png"]);
    }

    #[test]
    fn a_link_to_a_missing_file_or_heading_is_a_fault() {
        let document = ("docs/a.md".into(), "# One\n## It's `two`\n## One\n".to_owned());
        let documents = HashMap::from([document, ("README.md".into(), String::new())]);
        let fault = |link| {
            let root = crate::workspace_root();
            let known = find_link_fault(root, &documents, Path::new("docs/a.md"), link);
            known.map(|fault| fault.rsplit(' ').next().unwrap().to_owned())
        };
        for link in ["#one", "#its-two", "#one-1", "https://example.org/x", "../README.md"] {
            assert_eq!(fault(link), None, "{link}");
        }
        for (link, lacks) in
            [("#two", "heading"), ("none.md", "file"), ("../README.md#x", "heading"), ("#one-2", "heading")]
        {
            assert_eq!(fault(link).as_deref(), Some(lacks), "{link}");
        }
    }

    #[test]
    fn a_document_needs_a_link_from_another_one() {
        let documents = [
            ("README.md", "[a](docs/a.md#x), [an address](https://example.org/docs/c.md)"),
            ("docs/a.md", "[b](b.md), [a part](#part)"),
            ("docs/b.md", ""),
            ("docs/c.md", "[c](c.md), [c](#c)"),
            ("docs/d.md", "[README](../README.md)\n```\n[d](d.md)\n```"),
        ];
        let documents = documents.into_iter().map(|(name, text)| (PathBuf::from(name), text.to_owned())).collect();
        let mut unlinked: Vec<_> = find_unlinked(&documents).collect();
        unlinked.sort();
        assert_eq!(unlinked, [Path::new("docs/c.md"), Path::new("docs/d.md")]);
    }

    #[test]
    fn paths_of_sources_are_recognised_and_looked_for_by_their_ends() {
        let text = "`pay.rs`, `server/src`, `Store::open`, `/v1/x`, `cargo test a.rs`, `target/form/x.js`";
        assert_eq!(find_paths(text).collect::<Vec<_>>(), ["pay.rs", "server/src"]);
        let sources = ["server/src/gateway/pay.rs".to_owned()];
        for (path, exists) in
            [("pay.rs", true), ("gateway/pay.rs", true), ("server/src/", true), ("ay.rs", false), ("serv", false)]
        {
            assert_eq!(path_exists(&sources, path), exists, "{path}");
        }
    }
}
