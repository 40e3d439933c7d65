import type {
  Ceiling,
  ConfigurationKeys,
  Owned,
  SenderRule,
  SenderRules,
} from "../../domain/sender-rules.ts";
import type { Problem } from "../../domain/demand.ts";
import { EVERY_ATTRIBUTE, GUARDED_SETTINGS } from "../../domain/sender-rules.ts";
import type { SenderDocument } from "../api/configuration.ts";
import { BOUNDS } from "../json/bounds.ts";
import { readCeiling } from "./caps.ts";
import { checkKeys, isTooLong, readBoolean, readEach, readNumber } from "../json/fields.ts";
import { isKeptLabel, isKeptName, LABEL_EXPECTED, NAME_EXPECTED } from "../json/name.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { EVERY_OTHER } from "./timeouts.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Named } from "../api/shown.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

const KEYS: ReadonlySet<string> = new Set([
  "requestSets",
  "write",
  "maxPriority",
  "caps",
  "share",
  "hosts",
  "pools",
  "dynamicArrays",
  "nodeNames",
  "attributes",
  "configuration",
] satisfies readonly (keyof SenderRule)[]);

const RULES = "a list of rules, each an object with requestSets";
const SETS = "a name or shell pattern, or a list of them";
const FREE_KEY =
  'a key of Configuration, such as "application_version"; what CycleCloud reads itself is allowed by attributes';
const KEY_LISTS = "a list of keys of Configuration, or an object of such lists: default, and node arrays";
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
  const share = readShare(value, problems);
  const configuration = readConfiguration(value["configuration"], problems);
  return {
    requestSets,
    write: readBoolean(value, "write", problems) ?? true,
    ...withoutAbsent({ maxPriority, caps, share }),
    hosts: readBoolean(value, "hosts", problems) ?? true,
    pools: readOwned(value, "pools", POOL_NAME, problems),
    dynamicArrays: readOwned(value, "dynamicArrays", ARRAY_NAME, problems),
    ...(value["nodeNames"] === undefined
      ? {}
      : { nodeNames: readOwned(value, "nodeNames", ARRAY_NAME, problems) }),
    attributes: readAttributes(value["attributes"], problems),
    ...withoutAbsent({ configuration }),
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
    if (isKeptName(pattern)) return;
    const at = Array.isArray(value) ? `requestSets[${index}]` : "requestSets";
    problems.add(() => problemShowing(at, pattern, typeof pattern === "string" ? NAME_EXPECTED : SETS));
  });
  return patterns.filter(isKeptName);
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

/** A share of 0 leaves what belongs to no rule. */
function readShare(rule: Fields, problems: Problems): number | undefined {
  const share = readNumber(rule, "share", problems);
  if (share === undefined || (share >= 0 && share <= BOUNDS.share)) return share;
  problems.add(() => problemAt("share", share, `a number from 0 to ${BOUNDS.share}`));
  return undefined;
}

const OWNED = "true, false, or a list of names or shell patterns";

interface NameForm {
  readonly has: (name: unknown) => name is string;
  readonly expected: string;
}

const POOL_NAME: NameForm = { has: isKeptLabel, expected: LABEL_EXPECTED };
const ARRAY_NAME: NameForm = { has: isKeptName, expected: NAME_EXPECTED };

function readOwned(
  rule: Fields,
  key: "pools" | "dynamicArrays" | "nodeNames",
  form: NameForm,
  problems: Problems,
): Owned {
  const value = rule[key];
  if (value === undefined) return true;
  if (typeof value === "boolean") return value;
  if (!Array.isArray(value)) {
    problems.add(() => problemAt(key, value, OWNED));
    return false;
  }
  if (isTooLong(key, value, BOUNDS.senderRules, "names", problems)) return false;
  const names: readonly unknown[] = value;
  names.forEach((name, index) => {
    if (!form.has(name)) problems.add(() => problemShowing(`${key}[${index}]`, name, form.expected));
  });
  return names.filter(form.has);
}

function readAttributes(value: unknown, problems: Problems): readonly string[] {
  return value === undefined ? [] : readPaths(value, "attributes", isPath, ATTRIBUTE, problems);
}

