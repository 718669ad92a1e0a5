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
}

/// A button that submits nothing.
pub struct Button {
    node: NodeRef,
    listener: Option<Listener>,
}

/// A press of a button.
pub struct Press;

impl Component for Button {
    type Message = Press;
    type Properties = ButtonProperties;

    fn create(_: &Context<Self>) -> Self {
        Self { node: NodeRef::default(), listener: None }
    }

    fn update(&mut self, context: &Context<Self>, _: Press) -> bool {
        context.props().on_press.emit(());
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
            let link = context.link().clone();
            self.listener = Some(Listener::new(&node, "click", move |_| link.send_message(Press)));
        }
    }
}
