import { answerAllocator } from "./answer-allocator.ts";
import { answerDefaultResources } from "./answer-default-resources.ts";
import { answerEvaluate } from "./answer-evaluate.ts";
import { answerConstraintParse } from "./answer-parse.ts";
import { answerArithmetic, answerCompare, answerConvert, answerParse } from "./answer-size.ts";
import { answerTimeouts, compareTimeouts } from "./answer-timeouts.ts";
import type { Difference, Json } from "./compare.ts";
import { differences, isClose, isList, isObject, textOf } from "./compare.ts";
import { DEVIATIONS } from "./deviations.ts";
import { causesOf, expectedOf } from "./reference.ts";
import { TIMEOUT_DEVIATIONS } from "./timeout-deviations.ts";
import type { Answer, Surroundings, VectorCase } from "./vector-case.ts";

/** How the cases of one file are answered and compared. */
export interface Suite {
  /** Folder and file, as "size/parse". */
  readonly name: string;
  readonly answer: Answer;
  readonly compare: (expected: Json, actual: Json) => readonly Difference[];
  /**
   * What we must answer where that is known, whatever the library answers: what it differs in is wrong. Of other suites a difference from
   * the library is explained by itself.
   */
  readonly reference?: (one: VectorCase, surroundings: Surroundings) => Json;
}

const exactly = (expected: Json, actual: Json): readonly Difference[] => differences(expected, actual);

/** Numbers of a size are compared like its bytes. */
const sizes = (expected: Json, actual: Json): readonly Difference[] =>
  differences(expected, actual).filter(({ expected: a, actual: b }) => {
    const [left, right] = [typeof a === "boolean" ? Number(a) : a, b];
    return !(typeof left === "number" && typeof right === "number" && isClose(left, right));
  });

/** Of an exception only that there is one matters: ours is a problem with a path. */
const refusals = (expected: Json, actual: Json): readonly Difference[] =>
  isObject(expected) && isObject(actual) && "raises" in expected && "raises" in actual
    ? []
    : differences(expected, actual);

/** Where the library stops with an exception in judging a node, ours is to say that the node will not do. */
const judgements = (expected: Json, actual: Json): readonly Difference[] =>
  refusals(answerInsteadOfRaising(expected, actual), actual);

function answerInsteadOfRaising(expected: Json, actual: Json): Json {
  if (!isObject(expected) || !isObject(actual)) return expected;
  if ("raises" in expected && actual["satisfied"] === false) return actual;
  const refusing = actual["satisfied"] === false;
  const members = Object.entries(expected).map(([key, value]): [string, Json] => [
    key,
    refusing && isObject(value) && "raises" in value
      ? (actual[key] ?? null)
      : answerInsteadOfRaising(value, actual[key] ?? null),
  ]);
  return Object.fromEntries(members);
}

/**
 * The rejections of a job have no order, and why single buckets gave nothing is for information (the README of the vectors). Of a problem
 * only that there is one is compared.
 */
export const allocations = (expected: Json, actual: Json): readonly Difference[] =>
  differences(withoutOrder(expected), withoutOrder(actual));

