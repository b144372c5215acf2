//! [`Json`]: writes JSON, into a string.
//!
//! A writer of its own, because all that is needed here is to escape strings and to put commas: `serde` would be a
//! dependency of every program on rt. (The tests read it back with `serde_json`.)

use std::fmt::{Display, Write};

/// A JSON text that is being written.
#[derive(Default)]
pub(crate) struct Json {
    text: String,
    /// Whether the next member or element needs a comma before it.
    needs_comma: bool,
}

impl Json {
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.needs_comma, true) {
            self.text.push(',');
        }
    }

    /// An element of an array, or the text itself: an object.
    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.nested('{', '}', members);
    }

    fn nested(&mut self, open: char, close: char, inner: impl FnOnce(&mut Self)) {
        self.separate();
        self.text.push(open);
        self.needs_comma = false;
        inner(self);
        self.text.push(close);
        self.needs_comma = true;
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.quoted(key);
        self.text.push(':');
        self.needs_comma = false;
    }

    /// A member that is an object.
    pub(crate) fn object_at(&mut self, key: &str, members: impl FnOnce(&mut Self)) {
        self.key(key);
        self.object(members);
    }

    /// A member that is an array, with an element for each item.
    pub(crate) fn array_at<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut element: impl FnMut(&mut Self, T),
    ) {
        self.key(key);
        self.nested('[', ']', |json| items.into_iter().for_each(|item| element(json, item)));
    }

    /// A member that is a whole number.
    pub(crate) fn number(&mut self, key: &str, number: impl Into<u64>) {
        self.key(key);
        self.raw(number.into());
    }

    /// A member that is true or false.
    pub(crate) fn bool(&mut self, key: &str, value: bool) {
        self.key(key);
        self.raw(value);
    }

    /// A member that is a string.
    pub(crate) fn string(&mut self, key: &str, value: impl Display) {
        self.key(key);
        self.quoted(value);
        self.needs_comma = true;
    }

    /// A member that is a string, or null.
    pub(crate) fn optional_string(&mut self, key: &str, value: Option<impl Display>) {
        match value {
            Some(value) => self.string(key, value),
            None => {
                self.key(key);
                self.raw("null");
            }
        }
    }

    /// An element that is a whole number.
    pub(crate) fn element(&mut self, number: u64) {
        self.separate();
        self.raw(number);
    }

    fn raw(&mut self, value: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "{value}");
        self.needs_comma = true;
    }

    fn quoted(&mut self, value: impl Display) {
        self.text.push('"');
        let _ = write!(Escaped(&mut self.text), "{value}");
        self.text.push('"');
    }
}

/// Escapes what is written to it.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, mut text: &str) -> std::fmt::Result {
        while let Some(place) = text.find(is_special) {
            let (plain, rest) = text.split_at(place);
            self.0.push_str(plain);
            let mut characters = rest.chars();
            match characters.next() {
                Some('"') => self.0.push_str("\\\""),
                Some('\\') => self.0.push_str("\\\\"),
                Some(other) => write!(self.0, "\\u{:04x}", other as u32)?,
                None => {}
            }
            text = characters.as_str();
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// What must be escaped. A line of an event ends at some of these, so they must not be in the text as they are.
fn is_special(character: char) -> bool {
    matches!(character, '"' | '\\' | '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_back_as_it_was_written() {
        let hostile = "quote \" backslash \\ newline \n tab \t nul \0 bell \u{7} <script> \u{2028} ü 𝄞";
        let mut json = Json::default();
        json.object(|json| {
            json.string("text", hostile);
            json.number("number", u64::MAX);
            json.bool("yes", true);
            json.optional_string("none", None::<&str>);
            json.optional_string("some", Some("x"));
            json.object_at("empty", |_| {});
            json.array_at("array", 0..3_u64, |json, n| json.element(n));
            json.array_at("objects", [1_u64, 2], |json, n| json.object(|json| json.number("n", n)));
            json.string("last", "");
        });
        let text = json.into_text();
        assert!(!text.contains('\n'), "one line: {text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["text"], hostile);
        assert_eq!(read["number"], u64::MAX);
        assert_eq!(read["yes"], true);
        assert!(read["none"].is_null());
        assert_eq!(read["some"], "x");
        assert_eq!(read["array"], serde_json::json!([0, 1, 2]));
        assert_eq!(read["objects"][1]["n"], 2);
        assert_eq!(read["last"], "");
    }
}
