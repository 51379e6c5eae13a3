//! Schemas from Python. The last ones are kept: to read one takes far longer than to read a short
//! text under it, and a pydantic model takes a millisecond to say its schema.
//!
//! A schema is known by its content, a model by its class and the core schema that pydantic built
//! for it, which a rebuilt model does not keep. At most [`KEPT`] of each are held.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::super::value::from_python;
use crate::contract::{AnySchema, schema_shape_errors};
use crate::json::Value;
use crate::stack::with_room;

const KEPT: usize = 16;

/// A schema in either language that can be used, and what evaluates it.
pub(super) struct Known {
    pub(super) value: Value,
    pub(super) built: AnySchema,
}

/// A class, its core schema, and what it says of itself.
type Model = (Py<PyAny>, Py<PyAny>, Arc<Known>);

/// The newest stand first.
struct Cache {
    schemas: Vec<Arc<Known>>,
    models: Vec<Model>,
}

static CACHE: Mutex<Cache> = Mutex::new(Cache { schemas: Vec::new(), models: Vec::new() });

/// Nothing of Python runs while the lock is held.
fn cache() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The schema that an argument is; an error names what is wrong with it.
pub(super) fn schema_of(schema: &Bound<'_, PyAny>) -> PyResult<Arc<Known>> {
    let core = if schema.is_instance_of::<PyType>() {
        schema.getattr_opt(intern!(schema.py(), "__pydantic_core_schema__"))?
    } else {
        None
    };
    if let Some(core) = &core
        && let Some(known) = cache().model(schema, core)
    {
        return Ok(known);
    }
    let known = by_content(from_python(schema, "schema")?)?;
    if let Some(core) = core {
        let model = (schema.clone().unbind(), core.unbind(), known.clone());
        // What falls out may run code when it is dropped: after the lock.
        let _old = keep(&mut cache().models, model);
    }
    Ok(known)
}

fn by_content(value: Value) -> PyResult<Arc<Known>> {
    if let Some(known) = with_room(|| cache().schema(&value)) {
        return Ok(known);
    }
    let errors = schema_shape_errors(&value, "schema");
    if !errors.is_empty() {
        return Err(PyValueError::new_err(errors.join("; ")));
    }
    let built = AnySchema::new(&value, false);
    if let AnySchema::Schema(Err(reason)) = &built {
        return Err(PyValueError::new_err(format!("schema: {reason}")));
    }
    let known = Arc::new(Known { value, built });
    let _old = keep(&mut cache().schemas, known.clone());
    Ok(known)
}

impl Cache {
    fn schema(&mut self, value: &Value) -> Option<Arc<Known>> {
        let at = self.schemas.iter().position(|known| known.value == *value)?;
        self.schemas.get_mut(..=at)?.rotate_right(1);
        self.schemas.first().cloned()
    }

    fn model(&mut self, class: &Bound<'_, PyAny>, core: &Bound<'_, PyAny>) -> Option<Arc<Known>> {
        let same = |(a, b, _): &Model| a.is(class) && b.is(core);
        let at = self.models.iter().position(same)?;
        self.models.get_mut(..=at)?.rotate_right(1);
        self.models.first().map(|(_, _, known)| known.clone())
    }
}

/// Puts a new one first; gives the one that falls out.
fn keep<T>(list: &mut Vec<T>, new: T) -> Option<T> {
    list.insert(0, new);
    if list.len() > KEPT { list.pop() } else { None }
}
