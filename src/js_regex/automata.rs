//! Back end A: regular patterns as finite automata over bytes.
//!
//! Without u the text is read as CESU-8, where each UTF-16 unit is its own byte sequence, and
//! with u as WTF-8. `regex-syntax` classes hold no surrogates, so a set becomes a Unicode class
//! and, for texts that have surrogate halves, byte sequences beside it. A pattern is translated
//! for the texts that it meets: ASCII, free of surrogates, or any; each at its first use.
//!
//! Work is bounded by states times bytes. Above the bound a lazy DFA that gives up early takes
//! the place of `meta::Regex`, which cannot be interrupted.

use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::OnceLock;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, meta, nfa::thompson};
use regex_syntax::hir::print::Printer;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition,
};

use super::ast::{Assert, Node, UNBOUNDED};
use super::set::CharSet;
use crate::stack::with_room;
use crate::text::Text;

/// States times bytes that `meta::Regex` may be asked for: 0.15 s in its slowest engine.
const WORK_LIMIT: u64 = 20_000_000;
/// Estimated states above which no automaton is tried.
const MAX_STATES: u64 = 50_000;
const NFA_SIZE_LIMIT: usize = 1 << 20;
const CACHE_CAPACITY: usize = 2 << 20;

/// The texts that a translation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Alphabet {
    Ascii,
    /// No surrogate unit (u: no lone half) occurs.
    Scalars,
    Any,
}

/// A regular pattern, translated for each alphabet when it is first met.
pub(super) struct Automaton {
    node: Node,
    code_points: bool,
    /// The greatest alphabet that differs from the one before it.
    widest: Alphabet,
    engines: [OnceLock<Option<Engine>>; 3],
}

enum Engine {
    /// No text of the alphabet can match.
    Never,
    Automata(Box<Automata>),
}

struct Automata {
    meta: meta::Regex,
    hir: Hir,
    states: u64,
    lazy: OnceLock<Option<Lazy>>,
}

/// A lazy DFA, with caches for the threads that use it.
struct Lazy {
    dfa: DFA,
    caches: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>>,
}

impl Automaton {
    /// An automaton of a regular node.
    pub(super) fn new(node: Node, code_points: bool) -> Self {
        let beyond = |set: &CharSet, low: u32| set.ranges().last().is_some_and(|r| r.1 >= low);
        let is_wide = |n: &Node| match n {
            Node::Char(c) => *c >= 0x80,
            Node::Set(set) => beyond(set, 0x80),
            _ => false,
        };
        let has_surrogates = |n: &Node| match n {
            Node::Char(c) => (0xD800..0xE000).contains(c),
            Node::Set(set) => set.overlaps(0xD800, 0xDFFF),
            _ => false,
        };
        let widest = if node.any(&has_surrogates) {
            Alphabet::Any
        } else if node.any(&is_wide) {
            Alphabet::Scalars
        } else {
            Alphabet::Ascii
        };
        Automaton { node, code_points, widest, engines: [const { OnceLock::new() }; 3] }
    }

    /// Whether the pattern matches, or nothing where the bound on work stands against an answer.
    pub(super) fn is_match(&self, target: &Text<'_>) -> Option<bool> {
        let facts = target.facts();
        let alphabet = if facts.is_ascii {
            Alphabet::Ascii
        } else if !facts.has_lone_surrogate && (self.code_points || !facts.has_astral) {
            Alphabet::Scalars
        } else {
            Alphabet::Any
        };
        let engine = self.engine(alphabet.min(self.widest))?;
        match engine {
            Engine::Never => Some(false),
            Engine::Automata(automata) if self.code_points => automata.is_match(target.bytes()),
            Engine::Automata(automata) => automata.is_match(target.cesu8()),
        }
    }

    /// Bytes of memory, roughly.
    pub(super) fn memory(&self) -> usize {
        let engines = self.engines.iter().filter_map(|slot| slot.get().and_then(Option::as_ref));
        let size = |engine: &Engine| match engine {
            Engine::Never => 0,
            Engine::Automata(automata) => automata.meta.memory_usage() + 4096,
        };
        engines.map(size).sum()
    }

    fn engine(&self, alphabet: Alphabet) -> Option<&Engine> {
        let slot = &self.engines[alphabet as usize];
        if slot.get().is_none() {
            // Built outside of the lock: a fork in between must not leave it held.
            let _ = slot.set(with_room(|| self.build(alphabet)));
        }
        slot.get().and_then(Option::as_ref)
    }

