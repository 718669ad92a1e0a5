//! The merchant's own spinner, by the measures of spin.js: a ring of lines that fade. CSS draws it on the element that
//! turns anyway.

use std::cell::RefCell;

use tillgate_shared::frame_messages::Source;
use wasm_bindgen::prelude::*;

use crate::page::bridge::{Value, document, find_global, format_number};
use crate::page::options::Options;

thread_local! {
    /// The style sheet in the page.
    static SHEET: RefCell<Option<web_sys::CssStyleSheet>> = const { RefCell::new(None) };
}

/// Returns the classes that the merchant gives to the spinner.
pub fn extra_class(options: &Options<Value>) -> String {
    options
        .spinner
        .as_ref()
        .map(|spinner| spinner.text("className"))
        .filter(|class| class != "spinner")
        .unwrap_or_default()
}

/// Adds the style of the merchant's spinner to the page.
pub fn add_sheet(options: &Options<Value>) {
    let Some(spinner) = &options.spinner else { return };
    if SHEET.with_borrow(Option::is_some) {
        return;
    }
    let Ok(sheet) = web_sys::CssStyleSheet::new() else { return };
    let _ = sheet.insert_rule("@keyframes wpwl-spin{to{transform:rotate(1turn)}}");
    let _ = sheet.insert_rule(".wpwl-container .wpwl-spinner{}");
    let rule = sheet.css_rules().ok().and_then(|rules| rules.get(0)?.dyn_into::<web_sys::CssStyleRule>().ok());
    if let Some(rule) = rule {
        let is_still = is_motion_reduced();
        for (name, value) in ring_style(&Measures::read(spinner), is_still) {
            let _ = rule.style().set_property(name, &value);
        }
    }
    document::adopt_sheet(&sheet);
    SHEET.replace(Some(sheet));
}

/// Removes the style of the merchant's spinner.
pub fn remove_sheet() {
    if let Some(sheet) = SHEET.take() {
        document::remove_sheet(&sheet);
    }
}

fn is_motion_reduced() -> bool {
    let query = "(prefers-reduced-motion: reduce)";
    find_global("matchMedia").is_some()
        && web_sys::window().and_then(|window| window.match_media(query).ok().flatten()).is_some_and(|it| it.matches())
}

/// Measures of the ring as the merchant gave them: numbers as text, in pixels, degrees, and turns per second. CSS
/// calculates with them.
struct Measures {
    lines: String,
    length: String,
    width: String,
    radius: String,
    scale: String,
    speed: String,
    rotate: String,
    is_backwards: bool,
    is_round: bool,
    color: String,
    fade_color: String,
    animation: String,
    top: String,
    left: String,
    shadow: bool,
    z_index: String,
    position: String,
}

impl Measures {
    fn read(given: &Value) -> Self {
        let text = |name: &str, usual: &str| {
            let value = given.get(name).map(|value| value.display()).unwrap_or_default();
            if value.is_empty() { usual.to_owned() } else { value }
        };
        let color = given.get("color").and_then(|color| color.items().first().and_then(Source::as_text));
        Self {
            lines: text("lines", "12"),
            length: text("length", "7"),
            width: text("width", "5"),
            radius: text("radius", "10"),
            scale: text("scale", "1"),
            speed: text("speed", "1"),
            rotate: text("rotate", "0"),
            is_backwards: text("direction", "1").starts_with('-'),
            is_round: !text("corners", "0").starts_with(['0', '-']),
            color: color.unwrap_or_else(|| text("color", "currentColor")),
            fade_color: text("fadeColor", "transparent"),
            animation: text("animation", ""),
            top: text("top", ""),
            left: text("left", ""),
            shadow: given.get("shadow").is_some_and(|shadow| shadow.is_truthy()),
            z_index: text("zIndex", "auto"),
            position: text("position", "absolute"),
        }
    }

