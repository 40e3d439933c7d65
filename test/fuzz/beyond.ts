import { memberOf } from "./judge.ts";

/** A bound of docs/demand.md that an input is beyond. */
export interface Beyond {
  readonly what: string;
  /** It is in a job, which is left out by itself: the rest of the input may be taken. */
  readonly isInJob: boolean;
}

/** The figures of docs/demand.md, written here a second time: a change of the product's table shows. */
const MOST = {
  levels: 64,
  members: 10_000,
  text: 131_072,
  count: 10_000_000,
  amount: 1e18,
  priority: 1e9,
  name: 1000,
  resource: 200,
  constraintText: 4096,
  alternatives: 100,
  choices: 10_000,
} as const;

const LISTS: readonly (readonly [string, number])[] = [
  ["nodearrays", 1000],
  ["pools", 1000],
  ["schedulerNodes", 20_000],
  ["limits", 1000],
  ["buckets", 1000],
];
/** Members of the items of a list that are numbers, and how large they may be. */
const NUMBERS: readonly (readonly [string, string, number])[] = [
  ["nodearrays", "TargetCount", MOST.count],
  ["nodearrays", "TargetCoreCount", MOST.count],
  ["nodearrays", "TargetGroupCount", MOST.count],
  ["pools", "total", MOST.amount],
  ["pools", "used", MOST.amount],
  ["limits", "more", MOST.count],
  ["limits", "max", MOST.count],
  ["jobs", "iterations", MOST.count],
  ["jobs", "node-count", MOST.count],
  ["jobs", "priority", MOST.priority],
];

/**
 * What of a demand, a dry run or a configuration is beyond a bound, what is outside of jobs first. Knows the bounds that hold for any value,
 * and in a demand or a dry run those of the members that are named here. Undefined: it sees none, which says nothing of the other bounds.
 */
export function beyondOf(document: unknown, isDemand: boolean): Beyond | undefined {
  const sets = Object.values(memberOf(document, "requestSets") ?? {});
  const demands = isDemand ? [document, ...sets] : [];
  const all = [...oversizes(document), ...demands.flatMap((one: unknown) => beyondDemand(one))];
  return all.find(({ isInJob }) => !isInJob) ?? all[0];
}

function beyondDemand(demand: unknown): readonly Beyond[] {
  const lists = LISTS.filter(([name, most]) => listOf(demand, name).length > most);
  const numbers = NUMBERS.filter(([name, member, most]) =>
    listOf(demand, name).some((item) => isAbove(memberOf(item, member), most)),
  );
  const jobs = listOf(demand, "jobs").flatMap((job) => [
    ...(isLonger(memberOf(job, "name"), MOST.name) ? ["name of a job"] : []),
    ...beyondConstraint(memberOf(job, "constraints")),
  ]);
  return [
    ...lists.map(([what]) => ({ what, isInJob: false })),
    ...numbers.map(([name, what]) => ({ what, isInJob: name === "jobs" })),
    ...jobs.map((what) => ({ what, isInJob: true })),
  ];
}

/** Alternatives, lists and texts of constraints, those inside others included. */
function beyondConstraint(root: unknown): readonly string[] {
  const found: string[] = [];
  const open: unknown[] = [root];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (Array.isArray(one)) open.push(...one);
    else if (typeof one === "object" && one !== null)
      for (const [key, value] of Object.entries(one)) {
        const most = key === "or" || key === "xor" ? MOST.alternatives : MOST.choices;
        if (key !== "never" && key !== "and" && lengthOf(value) > most)
          found.push(`${key.slice(0, 20)}: length`);
        if (key !== "never" && isLonger(value, MOST.constraintText)) found.push("value to match");
        if (key.length > MOST.resource) found.push("name of a resource");
        if (["and", "or", "xor", "not"].includes(key)) open.push(value);
      }
  }
  return found;
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
const isLonger = (value: unknown, most: number): boolean => typeof value === "string" && value.length > most;
const isAbove = (value: unknown, most: number): boolean => typeof value === "number" && value > most;

/** A list may be left out for its one item. */
function listOf(of: unknown, name: string): readonly unknown[] {
  const value = memberOf(of, name);
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

/** Levels, members and texts, level by level: no depth is too much. */
function oversizes(root: unknown): readonly Beyond[] {
  const found: Beyond[] = [];
  let values: readonly { readonly value: unknown; readonly isInJob: boolean }[] = [
    { value: root, isInJob: false },
  ];
  for (let above = 0; values.length > 0; above += 1)
    values = values.flatMap(({ value, isInJob }) => {
      if (isLonger(value, MOST.text)) found.push({ what: "text", isInJob });
      if (typeof value !== "object" || value === null) return [];
      if (above === MOST.levels) found.push({ what: "levels", isInJob });
      if (above === MOST.levels) return [];
      const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
      if (!Array.isArray(value) && entries.length > MOST.members) found.push({ what: "members", isInJob });
      return entries.map(([key, member]) => ({ value: member, isInJob: isInJob || key === "jobs" }));
    });
  return found;
}
