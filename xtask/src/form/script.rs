//! Text of scripts and styles: comments and indentation go, bytes become a string literal.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha384};

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// `sha384-…` as it stands in an `integrity` attribute.
pub fn integrity(bytes: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(bytes)))
}

/// `'sha256-…'` as it stands in a policy.
pub fn policy_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// Bytes that a double-quoted literal cannot hold as they are.
const RESERVED: [u8; 4] = *b"\n\r\"\\";

/// Bytes as a double-quoted literal for a script that is served with the charset `x-user-defined`:
/// every byte is one character there (`charCodeAt(i) & 255`), and compressors see the bytes as they
/// are, unlike with base64.
///
/// What JavaScript reserves changes places with the rarest bytes, as a backslash costs more than it
/// seems: it breaks the patterns that a compressor lives on. Gives the literal and the pairs.
pub fn byte_literal(bytes: &[u8]) -> (Vec<u8>, Vec<(u8, u8)>) {
    let mut counts = [0_usize; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let mut rare: Vec<u8> = (0..=255).filter(|byte| !RESERVED.contains(byte)).collect();
    rare.sort_by_key(|byte| counts[usize::from(*byte)]);
    let pairs: Vec<(u8, u8)> = RESERVED.into_iter().zip(rare).collect();
    let mut literal = Vec::with_capacity(bytes.len() + bytes.len() / 50);
    literal.push(b'"');
    for &byte in bytes {
        match swapped(byte, &pairs) {
            reserved @ (b'"' | b'\\') => literal.extend([b'\\', reserved]),
            b'\n' => literal.extend(b"\\n"),
            b'\r' => literal.extend(b"\\r"),
            other => literal.push(other),
        }
    }
    literal.push(b'"');
    (literal, pairs)
}

/// A byte's partner where it has one.
fn swapped(byte: u8, pairs: &[(u8, u8)]) -> u8 {
    let partner = pairs.iter().find_map(|&(a, b)| if byte == a { Some(b) } else { (byte == b).then_some(a) });
    partner.unwrap_or(byte)
}

/// Takes comments, indentation and spaces around punctuation out of JavaScript.
///
/// It knows strings, templates and comments. A regular expression literal is recognised where an
/// operand is expected; line ends stay where taking them out could join two statements.
pub fn strip_js(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        match (c, next) {
            ('/', Some('/')) => at = skip_while(&chars, at, |c| c != '\n'),
            ('/', Some('*')) => at = after_comment(&chars, at),
            ('"' | '\'' | '`', _) => at = copy_quoted(&chars, at, c, &mut out),
            ('/', _) if operand_expected(&out) => at = copy_quoted(&chars, at, '/', &mut out),
            (c, _) if c.is_whitespace() => {
                let end = skip_while(&chars, at, char::is_whitespace);
                let line_end = chars[at..end].contains(&'\n');
                push_space(&mut out, line_end, chars.get(end).copied());
                at = end;
            }
            _ => {
                out.push(c);
                at += 1;
            }
        }
    }
    out.trim().to_owned()
}

/// Takes comments and needless spaces out of CSS.
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

fn skip_while(chars: &[char], from: usize, keep: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|&i| !keep(chars[i])).unwrap_or(chars.len())
}

fn after_comment(chars: &[char], from: usize) -> usize {
    (from + 2..chars.len()).find(|&i| chars[i] == '*' && chars.get(i + 1) == Some(&'/')).map_or(chars.len(), |i| i + 2)
}

/// Copies a string, template or regular expression as it stands; gives back the place after it.
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

/// True where a `/` begins a regular expression rather than a division.
fn operand_expected(before: &str) -> bool {
    let before = before.trim_end();
    before.chars().last().is_none_or(|c| "(,=:[!&|?{};+-*%<>~^".contains(c)) || before.ends_with("return")
}

fn push_space(out: &mut String, line_end: bool, after: Option<char>) {
    let Some(before) = out.chars().last() else {
        return;
    };
    let Some(after) = after else { return };
    // After these nothing can end, before those nothing can begin.
    let joins_before = "{([,;:=?&|<>*+-!".contains(before);
    let joins_after = ")],;:=?&|<>*.}".contains(after);
    let same_sign = "+-".contains(before) && "+-".contains(after);
    if (joins_before || joins_after) && !same_sign && !(line_end && "+-".contains(before)) {
        return;
    }
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    if line_end {
        out.push('\n');
    } else if (word(before) && word(after)) || same_sign || after == '/' {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_patterns_stay_as_they_are() {
        let source = "var a = 'x // y' ; // gone\n/* gone */ let b = /[/\"] +/ .test( a ) ;";
        assert_eq!(strip_js(source), "var a='x // y';let b=/[/\"] +/.test(a);");
    }

    #[test]
    fn statements_without_semicolons_stay_apart() {
        assert_eq!(strip_js("a = b\n  (c)\n  d()"), "a=b\n(c)\nd()");
        assert_eq!(strip_js("a + +b"), "a+ +b");
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
        let (literal, pairs) = byte_literal(&all);
        let inner = &literal[1..literal.len() - 1];
        let mut back = Vec::new();
        let mut bytes = inner.iter();
        while let Some(&b) = bytes.next() {
            let byte = match (b, bytes.as_slice().first()) {
                (b'\\', Some(b'n')) => b'\n',
                (b'\\', Some(b'r')) => b'\r',
                (b'\\', Some(&other)) => other,
                _ => b,
            };
            if b == b'\\' {
                bytes.next();
            }
            back.push(swapped(byte, &pairs));
        }
        assert_eq!(back, all);
    }
}
