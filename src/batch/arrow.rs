//! Arrow arrays: columns of texts and ids that stand in the memory of others, and the columns
//! that a batch gives. What is read here is slices of bytes; pointers are `src/python/arrow.rs`'s.

use super::columns::Columns;
use crate::gate::Gate;
use crate::result::{Reason, Verdict};

/// How the values of a column are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// No value is there.
    Null,
    /// Strings with offsets of 4 bytes, or 8.
    Text {
        /// Offsets have 8 bytes.
        wide: bool,
    },
    /// String views.
    View,
    /// Whole numbers.
    Int(Int),
    /// Indices into other values.
    Dictionary(Int, Box<Layout>),
}

/// A whole number's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// Its bytes: 1, 2, 4 or 8.
    pub width: usize,
    /// Below zero is allowed.
    pub signed: bool,
}

impl Int {
    const FORMATS: [(&'static str, Int); 8] = [
        ("c", Int { width: 1, signed: true }),
        ("C", Int { width: 1, signed: false }),
        ("s", Int { width: 2, signed: true }),
        ("S", Int { width: 2, signed: false }),
        ("i", Int { width: 4, signed: true }),
        ("I", Int { width: 4, signed: false }),
        ("l", Int { width: 8, signed: true }),
        ("L", Int { width: 8, signed: false }),
    ];

    fn of(format: &str) -> Option<Int> {
        Int::FORMATS.iter().find(|(name, _)| *name == format).map(|&(_, int)| int)
    }

    fn format(self) -> &'static str {
        Int::FORMATS.iter().find(|&&(_, int)| int == self).map_or("l", |&(name, _)| name)
    }

    fn at(self, bytes: &[u8], index: usize) -> Option<i128> {
        let start = index.checked_mul(self.width)?;
        let raw = bytes.get(start..start.checked_add(self.width)?)?;
        let value = match (raw, self.signed) {
            (&[a], true) => i128::from(a.cast_signed()),
            (&[a], false) => i128::from(a),
            (&[a, b], true) => i128::from(i16::from_ne_bytes([a, b])),
            (&[a, b], false) => i128::from(u16::from_ne_bytes([a, b])),
            (&[a, b, c, d], true) => i128::from(i32::from_ne_bytes([a, b, c, d])),
            (&[a, b, c, d], false) => i128::from(u32::from_ne_bytes([a, b, c, d])),
            (_, true) => i128::from(i64::from_ne_bytes(raw.try_into().ok()?)),
            (_, false) => i128::from(u64::from_ne_bytes(raw.try_into().ok()?)),
        };
        Some(value)
    }
}

impl Layout {
    /// The layout of a format of the C data interface; `values` is the format of a dictionary.
    /// None for one that holds neither texts nor whole numbers.
    pub fn of(format: &str, values: Option<&str>) -> Option<Layout> {
        if let Some(values) = values {
            let values = Layout::of(values, None).filter(Layout::is_text)?;
            return Some(Layout::Dictionary(Int::of(format)?, Box::new(values)));
        }
        Some(match format {
            "n" => Layout::Null,
            "u" => Layout::Text { wide: false },
            "U" => Layout::Text { wide: true },
            "vu" => Layout::View,
            _ => Layout::Int(Int::of(format)?),
        })
    }

    /// True for texts, and for a column without any value.
    pub fn is_text(&self) -> bool {
        !matches!(self, Layout::Int(_))
    }
}

/// What people call a format of the C data interface.
pub fn type_name(format: &str) -> &str {
    match format {
        "b" => "bool",
        "c" => "int8",
        "C" => "uint8",
        "s" => "int16",
        "S" => "uint16",
        "i" => "int32",
        "I" => "uint32",
        "l" => "int64",
        "L" => "uint64",
        "e" => "float16",
        "f" => "float32",
        "g" => "float64",
        "u" | "U" | "vu" => "string",
        "z" | "Z" | "vz" => "binary",
        "n" => "null",
        "+s" => "struct",
        "+l" | "+L" | "+vl" | "+vL" => "list",
        "+m" => "map",
        "+r" => "run_end_encoded",
        _ => match format.get(..2) {
            Some("td") => "date",
            Some("tt") => "time",
            Some("ts") => "timestamp",
            Some("tD") => "duration",
            Some("ti") => "interval",
            Some("+w") => "fixed_size_list",
            Some("+u") => "union",
            Some("w:") => "fixed_size_binary",
            Some("d:") => "decimal",
            _ => format,
        },
    }
}

