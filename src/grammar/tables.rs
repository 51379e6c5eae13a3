//! The words of the grammars, folded to lower case. Phrases are joined by a space.

use super::form::ReplyForm;

/// What a word of the grammar says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Say {
    Pass,
    Block,
}

/// What a label is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Verdict,
    Score,
    Winner,
}

const PASS: &[&str] = &[
    "pass",
    "passed",
    "passes",
    "ok",
    "okay",
    "oked",
    "yes",
    "true",
    "approve",
    "approved",
    "approves",
    "accept",
    "accepted",
    "accepts",
    "allow",
    "allowed",
    "continue",
    "safe",
    "correct",
    "valid",
    "success",
    "lgtm",
    "ship",
    "ship it",
    "通过",
    "通過",
    "合格",
    "통과",
    "합격",
    "bestanden",
    "aprobado",
    "aprovado",
    "approvato",
    "approuvé",
    "принято",
    "مقبول",
];

const BLOCK: &[&str] = &[
    "no",
    "false",
    "deny",
    "denied",
    "denies",
    "refuse",
    "refused",
    "unsafe",
    "incorrect",
    "wrong",
    "invalid",
    "unacceptable",
    "insufficient",
    "error",
    "needs work",
    "needs revision",
    "changes requested",
    "changes needed",
    "request changes",
    "no go",
    "disapproved",
    "disapprove",
    "unsuccessful",
    "declined",
    "decline",
    "不通过",
    "不合格",
    "不通過",
    "未通过",
    "불합격",
    "nicht bestanden",
    "abgelehnt",
    "rejeté",
    "rejetée",
    "rechazado",
    "reprobado",
    "reprovado",
    "respinto",
    "отклонено",
    "مرفوض",
    "bloquear",
    "bloqueado",
    "bloqué",
    "bloccato",
    "do not merge",
    "not ready",
];

/// The document's words, which also block as the start of a longer word.
pub(super) const STEMS: [&str; 5] = ["block", "fail", "stop", "reject", "halt"];

const PASS_SIGNS: &[char] = &['✅', '✔', '👍', '🟢', '✓', '☑'];
const BLOCK_SIGNS: &[char] = &['❌', '✗', '✘', '⛔', '👎', '🔴', '🛑', '🚫', '✖'];

/// Words that turn the next word around.
const NEGATIONS: &[&str] = &[
    "not",
    "non",
    "cannot",
    "can't",
    "cant",
    "don't",
    "didn't",
    "doesn't",
    "won't",
    "isn't",
    "wasn't",
    "shouldn't",
    "never",
    "without",
    "nicht",
    "kein",
    "keine",
    "ne",
    "pas",
    "nunca",
    "не",
    "n't",
    "couldn't",
    "wouldn't",
    "aren't",
    "hasn't",
    "haven't",
    "nor",
    "neither",
    "nie",
    "niemals",
    "jamais",
];

/// Words that make none of what follows: `no failures`, `0 blocking issues`.
const NONE_OF: &[&str] = &["no", "non", "not", "un", "zero", "without", "none", "0", "never"];

/// Words between a negation and what it negates.
const FILLERS: &[&str] =
    &["a", "an", "the", "be", "yet", "to", "fully", "really", "quite", "longer"];

const CONDITIONS: &[&str] = &[
    "if",
    "once",
    "after",
    "until",
    "unless",
    "pending",
    "provided",
    "providing",
    "only",
    "but",
    "however",
    "except",
    "when",
    "assuming",
    "conditional",
    "conditionally",
    "condition",
    "conditions",
    "subject",
    "otherwise",
    "should",
    "would",
    "could",
    "were",
    "till",
    "although",
    "though",
    "whereas",
    "wenn",
    "falls",
    "sofern",
    "sobald",
    "aber",
    "nachdem",
    "bis",
    "außer",
    "unter",
    "si",
    "sous",
    "mais",
    "après",
    "sauf",
    "condición",
    "condizione",
    "siempre",
    "pero",
    "salvo",
    "después",
    "cuando",
    "se",
    "dopo",
    "però",
    "если",
    "после",
    "но",
    "при",
    "как",
    "soon",
    "instead",
    "rather",
    "wait",
    "actually",
    "edit",
    "correction",
    "pendiente",
    "quando",
    "mas",
    "desde",
    "cuando",
    "lowest",
    "worst",
    "initial",
    "initially",
    "changed",
    "lower",
];

