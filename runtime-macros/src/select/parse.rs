//! Splitting the input of `select!` into its branches.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

use crate::error::Error;
use crate::tokens::{Tokens, visible_group};

/// One bit each in the word that says which branches are disabled.
const MAX_BRANCHES: usize = 64;

const SHAPE: &str = "a branch of select! is `pattern = future => handler`";

pub(super) struct Select {
    /// The `$crate` of the front.
    pub(super) facade: TokenTree,
    pub(super) biased: bool,
    pub(super) branches: Vec<Branch>,
    pub(super) otherwise: Option<TokenStream>,
}

/// `pattern = future, if condition => handler`
pub(super) struct Branch {
    pub(super) pattern: TokenStream,
    pub(super) future: TokenStream,
    pub(super) condition: Option<TokenStream>,
    pub(super) handler: TokenStream,
}

impl Branch {
    /// Whether the pattern is `_`, which fits everything.
    pub(super) fn ignores_output(&self) -> bool {
        self.word().is_some_and(|word| word == "_")
    }

    /// Whether the pattern is `_` or a name, which may be that of a constant.
    pub(super) fn is_plain(&self) -> bool {
        self.word().is_some()
    }

    /// The pattern, if it is only a word, apart from a `mut`.
    fn word(&self) -> Option<Ident> {
        let mut pattern = Tokens::new(self.pattern.clone());
        pattern.open_invisible();
        if pattern.is_word(0, "mut") {
            pattern.read(1);
        }
        match (pattern.next(), pattern.next()) {
            (Some(TokenTree::Ident(word)), None) => Some(word),
            _ => None,
        }
    }
}

/// Reads `$crate; branches`.
pub(super) fn parse(input: TokenStream) -> Result<Select, Error> {
    let mut input = Tokens::new(input);
    let facade = input.next().expect("the front begins with $crate");
    input.read(1);

    let biased = biased(&mut input)?;
    let mut select = Select { facade, biased, branches: Vec::new(), otherwise: None };
    while !input.is_empty() {
        if select.otherwise.is_some() {
            return Err(error_here(&input, "`else` is the last branch of select!: move it below this one"));
        }
        if input.is_word(0, "else") {
            input.read(1);
            arrow(&mut input, "the last branch of select! is `else => handler`")?;
            select.otherwise = Some(handler(&mut input)?);
        } else if select.branches.len() == MAX_BRANCHES {
            let message = format!("select! takes at most {MAX_BRANCHES} branches: put some in a select! of theirs");
            return Err(error_here(&input, message));
        } else {
            select.branches.push(branch(&mut input)?);
        }
    }
    if select.branches.is_empty() && select.otherwise.is_none() {
        return Err(error_here(&input, "select! needs a branch: write `pattern = future => handler`"));
    }
    Ok(select)
}

/// Reads `biased;`, if it is there. The word alone may be a pattern too: `biased = future => handler`.
fn biased(input: &mut Tokens) -> Result<bool, Error> {
    if !input.is_word(0, "biased") {
        return Ok(false);
    }
    if input.is_punct(1, ';') {
        input.read(2);
        return Ok(true);
    }
    let something_else_begins = match input.peek(1) {
        Some(TokenTree::Punct(punct)) => punct.as_char() == ',',
        Some(TokenTree::Ident(_) | TokenTree::Literal(_)) | None => true,
        Some(TokenTree::Group(_)) => false,
    };
    if something_else_begins {
        return Err(error_here(input, "`biased` ends with a semicolon: write `biased;`"));
    }
    Ok(false)
}

fn branch(input: &mut Tokens) -> Result<Branch, Error> {
    let pattern = pattern(input);
    if input.is_punct(0, ';') && pattern.to_string() == "biased" {
        return Err(Error::new(pattern, "`biased;` goes before the first branch of select!"));
    }
    if input.is_empty() || input.is_operator(['=', '>']) || input.is_punct(0, ',') {
        if pattern.is_empty() {
            return Err(error_here(input, SHAPE));
        }
        // A call such as `work()` reads as a pattern too, so this is how a forgotten `_ =` shows.
        let message = format!("{SHAPE}: to ignore what the future returns, write `_ = ` before it");
        return Err(Error::new(pattern, message));
    }
    if pattern.is_empty() || !input.is_punct(0, '=') || input.is_operator(['=', '=']) {
        return Err(error_here(input, SHAPE));
    }
    input.read(1);

    let future = input.expression();
    if future.is_empty() {
        return Err(error_here(input, SHAPE));
    }
    let mut condition = None;
    if input.is_punct(0, ',') && input.is_word(1, "if") {
        let keyword = input.read(2);
        let tokens = input.expression();
        if tokens.is_empty() {
            return Err(Error::new(keyword, format!("{SHAPE}: this one has an `if` and no condition")));
        }
        condition = Some(tokens);
    }
    if input.is_punct(0, ',') {
        let mut after = input.clone();
        after.read(1);
        if after.is_operator(['=', '>']) {
            return Err(error_here(input, format!("{SHAPE}, with no comma unless there is an `, if condition`")));
        }
    }
    if !input.is_operator(['=', '>']) {
        return Err(Error::new(future, format!("{SHAPE}: this one has no `=> handler`")));
    }
    input.read(2);
    Ok(Branch { pattern, future, condition, handler: handler(input)? })
}

/// Reads up to the `=` behind the pattern, or to something that is in no pattern.
///
/// Patterns have `=` only in `..=`, and commas outside of groups only between angle brackets.
fn pattern(input: &mut Tokens) -> TokenStream {
    input.all_of(|input| {
        while !input.is_empty() && !input.is_punct(0, ',') && !input.is_punct(0, ';') && !input.is_punct(0, '=') {
            if input.is_punct(0, '<') {
                input.angle_brackets();
            } else if input.is_operator(['.', '.']) && input.is_punct(2, '=') && is_joint(input.peek(1)) {
                input.read(3);
            } else {
                input.read(1);
            }
        }
    })
}

fn is_joint(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.spacing() == proc_macro2::Spacing::Joint)
}

/// Reads a handler and the comma after it, which only a block can go without.
fn handler(input: &mut Tokens) -> Result<TokenStream, Error> {
    let is_block = input.peek(0).and_then(visible_group).is_some_and(|group| group.delimiter() == Delimiter::Brace)
        && !input.is_punct(1, '?')
        && !input.is_punct(1, '.');
    let handler = if is_block { input.read(1) } else { input.expression() };
    if handler.is_empty() {
        return Err(error_here(input, format!("{SHAPE}: this one has no handler")));
    }

    if input.is_punct(0, ',') {
        input.read(1);
    } else if !is_block && !input.is_empty() {
        return Err(error_here(input, "expected `,` before this: only a handler that is a block can go without"));
    }
    Ok(handler)
}

fn arrow(input: &mut Tokens, message: &str) -> Result<(), Error> {
    if !input.is_operator(['=', '>']) {
        return Err(error_here(input, message));
    }
    input.read(2);
    Ok(())
}

/// An error at the next token, or about all of the macro at the end of its input.
fn error_here(input: &Tokens, message: impl Into<String>) -> Error {
    Error::new(input.peek(0), message)
}
