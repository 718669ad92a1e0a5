"""Decodes messages with pyiso8583, compares their values, and encodes them again.

The tables of pyiso8583 are made from the dialects' files. The arguments are these files; standard input has a message in
each line, as JSON: its dialect, its type, its bytes, and the values of its fields.
"""

import json
import sys
import tomllib

import iso8583

CHARSETS = {"ascii": "ascii", "latin-1": "latin-1", "ebcdic-037": "cp037"}


def make_field(field, encoding):
    """Returns the entry of a field."""
    text = CHARSETS[encoding["characters"]]
    codings = {"ascii": "ascii", "ebcdic": "cp037", "bcd": "b", "binary": "b", "hex": text}
    kind = field["kind"]
    coding = field.get("encoding")
    if coding is None and kind in ("n", "z", "x+n"):
        coding = encoding["numbers"]
    elif coding is None and kind == "b":
        coding = encoding["bytes"]
    data = text if coding is None else codings[coding]
    if kind == "tlv" and data == "ascii":
        # Unknown tags have any bytes.
        data = "latin-1"
    if kind in ("tlv", "positional") and encoding["numbers"] == "bcd":
        data = "b"
    is_fixed = isinstance(field["length"], int)
    length = field["length"] if is_fixed else field["max"]
    prefix = field.get("prefix", encoding["lengths"])
    size = 0 if is_fixed else len(field["length"])
    if prefix in ("bcd", "binary"):
        size = (size + 1) // 2
    entry = {
        "data_enc": data,
        "len_enc": {"bcd": "bcd", "binary": "b"}.get(prefix, codings.get(prefix)),
        "len_type": size,
        "max_len": length,
        "desc": field["name"],
    }
    if kind == "b" and coding == "hex":
        entry["max_len"] = 2 * length
    if kind == "x+n":
        entry["max_len"] = 1 + length // 2 if coding == "bcd" else 1 + length
    if coding == "bcd" and kind in ("n", "z"):
        odd = field.get("odd_digits") or encoding["odd_digits"]
        entry["len_count"] = "nibbles"
        entry[odd["side"] + "_pad"] = odd["filler"]
    return entry


def make_table(dialect):
    """Returns the table of a dialect."""
    encoding = dialect["encoding"]
    text = CHARSETS[encoding["characters"]]
    codings = {"ascii": "ascii", "ebcdic": "cp037", "bcd": "b", "binary": "b", "hex": text}

    def fixed(coding, length, description):
        return {"data_enc": coding, "len_enc": "ascii", "len_type": 0, "max_len": length, "desc": description}

    table = {"h": fixed("ascii", 0, "header")}
    table["t"] = fixed(codings[encoding["message_type"]], 2 if encoding["message_type"] == "bcd" else 4, "type")
    for key in ("p", "1"):
        table[key] = fixed(codings[encoding["bitmap"]], 16 if encoding["bitmap"] == "hex" else 8, "bitmap")
    for number, field in dialect["fields"].items():
        table[number] = make_field(field, encoding)
    return table


def expect_value(entry, kind, value):
    """Returns the value that pyiso8583 should find."""
    coding = entry["data_enc"]
    if kind == "text" and coding == "b":
        value = value.replace("=", "D")
        is_signed = value[:1] in ("C", "D") and entry["desc"].startswith("amount,")
        return "%02X" % ord(value[0]) + value[1:] if is_signed and "len_count" not in entry else value
    if kind == "text":
        return value.ljust(entry["max_len"]) if entry["len_type"] == 0 else value
    if kind == "raw" and coding != "b":
        return bytes.fromhex(value).decode(coding)
    return value.upper()


def check_message(message, table):
    """Returns the differences of a message."""
    raw = bytes.fromhex(message["bytes"])
    decoded, _ = iso8583.decode(raw, table)
    own = {number: value for number, value in decoded.items() if number not in ("h", "p", "1")}
    again, _ = iso8583.encode(own | {"h": ""}, table)
    found = {number: value for number, value in own.items() if number != "t"}
    wanted = {number: expect_value(table[number], *value) for number, value in message["fields"].items()}
    differences = [] if own["t"] == message["mti"] else [("type", own["t"], message["mti"])]
    if again != raw:
        differences.append(("bytes", again.hex(), raw.hex()))
    for number in found.keys() | wanted.keys():
        value = found.get(number)
        if table[number]["data_enc"] == "b" and value is not None:
            value = value.upper()
        if value != wanted.get(number):
            differences.append((number, value, wanted.get(number)))
    return differences


def main():
    dialects = []
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            dialects.append(tomllib.load(file))
    tables = {dialect["name"]: make_table(dialect) for dialect in dialects}
    checked = 0
    for line in sys.stdin:
        message = json.loads(line)
        differences = check_message(message, tables[message["dialect"]])
        if differences:
            sys.exit(f"{message['dialect']}: {differences}")
        checked += 1
    print(checked, end="")


main()
