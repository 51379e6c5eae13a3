//! Numbers by their digits, so that nothing past 2^53 is rounded.

use std::cmp::Ordering;
use std::hash::Hasher;

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

    pub(crate) fn is_zero(&self) -> bool {
        self.digits().all(|d| d == b'0')
    }

    /// The digits without zeros at either end, their number, and the power of ten of the last.
    fn normal(&self) -> (impl Iterator<Item = u8> + Clone, i64, i64) {
        let zeros =
            |digits: &mut dyn Iterator<Item = u8>| digits.take_while(|&d| d == b'0').count();
        let (lead, trail) = (zeros(&mut self.digits()), zeros(&mut self.digits().rev()));
        let count = (self.whole.len() + self.fraction.len()).saturating_sub(lead + trail);
        let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let exponent = self.exponent.saturating_add(signed(trail));
        (self.digits().skip(lead).take(count), signed(count), exponent)
    }

    /// True when the value has no fractional part; `1.0` and `1e2` are integers.
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0 || self.is_zero() || self.normal().2 >= 0
    }

    /// Equality of values: `1`, `1.0` and `10e-1` are equal, `0` and `-0` too.
    pub fn same_value(&self, other: &Decimal<'_>) -> bool {
        self.compare(other) == Ordering::Equal
    }

    /// Order of values.
    pub fn compare(&self, other: &Decimal<'_>) -> Ordering {
        let sign = |d: &Decimal<'_>| match (d.is_zero(), d.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let order = sign(self).cmp(&sign(other));
        if order != Ordering::Equal || self.is_zero() {
            return order;
        }
        let ((a, a_count, a_power), (b, b_count, b_power)) = (self.normal(), other.normal());
        let top = a_power.saturating_add(a_count).cmp(&b_power.saturating_add(b_count));
        let size = top.then_with(|| a.cmp(b));
        if self.negative { size.reverse() } else { size }
    }

    /// Hashes the value: equal values hash alike.
    pub fn hash_value(&self, state: &mut impl Hasher) {
        if self.is_zero() {
            return state.write_u8(0);
        }
        let (digits, _, exponent) = self.normal();
        state.write_u8(1 + u8::from(self.negative));
        state.write_i64(exponent);
        digits.for_each(|digit| state.write_u8(digit));
    }

    /// The value as a count, where it is a whole number from 0 on; the largest where it is larger.
    pub fn count(&self) -> Option<u64> {
        if self.is_zero() {
            return Some(0);
        }
        let (digits, _, exponent) = self.normal();
        if self.negative || exponent < 0 {
            return None;
        }
        let mut digits = digits;
        let whole = digits
            .try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
        let power = u32::try_from(exponent).ok().and_then(|e| 10u64.checked_pow(e));
        Some(
            whole
                .zip(power)
                .and_then(|(whole, power)| whole.checked_mul(power))
                .unwrap_or(u64::MAX),
        )
    }

    /// True when the value is a whole number of times the divisor, exactly; None for a divisor
    /// that is zero.
    pub fn is_multiple_of(&self, divisor: &Decimal<'_>) -> Option<bool> {
        if divisor.is_zero() {
            return None;
        }
        if self.is_zero() {
            return Some(true);
        }
        let (divisor, count, power) = divisor.normal();
        let (digits, _, exponent) = self.normal();
        let Ok(more) = usize::try_from(exponent.saturating_sub(power)) else {
            // The last digit is no zero, so that ten does not divide the digits.
            return Some(false);
        };
        // Four zeros for each digit bring in every factor of two and five that the divisor has;
        // more of them divide no better.
        let most = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(4);
        let zeros = std::iter::repeat_n(b'0', more.min(most));
        Some(rest_is_zero(digits.chain(zeros), divisor))
    }
}

/// Digits of a large number that are divided at a time.
const LIMB: u64 = 1_000_000_000;

/// True where a number is a multiple of another, both by their digits: long division.
fn rest_is_zero(digits: impl Iterator<Item = u8>, divisor: impl Iterator<Item = u8>) -> bool {
    let mut limbs = Vec::new();
    for digit in divisor {
        times_ten(&mut limbs, u64::from(digit - b'0'));
    }
    let divisor = limbs;
    let mut rest: Vec<u64> = Vec::new();
    for digit in digits {
        times_ten(&mut rest, u64::from(digit - b'0'));
        // At most nine times, since the rest was below the divisor.
        while !below(&rest, &divisor) {
            subtract(&mut rest, &divisor);
        }
    }
    rest.is_empty()
}

