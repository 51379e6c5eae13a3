//! `code-compiles`: a compiler accepts the code that the text holds. The runtime supplies its
//! results; what is compiled, and as which language, is said here.
//!
//! ```json
//! {"type": "code-compiles", "language": "typescript"}
//! ```
//!
//! A text without fenced code blocks is code as a whole. `fence` says which of its blocks count:
//! `single` (default; more than one is a failure), `first`, `last`, `all` (each block of the
//! language), or `raw`: the text as a whole, whatever it holds. The language `auto` is the one that
//! a block's info string names.

use std::borrow::Cow;

use crate::error::{IssueKind, Issues, Path};
use crate::fence::{Block, fenced_blocks};
use crate::field::{Choice, Shape, Typed, fields};
use crate::hints;
use crate::json::{Value, quote};
use crate::result::Outcome;
use crate::row::Row;
use crate::scorer::{Build, Options, Scorer};
use crate::target::Target;
use crate::text::to_utf8;

/// The languages, and the other names that an info string may have for each.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("javascript", &["js", "mjs", "cjs", "node"]),
    ("typescript", &["ts", "mts", "cts"]),
    ("jsx", &[]),
    ("tsx", &[]),
    ("python", &["py", "python3", "py3"]),
    ("json", &[]),
    ("rust", &["rs"]),
    ("go", &["golang"]),
    ("c", &["h"]),
    ("cpp", &["c++", "cc", "cxx", "hpp"]),
    ("java", &[]),
    ("shell", &["sh", "bash"]),
    ("sql", &[]),
    ("sql-bigquery", &["bigquery"]),
    ("sql-mysql", &["mysql"]),
    ("sql-postgres", &["postgres", "postgresql", "pgsql"]),
    ("sql-snowflake", &["snowflake"]),
    ("sql-sqlite", &["sqlite"]),
    ("sql-tsql", &["tsql"]),
    ("html", &["htm"]),
    ("css", &[]),
    ("yaml", &["yml"]),
    ("toml", &[]),
    ("xml", &["svg"]),
];

/// The language that a block's info string names.
const AUTO: &str = "auto";

/// What a language of the caller's own begins with.
const OWN: &str = "x-";

/// Which fenced code blocks are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// The only one; several are a failure.
    Single,
    /// The first.
    First,
    /// The last.
    Last,
    /// Each one of the language.
    All,
    /// None: the text is code as a whole.
    Raw,
}

const FENCES: [(&str, Fence); 5] = [
    ("single", Fence::Single),
    ("first", Fence::First),
    ("last", Fence::Last),
    ("all", Fence::All),
    ("raw", Fence::Raw),
];

/// A language: one that is known, one of the caller's own, or `auto`.
pub struct Language;

impl Language {
    fn known() -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().map(|(name, _)| *name).chain([AUTO])
    }

    fn is_own(name: &[u8]) -> bool {
        let letter = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+#._-".contains(b);
        name.strip_prefix(OWN.as_bytes()).is_some_and(|n| !n.is_empty() && n.iter().all(letter))
    }
}

impl Shape for Language {
    fn schema(&self) -> String {
        let names: Vec<String> = Language::known().map(|name| quote(name.as_bytes())).collect();
        let own = r#"{"type": "string", "pattern": "^x-[a-z0-9+#._-]+$"}"#;
        format!("{{\"anyOf\": [{{\"enum\": [{}]}}, {own}]}}", names.join(", "))
    }

    fn words(&self) -> String {
        let names: Vec<String> = Language::known().map(|name| format!("`\"{name}\"`")).collect();
        format!("{} or `\"x-NAME\"`", names.join(", "))
    }

    fn default(&self) -> Option<String> {
        None
    }

    fn check(&self, given: Option<&Value>, path: &Path, _: &str, issues: &mut Issues) {
        let known: Vec<&str> = Language::known().collect();
        let message = || format!("must be one of {}|{OWN}NAME", known.join("|"));
        let Some(value) = given else {
            return issues.add(IssueKind::Missing, path.clone(), message());
        };
        let name = value.as_bytes();
        if name.is_none_or(|name| {
            !Language::is_own(name) && !known.iter().any(|k| k.as_bytes() == name)
        }) {
            let kind = if name.is_some() { IssueKind::WrongValue } else { IssueKind::WrongType };
            issues.add_hinted(kind, path.clone(), message(), || hints::value(value, &known));
        }
    }
}

