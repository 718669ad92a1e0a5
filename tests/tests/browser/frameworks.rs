//! The form in pages rendered by React and Vue: mounted twice in strict mode, rendered again, unmounted and mounted
//! again.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

/// Shared code of both pages: a component that mounts the form and its script, and unmounts them.
const BRING: &str = "
    window.bring = (place, { gateway, id }) => {
        const form = Object.assign(document.createElement('form'), { className: 'paymentWidgets', action: '/result?own=2' });
        form.dataset.brands = 'VISA MASTER';
        place.append(form);
        const script = Object.assign(document.createElement('script'), { src: gateway + 'v1/paymentWidgets.js?checkoutId=' + id });
        document.head.append(script);
        return () => { if (window.wpwl) wpwl.unload(); script.remove(); place.replaceChildren(); };
    };";

/// React in strict mode. The state of the page around the form changes, and the form is mounted and unmounted.
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

/// The pages: name, scripts, code, and number of mounts at the first rendering.
const PAGES: [(&str, &[&str], &str, usize); 2] =
    [("React", &["/react.js", "/react-dom.js"], REACT, 2), ("Vue", &["/vue.js"], VUE, 1)];

/// Opens a page of the merchant's site, loads these scripts into it, and runs `page`, which renders a form for the
/// fixture's checkout.
async fn open_framework_page(
    fixture: &CheckoutFixture,
    browser: &Browser,
    scripts: &[&str],
    page: &str,
) -> anyhow::Result<()> {
    browser.goto(format!("{}result", fixture.site.public)).await?;
    browser.execute("document.body.append(document.createElement('main'))", vec![]).await?;
    for script in scripts {
        let load = "const [src, done] = arguments; const it = document.createElement('script');
            Object.assign(it, { src, onload: done, onerror: done }); document.head.append(it);";
        browser.execute_async(load, vec![json!(script)]).await?;
    }
    let checkout = json!({ "gateway": fixture.gateway.public_url(), "id": fixture.checkout.id() });
    browser.execute(format!("{BRING} window.started = arguments[0]; {page}"), vec![checkout]).await?;
    Ok(())
}

/// Changes the state of the page, and waits until it is rendered.
async fn render_change(browser: &Browser, change: &str, count: u32) -> anyhow::Result<()> {
    browser.execute(format!("draw({{ count: {count}, {change} }})"), vec![]).await?;
    browser.wait_until(&format!("document.querySelector('.page-{count} > #count').textContent === '{count}'")).await
}

#[tokio::test]
async fn in_pages_of_react_and_vue_the_form_stands_once_outlives_new_drawings_and_pays() -> anyhow::Result<()> {
    for (name, scripts, page, mounts) in PAGES {
        let stage = CheckoutFixture::new().await?;
        run_in_browser(move |browser| async move {
            open_framework_page(&stage, &browser, scripts, page).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            assert_eq!(browser.observed_details("mounted").await?.len(), mounts, "{name}");
            assert_eq!(
                browser.evaluate("document.querySelectorAll('.wpwl-form, .paymentWidgets').length").await?,
                1,
                "{name}"
            );
            form.fill_fields().await?;
            for count in 1..4 {
                render_change(&browser, "", count).await?;
            }
            assert_eq!(form.frame_value(NUMBER_FRAME).await?, "4200 0000 0000 0000", "{name}: what was typed stays");
            form.press_pay_button().await?;
            browser.wait_until("location.search.startsWith('?own=2')").await?;
            assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (1, APPROVED), "{name}");
            assert_eq!(browser.observed_details("error").await?, Vec::<String>::new(), "{name}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_form_that_react_or_vue_takes_away_is_gone_and_the_next_one_is_another_checkouts() -> anyhow::Result<()> {
    for (name, scripts, page, _) in PAGES {
        let stage = CheckoutFixture::new().await?;
        let second = stage.merchant.create_checkout(&[("amount", "17.00")]).await?;
        run_in_browser(move |browser| async move {
            open_framework_page(&stage, &browser, scripts, page).await?;
            // Unmounted before anything of the form has loaded, and after.
            render_change(&browser, "checkout: null", 1).await?;
            render_change(&browser, "checkout: started", 2).await?;
            CardForm::wait_until_ready(&browser).await?.enter_number("4200").await?;
            render_change(&browser, "checkout: null", 3).await?;
            let left = "[...document.querySelectorAll('[class*=wpwl], iframe, .paymentWidgets')].map(it => it.outerHTML).join()";
            assert_eq!(browser.evaluate(left).await?, "", "{name}");
            assert_eq!(browser.evaluate("typeof window.wpwl").await?, "undefined", "{name}");
            // Another checkout replaces the first, without unmounting the component in between.
            render_change(&browser, "checkout: started", 4).await?;
            CardForm::wait_until_ready(&browser).await?;
            render_change(&browser, &format!("checkout: {{ ...started, id: '{}' }}", second.id()), 5).await?;
            browser.wait_until(&format!("window.wpwl && wpwl.checkout && wpwl.checkout.id === '{}'", second.id())).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            assert_eq!(form.frame_value(NUMBER_FRAME).await?, "", "{name}");
            assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-form').length").await?, 1, "{name}");
            form.fill_fields().await?;
            form.press_pay_button().await?;
            browser.query(By::Css("h1#result")).first().await?;
            browser.wait_until("location.search.startsWith('?own=2')").await?;
            let status = stage.merchant.read_status(second.id()).await?;
            assert_eq!((status.result_code(), status.json["amount"].as_str()), (APPROVED, Some("17.00")), "{name}");
            assert_eq!((stage.submit_count(), stage.gateway.submit_count(second.id())), (0, 1), "{name}");
            assert_eq!(browser.observed_details("error").await?, Vec::<String>::new(), "{name}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
