import type { CapRules, Ceiling } from "../../domain/sender-rules.ts";
import type { Problem } from "../../domain/demand.ts";
import type { CapsDocument } from "../api/configuration.ts";
import { checkKeys, readCount } from "../json/fields.ts";
import { isKeptLabel, isKeptName, LABEL_EXPECTED, NAME_EXPECTED } from "../json/name.ts";
import { problemAt, problemShowing, unknownKey } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Named } from "../api/shown.ts";
import { isFields } from "../../domain/fields.ts";

const KINDS = ["requestSets", "users"];
const UNITS: ReadonlySet<string> = new Set(["nodes", "cores"]);

/**
 * Reads `{ requestSets: name -> { nodes, cores }, users: ... }`. The name "*" means each other user separately, and all other sets
 * together.
 */
export function readCaps(value: unknown, path: string, problems: Problems): CapRules {
  if (!isFields(value)) {
    problems.add(() => problemAt(path, value, "an object: requestSets, users"));
    return { requestSets: new Map(), users: new Map() };
  }
  for (const key of Object.keys(value))
    if (!KINDS.includes(key)) problems.add(() => unknownKey(path, key, KINDS));
  const { requestSets, users } = value;
  return {
    requestSets: readCeilings(requestSets, `${path}.requestSets`, problems),
    users: readCeilings(users, `${path}.users`, problems),
  };
}

function readCeilings(from: unknown, path: string, problems: Problems): ReadonlyMap<string, Ceiling> {
  const ceilings = new Map<string, Ceiling>();
  if (from === undefined) return ceilings;
  if (!isFields(from)) {
    problems.add(() => problemAt(path, from, "an object: name -> nodes, cores"));
    return ceilings;
  }
  for (const [name, value] of Object.entries(from)) {
    if (!isKeptLabel(name)) problems.add(() => problemShowing(path, name, LABEL_EXPECTED));
    ceilings.set(name, readCeiling(value, `${path}.${name}`, problems));
  }
  return ceilings;
}

/** Caps of sets that no message can name. An older configuration may contain them and must stay readable, so they are not refused. */
export function doubtCaps({ requestSets }: CapRules, path: string): readonly Problem[] {
  const expected = `${NAME_EXPECTED}: no set of this name can be sent any more`;
  return [...requestSets.keys()]
    .filter((name) => !isKeptName(name))
    .map((name) => problemShowing(`${path}.requestSets`, name, expected));
}

/** Zero is a valid limit: nothing is allowed. */
export function readCeiling(value: unknown, path: string, problems: Problems): Ceiling {
  if (!isFields(value) || Object.keys(value).length === 0) {
    problems.add(() => problemAt(path, value, "an object with nodes, cores, or both"));
    return {};
  }
  const own = problems.below(() => path);
  checkKeys(value, UNITS, own);
  const nodes = readCount(value, "nodes", 0, own);
  const cores = readCount(value, "cores", 0, own);
  return withoutAbsent({ nodes, cores });
}

/** The rules as they were read. */
export function writeCaps({ requestSets, users }: CapRules): CapsDocument {
  return withoutAbsent({
    requestSets: requestSets.size === 0 ? undefined : Object.fromEntries(requestSets),
    users: users.size === 0 ? undefined : Object.fromEntries(users),
  } satisfies Named<CapsDocument>);
}