/// A bitmap from a bit on; an empty one has every bit set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bits<'a> {
    /// The bytes, least significant bit first.
    pub bytes: &'a [u8],
    /// The first bit.
    pub offset: usize,
}

impl Bits<'_> {
    fn get(self, index: usize) -> bool {
        let at = self.offset + index;
        self.bytes.is_empty()
            || self.bytes.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }
}

/// An array in the memory of others.
#[derive(Clone, Debug, Default)]
pub struct Array<'a> {
    /// Its rows.
    pub len: usize,
    /// The index of the first of them in the buffers.
    pub offset: usize,
    /// Which rows of the table that holds it are there.
    pub row: Bits<'a>,
    /// Which values are there.
    pub valid: Bits<'a>,
    /// The buffers after the bitmap: numbers; offsets and bytes; views and their data.
    pub buffers: Vec<&'a [u8]>,
    /// The values of a dictionary.
    pub values: Option<Box<Array<'a>>>,
}

/// Why a row cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The row, counted in its array.
    pub row: usize,
    /// What is wrong.
    pub what: &'static str,
}

const OUTSIDE: &str = "points outside of its buffers";
const NOT_UTF8: &str = "is not UTF-8";

/// The texts of an array, None where there is none.
pub struct Strings<'a> {
    array: Array<'a>,
    layout: Layout,
    /// The values of a dictionary.
    values: Vec<Option<&'a [u8]>>,
}

impl<'a> Strings<'a> {
    /// The texts of an array of this layout.
    pub fn new(layout: &Layout, mut array: Array<'a>) -> Result<Self, Fault> {
        let mut values = Vec::new();
        if let (Layout::Dictionary(_, layout), Some(inner)) = (layout, array.values.take()) {
            let inner = Strings::new(layout, *inner)?;
            values = inner.read(0..inner.len())?;
        }
        Ok(Strings { array, layout: layout.clone(), values })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.array.len
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.array.len == 0
    }

    /// The texts of some rows.
    pub fn read(&self, rows: std::ops::Range<usize>) -> Result<Vec<Option<&'a [u8]>>, Fault> {
        let mut read = Vec::with_capacity(rows.len());
        for row in rows {
            if !self.array.valid.get(row) || !self.array.row.get(row) {
                read.push(None);
                continue;
            }
            let Some(text) = self.at(row + self.array.offset) else {
                return Err(Fault { row, what: OUTSIDE });
            };
            // The values of a dictionary have been looked at.
            let known = matches!(self.layout, Layout::Dictionary(..));
            if let Some(text) = text
                && !known
                && std::str::from_utf8(text).is_err()
            {
                return Err(Fault { row, what: NOT_UTF8 });
            }
            read.push(text);
        }
        Ok(read)
    }

    /// The text at an index of the buffers; None where that leads nowhere.
    #[allow(clippy::option_option)] // no text is not the same as no place
    fn at(&self, index: usize) -> Option<Option<&'a [u8]>> {
        let buffer = |i: usize| self.array.buffers.get(i).copied();
        let place = |value: Option<i128>| usize::try_from(value?).ok();
        match &self.layout {
            Layout::Null | Layout::Int(_) => Some(None),
            Layout::Text { wide } => {
                let int = Int { width: if *wide { 8 } else { 4 }, signed: true };
                let (offsets, data) = (buffer(0)?, buffer(1)?);
                let start = place(int.at(offsets, index))?;
                let end = place(int.at(offsets, index + 1))?;
                Some(Some(data.get(start..end)?))
            }
            Layout::View => {
                let view = buffer(0)?.get(index.checked_mul(16)?..)?.first_chunk::<16>()?;
                let int = Int { width: 4, signed: true };
                let field = |i: usize| place(int.at(view, i));
                let len = field(0)?;
                if len <= 12 {
                    let start = index * 16 + 4;
                    return Some(Some(buffer(0)?.get(start..start + len)?));
                }
                let start = field(3)?;
                Some(Some(buffer(1 + field(2)?)?.get(start..start.checked_add(len)?)?))
            }
            Layout::Dictionary(int, _) => {
                let key = place(int.at(buffer(0)?, index))?;
                self.values.get(key).copied()
            }
        }
    }
}

