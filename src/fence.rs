//! The fenced code blocks of a Markdown text, as `CommonMark` reads them.
//!
//! A fence is a run of three or more backticks or tildes, indented by at most three columns; what
//! follows it on its line is the info string, in which a backtick fence has no backtick. The block
//! ends at a fence of the same character that is at least as long and alone on its line, at the end
//! of the quote or list item that holds it, or at the end of the text. Fences inside of HTML blocks
//! and indented code are none. A body keeps its line ends, and loses the indentation of its fence.
//!
//! Only the block structure that decides this is followed: quotes, list items, paragraphs (which
//! may go on without the markers of what holds them) and HTML blocks. Each line costs its length.

use memchr::memmem;

/// A fenced code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The info string, without white space around it.
    pub info: Vec<u8>,
    /// The code.
    pub body: Vec<u8>,
}

/// The fenced code blocks of a text, in order.
pub fn fenced_blocks(text: &[u8]) -> Vec<Block> {
    let text = text.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(text);
    if memmem::find(text, b"```").is_none() && memmem::find(text, b"~~~").is_none() {
        return Vec::new();
    }
    let mut scan = Scan::default();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let end = match memchr::memchr2(b'\n', b'\r', rest) {
            Some(at) if rest[at..].starts_with(b"\r\n") => at + 2,
            Some(at) => at + 1,
            None => rest.len(),
        };
        scan.line(&rest[..end]);
        start += end;
    }
    scan.blocks
}

/// What holds blocks.
enum Container {
    Quote,
    /// A list item whose content is indented by so many columns.
    Item(usize),
}

/// The innermost open block, where its kind matters.
#[derive(Default)]
enum Leaf {
    #[default]
    Other,
    Paragraph,
    /// The last of the blocks; its fence is a character, a length and an indentation.
    Fence(u8, usize, usize),
    Html(HtmlEnd),
}

/// What ends an HTML block.
#[derive(Clone, Copy)]
enum HtmlEnd {
    Blank,
    /// A line that has one of these.
    With(&'static [&'static str]),
}

#[derive(Default)]
struct Scan {
    blocks: Vec<Block>,
    containers: Vec<Container>,
    /// Which of the containers are quotes.
    quotes: Vec<usize>,
    /// The last container is a list item of which nothing but a blank rest of line was seen.
    bare: bool,
    leaf: Leaf,
}

impl Scan {
    fn line(&mut self, line: &[u8]) {
        let mut cursor = Cursor::new(line);
        let matched = self.matched(&mut cursor);
        let all = matched == self.containers.len();
        match self.leaf {
            Leaf::Fence(mark, length, indent) if all => {
                return self.in_fence(&cursor, mark, length, indent);
            }
            Leaf::Html(end) if all => {
                if end.holds(cursor.rest()) {
                    self.leaf = Leaf::Other;
                }
                return;
            }
            Leaf::Fence(..) | Leaf::Html(_) => self.leaf = Leaf::Other,
            Leaf::Paragraph | Leaf::Other => {}
        }
        self.begin(&mut cursor, matched);
    }

    /// How many of the open containers go on in a line.
    fn matched(&self, cursor: &mut Cursor<'_>) -> usize {
        let mut quotes = 0;
        for (index, container) in self.containers.iter().enumerate() {
            if cursor.is_blank() {
                // A blank line goes on in list items, up to the next quote.
                let end = self.quotes.get(quotes).copied().unwrap_or(self.containers.len());
                let bare = self.bare && end == self.containers.len();
                for container in &self.containers[index..end] {
                    let Container::Item(content) = container else { break };
                    if cursor.indent() == 0 {
                        break;
                    }
                    cursor.skip(cursor.indent().min(*content));
                }
                return end - usize::from(bare);
            }
            let goes_on = match container {
                Container::Quote => {
                    quotes += 1;
                    cursor.quote()
                }
                Container::Item(content) => {
                    let inside = cursor.indent() >= *content;
                    if inside {
                        cursor.skip(*content);
                    }
                    inside
                }
            };
            if !goes_on {
                return index;
            }
        }
        self.containers.len()
    }

