//! Saving the fitting part of a value that as a whole does not fit its schema.
//!
//! On top of coercion, and only where a caller asks for it:
//!
//! * an item of a list that does not fit is left out, and so is a key that the schema forbids;
//! * a list with as many items as an object's schema has properties is that object, in their order,
//!   where each item fits; at the top, a list of one object is the object;
//! * a required value that is missing is made up where the schema names one: its `default`, its
//!   constant, the first member of its enum, an empty list or object;
//! * of `anyOf` and `oneOf` the first branch that can be met.
//!
//! A value fits here by its type, its enum, its required keys and its least size. What else a
//! schema claims is for the evaluation that follows.

use super::coerce::{Coercer, item_schema, listed, members, nullable, types};
use crate::json::{Code, Cursor, Decimal, Document, Kind, Type, Value};

/// Values read or made up under a schema; a value that needs more does not fit.
const STEPS: usize = 1_000_000;

/// References followed in a row, and values made up inside one another.
const MAX_FILLED: usize = 256;

/// A place to go back to.
#[derive(Clone, Copy)]
struct Mark {
    changes: usize,
    unfit: usize,
}

impl<'s> Coercer<'s> {
    /// The value under a schema: what of it fits.
    pub(super) fn salvaged(
        &mut self,
        cursor: Cursor<'_>,
        schema: &'s Value,
        depth: usize,
    ) -> Value {
        let mark = self.mark();
        let schema = self.resolve(schema);
        // What a string holds has indexes of its own.
        let place =
            self.inside.is_none().then(|| (cursor.index(), std::ptr::from_ref(schema).addr()));
        let known = place.and_then(|place| self.salvage.as_ref()?.known.get(&place).copied());
        match known {
            Some(None) => {
                self.set_unfit(mark.unfit + 1);
                return Value::from_cursor(cursor);
            }
            Some(Some(branch)) => {
                if let Some(branch) = branches(schema).get(branch) {
                    return self.salvaged(cursor, branch, depth);
                }
            }
            None => {}
        }
        let chosen = self.chosen(cursor, schema);
        let value = self.under(cursor, chosen, depth);
        if self.fitted(mark) {
            return value;
        }
        let first = (self.changes.split_off(mark.changes), self.unfit());
        for (i, branch) in branches(schema).iter().enumerate() {
            self.go_back(mark);
            let value = self.salvaged(cursor, branch, depth);
            if self.fitted(mark) {
                self.learn(place, Some(i));
                return value;
            }
        }
        self.go_back(mark);
        self.changes.extend(first.0);
        self.set_unfit(first.1);
        self.learn(place, None);
        value
    }

    fn under(&mut self, cursor: Cursor<'_>, schema: &'s Value, depth: usize) -> Value {
        let mark = self.mark();
        if !self.spend() {
            self.set_unfit(mark.unfit + 1);
            return Value::from_cursor(cursor);
        }
        let mut value = self.typed(cursor, schema, depth);
        self.fill_required(&mut value, schema, cursor);
        if !fits(&value, schema) {
            self.set_unfit(self.unfit() + 1);
        }
        value
    }

    /// An item of a list; None for one that is left out.
    pub(super) fn kept_item(
        &mut self,
        cursor: Cursor<'_>,
        schema: &'s Value,
        index: usize,
        depth: usize,
    ) -> Option<Value> {
        let mark = self.mark();
        let Some(item) = item_schema(schema, index) else {
            if !beyond(schema, index) {
                return Some(Value::from_cursor(cursor));
            }
            self.note(Code::UnfitItem, cursor);
            return None;
        };
        let value = self.value(cursor, item, depth);
        if self.fitted(mark) {
            return Some(value);
        }
        self.go_back(mark);
        self.note(Code::UnfitItem, cursor);
        None
    }

    /// A list as the object that is wanted in its place.
    pub(super) fn object_of_list(
        &mut self,
        cursor: Cursor<'_>,
        schema: &'s Value,
        depth: usize,
    ) -> Option<Value> {
        let mark = self.mark();
        let properties = schema.get("properties").map_or(&[][..], Value::members);
        if !properties.is_empty() && properties.len() == cursor.len() {
            self.note(Code::ListAsObject, cursor);
            let mut object = Vec::new();
            for ((name, inner), element) in properties.iter().zip(cursor.elements()) {
                let step = format!(".{}", String::from_utf8_lossy(name));
                object.push((name.clone(), self.at(&step, |c| c.value(element, inner, 0))));
            }
            if self.fitted(mark) {
                return Some(Value::Object(object));
            }
            self.go_back(mark);
        }
        let only = cursor.elements().next().filter(|only| only.kind() == Kind::Object)?;
        if self.path != "$" || cursor.len() != 1 {
            return None;
        }
        self.note(Code::ListAsObject, cursor);
        Some(self.typed(only, schema, depth + 1))
    }

