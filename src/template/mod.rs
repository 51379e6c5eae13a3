//! Templates: texts with placeholders, and conditions over the same names.
//!
//! * [`interpolate`]: `{steps.gen.output}` and its kin become text.
//! * [`evaluate_condition`]: `{args.n} > 3 && {steps.gen.json.ok}` becomes true or false.
//! * [`Context`]: what the names stand for.
//!
//! A placeholder is `{` name { `.` name } `}`, a name letters, digits, `_` and `-`. Roots:
//!
//! | root | gives |
//! | --- | --- |
//! | `args` | the arguments, and what they hold |
//! | `steps.ID.output` | the output of a step; nothing may follow |
//! | `steps.ID.json` | its value, else what the strict tier finds in its output |
//! | `previous.output` | the output before this one |
//! | any other | a local value of that name |
//!
//! Own members of objects, indices and `length` of arrays. Nothing is computed and no other text is
//! read: a template sees what it names. Work is linear in the template and in what it names, and a
//! text has at most [`MAX_BYTES`].

mod condition;
mod context;
mod interpolate;
mod limit;
mod tokens;

pub use condition::{Condition, condition_references, evaluate_condition};
pub use context::{Context, Step};
pub use interpolate::{Interpolation, interpolate, references};
pub use limit::{MAX_BYTES, TooLong};
