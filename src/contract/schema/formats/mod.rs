//! The formats of JSON Schema, asserted in every draft.

mod hosts;
mod links;
mod times;

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::js_regex::JsRegex;

/// A format that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format(&'static Entry);

type Entry = (&'static str, fn(&str) -> bool);

const FORMATS: [Entry; 19] = [
    ("date", times::date),
    ("time", times::time),
    ("date-time", times::date_time),
    ("duration", times::duration),
    ("email", hosts::email),
    ("idn-email", hosts::idn_email),
    ("hostname", hosts::hostname),
    ("idn-hostname", hosts::idn_hostname),
    ("ipv4", |text| text.parse::<Ipv4Addr>().is_ok()),
    ("ipv6", |text| text.parse::<Ipv6Addr>().is_ok()),
    ("uri", links::uri),
    ("uri-reference", links::uri_reference),
    ("iri", links::iri),
    ("iri-reference", links::iri_reference),
    ("uri-template", links::uri_template),
    ("json-pointer", links::json_pointer),
    ("relative-json-pointer", links::relative_json_pointer),
    ("uuid", uuid),
    // Patterns of schemas are JavaScript's.
    ("regex", |text| JsRegex::new(text.as_bytes(), "u").is_ok()),
];

/// Names that OpenAPI and libraries give to widths and secrets; they claim nothing.
const ANNOTATIONS: [&str; 7] = ["int32", "int64", "float", "double", "byte", "binary", "password"];

impl Format {
    /// The format of a name.
    pub(super) fn named(name: &str) -> Option<Format> {
        FORMATS.iter().find(|(known, _)| *known == name).map(Format)
    }

    /// True for a name that says something to programs and claims nothing.
    pub(super) fn is_annotation(name: &str) -> bool {
        ANNOTATIONS.contains(&name)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        self.0.0
    }

    /// True when a text has the format.
    pub(super) fn holds(self, text: &str) -> bool {
        (self.0.1)(text)
    }
}

/// Five groups of hexadecimal digits.
fn uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let hex = |group: &str| group.bytes().all(|b| b.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.into_iter().all(hex)
}
