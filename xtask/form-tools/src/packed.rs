//! The wasm module of the page in another order, which compresses better: instructions, numbers of locals, numbers of
//! functions, offsets and constants each for themselves. A few lines of JavaScript put it together again.

use anyhow::{Context as _, Result, bail, ensure};

/// Number of the section with the code of functions.
const CODE: u8 = 10;
/// Pieces of a packed module, by what they hold. Jumps are piece 1, locals that are read and written 2 and 3, called
/// functions 4, offsets 5, constants 6.
const PIECES: usize = 9;
const INSTRUCTIONS: usize = 0;
const LOCALS: usize = 7;
const SIZES: usize = 8;

/// Rule of an instruction without numbers.
const NOTHING: u8 = 0;
/// Rule of an instruction with alignment, which goes to the instructions, and offset.
const MEMORY: u8 = 8;
/// Rule of the four instructions that no other rule is for.
const OTHER: u8 = 9;
/// Piece of the offsets.
const OFFSETS: usize = 5;

/// Returns the rule for the numbers behind an instruction, or `None` for one that the compiler does not write. A rule
/// between the named ones is a single number, for the piece before that number.
fn rule_of(instruction: u8) -> Option<u8> {
    Some(match instruction {
        0x00 | 0x01 | 0x05 | 0x0b | 0x0f | 0x1a | 0x1b | 0x45..=0xc4 => NOTHING,
        // The kind of a block, a global, the memory's number.
        0x02..=0x04 | 0x23 | 0x24 | 0x3f | 0x40 => 1,
        0x0c | 0x0d => 2,
        0x20 => 3,
        0x21 | 0x22 => 4,
        0x10 => 5,
        0x41 | 0x42 => 7,
        0x28..=0x3e => MEMORY,
        0x0e | 0x11 | 0x44 | 0xfc => OTHER,
        _ => return None,
    })
}

/// A packed module.
pub struct Packed {
    /// Its pieces.
    pub bytes: Vec<u8>,
    /// Arguments of `unpack` after the bytes, in JavaScript.
    pub arguments: String,
}

/// Packs a module.
///
/// # Errors
/// If it is malformed, or has an instruction that is not expected.
pub fn pack_module(wasm: &[u8]) -> Result<Packed> {
    let mut packer = Packer { wasm, at: 8, pieces: Default::default() };
    let mut unused = Vec::new();
    let end = loop {
        let section = packer.byte()?;
        let size = packer.number(&mut unused)?;
        if section == CODE {
            break packer.at + size;
        }
        packer.at += size;
    };
    let count = packer.number(&mut unused)?;
    let before = packer.at;
    for _ in 0..count {
        packer.take_function()?;
    }
    ensure!(packer.at == end, "the code of the module does not end where it should");
    let (mut bytes, mut begins) = (Vec::new(), Vec::new());
    let around = [wasm[..before].to_vec(), wasm[end..].to_vec()];
    for piece in packer.pieces.iter().chain(&around) {
        begins.push(bytes.len().to_string());
        bytes.extend(piece);
    }
    Ok(Packed { bytes, arguments: format!("[{},{count}],{}", begins.join(","), wasm.len()) })
}

struct Packer<'a> {
    wasm: &'a [u8],
    at: usize,
    pieces: [Vec<u8>; PIECES],
}

impl Packer<'_> {
    fn byte(&mut self) -> Result<u8> {
        let byte = *self.wasm.get(self.at).context("the module ends too early")?;
        self.at += 1;
        Ok(byte)
    }

    /// Takes a number, appends its bytes to `to`, and returns its low bits.
    fn number(&mut self, to: &mut Vec<u8>) -> Result<usize> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            to.push(byte);
            value |= usize::from(byte & 127).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte < 128 {
                return Ok(value);
            }
        }
    }

    /// Takes a number into a piece.
    fn take(&mut self, piece: usize) -> Result<usize> {
        let mut taken = Vec::new();
        let value = self.number(&mut taken)?;
        self.pieces[piece].extend(taken);
        Ok(value)
    }

    fn take_function(&mut self) -> Result<()> {
        let size = self.take(SIZES)?;
        let end = self.at + size;
        for _ in 0..self.take(LOCALS)? {
            // A count and a type.
            self.take(LOCALS)?;
            self.take(LOCALS)?;
        }
        while self.at < end {
            self.take_instruction()?;
        }
        ensure!(self.at == end, "a function does not end where it should");
        Ok(())
    }

    fn take_instruction(&mut self) -> Result<()> {
        let instruction = self.byte()?;
        self.pieces[INSTRUCTIONS].push(instruction);
        let rule = rule_of(instruction);
        match rule.with_context(|| format!("the module has the unexpected instruction {instruction}"))? {
            NOTHING => {}
            MEMORY => {
                self.take(INSTRUCTIONS)?;
                self.take(OFFSETS)?;
            }
            OTHER => self.take_other(instruction)?,
            piece => drop(self.take(usize::from(piece) - 1)?),
        }
        Ok(())
    }

    fn take_other(&mut self, instruction: u8) -> Result<()> {
        let (piece, count) = match instruction {
            // A table of jumps, and the jump behind it.
            0x0e => (1, self.take(1)? + 1),
            // A call through the table of functions.
            0x11 => (4, 2),
            // Copies of memory name two memories, fills one, conversions none.
            0xfc => match self.take(INSTRUCTIONS)? {
                0..=7 => (INSTRUCTIONS, 0),
                10 => (INSTRUCTIONS, 2),
                11 => (INSTRUCTIONS, 1),
                other => bail!("the module has the unexpected instruction 252 {other}"),
            },
            // A floating-point number.
            _ => {
                for _ in 0..8 {
                    let byte = self.byte()?;
                    self.pieces[INSTRUCTIONS].push(byte);
                }
                return Ok(());
            }
        };
        for _ in 0..count {
            self.take(piece)?;
        }
        Ok(())
    }
}

