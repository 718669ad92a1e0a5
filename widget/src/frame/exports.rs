//! Functions for the scripts of the frames: they put a question in byte by byte, then ask. Only numbers cross the
//! border, which keeps the glue small. The script of the card number's frame posts the payment by itself.

use std::cell::RefCell;

use tillgate_shared::format::holder;
use wasm_bindgen::prelude::*;

use super::checks::{Question, TypedDate};

/// Room for digits, the chosen brand and the offered ones, or for the longest name of a holder.
const ROOM: usize = 1024;

struct Text {
    bytes: [u8; ROOM],
    length: usize,
}

thread_local! {
    static TEXT: RefCell<Text> = const { RefCell::new(Text { bytes: [0; ROOM], length: 0 }) };
}

fn with_text<T>(answer: impl FnOnce(&str) -> T) -> T {
    TEXT.with_borrow(|text| {
        let text = text.bytes.get(..text.length).unwrap_or_default();
        answer(str::from_utf8(text).unwrap_or_default())
    })
}

fn answer_question<T>(answer: impl FnOnce(Question<'_>) -> T) -> T {
    with_text(|text| answer(Question::read(text)))
}

/// Forgets the question, whatever was typed included.
#[wasm_bindgen]
pub fn clear() {
    TEXT.with_borrow_mut(|text| {
        text.bytes.fill(0);
        text.length = 0;
    });
}

/// Adds a byte of the question, which is in UTF-8: a text, or what [`Question::read`] describes. A byte that finds no
/// room is left out.
#[wasm_bindgen]
pub fn put(byte: u8) {
    TEXT.with_borrow_mut(|text| {
        if let Some(place) = text.bytes.get_mut(text.length) {
            *place = byte;
            text.length += 1;
        }
    });
}

/// 0 for no card number, 1 for one of another brand than the chosen, 2 for one of the chosen brand.
#[wasm_bindgen]
pub fn number() -> u8 {
    answer_question(|question| u8::from(question.is_number()) + u8::from(question.is_number_of_brand()))
}

/// See [`Question::is_code`].
#[wasm_bindgen]
pub fn code() -> bool {
    answer_question(|question| question.is_code())
}

/// See [`Question::is_code_optional`].
#[wasm_bindgen]
pub fn optional() -> bool {
    answer_question(|question| question.is_code_optional())
}

/// See [`Question::fitting`]; -1 for none.
#[wasm_bindgen]
pub fn fitting(rank: u32) -> i32 {
    answer_question(|question| question.fitting(rank as usize).map_or(-1, |place| place as i32))
}

/// See [`Question::group`].
#[wasm_bindgen]
pub fn group(place: u32) -> u8 {
    answer_question(|question| question.group(place as usize))
}

/// Returns true if the text can be the name of a card's holder.
#[wasm_bindgen]
pub fn holder() -> bool {
    with_text(|text| holder::is_holder(text, holder::LEAST_OF_CARD))
}

/// See [`TypedDate::number`].
#[wasm_bindgen]
pub fn date(this_year: u16) -> u32 {
    with_text(|text| TypedDate(text).number(this_year))
}

/// See [`TypedDate::is_past`].
#[wasm_bindgen]
pub fn past(half_day: i32) -> bool {
    with_text(|text| TypedDate(text).is_past(half_day))
}

/// See [`TypedDate::formatted_byte`].
#[wasm_bindgen]
pub fn formatted(place: u32) -> u8 {
    with_text(|text| TypedDate(text).formatted_byte(place as usize))
}
