//! `/`: the page for a browser, `page/index.html`. It loads nothing else, from nowhere.

use crate::response::Response;

const PAGE: &str = include_str!("../page/index.html");

/// The page, with a policy by which the browser runs only the script and the style that are in it, talks only to this
/// server, and refuses a script that makes markup of text. The two are known by a number that is drawn each time.
pub(crate) fn response() -> Response {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        return Response::failure();
    }
    let nonce: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
         connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'"
    );
    let page = PAGE.replace("nonce=\"NONCE\"", &format!("nonce=\"{nonce}\""));
    Response::ok("text/html; charset=utf-8", page).with_policy(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        for needle in ["https://", "src=", "@import", "url(", "innerHTML", "insertAdjacent", "style=", "eval("] {
            assert!(!PAGE.contains(needle), "{needle}");
        }
        // The name space of SVG is no address that is loaded.
        assert_eq!(PAGE.matches("http://").count(), PAGE.matches("http://www.w3.org/2000/svg").count());
        assert_eq!(PAGE.matches("<script").count(), PAGE.matches("<script nonce=\"NONCE\"").count());
        assert_eq!(PAGE.matches("<style").count(), PAGE.matches("<style nonce=\"NONCE\"").count());
    }

    #[test]
    fn each_answer_has_a_number_of_its_own() {
        let (one, other) = (response().into_bytes(false), response().into_bytes(false));
        assert_ne!(one, other);
        let text = String::from_utf8(one).unwrap();
        let (_, nonce) = text.split_once("script-src 'nonce-").unwrap();
        let nonce = &nonce[..32];
        assert_eq!(text.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        assert!(!text.contains("NONCE"));
    }
}
