//! The parts of the pages about users: table, forms, and the details of a user.

use maud::{Markup, html};
use tillgate_domain::access::role::{Permission, Reach, Role, RoleGrant};
use tillgate_domain::access::user::{User, UserState};

use super::fields::Fields;
use super::inputs::Input;
use crate::BASE;
use crate::components::field::{Choice, Field};
use crate::components::table::{Column, Table};
use crate::office::Office;

/// Renders the list of users.
pub(super) fn user_table(office: &Office, users: &[User]) -> Markup {
    let texts = office.texts;
    let row = |user: &User| {
        vec![
            html! { a href={ (BASE) "/users/" (user.id) } { (user.name) } },
            html! { (user.mail) },
            html! { @for grant in user.permissions.grants() { div { (describe_grant(office, grant)) } } },
            html! { (texts.get(&format!("users.{}", user.state.as_str()))) },
        ]
    };
    let columns = ["users.name", "sign_in.mail", "users.roles", "users.state"];
    let table = Table {
        caption: texts.get("users.title"),
        hides_caption: true,
        is_linked: true,
        columns: columns.iter().map(|key| Column::new(texts.get(key))).collect(),
        rows: users.iter().map(row).collect(),
    };
    table.render()
}

/// Describes a role with the part of the tree on which it holds.
fn describe_grant(office: &Office, grant: &RoleGrant) -> String {
    let texts = office.texts;
    let role = texts.get(role_key(grant.role));
    format!("{role} · {}", describe_reach(office, &grant.reach))
}

fn describe_reach(office: &Office, reach: &Reach) -> String {
    match reach {
        Reach::Gateway => office.texts.get("users.whole_gateway").to_owned(),
        Reach::Entity(id) => {
            let entity = office.state.app.gateway.directory.find_entity(id);
            entity.map_or_else(|| id.to_string(), |entity| format!("{} ({id})", entity.name))
        }
    }
}

/// Returns the key of the text of a role.
fn role_key(role: Role) -> &'static str {
    match role {
        Role::Administrator => "role.administrator",
        Role::Merchant => "role.merchant",
        Role::Analyst => "role.analyst",
        Role::Accountant => "role.accountant",
        Role::Developer => "role.developer",
        Role::Viewer => "role.viewer",
    }
}

/// Renders the fields of a role: the role, and the part of the tree that the administrator may choose.
fn role_fields(office: &Office, sent: &Fields) -> Markup {
    let texts = office.texts;
    let roles: Vec<Choice<'_>> =
        Role::ALL.iter().rev().map(|role| (role.as_str(), texts.get(role_key(*role)))).collect();
    let mut reaches: Vec<(String, String)> = Vec::new();
    if office.signed_in.permissions.allows_everywhere(Permission::ManageUsers) {
        reaches.push((Reach::GATEWAY.to_owned(), texts.get("users.whole_gateway").to_owned()));
    }
    let entities = office.entities_with(Permission::ManageUsers);
    reaches.extend(entities.iter().map(|entity| (entity.id.to_string(), format!("{} ({})", entity.name, entity.id))));
    let reaches: Vec<Choice<'_>> = reaches.iter().map(|(value, text)| (&**value, &**text)).collect();
    html! {
        (Field { name: "role", label: texts.get("users.role"), value: sent.get("role"), ..Field::default() }.select(&roles))
        (Field { name: "reach", label: texts.get("users.reach"), value: sent.get("reach"), ..Field::default() }.select(&reaches))
    }
}

/// Renders the form of a new user.
pub(super) fn creation_form(office: &Office, sent: &Fields) -> Markup {
    let texts = office.texts;
    let input = |name, kind, label| Input {
        name,
        kind,
        label: texts.get(label),
        autocomplete: "off",
        value: sent.get(name),
        ..Input::default()
    };
    html! {
        h2 { (texts.get("users.new")) }
        form action={ (BASE) "/users" } method="post" {
            (input("mail", "email", "sign_in.mail").render())
            (input("name", "text", "users.name").render())
            (role_fields(office, sent))
            button type="submit" { (texts.get("users.create")) }
        }
    }
}

/// Renders the roles of a user and the acts. An administrator does not change the own ones.
pub(super) fn user_details(office: &Office, user: &User, is_self: bool) -> Markup {
    let texts = office.texts;
    let state_text = if user.state == UserState::Disabled { "users.enable" } else { "users.disable" };
    let base = format!("{BASE}/users/{}", user.id);
    html! {
        p { (user.mail) " · " (texts.get(&format!("users.{}", user.state.as_str()))) }
        h2 { (texts.get("users.roles")) }
        ul {
            @for grant in user.permissions.grants() {
                li {
                    (describe_grant(office, grant))
                    @if !is_self {
                        form action={ (base) "/roles" } method="post" {
                            input type="hidden" name="act" value="remove";
                            input type="hidden" name="role" value=(grant.role.as_str());
                            input type="hidden" name="reach" value=(grant.reach.as_str());
                            button.quiet type="submit" { (texts.get("users.remove_role")) }
                        }
                    }
                }
            }
        }
        @if is_self {
            p { (texts.get("users.not_yourself")) }
        } @else {
            form action={ (base) "/roles" } method="post" {
                input type="hidden" name="act" value="add";
                (role_fields(office, &Fields::default()))
                button type="submit" { (texts.get("users.add_role")) }
            }
            h2 { (texts.get("users.access")) }
            form action={ (base) "/state" } method="post" {
                button type="submit" { (texts.get(state_text)) }
            }
            form action={ (base) "/invite" } method="post" {
                p { (texts.get("users.invite_text")) }
                button type="submit" { (texts.get("users.invite")) }
            }
        }
    }
}