/** Reads a list of paths of node attributes. `path`: where it is. */
function readPaths(
  value: unknown,
  path: string,
  isOne: (item: unknown) => item is string,
  expected: string,
  problems: Problems,
): readonly string[] {
  if (!Array.isArray(value)) {
    problems.add(() => problemAt(path, value, `a list, each ${expected}`));
    return [];
  }
  if (isTooLong(path, value, BOUNDS.senderRules, "attributes", problems)) return [];
  value.forEach((item: unknown, index) => {
    if (!isOne(item)) problems.add(() => problemShowing(`${path}[${index}]`, item, expected));
  });
  return value.filter(isOne);
}

const isPath = (path: unknown): path is string =>
  typeof path === "string" && path !== "" && path.length <= BOUNDS.name;

/** A list only narrows, so it cannot hold what is guarded: that would look as if it allowed it. */
function isFreeKey(key: unknown): key is string {
  if (!isPath(key)) return false;
  const path = `configuration.${key.toLowerCase()}`;
  const guarded = GUARDED_SETTINGS.map((one) => one.toLowerCase());
  return !["configuration.configuration", ...guarded].some(
    (one) => path === one || path.startsWith(`${one}.`),
  );
}

/** One list for all node arrays, or an object of lists by node array, with "default" for arrays that it does not name. */
function readConfiguration(value: unknown, problems: Problems): ConfigurationKeys | undefined {
  if (value === undefined) return undefined;
  const read = (list: unknown, path: string) => readPaths(list, path, isFreeKey, FREE_KEY, problems);
  if (Array.isArray(value)) return { every: read(value, "configuration") };
  if (!isFields(value)) {
    problems.add(() => problemAt("configuration", value, KEY_LISTS));
    return undefined;
  }
  const { [EVERY_OTHER]: others, ...named } = value;
  if (isTooLong("configuration", Object.keys(named), BOUNDS.senderRules, "node arrays", problems))
    return undefined;
  for (const array of Object.keys(named))
    if (!isKeptName(array)) problems.add(() => problemShowing("configuration", array, NAME_EXPECTED));
  const byArray = new Map(
    Object.entries(named).map(([array, list]) => [array, read(list, `configuration.${array}`)]),
  );
  return {
    ...(others === undefined ? {} : { every: read(others, `configuration.${EVERY_OTHER}`) }),
    ...(byArray.size === 0 ? {} : { byArray }),
  };
}

/** In the form in which it is read. */
function writeConfiguration({ every, byArray }: ConfigurationKeys): SenderDocument["configuration"] {
  if (byArray === undefined) return every ?? {};
  return { ...(every === undefined ? {} : { [EVERY_OTHER]: every }), ...Object.fromEntries(byArray) };
}

/** Rules after one that names every request set never apply. Without such a rule a sender may invent a name that no rule limits. */
export function doubtSenders(rules: SenderRules, path: string): readonly Problem[] {
  const last = rules.findIndex(({ requestSets }) => requestSets.includes("*"));
  if (last === rules.length - 1) return [];
  if (last < 0) {
    const wanted = 'a last rule for "*": a request set that no rule names may do everything';
    return [{ path, found: "no rule for all other request sets", expected: wanted }];
  }
  const expected = `no rule behind ${path}[${last}], which names every request set: the first rule that names one counts`;
  return [problemShowing(`${path}[${last + 1}]`, rules[last + 1]?.requestSets.join(", "), expected)];
}

/** The rules in the form in which they are read. */
export function writeSenders(rules: SenderRules): readonly SenderDocument[] {
  return rules.map((rule) =>
    withoutAbsent({
      requestSets: rule.requestSets,
      write: rule.write,
      maxPriority: rule.maxPriority,
      caps: rule.caps === undefined ? undefined : { ...rule.caps },
      share: rule.share,
      hosts: rule.hosts,
      pools: rule.pools,
      dynamicArrays: rule.dynamicArrays,
      nodeNames: rule.nodeNames,
      attributes: rule.attributes,
      configuration: rule.configuration === undefined ? undefined : writeConfiguration(rule.configuration),
    } satisfies Named<SenderDocument>),
  );
}
