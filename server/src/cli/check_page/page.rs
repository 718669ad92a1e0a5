//! A merchant's page as it was served, and the part of the gateway that the page uses.

use axum::http::{HeaderMap, header};
use serde_json::Value;
use tillgate_net::outgoing::FetchedDocument;
use url::Url;

use super::document::{Document, Element};
use super::source_list::Policy;

/// Name of the loader in its address.
pub(super) const LOADER: &str = "paymentWidgets.js";

/// A page with its headers.
#[derive(Debug)]
pub(super) struct ServedPage {
    /// Address after redirects.
    pub(super) url: Url,
    headers: HeaderMap,
    /// The parsed page.
    pub(super) document: Document,
    /// Enforced policies of the headers and of the head.
    pub(super) policies: Vec<Policy>,
    /// Address by which the page's others are resolved.
    base: Url,
    /// The scripts of the form: the place among the elements, and the length of the gateway's address. They are looked
    /// for once, because a hostile page may have very many scripts.
    loaders: Vec<(usize, usize)>,
}

/// A script of the form in a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoaderTag<'a> {
    /// The element.
    pub(super) element: &'a Element,
    /// Length of the gateway's address at the beginning of the script's, in bytes.
    base_length: usize,
}

impl ServedPage {
    /// Parses a page.
    pub(super) fn new(fetched: FetchedDocument) -> Self {
        let document = Document::parse(&fetched.body);
        let mut policies = Vec::new();
        for value in fetched.headers.get_all(header::CONTENT_SECURITY_POLICY) {
            policies.extend(Policy::parse_list(&String::from_utf8_lossy(value.as_bytes()), "the header"));
        }
        let head = document.elements.iter().take_while(|element| element.name != "body");
        let is_policy = |element: &&Element| {
            let kind = element.attribute("http-equiv").unwrap_or_default();
            element.name == "meta" && kind.trim().eq_ignore_ascii_case("content-security-policy")
        };
        for element in head.filter(is_policy) {
            policies.extend(Policy::parse_list(element.attribute("content").unwrap_or_default(), "a <meta>"));
        }
        let base = document.elements("base").find_map(|element| element.attribute("href"));
        let base = base.and_then(|href| fetched.url.join(href.trim()).ok()).unwrap_or_else(|| fetched.url.clone());
        let mut page =
            Self { url: fetched.url, headers: fetched.headers, document, policies, base, loaders: Vec::new() };
        let scripts = page.document.elements.iter().enumerate().filter(|(_, element)| element.name == "script");
        let find_loader = |(at, element)| Some((at, find_base(&page.loader_url(element)?)?));
        page.loaders = scripts.filter_map(find_loader).collect();
        page
    }

    /// Returns the values of a header, joined with commas as browsers do; empty if the page does not have it.
    pub(super) fn header(&self, name: &str) -> String {
        let values = self.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        values.collect::<Vec<_>>().join(", ")
    }

    /// Resolves an address in the page, by the first `base` if there is one. `None` if it is no address.
    pub(super) fn resolve(&self, address: &str) -> Option<Url> {
        self.base.join(address.trim()).ok()
    }

    /// Returns the scripts of the form, in the order of the page.
    pub(super) fn loader_tags(&self) -> Vec<LoaderTag<'_>> {
        let find_tag = |(at, base_length): &(usize, usize)| {
            Some(LoaderTag { element: self.document.elements.get(*at)?, base_length: *base_length })
        };
        self.loaders.iter().filter_map(find_tag).collect()
    }

    /// Returns the address of a script element.
    pub(super) fn loader_url(&self, element: &Element) -> Option<Url> {
        self.resolve(element.attribute("src")?)
    }

    /// Returns the gateway's address that a script of the form names, with a trailing slash.
    pub(super) fn gateway_base(&self, tag: LoaderTag<'_>) -> Option<Url> {
        let url = self.loader_url(tag.element)?;
        url.as_str().get(..tag.base_length)?.parse().ok()
    }

    /// Returns true if a script in the page's markup contains a text.
    pub(super) fn has_script_text(&self, text: &str) -> bool {
        self.document.elements("script").any(|script| script.text.contains(text))
    }
}

