// Node's answers for regular expressions, as rows of the case tables.
//
//   node js_regex_node.mjs answer < rows.jsonl > answered.jsonl
//       fills in `matches` and `error` of rows that have pattern, flags, target and kind
//   node js_regex_node.mjs random COUNT SEED > rows.jsonl
//       writes COUNT random small patterns, each with a few texts, with the answers
import { createInterface } from 'node:readline';

/** JSON in ASCII, so that lone surrogates survive. */
function ascii(value) {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

function row({ pattern, flags, target, kind, ...rest }) {
  let matches = null;
  let error = null;
  try {
    matches = new RegExp(pattern, flags).test(target);
  } catch (e) {
    error = e.message;
  }
  return ascii({ pattern, flags, target, matches, error, kind, ...rest });
}

async function answer() {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim()) console.log(row(JSON.parse(line)));
  }
}

// ---- random patterns ----

let state = 1;
/** A number below n (mulberry32). */
function below(n) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % n;
}
const pick = (list) => list[below(list.length)];
const maybe = (n) => below(n) === 0;

const CHARS = [
  'a', 'a', 'a', 'b', 'b', 'c', 'A', 'B', 'k', 's', 'S', 'K', '_', '-', '0', '1', '8', ' ', '\n', '\r',
  '\u2028', '\u2029', '\u0085', 'é', 'É', 'ß', 'ẞ', 'ſ', '\u212a', 'σ', 'ς', 'Σ', 'ı', 'İ', 'ᾳ', 'ǆ', 'ǅ',
  '漢', '😀', '😁', '🚀', '\ud83d', '\ude00', '\ud83e', '𐐨', '𐐀', '\ufeff', '\u00a0', '\u180e', '٣', '\0', '\b', '\u017f',
];
const ESCAPES = [
  '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\t', '\\n', '\\r', '\\v', '\\f', '\\0', '\\x41', '\\x4', '\\u0041', '\\u004',
  '\\u{61}', '\\u{1F600}', '\\ud83d', '\\ude00', '\\ud83d\\ude00', '\\u{d83d}\\u{de00}', '\\cA', '\\ca', '\\c1', '\\c', '\\c_', '\\01', '\\012', '\\08',
  '\\1', '\\2', '\\3', '\\8', '\\10', '\\18', '\\101', '\\400', '\\k', '\\k<n>', '\\k<m>', '\\-', '\\_', '\\a', '\\A', '\\z', '\\p{L}', '\\P{Lu}', '\\p{Lu}',
  '\\p{Script=Greek}', '\\p{Ll}', '\\p{', '\\e', '\\.', '\\/', '\\\\', '\\]', '\\é', '\\q{ab}', '\\b', '\\B',
];
const USUAL = ['\\d', '\\w', '\\s', '\\S', '\\W', '\\b', '\\B', '\\D', '\\1', '\\2', '\\k<n>', '\\u{61}', '\\ud83d', '\\ude00', '\\n', '.'];
let unicode;
let sets;
let names;

function atom(depth) {
  const roll = below(26);
  if (depth > 0) {
    if (roll < 3) return `(${alternatives(depth - 1)})`;
    if (roll < 5) return `(?:${alternatives(depth - 1)})`;
    if (roll === 5) return `(?=${alternatives(depth - 1)})`;
    if (roll === 6) return `(?!${alternatives(depth - 1)})`;
    if (roll === 7) return `(?<=${alternatives(depth - 1)})`;
    if (roll === 8) return `(?<!${alternatives(depth - 1)})`;
    if (roll === 9 && names.length) return `(?<${maybe(6) ? pick(['n', 'm', 'é', '\\u0061', '𝒜', '1', '']) : names.shift()}>${alternatives(depth - 1)})`;
  }
  if (roll < 12) return sets && !maybe(4) ? setClass(1) : charClass();
  if (roll < 15) return pick(USUAL);
  if (roll === 15) return pick(ESCAPES);
  if (roll === 16) return pick(['.', '^', '$', '.', '^', '$', '[^]', '[]', '\\b']);
  if (maybe(80)) return pick(['{', '}', ']', '{1}', '{,2}', ')', '(', '*', '(?', '(?i:a)', '(?i)', '[', '\\', '(?>a)', '|', '?']);
  return pick(CHARS);
}

function term(depth) {
  let text = atom(depth);
  const roll = below(16);
  if (roll < 5) {
    text += pick(['*', '+', '?', '*', '+', '{2}', '{0}', '{1,2}', '{0,2}', '{2,}', '{,2}', '{1', '{2,1}', '{0,1}', '{3,5}']);
    if (maybe(3)) text += '?';
    if (maybe(60)) text += pick(['+', '*', '?']);
  }
  return text;
}

function alternatives(depth) {
  const branches = [];
  do {
    let text = '';
    for (let n = below(4); n >= 0; n--) text += term(depth);
    branches.push(maybe(8) ? '' : text);
  } while (maybe(4));
  return branches.join('|');
}