    /// A line of the open fenced block.
    fn in_fence(&mut self, cursor: &Cursor<'_>, mark: u8, length: usize, indent: usize) {
        let text = cursor.text();
        let run = run_of(text, mark);
        if cursor.indent() <= 3 && run >= length && is_blank(&text[run..]) {
            self.leaf = Leaf::Other;
        } else if let Some(block) = self.blocks.last_mut() {
            let mut cursor = cursor.clone();
            cursor.skip(indent.min(cursor.indent()));
            block.body.resize(block.body.len() + cursor.spaces, b' ');
            block.body.extend_from_slice(cursor.rest());
        }
    }

    /// Opens what a line begins, or lets a paragraph go on.
    fn begin(&mut self, cursor: &mut Cursor<'_>, matched: usize) {
        let paragraph = matches!(self.leaf, Leaf::Paragraph) && !cursor.is_blank();
        // The line may go on in the paragraph, whose markers it may lack.
        let mut lazy = paragraph;
        let mut inside = paragraph && matched == self.containers.len();
        let mut closing = Some(matched);
        self.leaf = loop {
            if cursor.is_blank() {
                break Leaf::Other;
            }
            let start = start_of(cursor, inside, lazy);
            if lazy && matches!(start, Start::Text) {
                self.bare = false;
                return;
            }
            if let Some(depth) = closing.take() {
                self.close(depth);
            }
            match start {
                Start::Quote => {
                    cursor.quote();
                    self.quotes.push(self.containers.len());
                    self.containers.push(Container::Quote);
                }
                Start::Item(width) => self.containers.push(Container::Item(cursor.item(width))),
                Start::Fence(mark, length, info) => {
                    self.blocks.push(Block { info: info.to_vec(), body: Vec::new() });
                    break Leaf::Fence(mark, length, cursor.indent());
                }
                Start::Html(end) if !end.holds(cursor.text()) => break Leaf::Html(end),
                Start::Html(_) | Start::Line => break Leaf::Other,
                Start::Text if cursor.indent() > 3 => break Leaf::Other,
                Start::Text => break Leaf::Paragraph,
            }
            (inside, lazy) = (false, false);
        };
        if let Some(depth) = closing {
            self.close(depth);
        }
        let item = matches!(self.containers.last(), Some(Container::Item(_)));
        self.bare = item && closing.is_none() && cursor.is_blank();
    }

    /// Closes the containers from a depth on.
    fn close(&mut self, depth: usize) {
        self.containers.truncate(depth);
        while self.quotes.last().is_some_and(|&at| at >= depth) {
            self.quotes.pop();
        }
    }
}

/// What a line begins.
enum Start<'a> {
    Quote,
    /// A list item, with the width of its marker.
    Item(usize),
    /// A fenced block: character, length, info string.
    Fence(u8, usize, &'a [u8]),
    Html(HtmlEnd),
    /// A block of one line.
    Line,
    Text,
}

/// What the rest of a line begins: `inside` of a paragraph, or where it may be part of one.
fn start_of<'a>(cursor: &mut Cursor<'a>, inside: bool, lazy: bool) -> Start<'a> {
    let text = cursor.text();
    if cursor.indent() > 3 {
        return Start::Text;
    }
    if text.starts_with(b">") {
        return Start::Quote;
    }
    if let Some((mark, length, info)) = opening_fence(text) {
        return Start::Fence(mark, length, info);
    }
    if is_heading(text) || inside && is_underline(text) {
        return Start::Line;
    }
    if let Some(end) = html_start(text, !lazy) {
        return Start::Html(end);
    }
    if cursor.is_thematic() {
        return Start::Line;
    }
    list_marker(text, inside).map_or(Start::Text, Start::Item)
}

/// A place in a line, in bytes and in columns, of which a tab takes up to four.
#[derive(Clone)]
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
    column: usize,
    /// Columns that are left of a tab.
    spaces: usize,
    /// Where the next text is.
    text: usize,
    text_column: usize,
    /// Of a mark, what is the next that is neither it nor white space.
    hindrance: (u8, usize),
}

