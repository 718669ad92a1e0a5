//! The form in pages that React and Vue draw: mounted twice by the strict mode, drawn again around it, taken away and
//! brought back.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER};
use tillgate_tests::{Browser, browse};

use crate::{APPROVED, Stage};

/// What both pages share: a component brings the form and the script, and takes them away again.
const BRING: &str = "
    window.bring = (place, { gateway, id }) => {
        const form = Object.assign(document.createElement('form'), { className: 'paymentWidgets', action: '/result?own=2' });
        form.dataset.brands = 'VISA MASTER';
        place.append(form);
        const script = Object.assign(document.createElement('script'), { src: gateway + 'v1/paymentWidgets.js?checkoutId=' + id });
        document.head.append(script);
        return () => { if (window.wpwl) wpwl.unload(); script.remove(); place.replaceChildren(); };
    };";

/// React in its strict mode; the state of the page around the form changes, and the form goes and comes.
const REACT: &str = "
    const { createElement: h, useEffect, useRef, useState, StrictMode } = React;
    const Form = ({ checkout }) => {
        const place = useRef(null);
        useEffect(() => { witness.note('mounted', ''); return bring(place.current, checkout); }, [checkout]);
        return h('div', { ref: place });
    };
    const Page = () => {
        const [state, set] = useState({ count: 0, checkout: arguments[0] });
        window.draw = (change) => set((now) => ({ ...now, ...change }));
        return h('section', { className: 'page-' + state.count }, h('p', { id: 'count' }, state.count),
            state.checkout && h(Form, { checkout: state.checkout }));
    };
    ReactDOM.createRoot(document.querySelector('main')).render(h(StrictMode, null, h(Page)));";

const VUE: &str = "
    const { h, ref, reactive, onMounted, onBeforeUnmount, createApp } = Vue;
    const Form = { props: ['checkout'], setup(given) {
        const place = ref(null);
        let take;
        onMounted(() => { witness.note('mounted', ''); take = bring(place.value, given.checkout); });
        onBeforeUnmount(() => take());
        return () => h('div', { ref: place });
    } };
    const state = reactive({ count: 0, checkout: arguments[0] });
    window.draw = (change) => Object.assign(state, change);
    createApp({ render: () => h('section', { class: 'page-' + state.count }, [h('p', { id: 'count' }, state.count),
        state.checkout && h(Form, { checkout: state.checkout, key: state.checkout.id })]) }).mount(document.querySelector('main'));";

/// The pages, by what their script is called, with how often a form is mounted at its first drawing.
const PAGES: [(&str, &[&str], &str, usize); 2] =
    [("React", &["/react.js", "/react-dom.js"], REACT, 2), ("Vue", &["/vue.js"], VUE, 1)];

/// Opens a page that `framework` draws, with a form for the checkout.
async fn open(stage: &Stage, browser: &Browser, scripts: &[&str], page: &str) -> anyhow::Result<()> {
    browser.goto(format!("{}result", stage.site.public)).await?;
    browser.execute("document.body.append(document.createElement('main'))", vec![]).await?;
    for script in scripts {
        let load = "const [src, done] = arguments; const it = document.createElement('script');
            Object.assign(it, { src, onload: done, onerror: done }); document.head.append(it);";
        browser.execute_async(load, vec![json!(script)]).await?;
    }
    let checkout = json!({ "gateway": stage.gateway.public(), "id": stage.checkout.id() });
    browser.execute(format!("{BRING} window.started = arguments[0]; {page}"), vec![checkout]).await?;
    Ok(())
}

/// Has the page drawn with a change of its state, and waits until it is.
async fn draw(browser: &Browser, change: &str, count: u32) -> anyhow::Result<()> {
    browser.execute(format!("draw({{ count: {count}, {change} }})"), vec![]).await?;
    browser.until(&format!("document.querySelector('.page-{count} > #count').textContent === '{count}'")).await
}

#[tokio::test]
async fn in_pages_of_react_and_vue_the_form_stands_once_outlives_new_drawings_and_pays() -> anyhow::Result<()> {
    for (name, scripts, page, mounts) in PAGES {
        let stage = Stage::new().await?;
        browse(move |browser| async move {
            open(&stage, &browser, scripts, page).await?;
            let form = CardForm::ready(&browser).await?;
            assert_eq!(browser.seen_of("mounted").await?.len(), mounts, "{name}");
            assert_eq!(
                browser.value("document.querySelectorAll('.wpwl-form, .paymentWidgets').length").await?,
                1,
                "{name}"
            );
            form.fill().await?;
            for count in 1..4 {
                draw(&browser, "", count).await?;
            }
            assert_eq!(form.inner_value(NUMBER).await?, "4200 0000 0000 0000", "{name}: what was typed stays");
            form.pay().await?;
            browser.until("location.search.startsWith('?own=2')").await?;
            assert_eq!((stage.submits(), stage.code().await?.as_str()), (1, APPROVED), "{name}");
            assert_eq!(browser.seen_of("error").await?, Vec::<String>::new(), "{name}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_form_that_react_or_vue_takes_away_is_gone_and_the_next_one_is_another_checkouts() -> anyhow::Result<()> {
    for (name, scripts, page, _) in PAGES {
        let stage = Stage::new().await?;
        let second = stage.merchant.checkout(&[("amount", "17.00")]).await?;
        browse(move |browser| async move {
            open(&stage, &browser, scripts, page).await?;
            // Before anything of the form has come, and after.
            draw(&browser, "checkout: null", 1).await?;
            draw(&browser, "checkout: started", 2).await?;
            CardForm::ready(&browser).await?.number("4200").await?;
            draw(&browser, "checkout: null", 3).await?;
            let left = "[...document.querySelectorAll('[class*=wpwl], iframe, .paymentWidgets')].map(it => it.outerHTML).join()";
            assert_eq!(browser.value(left).await?, "", "{name}");
            assert_eq!(browser.value("typeof window.wpwl").await?, "undefined", "{name}");
            // Another checkout in the place of the first, without an unmount between.
            draw(&browser, "checkout: started", 4).await?;
            CardForm::ready(&browser).await?;
            draw(&browser, &format!("checkout: {{ ...started, id: '{}' }}", second.id()), 5).await?;
            browser.until(&format!("window.wpwl && wpwl.checkout && wpwl.checkout.id === '{}'", second.id())).await?;
            let form = CardForm::ready(&browser).await?;
            assert_eq!(form.inner_value(NUMBER).await?, "", "{name}");
            assert_eq!(browser.value("document.querySelectorAll('.wpwl-form').length").await?, 1, "{name}");
            form.fill().await?;
            form.pay().await?;
            browser.query(By::Css("h1#result")).first().await?;
            browser.until("location.search.startsWith('?own=2')").await?;
            let status = stage.merchant.status(second.id()).await?;
            assert_eq!((status.code(), status.json["amount"].as_str()), (APPROVED, Some("17.00")), "{name}");
            assert_eq!((stage.submits(), stage.gateway.submits(second.id())), (0, 1), "{name}");
            assert_eq!(browser.seen_of("error").await?, Vec::<String>::new(), "{name}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