/// The ids of a batch: a column that was given, kept as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Ids {
    name: String,
    kind: Kind,
    present: Vec<bool>,
    /// Texts one after the other, or numbers of one width.
    bytes: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text { wide: bool },
    Int(Int),
}

/// An id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id<'a> {
    /// A text.
    Text(&'a str),
    /// A whole number.
    Int(i128),
}

/// Ids as plain lists: name, format, which are there, bytes, ends.
pub type IdParts = (String, String, Vec<bool>, Vec<u8>, Vec<usize>);

impl Ids {
    /// No ids yet, of a column of this name and layout.
    pub fn new(name: &str, layout: &Layout) -> Self {
        let kind = match layout {
            Layout::Int(int) => Kind::Int(*int),
            Layout::Text { wide: false } => Kind::Text { wide: false },
            _ => Kind::Text { wide: true },
        };
        let (present, bytes, ends) = (Vec::new(), Vec::new(), Vec::new());
        Ids { name: name.to_owned(), kind, present, bytes, ends }
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends the ids of an array of the layout.
    pub fn append(&mut self, layout: &Layout, array: Array<'_>) -> Result<(), Fault> {
        let Kind::Int(int) = self.kind else {
            let strings = Strings::new(layout, array)?;
            for text in strings.read(0..strings.len())? {
                self.present.push(text.is_some());
                self.bytes.extend_from_slice(text.unwrap_or_default());
                self.ends.push(self.bytes.len());
            }
            return Ok(());
        };
        let data = array.buffers.first().copied().unwrap_or_default();
        for row in 0..array.len {
            let start = (row + array.offset) * int.width;
            let raw = data.get(start..start + int.width).ok_or(Fault { row, what: OUTSIDE })?;
            self.present.push(array.valid.get(row) && array.row.get(row));
            self.bytes.extend_from_slice(raw);
        }
        Ok(())
    }

    /// The id of a row; None where there is none.
    pub fn get(&self, row: usize) -> Option<Id<'_>> {
        if !*self.present.get(row)? {
            return None;
        }
        match self.kind {
            Kind::Int(int) => int.at(&self.bytes, row).map(Id::Int),
            Kind::Text { .. } => {
                let text = self.bytes.get(self.start(row)..*self.ends.get(row)?)?;
                std::str::from_utf8(text).ok().map(Id::Text)
            }
        }
    }

    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends.get(row - 1).copied().unwrap_or_default() }
    }

    /// The ids as plain lists.
    pub fn to_parts(&self) -> IdParts {
        let format = self.field().format.to_owned();
        (self.name.clone(), format, self.present.clone(), self.bytes.clone(), self.ends.clone())
    }

    /// Ids from [`Ids::to_parts`], for so many rows; None where the lists do not fit together.
    pub fn from_parts(parts: IdParts, rows: usize) -> Option<Self> {
        let (name, format, present, bytes, ends) = parts;
        let kind = match Layout::of(&format, None)? {
            Layout::Int(int) => Kind::Int(int),
            Layout::Text { wide } => Kind::Text { wide },
            _ => return None,
        };
        let whole = match kind {
            Kind::Int(int) => ends.is_empty() && bytes.len() == rows * int.width,
            Kind::Text { .. } => {
                ends.len() == rows
                    && ends.is_sorted()
                    && ends.last().copied().unwrap_or_default() == bytes.len()
            }
        };
        let ids = Ids { name, kind, present, bytes, ends };
        let utf8 = |row| {
            let text = ids.bytes.get(ids.start(row)..ids.ends[row]);
            text.is_some_and(|text| std::str::from_utf8(text).is_ok())
        };
        let whole = whole && ids.present.len() == rows && (0..ids.ends.len()).all(utf8);
        whole.then_some(ids)
    }

    fn field(&self) -> Field {
        let format = match self.kind {
            Kind::Text { wide: false } => "u",
            Kind::Text { wide: true } => "U",
            Kind::Int(int) => int.format(),
        };
        Field { name: self.name.clone(), format, nullable: true, words: None }
    }

    fn column(&self, rows: std::ops::Range<usize>) -> Column {
        let absent = rows.clone().filter(|&row| !self.present[row]);
        let nulls = Nulls::of(&rows, absent);
        let buffers = match self.kind {
            Kind::Int(int) => {
                vec![Buffer::bytes(&self.bytes[rows.start * int.width..rows.end * int.width])]
            }
            Kind::Text { wide } => {
                let start = self.start(rows.start);
                let ends = rows.clone().map(|row| self.ends[row] - start);
                let end = rows.end.checked_sub(1).map_or(start, |last| self.ends[last].max(start));
                vec![Buffer::offsets(wide, ends), Buffer::bytes(&self.bytes[start..end])]
            }
        };
        Column { rows: rows.len(), nulls, buffers, words: None }
    }
}

