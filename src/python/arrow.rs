//! Arrow's C data interface: capsules in, capsules out. The only file with unsafe code: what
//! it hands on is slices that live as long as the array that they are of.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::batch::arrow::{Array, Bits, Buffer, Column, Field, Layout, type_name};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Values may be missing.
const NULLABLE: i64 = 2;

/// `struct ArrowSchema` of the C data interface.
#[repr(C)]
struct RawSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut RawSchema,
    dictionary: *mut RawSchema,
    release: Option<unsafe extern "C" fn(*mut RawSchema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray` of the C data interface.
#[repr(C)]
struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut RawArray,
    dictionary: *mut RawArray,
    release: Option<unsafe extern "C" fn(*mut RawArray)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream` of the C stream interface.
#[repr(C)]
struct RawStream {
    get_schema: Option<unsafe extern "C" fn(*mut RawStream, *mut RawSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut RawStream, *mut RawArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut RawStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut RawStream)>,
    private_data: *mut c_void,
}

/// A structure of the interface that owns what it points to until it is released.
macro_rules! released {
    ($name:ident { $($field:ident: $empty:expr),* $(,)? }) => {
        impl $name {
            /// One that owns nothing.
            const EMPTY: $name = $name { $($field: $empty),*, release: None, private_data: null_mut() };
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the structure was not released before, or its callback would be
                    // None; the interface wants the callback to be called once, with it.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interface lets a structure be moved to another thread; one that is shared is
        // only read.
        unsafe impl Send for $name {}
    };
}

released!(RawSchema {
    format: null(),
    name: null(),
    metadata: null(),
    flags: 0,
    n_children: 0,
    children: null_mut(),
    dictionary: null_mut(),
});
released!(RawArray {
    length: 0,
    null_count: 0,
    offset: 0,
    n_buffers: 0,
    n_children: 0,
    buffers: null_mut(),
    children: null_mut(),
    dictionary: null_mut(),
});
released!(RawStream { get_schema: None, get_next: None, get_last_error: None });

// SAFETY: an array that was received is not written to until it is dropped.
unsafe impl Sync for RawArray {}

/// Moves a structure out of the capsule that an object gave; the capsule keeps an empty one.
fn take<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr, empty: T) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let place = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of this name holds a structure of this type (the PyCapsule interface of
    // Arrow), which its consumer may move out; the GIL, or the object alone, guards the place.
    Ok(unsafe { place.replace(empty) })
}

/// A type, as the schema of a column names it.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub(super) name: String,
    format: String,
    values: Option<String>,
}

impl Type {
    /// The layout of the column's values, where they are texts or whole numbers.
    pub(super) fn layout(&self) -> Option<Layout> {
        Layout::of(&self.format, self.values.as_deref())
    }

    pub(super) fn is_table(&self) -> bool {
        self.format == "+s"
    }

    /// The type in words.
    pub(super) fn words(&self) -> String {
        match &self.values {
            Some(values) => format!("dictionary of {}", type_name(values)),
            None => type_name(&self.format).to_owned(),
        }
    }
}

/// The type at the top of a schema and the types of its children.
struct Schema {
    top: Type,
    children: Vec<Type>,
}

impl Schema {
    fn of(raw: &RawSchema) -> PyResult<Schema> {
        let children = usize::try_from(raw.n_children).unwrap_or(0);
        let child = |i: usize| {
            // SAFETY: a schema has as many children as it says, each of them valid while it is.
            let child = unsafe { raw.children.add(i).read().as_ref() };
            child.map_or_else(|| Err(broken("a schema without a child")), type_of)
        };
        Ok(Schema {
            top: type_of(raw)?,
            children: (0..children).map(child).collect::<PyResult<_>>()?,
        })
    }
}

