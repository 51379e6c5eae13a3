//! JSON in model output: the strict tier.

mod tape;

pub use tape::{Document, extract};
