//! Which part of a text is the document.
//!
//! One pass from left to right finds fenced blocks (back-ticks and tildes, three or more, closed
//! or not), tagged blocks (`<tool_call>`), reasoning blocks (`<think>`) and bare brackets. Where
//! the words behind an opening bracket look like data, the document is read there and then, so
//! nothing inside it is looked at again. Documents with nothing but space and commas between
//! them form one candidate, the list of them.
//!
//! The best candidate is taken, in this order: a `json` fence that parses; another fence or a tag
//! that parses; a `json` fence that repairs to something; an untagged fence or a tag that repairs
//! to keys with values; bare documents. Among bare ones keys with values come before plain lists
//! (citations, indices), valid before repaired, quoted keys before bare ones, empty brackets last,
//! then the earlier one. Reasoning blocks count only if nothing stands outside them.

mod ahead;
mod blocks;
mod fence;
mod found;
mod run;
mod search;

pub(super) use ahead::{Ahead, look};
pub(super) use blocks::is_reasoning;
pub use found::Other;
pub(super) use found::{Chosen, Found};
pub(super) use search::Search;