    fn build(&self, alphabet: Alphabet) -> Option<Engine> {
        if never(&self.node, alphabet) {
            return Some(Engine::Never);
        }
        let states = states(&self.node, alphabet);
        if states > MAX_STATES {
            return None;
        }
        let hir = translate(&self.node, alphabet);
        let config = meta::Config::new()
            .utf8_empty(true)
            .nfa_size_limit(Some(NFA_SIZE_LIMIT))
            .onepass_size_limit(Some(NFA_SIZE_LIMIT))
            .hybrid_cache_capacity(CACHE_CAPACITY);
        let build = || meta::Builder::new().configure(config).build_from_hir(&hir).ok();
        let meta = catch_unwind(AssertUnwindSafe(build)).ok()??;
        let automata = Automata { meta, hir, states, lazy: OnceLock::new() };
        Some(Engine::Automata(Box::new(automata)))
    }
}

impl Automata {
    fn is_match(&self, text: &[u8]) -> Option<bool> {
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        if self.states.saturating_mul(bytes) > WORK_LIMIT {
            return self.is_match_lazily(text);
        }
        // Not `is_match`: where a literal inside the pattern is too frequent to help, that goes on
        // with its slowest engine, and this with a fast one.
        let search = || self.meta.search_half(&Input::new(text).earliest(true)).is_some();
        // regex-automata has had panics on large automata; one must not reach the caller.
        catch_unwind(AssertUnwindSafe(search)).ok()
    }

    fn is_match_lazily(&self, text: &[u8]) -> Option<bool> {
        if self.lazy.get().is_none() {
            let _ = self.lazy.set(with_room(|| self.build_lazy()));
        }
        let lazy = self.lazy.get()?.as_ref()?;
        let search = || {
            let mut cache = lazy.caches.get();
            let input = Input::new(text).anchored(Anchored::No).earliest(true);
            lazy.dfa.try_search_fwd(&mut cache, &input).ok().map(|found| found.is_some())
        };
        catch_unwind(AssertUnwindSafe(search)).ok()?
    }

    fn build_lazy(&self) -> Option<Lazy> {
        use regex_automata::hybrid::dfa::Config;
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .utf8(true)
                    .nfa_size_limit(Some(NFA_SIZE_LIMIT))
                    .which_captures(thompson::WhichCaptures::None),
            )
            .build_from_hir(&self.hir)
            .ok()?;
        let config = Config::new()
            .cache_capacity(CACHE_CAPACITY)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(3))
            .minimum_bytes_per_state(Some(10));
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        let of = dfa.clone();
        Some(Lazy { dfa, caches: Pool::new(Box::new(move || of.create_cache())) })
    }
}

/// A regular pattern with flag u in the syntax of the `regex` crate: it has the same matches in
/// every text without surrogate halves.
pub(super) fn rust_syntax(node: &Node) -> String {
    let mut text = String::new();
    let written = Printer::new().print(&translate(node, Alphabet::Scalars), &mut text);
    written.map(|()| text).unwrap_or_default()
}

/// An estimate, from above, of the states of the automaton for any text.
pub(super) fn most_states(node: &Node) -> u64 {
    states(node, Alphabet::Any)
}

fn states(node: &Node, alphabet: Alphabet) -> u64 {
    let is_ascii = alphabet == Alphabet::Ascii;
    let all = |nodes: &[Node]| {
        nodes.iter().fold(1, |n: u64, node| n.saturating_add(states(node, alphabet)))
    };
    match node {
        Node::Char(c) if is_ascii || *c < 0x80 => 1,
        Node::Char(_) => 3,
        Node::Set(set) if is_ascii || set.ranges().last().is_none_or(|r| r.1 < 0x80) => 1,
        Node::Set(set) => 12 + 4 * u64::try_from(set.ranges().len()).unwrap_or(u64::MAX / 8),
        Node::Cat(nodes) | Node::Alt(nodes) => all(nodes),
        Node::Group(body, _) => states(body, alphabet),
        Node::Repeat(r) => {
            let copies = if r.max == UNBOUNDED { r.min.saturating_add(1) } else { r.max };
            states(&r.body, alphabet).saturating_add(1).saturating_mul(u64::from(copies))
        }
        Node::Look(look) => states(&look.body, alphabet),
        Node::Empty | Node::BackRef(_) | Node::Assert(_) => 1,
    }
}

