//! Frames in a stream.

use super::*;

/// Returns a layout without TPDU and other bytes.
fn layout(kind: HeaderKind) -> FrameLayout {
    FrameLayout { kind, counts_itself: false, tpdu: None, before_type: Vec::new() }
}

/// Returns the messages of a stream that arrives in these segments.
fn read_messages(layout: &FrameLayout, segments: &[&[u8]]) -> Result<Vec<Vec<u8>>, FrameError> {
    let mut reader = FrameReader::new(layout.clone());
    let mut messages = Vec::new();
    for segment in segments {
        reader.push_bytes(segment);
        while let Some(frame) = reader.next_frame()? {
            messages.push(frame.message);
        }
    }
    Ok(messages)
}

#[test]
fn a_frame_may_come_in_two_segments_and_two_frames_in_one() {
    let layout = layout(HeaderKind::Ascii4);
    let stream = b"0003abc0002de";
    let expected = vec![b"abc".to_vec(), b"de".to_vec()];
    assert_eq!(read_messages(&layout, &[stream]), Ok(expected.clone()));
    for at in 0..stream.len() {
        let (first, second) = stream.split_at(at);
        assert_eq!(read_messages(&layout, &[first, second]), Ok(expected.clone()), "{at}");
    }
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(read_messages(&layout, &bytes), Ok(expected));
}

#[test]
fn keep_alive_frames_between_and_within_segments_are_skipped() {
    let ascii = layout(HeaderKind::Ascii4);
    assert_eq!(ascii.write_keep_alive(), b"0000");
    assert_eq!(read_messages(&ascii, &[b"00000000", b"0003abc00", b"000001x"]).unwrap(), [&b"abc"[..], b"x"]);
    let binary = layout(HeaderKind::Binary2);
    assert_eq!(binary.write_keep_alive(), [0, 0]);
    assert_eq!(read_messages(&binary, &[b"\0\0\0", b"\x01x\0\0"]).unwrap(), [b"x"]);
    let mut reader = FrameReader::new(binary);
    reader.push_bytes(b"\0\0\0");
    assert_eq!((reader.next_frame(), reader.has_partial_frame()), (Ok(None), true));
    reader.push_bytes(b"\0");
    assert_eq!((reader.next_frame(), reader.has_partial_frame()), (Ok(None), false));
}

#[test]
fn a_length_header_of_another_kind_is_refused_and_the_expected_kind_named() {
    let error = read_messages(&layout(HeaderKind::Ascii4), &[b"\0\x20abcd"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the length header is 00206162, expected ascii-4 (four ASCII digits): check `header.kind` of the dialect"
    );
    let error = read_messages(&layout(HeaderKind::Binary2), &[b"0120"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "a length of 12337 (header 3031), 8192 at most; expected binary-2 (two binary bytes): check `header.kind` of \
         the dialect"
    );
    assert!(read_messages(&layout(HeaderKind::Ascii4), &[b"9999"]).is_err());
}

#[test]
fn a_reader_has_no_frames_after_an_error() {
    let mut reader = FrameReader::new(layout(HeaderKind::Ascii4));
    reader.push_bytes(b"XXXX");
    let error = reader.next_frame().unwrap_err();
    reader.push_bytes(b"0001x");
    assert_eq!(reader.next_frame(), Err(error));
}

#[test]
fn a_header_may_count_itself() {
    for (kind, stream) in [(HeaderKind::Ascii4, &b"0007abc"[..]), (HeaderKind::Binary2, b"\0\x05abc")] {
        let layout = FrameLayout { counts_itself: true, ..layout(kind) };
        let frame = layout.frame_request(b"abc".to_vec());
        assert_eq!(write_frame(&layout, &frame).unwrap(), stream);
        let keep_alive = layout.write_keep_alive();
        assert_eq!(read_messages(&layout, &[&keep_alive, stream, &keep_alive]).unwrap(), [b"abc"]);
    }
    let layout = FrameLayout { counts_itself: true, ..layout(HeaderKind::Ascii4) };
    assert_eq!(read_messages(&layout, &[b"0003abc"]), Err(FrameError::ShorterThanHeader(3)));
}

#[test]
fn bytes_before_the_type_and_the_tpdu_are_no_part_of_the_message() {
    let layout = FrameLayout {
        tpdu: Some(Tpdu::new([0x60, 0, 1, 0, 2])),
        before_type: b"ISO".to_vec(),
        ..layout(HeaderKind::Binary2)
    };
    let request = layout.frame_request(b"0200".to_vec());
    let bytes = write_frame(&layout, &request).unwrap();
    assert_eq!(bytes, b"\0\x0c\x60\0\x01\0\x02ISO0200");
    let mut reader = FrameReader::new(layout.clone());
    reader.push_bytes(&bytes);
    let received = reader.next_frame().unwrap().unwrap();
    assert_eq!(received, request);
    let response = write_frame(&layout, &received.frame_response(b"0210".to_vec())).unwrap();
    assert_eq!(response, b"\0\x0c\x60\0\x02\0\x01ISO0210");
    let error = read_messages(&layout, &[b"\0\x08\x60\0\x01\0\x02ISO"]).unwrap_err();
    assert_eq!(error, FrameError::NoMessage { length: 8, needed: 8 });
    let other = Frame { tpdu: None, ..request };
    assert_eq!(write_frame(&layout, &other), Err(FrameError::OtherLayout));
}

#[test]
fn a_message_beyond_the_limit_is_not_written() {
    let layout = layout(HeaderKind::Ascii4);
    assert!(write_frame(&layout, &layout.frame_request(vec![0; MAX_FRAME])).is_ok());
    assert!(write_frame(&layout, &layout.frame_request(vec![0; MAX_FRAME + 1])).is_err());
}