/// The same in scripts without spaces: looked for inside a word.
const CJK_DOUBTS: &[&str] = &[
    "不",
    "没",
    "未",
    "如果",
    "若",
    "之后",
    "以后",
    "但",
    "除非",
    "条件",
    "ない",
    "ません",
    "なく",
    "場合",
    "後",
    "지만",
    "않",
    "못",
    "경우",
    "후에",
];

/// Words that may start a remark behind a vote.
const REMARKS: &[&str] =
    &["because", "since", "as", "with", "for", "thanks", "due", "weil", "car", "porque"];

/// Words that may stand before a label.
const LEADS: &[&str] = &[
    "my",
    "the",
    "final",
    "overall",
    "so",
    "therefore",
    "thus",
    "hence",
    "verdict",
    "own",
    "our",
    "a",
    "and",
    "current",
    "combined",
    "total",
    "mean",
    "average",
    "aggregate",
    "mein",
    "das",
    "die",
    "der",
    "le",
    "la",
    "el",
    "il",
    "o",
    "final",
    "gesamt",
    "finale",
    "is",
    "here",
    "s",
];

/// Of a label that stands for all the others.
const FINALS: &[&str] = &["final", "overall", "total", "combined", "mean", "average", "aggregate"];

/// Words of what is under judgement, and of instructions.
const MOUTHS: &[&str] = &[
    "target",
    "model",
    "agent",
    "agent's",
    "candidate",
    "candidate's",
    "submission",
    "text",
    "essay",
    "variant",
    "author",
    "assistant",
    "response",
    "file",
    "fixture",
    "diff",
    "output",
    "document",
    "expected",
    "format",
    "example",
    "asked",
    "returned",
    "claims",
    "claimed",
    "wrote",
    "writes",
    "says",
    "said",
    "ends",
    "contains",
    "includes",
    "quoted",
    "quote",
    "reply",
    "return",
    "respond",
    "injection",
    "prompt",
    "instruction",
    "answer",
    "user",
    "template",
    "previous",
    "earlier",
    "comment",
    "would",
    "if",
    "line",
    "it",
    "code",
    "page",
    "string",
];

/// Labels and keywords of a correction behind a vote.
const CORRECTIONS: &[&str] = &[
    "update",
    "correction",
    "reflection",
    "edit",
    "wait",
    "actually",
    "reconsider",
    "reconsidered",
    "reconsidering",
    "korrektur",
    "corrección",
    "amendment",
    "revised",
    "hold",
    "overrides",
    "override",
    "retract",
    "instead",
];

const VERDICT_LABELS: &[&str] = &[
    "verdict",
    "final answer",
    "decision",
    "final decision",
    "conclusion",
    "outcome",
    "fazit",
    "grade",
    "recommendation",
    "结论",
    "判定",
    "판정",
    "urteil",
    "veredicto",
    "veredito",
    "verdetto",
    "вердикт",
    "الحكم",
];
const SCORE_LABELS: &[&str] = &[
    "score",
    "overall",
    "rating",
    "评分",
    "得分",
    "スコア",
    "점수",
    "оценка",
    "puntuación",
    "pontuação",
    "punteggio",
    "bewertung",
    "valutazione",
    "الدرجة",
];
const WINNER_LABELS: &[&str] = &[
    "winner",
    "gewinner",
    "sieger",
    "gagnant",
    "ganador",
    "vincitore",
    "vencedor",
    "победитель",
    "胜者",
    "勝者",
    "승자",
    "الفائز",
];

/// Words for a variant.
pub(super) const VARIANTS: &[&str] = &[
    "variant",
    "option",
    "candidate",
    "response",
    "assistant",
    "model",
    "answer",
    "no",
    "output",
    "chatbot",
    "variante",
    "réponse",
    "respuesta",
    "antwort",
    "вариант",
    "変体",
    "变体",
    "変体",
    "变量",
    "number",
    "nr",
    "the",
    "is",
    "system",
];

pub(super) const TIES: &[&str] = &[
    "tie",
    "tied",
    "both",
    "neither",
    "none",
    "draw",
    "equal",
    "equally",
    "unentschieden",
    "empate",
    "égalité",
    "平局",
    "引き分け",
];

/// Words that give a number another scale.
pub(super) const SCALES: &[&str] = &[
    "star", "stars", "point", "points", "of", "out", "scale", "von", "sur", "de", "из", "minus",
    "plus", "to", "percent", "per", "满分", "満点", "分", "点", "lowest", "worst", "or", "st",
    "nd", "rd", "th", "lower",
];

