//! Where an expression ends.
//!
//! The commas that matter are those outside of all groups. Few of them belong to an expression, and angle brackets and
//! the parameters of closures are the only places for them: `parse::<A, B>()`, `<A as Into<B, C>>::f`, `x as Map<A, B>`
//! and `|a, b| a + b`. Whether a `<` or `|` opens such a place or is an operator depends only on what stands before it:
//! an operand or not. So the expression is read as operands and operators in turn, without asking what they mean. A
//! wrong expression is read to some end as well, and the compiler will say what is wrong with it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Tokens;

impl Tokens {
    /// Reads an expression: up to a `,`, `;` or `=>` outside of it, the end, or something that cannot go on with it.
    pub(crate) fn expression(&mut self) -> TokenStream {
        self.all_of(|tokens| {
            // At each turn of the loop an operand can follow: here, and behind an operator.
            while !tokens.ends_expression() && tokens.operand() && tokens.operator() {}
        })
    }

    fn ends_expression(&self) -> bool {
        self.is_empty() || self.is_punct(0, ',') || self.is_punct(0, ';') || self.is_operator(['=', '>'])
    }

    /// Reads all that stands before an operand, and the first token of the operand. Returns whether there was one.
    fn operand(&mut self) -> bool {
        while !self.ends_expression() {
            match self.peek(0) {
                Some(TokenTree::Punct(punct)) => match punct.as_char() {
                    '<' => {
                        self.angle_brackets();
                        return true;
                    }
                    '|' => self.closure_parameters(),
                    // An attribute, whose brackets are not an operand.
                    '#' => drop(self.read(2)),
                    // A label, and the colon behind it if the operand is a loop.
                    '\'' => {
                        self.read(2);
                        if self.is_punct(0, ':') {
                            self.read(1);
                        }
                    }
                    _ => drop(self.read(1)),
                },
                Some(TokenTree::Ident(word)) if is_prefix(&word.to_string()) => drop(self.read(1)),
                Some(TokenTree::Ident(raw)) if raw == "raw" && (self.is_word(1, "const") || self.is_word(1, "mut")) => {
                    self.read(2);
                }
                _ => {
                    self.read(1);
                    return true;
                }
            }
        }
        false
    }

    /// Reads all that can stand behind an operand, and one operator. Returns whether there was one.
    fn operator(&mut self) -> bool {
        while !self.ends_expression() {
            match self.peek(0) {
                Some(TokenTree::Punct(punct)) => match punct.as_char() {
                    '?' => drop(self.read(1)),
                    // A macro: `vec![]`.
                    '!' if matches!(self.peek(1), Some(TokenTree::Group(_))) => drop(self.read(2)),
                    ':' if self.is_operator([':', ':']) => {
                        self.read(2);
                        if !self.is_punct(0, '<') {
                            return true;
                        }
                        self.angle_brackets();
                    }
                    '|' if self.is_operator(['|', '|']) => {
                        self.read(2);
                        return true;
                    }
                    '<' if self.is_operator(['<', '<']) => {
                        self.read(2);
                        return true;
                    }
                    ':' | '#' | '\'' => return false,
                    _ => {
                        self.read(1);
                        return true;
                    }
                },
                // Arguments, an index, the fields of a struct, the body of an `if`.
                Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::None => drop(self.read(1)),
                Some(TokenTree::Ident(word)) if word == "as" => {
                    self.read(1);
                    self.type_of_cast();
                }
                Some(TokenTree::Ident(word)) if word == "else" || word == "in" => {
                    self.read(1);
                    return true;
                }
                // Two operands with nothing in between: here something else begins.
                _ => return false,
            }
        }
        false
    }

    /// Reads `|a, b: Map<A, B>| -> C`, up to the body.
    fn closure_parameters(&mut self) {
        self.read(1);
        while !self.is_empty() && !self.is_punct(0, '|') {
            if self.is_punct(0, '<') {
                self.angle_brackets();
            } else {
                self.read(1);
            }
        }
        self.read(1);
        if self.is_operator(['-', '>']) {
            while !self.is_empty() && !self.is_group(Delimiter::Brace) {
                self.read(1);
            }
        }
    }

