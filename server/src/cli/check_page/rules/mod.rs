//! The rules for pages with the form. Each file has those of one part of a page.

mod form;
mod head;
mod headers;
mod policy;
mod script;

use super::finding::{Finding, Findings};
use super::page::CheckedPage;

/// Returns the faults of a page, those of the script first.
pub(super) fn find_faults(checked: &CheckedPage) -> Vec<Finding> {
    let mut findings = Findings::default();
    script::check_script(checked, &mut findings);
    form::check_forms(&checked.page, &mut findings);
    policy::check_policies(checked, &mut findings);
    headers::check_headers(checked, &mut findings);
    head::check_head(&checked.page, &mut findings);
    findings.into_vec()
}