/// True where no text of the alphabet can match.
fn never(node: &Node, alphabet: Alphabet) -> bool {
    let holds = |low: u32, high: u32| match alphabet {
        Alphabet::Ascii => low < 0x80,
        Alphabet::Scalars => low < 0xD800 || high > 0xDFFF,
        Alphabet::Any => true,
    };
    match node {
        Node::Char(c) => !holds(*c, *c),
        Node::Set(set) => !set.ranges().iter().any(|r| holds(r.0, r.1)),
        Node::Cat(nodes) => nodes.iter().any(|n| never(n, alphabet)),
        Node::Alt(nodes) => nodes.iter().all(|n| never(n, alphabet)),
        Node::Group(body, _) => never(body, alphabet),
        Node::Repeat(r) => r.min > 0 && never(&r.body, alphabet),
        Node::Empty | Node::Look(_) | Node::BackRef(_) | Node::Assert(_) => false,
    }
}

fn translate(node: &Node, alphabet: Alphabet) -> Hir {
    let all = |nodes: &[Node]| nodes.iter().map(|n| translate(n, alphabet)).collect();
    match node {
        Node::Char(c) => class(&CharSet::one(*c), alphabet),
        Node::Set(set) => class(set, alphabet),
        Node::Cat(nodes) => Hir::concat(all(nodes)),
        Node::Alt(nodes) => Hir::alternation(all(nodes)),
        Node::Group(body, _) => translate(body, alphabet),
        Node::Repeat(r) => Hir::repetition(Repetition {
            min: r.min,
            max: (r.max != UNBOUNDED).then_some(r.max),
            greedy: r.greedy,
            sub: Box::new(translate(&r.body, alphabet)),
        }),
        Node::Assert(kind) => Hir::look(match kind {
            Assert::Start => Look::Start,
            Assert::End => Look::End,
            // Exact in texts without CR, U+2028 and U+2029; the caller sees to that.
            Assert::LineStart => Look::StartLF,
            Assert::LineEnd => Look::EndLF,
            Assert::Word | Assert::WordFolded => Look::WordAscii,
            Assert::NotWord | Assert::NotWordFolded => Look::WordAsciiNegate,
        }),
        Node::Empty | Node::Look(_) | Node::BackRef(_) => Hir::empty(),
    }
}

fn class(set: &CharSet, alphabet: Alphabet) -> Hir {
    let max = if alphabet == Alphabet::Ascii { 0x7F } else { 0x10_FFFF };
    let scalars = set.intersection(&CharSet::new(vec![(0, 0xD7FF), (0xE000, max.max(0xE000))]));
    let ranges = scalars.ranges().iter().filter(|r| r.0 <= max).filter_map(|&(low, high)| {
        Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high.min(max))?))
    });
    let scalars = Hir::class(Class::Unicode(ClassUnicode::new(ranges)));
    if alphabet != Alphabet::Any {
        return scalars;
    }
    let mut branches = vec![scalars];
    for &(low, high) in set.intersection(&CharSet::new(vec![(0xD800, 0xDFFF)])).ranges() {
        surrogate_bytes(low, high, &mut branches);
    }
    Hir::alternation(branches)
}

/// The byte sequences `ED A0..BF 80..BF` of a range of surrogates.
fn surrogate_bytes(low: u32, high: u32, branches: &mut Vec<Hir>) {
    let byte = |v: u32| 0x80 | u8::try_from(v & 0x3F).unwrap_or(0);
    let bytes = |low: u8, high: u8| {
        Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(low, high)])))
    };
    let mut add = |middle: (u32, u32), last: (u32, u32)| {
        branches.push(Hir::concat(vec![
            bytes(0xED, 0xED),
            bytes(byte(middle.0), byte(middle.1)),
            bytes(byte(last.0), byte(last.1)),
        ]));
    };
    // Blocks of 64 units share a middle byte; whole blocks are joined.
    let (mut first, last) = (low >> 6, high >> 6);
    if first == last {
        return add((first, first), (low, high));
    }
    if low & 0x3F != 0 {
        add((first, first), (low, 0x3F));
        first += 1;
    }
    let whole_end = if high & 0x3F == 0x3F { last } else { last - 1 };
    if first <= whole_end {
        add((first, whole_end), (0, 0x3F));
    }
    if whole_end != last {
        add((last, last), (0, high));
    }
}
