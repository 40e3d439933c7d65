import type { Policy } from "../../domain/policy.ts";
import { isActing } from "../../domain/shown.ts";
import { NO_ACTING } from "../json/fields.ts";
import type { Problem } from "../json/problem.ts";
import { BOUNDS } from "../json/bounds.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { ConfigPath } from "./config-path.ts";
import { pathText } from "./config-path.ts";
import { namesIn } from "./odd-names.ts";
import { excessivePrices } from "./price-table.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/**
 * A rule that a release added after documents that break it had been stored. It holds at the door only: a stored document that breaks it
 * stays in force as it was read before, and a trouble names what mends it (docs/protocol.md, Configuration).
 */
export interface Refusal {
  readonly problem: Problem;
  /** The command that mends it, without the program's name, as in `config unset read_only`. */
  readonly mend: string;
}

/** The rules that a document breaks, in the order of this list. Each rule gets the document and what was read of it. */
export function refusalsOf(from: Fields, policy: Policy): readonly Refusal[] {
  return RULES.flatMap((rule) => rule(from, policy));
}

type Rule = (from: Fields, policy: Policy) => readonly Refusal[];

function refusePrices(_: Fields, { prices }: Policy): readonly Refusal[] {
  const found = prices === undefined ? [] : excessivePrices(prices, "prices").slice(0, BOUNDS.problems);
  return found.map((problem) => ({ problem, mend: `config set ${problem.path}=PRICE` }));
}

/** A stored `read_only` beside a mode that acts changes nothing. */
function refuseReadOnly(from: Fields, { mode, arrayModes }: Policy): readonly Refusal[] {
  const { read_only: value, enabled } = from;
  const mend = "config unset read_only";
  if (value === undefined || value === false) return [];
  if (value !== true) return [{ problem: problemAt("read_only", value, "true or false"), mend }];
  const acts = mode === "act" || [...arrayModes.values()].includes("act");
  const key = enabled === true ? "enabled" : "mode";
  const expected = `read_only or ${key}, not both: read_only means observe, and ${key} says act`;
  return acts ? [{ problem: problemAt("read_only", value, expected), mend }] : [];
}

/** Sums of longer times are no moments, and no node or demand lives as long. */
function refuseDurations(from: Fields): readonly Refusal[] {
  const expected = `at most ${BOUNDS.duration} seconds, a year`;
  return DURATIONS.flatMap((key) => {
    const value = from[key];
    const members = isFields(value) ? Object.entries(value) : [];
    const all: readonly (readonly [string, unknown])[] = [
      [key, value],
      ...members.map(([array, one]) => [`${key}.${array}`, one] as const),
    ];
    return all
      .filter(([, seconds]) => (typeof seconds === "object" ? Number.NaN : Number(seconds)) > BOUNDS.duration)
      .map(([path, seconds]) => ({
        problem: problemAt(path, seconds, expected),
        mend: `config set ${path}=SECONDS`,
      }));
  }).slice(0, BOUNDS.problems);
}

const DURATIONS = [
  "idleTimeout",
  "idle_timeout",
  "bootTimeout",
  "boot_timeout",
  "downTimeout",
  "failedTimeout",
  "deallocatedTimeout",
  "maxExpirationInterval",
  "inFlightGrace",
  "groupFillTimeout",
  "planHistory",
];

/** Each plan tries them on each bucket, and maybe on each node. */
function refuseDefaults(_: Fields, { defaultResources = [] }: Policy): readonly Refusal[] {
  const path = "default_resources";
  return tooMany(path, defaultResources.length, BOUNDS.defaultResources, "entries");
}

/** Each plan compares the name of each request set with them. What was not read yet is counted, because it takes seconds to read far too many. */
export function refuseSenders({ senders }: Fields): readonly Refusal[] {
  const lengthOf = (names: unknown): number => (Array.isArray(names) ? names.length : 0);
  const rules: readonly unknown[] = Array.isArray(senders) ? senders : [];
  const names = rules.reduce<number>((sum, rule) => {
    const { requestSets, pools, dynamicArrays, nodeNames } = isFields(rule) ? rule : {};
    const ofSets = typeof requestSets === "string" ? 1 : lengthOf(requestSets);
    return sum + ofSets + lengthOf(pools) + lengthOf(dynamicArrays) + lengthOf(nodeNames);
  }, 0);
  return tooMany("senders", names, BOUNDS.senderNames, "names in all rules");
}

function tooMany(path: string, count: number, most: number, what: string): readonly Refusal[] {
  if (count <= most) return [];
  const problem = { path, found: `${count} ${what}`, expected: `at most ${most} ${what}` };
  return [{ problem, mend: `config set ${path}=[...]` }];
}

/** People see another name where a character acts on what is beside it. */
function refuseActing(from: Fields): readonly Refusal[] {
  return namesIn(from)
    .filter(({ text, path }) => isActing(text) && !isOfUsers(path))
    .slice(0, BOUNDS.problems)
    .map(({ text, at, path }) => ({
      problem: problemShowing(at, text, `a name ${NO_ACTING}`),
      mend: `config unset ${pathText(path)}`,
    }));
}

/** Names of users may come from a language that is written from right to left: they are taken, and shown with what turns them. */
const isOfUsers = ([key, kind]: ConfigPath): boolean => key === "caps" && kind === "users";

const RULES: readonly Rule[] = [
  refusePrices,
  refuseReadOnly,
  refuseDurations,
  refuseDefaults,
  refuseSenders,
  refuseActing,
];

/** The text of the trouble about a stored document. */
export function refusalText({ problem: { path, found, expected }, mend }: Refusal): string {
  return `the stored configuration is in force although a new one like it would be refused: ${path}: found ${found}, expected ${expected}; mend it with ${mend}`;
}