impl<'a> Cursor<'a> {
    fn new(line: &'a [u8]) -> Self {
        let mut cursor = Cursor {
            line,
            at: 0,
            column: 0,
            spaces: 0,
            text: 0,
            text_column: 0,
            hindrance: (0, 0),
        };
        cursor.look();
        cursor
    }

    /// Finds the next text.
    fn look(&mut self) {
        (self.text, self.text_column) = (self.at, self.column + self.spaces);
        while let Some(b' ' | b'\t') = self.line.get(self.text) {
            let tab = self.line[self.text] == b'\t';
            self.text_column += if tab { TAB - self.text_column % TAB } else { 1 };
            self.text += 1;
        }
    }

    fn indent(&self) -> usize {
        self.text_column - self.column
    }

    fn text(&self) -> &'a [u8] {
        self.line.get(self.text..).unwrap_or_default()
    }

    fn rest(&self) -> &'a [u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// Whether the rest is a thematic break. What hinders it hinders it for each of the markers
    /// before it, so that a line of markers is read once.
    fn is_thematic(&mut self) -> bool {
        let text = self.text();
        let Some(&mark) = text.first().filter(|b| matches!(b, b'-' | b'*' | b'_')) else {
            return false;
        };
        if self.hindrance.0 == mark && self.hindrance.1 > self.text {
            return false;
        }
        match text.iter().position(|&b| b != mark && !is_space(b)) {
            Some(at) => self.hindrance = (mark, self.text + at),
            None => return text.iter().filter(|&&b| b == mark).count() >= 3,
        }
        false
    }

    fn is_blank(&self) -> bool {
        matches!(self.line.get(self.text), None | Some(b'\n' | b'\r'))
    }

    /// Skips columns of white space.
    fn skip(&mut self, columns: usize) {
        let end = self.column + columns;
        while self.column < end {
            if self.spaces == 0 {
                match self.line.get(self.at) {
                    Some(b' ') => self.spaces = 1,
                    Some(b'\t') => self.spaces = TAB - self.column % TAB,
                    _ => return,
                }
                self.at += 1;
            }
            let step = self.spaces.min(end - self.column);
            self.spaces -= step;
            self.column += step;
        }
    }

    /// Skips bytes of the text.
    fn skip_text(&mut self, bytes: usize) {
        (self.at, self.column, self.spaces) = (self.text + bytes, self.text_column + bytes, 0);
        self.look();
    }

    /// Skips the marker of a quote; false where there is none.
    fn quote(&mut self) -> bool {
        let found = self.indent() <= 3 && self.text().starts_with(b">");
        if found {
            self.skip_text(1);
            self.skip(1);
        }
        found
    }

    /// Skips the marker of a list item, and gives the indentation of the item's content.
    fn item(&mut self, width: usize) -> usize {
        let before = self.indent() + width;
        self.skip_text(width);
        let padding = if self.is_blank() || self.indent() > TAB { 1 } else { self.indent() };
        self.skip(padding);
        before + padding
    }
}

/// A tab reaches to the next multiple of so many columns.
const TAB: usize = 4;

fn run_of(text: &[u8], mark: u8) -> usize {
    text.iter().take_while(|&&b| b == mark).count()
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|&b| is_space(b))
}

/// Whether a marker ends here: at white space or the end.
fn ends(text: &[u8]) -> bool {
    text.first().is_none_or(|&b| is_space(b))
}

/// The character, the length and the info string of a fence that opens a block.
fn opening_fence(text: &[u8]) -> Option<(u8, usize, &[u8])> {
    let mark = *text.first().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = run_of(text, mark);
    let info = text[length..].trim_ascii();
    (length >= 3 && !(mark == b'`' && info.contains(&b'`'))).then_some((mark, length, info))
}

fn is_heading(text: &[u8]) -> bool {
    let level = run_of(text, b'#');
    (1..=6).contains(&level) && ends(&text[level..])
}

fn is_underline(text: &[u8]) -> bool {
    let mark = text.first().copied().filter(|b| matches!(b, b'=' | b'-'));
    mark.is_some_and(|mark| is_blank(&text[run_of(text, mark)..]))
}

