//! Random messages return from their bytes, and no bytes make the codec panic or allocate much.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::iso8583::layout::{IsoKind, PartLayout, ValueBody, ValueCoding, ValueLayout, ValueLength};

/// The dialects of the program, and one that is only a file.
static ALL: LazyLock<Vec<Dialect>> = LazyLock::new(|| {
    let shipped = DIALECTS.iter().map(|(_, text)| *text);
    shipped.chain([include_str!("invented.toml")]).map(|text| Dialect::parse(text).unwrap()).collect()
});
/// Number of dialects.
const COUNT: usize = DIALECTS.len() + 1;

/// Returns random values of a layout.
fn any_value(layout: &ValueLayout) -> BoxedStrategy<IsoValue> {
    let (least, most) = match layout.length {
        ValueLength::Fixed(length) => (length, length),
        ValueLength::Prefixed { max, .. } | ValueLength::Enclosed { max } => (0, max.min(40)),
    };
    match &layout.body {
        ValueBody::Plain { kind: IsoKind::B, .. } => {
            prop::collection::vec(any::<u8>(), least..=most).prop_map(IsoValue::Bytes).boxed()
        }
        ValueBody::Plain { kind, coding, padding } => {
            let least = if padding.is_some() { 0 } else { least };
            let (class, sign) = match kind {
                IsoKind::A => ("[A-Za-z]", ""),
                // A text with the filler at its padded end is refused: zero or space in these dialects.
                IsoKind::An if padding.is_some() => ("[A-Za-z1-9]", ""),
                IsoKind::An => ("[A-Za-z0-9]", ""),
                IsoKind::Ans if padding.is_some() => ("[!-~]", ""),
                IsoKind::Ans if has_latin_letters(*coding) => ("[ -~¡-ÿ]", ""),
                IsoKind::Ans => ("[ -~]", ""),
                IsoKind::Z => ("[0-9=]", ""),
                IsoKind::XN => ("[0-9]", "[CD]"),
                _ => ("[0-9]", ""),
            };
            let pattern = format!("{sign}{class}{{{least},{most}}}");
            proptest::string::string_regex(&pattern).unwrap().prop_map(IsoValue::Text).boxed()
        }
        ValueBody::Positional(parts) => {
            let values: Vec<_> = parts.iter().map(any_part).collect();
            let count = if layout.fixed_bytes().is_some() { values.len()..=values.len() } else { 0..=values.len() };
            let parts = (values, count);
            parts.prop_map(|(parts, count)| IsoValue::Composite(parts.into_iter().take(count).collect())).boxed()
        }
        ValueBody::Tlv(tlv) => {
            let known: Vec<_> = tlv.parts.iter().map(any_part).collect();
            let unknown = prop::collection::vec(any::<u8>(), 0..9)
                .prop_map(|bytes| IsoPart { tag: "77".to_owned(), value: IsoValue::Bytes(bytes) });
            let part = prop_oneof![unknown, proptest::strategy::Union::new(known)];
            prop::collection::vec(part, 0..5).prop_map(IsoValue::Composite).boxed()
        }
    }
}

/// Returns true if texts may have accents.
fn has_latin_letters(coding: ValueCoding) -> bool {
    !matches!(coding, ValueCoding::Characters(IsoCharset::Ascii))
}

/// Returns random values of a part, with its tag.
fn any_part(part: &PartLayout) -> BoxedStrategy<IsoPart> {
    let tag = part.tag.clone();
    any_value(&part.value).prop_map(move |value| IsoPart { tag: tag.clone(), value }).boxed()
}

/// Returns random messages of a dialect, with up to twelve fields.
pub(super) fn any_message(dialect: &'static Dialect) -> BoxedStrategy<IsoMessage> {
    let fields: Vec<_> = dialect.fields.values().collect();
    let types = ["00", "20", "30"].map(|rest| format!("{}2{rest}", dialect.version.digit()));
    let count = 0..=12.min(fields.len());
    let numbers = prop::sample::subsequence(fields, count);
    let fields = numbers.prop_flat_map(|fields| {
        fields.into_iter().map(|field| (Just(field.number), any_value(&field.value))).collect::<Vec<_>>()
    });
    (prop::sample::select(types.to_vec()), fields)
        .prop_map(|(mti, fields)| {
            let mut message = IsoMessage::new(Mti::parse(&mti).unwrap());
            fields.into_iter().for_each(|(number, value)| message.set_field(number, value));
            message
        })
        .boxed()
}

