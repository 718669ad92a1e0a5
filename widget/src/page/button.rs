//! A button whose press does not go through yew, whose listeners are lost when a page moves the button.

use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::Listener;

/// Properties of a button.
#[derive(Clone, PartialEq, Properties)]
pub struct ButtonProperties {
    /// Its classes.
    pub class: AttrValue,
    /// Its text.
    pub text: AttrValue,
    /// Its `data-action`, which scripts look for.
    #[prop_or_default]
    pub action: Option<AttrValue>,
    /// Called when it is pressed.
    pub on_press: Callback<()>,
    /// Called when it loses the focus.
    #[prop_or_default]
    pub on_leave: Callback<()>,
}

/// A button that submits nothing.
pub struct Button {
    node: NodeRef,
    listeners: Vec<Listener>,
}

/// An event of a button.
pub enum ButtonEvent {
    /// It was pressed.
    Pressed,
    /// It lost the focus.
    Left,
}

impl Component for Button {
    type Message = ButtonEvent;
    type Properties = ButtonProperties;

    fn create(_: &Context<Self>) -> Self {
        Self { node: NodeRef::default(), listeners: Vec::new() }
    }

    fn update(&mut self, context: &Context<Self>, message: ButtonEvent) -> bool {
        match message {
            ButtonEvent::Pressed => context.props().on_press.emit(()),
            ButtonEvent::Left => context.props().on_leave.emit(()),
        }
        false
    }

    fn view(&self, context: &Context<Self>) -> Html {
        let given = context.props();
        html! {
            <button ref={self.node.clone()} type="button" ~className={given.class.as_str()} data-action={given.action.clone()}>
                { given.text.clone() }
            </button>
        }
    }

    fn rendered(&mut self, context: &Context<Self>, is_first: bool) {
        if let Some(node) = self.node.cast::<HtmlElement>().filter(|_| is_first) {
            let (pressed, left) = (context.link().clone(), context.link().clone());
            self.listeners = vec![
                Listener::new(&node, "click", move |_| pressed.send_message(ButtonEvent::Pressed)),
                Listener::new(&node, "blur", move |_| left.send_message(ButtonEvent::Left)),
            ];
        }
    }
}
