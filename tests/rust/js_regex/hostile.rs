//! Patterns and texts made to cost: the right answer or the budget detail, in counted steps.

use scoregate::js_regex::{BudgetExceeded, JsRegex};
use scoregate::text::Text;

/// Steps of the matcher where it has no memo, and where it has one.
const BUDGET: u64 = 5_000_000;
const MEMO_BUDGET: u64 = 100_000_000;

/// What a case must end in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Yes,
    No,
    Budget,
}
use End::{Budget, No, Yes};

fn test(pattern: &str, flags: &str, text: &str) -> (Result<bool, BudgetExceeded>, u64) {
    let regex = JsRegex::new(pattern.as_bytes(), flags).unwrap();
    let target = Text::new(text);
    let first = regex.test_counted(&target);
    assert_eq!(first, regex.test_counted(&target), "/{pattern}/ is not the same twice");
    first
}

fn check(pattern: &str, flags: &str, text: &str, end: End, most: u64) {
    let (answer, steps) = test(pattern, flags, text);
    let shown: String = pattern.chars().take(60).collect();
    let got = match answer {
        Ok(true) => Yes,
        Ok(false) => No,
        Err(_) => Budget,
    };
    assert_eq!(got, end, "/{shown}/{flags} on {} bytes, {steps} steps", text.len());
    assert!(steps <= most, "/{shown}/{flags} on {} bytes took {steps} steps", text.len());
}