/// A column of a batch, as a schema names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The format of the C data interface.
    pub format: &'static str,
    /// Whether a value may be missing.
    pub nullable: bool,
    /// The values that the numbers of the column stand for.
    pub words: Option<&'static [&'static str]>,
}

/// The values of a column.
#[derive(Debug)]
pub struct Column {
    /// The rows.
    pub rows: usize,
    /// The rows without a value.
    pub nulls: Nulls,
    /// The buffers after the bitmap.
    pub buffers: Vec<Buffer>,
    /// The values that the numbers of the column stand for.
    pub words: Option<&'static [&'static str]>,
}

impl Column {
    /// The rows of a table, whose values are its columns'.
    pub fn of_table(rows: usize) -> Self {
        Column { rows, nulls: Nulls::default(), buffers: Vec::new(), words: None }
    }

    /// The values of a dictionary.
    pub fn of_words(words: &[&str]) -> Self {
        let mut end = 0;
        let ends = words.iter().map(|word| {
            end += word.len();
            end
        });
        let buffers = vec![Buffer::offsets(false, ends), Buffer::bytes(words.concat().as_bytes())];
        Column { buffers, ..Column::of_table(words.len()) }
    }
}

/// Which rows have no value.
#[derive(Debug, Default)]
pub struct Nulls {
    /// How many.
    pub count: usize,
    /// A bit a row, set where there is a value; empty where all have one.
    pub bits: Vec<u8>,
}

impl Nulls {
    fn of(rows: &std::ops::Range<usize>, absent: impl Iterator<Item = usize>) -> Self {
        let mut nulls = Nulls::default();
        for row in absent {
            if nulls.bits.is_empty() {
                nulls.bits = vec![0xFF; rows.len().div_ceil(8)];
            }
            let at = row - rows.start;
            nulls.bits[at / 8] &= !(1 << (at % 8));
            nulls.count += 1;
        }
        nulls
    }
}

/// Values in memory of our own, aligned as they want.
#[derive(Debug)]
pub enum Buffer {
    /// Bits, bytes, or numbers of 8 bytes that stood in bytes.
    Words(Vec<u64>),
    /// Offsets.
    Small(Vec<i32>),
    /// Doubles.
    Doubles(Vec<f64>),
    /// Bytes and bits.
    Bytes(Vec<u8>),
}

impl Buffer {
    /// Bytes that may be numbers, and stand aligned as these want.
    fn bytes(bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        };
        Buffer::Words(bytes.chunks(8).map(word).collect())
    }

    /// Where texts end, after a leading zero. They fit into 4 bytes unless `wide`.
    fn offsets(wide: bool, ends: impl Iterator<Item = usize>) -> Self {
        let all = std::iter::once(0).chain(ends);
        if wide {
            return Buffer::Words(all.map(|end| end as u64).collect());
        }
        Buffer::Small(all.map(|end| i32::try_from(end).unwrap_or(i32::MAX)).collect())
    }

    fn bits(set: impl Iterator<Item = bool>) -> Self {
        let mut bits = Vec::new();
        for (at, set) in set.enumerate() {
            if at % 8 == 0 {
                bits.push(0);
            }
            if let Some(last) = bits.last_mut() {
                *last |= u8::from(set) << (at % 8);
            }
        }
        Buffer::Bytes(bits)
    }
}

/// At most so many rows are in one piece of a batch.
const PIECE: usize = 65_536;

const VERDICTS: &[&str] = &[Verdict::Block.name(), Verdict::Pass.name(), Verdict::Undecided.name()];

