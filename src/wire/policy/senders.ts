import type { Ceiling } from "../../domain/cap-rules.ts";
import type { Problem } from "../../domain/demand.ts";
import type { SenderRule, SenderRules } from "../../domain/sender-rules.ts";
import { EVERY_ATTRIBUTE } from "../../domain/sender-rules.ts";
import type { SenderDocument } from "../api/configuration.ts";
import { BOUNDS } from "../json/bounds.ts";
import { readCeiling } from "./caps.ts";
import {
  checkKeys,
  isFields,
  isTooLong,
  readBoolean,
  readEach,
  readNumber,
  type Fields,
} from "../json/fields.ts";
import { isName, NAME_EXPECTED } from "../json/name.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { withoutAbsent } from "./without-absent.ts";

const KEYS: ReadonlySet<string> = new Set([
  "requestSets",
  "write",
  "maxPriority",
  "caps",
  "hosts",
  "pools",
  "dynamicArrays",
  "attributes",
] satisfies readonly (keyof SenderRule)[]);

const RULES = "a list of rules, each an object with requestSets";
const SETS = "a name or shell pattern, or a list of them";
const ATTRIBUTE = `the name of a node attribute, or a path such as "Configuration.cyclecloud.mounts", or "${EVERY_ATTRIBUTE}"`;

/** Reads the rules for senders in order: the first one that names a request set applies to it. */
export function readSenders(value: unknown, path: string, problems: Problems): SenderRules {
  if (!Array.isArray(value)) {
    problems.add(() => problemAt(path, value, RULES));
    return [];
  }
  if (isTooLong(path, value, BOUNDS.senderRules, "rules", problems)) return [];
  return readEach(value, path, problems, readRule);
}

function readRule(value: unknown, problems: Problems): SenderRule | undefined {
  if (!isFields(value)) {
    problems.add(() => problemAt("", value, "an object with requestSets"));
    return undefined;
  }
  checkKeys(value, KEYS, problems);
  const requestSets = readPatterns(value["requestSets"], problems);
  const maxPriority = readMaxPriority(value, problems);
  const caps = readCaps(value, problems);
  return {
    requestSets,
    write: readBoolean(value, "write", problems) ?? true,
    ...(maxPriority === undefined ? {} : { maxPriority }),
    ...(caps === undefined ? {} : { caps }),
    hosts: readBoolean(value, "hosts", problems) ?? true,
    pools: readBoolean(value, "pools", problems) ?? true,
    dynamicArrays: readBoolean(value, "dynamicArrays", problems) ?? true,
    attributes: readAttributes(value["attributes"], problems),
  };
}

/** A pattern has the form of a name. A pattern that no name can match is an error. */
function readPatterns(value: unknown, problems: Problems): readonly string[] {
  const patterns: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (value === undefined || patterns.length === 0) {
    problems.add(() => problemAt("requestSets", value, SETS));
    return [];
  }
  if (isTooLong("requestSets", patterns, BOUNDS.senderRules, "names", problems)) return [];
  patterns.forEach((pattern, index) => {
    if (isName(pattern)) return;
    const at = Array.isArray(value) ? `requestSets[${index}]` : "requestSets";
    problems.add(() => problemShowing(at, pattern, typeof pattern === "string" ? NAME_EXPECTED : SETS));
  });
  return patterns.filter(isName);
}

function readMaxPriority(rule: Fields, problems: Problems): number | undefined {
  const most = readNumber(rule, "maxPriority", problems);
  if (most === undefined || Math.abs(most) <= BOUNDS.priority) return most;
  const range = `a number from -${BOUNDS.priority} to ${BOUNDS.priority}`;
  problems.add(() => problemAt("maxPriority", most, range));
  return undefined;
}

function readCaps({ caps }: Fields, problems: Problems): Ceiling | undefined {
  return caps === undefined ? undefined : readCeiling(caps, "caps", problems);
}

function readAttributes(value: unknown, problems: Problems): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    problems.add(() => problemAt("attributes", value, `a list, each ${ATTRIBUTE}`));
    return [];
  }
  if (isTooLong("attributes", value, BOUNDS.senderRules, "attributes", problems)) return [];
  const isPath = (path: unknown): path is string =>
    typeof path === "string" && path !== "" && path.length <= BOUNDS.name;
  value.forEach((path: unknown, index) => {
    if (!isPath(path)) problems.add(() => problemShowing(`attributes[${index}]`, path, ATTRIBUTE));
  });
  return value.filter(isPath);
}

/** Rules after one that names every request set never apply. */
export function doubtSenders(rules: SenderRules, path: string): readonly Problem[] {
  const last = rules.findIndex(({ requestSets }) => requestSets.includes("*"));
  if (last < 0 || last === rules.length - 1) return [];
  const expected = `no rule behind ${path}[${last}], which names every request set: the first rule that names one counts`;
  return [problemShowing(`${path}[${last + 1}]`, rules[last + 1]?.requestSets.join(", "), expected)];
}

/** The rules in the form in which they are read. */
export function writeSenders(rules: SenderRules): readonly SenderDocument[] {
  return rules.map((rule) =>
    withoutAbsent<SenderDocument>({
      requestSets: rule.requestSets,
      write: rule.write,
      maxPriority: rule.maxPriority,
      caps: rule.caps === undefined ? undefined : { ...rule.caps },
      hosts: rule.hosts,
      pools: rule.pools,
      dynamicArrays: rule.dynamicArrays,
      attributes: rule.attributes,
    }),
  );
}
