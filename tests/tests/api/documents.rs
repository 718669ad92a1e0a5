//! The documents: every link inside the repository leads to a file and a heading that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| -> String {
        let kept =
            heading.chars().filter(|character| character.is_alphanumeric() || [' ', '-', '_'].contains(character));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The targets of the links of a document.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[test]
fn every_link_between_documents_leads_somewhere() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut documents = vec![root.join("README.md")];
    for entry in fs::read_dir(root.join("docs"))? {
        documents.push(entry?.path());
    }
    let mut checked = 0;
    for document in documents.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(document)?;
        for link in links(&text).filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target: PathBuf =
                if path.is_empty() { document.clone() } else { document.parent().unwrap_or(&root).join(path) };
            assert!(target.exists(), "{}: {link}", document.display());
            if !anchor.is_empty() {
                let known = anchors(&fs::read_to_string(&target)?);
                assert!(known.iter().any(|known| known == anchor), "{}: {link}: {known:?}", document.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
    Ok(())
}