/// Returns one of the dialects with one of its messages.
fn any_dialect_message() -> impl Strategy<Value = (&'static Dialect, IsoMessage)> {
    (0..COUNT).prop_flat_map(|index| {
        let dialect = &ALL[index];
        (Just(dialect), any_message(dialect))
    })
}

/// Returns the bytes that a value keeps on the heap.
fn heap_bytes(value: &IsoValue) -> usize {
    match value {
        IsoValue::Text(text) => text.capacity(),
        IsoValue::Bytes(bytes) => bytes.capacity(),
        IsoValue::Composite(parts) => {
            let inner = parts.iter().map(|part| part.tag.capacity() + heap_bytes(&part.value)).sum::<usize>();
            parts.capacity() * size_of::<IsoPart>() + inner
        }
    }
}

/// Decodes any bytes. A decoded message is small, and returns from its own bytes.
fn check_bytes(dialect: &Dialect, bytes: &[u8]) {
    let Ok(message) = dialect.decode(bytes) else { return };
    let heap = message.fields().map(|(_, value)| heap_bytes(value)).sum::<usize>();
    assert!(heap <= 64 * bytes.len(), "{heap} bytes for {}", bytes.len());
    let encoded = dialect.encode(&message).unwrap();
    assert_eq!(dialect.decode(&encoded).unwrap(), message);
    assert!(encoded.len() <= bytes.len());
    dialect.describe(&message);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_random_message_returns_from_its_bytes((dialect, message) in any_dialect_message()) {
        let bytes = dialect.encode(&message).unwrap();
        let decoded = dialect.decode(&bytes).unwrap();
        prop_assert_eq!(&decoded, &message);
        prop_assert_eq!(dialect.encode(&decoded).unwrap(), bytes);
    }

    #[test]
    fn mutated_bytes_never_panic_and_never_allocate_much(
        (dialect, message) in any_dialect_message(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>()), 1..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let mut bytes = dialect.encode(&message).unwrap();
        for (at, change, byte) in changes {
            let at = at.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                // Lengths and digits that are wrong by one are the ones that nearly fit.
                1 => bytes[at] = bytes[at].wrapping_add(1),
                2 => bytes.insert(at, byte),
                _ if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => {}
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check_bytes(dialect, &bytes);
    }

    #[test]
    fn random_bytes_never_panic_and_never_allocate_much(
        index in 0..COUNT,
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        is_message in any::<bool>(),
    ) {
        let dialect = &ALL[index];
        let start = dialect.encode(&IsoMessage::new(Mti::parse(&format!("{}200", dialect.version.digit())).unwrap()));
        // With a valid type the bitmap is read as well.
        let start = start.unwrap();
        let kept = if is_message { start.len() / 3 } else { 0 };
        check_bytes(dialect, &[&start[..kept.min(4)], &bytes].concat());
    }

    #[test]
    fn random_segments_never_panic_and_keep_the_frames(
        index in 0..COUNT,
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..6),
        size in 1_usize..60,
        noise in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let layout = ALL[index].frames();
        let frames = messages.iter().map(|message| layout.frame_request(message.clone()));
        let stream = frames.flat_map(|frame| write_frame(layout, &frame).unwrap());
        let stream: Vec<u8> = stream.chain(noise).collect();
        let mut reader = FrameReader::new(layout.clone());
        let mut found = Vec::new();
        for segment in stream.chunks(size) {
            reader.push_bytes(segment);
            while let Ok(Some(frame)) = reader.next_frame() {
                found.push(frame.message);
            }
        }
        prop_assert!(found.starts_with(&messages));
    }
}
