//! Numbers that follow from a seed, so that the same seed makes the same month.

/// Draws the numbers of one stream (`SplitMix64`). The numbers stay the same in every version of this program, which a
/// crate for random numbers does not promise.
pub(super) struct Draw(u64);

impl Draw {
    /// Creates the stream with this number. Streams of one seed are independent of each other.
    pub(super) fn of_stream(seed: u64, stream: u64) -> Self {
        let mut draw = Self(seed ^ stream.wrapping_mul(0xD134_2543_DE82_EF95));
        // Neighbouring seeds differ in few bits, which the first step spreads.
        draw.0 = draw.next();
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number below `limit`, which is above 0.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// Draws a number from `first` to `last`.
    pub(super) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// Returns true in so many of a thousand draws.
    pub(super) fn per_mille(&mut self, chance: u64) -> bool {
        self.below(1000) < chance
    }

    /// Picks one of several items by their weights.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T], weight: impl Fn(&T) -> u64) -> Option<&'a T> {
        let mut drawn = self.below(items.iter().map(&weight).sum());
        items.iter().find(|item| {
            let weight = weight(item);
            let is_picked = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            is_picked
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_its_numbers_and_differs_from_others() {
        let numbers = |seed, stream| {
            let mut draw = Draw::of_stream(seed, stream);
            [(); 8].map(|()| draw.below(1_000_000))
        };
        assert_eq!(numbers(7, 1), numbers(7, 1));
        assert_ne!(numbers(7, 1), numbers(7, 2));
        assert_ne!(numbers(7, 1), numbers(8, 1));
    }

    #[test]
    fn items_are_picked_as_often_as_their_weights_say() {
        let mut draw = Draw::of_stream(1, 1);
        let picked = (0..1000).filter(|_| {
            draw.pick(&[("often", 9), ("never", 0), ("rarely", 1)], |item| item.1).is_some_and(|item| item.0 == "often")
        });
        assert!((850..950).contains(&picked.count()));
    }
}
