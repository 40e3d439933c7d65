import { compilePattern } from "../../src/domain/shell-pattern.ts";

/*
 * A script that prints the bytes of heap that each of 900 patterns keeps after it has matched: `node --expose-gc weigh-patterns.ts UNIT TEXT`.
 * A pattern repeats the unit, up to the longest text of a constraint, and matches the text, which is repeated as often.
 */

const PATTERNS = 900;
const LONGEST = 4096;

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

if (import.meta.main) {
  const [unit = "", text = ""] = process.argv.slice(2);
  const times = Math.floor((LONGEST - 4) / unit.length);
  const names = Array.from({ length: PATTERNS }, (_, i) =>
    Buffer.from(`${i}${text.repeat(times)}`).toString(),
  );
  // A text of its own: not one that holds the parts that it was made of.
  const patterns = names.map((_, i) => Buffer.from(`${i}${unit.repeat(times)}`).toString());
  const before = heapUsed();
  const compiled = patterns.map((pattern) => compilePattern(pattern));
  if (compiled.some((pattern, i) => pattern?.test(names[i] ?? "") !== true)) throw new Error("no match");
  const bytes = (heapUsed() - before) / PATTERNS;
  // What was weighed is still needed.
  process.stdout.write(JSON.stringify({ patterns: compiled.length, bytes: Math.round(bytes) }));
}