function classChar() {
  const roll = below(12);
  if (roll < 2) return pick(ESCAPES);
  if (roll < 3) return pick(['\\d', '\\w', '\\W', '\\s', '\\S', '\\D', '\\b']);
  if (roll < 4) return pick(['-', '^', '[', '&', '&&', '--', '.', '(', '$', '|', '{', '!']);
  return pick(CHARS);
}

function charClass() {
  let text = maybe(4) ? '[^' : '[';
  for (let n = below(4); n > 0; n--) {
    text += classChar();
    if (maybe(5)) {
      const low = pick(['a', 'A', '0', '\\ud800', '\u0100', '_', 'k', 'α']);
      text += low + '-' + pick(['z', 'a', 'Z', '9', '\\udfff', '\uffff', 's', 'ω', '\\d', '\\w', '\\xff']);
    }
  }
  return text + ']';
}

function setClass(depth) {
  const operand = () => {
    const roll = below(10);
    if (roll < 2 && depth > 0) return setClass(depth - 1);
    if (roll < 3) return pick(['\\q{ab}', '\\q{a|bc|}', '\\q{A|AB}', '\\q{}', '\\q{k}', '\\q{😀a}']);
    if (roll < 5) return pick(['\\w', '\\W', '\\d', '\\p{L}', '\\P{L}', '\\p{Lu}', '\\P{Lu}', '\\s', '\\S', '\\p{Emoji_Keycap_Sequence}']);
    if (roll < 6 && maybe(4)) return classChar();
    return pick(CHARS.filter((c) => !'-()[]{}/|\\'.includes(c)));
  };
  let text = maybe(4) ? '[^' : '[';
  const roll = below(6);
  if (roll < 2) {
    const operator = roll ? '--' : '&&';
    text += operand();
    for (let n = below(2); n >= 0; n--) text += (maybe(20) ? pick(['&&', '--', '']) : operator) + operand();
  } else {
    for (let n = below(4); n > 0; n--) text += maybe(5) ? pick(['a-z', 'A-K', '0-9', 'z-a', '😀-😎', 'α-ω']) : operand();
  }
  return text + ']';
}

function randomPattern() {
  unicode = maybe(3);
  sets = !unicode && maybe(4);
  names = maybe(4) ? ['n', 'm'] : [];
  let flags = unicode ? 'u' : sets ? 'v' : '';
  for (const flag of 'ims') if (maybe(3)) flags += flag;
  if (maybe(20)) flags += 'y';
  let pattern = alternatives(3);
  if (pattern.length > 60) pattern = alternatives(1);
  if (maybe(6)) pattern = '^' + pattern;
  if (maybe(6)) pattern += '$';
  if (maybe(10)) pattern = `^(?${pick('=!')}.*${pattern})`;
  // The shapes that have a way of their own.
  const any = () => pick(['.', '[^]', '\\w', '[^a]', 'a']);
  const small = () => alternatives(0);
  if (maybe(12)) {
    pattern = pick([
      () => `^(?:(?!${small()})${any()})${pick(['*', '+', '{1,3}'])}$`,
      () => `^((?!${small()})${any()})*${pick(['$', '', 'b'])}`,
      () => `(?<${pick('=!')}${any()})${small()}`,
      () => `${small()}(?${pick('=!')}${any()})`,
      () => `^(?${pick('=!')}${small()})(?${pick('=!')}${any()}*${small()})${small()}`,
      () => `^${any()}${pick(['*', '+', '{2,}', '{0,3}', '{1,2}'])}${pick(['$', ''])}`,
      () => `${any()}${pick(['*', '+', '{2,}'])}${small()}${any()}*$`,
      () => `^(?:${pick(CHARS)}|${pick(CHARS)}${pick(CHARS)}|)$`,
      () => `^${any()}*${small()}${any()}*$`,
    ])();
  }
  return { pattern, flags };
}

function randomText(pattern) {
  let text = '';
  for (let n = below(9); n > 0; n--) text += maybe(3) ? pattern[below(pattern.length)] ?? 'a' : maybe(2) ? pick('aaabbcAB01 ') : pick(CHARS);
  return text;
}

function random(count, seed) {
  state = seed;
  const lines = [];
  for (let i = 0; i < count; i++) {
    const { pattern, flags } = randomPattern();
    // V8 of Node 20 is wrong here: /^[^]{2,}$/v matches "B".
    if (/\[\^(\[\])*\]/.test(pattern) && flags.includes('v')) continue;
    for (let n = 0; n < 6; n++) {
      const line = row({ pattern, flags, target: randomText(pattern), kind: 'random' });
      lines.push(line);
      if (line.includes('"matches":null')) break;
    }
    if (lines.length > 5000) console.log(lines.splice(0).join('\n'));
  }
  if (lines.length) console.log(lines.join('\n'));
}

const [mode, count, seed] = process.argv.slice(2);
if (mode === 'random') random(Number(count), Number(seed));
else await answer();
