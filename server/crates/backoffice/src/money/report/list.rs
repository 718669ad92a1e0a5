//! The list of reports.

use axum::response::Response;
use maud::html;
use tillgate_domain::access::role::Permission;

use super::ReportKind;
use crate::BASE;
use crate::components::table::{Column, Table};
use crate::layout::page::Section;
use crate::money::areas::render_areas;
use crate::office::Office;

/// Path of the list.
const PATH: &str = "/money/reports";

/// Handles `GET /money/reports`.
pub(in crate::money) async fn show_reports(office: Office) -> Response {
    let texts = office.texts;
    let title = texts.get("reports.title");
    let columns = vec![Column::new(texts.get("reports.report")), Column::new(texts.get("reports.shows"))];
    let mut rows: Vec<_> = ReportKind::ALL
        .iter()
        .map(|report| {
            let name = format!("report_name.{}", report.name());
            let line = format!("report_line.{}", report.name());
            vec![html! { a href={ (BASE) (report.path()) } { (texts.get(&name)) } }, html! { (texts.get(&line)) }]
        })
        .collect();
    if !office.entities_with(Permission::ViewPayments).is_empty() {
        rows.push(vec![
            html! { a href={ (BASE) "/payments" } { (texts.get("report_name.transactions")) } },
            html! { (texts.get("report_line.transactions")) },
        ]);
    }
    let main = html! {
        div.title { h1 { (title) } }
        div.card {
            div.filter { (render_areas(texts, PATH)) }
            (Table { caption: title, hides_caption: true, is_linked: true, columns, rows }.render())
        }
    };
    office.show_page(Section::Money, title, main)
}
