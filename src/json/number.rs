//! Numbers by their digits, so that nothing past 2^53 is rounded.

/// A finite decimal number: `±0.DIGITS × 10^scale`, without zeros at either end of the digits.
#[derive(Clone, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Power of ten of the last digit of `fraction` (of `whole` when there is no fraction).
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Reads a JSON number; None for other text (`NaN`).
    pub fn parse(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (negative, bytes) = match bytes.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, bytes),
        };
        let (mantissa, power) = match bytes.iter().position(|b| matches!(b, b'e' | b'E')) {
            Some(at) => (&bytes[..at], parse_exponent(&bytes[at + 1..])?),
            None => (bytes, 0),
        };
        let (whole, fraction) = match mantissa.iter().position(|&b| b == b'.') {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &[][..]),
        };
        if whole.is_empty() || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
            return None;
        }
        let exponent = power.saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX));
        Some(Decimal { negative, whole, fraction, exponent })
    }

    fn digits(&self) -> impl DoubleEndedIterator<Item = u8> + Clone {
        self.whole.iter().chain(self.fraction).copied()
    }

    fn is_zero(&self) -> bool {
        self.digits().all(|d| d == b'0')
    }

    fn trailing_zeros(&self) -> i64 {
        i64::try_from(self.digits().rev().take_while(|&d| d == b'0').count()).unwrap_or(i64::MAX)
    }

    /// True when the value has no fractional part; `1.0` and `1e2` are integers.
    pub fn is_integer(&self) -> bool {
        self.is_zero() || self.exponent.saturating_add(self.trailing_zeros()) >= 0
    }

    /// Equality of values: `1`, `1.0` and `10e-1` are equal, `0` and `-0` too.
    pub fn same_value(&self, other: &Decimal<'_>) -> bool {
        if self.is_zero() || other.is_zero() {
            return self.is_zero() && other.is_zero();
        }
        let (a, b) = (self.trailing_zeros(), other.trailing_zeros());
        let significant = |d: &Decimal<'_>, zeros: i64| {
            let skip = usize::try_from(zeros).unwrap_or(0);
            d.digits().rev().skip(skip).collect::<Vec<u8>>()
        };
        let strip = |mut digits: Vec<u8>| {
            while digits.last() == Some(&b'0') {
                digits.pop();
            }
            digits
        };
        self.negative == other.negative
            && self.exponent.saturating_add(a) == other.exponent.saturating_add(b)
            && strip(significant(self, a)) == strip(significant(other, b))
    }
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits
        .iter()
        .fold(0i64, |sum, d| sum.saturating_mul(10).saturating_add(i64::from(d - b'0')));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_compare_by_their_digits() {
        let same = |a, b| Decimal::parse(a).unwrap().same_value(&Decimal::parse(b).unwrap());
        assert!(same("1", "1.0") && same("10e-1", "1") && same("0", "-0.0e9"));
        assert!(same("1e400", "10e399") && same("0.10", "1e-1"));
        assert!(!same("9007199254740993", "9007199254740992") && !same("1", "-1"));
        assert!(!same("100", "10") && !same("0.01", "0.1"));
    }

    #[test]
    fn integers_by_value() {
        let integer = |a| Decimal::parse(a).unwrap().is_integer();
        assert!(integer("1.0") && integer("1e2") && integer("120e-1") && integer("0e-9"));
        assert!(!integer("1.5") && !integer("1e-1") && !integer("12e-2"));
        assert!(Decimal::parse("NaN").is_none() && Decimal::parse("-").is_none());
    }
}