function withoutOrder(answer: Json): Json {
  if (!isObject(answer)) return answer;
  if (!isList(answer["jobs"])) return "problem" in answer ? { problem: "" } : answer;
  const jobs = answer["jobs"].map((job): Json => {
    if (!isObject(job)) return job;
    const { bucket_failures: _, rejections, ...rest } = job;
    if ("problem" in rest) return { ...rest, problem: "" };
    if (!isList(rejections)) return rest;
    return { ...rest, rejections: rejections.toSorted((a, b) => compareText(textOf(a), textOf(b))) };
  });
  return { ...answer, jobs };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The library stopped with an exception: there is nothing to compare with, but an answer there must be, and a sound one. */
const nothing = (): readonly Difference[] => [];

const ALLOCATOR_FILES = [
  "constraints",
  "defaults_in_allocation",
  "documented",
  "existing_nodes",
  "limits",
  "memory_units",
  "packing",
  "placement_groups",
  "random_existing",
  "random_limits",
  "random_mixed",
  "random_mpi",
];

export const SUITES: readonly Suite[] = [
  { name: "allocator/raises", answer: answerAllocator, compare: nothing, reference: expectedOf },
  ...ALLOCATOR_FILES.map((file): Suite => ({
    name: `allocator/${file}`,
    answer: answerAllocator,
    compare: allocations,
    reference: expectedOf,
  })),
  { name: "size/parse", answer: answerParse, compare: sizes },
  { name: "size/convert", answer: answerConvert, compare: sizes },
  { name: "size/arithmetic", answer: answerArithmetic, compare: sizes },
  { name: "size/compare", answer: answerCompare, compare: exactly },
  { name: "constraints/parse", answer: answerConstraintParse, compare: refusals },
  { name: "constraints/evaluate", answer: answerEvaluate, compare: judgements },
  { name: "default_resources/evaluate", answer: answerDefaultResources, compare: refusals },
  { name: "timeouts/settings", answer: answerTimeouts, compare: compareTimeouts },
];

/** What became of a case. */
export interface Verdict {
  readonly kind: "passed" | "failed" | "deviated";
  readonly actual: Json;
  readonly differences: readonly Difference[];
  /** What explains the differences: defects, by their numbers, or switches of the reference engine. */
  readonly causes: readonly string[];
}

/** Answers a case and compares. It deviates if every single difference is explained; one that is not makes it fail. */
export function judgeCase(suite: Suite, one: VectorCase, surroundings: Surroundings): Verdict {
  const actual = suite.answer(one, surroundings);
  return judgeAnswer(suite, one, actual, surroundings);
}

export function judgeAnswer(
  suite: Suite,
  one: VectorCase,
  actual: Json,
  surroundings: Surroundings,
): Verdict {
  if (suite.reference !== undefined) {
    const wrong = allocations(suite.reference(one, surroundings), actual);
    if (wrong.length > 0) return { kind: "failed", actual, differences: wrong, causes: [] };
  }
  const found = suite.compare(one.expected, actual);
  if (found.length === 0) return { kind: "passed", actual, differences: [], causes: [] };
  const causes =
    suite.reference === undefined
      ? explainEach(suite, one, found, surroundings)
      : causesOf(one, surroundings, (answer) => suite.compare(one.expected, answer).length === 0);
  const kind = causes === undefined ? "failed" : "deviated";
  return { kind, actual, differences: found, causes: causes ?? [] };
}

function explainEach(
  { name }: Suite,
  one: VectorCase,
  found: readonly Difference[],
  surroundings: Surroundings,
): readonly string[] | undefined {
  const deviations = [...DEVIATIONS, ...TIMEOUT_DEVIATIONS].filter(({ suite }) => isFor(suite, name));
  const defects = found.map(
    (difference) => deviations.find(({ explains }) => explains(one, difference, surroundings))?.defect,
  );
  const known = defects.filter((defect) => defect !== undefined);
  if (known.length < defects.length) return undefined;
  return [...new Set(known)].toSorted((a, b) => a - b).map((defect) => `defect ${defect}`);
}

function isFor(of: string, suite: string): boolean {
  return of === suite || (of.endsWith("/*") && suite.startsWith(of.slice(0, -1)));
}

/** A file's cases; it is a list of objects with name, input and expected. */
export function readCases(content: unknown): readonly VectorCase[] {
  if (!isList(content)) throw new Error("not a list of cases");
  return content.map((item) => {
    if (!isObject(item) || !isObject(item["input"]) || item["expected"] === undefined)
      throw new Error("a case without input or expected");
    return { name: textOf(item["name"]), input: item["input"], expected: item["expected"] };
  });
}