const REASONS: &[&str] =
    &[Reason::BelowThreshold.text(), Reason::OutOfReach.text(), Reason::MissingInput.text()];

/// The names of the scorers as columns have them: those that share one have their index added.
pub fn labels(gate: &Gate) -> Vec<String> {
    let names: Vec<&str> = gate.scorers().map(|(name, _)| &**name).collect();
    let label = |(i, name): (usize, &&str)| {
        let shared = names.iter().filter(|other| *other == name).count() > 1;
        if shared { format!("{name}[{i}]") } else { (*name).to_owned() }
    };
    names.iter().enumerate().map(label).collect()
}

/// The columns that a gate gives.
pub fn fields(gate: &Gate) -> Vec<Field> {
    let field = |name: &str, format, nullable| Field {
        name: name.to_owned(),
        format,
        nullable,
        words: None,
    };
    let mut fields = vec![
        Field { words: Some(VERDICTS), ..field("verdict", "c", false) },
        field("verdict_code", "C", false),
        field("passed", "b", true),
        field("combined", "g", false),
        Field { words: Some(REASONS), ..field("reason", "c", true) },
    ];
    for label in labels(gate) {
        fields.push(field(&format!("{label}.passed"), "b", false));
        fields.push(field(&format!("{label}.score"), "g", false));
        fields.push(field(&format!("{label}.detail"), "U", true));
    }
    fields
}

/// The columns of a batch: the ids first, where it has them.
pub fn batch_fields(gate: &Gate, ids: Option<&Ids>) -> Vec<Field> {
    ids.map(Ids::field).into_iter().chain(fields(gate)).collect()
}

/// The rows of the piece of a batch that starts at a row; None at the end.
pub fn piece(columns: &Columns, ids: Option<&Ids>, start: usize) -> Option<std::ops::Range<usize>> {
    let mut end = columns.len().min(start + PIECE);
    if let Some(ids) = ids
        && ids.kind == (Kind::Text { wide: false })
    {
        // Each id came out of an array with small offsets, so one row always fits.
        let limit = usize::try_from(i32::MAX).unwrap_or(usize::MAX);
        while end > start + 1 && ids.ends[end - 1] - ids.start(start) > limit {
            end = start + (end - start) / 2;
        }
    }
    (start < end).then_some(start..end)
}

