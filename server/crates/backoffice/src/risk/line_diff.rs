//! Differences of two texts by lines.

/// Maximum size of the table of the longest common part, in cells of two bytes. Above it, the different parts of two
/// texts count as replaced as a whole.
const MAX_CELLS: usize = 4_000_000;

/// Line of one text or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineChange<'a> {
    /// In both texts, with its numbers in them.
    Same(usize, usize, &'a str),
    /// Only in the first text, with its number.
    Removed(usize, &'a str),
    /// Only in the second text, with its number.
    Added(usize, &'a str),
}

/// Compares two texts. Lines are numbered from 1.
pub(super) fn compare_lines<'a>(old: &'a str, new: &'a str) -> Vec<LineChange<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (old_middle, new_middle) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    let mut changes: Vec<LineChange<'a>> =
        old[..begin].iter().enumerate().map(|(index, line)| LineChange::Same(index + 1, index + 1, line)).collect();
    add_middle(&mut changes, (old_middle, new_middle), begin);
    let (old_end, new_end) = (old.len() - end, new.len() - end);
    let same = |(index, line): (usize, &&'a str)| LineChange::Same(old_end + index + 1, new_end + index + 1, line);
    changes.extend(old[old_end..].iter().enumerate().map(same));
    changes
}

/// Adds the lines between the common begin and end of two texts. `begin` is the number of lines before them.
fn add_middle<'a>(changes: &mut Vec<LineChange<'a>>, (old, new): (&[&'a str], &[&'a str]), begin: usize) {
    let width = new.len() + 1;
    let is_small = old.len() < usize::from(u16::MAX) && (old.len() + 1).saturating_mul(width) <= MAX_CELLS;
    // Cell (i, j) is the length of the longest common part of old[i..] and new[j..].
    let mut lengths = vec![0_u16; if is_small { (old.len() + 1) * width } else { 0 }];
    if is_small {
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                lengths[i * width + j] = if old[i] == new[j] {
                    lengths[(i + 1) * width + j + 1] + 1
                } else {
                    lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
                };
            }
        }
    }
    let length = |i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or_default();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if is_small && i < old.len() && j < new.len() && old[i] == new[j] {
            changes.push(LineChange::Same(begin + i + 1, begin + j + 1, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || length(i + 1, j) >= length(i, j + 1)) {
            changes.push(LineChange::Removed(begin + i + 1, old[i]));
            i += 1;
        } else {
            changes.push(LineChange::Added(begin + j + 1, new[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(old: &str, new: &str) -> String {
        let format = |change: &LineChange<'_>| match change {
            LineChange::Same(_, _, line) => format!(" {line}"),
            LineChange::Removed(number, line) => format!("-{number}{line}"),
            LineChange::Added(number, line) => format!("+{number}{line}"),
        };
        compare_lines(old, new).iter().map(format).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn lines_that_differ_are_named_with_their_numbers() {
        assert_eq!(format("a\nb\nc", "a\nx\nc"), " a|-2b|+2x| c");
        assert_eq!(format("a\nb", "a\nb"), " a| b");
        assert_eq!(format("", "a\nb"), "+1a|+2b");
        assert_eq!(format("a\nb", ""), "-1a|-2b");
        assert_eq!(format("a\na\na", "a\na"), " a| a|-3a");
        assert_eq!(format("a\nb\nc\nd\ne", "b\nx\nd\nd\ne"), "-1a| b|-3c|+2x|+3d| d| e");
    }

    #[test]
    fn both_texts_can_be_made_from_the_differences_of_texts_of_any_size() {
        let numbered = |count: u32, step: u32| (0..count).map(|n| (n * step % 977).to_string()).collect::<Vec<_>>();
        for (old, new) in [
            (numbered(300, 7), numbered(280, 11)),
            (numbered(9_000, 7), numbered(9_000, 11)),
            (Vec::new(), numbered(70_000, 3)),
        ] {
            let (old, new) = (old.join("\n"), new.join("\n"));
            let changes = compare_lines(&old, &new);
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for change in changes {
                match change {
                    LineChange::Same(at, other, line) => {
                        first.push(line);
                        second.push(line);
                        assert_eq!((at, other), (first.len(), second.len()));
                    }
                    LineChange::Removed(at, line) => {
                        first.push(line);
                        assert_eq!(at, first.len());
                    }
                    LineChange::Added(at, line) => {
                        second.push(line);
                        assert_eq!(at, second.len());
                    }
                }
            }
            assert_eq!((first.join("\n"), second.join("\n")), (old, new));
        }
    }
}
