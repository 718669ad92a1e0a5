//! Tests of the rules of IBANs in `widget/debit` and of the caret in grouped numbers, run by node as browsers would.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use serde_json::{Value, json};
use tillgate_shared::format::iban;

use super::lazy_scripts::insert_facts;
use super::modules::join_modules;

/// Runs a module of the form and the code that follows it, in which `input` is the given value. Returns the value that
/// the code returns.
fn run_module(module: &str, code: &str, input: &Value) -> Value {
    let widget = crate::workspace_root().join("widget");
    let path = widget.join(module).canonicalize().unwrap();
    let joined = insert_facts(&join_modules(&path).unwrap(), &widget).unwrap();
    let body = joined.strip_suffix("})();").unwrap();
    let script =
        format!("const input = {input};\n const answer = {body} {code} }})();\nconsole.log(JSON.stringify(answer));");
    let output = Command::new("node").args(["-e", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Returns an IBAN of this country and length with right check digits, by plain arithmetic on a long number.
fn make_iban(country: &str, length: usize) -> String {
    let account: String = (0..length - 4).map(|place| char::from(b"7A30194"[place % 7])).collect();
    let remainder = |text: &str| {
        let digits = text.chars().map(|c| c.to_digit(36).unwrap().to_string()).collect::<String>();
        digits.bytes().fold(0_u32, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97)
    };
    format!("{country}{:02}{account}", 98 - remainder(&format!("{account}{country}00")))
}

#[test]
fn an_iban_of_every_country_is_right_and_each_mistake_has_its_own_words() {
    let samples: Vec<String> =
        iban::LENGTHS.split(' ').map(|row| make_iban(&row[..2], row[2..].parse().unwrap())).collect();
    let code = "
        const found = (text) => findAccountFault(readAccount(text));
        const turn = (character) => (character === '9' ? '0' : character === 'Z' ? 'A' : String.fromCharCode(character.charCodeAt() + 1));
        const set = new Set();
        for (const sample of input) {
          if (found(sample) !== '' || found(showAccount(sample)) !== '') set.add(`${sample} is right`);
          for (let at = 2; at < sample.length; at++) {
            const wrong = sample.slice(0, at) + turn(sample[at]) + sample.slice(at + 1);
            if (found(wrong) !== 'accountNumberErrorDigits') set.add(`${wrong} has a wrong character`);
            const swapped = sample.slice(0, at) + (sample[at + 1] || '') + sample[at] + sample.slice(at + 2);
            if (swapped !== sample && found(swapped) !== 'accountNumberErrorDigits') set.add(`${swapped} is turned`);
            if (found(sample.slice(0, at)) !== 'accountNumberErrorShort') set.add(`${sample.slice(0, at)} is short`);
          }
          if (found(sample + '0') !== 'accountNumberErrorDigits') set.add(`${sample}0 is long`);
        }
        return [...set];";
    assert_eq!(samples.len(), 85);
    assert_eq!(run_module("debit/iban.js", code, &json!(samples)), json!([]));
}

#[test]
fn what_is_typed_is_grouped_judged_and_read_as_its_country() {
    let rows = [
        // A text, the text that is shown, the fault, the country, and true if the bank has to be said.
        ("", "", "accountNumberErrorEmpty", "", false),
        (" - ", "", "accountNumberErrorEmpty", "", false),
        ("IBAN", "", "accountNumberErrorEmpty", "", false),
        ("d", "D", "accountNumberErrorShort", "", false),
        ("de", "DE", "accountNumberErrorShort", "DE", false),
        ("de89", "DE89", "accountNumberErrorShort", "DE", false),
        ("de893", "DE89 3", "accountNumberErrorShort", "DE", false),
        ("  iban: de89-3704.0044 0532 0130 00\t", "DE89 3704 0044 0532 0130 00", "", "DE", false),
        ("ＤＥ８９３７０４００４４０５３２０１３０００", "DE89 3704 0044 0532 0130 00", "", "DE", false),
        ("de٨٩ ३७०४ ০০৪৪ ۰۵۳۲ 0130 00", "DE89 3704 0044 0532 0130 00", "", "DE", false),
        ("DE89370400440532013000DE", "DE89 3704 0044 0532 0130 00DE", "accountNumberErrorDigits", "DE", false),
        ("DEX9370400440532013000", "DEX9 3704 0044 0532 0130 00", "accountNumberErrorDigits", "DE", false),
        ("GB29 NWBK 6016 1331 9268 19", "GB29 NWBK 6016 1331 9268 19", "", "GB", true),
        ("NO9386011117947", "NO93 8601 1117 947", "", "NO", false),
        ("XX8937040044", "XX89 3704 0044", "accountNumberErrorCountry", "", false),
        ("US64SVBKUS6S3300958879", "US64 SVBK US6S 3300 9588 79", "accountNumberErrorCountry", "", false),
        ("D1", "D1", "accountNumberErrorCountry", "", false),
        ("12 34-56", "12 34-56", "", "", true),
        ("__proto__", "PROT O", "accountNumberErrorCountry", "", false),
    ];
    let texts: Vec<&str> = rows.iter().map(|row| row.0).collect();
    let code = "return input.map((text) => {
        const account = readAccount(text);
        return [text, showAccount(text), findAccountFault(account), readCountry(account), needsBank(account)];
    });";
    for (row, found) in rows.iter().zip(run_module("debit/iban.js", code, &json!(texts)).as_array().unwrap()) {
        assert_eq!(found, &json!(row));
    }
}

#[test]
fn the_caret_stays_behind_the_character_that_it_was_behind() {
    // A control of a browser, as far as the rule needs one. Each edit is done at every place of the text.
    let code = "
        const wrong = [];
        const strip = (text) => text.replace(/ /g, '');
        const group = (text) => strip(text).replace(/.{4}(?=.)/g, '$& ');
        const makeControl = (value, at) => ({
          value, selectionStart: at, selectionEnd: at, matches: () => true,
          setSelectionRange(start, end) { this.selectionStart = start; this.selectionEnd = end; },
        });
        const check = (control, expected, about) => {
          const before = strip(control.value.slice(0, control.selectionStart)).length;
          showGroups(control, group(control.value), before);
          const at = control.selectionStart;
          if (strip(control.value) !== expected || strip(control.value.slice(0, at)).length !== before) wrong.push(about);
        };
        for (let at = 0; at <= input.length; at++) {
          for (const more of ['X', 'XYZ', 'XY ZAB C']) {
            const text = input.slice(0, at) + more + input.slice(at);
            check(makeControl(text, at + more.length), strip(text), `${more} at ${at}`);
          }
          for (const [inputType, step] of [['deleteContentBackward', -1], ['deleteContentForward', 0]]) {
            const control = makeControl(input, at);
            skipSpace({ inputType, target: control });
            const place = control.selectionStart + step;
            if (place < 0 || place >= input.length) continue;
            if (input[place] === ' ') wrong.push(`${inputType} at ${at} meets a space`);
            control.value = input.slice(0, place) + input.slice(place + 1);
            control.setSelectionRange(place, place);
            check(control, strip(control.value), `${inputType} at ${at}`);
          }
        }
        return wrong;";
    assert_eq!(run_module("frame/spaces.js", code, &json!("DE89 3704 0044 0532 0130 00")), json!([]));
}

#[test]
fn the_loader_knows_the_brands_whose_forms_the_script_completes() {
    use tillgate_shared::brand::{Brand, FormKind};
    for brand in Brand::all() {
        assert_eq!(brand.code.contains("SEPA"), brand.form == FormKind::DirectDebit, "{}", brand.code);
    }
}

#[test]
fn a_bank_is_named_by_its_code_once_that_is_complete_and_in_the_table() {
    let rows = [
        ("DE23100000001234567890", "Bundesbank"),
        ("DE895001051", ""),
        ("DE8950010517", "ING"),
        ("DE8937040044", "Commerzbank"),
        ("DE8920041133", "comdirect"),
        ("DE8920050550", "Sparkasse"),
        ("DE8970050000", "BayernLB"),
        // A company of the savings banks that is none.
        ("DE8951051000", ""),
        ("DE8950090500", "Sparda-Bank"),
        ("DE8910020000", ""),
        ("AT611904300234573201", ""),
        ("AT6120111", "Erste Bank"),
        ("AT6120815", "Sparkasse"),
        ("AT6136000", "Raiffeisen"),
        ("NL91ABNA0417164300", "ABN AMRO"),
        ("BE68539007547034", ""),
        ("BE71096123456769", "Belfius"),
        ("BE68400", "KBC"),
        ("BE68500", ""),
        ("FR1420041010050500013M02606", "La Banque Postale"),
        ("FR7613106005001234567890123", "Crédit Agricole"),
        ("FR7611315000011234567890138", "Caisse d’Épargne"),
        ("ES9121000418450200051332", "CaixaBank"),
        ("IT60X0542811101000000123456", ""),
        ("IT60X0306909606100000063773", "Intesa Sanpaolo"),
        ("IT60X0306", ""),
        ("IE29AIBK93115212345678", "AIB"),
        ("PT50003300004538123456705", "Millennium bcp"),
        ("FI2112345600000785", "Nordea"),
        ("FI2140512345678901", "Aktia"),
        ("FI2140712345678901", "Säästöpankki"),
        ("CH9300762011623852957", ""),
        ("12345678", ""),
        ("", ""),
    ];
    let accounts: Vec<&str> = rows.iter().map(|(account, _)| *account).collect();
    let named = run_module("debit/bank.js", "return input.map(findBank);", &json!(accounts));
    for ((account, name), found) in rows.iter().zip(named.as_array().unwrap()) {
        assert_eq!(found, name, "{account}");
    }
}
