//! The values of options. Each function returns `None` for what is not such a value.

use proc_macro2::{Group, Span, TokenStream, TokenTree};

use crate::tokens::Tokens;

/// Of whole numbers.
const SUFFIXES: [&str; 12] = ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

/// What stands between the quotes of a string literal. Escapes are left as they are: no option has a use for one.
pub(super) fn string(value: TokenStream) -> Option<String> {
    let text = literal(value)?;
    Some(text.trim_start_matches('r').trim_matches('#').strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

/// A whole number, in any of the ways in which the language lets one write it. Its type does not matter.
pub(super) fn number(value: TokenStream) -> Option<usize> {
    let text = literal(value)?.replace('_', "");
    let (radix, digits) = match text.get(..2) {
        Some("0x") => (16, &text[2..]),
        Some("0o") => (8, &text[2..]),
        Some("0b") => (2, &text[2..]),
        _ => (10, &*text),
    };
    // No suffix begins with a digit, of any radix.
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if !suffix.is_empty() && !SUFFIXES.contains(&suffix) {
        return None;
    }
    usize::from_str_radix(digits, radix).ok()
}

/// A path such as `my_rt`, `::my_rt` or `crate::rt`, or a string with one in it.
pub(super) fn path(value: TokenStream) -> Option<TokenStream> {
    let path = match string(value.clone()) {
        Some(text) => located_at(value.into_iter().next()?.span(), text.parse().ok()?),
        None => value,
    };
    let mut tokens = Tokens::new(path.clone());
    if tokens.is_operator([':', ':']) {
        tokens.read(2);
    }
    while let Some(TokenTree::Ident(_)) = tokens.next() {
        if tokens.is_empty() {
            return Some(path);
        }
        if !tokens.is_operator([':', ':']) {
            break;
        }
        tokens.read(2);
    }
    None
}

fn literal(value: TokenStream) -> Option<String> {
    let mut tokens = value.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Literal(literal)), None) => Some(literal.to_string()),
        _ => None,
    }
}

fn located_at(span: Span, tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .map(|token| {
            let mut token = match token {
                TokenTree::Group(group) => Group::new(group.delimiter(), located_at(span, group.stream())).into(),
                token => token,
            };
            token.set_span(span);
            token
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{number, path, string};

    #[test]
    fn numbers() {
        let read = |text: &str| number(text.parse().unwrap());
        assert_eq!(read("4"), Some(4));
        assert_eq!(read("1_0usize"), Some(10));
        assert_eq!([read("0x1F"), read("0o17"), read("0b101")], [Some(31), Some(15), Some(5)]);
        assert_eq!(
            [read("4u8"), read("0x1Fi32"), read("0o17_usize"), read("0b1u8")],
            [Some(4), Some(31), Some(15), Some(1)]
        );
        assert_eq!([read("-1"), read("1.5"), read("\"4\""), read("four"), read("4f32"), read("4u7")], [None; 6]);
    }

    #[test]
    fn strings() {
        let read = |text: &str| string(text.parse().unwrap());
        assert_eq!(read("\"name\""), Some("name".to_owned()));
        assert_eq!(read("r#\"name\"#"), Some("name".to_owned()));
        assert_eq!([read("name"), read("7"), read("'n'"), read("\"a\" \"b\"")], [const { None }; 4]);
    }

    #[test]
    fn paths() {
        let read = |text: &str| path(text.parse().unwrap()).map(|path| path.to_string().replace(' ', ""));
        for good in ["my_rt", "::my_rt", "crate::a::rt", "self::rt"] {
            assert_eq!(read(good).as_deref(), Some(good));
        }
        assert_eq!(read("\"a::b\"").as_deref(), Some("a::b"));
        for bad in ["3", "a::", "a b", "a.b", "::", "Vec<u8>", "\"\""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