pub(super) const OR: &[&str] =
    &["or", "oder", "ou", "或", "或者", "または", "или", "o", "vs", "versus", "xor"];

/// A word list by name.
macro_rules! lists {
    ($($name:ident $list:ident),+ $(,)?) => {$(
        pub(super) fn $name(word: &str) -> bool {
            $list.contains(&word)
        }
    )+};
}

lists! {
    is_negation NEGATIONS, makes_none NONE_OF, is_filler FILLERS, starts_remark REMARKS, leads LEADS,
    is_final FINALS, is_mouth MOUTHS, is_correction CORRECTIONS, is_or OR, is_scale SCALES, is_tie TIES,
    is_variant VARIANTS,
}

/// Whether a word makes what stands beside it a condition or a correction.
pub(super) fn is_condition(word: &str) -> bool {
    CONDITIONS.contains(&word)
        || (!word.is_ascii() && CJK_DOUBTS.iter().any(|doubt| word.contains(doubt)))
}

/// Whether a word starts as one of the document's words that block.
pub(super) fn has_stem(word: &str) -> bool {
    STEMS.iter().any(|stem| word.starts_with(stem))
}

/// What a sign says.
pub(super) fn sign(c: char) -> Option<Say> {
    if PASS_SIGNS.contains(&c) {
        Some(Say::Pass)
    } else if BLOCK_SIGNS.contains(&c) {
        Some(Say::Block)
    } else {
        None
    }
}

/// The words and labels of a gate: the common ones and its own.
pub(super) struct Words<'f> {
    pub(super) form: &'f ReplyForm,
    pass: Vec<String>,
    block: Vec<String>,
    labels: Vec<(String, Label)>,
}

/// A text as a phrase: lower case, words joined by one space.
pub(super) fn phrase(text: &str) -> String {
    let lower: String = text.chars().flat_map(char::to_lowercase).collect();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

impl<'f> Words<'f> {
    pub(super) fn new(form: &'f ReplyForm) -> Self {
        let phrases = |list: &[String]| list.iter().map(|word| phrase(word)).collect();
        let own = |list: &'f [String], label| list.iter().map(move |text| (phrase(text), label));
        let labels = own(&form.verdict_labels, Label::Verdict);
        let labels = labels.chain(own(&form.score_labels, Label::Score)).collect();
        Words { form, pass: phrases(&form.pass), block: phrases(&form.block), labels }
    }

    /// What a phrase says. Own words take the place of the common ones, except of the document's.
    pub(super) fn say(&self, phrase: &str) -> Option<Say> {
        if self.block.iter().any(|word| word == phrase) {
            return Some(Say::Block);
        }
        if self.pass.iter().any(|word| word == phrase) {
            return Some(Say::Pass);
        }
        if !phrase.contains(' ') && has_stem(phrase) {
            return Some(Say::Block);
        }
        let document = matches!(phrase, "pass" | "ok" | "passed" | "okay");
        if PASS.contains(&phrase) && (self.pass.is_empty() || document) {
            Some(Say::Pass)
        } else if BLOCK.contains(&phrase) && self.block.is_empty() {
            Some(Say::Block)
        } else {
            None
        }
    }

    /// What a phrase is the label of.
    pub(super) fn label(&self, phrase: &str) -> Option<Label> {
        let own = self.labels.iter().find(|(text, _)| text == phrase).map(|&(_, label)| label);
        let listed = |list: &[&str]| list.contains(&phrase);
        own.or_else(|| listed(VERDICT_LABELS).then_some(Label::Verdict))
            .or_else(|| listed(SCORE_LABELS).then_some(Label::Score))
            .or_else(|| listed(WINNER_LABELS).then_some(Label::Winner))
    }

    /// Whether a label is neither the document's nor the gate's own.
    pub(super) fn is_synonym(&self, phrase: &str) -> bool {
        let own = self.labels.iter().any(|(text, _)| text == phrase);
        !own && !matches!(phrase, "verdict" | "score" | "winner")
    }

    /// The longest label in words.
    pub(super) fn label_words(&self) -> usize {
        let words = |text: &String| text.split(' ').count();
        self.labels.iter().map(|(text, _)| words(text)).max().unwrap_or(0).clamp(2, 6)
    }
}