/// Returns JavaScript that declares `unpack`, a function from the bytes of a packed module, where its pieces begin, and
/// its size, to the module. Behind the pieces are what comes before the code and after it, and the number of functions.
pub fn unpack_source() -> String {
    let rules = (0..=255).map(|instruction| char::from(b'0' + rule_of(instruction).unwrap_or_default()));
    UNPACK.replace("RULES", &rules.collect::<String>())
}

/// The function of [`unpack_source`]. Most of its time goes to the loop over instructions, which calls nothing.
const UNPACK: &str = "const unpack = (bytes, begins, size) => {
    const made = new Uint8Array(size), at = Int32Array.from(begins), rules = Uint8Array.from('RULES');
    let to = 0, value = 0;
    const copy = (piece, count) => {
        made.set(bytes.subarray(at[piece], at[piece] += count), to);
        to += count;
    };
    const number = (piece) => {
        let from = at[piece], byte = made[to++] = bytes[from++];
        value = byte & 127;
        for (let shift = 7; byte > 127; shift += 7) {
            byte = made[to++] = bytes[from++];
            value |= (byte & 127) << shift;
        }
        at[piece] = from;
    };
    const numbers = (piece, count) => { for (; count > 0; count--) number(piece); };
    const other = (kind) => {
        if (kind === 14) number(1), numbers(1, value + 1);
        else if (kind === 17) numbers(4, 2);
        else if (kind === 68) copy(0, 8);
        else number(0), numbers(0, value === 10 ? 2 : value === 11 ? 1 : 0);
    };
    const instructions = (end) => {
        let from = at[0], next = to;
        while (next < end) {
            const kind = made[next++] = bytes[from++];
            let rule = rules[kind];
            if (rule === 0) continue;
            if (rule === 9) {
                at[0] = from; to = next;
                other(kind);
                from = at[0]; next = to;
                continue;
            }
            if (rule === 1 || rule === 8) while ((made[next++] = bytes[from++]) > 127);
            if (rule === 1) continue;
            if (rule === 8) rule = 6;
            let place = at[rule - 1];
            while ((made[next++] = bytes[place++]) > 127);
            at[rule - 1] = place;
        }
        at[0] = from; to = next;
    };
    copy(9, at[10] - at[9]);
    for (let rest = at[11]; rest-- > 0;) {
        number(8);
        const end = value + to;
        number(7);
        numbers(7, 2 * value);
        instructions(end);
    }
    copy(10, size - to);
    return made;
};";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A module with one function that has all kinds of instructions. It could not run.
    fn sample(body: &[u8]) -> Vec<u8> {
        let code = [&[1, body.len() as u8], body].concat();
        [b"\0asm\x01\0\0\0\x01\x01\0", &[CODE, code.len() as u8][..], &code, b"\x0b\x01\0"].concat()
    }

    #[test]
    fn javascript_unpacks_what_was_packed() {
        let body = b"\x02\x81\x01\x7f\x02\x7e\x02\x40\x03\x40\x0b\x0c\x81\x01\x0d\0\x0e\x02\0\x01\x02\x0e\0\x05\
            \x10\xff\x01\x11\x01\0\x20\x01\x21\x80\x01\x22\x02\x23\0\x24\0\x28\x02\x90\x03\x3e\0\x04\x3f\0\x40\0\
            \x41\x7f\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x44\xff\xfc\x0e\x44\0\0\0\0\x6a\xc0\xfc\x0a\0\0\
            \xfc\x0b\0\xfc\x02\0\x01\x05\x0f\x1a\x1b\x04\x7f\x0b\x0b";
        let wasm = sample(body);
        let packed = pack_module(&wasm).unwrap();
        assert_ne!(packed.bytes, wasm);
        let script = format!(
            "{} console.log(unpack(Uint8Array.from({:?}), {}).join());",
            unpack_source(),
            packed.bytes,
            packed.arguments
        );
        let output = Command::new("node").args(["-e", &script]).output().unwrap();
        let expected: Vec<String> = wasm.iter().map(u8::to_string).collect();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected.join(","));
    }

    #[test]
    fn unknown_instructions_and_wrong_sizes_are_refused() {
        assert!(pack_module(&sample(b"\0\xfd\0\x0b")).is_err());
        assert!(pack_module(&sample(b"\0\x43\0\0\0\0\x0b")).is_err());
        assert!(pack_module(&sample(b"\0\x41")).is_err());
        assert!(pack_module(b"\0asm\x01\0\0\0").is_err());
    }
}
