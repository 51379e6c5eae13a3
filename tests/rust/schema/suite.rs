//! The tests of a checkout of JSON-Schema-Test-Suite, where `SCOREGATE_SCHEMA_SUITE` names one.

use std::fs;
use std::path::Path;

use scoregate::contract::Schema;
use scoregate::json::{Value, parse};

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// Prints what differs; a schema that refers to another document is refused and not counted.
#[test]
#[ignore = "needs a checkout of the suite"]
fn the_suite_passes() {
    let Ok(root) = std::env::var("SCOREGATE_SCHEMA_SUITE") else { panic!("no suite is named") };
    let (mut passed, mut failed, mut refused) = (0, 0, 0);
    for (draft, uri) in DRAFTS {
        let folder = Path::new(&root).join("tests").join(draft);
        for folder in [folder.clone(), folder.join("optional/format")] {
            let mut files: Vec<_> =
                fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
            files.sort();
            for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
                // Formats are asserted here; that folder says how.
                if path.ends_with("format.json") {
                    continue;
                }
                let groups = Value::parse(&fs::read(path).unwrap()).unwrap();
                for group in groups.elements() {
                    let mut schema = group.get("schema").unwrap().clone();
                    if let Value::Object(members) = &mut schema
                        && !members.iter().any(|(key, _)| key == b"$schema")
                    {
                        members.insert(0, (b"$schema".to_vec(), Value::string(uri)));
                    }
                    let built = Schema::new(&schema, false);
                    if built.as_ref().is_err_and(|e| e.contains("never fetched")) {
                        let error = built.err().unwrap();
                        println!(
                            "{draft}/{}: {error}",
                            path.file_name().unwrap().to_string_lossy()
                        );
                        refused += 1;
                        continue;
                    }
                    for test in group.get("tests").unwrap().elements() {
                        let data = test.get("data").unwrap().to_json();
                        let document = parse(data.as_bytes()).unwrap();
                        let got = built.as_ref().map(|schema| schema.violations(document.root()));
                        let wanted = test.get("valid").unwrap().as_bool().unwrap();
                        let holds =
                            built.as_ref().is_ok_and(|schema| schema.holds(document.root()));
                        if matches!(&got, Ok(list) if list.is_empty() == wanted && holds == wanted)
                        {
                            passed += 1;
                            continue;
                        }
                        failed += 1;
                        let name = |value: &Value| value.get("description").unwrap().to_json();
                        println!(
                            "{draft}/{}: {} / {}: wanted {wanted}, got {got:?}\n   {data}",
                            path.file_name().unwrap().to_string_lossy(),
                            name(group),
                            name(test),
                        );
                    }
                }
            }
        }
    }
    println!("{passed} passed, {failed} differ, {refused} schemas refer to other documents");
    assert_eq!(failed, 0);
}
