//! The house rules that a compiler does not hold.
#![allow(clippy::unwrap_used)]

mod arrows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrows::{Arrows, arrows, circles, module};
use scoregate::scorers::REGISTRY;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file under a folder with an extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found
}

/// The sources of the crate: paths under `src`, and texts.
fn sources() -> Vec<(String, String)> {
    let folder = root().join("src");
    let named = files(&folder, "rs").into_iter().map(|path| {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        (name, fs::read_to_string(path).unwrap())
    });
    named.collect()
}

/// The table of layers in `docs/design.md`: a layer a line, and those that it may use.
fn layers() -> Vec<(String, BTreeSet<String>)> {
    let page = fs::read_to_string(root().join("docs/design.md")).unwrap();
    let block = page.split("```text layers of src\n").nth(1).unwrap().split("```").next().unwrap();
    let mut rows = Vec::new();
    for line in block.lines() {
        let mut words = line.split_whitespace().map(str::to_owned);
        rows.push((words.next().unwrap(), words.collect()));
    }
    rows
}

/// The arrows between the files and folders right under `src`.
fn folders(arrows: &Arrows) -> BTreeMap<String, BTreeSet<String>> {
    let top = |module: &arrows::Module| module.first().map_or("lib", String::as_str).to_owned();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, named) in arrows {
        let used = found.entry(top(from)).or_default();
        used.extend(named.iter().map(top).filter(|to| *to != top(from)));
    }
    found
}

#[test]
fn each_layer_uses_what_the_table_says() {
    let told: BTreeMap<String, BTreeSet<String>> = layers().into_iter().collect();
    let found = folders(&arrows(&sources()));
    assert_eq!(told, found);
}

#[test]
fn the_table_leads_down_only() {
    let mut below = BTreeSet::new();
    for (layer, used) in layers() {
        assert!(used.is_subset(&below), "{layer} uses what stands above it");
        below.insert(layer);
    }
}

#[test]
fn no_files_use_each_other() {
    assert_eq!(circles(&arrows(&sources())), Vec::<Vec<arrows::Module>>::new());
}

/// Arrows and circles of files that are made up.
fn found_in(files: &[(&str, &str)]) -> (Arrows, Vec<Vec<arrows::Module>>) {
    let files: Vec<_> = files.iter().map(|&(p, t)| (p.to_owned(), t.to_owned())).collect();
    let found = arrows(&files);
    let circles = circles(&found);
    (found, circles)
}

#[test]
fn a_planted_circle_is_found() {
    let mut planted = sources();
    assert!(planted.iter().any(|(path, _)| path == "text.rs"));
    for (path, text) in &mut planted {
        if path == "text.rs" {
            text.insert_str(0, "fn planted() { crate::gate::Gate::new(); }\n");
        }
    }
    let found = circles(&arrows(&planted));
    let [circle] = &found[..] else { panic!("{found:?}") };
    assert!(circle.contains(&module("text.rs")) && circle.contains(&module("gate/mod.rs")));

    // Three files in a ring, beside one that only uses them; ways to write an arrow.
    for last in [
        "use crate::a;",
        "use crate::{a::{A, self}};",
        "pub use super::a::A;",
        "fn f() -> crate::a::A {}",
        "macro_rules! m { () => { $crate::a::A }; }",
        "mod inner { use super::super::a::A; }",
        "use super::*; use crate::a::*;",
    ] {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::B;"),
            ("b/mod.rs", "const QUOTE: char = '\"'; use crate::c::C as Other;"),
            ("c.rs", last),
            ("d.rs", "use crate::{a, b, c};"),
        ];
        let (_, circles) = found_in(&files);
        assert_eq!(circles, [vec![module("a.rs"), module("b/mod.rs"), module("c.rs")]], "{last}");
    }
}

#[test]
fn what_is_no_arrow_is_not_taken_for_one() {
    for text in [
        "// use crate::a;\n/* crate::a::A */",
        "const TEXT: &str = \"use crate::a;\"; const RAW: &str = r#\"crate::a\"#;",
        "pub(in crate::a) struct B;",
        "struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }",
        "fn f<'a>(c: char) -> bool { c == '\\'' || Vec::<u8>::new().is_empty() }",
    ] {
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", text)];
        let (arrows, circles) = found_in(&files);
        assert_eq!(arrows[&module("b.rs")], BTreeSet::new(), "{text}");
        assert!(circles.is_empty());
    }
}

