//! Decides when `onReady` is called: once every form is ready, and again for forms that the page adds later.

/// The progress of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Progress {
    /// Fields, frames or configuration are missing.
    #[default]
    Loading,
    /// The shopper can use it.
    Ready,
    /// A message has taken its place, or another form.
    Ended,
}

/// A form as far as `onReady` depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadinessOfForm {
    /// Its progress.
    pub progress: Progress,
    /// True once `onReady` has told it.
    pub is_announced: bool,
}

/// Returns the positions of the forms that `onReady` tells now. Empty if there is nothing to tell, or if something is
/// still to come: a form, or the relay frame with the other brands and the stored accounts.
pub fn select_announced(forms: &[ReadinessOfForm], awaits_relay: bool) -> Vec<usize> {
    if awaits_relay || forms.iter().any(|form| form.progress == Progress::Loading) {
        return Vec::new();
    }
    let is_new = |form: &ReadinessOfForm| form.progress == Progress::Ready && !form.is_announced;
    forms.iter().enumerate().filter(|(_, form)| is_new(form)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(progress: Progress, is_announced: bool) -> ReadinessOfForm {
        ReadinessOfForm { progress, is_announced }
    }

    #[test]
    fn all_forms_are_told_together_once_each_is_ready_or_has_ended() {
        let (ready, loading, ended) =
            (form(Progress::Ready, false), form(Progress::Loading, false), form(Progress::Ended, false));
        assert_eq!(select_announced(&[ready, loading], false), [0_usize; 0]);
        assert_eq!(select_announced(&[ready, ended, ready], false), [0, 2]);
        assert_eq!(select_announced(&[ready], true), [0_usize; 0], "the other brands are not known yet");
        assert_eq!(select_announced(&[ended], false), [0_usize; 0]);
    }

    #[test]
    fn forms_of_later_are_told_without_the_earlier_ones() {
        let old = form(Progress::Ready, true);
        assert_eq!(select_announced(&[old], false), [0_usize; 0]);
        assert_eq!(select_announced(&[old, form(Progress::Ready, false)], false), [1]);
        assert_eq!(select_announced(&[old, form(Progress::Loading, false)], false), [0_usize; 0]);
    }
}
