// Checks JavaScript and TypeScript without running it, over what V8 and the TypeScript compiler offer.
//
//   node check.cjs javascript                      frames on standard input
//   node check.cjs typescript TYPESCRIPT.js        the same
//   node check.cjs typescript TYPESCRIPT.js FILE   one file; complaints on standard error
//
// A frame is a line `LENGTH NAME`, then LENGTH bytes of code. Its answer is a line with the length of
// the complaints, then them; none means that the code is accepted, a length of -1 that it is not and
// that this process cannot say why.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

// What `node --check` does to a module, and to a script of CommonJS.
const GOALS = [
  (code) => new vm.SourceTextModule(code, { identifier: "snippet.mjs" }),
  (code) => vm.compileFunction(code, ["exports", "require", "module", "__filename", "__dirname"], { filename: "snippet.cjs" }),
];

// The place of a syntax error is kept where only node's own code sees it.
function placed(error) {
  const { decorateErrorStack } = require("internal/util");
  const stack = String(error.stack);
  decorateErrorStack(error);
  return error.stack.length > stack.length ? `${error.stack.slice(0, -stack.length)}\n${stack}` : null;
}

function javascript() {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // node leaves a byte order mark too
  return (name, bytes) => {
    const code = decoder.decode(bytes);
    let first = null;
    for (const accepts of GOALS) {
      try {
        accepts(code);
        return "";
      } catch (error) {
        first ??= error;
      }
    }
    try {
      // Another error, of the stack for one, depends on who asks.
      return first instanceof SyntaxError ? placed(first) : null;
    } catch {
      return null;
    }
  };
}

// The files that a program sees are its own and the library's, of which each is parsed once.
function typescript(place) {
  const ts = require(place);
  const library = path.dirname(place) + "/";
  const parsed = new Map();
  const options = {
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
  };
  const isLibrary = (file) => file.startsWith(library) && /^lib(\.[\w.-]+)?\.d\.ts$/.test(file.slice(library.length));
  return (name, bytes) => {
    const root = "/" + name;
    const code = new TextDecoder().decode(bytes);
    // Elements have the types of a library that is not there.
    const extra = name.endsWith("x") ? { jsx: ts.JsxEmit.Preserve, noImplicitAny: false } : {};
    if (name.endsWith(".jsx")) extra.allowJs = true;
    const host = {
      fileExists: (file) => file === root || (isLibrary(file) && fs.existsSync(file)),
      readFile: (file) => (file === root ? code : isLibrary(file) ? fs.readFileSync(file, "utf8") : undefined),
      directoryExists: (folder) => folder === "/" || folder + "/" === library,
      getDirectories: () => [],
      realpath: (file) => file,
      getSourceFile: (file, version) => {
        if (file === root) return ts.createSourceFile(file, code, version, true);
        if (!isLibrary(file)) return undefined;
        if (!parsed.has(file)) {
          if (!fs.existsSync(file)) return undefined;
          parsed.set(file, ts.createSourceFile(file, fs.readFileSync(file, "utf8"), version));
        }
        return parsed.get(file);
      },
      getDefaultLibLocation: () => library.slice(0, -1),
      getDefaultLibFileName: (chosen) => library + ts.getDefaultLibFileName(chosen),
      getCurrentDirectory: () => "/",
      getCanonicalFileName: (file) => file,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
      writeFile: () => {},
    };
    const program = ts.createProgram([root], { ...options, ...extra }, host);
    let found = [...program.getConfigFileParsingDiagnostics(), ...program.getOptionsDiagnostics(), ...program.getSyntacticDiagnostics()];
    if (found.length === 0) found = [...program.getGlobalDiagnostics()];
    if (found.length === 0) found = [...program.getSemanticDiagnostics()];
    const errors = ts.sortAndDeduplicateDiagnostics(found).filter((d) => d.category === ts.DiagnosticCategory.Error);
    return ts.formatDiagnostics(errors, host);
  };
}

function serve(check) {
  let held = [];
  let size = 0;
  let wanted = null;
  process.stdin.on("data", (part) => {
    held.push(part);
    size += part.length;
    for (;;) {
      if (wanted === null) {
        if (!part.includes(10) && held.length > 1) return;
        const all = Buffer.concat(held);
        const end = all.indexOf(10);
        held = [all];
        if (end < 0) return;
        const [length, name] = all.subarray(0, end).toString().split(" ");
        wanted = { length: Number(length), name };
        held = [all.subarray(end + 1)];
        size = held[0].length;
      }
      if (size < wanted.length) return;
      const all = Buffer.concat(held);
      const said = check(wanted.name, all.subarray(0, wanted.length));
      const answer = Buffer.from(said ?? "");
      held = [all.subarray(wanted.length)];
      size = held[0].length;
      wanted = null;
      fs.writeSync(1, `${said === null ? -1 : answer.length}\n`);
      for (let at = 0; at < answer.length; ) at += fs.writeSync(1, answer, at);
    }
  });
}

const [language, place, file] = process.argv.slice(2);
const check = language === "javascript" ? javascript() : typescript(place);
if (file === undefined) serve(check);
else {
  const complaint = check(path.basename(file), fs.readFileSync(file));
  fs.writeSync(2, complaint);
  process.exitCode = complaint === "" ? 0 : 1;
}