    /// Reads the type behind `as`, where a `<` is never an operator.
    fn type_of_cast(&mut self) {
        let mut complete = false;
        while !self.ends_expression() {
            if self.is_punct(0, '<') {
                self.angle_brackets();
                complete = true;
            } else if self.is_operator([':', ':']) || self.is_operator(['-', '>']) {
                self.read(2);
                complete = false;
            } else if complete {
                break;
            } else {
                match self.next() {
                    // The type behind a reference's lifetime is still to come.
                    Some(TokenTree::Punct(punct)) if punct.as_char() == '\'' => drop(self.read(1)),
                    Some(TokenTree::Punct(_)) => {}
                    Some(TokenTree::Ident(word)) => complete = !is_type_prefix(&word.to_string()),
                    Some(TokenTree::Group(_) | TokenTree::Literal(_)) | None => complete = true,
                }
            }
        }
    }
}

/// The words that stand before an operand, and are none.
fn is_prefix(word: &str) -> bool {
    matches!(
        word,
        "async"
            | "become"
            | "break"
            | "const"
            | "continue"
            | "for"
            | "if"
            | "let"
            | "loop"
            | "match"
            | "move"
            | "mut"
            | "ref"
            | "return"
            | "static"
            | "unsafe"
            | "while"
            | "yield"
    )
}

/// The words that a type can begin with, and that are not all of it.
fn is_type_prefix(word: &str) -> bool {
    matches!(word, "const" | "dyn" | "extern" | "fn" | "mut" | "unsafe")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the mark `@@` stands in the text the expression has to end.
    #[track_caller]
    fn ends_at_mark(text: &str) {
        let (expression, rest) = text.split_once("@@").unwrap();
        let parse = |text: &str| text.parse::<TokenStream>().unwrap().to_string();
        let mut tokens = Tokens::new(format!("{expression}{rest}").parse().unwrap());
        assert_eq!(tokens.expression().to_string(), parse(expression), "in {text}");
        assert_eq!(tokens.collect::<TokenStream>().to_string(), parse(rest), "in {text}");
    }

    #[test]
    fn commas_in_angle_brackets_and_closures_do_not_end_it() {
        ends_at_mark("parse::<A, B>(x)@@, next");
        ends_at_mark("Map::<A, Vec<B>>::new()@@, next");
        ends_at_mark("a + <A as Into<B, C>>::into(x)@@, next");
        ends_at_mark("x as Map<A, B> + 1@@, next");
        ends_at_mark("x as *const Map<A, B>@@, next");
        ends_at_mark("x as &'a dyn Into<A, B>@@, next");
        ends_at_mark("x as fn(A) -> Map<A, B>@@, next");
        ends_at_mark("|a, b: Map<A, B>| a + b@@, next");
        ends_at_mark("async move |a, b| -> Map<A, B> { x }@@, next");
        ends_at_mark("call(|| x).or(y) || z@@, next");
        ends_at_mark("x || |a, b| a@@, next");
        ends_at_mark("parse::<fn(A) -> B, C>(x)@@, next");
    }

    #[test]
    fn comparisons_and_shifts_open_nothing() {
        ends_at_mark("a < b@@, c > (d)");
        ends_at_mark("a << b@@, c >> d");
        ends_at_mark("a <= b@@, c >= d");
        ends_at_mark("a | b@@, c | d");
        ends_at_mark("a || b@@, c || d");
        ends_at_mark("a[1] < b.c@@, d > e");
        ends_at_mark("raw < b@@, d > e");
        ends_at_mark("x as usize | y@@, a | b");
    }

    #[test]
    fn control_flow_and_blocks_are_part_of_it() {
        ends_at_mark("if a < b { c } else if let Some(d) = e { f } else { g }@@, next");
        ends_at_mark("match unsafe { x } { _ => 1, }.y()@@, next");
        ends_at_mark("'outer: for (a, b) in c { break 'outer; }@@, next");
        ends_at_mark("break 'outer x@@, next");
        ends_at_mark("return@@, next");
        ends_at_mark("return Err(x)?@@, next");
        ends_at_mark("&raw const x@@, next");
        ends_at_mark("#[allow(unused)] { x }@@, next");
        ends_at_mark("*count += 1@@, next");
        ends_at_mark("vec![1, 2].len() != 3@@, next");
        ends_at_mark("a..@@, next");
        ends_at_mark("..=b@@, next");
        ends_at_mark("Point { x, ..y }@@, next");
    }

    #[test]
    fn an_arrow_or_another_operand_ends_it() {
        ends_at_mark("work()@@ => {}");
        ends_at_mark("a == b@@ => {}");
        ends_at_mark("drop(1)@@ _ = work() => {}");
        ends_at_mark("x.await?@@ 'a'");
        ends_at_mark("x@@; y");
    }
}
