//! Conditions: `{args.n} > 3 && !({steps.gen.json.state} == failed)`.
//!
//! ```text
//! or      = and { "||" and }
//! and     = compare { "&&" compare }
//! compare = unary [ ("==" | "!=" | ">=" | "<=" | ">" | "<") unary ]
//! unary   = { "!" } ( "(" or ")" | string | number | placeholder | word )
//! ```
//!
//! The parser keeps its open parentheses in a list: no input makes it recurse.

use std::borrow::Cow;

use super::context::{Context, Found, Resolver};
use super::interpolate::write_found;
use super::limit::{MAX_BYTES, TooLong};
use super::tokens::{Operator, Token, Tokens};
use crate::json::Value;
use crate::text::trim_js;

/// What a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its value; true where it cannot be read, and for an empty text.
    pub value: bool,
    /// Why it cannot be read.
    pub error: Option<String>,
    /// The placeholders that stand for nothing, which count as null.
    pub missing: Vec<Vec<u8>>,
}

/// Evaluates a condition.
///
/// Two sides that look like numbers compare as numbers, else both as text, in which null is empty.
/// False are the empty text, `false`, `0`, `no`, `off`, `null` (any case, white space around them),
/// null, zero, and the empty list and object.
pub fn evaluate_condition(expression: &[u8], context: &Context) -> Condition {
    let mut reader = Reader {
        tokens: Tokens::new(expression),
        resolver: Resolver::new(context),
        missing: Vec::new(),
        left: MAX_BYTES,
    };
    let (value, error) = match reader.run() {
        Ok(value) => (value, None),
        Err(error) => (true, Some(error)),
    };
    Condition { value, error, missing: reader.missing }
}

/// The names in the placeholders of a condition, in order, up to where it cannot be read.
pub fn condition_references(expression: &[u8]) -> Vec<&[u8]> {
    let mut tokens = Tokens::new(expression);
    let mut found = Vec::new();
    while let Ok(Some(token)) = tokens.next() {
        if let Token::Placeholder(path) = token {
            found.push(path);
        }
    }
    found
}

/// A value between operators.
enum Operand<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, [u8]>),
    /// A number, list or object.
    Value(&'a Value),
}

/// An expression that is being read: the whole, or what an open parenthesis began.
#[derive(Default)]
struct Group<'a> {
    ors: Option<bool>,
    ands: Option<bool>,
    left: Option<(Operand<'a>, Operator)>,
    compared: bool,
    nots: usize,
}

impl<'a> Group<'a> {
    fn and(&mut self, value: &Operand<'a>) {
        self.ands = Some(self.ands.unwrap_or(true) && truthy(value));
        self.compared = false;
    }

    fn or(&mut self, value: &Operand<'a>) {
        self.and(value);
        self.ors = Some(self.ors.unwrap_or(false) || self.ands == Some(true));
        self.ands = None;
    }

    /// What the whole comes to with its last value: that value where it stands alone.
    fn close(&mut self, value: Operand<'a>) -> Operand<'a> {
        if self.ors.is_none() && self.ands.is_none() {
            return value;
        }
        self.or(&value);
        Operand::Bool(self.ors == Some(true))
    }
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    resolver: Resolver<'a>,
    missing: Vec<Vec<u8>>,
    /// The bytes of values that may still be looked at.
    left: usize,
}

impl<'a> Reader<'a> {
    fn run(&mut self) -> Result<bool, String> {
        let mut open = vec![Group::default()];
        let Some(mut token) = self.tokens.next()? else { return Ok(true) };
        loop {
            let group = open.last_mut().ok_or("no expression")?;
            let mut value = match token {
                Token::Not => {
                    group.nots += 1;
                    token = self.more()?;
                    continue;
                }
                Token::Open => {
                    open.push(Group::default());
                    token = self.more()?;
                    continue;
                }
                other => self.operand(other)?,
            };
            // After an operand: what it belongs to, until another operand is wanted.
            loop {
                let inner = open.len() > 1;
                let group = open.last_mut().ok_or("no expression")?;
                value = self.joined(group, value)?;
                match self.tokens.next()? {
                    Some(Token::Compare(operator, _)) if !group.compared => {
                        group.left = Some((value, operator));
                    }
                    Some(Token::And) => group.and(&value),
                    Some(Token::Or) => group.or(&value),
                    Some(Token::Close) if inner => {
                        value = group.close(value);
                        open.pop();
                        continue;
                    }
                    None if !inner => return Ok(truthy(&group.close(value))),
                    None => return Err("a parenthesis is not closed".to_owned()),
                    Some(_) => return Err("trailing tokens".to_owned()),
                }
                break;
            }
            token = self.more()?;
        }
    }