    /// Returns the image that cuts the lines out of a disc, and how its layers are combined.
    fn mask(&self, size: &str) -> (String, String) {
        let Self { lines, length, width, radius, scale, .. } = self;
        // The share of its sector that a line takes in its middle.
        let part = ["min(1, ", width, " * ", lines, " / (2 * pi * (", radius, " + ", length, " / 2)))"].concat();
        // Round ends are discs at both ends of a line that is shorter by as much.
        let round = if self.is_round { [width, "px * ", scale, " / 2"].concat() } else { "0px".to_owned() };
        let ends = [
            [radius, "px * ", scale, " + ", &round].concat(),
            ["(", radius, " + ", length, ") * ", scale, " * 1px - ", &round].concat(),
        ];
        let mut layers = Vec::new();
        for line in 0..lines.parse::<u32>().ok().filter(|_| self.is_round).unwrap_or_default().min(100) {
            let turn = ["(", &format_number(line), " + ", &part, " / 2) * 1turn / ", lines].concat();
            for from in &ends {
                let along = |function: &str, sign: &str| {
                    ["calc(", size, " / 2 ", sign, " (", from, ") * ", function, "(", &turn, "))"].concat()
                };
                let (x, y) = (along("sin", "+"), along("cos", "-"));
                let edges = ["#000 calc(", &round, "), #0000 calc(", &round, " + 0.5px)"].concat();
                layers.push(["radial-gradient(circle at ", &x, " ", &y, ", ", &edges, ")"].concat());
            }
        }
        let composite = layers.iter().map(|_| "add").chain(["intersect", "add"]).collect::<Vec<_>>().join(",");
        let stops = ["#0000 calc(", &ends[0], "), #000 0 calc(", &ends[1], "), #0000 0"].concat();
        layers.push(["radial-gradient(closest-side, ", &stops, ")"].concat());
        let sector = ["#000 0 calc(", &part, " * 1turn / ", lines, "), #0000 0 calc(1turn / ", lines, ")"].concat();
        layers.push(["repeating-conic-gradient(", &sector, ")"].concat());
        (layers.join(","), composite)
    }
}

/// Returns the CSS of a ring. `is_still` is true if nothing may move.
fn ring_style(measures: &Measures, is_still: bool) -> Vec<(&'static str, String)> {
    let size = ["2px * (", &measures.radius, " + ", &measures.length, ") * ", &measures.scale].concat();
    let (mask, composite) = measures.mask(&size);
    // The part of a turn that has one colour, by the names of spin.js.
    let tail = match measures.animation.as_str() {
        "spinner-line-fade-quick" => "60%",
        "spinner-line-fade-more" => "-50%",
        _ => "0%",
    };
    let is_own = !(measures.animation.is_empty() || measures.animation.starts_with("spinner-line"));
    let name = if is_own { measures.animation.as_str() } else { "wpwl-spin" };
    let backwards = if measures.is_backwards { " reverse" } else { "" };
    let animation = [name, " calc(1s / ", &measures.speed, ") linear infinite", backwards].concat();
    let middle = ["calc(50% - ", &size, " / 2)"].concat();
    let or_middle = |value: &String| if value.is_empty() { middle.clone() } else { value.clone() };
    let background = [
        "conic-gradient(from ",
        &measures.rotate,
        "deg, ",
        &measures.fade_color,
        " ",
        tail,
        ", ",
        &measures.color,
        ")",
    ];
    let length = ["calc(", &size, ")"].concat();
    vec![
        ("box-sizing", "border-box".to_owned()),
        ("width", length.clone()),
        ("height", length),
        ("border", "0".to_owned()),
        ("border-radius", "50%".to_owned()),
        ("background", background.concat()),
        ("mask", mask),
        ("mask-composite", composite),
        ("animation", if is_still { "none".to_owned() } else { animation }),
        ("inset-block-start", or_middle(&measures.top)),
        ("inset-inline-start", "auto".to_owned()),
        ("left", or_middle(&measures.left)),
        ("filter", if measures.shadow { "drop-shadow(0 0 4px #0008)".to_owned() } else { "none".to_owned() }),
        ("z-index", measures.z_index.clone()),
        ("position", measures.position.clone()),
    ]
}
