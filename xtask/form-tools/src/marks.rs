//! Marks of the brands: `widget/style/marks.toml` becomes rules of style sheets. Each rule only sets the custom
//! properties that `widget/style/marks.css` draws a tile with, so no page's policy for images applies.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Colours of a mark that names none.
#[cfg(test)]
const DEFAULT_COLOURS: (&str, &str) = ("#4a5364", "#fff");
/// Half pixels of a text that has room for them: `--tillgate-size` if a mark does not set it.
const DEFAULT_SIZE: usize = 22;
/// Half pixels of the largest text, of one line and of two.
const LARGEST: [usize; 2] = [26, DEFAULT_SIZE];
/// Width for the text in pixels. The tile has 48, because some fonts are a quarter wider than Arial.
const TEXT_WIDTH: usize = 37;

/// The marks of the brands.
pub struct BrandMarks {
    /// Marks in the sheets of the styles, by code.
    first: BTreeMap<String, Mark>,
    /// Marks in the sheet that is loaded once one of them is shown, by code.
    later: BTreeMap<String, Mark>,
}

/// The mark of a brand.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    lines: Vec<String>,
    ground: Option<String>,
    ink: Option<String>,
    shape: Option<Shape>,
}

/// The shape on a tile, with its colours.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Foot(String),
    Corner(String),
    Dots([String; 2]),
    Bands([String; 2]),
}

impl BrandMarks {
    /// Reads the marks.
    ///
    /// # Errors
    /// If the file is missing or malformed, a mark has another key than the file explains, or a value is malformed.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", file.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text.parse()?;
        let group = |name: &str| -> Result<BTreeMap<String, Mark>> {
            let rows = table.get(name).and_then(toml::Value::as_table).with_context(|| format!("no [{name}]"))?;
            let mut marks = BTreeMap::new();
            for (code, row) in rows {
                marks.insert(code.clone(), Mark::parse(row).with_context(|| code.clone())?);
            }
            Ok(marks)
        };
        Ok(Self { first: group("first")?, later: group("later")? })
    }

    /// Returns the codes of the brands that the sheets of the styles draw.
    pub fn first_codes(&self) -> Vec<&str> {
        self.first.keys().map(String::as_str).collect()
    }

    /// Returns the rules for the sheets of the styles.
    pub fn first_rules(&self) -> String {
        // Tiles are hidden until their rule is there: none is ever an empty box. Names that stand in may be wider.
        [&select(&self.first_codes()), "{--tillgate-tile:grid;--tillgate-width:3rem}", &write_rules(&self.first)]
            .concat()
    }

    /// Returns the sheet with all other marks.
    pub fn later_sheet(&self) -> String {
        [".wpwl-brand{--tillgate-tile:grid;--tillgate-width:3rem}", &write_rules(&self.later)].concat()
    }
}

impl Mark {
    fn parse(row: &toml::Value) -> Result<Self> {
        let row = row.as_table().context("no table")?;
        let (mut text, mut ground, mut ink, mut shape) = (None, None, None, None);
        for (key, value) in row {
            match (key.as_str(), value) {
                ("text", toml::Value::String(value)) => text = Some(value.as_str()),
                ("ground", value) => ground = Some(parse_colour(value)?),
                ("ink", value) => ink = Some(parse_colour(value)?),
                (_, _) if shape.is_some() => bail!("{key} is a second shape"),
                ("foot", value) => shape = Some(Shape::Foot(parse_colour(value)?)),
                ("corner", value) => shape = Some(Shape::Corner(parse_colour(value)?)),
                ("dots", value) => shape = Some(Shape::Dots(parse_pair(value)?)),
                ("bands", value) => shape = Some(Shape::Bands(parse_pair(value)?)),
                _ => bail!("{key} is unknown"),
            }
        }
        let lines: Vec<String> = text.context("no text")?.split('|').map(str::to_owned).collect();
        if lines.len() > 2 || lines.last().is_none_or(String::is_empty) || lines.concat().contains(['"', '\\']) {
            bail!("the text is no name in one or two lines");
        }
        Ok(Self { lines, ground, ink, shape })
    }