    /// The next token, where there has to be one.
    fn more(&mut self) -> Result<Token<'a>, String> {
        self.tokens.next()?.ok_or_else(|| "unexpected end".to_owned())
    }
}

impl<'a> Reader<'a> {
    fn operand(&mut self, token: Token<'a>) -> Result<Operand<'a>, String> {
        let sign = match token {
            Token::Text(text) => return Ok(Operand::Text(Cow::Owned(text))),
            Token::Number(number) => return Ok(Operand::Number(number)),
            Token::Word(b"null") => return Ok(Operand::Null),
            Token::Word(b"true") => return Ok(Operand::Bool(true)),
            Token::Word(b"false") => return Ok(Operand::Bool(false)),
            Token::Word(word) => return Ok(Operand::Text(Cow::Borrowed(word))),
            Token::Placeholder(path) => return self.named(path),
            Token::Or => "||",
            Token::And => "&&",
            Token::Not => "!",
            Token::Open => "(",
            Token::Close => ")",
            Token::Compare(_, name) => name,
        };
        Err(format!("unexpected operator '{sign}'"))
    }

    fn named(&mut self, path: &[u8]) -> Result<Operand<'a>, String> {
        let Some(found) = self.resolver.resolve(path) else {
            self.missing.push(path.to_vec());
            return Ok(Operand::Null);
        };
        Ok(match found {
            Found::Text(text) => {
                self.spend(text.len())?;
                Operand::Text(Cow::Borrowed(text))
            }
            Found::Count(count) => Operand::Number(count as f64),
            Found::Value(Value::Null) => Operand::Null,
            Found::Value(Value::Bool(value)) => Operand::Bool(*value),
            Found::Value(value) => Operand::Value(value),
        })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| TooLong.to_string())?;
        Ok(())
    }

    /// The value with what stood before it in its group: signs of negation, then a comparison.
    fn joined(&mut self, group: &mut Group<'a>, value: Operand<'a>) -> Result<Operand<'a>, String> {
        let value = match std::mem::take(&mut group.nots) {
            0 => value,
            nots => Operand::Bool(truthy(&value) == nots.is_multiple_of(2)),
        };
        let Some((left, operator)) = group.left.take() else { return Ok(value) };
        group.compared = true;
        self.compare(&left, operator, &value).map(Operand::Bool)
    }

    fn compare(
        &mut self,
        left: &Operand<'a>,
        operator: Operator,
        right: &Operand<'a>,
    ) -> Result<bool, String> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = match (numeric(left), numeric(right)) {
            (Some(left), Some(right)) => left.total_cmp(&right),
            _ => compare_units(&self.text(left)?, &self.text(right)?),
        };
        Ok(match operator {
            Operator::Equal => order == Equal,
            Operator::Unequal => order != Equal,
            Operator::AtLeast => order != Less,
            Operator::AtMost => order != Greater,
            Operator::Over => order == Greater,
            Operator::Under => order == Less,
        })
    }

    fn text<'o>(&mut self, value: &'o Operand<'a>) -> Result<Cow<'o, [u8]>, String> {
        Ok(match value {
            Operand::Null => Cow::Borrowed(b""),
            Operand::Bool(true) => Cow::Borrowed(b"true"),
            Operand::Bool(false) => Cow::Borrowed(b"false"),
            Operand::Number(number) => {
                Cow::Owned(ryu_js::Buffer::new().format(*number).as_bytes().to_vec())
            }
            Operand::Text(text) => Cow::Borrowed(text),
            Operand::Value(value) => {
                let mut text = Vec::new();
                write_found(Found::Value(value), &mut text).map_err(|error| error.to_string())?;
                self.spend(text.len())?;
                Cow::Owned(text)
            }
        })
    }
}