fn type_of(raw: &RawSchema) -> PyResult<Type> {
    let text = |text: *const c_char| {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: format and name are texts that end with a zero byte and live while the schema
        // does.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    // SAFETY: the dictionary of a schema is null, or valid while the schema is.
    let values = unsafe { raw.dictionary.as_ref() }.map(|values| text(values.format));
    if raw.release.is_none() {
        return Err(broken("a schema that was released"));
    }
    Ok(Type { name: text(raw.name), format: text(raw.format), values })
}

fn broken(what: &str) -> PyErr {
    PyValueError::new_err(format!("not an Arrow stream: {what}"))
}

/// An array that was received, with its columns.
pub(super) struct Chunk {
    raw: RawArray,
}

impl Chunk {
    pub(super) fn len(&self) -> usize {
        usize::try_from(self.raw.length).unwrap_or(0)
    }

    /// The chunk as an array of this layout.
    pub(super) fn array(&self, layout: &Layout) -> PyResult<Array<'_>> {
        array_of(&self.raw, layout, None)
    }

    /// A column of the chunk, which is a table.
    pub(super) fn column(&self, index: usize, layout: &Layout) -> PyResult<Array<'_>> {
        if index >= usize::try_from(self.raw.n_children).unwrap_or(0) {
            return Err(broken("a table without one of its columns"));
        }
        // SAFETY: an array has as many children as it says, each of them valid while it is.
        let child = unsafe { self.raw.children.add(index).read().as_ref() };
        array_of(child.ok_or_else(|| broken("a table without a column"))?, layout, Some(&self.raw))
    }
}

/// Views of an array's buffers, each as long as its rows want.
fn array_of<'a>(
    raw: &'a RawArray,
    layout: &Layout,
    parent: Option<&'a RawArray>,
) -> PyResult<Array<'a>> {
    let number = |value: i64| usize::try_from(value).map_err(|_| broken("a length below zero"));
    let (len, offset) = (number(raw.length)?, number(raw.offset)?);
    let (skipped, rows) = match parent {
        Some(parent) => (number(parent.offset)?, number(parent.length)?),
        None => (0, len),
    };
    if skipped.checked_add(rows).is_none_or(|end| end > len) {
        return Err(broken("a column shorter than its table"));
    }
    let (offset, len) = (offset.checked_add(skipped), rows);
    let (offset, end) = match offset.and_then(|offset| Some((offset, offset.checked_add(len)?))) {
        Some(found) if found.1 < isize::MAX as usize / 16 => found,
        _ => return Err(broken("a length out of range")),
    };
    let mut array = Array { len, offset, ..Array::default() };
    if len == 0 {
        // Buffers of an empty array may be missing.
        array.values = match layout {
            Layout::Dictionary(..) => Some(Box::default()),
            _ => None,
        };
        return Ok(array);
    }
    let count = number(raw.n_buffers)?;
    let bytes = |index: usize, len: usize| -> PyResult<&'a [u8]> {
        if index >= count {
            return Err(broken("an array without one of its buffers"));
        }
        // SAFETY: an array has as many buffers as it says.
        let start = unsafe { raw.buffers.add(index).read() }.cast::<u8>();
        if start.is_null() {
            return if len == 0 { Ok(&[]) } else { Err(broken("a buffer that is missing")) };
        }
        // SAFETY: the interface wants the buffers of an array to be as long as its length, offset
        // and format say, which is what the callers below ask for, and to live until the array is
        // released, which `'a` does not outlast. Bytes need no alignment.
        Ok(unsafe { std::slice::from_raw_parts(start, len) })
    };
    let bits = |raw: &'a RawArray, offset: usize, end: usize| -> Bits<'a> {
        // SAFETY: as above; the first buffer of an array that has any is its bitmap.
        let start = if raw.n_buffers > 0 { unsafe { raw.buffers.read() } } else { null() };
        if start.is_null() || raw.null_count == 0 {
            return Bits::default();
        }
        // SAFETY: a bitmap has a bit for each row up to the end.
        let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), end.div_ceil(8)) };
        Bits { bytes, offset }
    };
    if let Some(parent) = parent {
        array.row = bits(parent, skipped, skipped + rows);
    }
    if *layout != Layout::Null {
        array.valid = bits(raw, offset, end);
    }
    match layout {
        Layout::Null => {}
        Layout::Int(int) => array.buffers.push(bytes(1, end * int.width)?),
        Layout::Text { wide } => {
            let width = if *wide { 8 } else { 4 };
            let offsets = bytes(1, (end + 1) * width)?;
            array.buffers.push(offsets);
            array.buffers.push(bytes(2, last_number(offsets, width)?)?);
        }
        Layout::View => {
            array.buffers.push(bytes(1, end * 16)?);
            let data = count.saturating_sub(3);
            let lengths = bytes(count - 1, if data == 0 { 0 } else { data * 8 })?;
            for (i, length) in lengths.chunks_exact(8).enumerate() {
                array.buffers.push(bytes(2 + i, last_number(length, 8)?)?);
            }
        }
        Layout::Dictionary(int, values) => {
            array.buffers.push(bytes(1, end * int.width)?);
            // SAFETY: the dictionary of an array is null, or valid while the array is.
            let inner = unsafe { raw.dictionary.as_ref() };
            let inner = inner.ok_or_else(|| broken("a dictionary without values"))?;
            array.values = Some(Box::new(array_of(inner, values, None)?));
        }
    }
    Ok(array)
}