    /// Returns the half pixels of its text: as large as the tile allows.
    fn text_size(&self) -> usize {
        let widest = self.lines.iter().map(|line| text_width(line)).max().unwrap_or_default().max(1);
        let largest = LARGEST[usize::from(self.lines.len() > 1)];
        (TEXT_WIDTH * 2 * 1000 / widest).min(largest)
    }

    /// Returns its declarations.
    fn declarations(&self) -> String {
        let mut rule = format!("--tillgate-text:\"{}\"", self.lines.join("\\a "));
        let mut set = |name: &str, value: &str| {
            let _ = write!(rule, ";--tillgate-{name}:{value}");
        };
        if let Some(ground) = &self.ground {
            set("ground", ground);
        }
        if let Some(ink) = &self.ink {
            set("ink", ink);
        }
        if self.text_size() != DEFAULT_SIZE {
            set("size", &self.text_size().to_string());
        }
        if let Some(shape) = &self.shape {
            set("shape", &shape.gradients());
        }
        rule
    }
}

impl Shape {
    /// Returns the gradients that draw it. Edges that are no straight lines get a soft step, which looks smooth.
    fn gradients(&self) -> String {
        let dot = |left, colour| format!("radial-gradient(circle at {left} 36%,{colour} .35rem,#0000 .38rem)");
        match self {
            Self::Foot(colour) => format!("linear-gradient(0deg,{colour} .1875rem,#0000 0)"),
            Self::Corner(colour) => format!("linear-gradient(225deg,{colour} .375rem,#0000 .4rem)"),
            Self::Dots([left, right]) => format!("{},{}", dot("37%", left), dot("63%", right)),
            Self::Bands([left, middle]) => {
                format!("linear-gradient(90deg,{left} 33.3%,{middle} 0 66.6%,#0000 0)")
            }
        }
    }
}

/// Returns the selector of these brands.
fn select(codes: &[&str]) -> String {
    codes.iter().map(|code| format!(".wpwl-brand-{code}")).collect::<Vec<_>>().join(",")
}

/// Writes one rule for all brands with the same mark.
fn write_rules(marks: &BTreeMap<String, Mark>) -> String {
    let mut rules: Vec<(String, Vec<&str>)> = Vec::new();
    for (code, mark) in marks {
        let declarations = mark.declarations();
        match rules.iter_mut().find(|(known, _)| *known == declarations) {
            Some((_, codes)) => codes.push(code),
            None => rules.push((declarations, vec![code])),
        }
    }
    rules.iter().map(|(declarations, codes)| format!("{}{{{declarations}}}", select(codes))).collect()
}

/// Reads a colour: `#` with three or six hexadecimal digits in lower case.
fn parse_colour(value: &toml::Value) -> Result<String> {
    let text = value.as_str().unwrap_or_default();
    let digits = text.strip_prefix('#').filter(|digits| matches!(digits.len(), 3 | 6));
    match digits.is_some_and(|digits| digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))) {
        true => Ok(text.to_owned()),
        false => bail!("{value} is no colour"),
    }
}

fn parse_pair(value: &toml::Value) -> Result<[String; 2]> {
    match value.as_array().map(Vec::as_slice) {
        Some([one, other]) => Ok([parse_colour(one)?, parse_colour(other)?]),
        _ => bail!("{value} is no pair of colours"),
    }
}

/// Returns the width of a text in Arial Bold, in thousandths of the font size. Letters that are not listed count as
/// wide as most capitals.
fn text_width(text: &str) -> usize {
    let width = |c| match c {
        'I' | 'i' | 'j' | 'l' | ' ' | '.' => 278,
        'f' | 't' | '-' => 333,
        'r' => 389,
        'z' => 500,
        'J' | 'a' | 'c' | 'e' | 'k' | 's' | 'v' | 'x' | 'y' | 'á' | '0'..='9' => 556,
        'F' | 'L' | 'T' | 'Z' | 'b' | 'd' | 'g' | 'h' | 'n'..='q' | 'u' => 611,
        'E' | 'P' | 'S' | 'V' | 'X' | 'Y' => 667,
        'G' | 'O' | 'Q' | 'w' => 778,
        'M' | 'm' | '%' => 889,
        'W' => 944,
        _ => 722,
    };
    text.chars().map(width).sum()
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
