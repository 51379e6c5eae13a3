// Node on the checks of this folder: node node.mjs CORPUS.jsonl
import { readFileSync } from 'node:fs';

const lines = (path) => readFileSync(path, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const texts = lines(process.argv[2]).map((row) => row.output);
for (const { name, pattern, flags } of lines(new URL('checks.jsonl', import.meta.url))) {
  const regex = new RegExp(pattern, flags);
  let best = Infinity;
  let matched = 0;
  for (let round = 0; round < 7; round++) {
    matched = 0;
    const start = process.cpuUsage();
    for (const text of texts) matched += regex.test(text);
    const used = process.cpuUsage(start);
    best = Math.min(best, (used.user + used.system) * 1000);
  }
  console.log(JSON.stringify({ name, matched, ns: Math.round((best * 10) / texts.length) / 10 }));
}
