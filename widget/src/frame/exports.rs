//! Functions for the script of the frame: it puts its question in byte by byte, then asks. Only numbers
//! cross the border, which keeps the glue small. The script posts the payment by itself.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use super::checks::Question;

/// Room for digits, the chosen brand and the offered ones.
const ROOM: usize = 1024;

struct Text {
    bytes: [u8; ROOM],
    length: usize,
}

thread_local! {
    static TEXT: RefCell<Text> = const { RefCell::new(Text { bytes: [0; ROOM], length: 0 }) };
}

fn answer_question<T>(answer: impl FnOnce(Question<'_>) -> T) -> T {
    TEXT.with_borrow(|text| {
        let text = text.bytes.get(..text.length).unwrap_or_default();
        answer(Question::read(str::from_utf8(text).unwrap_or_default()))
    })
}

/// Forgets the question, digits included.
#[wasm_bindgen]
pub fn clear() {
    TEXT.with_borrow_mut(|text| {
        text.bytes.fill(0);
        text.length = 0;
    });
}

/// Adds a byte to the question, for which see [`Question::read`]; what finds no room is left out.
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
