//! Which file names which: arrows between the files of a crate, and circles among them.
//!
//! An arrow goes from a file to the file of the module that a path in it leads to: in a `use`
//! line, a re-export included, and in a path that is written out. `mod` lines, visibilities and
//! the test modules at the ends of files are no arrows. A path to a name that a folder's face
//! re-exports leads to the face.

use std::collections::{BTreeMap, BTreeSet};

/// A module by its names from the root of the crate, which has none.
pub(crate) type Module = Vec<String>;

/// Each module that has a file, with the modules that it names.
pub(crate) type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// The module of a file by its path under the sources: `json/mod.rs` is `json`.
pub(crate) fn module(path: &str) -> Module {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let stem = stem.strip_suffix("mod").map_or(stem, |folder| folder.trim_end_matches('/'));
    stem.split('/').filter(|name| !name.is_empty() && *name != "lib").map(str::to_owned).collect()
}

/// The arrows between files, given by path and text.
pub(crate) fn arrows(files: &[(String, String)]) -> Arrows {
    let modules: BTreeSet<Module> = files.iter().map(|(path, _)| module(path)).collect();
    let mut found = Arrows::new();
    for (path, text) in files {
        let from = module(path);
        let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
        let mut named: BTreeSet<Module> = Paths::new(text)
            .all()
            .into_iter()
            .filter_map(|(inside, path)| resolve(&from, &inside, &path, &modules))
            .collect();
        named.remove(&from);
        found.insert(from, named);
    }
    found
}

/// The module that a path leads to, seen from a module in a file; None where it leads elsewhere.
fn resolve(
    file: &Module,
    inside: &[String],
    path: &[String],
    modules: &BTreeSet<Module>,
) -> Option<Module> {
    let mut at: Module = file.iter().chain(inside).cloned().collect();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            at.clear();
            rest = &path[1..];
        }
        "self" | "super" => {
            while let Some(step) = rest.first().filter(|step| *step == "self" || *step == "super") {
                if step == "super" {
                    at.pop();
                }
                rest = &rest[1..];
            }
        }
        // Another path starts at a child, or at a name that a `use` line has brought.
        name => {
            let child: Module = at.iter().cloned().chain([name.to_owned()]).collect();
            if !modules.contains(&child) {
                return None;
            }
        }
    }
    for step in rest {
        at.push(step.clone());
        if !modules.contains(&at) {
            at.pop();
            break;
        }
    }
    // A module without a file of its own stands in the file around it.
    while !modules.contains(&at) {
        at.pop();
    }
    Some(at)
}

/// The paths in a text, each with the inline modules that it stands in.
struct Paths {
    tokens: Vec<String>,
    at: usize,
}

impl Paths {
    fn new(text: &str) -> Self {
        Paths { tokens: tokens(text), at: 0 }
    }

    fn token(&self, offset: usize) -> &str {
        self.tokens.get(self.at + offset).map_or("", String::as_str)
    }