/// The last number of a buffer of numbers, as a length.
fn last_number(bytes: &[u8], width: usize) -> PyResult<usize> {
    let found = match width {
        4 => bytes.last_chunk::<4>().map(|last| i64::from(i32::from_ne_bytes(*last))),
        _ => bytes.last_chunk::<8>().map(|last| i64::from_ne_bytes(*last)),
    };
    let len = found.and_then(|found| usize::try_from(found).ok());
    let len = len.filter(|&len| isize::try_from(len).is_ok());
    len.ok_or_else(|| broken("a buffer with a length below zero"))
}

/// Arrays that are received one by one.
pub(super) struct Stream {
    source: Source,
    schema: Schema,
}

enum Source {
    Stream(RawStream),
    One(Option<RawArray>),
}

impl Stream {
    /// The arrays of an object that speaks Arrow; None of one that does not.
    pub(super) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Stream>> {
        // Asked of the type: a data frame answers for its columns, a series for its labels.
        let class = object.get_type();
        if class.hasattr("__arrow_c_stream__")? {
            let capsule = object.call_method0("__arrow_c_stream__")?;
            let mut stream = take(&capsule, STREAM, RawStream::EMPTY)?;
            let schema = object.py().detach(|| {
                let mut raw = RawSchema::EMPTY;
                stream.ask(|stream| {
                    // SAFETY: the stream was not released, and the schema is a place to write to.
                    stream.get_schema.map(|get| unsafe { get(stream, &raw mut raw) })
                })?;
                Schema::of(&raw)
            })?;
            return Ok(Some(Stream { source: Source::Stream(stream), schema }));
        }
        if class.hasattr("__arrow_c_array__")? {
            let pair = object.call_method0("__arrow_c_array__")?;
            let pair = pair.cast::<PyTuple>()?;
            let schema = take(&pair.get_item(0)?, SCHEMA, RawSchema::EMPTY)?;
            let array = take(&pair.get_item(1)?, ARRAY, RawArray::EMPTY)?;
            let schema = Schema::of(&schema)?;
            return Ok(Some(Stream { source: Source::One(Some(array)), schema }));
        }
        Ok(None)
    }

    /// The type of the arrays.
    pub(super) fn top(&self) -> &Type {
        &self.schema.top
    }

    /// The types of a table's columns.
    pub(super) fn columns(&self) -> &[Type] {
        &self.schema.children
    }

