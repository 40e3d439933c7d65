import type { Difference, Json } from "./compare.ts";
import { bytesOfText, isClose, isList, isObject, textOf } from "./compare.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

/**
 * Where we answer differently on purpose. A deviation explains a difference between expected and actual from the case's input and expected
 * outcome alone: never from its name, tags or description. deviations.md says what each is about; the numbers are those of the list of
 * defects in scalelib.md 24.
 */
export interface Deviation {
  readonly defect: number;
  readonly suite: string;
  readonly explains: (one: VectorCase, difference: Difference, surroundings: Surroundings) => boolean;
}

export const DEVIATIONS: readonly Deviation[] = [
  {
    defect: 0,
    suite: "constraints/parse",
    explains: ({ input, expected }) =>
      isRefused(expected) &&
      someMember(input["constraints"], (key, value) => /^exclusive(?:[_-]task)?$/.test(key) && value === 1),
  },
  {
    defect: 0,
    suite: "constraints/parse",
    explains: (_, { path, expected, actual }) => {
      if (!/^json\b/.test(path) || !Array.isArray(actual)) return false;
      const [only] = actual;
      return actual.length === 0
        ? expected === undefined && path.endsWith(".and")
        : actual.length === 1 && isAmount(only) && only === expected;
    },
  },
  {
    defect: 3,
    suite: "constraints/evaluate",
    explains: ({ input }, _, { world }) => {
      const sizes = sizedResources(world);
      return someMember(
        input["constraint"],
        (key, value) => typeof value === "number" && value !== 0 && sizes.has(key),
      );
    },
  },
  {
    defect: 4,
    suite: "constraints/parse",
    explains: ({ input }) => someMember(input["constraints"], isGroupRefused),
  },
  {
    defect: 4,
    suite: "constraints/evaluate",
    explains: ({ input }) => someMember(input["constraint"], isGroupRefused),
  },
  {
    defect: 11,
    suite: "constraints/evaluate",
    explains: ({ input }, { path, actual }) =>
      path.endsWith(".space") &&
      actual === 1 &&
      someMember(input["constraint"], (key, value) => key === "exclusive" && value !== false && value !== 0),
  },
  {
    defect: 12,
    suite: "constraints/evaluate",
    explains: ({ input }, { path }) =>
      path.includes(".take_one.") && someMember(input["constraint"], (key) => key === "not"),
  },
  {
    defect: 22,
    suite: "constraints/evaluate",
    explains: ({ input }) => asksTwice(input["constraint"]),
  },
  {
    defect: 31,
    suite: "constraints/evaluate",
    explains: ({ input, expected }, { path }) =>
      someMember(input["constraint"], (key) => key === "node.infiniband") && hasInfinibandIn(expected, path),
  },
  {
    defect: 35,
    suite: "constraints/parse",
    explains: ({ input, expected }) =>
      isRefused(expected) &&
      someMember(input["constraints"], (key) => key === "sources" || key === "initial-values"),
  },
  {
    defect: 41,
    suite: "size/*",
    explains: ({ expected }, { path, actual }) => path === "json" && losesPrecision(expected, actual),
  },
  {
    defect: 7,
    suite: "default_resources/evaluate",
    explains: ({ input }, { path }) => {
      const name = path.split(".").at(-1) ?? "";
      return LIBRARY_NAMES.has(name) && defaultsOf(input).some((entry) => entry["name"] === name);
    },
  },
  {
    defect: 29,
    suite: "default_resources/evaluate",
    explains: ({ input }, { path, expected }) => {
      const [, node = "", resource = ""] = /^nodes\.([^.]+)\.(.+)$/.exec(path) ?? [];
      return expected === undefined && resource in arrayResources(input, node);
    },
  },
  {
    defect: 30,
    suite: "default_resources/evaluate",
    explains: ({ input }, { path }) =>
      path.startsWith("nodes.") && reportsGpus(input) && isAbout(input, path, "gpu_count"),
  },
  {
    defect: 53,
    suite: "default_resources/evaluate",
    explains: ({ input }, { path }) =>
      path.startsWith("buckets.") && reportsGpus(input) && isAbout(input, path, "gpu_count"),
  },
  {
    defect: 31,
    suite: "default_resources/evaluate",
    explains: ({ input }, { path }) => isAbout(input, path, "infiniband"),
  },
  {
    defect: 54,
    suite: "default_resources/evaluate",
    explains: ({ input, expected }) =>
      !isRefused(expected) &&
      defaultsOf(input).some(({ value }) => typeof value === "string" && value.startsWith("`")),
  },
];

const LIBRARY_NAMES: ReadonlySet<string> = new Set([
  "ncpus",
  "pcpus",
  "ngpus",
  "memb",
  "memkb",
  "memmb",
  "memgb",
  "memtb",
  "nodearray",
  "ccnodeid",
]);

