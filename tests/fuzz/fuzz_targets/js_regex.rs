//! A pattern and a text from the input: no panic, bounded steps, and the matcher agrees with the
//! automata.
//!
//! The first byte chooses the flags, the second the share of the pattern; the rest is lossy UTF-8.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scoregate::js_regex::JsRegex;
use scoregate::text::Text;

const FLAGS: [&str; 12] = ["", "i", "m", "s", "u", "v", "iu", "iv", "mu", "ims", "imsu", "yv"];

fuzz_target!(|data: &[u8]| {
    let [flags, share, rest @ ..] = data else { return };
    let flags = FLAGS[usize::from(*flags) % FLAGS.len()];
    let cut = rest.len() * usize::from(*share) / 255;
    let pattern = String::from_utf8_lossy(&rest[..cut]);
    let text = String::from_utf8_lossy(&rest[cut..]);
    let Ok(regex) = JsRegex::new(pattern.as_bytes(), flags) else { return };
    let target = Text::new(&text);
    let (answer, steps) = regex.test_counted(&target);
    assert!(steps <= 101_000_000, "{steps} steps");
    let (by_matcher, _) = regex.test_by_matcher(&target);
    if let (Ok(a), Ok(b)) = (answer, by_matcher) {
        assert_eq!(a, b, "/{pattern}/{flags} on {text:?}");
    }
});