impl Typed for Language {
    type Value = String;

    fn read(&self, given: Option<&Value>) -> String {
        given.and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

fields! {
    pub struct Fields {
        language: Language = Language, "the language of the code; `auto`: the one that the fence names; `x-NAME`: one of your own";
        fence: Choice<Fence> = Choice { of: &FENCES, default: Some(0) }, "which of the text's fenced code blocks are compiled; without any, and with `raw`, the whole text is";
    }
}

/// The scorer, as far as the core knows it.
pub struct CodeCompiles;

impl Build for CodeCompiles {
    const TYPE: &'static str = "code-compiles";
    const SUMMARY: &'static str = "a compiler accepts the code";
    const EXAMPLE: &'static str = r#"{"type": "code-compiles", "language": "typescript"}"#;
    const PASSES: &'static str = "const answer: number = 42;";
    const FAILS: &'static str = "const answer: number = ;";
    const IMPURE: bool = true;

    type Fields = Fields;

    fn build(_: Fields, _: &Options) -> Self {
        CodeCompiles
    }
}

/// The detail of a text whose result nobody supplies.
const DETAIL: &str = "code-compiles must be evaluated by the runtime (impure scorer)";

impl Scorer for CodeCompiles {
    fn score(&self, _: &Target<'_>, _: &Row<'_>) -> Outcome<'_> {
        Outcome::fail(DETAIL)
    }
}

/// Code, and its language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The name of the language; of one that an info string names and nobody knows, `x-` and that.
    pub language: String,
    /// The code; half of a surrogate pair is U+FFFD.
    pub code: String,
}

/// What of a text is compiled under a spec, which may have any shape; or why nothing can be.
pub fn what_to_compile(spec: &Value, text: &[u8]) -> Result<Vec<Snippet>, Cow<'static, str>> {
    use crate::field::Fields as _;
    let Fields { language, fence } = Fields::read(spec);
    let snippet = |language: String, code: &[u8]| {
        vec![Snippet { language, code: to_utf8(code).into_owned() }]
    };
    let fence = fence.unwrap_or(Fence::Single);
    let mut blocks = if fence == Fence::Raw { Vec::new() } else { fenced_blocks(text) };
    if blocks.is_empty() {
        let untold = language == AUTO;
        let detail = || Cow::from("target has no fenced code block to tell its language");
        return if untold { Err(detail()) } else { Ok(snippet(language, text)) };
    }
    match fence {
        Fence::Single if blocks.len() > 1 => {
            let count = blocks.len();
            return Err(format!("target has {count} fenced code blocks, expected one").into());
        }
        Fence::Single | Fence::First | Fence::Raw => blocks.truncate(1),
        Fence::Last => blocks = blocks.pop().into_iter().collect(),
        Fence::All if language == AUTO => blocks.retain(|block| named(block).is_some()),
        Fence::All => blocks.retain(|block| named(block).as_ref() == Some(&language)),
    }
    if blocks.is_empty() {
        let wanted = if language == AUTO { "named" } else { &language };
        return Err(format!("target has no fenced {wanted} code block").into());
    }
    let language_of = |block: &Block| match named(block) {
        _ if language != AUTO => Ok(language.clone()),
        Some(name) => Ok(name),
        None => Err("target's fenced code block does not name its language"),
    };
    let mut found = Vec::new();
    for block in &blocks {
        found.append(&mut snippet(language_of(block)?, &block.body));
    }
    Ok(found)
}

/// The language that a block's info string names by its first word.
fn named(block: &Block) -> Option<String> {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || b"+#._-".contains(b);
    let length = block.info.iter().take_while(part).count();
    let word = to_utf8(&block.info[..length]).to_ascii_lowercase();
    let is = |(name, others): &&(&str, &[&str])| *name == word || others.contains(&&*word);
    match LANGUAGES.iter().find(is) {
        Some((name, _)) => Some((*name).to_owned()),
        None => (!word.is_empty()).then(|| format!("{OWN}{word}")),
    }
}