/** CycleCloud reports GPUs of some bucket of the case. */
function reportsGpus(input: Readonly<Record<string, Json>>): boolean {
  return someMember(
    input["clusterStatus"],
    (key, value) => key === "gpuCount" && typeof value === "number" && value > 0,
  );
}

/** The difference is in a resource that the case defines by this property of nodes; ngpus is GPUs anyway. */
function isAbout(input: Readonly<Record<string, Json>>, path: string, property: string): boolean {
  const resource = path.split(".").at(-1) ?? "";
  if (property === "gpu_count" && resource === "ngpus") return true;
  return defaultsOf(input).some(({ name, value }) => name === resource && value === `node.${property}`);
}

function isRefused(expected: Json): boolean {
  return isObject(expected) && "raises" in expected;
}

function isGroupRefused(key: string, value: Json): boolean {
  return (
    key === "in-a-placement-group" &&
    (value === false || value === 0 || (typeof value === "string" && /^(?:false|0+)$/i.test(value)))
  );
}

/** Whether one resource is asked for by two members that must hold together. */
function asksTwice(constraint: Json | undefined): boolean {
  const conjunctions: Json[][] = [];
  collectAmounts(constraint, conjunctions);
  return conjunctions.some((names) => new Set(names).size < names.length);
}

/** Names of the amounts that must hold together, for each such group in the value; the value's own are returned. */
function collectAmounts(value: Json | undefined, groups: Json[][]): Json[] {
  if (isList(value)) {
    const names = value.flatMap((item) => collectAmounts(item, groups));
    groups.push(names);
    return names;
  }
  if (!isObject(value)) return [];
  const names = Object.entries(value).flatMap(([key, member]) => {
    if (key === "and" && isList(member)) return collectAmounts(member, groups);
    if (key === "not") collectAmounts(member, groups);
    if ((key === "or" || key === "xor") && isList(member))
      return longest(member.map((item) => collectAmounts(item, groups)));
    return typeof member === "number" || bytesOfText(member) !== undefined ? [key] : [];
  });
  groups.push(names);
  return names;
}

const longest = (lists: readonly Json[][]): Json[] =>
  lists.reduce((best, list) => (list.length > best.length ? list : best), []);

/** Resources that are sizes: the library's, and those that the configuration takes from memory or writes as a size. */
function sizedResources(world: Readonly<Record<string, Json>> | undefined): ReadonlySet<string> {
  const configured = defaultsOf(world ?? {})
    .filter(({ value }) => value === "node.memory" || bytesOfText(value) !== undefined)
    .map(({ name }) => textOf(name));
  return new Set(["memb", "memkb", "memmb", "memgb", "memtb", ...configured]);
}

function defaultsOf(input: Readonly<Record<string, Json>>): readonly Readonly<Record<string, Json>>[] {
  const config = isObject(input["config"]) ? input["config"] : {};
  const entries = config["default_resources"];
  return isList(entries) ? entries.filter(isObject) : [];
}

/** The difference is about a bucket or node that the library took to have no InfiniBand. */
function hasInfinibandIn(expected: Json, path: string): boolean {
  const place = /^(?:buckets|nodes)\.([^.]+)/.exec(path)?.[1] ?? "";
  const buckets = isObject(expected) ? expected["buckets"] : undefined;
  return path.startsWith("buckets.") && isObject(buckets) && place in buckets;
}

/** What is written says other bytes than the value has, and ours says those of the value. */
function losesPrecision(expected: Json, ours: unknown): boolean {
  if (!isObject(expected)) return false;
  const { bytes, json } = expected;
  const [told, tells] = [bytesOfText(json), bytesOfText(ours)];
  if (typeof bytes !== "number" || told === undefined || tells === undefined) return false;
  return !isClose(bytes, told) && isClose(bytes, tells);
}

/** What the array of a node adds to its resources. */
function arrayResources(input: Readonly<Record<string, Json>>, node: string): Readonly<Record<string, Json>> {
  const nodes = isList(input["nodes"]) ? input["nodes"].filter(isObject) : [];
  const template = nodes.find((one) => one["Name"] === node)?.["Template"];
  const status = isObject(input["clusterStatus"]) ? input["clusterStatus"] : {};
  const arrays = isList(status["nodearrays"]) ? status["nodearrays"].filter(isObject) : [];
  const record = arrays.find((one) => one["name"] === template)?.["nodearray"];
  const configuration = isObject(record) ? record["Configuration"] : undefined;
  const autoscale = isObject(configuration) ? configuration["autoscale"] : undefined;
  const resources = isObject(autoscale) ? autoscale["resources"] : undefined;
  return isObject(resources) ? resources : {};
}

/** Whether a member anywhere in the constraints has this property. */
function someMember(value: Json | undefined, test: (key: string, value: Json) => boolean): boolean {
  if (isList(value)) return value.some((item) => someMember(item, test));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, member]) => test(key, member) || someMember(member, test));
}

const isAmount = (value: Json): boolean =>
  typeof value === "number" || (typeof value === "string" && bytesOfText(value) !== undefined);