/// Returns the length of the gateway's address in that of a loader, up to the slash before `v1`. `None` for another
/// address.
fn find_base(url: &Url) -> Option<usize> {
    let path_start = url.as_str().len() - url[url::Position::BeforePath..].len();
    let folder = url.path().strip_suffix(LOADER)?.strip_suffix('/')?;
    let (before, version) = folder.rsplit_once("/v")?;
    let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    is_version.then_some(path_start + before.len() + 1)
}

/// The gateway of a page.
#[derive(Debug)]
pub(super) struct PageGateway {
    /// Its public address, with a trailing slash.
    pub(super) base: Url,
    /// The answer about its scripts; the reason if there is none.
    pub(super) inventory: Result<Inventory, String>,
}

/// The facts about a gateway's form that the checks use.
#[derive(Debug, Clone, Default)]
pub(super) struct Inventory {
    /// Value for `integrity` of the loader.
    pub(super) integrity: String,
    /// Id of the build.
    pub(super) build: String,
    /// Address of the card frames, if they have a host of their own.
    pub(super) fields: Option<Url>,
}

impl Inventory {
    /// Reads the answer of `/v1/scripts`. `None` if it is another document.
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let answer: Value = serde_json::from_slice(body).ok()?;
        let scripts = answer["scripts"].as_array()?;
        let loader = scripts.iter().find(|script| script["path"] == LOADER)?;
        Some(Self {
            integrity: loader["integrity"].as_str()?.to_owned(),
            build: answer["build"].as_str()?.to_owned(),
            fields: answer["fieldsUrl"].as_str().and_then(|address| address.parse().ok()),
        })
    }
}

impl PageGateway {
    /// Returns an address of the gateway.
    pub(super) fn address(&self, path: &str) -> Url {
        self.base.join(path).unwrap_or_else(|_| self.base.clone())
    }

    /// Returns the gateway's origin as a source of a policy.
    pub(super) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Returns the address of the card frames.
    pub(super) fn frames(&self) -> &Url {
        let fields = self.inventory.as_ref().ok().and_then(|inventory| inventory.fields.as_ref());
        fields.unwrap_or(&self.base)
    }

    /// Returns the script tag that a page needs.
    pub(super) fn script_line(&self) -> String {
        let integrity = self.inventory.as_ref().map_or("{integrity}", |inventory| &inventory.integrity);
        script_line(self.base.as_str(), integrity)
    }
}

/// Returns the script tag of a gateway, with a trailing slash in its address.
pub(super) fn script_line(base: &str, integrity: &str) -> String {
    format!(
        "<script src=\"{base}v1/{LOADER}?checkoutId={{id}}\" integrity=\"{integrity}\" crossorigin=\"anonymous\"></script>"
    )
}

/// A page with everything that was found out about it.
#[derive(Debug)]
pub(super) struct CheckedPage {
    /// The page.
    pub(super) page: ServedPage,
    /// The gateway: that of the option, or that of the page's script. `None` if neither names one.
    pub(super) gateway: Option<PageGateway>,
    /// The answer for the address of the page's script; the reason if there is none. `None` if it was not asked for.
    pub(super) loader: Option<Result<FetchedDocument, String>>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use axum::body::Bytes;
    use axum::http::{HeaderName, StatusCode};

    use super::*;
    use crate::cli::check_page::finding::Finding;
    use crate::cli::check_page::rules::find_faults;
    use tillgate_net::page_headers::integrity_value;

    /// Content of the loader in these tests.
    pub(in crate::cli::check_page) const CONTENT: &[u8] = b"the loader";