/// The values of [`batch_fields`] for some rows.
pub fn batch_columns(
    columns: &Columns,
    ids: Option<&Ids>,
    rows: std::ops::Range<usize>,
) -> Vec<Column> {
    let column = |buffers, nulls| Column { nulls, buffers, ..Column::of_table(rows.len()) };
    let plain = |buffer| column(vec![buffer], Nulls::default());
    let verdicts = &columns.verdict[rows.clone()];
    let reasons = &columns.reason[rows.clone()];
    let doubles = |values: &[f64]| Buffer::Doubles(values[rows.clone()].to_vec());
    let undecided = rows.clone().filter(|&row| columns.verdict[row] > 1);
    let unreasoned = rows.clone().filter(|&row| columns.reason[row] == 0);
    let codes = reasons.iter().map(|code| code.saturating_sub(1)).collect();
    let mut all = vec![
        Column { words: Some(VERDICTS), ..plain(Buffer::Bytes(verdicts.to_vec())) },
        plain(Buffer::Bytes(verdicts.to_vec())),
        column(
            vec![Buffer::bits(verdicts.iter().map(|&code| code == 1))],
            Nulls::of(&rows, undecided),
        ),
        plain(doubles(&columns.combined)),
        Column {
            words: Some(REASONS),
            ..column(vec![Buffer::Bytes(codes)], Nulls::of(&rows, unreasoned))
        },
    ];
    for (scorer, (passed, score)) in columns.passed.iter().zip(&columns.score).enumerate() {
        all.push(plain(Buffer::bits(passed[rows.clone()].iter().map(|&passed| passed == 1))));
        all.push(plain(doubles(score)));
        let details: Vec<Option<&str>> =
            rows.clone().map(|row| columns.detail(row, scorer)).collect();
        let absent = rows.clone().zip(&details).filter(|(_, detail)| detail.is_none());
        let nulls = Nulls::of(&rows, absent.map(|(row, _)| row));
        let mut text = Vec::new();
        let ends = details.iter().map(|detail| {
            text.extend_from_slice(detail.unwrap_or_default().as_bytes());
            text.len()
        });
        let offsets = Buffer::offsets(true, ends);
        all.push(column(vec![offsets, Buffer::Bytes(text)], nulls));
    }
    ids.map(|ids| ids.column(rows.clone())).into_iter().chain(all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(ends: &[i32]) -> Vec<u8> {
        ends.iter().flat_map(|end| end.to_ne_bytes()).collect()
    }

    #[test]
    fn offsets_that_lead_nowhere_are_faults() {
        let layout = Layout::Text { wide: false };
        let read = |ends: &[i32], data: &'static [u8]| {
            let offsets = offsets(ends);
            let array =
                Array { len: ends.len() - 1, buffers: vec![&offsets, data], ..Array::default() };
            let strings = Strings::new(&layout, array).unwrap();
            strings.read(0..strings.len()).map(|texts| texts.iter().flatten().count())
        };
        assert_eq!(read(&[0, 2, 3], b"abc"), Ok(2));
        for bad in [[0, 2, 9], [0, -1, 3], [0, 3, 2]] {
            assert_eq!(read(&bad, b"abc").unwrap_err().what, OUTSIDE, "{bad:?}");
        }
        assert_eq!(read(&[0, 1, 2], "é".as_bytes()), Err(Fault { row: 0, what: NOT_UTF8 }));
    }

    #[test]
    fn views_and_keys_stay_inside() {
        let mut view = Vec::new();
        for part in [20_i32, 0, 0, 5] {
            view.extend(part.to_ne_bytes());
        }
        let array = Array { len: 1, buffers: vec![&view, b"short"], ..Array::default() };
        let strings = Strings::new(&Layout::View, array).unwrap();
        assert_eq!(strings.read(0..1).unwrap_err().what, OUTSIDE);
        let layout = Layout::of("c", Some("u")).unwrap();
        let offsets = offsets(&[0, 1]);
        let values = Array { len: 1, buffers: vec![&offsets, b"x"], ..Array::default() };
        for (key, wanted) in [(0_i8, Some(1)), (1, None), (-1, None)] {
            let keys = key.to_ne_bytes();
            let values = Some(Box::new(values.clone()));
            let array = Array { len: 1, buffers: vec![&keys], values, ..Array::default() };
            let strings = Strings::new(&layout, array).unwrap();
            assert_eq!(strings.read(0..1).ok().map(|texts| texts.len()), wanted, "{key}");
        }
    }

    #[test]
    fn ids_come_back_from_their_parts() {
        let layout = Layout::Text { wide: false };
        let offsets = offsets(&[0, 1, 1, 3]);
        let valid = Bits { bytes: &[0b101], offset: 0 };
        let array = Array { len: 3, valid, buffers: vec![&offsets, b"abc"], ..Array::default() };
        let mut ids = Ids::new("id", &layout);
        ids.append(&layout, array).unwrap();
        let found: Vec<_> = (0..4).map(|row| ids.get(row)).collect();
        assert_eq!(found, [Some(Id::Text("a")), None, Some(Id::Text("bc")), None]);
        assert_eq!(Ids::from_parts(ids.to_parts(), 3), Some(ids.clone()));
        assert_eq!(Ids::from_parts(ids.to_parts(), 2), None);
        let mut parts = ids.to_parts();
        parts.4[0] = 9;
        assert_eq!(Ids::from_parts(parts, 3), None);
    }

    #[test]
    fn every_index_width_is_a_number() {
        for (format, int) in Int::FORMATS {
            assert_eq!(Layout::of(format, None), Some(Layout::Int(int)));
            assert_eq!(int.format(), format);
            let bytes = vec![0xFF; 2 * int.width];
            let wanted = if int.signed { -1 } else { (1_i128 << (8 * int.width)) - 1 };
            assert_eq!((int.at(&bytes, 1), int.at(&bytes, 2)), (Some(wanted), None));
        }
        for other in ["b", "g", "z", "+s", "tdD", ""] {
            assert_eq!(Layout::of(other, None), None, "{other}");
        }
        assert_eq!(Layout::of("i", Some("l")), None);
        assert_eq!(Layout::of("g", Some("u")), None);
    }
}
