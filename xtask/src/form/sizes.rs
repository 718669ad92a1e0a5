//! What a card page loads, in bytes on the wire.

use std::fs;
use std::path::Path;

use anyhow::Result;

/// Files of a card page in the default style and in English; the frame document comes twice.
const CARD_PAGE: [(&str, u64); 6] = [
    ("paymentWidgets.js", 1),
    ("static/js/static.min.js", 1),
    ("static/css/card.css", 1),
    ("pciIframe.html", 2),
    ("static/frame/frame.js", 1),
    ("static/frame/frame.wasm", 1),
];

/// Prints every file's size, plain and compressed, and the sum of a card page.
pub fn print(folder: &Path) -> Result<()> {
    println!("\n  {:<28} {:>9} {:>9}", "a card page loads", "bytes", "brotli");
    let mut sum = 0;
    for (name, times) in CARD_PAGE {
        let plain = fs::metadata(folder.join(name))?.len();
        let brotli = fs::metadata(folder.join(format!("{name}.br")))?.len();
        let note = if times > 1 { " (twice)" } else { "" };
        println!("  {:<28} {plain:>9} {brotli:>9}", format!("{name}{note}"));
        sum += brotli * times;
    }
    println!("  {:<28} {:>9} {sum:>9}", "together", "");
    Ok(())
}