    /// The next array; None at the end.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Chunk>> {
        let raw = match &mut self.source {
            Source::One(array) => array.take(),
            // Whoever gives it may run Python, in this thread or another.
            Source::Stream(stream) => py.detach(|| {
                let mut raw = RawArray::EMPTY;
                stream.ask(|stream| {
                    // SAFETY: the stream was not released, and the array is a place to write to.
                    stream.get_next.map(|get| unsafe { get(stream, &raw mut raw) })
                })?;
                Ok::<_, PyErr>(Some(raw))
            })?,
        };
        // A released array says that there are no more.
        Ok(raw.filter(|raw| raw.release.is_some()).map(|raw| Chunk { raw }))
    }
}

impl RawStream {
    /// Calls the stream; a code other than 0 is an error, with the stream's own words.
    fn ask(&mut self, call: impl FnOnce(&mut RawStream) -> Option<c_int>) -> PyResult<()> {
        if self.release.is_none() {
            let message = "the stream was read before, and can be read once only";
            return Err(PyValueError::new_err(message));
        }
        let code = call(self).ok_or_else(|| broken("a stream without its functions"))?;
        if code == 0 {
            return Ok(());
        }
        // SAFETY: after an error, before any other call, the stream may be asked what was wrong.
        let message = self.get_last_error.map(|get| unsafe { get(self) });
        let message = message.filter(|message| !message.is_null()).map(|message| {
            // SAFETY: the message ends with a zero byte and lives until the next call.
            unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
        });
        let message = message.unwrap_or_else(|| format!("error {code}"));
        Err(PyValueError::new_err(format!("the Arrow stream failed: {message}")))
    }
}

/// What a schema of ours owns.
struct OwnedSchema {
    format: CString,
    name: CString,
    children: Vec<*mut RawSchema>,
    dictionary: *mut RawSchema,
}

/// A schema; children become its own.
fn schema(
    format: &str,
    name: &str,
    flags: i64,
    children: Vec<RawSchema>,
    dictionary: Option<RawSchema>,
) -> PyResult<RawSchema> {
    let text = |text: &str| {
        CString::new(text).map_err(|_| PyValueError::new_err("a column's name holds a zero byte"))
    };
    let mut owned = Box::new(OwnedSchema {
        format: text(format)?,
        name: text(name)?,
        children: children.into_iter().map(boxed).collect(),
        dictionary: dictionary.map_or(null_mut(), boxed),
    });
    Ok(RawSchema {
        format: owned.format.as_ptr(),
        name: owned.name.as_ptr(),
        metadata: null(),
        flags,
        n_children: owned.children.len().cast_signed() as i64,
        children: owned.children.as_mut_ptr(),
        dictionary: owned.dictionary,
        release: Some(release_schema),
        private_data: Box::into_raw(owned).cast(),
    })
}

fn boxed<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Drops what [`boxed`] made. A consumer that moved it elsewhere has left it empty.
fn unboxed<T>(place: *mut T) {
    if !place.is_null() {
        // SAFETY: the place was made by `boxed` and is dropped once, by the release of its owner.
        drop(unsafe { Box::from_raw(place) });
    }
}

unsafe extern "C" fn release_schema(raw: *mut RawSchema) {
    // SAFETY: called once, by the owner of a schema that `schema` made.
    let owned = unsafe {
        (*raw).release = None;
        Box::from_raw((*raw).private_data.cast::<OwnedSchema>())
    };
    owned.children.iter().copied().for_each(unboxed);
    unboxed(owned.dictionary);
}

fn table_schema(fields: &[Field]) -> PyResult<RawSchema> {
    let field = |field: &Field| {
        let words = field.words.map(|_| schema("u", "", 0, Vec::new(), None)).transpose()?;
        let flags = if field.nullable { NULLABLE } else { 0 };
        schema(field.format, &field.name, flags, Vec::new(), words)
    };
    schema("+s", "", 0, fields.iter().map(field).collect::<PyResult<_>>()?, None)
}

/// What an array of ours owns.
struct OwnedArray {
    /// The bitmap and the values that the pointers lead to.
    _held: (Vec<u8>, Vec<Buffer>),
    buffers: Vec<*const c_void>,
    children: Vec<*mut RawArray>,
    dictionary: *mut RawArray,
}

