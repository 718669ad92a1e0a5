//! The baskets of the demo data: the pieces of the demo shop and of its stock room.

use super::seed::Draw;

/// A piece of pottery.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// Price in hundredths of a euro.
    price: i64,
    /// Share of the sold pieces.
    share: u64,
}

const fn new_piece(id: &'static str, name: &'static str, price: i64, share: u64) -> Piece {
    Piece { id, name, price, share }
}

static PIECES: [Piece; 8] = [
    new_piece("cup", "Harbour cup", 2800, 30),
    new_piece("bowl", "Dune bowl", 3650, 22),
    new_piece("teapot", "Tidal teapot", 9200, 10),
    new_piece("espresso", "Pebble espresso cup", 1890, 18),
    new_piece("plate", "Breakwater plate", 3200, 14),
    new_piece("vase", "Lighthouse vase", 6800, 7),
    new_piece("platter", "Low tide platter", 11900, 3),
    new_piece("gift-box", "Gift box", 490, 12),
];

/// A line of a basket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) piece: &'static Piece,
    pub(super) quantity: u32,
    /// Price of a piece in hundredths of the basket's currency.
    pub(super) price: i64,
}

impl Line {
    /// Returns the price of the line in hundredths.
    pub(super) fn total(&self) -> i64 {
        self.price * i64::from(self.quantity)
    }
}

/// The pieces of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Basket {
    pub(super) lines: Vec<Line>,
    pub(super) currency: &'static str,
    /// Sum of the lines and the delivery, in hundredths.
    pub(super) total: i64,
}

/// Order value from which the delivery is free, in hundredths.
const FREE_DELIVERY: i64 = 7500;
const DELIVERY: i64 = 590;

/// Draws a basket of one to three lines.
pub(super) fn draw_basket(draw: &mut Draw, currency: &'static str) -> Basket {
    let count = match draw.below(100) {
        0..58 => 1,
        58..88 => 2,
        _ => 3,
    };
    let mut lines: Vec<Line> = Vec::new();
    for _ in 0..count {
        // A gift box alone is no order.
        let share = |piece: &Piece| if lines.is_empty() && piece.price < DELIVERY { 0 } else { piece.share };
        let Some(piece) = draw.pick(&PIECES, share) else { break };
        // Cups and plates are bought in sets.
        let quantity = match draw.below(100) {
            0..55 => 1,
            55..80 => 2,
            80..93 if piece.price < 5000 => 4,
            93.. if piece.price < 5000 => 6,
            _ => 1,
        };
        if lines.iter().all(|line| line.piece != piece) {
            lines.push(Line { piece, quantity, price: price_in(piece.price, currency) });
        }
    }
    let sum: i64 = lines.iter().map(Line::total).sum();
    let delivery = if sum < FREE_DELIVERY { DELIVERY } else { 0 };
    Basket { lines, currency, total: sum + delivery }
}

/// Returns the price of a piece in a currency: the shop's own price list, in steps of ten hundredths.
fn price_in(euros: i64, currency: &str) -> i64 {
    let percent = match currency {
        "GBP" => 88,
        "CHF" => 105,
        "USD" => 112,
        _ => return euros,
    };
    euros * percent / 100 / 10 * 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_basket_is_worth_its_lines_and_the_delivery_of_a_small_order() {
        for stream in 0..200 {
            let basket = draw_basket(&mut Draw::of_stream(1, stream), "CHF");
            let sum: i64 = basket.lines.iter().map(Line::total).sum();
            assert!((1..=3).contains(&basket.lines.len()) && sum > 0);
            assert_ne!(basket.lines[0].piece.id, "gift-box");
            assert_eq!(basket.total, if sum < FREE_DELIVERY { sum + DELIVERY } else { sum });
        }
    }
}