    fn fetched(url: &str, headers: &[(&'static str, &str)], body: &[u8]) -> FetchedDocument {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        let body = Bytes::copy_from_slice(body);
        FetchedDocument { url: url.parse().unwrap(), status: StatusCode::OK, headers: headers.collect(), body }
    }

    /// Returns the faults of a page at https://shop.example/pay, whose gateway is https://pay.example/.
    pub(in crate::cli::check_page) fn check(headers: &[(&'static str, &str)], body: &str) -> Vec<Finding> {
        let inventory = Inventory { integrity: integrity_value(CONTENT), build: "b1".to_owned(), fields: None };
        let page = ServedPage::new(fetched("https://shop.example/pay", headers, body.as_bytes()));
        let gateway = PageGateway { base: "https://pay.example/".parse().unwrap(), inventory: Ok(inventory) };
        let answer = fetched("https://pay.example/", &[("access-control-allow-origin", "*")], CONTENT);
        find_faults(&CheckedPage { page, gateway: Some(gateway), loader: Some(Ok(answer)) })
    }

    /// Returns the names of the faults of a page.
    pub(in crate::cli::check_page) fn kinds(headers: &[(&'static str, &str)], body: &str) -> Vec<String> {
        check(headers, body).iter().map(|finding| finding.kind.name()).collect()
    }

    /// Returns a page without a fault, in which the second text takes the place of the first.
    pub(in crate::cli::check_page) fn page_with(part: &str, replacement: &str) -> String {
        let page = format!(
            "<!doctype html><html lang=\"en\"><head><meta name=\"viewport\" content=\"width=device-width\"></head><body>\
             <script>var wpwlOptions = {{}};</script>\
             <form class=\"paymentWidgets\" action=\"https://shop.example/result\" data-brands=\"VISA MASTER\"></form>\
             <script src=\"https://pay.example/v1/paymentWidgets.js?checkoutId=1\" integrity=\"{}\" \
             crossorigin=\"anonymous\"></script></body></html>",
            integrity_value(CONTENT)
        );
        assert!(page.contains(part), "{part}");
        page.replacen(part, replacement, 1)
    }

    #[test]
    fn a_page_as_the_documents_show_it_has_no_fault() {
        assert_eq!(kinds(&[], &page_with("", "")), [""; 0]);
        let policy = "default-src 'none'; script-src https://pay.example 'unsafe-inline' 'wasm-unsafe-eval'; \
            style-src https://pay.example; frame-src https://pay.example";
        assert_eq!(kinds(&[("content-security-policy", policy)], &page_with("", "")), [""; 0]);
    }

    #[test]
    fn the_gateway_is_the_part_before_the_version_in_the_address_of_the_loader() {
        for (address, base) in [
            ("https://pay.example/v1/paymentWidgets.js?checkoutId=1", Some("https://pay.example/")),
            ("https://example.com/pay/v12/paymentWidgets.js", Some("https://example.com/pay/")),
            ("/v1/paymentWidgets.js", Some("https://shop.example/")),
            ("https://pay.example/paymentWidgets.js", None),
            ("https://pay.example/v/paymentWidgets.js", None),
            ("https://pay.example/v1/paymentwidgets.js", None),
            ("https://pay.example/?/v1/paymentWidgets.js", None),
        ] {
            let body = format!("<script src=\"{address}\"></script>");
            let page = ServedPage::new(fetched("https://shop.example/pay", &[], body.as_bytes()));
            let found = page.loader_tags().first().and_then(|tag| page.gateway_base(*tag));
            assert_eq!(found.as_ref().map(Url::as_str), base, "{address}");
        }
    }

    #[test]
    fn an_answer_that_is_no_inventory_is_none() {
        for body in ["", "[]", "{}", r#"{"scripts":[]}"#, r#"{"scripts":[{"path":"paymentWidgets.js"}],"build":"x"}"#] {
            assert!(Inventory::parse(body.as_bytes()).is_none(), "{body}");
        }
    }
}