/// The width of a list marker. Inside of a paragraph only an item with text begins a list, and of
/// numbers only 1.
fn list_marker(text: &[u8], inside: bool) -> Option<usize> {
    let width = match text.first()? {
        b'-' | b'+' | b'*' => 1,
        _ => {
            let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
            let closed = matches!(text.get(digits), Some(b'.' | b')'));
            if !(1..=9).contains(&digits) || !closed || inside && &text[..digits] != b"1" {
                return None;
            }
            digits + 1
        }
    };
    let rest = &text[width..];
    (ends(rest) && !(inside && is_blank(rest))).then_some(width)
}

impl HtmlEnd {
    /// Whether the block ends with a line.
    fn holds(self, line: &[u8]) -> bool {
        match self {
            HtmlEnd::Blank => is_blank(line),
            HtmlEnd::With(ends) => {
                let lower = line.to_ascii_lowercase();
                ends.iter().any(|end| memmem::find(&lower, end.as_bytes()).is_some())
            }
        }
    }
}

/// Elements that hold anything up to their end.
const VERBATIM: [&str; 4] = ["pre", "script", "style", "textarea"];
const VERBATIM_ENDS: &[&str] = &["</pre>", "</script>", "</style>", "</textarea>"];

/// Elements whose tags begin a block.
const BLOCKS: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// What ends the HTML block that a text begins; `any` tag alone on a line may begin one.
fn html_start(text: &[u8], any: bool) -> Option<HtmlEnd> {
    let rest = text.strip_prefix(b"<")?;
    let fixed: [(&[u8], &[&str]); 3] =
        [(b"!--", &["-->"]), (b"?", &["?>"]), (b"![CDATA[", &["]]>"])];
    if let Some((_, ends)) = fixed.iter().find(|(start, _)| rest.starts_with(start)) {
        return Some(HtmlEnd::With(ends));
    }
    if rest.first() == Some(&b'!') && rest.get(1).is_some_and(u8::is_ascii_alphabetic) {
        return Some(HtmlEnd::With(&[">"]));
    }
    let closing = rest.starts_with(b"/");
    let tag = if closing { &rest[1..] } else { rest };
    let length = tag.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count();
    let (name, after) = tag.split_at(length);
    let is = |names: &[&str]| names.iter().any(|n| name.eq_ignore_ascii_case(n.as_bytes()));
    let ended = ends(after) || after.starts_with(b">");
    if is(&VERBATIM) {
        return (!closing && ended).then_some(HtmlEnd::With(VERBATIM_ENDS));
    }
    if is(&BLOCKS) && (ended || after.starts_with(b"/>")) {
        return Some(HtmlEnd::Blank);
    }
    let named = name.first().is_some_and(u8::is_ascii_alphabetic);
    let whole = || if closing { tag_end(after) } else { attributes(after) };
    (any && named && whole().is_some_and(is_blank)).then_some(HtmlEnd::Blank)
}

/// What follows the end of a closing tag.
fn tag_end(text: &[u8]) -> Option<&[u8]> {
    text.trim_ascii_start().strip_prefix(b">")
}

/// What follows an opening tag, from behind its name.
fn attributes(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        let rest = text.trim_ascii_start();
        let end = rest.strip_prefix(b"/").unwrap_or(rest);
        if let Some(after) = end.strip_prefix(b">") {
            return Some(after);
        }
        let starts = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b':');
        if rest.len() == text.len() || !rest.first().is_some_and(starts) {
            return None;
        }
        let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'-');
        text = &rest[rest.iter().take_while(part).count()..];
        if let Some(value) = text.trim_ascii_start().strip_prefix(b"=") {
            text = attribute_value(value.trim_ascii_start())?;
        }
    }
}

/// What follows the value of an attribute.
fn attribute_value(text: &[u8]) -> Option<&[u8]> {
    if let quote @ (b'"' | b'\'') = *text.first()? {
        return Some(&text[memchr::memchr(quote, &text[1..])? + 2..]);
    }
    let part = |b: &&u8| !is_space(**b) && !b"\"'=<>`".contains(b);
    let length = text.iter().take_while(part).count();
    (length > 0).then(|| &text[length..])
}