fn array(column: Column, children: Vec<RawArray>) -> RawArray {
    let Column { rows, nulls, buffers: held, words } = column;
    let bitmap = if nulls.count == 0 { null() } else { nulls.bits.as_ptr().cast() };
    let buffers = held.iter().map(|buffer| match buffer {
        Buffer::Words(words) => words.as_ptr().cast(),
        Buffer::Small(numbers) => numbers.as_ptr().cast(),
        Buffer::Doubles(doubles) => doubles.as_ptr().cast(),
        Buffer::Bytes(bytes) => bytes.as_ptr().cast(),
    });
    let buffers = std::iter::once(bitmap).chain(buffers).collect();
    let mut owned = Box::new(OwnedArray {
        buffers,
        children: children.into_iter().map(boxed).collect(),
        dictionary: words
            .map_or(null_mut(), |words| boxed(array(Column::of_words(words), Vec::new()))),
        _held: (nulls.bits, held),
    });
    RawArray {
        length: rows.cast_signed() as i64,
        null_count: nulls.count.cast_signed() as i64,
        offset: 0,
        n_buffers: owned.buffers.len().cast_signed() as i64,
        n_children: owned.children.len().cast_signed() as i64,
        buffers: owned.buffers.as_mut_ptr(),
        children: owned.children.as_mut_ptr(),
        dictionary: owned.dictionary,
        release: Some(release_array),
        private_data: Box::into_raw(owned).cast(),
    }
}

unsafe extern "C" fn release_array(raw: *mut RawArray) {
    // SAFETY: called once, by the owner of an array that `array` made.
    let owned = unsafe {
        (*raw).release = None;
        Box::from_raw((*raw).private_data.cast::<OwnedArray>())
    };
    owned.children.iter().copied().for_each(unboxed);
    unboxed(owned.dictionary);
}

/// Makes the pieces of a stream, one by one; None at the end.
pub(super) type Pieces = Box<dyn FnMut() -> Option<(usize, Vec<Column>)> + Send>;

/// What a stream of ours owns.
struct OwnedStream {
    fields: Arc<[Field]>,
    pieces: Pieces,
}

/// A capsule of a stream of tables.
pub(super) fn stream_capsule(
    py: Python<'_>,
    fields: Vec<Field>,
    pieces: Pieces,
) -> PyResult<Bound<'_, PyCapsule>> {
    // A name that no schema can hold is said before anybody reads.
    table_schema(&fields)?;
    let owned = OwnedStream { fields: fields.into(), pieces };
    let stream = RawStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: boxed(owned).cast(),
    };
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// A capsule of the schema of a table.
pub(super) fn schema_capsule<'py>(
    py: Python<'py>,
    fields: &[Field],
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, table_schema(fields)?, SCHEMA)
}

unsafe extern "C" fn get_schema(raw: *mut RawStream, out: *mut RawSchema) -> c_int {
    // SAFETY: the stream was made by `stream_capsule` and is not released; `out` is a place to
    // write to, whose content is nobody's.
    unsafe {
        let owned = &*(*raw).private_data.cast::<OwnedStream>();
        let Ok(schema) = table_schema(&owned.fields) else { return 22 };
        out.write(schema);
    }
    0
}

unsafe extern "C" fn get_next(raw: *mut RawStream, out: *mut RawArray) -> c_int {
    // SAFETY: as in `get_schema`; a stream is asked by one thread at a time.
    unsafe {
        let owned = &mut *(*raw).private_data.cast::<OwnedStream>();
        out.write(match (owned.pieces)() {
            None => RawArray::EMPTY,
            Some((rows, columns)) => {
                let children = columns.into_iter().map(|column| array(column, Vec::new()));
                array(Column::of_table(rows), children.collect())
            }
        });
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut RawStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(raw: *mut RawStream) {
    // SAFETY: called once, by the owner of a stream that `stream_capsule` made.
    unsafe {
        (*raw).release = None;
        unboxed((*raw).private_data.cast::<OwnedStream>());
    }
}