fn truthy(value: &Operand<'_>) -> bool {
    const FALSE: [&[u8]; 6] = [b"", b"false", b"0", b"no", b"off", b"null"];
    match value {
        Operand::Null => false,
        Operand::Bool(value) => *value,
        Operand::Number(number) => *number != 0.0,
        Operand::Text(text) => {
            let text = trim_js(text);
            !FALSE.iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        Operand::Value(Value::Array(items)) => !items.is_empty(),
        Operand::Value(Value::Object(members)) => !members.is_empty(),
        Operand::Value(value) => value.as_f64() != Some(0.0),
    }
}

/// The number that a value is or looks like. Zero has one sign, so that its kinds are equal.
fn numeric(value: &Operand<'_>) -> Option<f64> {
    let number = match value {
        Operand::Number(number) => Some(*number),
        Operand::Value(value) => value.as_f64(),
        Operand::Text(text) => js_number(trim_js(text)),
        Operand::Null | Operand::Bool(_) => None,
    };
    number.filter(|n| n.is_finite()).map(|n| n + 0.0)
}

/// JavaScript's `Number` of a trimmed text, where that is finite and the text not blank.
fn js_number(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let based = |digits: &str, base: u32| {
        let add =
            |sum: f64, digit: char| Some(sum * f64::from(base) + f64::from(digit.to_digit(base)?));
        digits.chars().try_fold(0.0, add).filter(|_| !digits.is_empty())
    };
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => based(&text[2..], 16),
        [b'0', b'o' | b'O', ..] => based(&text[2..], 8),
        [b'0', b'b' | b'B', ..] => based(&text[2..], 2),
        // Rust's parser also reads words, as in `inf`.
        bytes if bytes.iter().all(|b| b.is_ascii_digit() || b"+-.eE".contains(b)) => {
            text.parse().ok()
        }
        _ => None,
    }
}

/// The order of two texts by their UTF-16 units, as JavaScript has it.
fn compare_units(left: &[u8], right: &[u8]) -> std::cmp::Ordering {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    match (left.get(same), right.get(same)) {
        // Behind U+DFFF: characters of two units, which begin with a surrogate, come before those
        // of one.
        (Some(&a @ 0xEE..), Some(&b @ 0xEE..)) if (a >= 0xF0) != (b >= 0xF0) => b.cmp(&a),
        (a, b) => a.cmp(&b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(expression: &str) -> (bool, Option<String>) {
        let found = evaluate_condition(expression.as_bytes(), &Context::default());
        (found.value, found.error)
    }

    #[test]
    fn operators_and_words() {
        for (expression, wanted) in [
            ("", true),
            (" \u{a0}", true),
            ("!!!0", true),
            ("!0 == true", true),
            ("(a || 0) == true", true),
            ("(abc) == abc", true),
            ("0 || 0 && 1 || no", false),
            ("1 || 0 && 0", true),
            ("'a\\'b' == \"a'b\"", true),
            ("0x10 == 16", true),
            ("'0x10' == 16", true),
            ("' 1e1 ' == 10", true),
            ("'inf' == Infinity", false),
            ("-1.5e-1 < 0", true),
            ("'\u{fffd}' > '\u{1f600}'", true),
            ("null == ''", true),
            ("{nothing.here} == null", true),
            ("{ } == ''", true),
            ("(((((1)))))", true),
            ("1 < 2 && 2 < 3", true),
        ] {
            let found = says(expression);
            let bad = expression == "0x10 == 16";
            assert_eq!((found.0, found.1.is_some()), (wanted, bad), "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_true_with_an_error() {
        for expression in [
            "a b",
            "1 == ",
            "(1",
            "1)",
            "()",
            "a = b",
            "a | b",
            "'x",
            "{x",
            "1 == 2 == 3",
            "!",
            "a && && b",
            "3abc",
            "}",
            "1 2",
        ] {
            let found = says(expression);
            assert!(found.0 && found.1.is_some(), "{expression}");
        }
    }

    #[test]
    fn no_depth_is_too_deep() {
        let (many, odd) = (100_000, 100_001);
        assert_eq!(says(&format!("{}1{}", "(".repeat(many), ")".repeat(many))), (true, None));
        assert_eq!(says(&format!("{}1", "!".repeat(odd))), (false, None));
        assert_eq!(says(&format!("0{}", " || 0".repeat(many))), (false, None));
    }
}
