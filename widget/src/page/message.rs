//! A message in the place of a form that has no yew app.

use std::rc::Rc;

use super::dom;
use super::handle::FormHandle;
use super::session::Session;

/// Shows a text in the container of a form, which ends.
pub fn show_in_place(session: &Rc<Session>, form: &Rc<FormHandle>, text: &str) {
    let message = dom::make("div", "wpwl-message wpwl-has-error", &[("role", "alert")], "");
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            let _ = message.append_child(&dom::make("br", "", &[], ""));
        }
        let _ = message.append_with_str_1(line);
    }
    form.container.replace_children_with_node_1(&message);
    session.end(form);
}