    fn all(mut self) -> Vec<(Vec<String>, Vec<String>)> {
        let mut found = Vec::new();
        let mut inside: Vec<(String, usize)> = Vec::new();
        let mut depth = 0;
        while self.at < self.tokens.len() {
            let here: Vec<String> = inside.iter().map(|(name, _)| name.clone()).collect();
            match (self.token(0), self.token(1), self.token(2)) {
                ("use", _, _) => {
                    self.at += 1;
                    self.tree(&[], &mut |path| found.push((here.clone(), path)));
                    continue;
                }
                ("mod", _, "{") => {
                    inside.push((self.token(1).to_owned(), depth));
                    self.at += 1;
                }
                // `pub(in path)` says who may look, not what is used.
                ("(", "in", _) => {
                    while self.token(0) != ")" {
                        self.at += 1;
                    }
                }
                ("{", _, _) => depth += 1,
                ("}", _, _) => {
                    depth -= 1;
                    inside.pop_if(|(_, opened)| *opened == depth);
                }
                (name, "::", _) if is_name(name) => {
                    found.push((here, self.path()));
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        found
    }

    /// The names of a path, up to what is none.
    fn path(&mut self) -> Vec<String> {
        let mut path = Vec::new();
        while is_name(self.token(0)) {
            path.push(self.token(0).to_owned());
            self.at += 1;
            if self.token(0) != "::" {
                break;
            }
            self.at += 1;
        }
        path
    }

    /// A tree of a `use` line.
    fn tree(&mut self, before: &[String], found: &mut dyn FnMut(Vec<String>)) {
        let path: Vec<String> = before.iter().cloned().chain(self.path()).collect();
        if self.token(0) == "{" {
            self.at += 1;
            while self.token(0) != "}" {
                self.tree(&path, found);
                while self.token(0) == "," {
                    self.at += 1;
                }
            }
            self.at += 1;
            return;
        }
        if self.token(0) == "*" {
            self.at += 1;
        }
        if self.token(0) == "as" {
            self.at += 2;
        }
        found(path);
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The tokens of Rust text without comments, texts and characters.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else if c == '"' {
            rest = after_quoted(&rest[1..], '"');
        } else if c == '\'' {
            rest = after_tick(rest);
        } else if is_name(rest) {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, tail) = rest.split_at(end.unwrap_or(rest.len()));
            let hashes = tail.len() - tail.trim_start_matches('#').len();
            if ["r", "br"].contains(&name) && tail[hashes..].starts_with('"') {
                let close = format!("\"{}", "#".repeat(hashes));
                let body = &tail[hashes + 1..];
                rest = body.find(&close).map_or("", |end| &body[end + close.len()..]);
            } else {
                found.push(name.to_owned());
                rest = tail;
            }
        } else {
            let width = if rest.starts_with("::") { 2 } else { c.len_utf8() };
            if !c.is_whitespace() {
                found.push(rest[..width].to_owned());
            }
            rest = &rest[width..];
        }
    }
    found
}

/// What follows a quoted text, from the place after its opening quote.
fn after_quoted(text: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

/// What follows a character, or the tick of a lifetime.
fn after_tick(text: &str) -> &str {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => after_quoted(&text[1..], '\''),
        (_, Some((at, '\''))) => &text[at + 1..],
        _ => &text[1..],
    }
}

/// The groups of modules that lead to each other: strongly connected, by Kosaraju's two walks.
pub(crate) fn circles(arrows: &Arrows) -> Vec<Vec<Module>> {
    let mut reversed = Arrows::new();
    for (from, named) in arrows {
        for to in named {
            reversed.entry(to.clone()).or_default().insert(from.clone());
        }
    }
    let mut seen = BTreeSet::new();
    let mut finished = Vec::new();
    for start in arrows.keys() {
        finished.extend(walk(arrows, start, &mut seen));
    }
    seen.clear();
    let groups = finished.iter().rev().map(|start| walk(&reversed, start, &mut seen));
    let mut found: Vec<Vec<Module>> = groups.filter(|group| group.len() > 1).collect();
    for group in &mut found {
        group.sort();
    }
    found
}

/// The unseen modules that a module leads to, itself included, each after those that it names.
fn walk(arrows: &Arrows, start: &Module, seen: &mut BTreeSet<Module>) -> Vec<Module> {
    let next = |module: &Module| arrows.get(module).cloned().unwrap_or_default().into_iter();
    let mut finished = Vec::new();
    if !seen.insert(start.clone()) {
        return finished;
    }
    let mut open = vec![(start.clone(), next(start))];
    while let Some((module, named)) = open.last_mut() {
        match named.find(|to| !seen.contains(to)) {
            Some(to) => {
                seen.insert(to.clone());
                let named = next(&to);
                open.push((to, named));
            }
            None => {
                finished.push(module.clone());
                open.pop();
            }
        }
    }
    finished
}