    /// Makes up the required members that are missing and that the schema names.
    fn fill_required(&mut self, value: &mut Value, schema: &'s Value, cursor: Cursor<'_>) {
        let Value::Object(object) = value else { return };
        for name in required(schema) {
            if object.iter().any(|(key, _)| key == name) {
                continue;
            }
            if let Some(made) = declared(schema, name).and_then(|inner| self.made(inner, 0)) {
                let step = format!(".{}", String::from_utf8_lossy(name));
                self.at(&step, |c| c.note(Code::FilledValue, cursor));
                object.push((name.to_vec(), made));
            }
        }
    }

    /// A value that stands in a schema.
    fn made(&mut self, schema: &'s Value, depth: usize) -> Option<Value> {
        if depth > MAX_FILLED || !self.spend() {
            return None;
        }
        let schema = self.resolve(schema);
        let named = schema.get("default").or_else(|| members(schema).first());
        let made = match (named, &types(schema)[..]) {
            (Some(named), _) => named.clone(),
            (None, ["array"]) => Value::Array(Vec::new()),
            (None, ["object"]) => {
                let mut object = Vec::new();
                let needed: Vec<&[u8]> = required(schema).collect();
                for (name, inner) in schema.get("properties").map_or(&[][..], Value::members) {
                    if needed.contains(&&name[..]) {
                        object.push((name.clone(), self.made(inner, depth + 1)?));
                    } else if let Some(default) = self.resolve(inner).get("default") {
                        object.push((name.clone(), default.clone()));
                    }
                }
                Value::Object(object)
            }
            _ => return None,
        };
        fits(&made, schema).then_some(made)
    }

    fn learn(&mut self, place: Option<(usize, usize)>, branch: Option<usize>) {
        if let (Some(salvage), Some(place)) = (&mut self.salvage, place) {
            salvage.known.insert(place, branch);
        }
    }

    fn mark(&self) -> Mark {
        Mark { changes: self.changes.len(), unfit: self.unfit() }
    }

    fn go_back(&mut self, mark: Mark) {
        self.changes.truncate(mark.changes);
        self.set_unfit(mark.unfit);
    }

    /// True where all fitted since the mark.
    fn fitted(&self, mark: Mark) -> bool {
        self.unfit() == mark.unfit
    }

    fn unfit(&self) -> usize {
        self.salvage.as_ref().map_or(0, |salvage| salvage.unfit)
    }

    fn set_unfit(&mut self, unfit: usize) {
        if let Some(salvage) = &mut self.salvage {
            salvage.unfit = unfit;
        }
    }

    fn spend(&mut self) -> bool {
        self.salvage.as_mut().is_some_and(|salvage| {
            salvage.steps += 1;
            salvage.steps <= STEPS
        })
    }
}

/// The branches that may stand for one another.
fn branches(schema: &Value) -> &[Value] {
    let list = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    list.filter(|_| types(schema).is_empty()).map_or(&[], Value::elements)
}

/// True for an item for which a list has no place.
fn beyond(schema: &Value, index: usize) -> bool {
    let (prefix, rest) = match schema.get("items") {
        Some(Value::Array(list)) => (list.len(), schema.get("additionalItems")),
        items => (schema.get("prefixItems").map_or(0, |list| list.elements().len()), items),
    };
    index >= prefix && rest == Some(&Value::Bool(false))
}

fn required(schema: &Value) -> impl Iterator<Item = &[u8]> {
    let names = schema.get("required").map_or(&[][..], Value::elements);
    names.iter().filter_map(Value::as_bytes)
}

fn declared<'s>(schema: &'s Value, name: &[u8]) -> Option<&'s Value> {
    let properties = schema.get("properties").map_or(&[][..], Value::members);
    properties.iter().find(|(key, _)| key == name).map(|(_, inner)| inner)
}

/// True where a value has the type, the enum, the required keys and the least size of a schema;
/// what it holds is not asked.
fn fits(value: &Value, schema: &Value) -> bool {
    if schema == &Value::Bool(false) {
        return false;
    }
    if nullable(schema) && value == &Value::Null {
        return true;
    }
    let types = types(schema);
    let typed = types.is_empty()
        || types.iter().filter_map(|name| Type::named(name.as_bytes())).any(|t| is(value, t));
    let at_least = |keyword: &str, len: usize| {
        let Some(Value::Number(least)) = schema.get(keyword) else { return true };
        let least = Decimal::parse(least.text()).and_then(|least| least.count());
        least.is_none_or(|least| len as u64 >= least)
    };
    let sized = match value {
        Value::Array(items) => at_least("minItems", items.len()),
        Value::Object(object) => {
            required(schema).all(|name| object.iter().any(|(key, _)| key == name))
                && at_least("minProperties", object.len())
        }
        _ => true,
    };
    let free = members(schema).is_empty();
    typed && sized && (free || listed(Document::from_value(value).root(), schema))
}

fn is(value: &Value, wanted: Type) -> bool {
    match (value, wanted) {
        (Value::Null, Type::Null)
        | (Value::Bool(_), Type::Boolean)
        | (Value::Number(_), Type::Number)
        | (Value::String(_), Type::String)
        | (Value::Array(_), Type::Array)
        | (Value::Object(_), Type::Object) => true,
        (Value::Number(number), Type::Integer) => {
            Decimal::parse(number.text()).is_some_and(|number| number.is_integer())
        }
        _ => false,
    }
}
