//! The merchant's own spinner, by the measures of spin.js: a ring of lines that fade. CSS draws it on the element that turns
//! anyway.

use std::cell::RefCell;
use std::f64::consts::PI;

use tillgate_shared::wire::Source;
use wasm_bindgen::prelude::*;

use crate::page::bridge::{Value, document, find_global};
use crate::page::options::Options;

thread_local! {
    /// The style sheet in the page.
    static SHEET: RefCell<Option<web_sys::CssStyleSheet>> = const { RefCell::new(None) };
}

/// Returns the classes that the merchant gives to the spinner.
pub fn extra_class(options: &Options<Value>) -> String {
    options.spinner.as_ref().map(|spinner| spinner.text("className")).filter(|class| class != "spinner").unwrap_or_default()
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

/// Measures of the ring in pixels and turns.
struct Measures {
    lines: f64,
    length: f64,
    width: f64,
    radius: f64,
    scale: f64,
    speed: f64,
    rotate: f64,
    direction: f64,
    corners: f64,
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
        let number = |name: &str, usual: f64| given.get(name).and_then(|value| value.as_number()).unwrap_or(usual);
        let text = |name: &str, usual: &str| {
            let value = given.get(name).map(|value| value.display()).unwrap_or_default();
            if value.is_empty() { usual.to_owned() } else { value }
        };
        let color = given.get("color").and_then(|color| color.items().first().and_then(Source::as_text));
        Self {
            lines: number("lines", 12.0),
            length: number("length", 7.0),
            width: number("width", 5.0),
            radius: number("radius", 10.0),
            scale: number("scale", 1.0),
            speed: number("speed", 1.0),
            rotate: number("rotate", 0.0),
            direction: number("direction", 1.0),
            corners: number("corners", 0.0),
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
}

/// Returns the CSS of a ring. `is_still` is true if nothing may move.
fn ring_style(measures: &Measures, is_still: bool) -> Vec<(&'static str, String)> {
    let Measures { lines, length, width, radius, scale, .. } = *measures;
    let size = 2.0 * (radius + length) * scale;
    // The share of its sector that a line takes in its middle.
    let part = (width * lines / (2.0 * PI * (radius + length / 2.0))).min(1.0);
    // Round ends are discs at both ends of a line that is shorter by as much.
    let round = if measures.corners > 0.0 { width * scale / 2.0 } else { 0.0 };
    let ends = [radius * scale + round, (radius + length) * scale - round];
    let mut discs = Vec::new();
    for line in (0..lines as u32).filter(|_| round > 0.0) {
        let turn = (f64::from(line) + part / 2.0) / lines * 2.0 * PI;
        for from in ends {
            let [x, y] = [turn.sin(), -turn.cos()].map(|at| size / 2.0 + from * at);
            discs.push(format!("radial-gradient(circle at {x:.2}px {y:.2}px,#000 {round}px,#0000 {}px)", round + 0.5));
        }
    }
    let composite = discs.iter().map(|_| "add").chain(["intersect", "add"]).collect::<Vec<_>>().join(",");
    let ring = format!("radial-gradient(closest-side,#0000 {}px,#000 0 {}px,#0000 0)", ends[0], ends[1]);
    let sectors = format!("repeating-conic-gradient(#000 0 {}turn,#0000 0 {}turn)", part / lines, 1.0 / lines);
    // The part of a turn that has one colour, by the names of spin.js.
    let tail = match measures.animation.as_str() {
        "spinner-line-fade-quick" => 60,
        "spinner-line-fade-more" => -50,
        _ => 0,
    };
    let own = !(measures.animation.is_empty() || measures.animation.starts_with("spinner-line"));
    let name = if own { measures.animation.as_str() } else { "wpwl-spin" };
    let backwards = if measures.direction < 0.0 { " reverse" } else { "" };
    let middle = format!("calc(50% - {}px)", size / 2.0);
    let or_middle = |value: &String| if value.is_empty() { middle.clone() } else { value.clone() };
    vec![
        ("box-sizing", "border-box".to_owned()),
        ("width", format!("{size}px")),
        ("height", format!("{size}px")),
        ("border", "0".to_owned()),
        ("border-radius", "50%".to_owned()),
        (
            "background",
            format!("conic-gradient(from {}deg,{} {tail}%,{})", measures.rotate, measures.fade_color, measures.color),
        ),
        ("mask", discs.into_iter().chain([ring, sectors]).collect::<Vec<_>>().join(",")),
        ("mask-composite", composite),
        (
            "animation",
            if is_still { "none".to_owned() } else { format!("{name} {}s linear infinite{backwards}", 1.0 / measures.speed) },
        ),
        ("inset-block-start", or_middle(&measures.top)),
        ("inset-inline-start", "auto".to_owned()),
        ("left", or_middle(&measures.left)),
        ("filter", if measures.shadow { "drop-shadow(0 0 4px #0008)".to_owned() } else { "none".to_owned() }),
        ("z-index", measures.z_index.clone()),
        ("position", measures.position.clone()),
    ]
}