/// Random zeros and ones, the same each time: what makes a DFA large.
fn noise(length: usize) -> String {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 1 { '1' } else { '0' }
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn nested_quantifiers_need_no_matcher() {
    let many = "a".repeat(30_000);
    let failing = format!("{many}!");
    for pattern in [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "^(a*)*$",
        "^(?:a*)*(?:a*)*$",
        "^((a+)+)+$",
        "^(\\w+\\s?)+$",
        "^(?:a?){50}a{50}$",
        "(x+x+)+y",
    ] {
        check(pattern, "", &failing, No, 0);
    }
    check("^(a+)+$", "", &many, Yes, 0);
    check("(.*)*x", "", &failing, No, 0);
    check("(?:.*,){20}P", "", &",".repeat(20_000), No, 0);
    check("^(?=(a+)+$)(?!(a|a)*!$)", "", &many, Yes, 0);
}

#[test]
fn lookaround_is_linear() {
    let many = "a".repeat(30_000);
    let failing = format!("{many}!");
    let length = failing.len() as u64;
    // A step count in proportion to the text, at most 40 steps a character.
    for (pattern, end) in [
        ("^(?:(?!b)a+)+$", No),
        ("(?<=(?:a+)+)b", No),
        ("(?<!(?:a|aa)+)b", No),
        ("(?:(?=(?:a+)+$)a)+!", No),
        ("^(?:(?!foo)[^])*$", Yes),
        ("(?<=^(?:a|aa)*)!", Yes),
        ("(?=a*b)|(?=a*c)|(?<=b)d", No),
        ("(?:(?:a|)(?:a|(?=!)))*b", No),
        ("(?<=(?<=(?<=a)a)a)b", No),
        ("x(?=y)z|(?:a(?!!))+$", No),
    ] {
        check(pattern, "", &failing, end, 40 * length);
    }
    let short = test("(?<=(?:a+)+)!?b|(?!a)c", "", &"a".repeat(2_000)).1;
    let long = test("(?<=(?:a+)+)!?b|(?!a)c", "", &"a".repeat(20_000)).1;
    assert!(long <= 11 * short, "{short} steps, then {long}");
}

#[test]
fn a_megabyte_ends_in_time() {
    let text = "lorem ipsum dolor ".repeat(1 << 16);
    let bits = "01".repeat(1 << 19);
    check("(?<!not )ok", "", &text, No, 0);
    check("^(?:(?!sit)[^])*$", "", &text, Yes, MEMO_BUDGET);
    check("(?<=\\bx)\\w+", "", &text, No, MEMO_BUDGET);
    check("[01]*1[01]{2000}[c-z]", "", &bits, No, 0);
    check("(?:a|b)*a(?:a|b){3000}c", "", &"ab".repeat(1 << 19), No, 0);
    let noise = noise(1 << 20);
    check("[01]*1[01]{2000}[c-z]", "", &noise, Budget, MEMO_BUDGET + 1);
    check("^[01]*1[01]{500}[c-z]", "", &noise, Budget, MEMO_BUDGET + 1);
    check("1[01]{12}[c-z]", "", &noise, No, 0);
    check("^[^]{1,4000}$", "", &text, No, 0);
    check("^(?:\\S+\\s+){0,500}\\S+$", "", &text, No, MEMO_BUDGET);
    check("(?:.*a){12}", "", &"b".repeat(1 << 20), No, 0);
    check("^$", "m", &"\r".repeat(1 << 20), Yes, 10);
    check("^x$", "m", &"\r".repeat(1 << 20), No, 0);
    check("^[xy]$", "m", &"\r".repeat(1 << 20), No, MEMO_BUDGET);
}

#[test]
fn backreference_bombs_meet_the_budget() {
    let many = "a".repeat(40);
    for pattern in [
        "^(?:(a+)+)+\\1[bc]",
        "^(a*)*\\1*[bc]",
        "(?:(a|b|ab|ba|aab)\\1?)+c",
        "^(.*)(.*)(.*)(.*)(.*)(.*)(.*)\\1\\2\\3\\4[bc]",
        "((a*)*\\2)*b",
        "(?<=\\2*(a+)(a+)*)b\\1c",
    ] {
        let (answer, steps) = test(pattern, "", &many.repeat(20));
        // A reference costs steps by its length, so the last one may pass the budget a little.
        assert!(steps <= BUDGET + 1_000, "/{pattern}/ took {steps} steps");
        assert!(answer != Ok(true), "/{pattern}/");
    }
    check("^(?:(a+)+)+\\1[bc]", "", &many, Budget, BUDGET + 1);
    check("(a{1,200})\\1[xy]", "", &"a".repeat(10_000), Budget, BUDGET + 1);
    check("^(a+)\\1$", "", &"a".repeat(2_000), Yes, 200_000);
}

#[test]
fn the_budget_detail_names_pattern_and_text() {
    let text = "é".repeat(5_000);
    let error = test("^(?:(é+)+)+\\1[b-d]", "i", &text).0.unwrap_err().to_string();
    assert_eq!(
        error,
        "Regular expression /^(?:(é+)+)+\\1[b-d]/i exceeded the matching budget \
         (5000000 steps) on a text of 5000 characters"
    );
    let long = format!("(a*)*\\1[bc]{}", "|x".repeat(400));
    let error = test(&long, "", &"a".repeat(4_000)).0.unwrap_err().to_string();
    let shown: String = long.chars().take(200).collect();
    assert!(error.starts_with(&format!("Regular expression /{shown}/ exceeded")), "{error}");
}

#[test]
fn huge_counts_and_patterns_are_read() {
    check("^(?:a|b){1,100000}$", "", &"ab".repeat(400), Yes, BUDGET);
    check("^(?:a|b){100000}$", "", &"ab".repeat(400), No, BUDGET);
    check("^a{2147483647}$", "", "aaa", No, 0);
    check("^(?:(?:a{1000}){1000}){1000}$", "", &"a".repeat(5_000), No, BUDGET);
    check("^(?:(?:(?:a?){1000}){1000}){1000}[bc]", "", &"a".repeat(1_000), Budget, BUDGET + 1);
    check("^(?:(?:a?){0,4000}){0,4000}$", "", "aaaa", Yes, BUDGET);
    let longest = "ab".repeat(32 * 1024);
    check(&longest, "", &format!("x{longest}y"), Yes, 0);
    let words: Vec<String> = (0..7_000).map(|i| format!("word{i}")).collect();
    check(&words.join("|"), "", "a text with word6999 in it", Yes, BUDGET);
    check(&format!("^(?:{})$", words.join("|")), "", "word6999", Yes, 0);
    let classes = "[^a-c]?".repeat(9_000);
    check(&classes, "", "xyz", Yes, 0);
    check(&format!("^{}$", "(?:a|b)?".repeat(7_000)), "", &"ab".repeat(3_000), Yes, MEMO_BUDGET);
    for too_large in ["a".repeat(64 * 1024 + 1), format!("{}a{}", "(".repeat(300), ")".repeat(300))]
    {
        let error = JsRegex::new(too_large.as_bytes(), "").unwrap_err().to_string();
        assert!(
            error.ends_with(": Regular expression too large"),
            "{}",
            &error[error.len() - 60..]
        );
    }
    let groups = "()".repeat(32_767);
    assert!(JsRegex::new(groups.as_bytes(), "").is_ok());
}

#[test]
fn costly_classes_compile_in_time() {
    let each = |from: u32, count: u32, separator: &str, form: &dyn Fn(char) -> String| {
        let chars = (from..from + count).filter_map(char::from_u32);
        chars.map(form).collect::<Vec<String>>().join(separator)
    };
    let letter = |c: char| char::from(b'a' + u8::try_from(u32::from(c) % 26).unwrap());
    let cjk = 0x4E00;
    let (fine, either) = (false, true);
    for (pattern, flags, may_be_too_large) in [
        (format!("[\\p{{L}}{}]", "&&[^a]".repeat(10_000)), "iv", fine),
        ("\\P{Lu}".repeat(10_000), "iu", fine),
        (each(cjk, 9_000, "|", &|c| format!("[\\W{c}]")), "iu", fine),
        (each(cjk, 9_000, "|", &|c| format!("[\\W{c}]")), "i", fine),
        (each(cjk, 5_000, "", &|c| format!("[\\p{{L}}&&[^{c}]]")), "iv", fine),
        (each(97, 4_600, "|", &|c| format!("\\p{{L}}{}\\P{{Lu}}", letter(c))), "iu", fine),
        (each(cjk, 4_600, "|", &|c| format!("\\p{{L}}{c}")), "iu", fine),
        (each(0x400, 10_000, "|", &|c| format!("[{c}-\u{ffff}]")), "iu", fine),
        (each(0x400, 10_000, "|", &|c| format!("[{c}-\u{ffff}]")), "i", fine),
        ("[\\P{L}]".repeat(9_000), "iv", fine),
        ("\\p{L}".repeat(13_000), "u", fine),
        (each(cjk, 7_000, "|", &|c| format!("[\\p{{L}}{c}]")), "u", fine),
        (each(0x1_F000, 5_000, "|", &|c| format!("[\\p{{Lu}}{c}]")), "iu", fine),
        (each(0x1_F000, 5_000, "", &|c| format!("[\\p{{Lu}}{c}]")), "iu", fine),
        (format!("[{}]", "\\p{L}\\P{Lu}".repeat(5_000)), "iu", fine),
        (format!("[{}]", "\\p{L}\\P{Lu}".repeat(5_000)), "v", fine),
        (format!("[\\p{{L}}{}]", "\\d".repeat(30_000)), "iv", fine),
        (format!("^(?:{})$", each(cjk, 4_600, "|", &|c| format!("\\p{{L}}{c}"))), "u", fine),
        ("\\p{Basic_Emoji}".repeat(400), "v", fine),
        ("\\p{Basic_Emoji}".repeat(3_900), "iv", either),
        ("\\p{RGI_Emoji_Modifier_Sequence}".repeat(2_000), "v", either),
        (format!("[{}]", "\\p{Basic_Emoji}".repeat(3_900)), "v", either),
    ] {
        let shown: String = pattern.chars().take(40).collect();
        let compiled = JsRegex::new(pattern.as_bytes(), flags);
        if let Err(error) = compiled {
            let error = error.to_string();
            assert!(may_be_too_large, "/{shown}/{flags}");
            assert!(error.ends_with(": Regular expression too large"), "/{shown}/{flags}");
        }
    }
}

#[test]
fn deep_nesting_fits_a_small_stack() {
    let run = || {
        for (open, close) in
            [("(", ")"), ("(?:", ")*"), ("(?=", ")"), ("(?<!", "b)"), ("(?:x|", ")?")]
        {
            let pattern = format!("{}a{}", open.repeat(249), close.repeat(249));
            let regex = JsRegex::new(pattern.as_bytes(), "").unwrap();
            let target = Text::new("aaab");
            let _ = (regex.test(&target), regex.test_by_matcher(&target));
            let _ = JsRegex::new(open.repeat(60_000 / open.len()).as_bytes(), "");
            let referring = format!("{pattern}(z)?\\1{}", "(q)".repeat(10));
            let _ = JsRegex::new(referring.as_bytes(), "i").unwrap().test(&target);
        }
        let nested = format!("{}a{}", "[".repeat(249), "]".repeat(249));
        assert_eq!(JsRegex::new(nested.as_bytes(), "v").unwrap().test(&Text::new("a")), Ok(true));
        assert!(JsRegex::new("[".repeat(60_000).as_bytes(), "v").is_err());
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_stop_flag_ends_a_run() {
    use std::sync::atomic::AtomicBool;
    let regex = JsRegex::new(b"^(?:(a+)+)+\\1[bc]", "").unwrap();
    let text = "a".repeat(5_000);
    let error = regex.test_with_stop(&Text::new(&text), &AtomicBool::new(true)).unwrap_err();
    assert_eq!(error.to_string(), "Regular expression /^(?:(a+)+)+\\1[bc]/ was interrupted");
}

#[test]
fn untrusted_patterns_have_no_backreference() {
    for pattern in ["(a)\\1", "(?<n>a)\\k<n>"] {
        let error = JsRegex::untrusted(pattern.as_bytes(), "").unwrap_err().to_string();
        let want = "Backreferences are not allowed in an untrusted pattern";
        assert_eq!(error, format!("Invalid regular expression: /{pattern}/: {want}"));
    }
    assert!(JsRegex::untrusted(b"(a)\\2(?=b)", "").is_ok(), "an octal escape is none");
}

#[test]
fn one_regex_serves_many_threads() {
    const fn shared<T: Send + Sync>() {}
    shared::<JsRegex>();
    let regex = JsRegex::new(b"^(?!.*foo)(?:\\w|(?<=x)y)+$", "").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(regex.test(&Text::new("abc")), Ok(true));
                    assert_eq!(regex.test(&Text::new("a foo")), Ok(false));
                }
            });
        }
    });
}