/// Ten times a number, the lowest limb first and the highest not zero, plus a digit.
fn times_ten(number: &mut Vec<u64>, digit: u64) {
    let mut carry = digit;
    for limb in number.iter_mut() {
        let whole = *limb * 10 + carry;
        (*limb, carry) = (whole % LIMB, whole / LIMB);
    }
    if carry > 0 {
        number.push(carry);
    }
}

fn below(a: &[u64], b: &[u64]) -> bool {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev())).is_lt()
}

fn subtract(from: &mut Vec<u64>, what: &[u64]) {
    let mut borrow = 0;
    for (i, limb) in from.iter_mut().enumerate() {
        let taken = what.get(i).copied().unwrap_or(0) + borrow;
        borrow = u64::from(*limb < taken);
        *limb = *limb + borrow * LIMB - taken;
    }
    while from.last() == Some(&0) {
        from.pop();
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
    #[test]
    fn values_have_an_order() {
        let order = |a, b| Decimal::parse(a).unwrap().compare(&Decimal::parse(b).unwrap());
        for (a, b) in [("1", "2"), ("-2", "-1"), ("-1", "0"), ("0", "1e-9"), ("12", "123")] {
            assert_eq!(order(a, b), Ordering::Less, "{a} {b}");
            assert_eq!(order(b, a), Ordering::Greater, "{a} {b}");
        }
        assert_eq!(order("9007199254740993", "9007199254740992"), Ordering::Greater);
        assert_eq!(order("0.1", "1e-1"), Ordering::Equal);
        assert_eq!(order("99", "1e2"), Ordering::Less);
    }

    #[test]
    fn multiples_are_exact() {
        let multiple =
            |a, b| Decimal::parse(a).unwrap().is_multiple_of(&Decimal::parse(b).unwrap());
        for (a, b) in [("0.3", "0.1"), ("1e308", "0.5"), ("0", "7"), ("19.99", "0.01"), ("-4", "2")]
        {
            assert_eq!(multiple(a, b), Some(true), "{a} {b}");
        }
        for (a, b) in [("0.35", "0.1"), ("1e308", "0.123456789"), ("9007199254740993", "2")] {
            assert_eq!(multiple(a, b), Some(false), "{a} {b}");
        }
        assert_eq!(multiple("1", "0"), None);
    }

    #[test]
    fn multiples_are_exact_at_any_length() {
        let multiple =
            |a: &str, b: &str| Decimal::parse(a).unwrap().is_multiple_of(&Decimal::parse(b)?);
        let long = "1234567890123456789012345678901234567891";
        for (a, b, wanted) in [
            ("1", "1234567890123456789", false),
            (long, long, true),
            ("-1234567890123456789012345678901234567891e7", long, true),
            ("1234567890123456789012345678901234567892", long, false),
            ("2469135780246913578024691357802469135782", long, true),
            ("0.1234567890123456789", "0.0000000000000000001", true),
            ("0.12345678901234567891", "0.0000000000000000001", false),
            // Two to the power of 64 divides ten to the power of 64, and no lower one.
            ("1e64", "18446744073709551616", true),
            ("1e63", "18446744073709551616", false),
            ("1e999999999999", "18446744073709551616", true),
            ("1e999999999999", "18446744073709551617", false),
            ("1e999999999999", "3", false),
            ("3e999999999999", "3", true),
            ("1e-999999999999", "3", false),
        ] {
            assert_eq!(multiple(a, b), Some(wanted), "{a} {b}");
        }
    }

    #[test]
    fn counts_are_whole() {
        let count = |a| Decimal::parse(a).unwrap().count();
        assert_eq!(count("2.0"), Some(2));
        assert_eq!(count("12e1"), Some(120));
        assert_eq!(count("1e40"), Some(u64::MAX));
        assert_eq!((count("-1"), count("1.5")), (None, None));
    }
}