#[test]
fn files_and_names_of_scorers_agree() {
    let mut files: Vec<String> = files(&root().join("src/scorers"), "rs")
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().replace('_', "-"))
        .filter(|name| name != "mod")
        .collect();
    let mut names: Vec<String> = REGISTRY.iter().map(|entry| entry.name.to_owned()).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn only_the_python_folder_names_pyo3() {
    for path in files(&root().join("src"), "rs") {
        let inside = path.starts_with(root().join("src/python"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(inside || !text.contains("pyo3"), "{}", path.display());
    }
}

#[test]
fn one_file_alone_is_unsafe_and_says_why() {
    let mut found = Vec::new();
    for path in files(&root().join("src"), "rs") {
        let text = fs::read_to_string(&path).unwrap();
        let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap()).collect();
        let lines: Vec<&str> = text.lines().collect();
        let opens = |line: &str| line.contains("unsafe {") || line.contains("unsafe impl");
        if !code.iter().any(|line| line.contains("unsafe ") || line.contains("unsafe_code")) {
            continue;
        }
        for at in (0..code.len()).filter(|&at| opens(code[at])) {
            let mut above = lines[..at].iter().rev().map(|line| line.trim_start());
            let near = above.find(|line| !line.starts_with("//") || line.contains("SAFETY: "));
            // A statement may begin on the line before the block.
            let said = near.is_some_and(|line| line.starts_with("// SAFETY: "))
                || above.next().is_some_and(|line| line.starts_with("//"));
            assert!(said, "{}:{}: no SAFETY comment", path.display(), at + 1);
        }
        found.push(path);
    }
    assert_eq!(found, [root().join("src/python/arrow.rs")]);
}

#[test]
fn no_python_module_names_a_pure_scorer() {
    // A pure scorer touches no Python: no module of the package knows its type.
    for path in files(&root().join("python"), "py") {
        let text = fs::read_to_string(&path).unwrap();
        for entry in REGISTRY.iter().filter(|entry| !entry.impure && entry.name.contains('-')) {
            let quoted = [format!("\"{}\"", entry.name), format!("'{}'", entry.name)];
            // Docstrings may show a gate; code may not branch on a type.
            let branches = quoted.iter().any(|q| text.contains(&format!("== {q}")));
            assert!(!branches, "{} branches on {}", path.display(), entry.name);
        }
    }
}

/// A scorer that the tree does not have is added as `CONTRIBUTING.md` says, one file and one line
/// of the table, in a copy of the sources; the copy builds and its gate uses the scorer.
#[test]
fn a_fixture_scorer_builds() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixture");
    let _ = fs::remove_dir_all(&copy);
    for path in files(&root().join("src"), "rs") {
        let to = copy.join(path.strip_prefix(root()).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&path, to).unwrap();
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    // The dependencies stay as they are, so that what is built already is used; under another
    // name the copy does not overwrite what is built of the crate itself.
    let library = manifest.split("\n[[").next().unwrap();
    let library = library.replacen("name = \"scoregate\"", "name = \"scoregate-fixture\"", 1);
    fs::write(copy.join("Cargo.toml"), format!("{library}\n[workspace]\n")).unwrap();
    fs::copy(root().join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    fs::copy(root().join("README.md"), copy.join("README.md")).unwrap();

    let fixture = root().join("tests/fixtures/shouting.rs");
    fs::copy(&fixture, copy.join("src/scorers/shouting.rs")).unwrap();
    let registry = copy.join("src/scorers/mod.rs");
    let table = fs::read_to_string(&registry).unwrap();
    let line = "    code_compiles::CodeCompiles,\n";
    assert!(table.contains(line));
    let added = table.replace(line, &format!("{line}    shouting::Shouting,\n"));
    fs::write(&registry, added).unwrap();
    fs::create_dir_all(copy.join("tests")).unwrap();
    fs::copy(root().join("tests/fixtures/uses_shouting.rs"), copy.join("tests/uses.rs")).unwrap();

    // `…/target/tmp` is where test files go: its parent holds the built dependencies.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet", "--test", "uses"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}
