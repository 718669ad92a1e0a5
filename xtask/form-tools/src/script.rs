//! Helpers for scripts and styles: minifying, hashes, and bytes as a string literal.

use anyhow::{Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oxc::allocator::Allocator;
use oxc::codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc::mangler::MangleOptions;
use oxc::minifier::{CompressOptions, Minifier, MinifierOptions};
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc_compat::EngineTargets;
use sha2::{Digest, Sha256, Sha384};

/// Newest syntax that the minifier may introduce.
const SYNTAX: &str = "es2020";

/// Returns hexadecimal digits in lower case.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns `sha384-…` as in an `integrity` attribute.
pub fn integrity_hash(bytes: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(bytes)))
}

/// Returns the SHA-256 in base64, as after `sha256-`.
pub fn sha256_base64(bytes: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(bytes))
}

/// Returns `'sha256-…'` as in a policy.
pub fn policy_source(text: &str) -> String {
    format!("'sha256-{}'", sha256_base64(text.as_bytes()))
}

/// Returns bytes as a single-quoted literal for a script in the encoding `x-user-defined`, where every byte is a
/// character whose code ends in that byte. It compresses as well as the bytes themselves, unlike base64 and UTF-8. A
/// double quote would have to be escaped often: it is the instruction `local.tee`.
pub fn byte_literal(bytes: &[u8]) -> Vec<u8> {
    let mut literal = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => literal.extend([b'\\', byte]),
            b'\n' => literal.extend(*b"\\n"),
            b'\r' => literal.extend(*b"\\r"),
            other => literal.push(other),
        }
    }
    literal.push(b'\'');
    literal
}

/// Minifies a classic script. Names that are declared outside of functions are kept.
///
/// # Errors
/// If it is not JavaScript, or declares a name twice.
pub fn minify_js(source: &str) -> Result<String> {
    minify_for(SYNTAX, source)
}

/// Same as [`minify_js`], but introduces no syntax newer than `target`, such as `es2020`. Newer syntax in the source
/// stays.
///
/// # Errors
/// Those of [`minify_js`].
pub fn minify_for(target: &str, source: &str) -> Result<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::script()).parse();
    if let Some(error) = parsed.diagnostics.first() {
        bail!("{error}");
    }
    let mut program = parsed.program;
    let checked = SemanticBuilder::new().with_check_syntax_error(true).build(&program);
    if let Some(error) = checked.diagnostics.first() {
        bail!("{error}");
    }
    let target = EngineTargets::from_target(target).map_err(|error| anyhow!("{target}: {error}"))?;
    let options = MinifierOptions {
        mangle: Some(MangleOptions::default()),
        mangle_properties: None,
        compress: Some(CompressOptions { target, ..CompressOptions::smallest() }),
    };
    let minified = Minifier::new(options).minify(&allocator, &mut program);
    let dense = CodegenOptions { minify: true, comments: CommentOptions::disabled(), ..Default::default() };
    Ok(Codegen::new().with_options(dense).with_scoping(minified.scoping).build(&program).code)
}

/// Removes comments and unnecessary spaces from CSS. Text in quotes stays.
pub fn strip_css(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match (c, chars.get(at + 1)) {
            ('/', Some('*')) => at = after_comment(&chars, at),
            ('"' | '\'', _) => at = copy_quoted(&chars, at, c, &mut out),
            (c, _) if c.is_whitespace() => {
                at = skip_while(&chars, at, char::is_whitespace);
                let before = out.chars().last().unwrap_or('{');
                let after = chars.get(at).copied().unwrap_or('}');
                if !"{};:,>".contains(before) && !"{};,>".contains(after) {
                    out.push(' ');
                }
            }
            _ => {
                if c == '}' && out.ends_with(';') {
                    out.pop();
                }
                out.push(c);
                at += 1;
            }
        }
    }
    out.trim().to_owned()
}

/// Returns the index of the first character from `from` on that `keep` refuses, or the length if there is none.
fn skip_while(chars: &[char], from: usize, keep: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|&i| !keep(chars[i])).unwrap_or(chars.len())
}

/// Returns the index after the comment that begins at `from`, or the length if it does not end.
fn after_comment(chars: &[char], from: usize) -> usize {
    (from + 2..chars.len()).find(|&i| chars[i] == '*' && chars.get(i + 1) == Some(&'/')).map_or(chars.len(), |i| i + 2)
}

/// Copies a string, template or regular expression unchanged. Returns the index after it.
fn copy_quoted(chars: &[char], from: usize, quote: char, out: &mut String) -> usize {
    out.push(quote);
    let mut at = from + 1;
    let mut in_class = false;
    while let Some(&c) = chars.get(at) {
        out.push(c);
        at += 1;
        match c {
            '\\' => {
                out.extend(chars.get(at));
                at += 1;
            }
            '[' if quote == '/' => in_class = true,
            ']' => in_class = false,
            c if c == quote && !in_class => break,
            _ => {}
        }
    }
    at
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn scripts_get_short_names_inside_and_keep_their_strings() {
        let source =
            "(() => { const longName = document.title + ' // no comment'; window.say(longName, longName); })();";
        assert_eq!(minify_js(source).unwrap(), "(()=>{let e=document.title+` // no comment`;window.say(e,e)})();");
        assert!(minify_js("const = 1").is_err());
        assert!(minify_js("(() => { const fill = 1; const fill = 2; })();").is_err(), "one name for two things");
    }

    #[test]
    fn css_loses_only_what_means_nothing() {
        assert_eq!(
            strip_css("/* x */ .a .b > c , d {\n  margin: 0 auto;\n content: \"a  b\";\n}\n"),
            ".a .b>c,d{margin:0 auto;content:\"a  b\"}"
        );
    }

    #[test]
    fn every_byte_survives_the_literal() {
        let all: Vec<u8> = (0..=255).collect();
        let literal = byte_literal(&all);
        let mut back = Vec::new();
        let mut bytes = literal[1..literal.len() - 1].iter();
        while let Some(&byte) = bytes.next() {
            back.push(match byte {
                b'\\' => match bytes.next().unwrap() {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    &other => other,
                },
                other => other,
            });
        }
        assert_eq!(back, all);
    }
}
