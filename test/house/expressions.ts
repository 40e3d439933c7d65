import { parseSync } from "vite";
import { processorMs } from "../support/processor-time.ts";
import type { SourceFile } from "./imports.ts";

/** A regular expression of a source file. */
export interface Expression {
  readonly path: string;
  readonly pattern: string;
  readonly flags: string;
}

/** The regular expressions of a source, and how many it makes of texts while it runs: those cannot be tried here. */
export interface Expressions {
  readonly written: readonly Expression[];
  readonly made: number;
}

/** Finds them in the syntax tree, so that comments and texts do not count. */
export function expressionsIn({ path, text }: SourceFile): Expressions {
  const written: Expression[] = [];
  let made = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const regex = memberOf(value, "regex");
    const [pattern, flags] = [memberOf(regex, "pattern"), memberOf(regex, "flags")];
    if (typeof pattern === "string" && typeof flags === "string") written.push({ path, pattern, flags });
    if (memberOf(memberOf(value, "callee"), "name") === "RegExp") made += 1;
    for (const child of Object.values(value)) visit(child);
  };
  visit(parseSync(path, text).program);
  return { written, made };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** A long text: what it begins with, what it repeats, and what it ends with. */
interface Shape {
  readonly begin: string;
  readonly unit: string;
  readonly end: string;
}

/** The most processor time for a text of {@link LENGTH} characters, in ms. What takes time by the square of the length takes seconds. */
export const MOST_MS = 50;
const LENGTH = 100_000;
/**
 * Short ones first: time that doubles with each character, or grows by the cube, would hold the test for ever. By the square it shows at
 * 40,000. `kept`: how many texts are tried at the next length, those that take longest at this one. Undefined: all, because short texts do
 * not tell yet.
 */
const TRIES: readonly { readonly length: number; readonly kept?: number }[] = [
  { length: 25 },
  { length: 200 },
  { length: 2000, kept: 40 },
  { length: 10_000, kept: 16 },
  { length: 40_000, kept: 6 },
  { length: LENGTH },
];

/** What is long in a message: digits, letters, spaces, and mixed; and ends that nothing expects. */
const UNITS = ["1", "a", "A", " ", "\t", "/", ":", '"', "é", "1_", "1.", "a1", "a ", " 1", "a-1", "aB1 "];
const ENDS = ["", "!", "\n", "1"];
const ORDINARY: readonly Shape[] = UNITS.flatMap((unit) => ENDS.map((end) => ({ begin: "", unit, end })));

/**
 * The text that takes the expression longest, of {@link LENGTH} characters, and its processor time. Stops at the first above
 * {@link MOST_MS}, which may be shorter.
 */
export function slowest(expression: Expression): { readonly ms: number; readonly text: string } {
  let shapes = [...shapesOf(expression.pattern), ...ORDINARY];
  let worst = { ms: 0, text: "" };
  for (const { length, kept } of TRIES) {
    const timed: { readonly shape: Shape; readonly ms: number }[] = [];
    for (const shape of shapes) {
      const ms = timeOf(expression, write(shape, length));
      if (ms > worst.ms) worst = { ms, text: `${JSON.stringify(shape)}, ${length} characters` };
      if (ms > MOST_MS) return worst;
      timed.push({ shape, ms });
    }
    if (kept === undefined) continue;
    shapes = timed
      .sort((one, other) => other.ms - one.ms)
      .slice(0, kept)
      .map(({ shape }) => shape);
  }
  return worst;
}

function write({ begin, unit, end }: Shape, length: number): string {
  return begin + unit.repeat(Math.ceil(length / unit.length)).slice(0, length) + end;
}

/**
 * Processor time of a search for all matches, in ms; where little time has passed, that time, which is no less and costs less to ask for.
 * What is little above the bound is repeated: something else may have run in between.
 */
function timeOf({ pattern, flags }: Expression, text: string): number {
  const expression = new RegExp(pattern, flags);
  let least = Infinity;
  for (let run = 0; run < 3 && (run === 0 || (least > MOST_MS && least < 4 * MOST_MS)); run += 1) {
    const [before, begun] = [processorMs(), performance.now()];
    text.replace(expression, "");
    const passed = performance.now() - begun;
    least = Math.min(least, passed < MOST_MS / 2 ? passed : processorMs() - before);
  }
  return least;
}

/**
 * Texts that begin as the expression expects and repeat a part of it. Each atom of the expression gives a character, in their order,
 * whether it is optional, repeated, or in one of several alternatives.
 */
function shapesOf(pattern: string): readonly Shape[] {
  const samples = (pattern.match(ATOM) ?? []).flatMap(sampleOf).slice(0, MOST_ATOMS);
  const parts = samples.flatMap((_, from) =>
    Array.from({ length: from === 0 ? samples.length : LONGEST_PART }, (_one, more) => ({
      before: samples.slice(0, from).join(""),
      unit: samples.slice(from, from + more + 1).join(""),
    })),
  );
  return parts.flatMap(({ before, unit }) =>
    [...new Set(["", before])].flatMap((begin) => ["", "!", "\n"].map((end) => ({ begin, unit, end }))),
  );
}

const MOST_ATOMS = 60;
const LONGEST_PART = 6;

/** A class, an escape, the beginning of a group, a count, or a character. */
const ATOM =
  /\[(?:\\.|[^\]\\])*\]|\\(?:u\{[^}]*\}|u[^{]{4}|p\{[^}]*\}|.)|\(\?(?:[:=!]|<[=!]|<\w+>)|\{\d+,?\d*\}|[^]/gu;
const NO_CHARACTER = /^(?:[()|^$*+?]|\\[bB1-9]|\(\?.*|\{\d.*)$/;

function sampleOf(atom: string): readonly string[] {
  if (NO_CHARACTER.test(atom)) return [];
  if (atom.length === 1 && atom !== ".") return [atom];
  const one = new RegExp(`^${atom}$`, "u");
  return SAMPLES.filter((sample) => one.test(sample)).slice(0, 1);
}

const SAMPLES: readonly string[] = ["1", "a", "A", " ", "-", "\u{FFFD}", "\u{202E}"].concat(
  Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)),
);
