import type {
  Demand,
  GroupDemand,
  NodeAttributes,
  TargetDemand,
  Problem,
  NamedNodes,
} from "../../domain/demand.ts";
import type { MachineType } from "../../domain/ids.ts";
import { arrayName, machineType, placementGroup } from "../../domain/ids.ts";
import { hasProtoKey, sortKeys, AT_MOST } from "../json/fields.ts";
import { TARGET_ID_PREFIX } from "./job.ts";
import { addSchemaProblems } from "../json/schema-problems.ts";
import type { Problems } from "../json/problems.ts";
import { nodearraySchema, KNOWN_KEYS, OWN_KEYS } from "./nodearray-schema.ts";
import type { Nodearray } from "./nodearray-schema.ts";
import { canonicalText } from "../../domain/digest.ts";
import { excerpt, kindOf, nearest, problemAt, problemShowing } from "../json/problem.ts";
import { BOUNDS } from "../json/bounds.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";
import { expandHostList } from "../../domain/host-list.ts";

/**
 * Translates the targets of a message, in order. Several entries may name one array: each is a separate lower bound, and the largest counts
 * (architecture.md, Merging demand). All problems are reported. Any of them rejects the message. `cluster`: the one that the message is for.
 */
export function readNodearrays(
  items: readonly unknown[],
  cluster: unknown,
  problems: Problems,
): readonly Demand[] {
  const demands: Demand[] = [];
  let named = 0;
  const ids = new Map<string, number>();
  const defined = new Map<unknown, Definition>();
  items.forEach((item, index) => {
    const found = problems.below(() => `nodearrays[${index}]`);
    const parsed = nodearraySchema.safeParse(item);
    if (!parsed.success) addSchemaProblems(found, parsed.error, item, () => KNOWN_KEYS);
    if (isFields(item)) {
      found.addBelow("", targetProblems(item));
      found.addBelow("", dynamicProblems(item, index, defined));
      findAttributeProblems(item, found);
      findClusterProblem(item, cluster, found);
    }
    const names = isFields(item) && item["NodeNames"] !== undefined ? readNodeNames(item["NodeNames"]) : [];
    if ("path" in names) found.addBelow("", [names]);
    else if ((named += names.length) > BOUNDS.nodeNames)
      found.add(() => problemAt("NodeNames", item, `at most ${BOUNDS.nodeNames} names in one message`));
    else if (parsed.success && isFields(item) && found.count === 0)
      demands.push(lower(parsed.data, attributesOf(item), index, ids, names));
  });
  return demands;
}

function lower(
  entry: Nodearray,
  others: NodeAttributes,
  position: number,
  ids: Map<string, number>,
  names: readonly string[],
): TargetDemand | GroupDemand {
  const array = arrayName(entry.Name);
  const common = { position, priority: 0 };
  const types = entry.MachineType === undefined ? {} : { machineTypes: machineTypesOf(entry.MachineType) };
  const attributes = Object.keys(others).length === 0 ? {} : { attributes: others };
  const parent = entry.Extends === undefined ? {} : { extends: arrayName(entry.Extends) };
  // Keys in alphabetical order: see digestOf.
  if (entry.NodeNames !== undefined) {
    const amount = { count: names.length, unit: "nodes" } as const;
    const id = uniqueId(`${TARGET_ID_PREFIX}${entry.Name}:names`, ids);
    const named = namedNodesOf(entry, names);
    return { amount, array, ...attributes, id, kind: "target", ...types, named, ...common };
  }
  if (entry.TargetGroupCount === undefined) {
    const amount = amountOf(entry.TargetCount, entry.TargetCoreCount);
    const id = uniqueId(`${TARGET_ID_PREFIX}${entry.Name}`, ids);
    const replaces = entry[REPLACE] === true ? { replaceWhenIdle: true as const } : {};
    return { amount, array, ...attributes, ...parent, id, kind: "target", ...types, ...common, ...replaces };
  }
  const size = amountOf(entry.GroupInstanceCount, entry.GroupCoreCount);
  const key = `${entry.Name}:${size.count}${size.unit === "nodes" ? "n" : ""}`;
  const id = uniqueId(`${TARGET_ID_PREFIX}${key}`, ids);
  return {
    array,
    ...attributes,
    ...parent,
    groups: entry.TargetGroupCount,
    id,
    kind: "groups",
    ...types,
    ...common,
    size,
  };
}

/** The one that is present: the earlier checks ensure exactly one. */
function amountOf(nodes: number | undefined, cores: number | undefined): TargetDemand["amount"] {
  return cores === undefined ? { count: nodes ?? 0, unit: "nodes" } : { count: cores, unit: "cores" };
}

function machineTypesOf(value: string | readonly string[]): readonly MachineType[] {
  return typeof value === "string" ? [machineType(value)] : value.map(machineType);
}

/** `wanted`, or "wanted#2", "wanted#3", ...: the first free one, which is then taken. `taken` counts the uses of each id. */
function uniqueId(wanted: string, taken: Map<string, number>): string {
  let times = (taken.get(wanted) ?? 0) + 1;
  // Another array may have this name.
  while (times > 1 && taken.has(`${wanted}#${times}`)) times += 1;
  const id = times === 1 ? wanted : `${wanted}#${times}`;
  taken.set(id, 1);
  taken.set(wanted, times);
  return id;
}

/* Problems of an entry of `nodearrays` that its schema cannot show: contradictions between its keys. */

const TARGET_KEYS = ["TargetCount", "TargetCoreCount", "TargetGroupCount", "NodeNames"];

/** Keys that say more of named nodes, and those that such an entry cannot have. */
const NAMED_KEYS = ["PlacementGroup", "Since", "Together"];
const UNNAMED_KEYS = ["Dynamic", "Extends"];

/** Groups stay whole, and named nodes are their scheduler's. */
const REPLACE = "replace-when-idle";

const SIZE_KEYS = ["GroupCoreCount", "GroupInstanceCount"];

/** Exactly one key for the amount, and a size only if groups are requested. */
function targetProblems(item: Fields): readonly Problem[] {
  const targets = TARGET_KEYS.filter((key) => item[key] !== undefined);
  const sizes = SIZE_KEYS.filter((key) => item[key] !== undefined);
  if (targets.length > 1) return [problemOf(pick(item, targets), `only one of ${TARGET_KEYS.join(", ")}`)];
  if (targets.length === 0) {
    const similar = Object.keys(item)
      .filter((key) => !OWN_KEYS.has(key))
      .flatMap((key) => nearest(key, TARGET_KEYS) ?? []);
    // Only the keys are shown, because the attributes may hold secrets.
    const found = excerpt(Object.keys(item));
    const expected = `one of ${TARGET_KEYS.join(", ")}`;
    const [meant] = similar;
    return [{ path: "", found, expected, ...withoutAbsent({ didYouMean: meant }) }];
  }
  if (targets[0] === "TargetGroupCount" && sizes.length !== 1) {
    return [
      problemOf(
        pick(item, [...targets, ...sizes]),
        `TargetGroupCount with exactly one of ${SIZE_KEYS.join(", ")}`,
      ),
    ];
  }
  if (targets[0] !== "TargetGroupCount" && sizes.length > 0) {
    return [
      problemOf(pick(item, [...targets, ...sizes]), `${SIZE_KEYS.join(" or ")} only with TargetGroupCount`),
    ];
  }
  const isNamed = targets[0] === "NodeNames";
  const stray = (isNamed ? UNNAMED_KEYS : NAMED_KEYS).find((key) => item[key] !== undefined);
  if (stray !== undefined)
    return [problemAt(stray, item[stray], `no such key ${isNamed ? "with" : "without"} NodeNames`)];
  if (item[REPLACE] !== undefined && (isNamed || targets[0] === "TargetGroupCount"))
    return [problemAt(REPLACE, item[REPLACE], "the key only with TargetCount or TargetCoreCount")];
  const [groups, size] = [item["TargetGroupCount"], item[sizes[0] ?? ""]];
  if (typeof groups === "number" && typeof size === "number" && groups * size > BOUNDS.count)
    return [problemOf(pick(item, [...targets, ...sizes]), `${AT_MOST} in all groups together`)];
  return [];
}

/** CycleCloud's documentation promises arrays without it. Its API has no call that makes one (cyclecloud-wire.md C.2). */
const EXTENDS =
  'the node array of the cluster that it extends, as in "Extends": "execute": the API of CycleCloud makes no node arrays, only nodes in an array of the template; the attributes of this entry go over those of that array';

/**
 * A dynamic array extends another one; a static one extends none. One message must define an array in only one way. Contradictions between
 * sets are resolved later (architecture.md, Merging demand).
 */
function dynamicProblems(item: Fields, index: number, defined: Map<unknown, Definition>): readonly Problem[] {
  const { Name, Dynamic, Extends } = item;
  if (Dynamic !== true)
    return Extends === undefined
      ? []
      : [problemShowing("Extends", Extends, "no such key without Dynamic: true")];
  if (Extends === undefined) return [problemShowing("Extends", Extends, EXTENDS)];
  if (Extends === Name) return [problemShowing("Extends", Extends, "another node array than itself")];
  const { MachineType } = item;
  const sizes = typeof MachineType === "string" ? [MachineType] : MachineType;
  const text = canonicalText([Extends, sizes, attributesOf(item)]);
  const first = defined.get(Name);
  if (first === undefined) defined.set(Name, { index, text });
  if (first === undefined || first.text === text) return [];
  const same = `the Extends, MachineType and attributes that nodearrays[${first.index}] gives this dynamic array`;
  const told = ["Name", "Extends", "MachineType"].filter((key) => item[key] !== undefined);
  return [problemOf(pick(item, told), same)];
}

/** The definition of a dynamic array in a message, and the entry that has it. */
interface Definition {
  readonly index: number;
  readonly text: string;
}

/** Unknown keys are attributes, except a known key in different case: its target would have no effect. */
function findAttributeProblems(item: Fields, problems: Problems): void {
  for (const key of Object.keys(item)) {
    if (KNOWN_KEYS.includes(key)) continue;
    const meant = BY_SMALL_LETTERS.get(key.toLowerCase());
    if (meant !== undefined)
      problems.add(() => problemShowing("", key, `the key ${meant}, in these capitals`, meant));
    else if (key === "__proto__") problems.add(() => problemShowing("", key, "the name of a node attribute"));
  }
  for (const key of Object.keys(item)) {
    if (OWN_KEYS.has(key) || !hasProtoKey(item[key])) continue;
    problems.add(() => problemAt(key, item[key], "a value without the key __proto__"));
  }
}

const BY_SMALL_LETTERS = new Map(KNOWN_KEYS.map((key) => [key.toLowerCase(), key]));

/** CycleCloud sets the name of the cluster itself (cyclecloud-wire.md C.2), so it is no wish of the sender's. */
const SET_BY_CYCLECLOUD = "ClusterName";

/** Another name than that of the message's cluster: it was meant for another cluster. */
function findClusterProblem(
  { [SET_BY_CYCLECLOUD]: name }: Fields,
  cluster: unknown,
  problems: Problems,
): void {
  if (name === undefined || name === cluster || typeof cluster !== "string") return;
  problems.add(() =>
    problemShowing(SET_BY_CYCLECLOUD, name, `"${cluster}", the cluster of the message, or leave the key out`),
  );
}

function attributesOf(item: Fields): NodeAttributes {
  return Object.fromEntries(
    Object.keys(item)
      .filter((key) => !OWN_KEYS.has(key) && key !== SET_BY_CYCLECLOUD && item[key] !== undefined)
      .sort()
      .map((key) => [key, sortKeys(item[key])]),
  );
}

/** A problem of several keys together, shown with their values, which are targets, sizes and names. */
function problemOf(picked: Fields, expected: string): Problem {
  return { path: "", found: excerpt(picked), expected };
}

function pick(item: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(
    keys.map((key) => [key, isShown(key, item[key]) ? item[key] : kindOf(item[key])]),
  );
}

/** Shows a text only where a name is expected. */
function isShown(key: string, value: unknown): boolean {
  return typeof value === "number" || (NAME_KEYS.has(key) && typeof value === "string");
}

const NAME_KEYS: ReadonlySet<string> = new Set(["Name", "Extends", "MachineType"]);

/** CycleCloud makes the host's name of a node's name. A percent sign would make a pattern of it (cyclecloud-wire.md A.6). */
const NODE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

const NAME_EXPECTED = "a node name of 1 to 63 letters, digits, dots, dashes and underscores";

/** The names that an entry of `nodearrays` asks for, each once. A problem: at `NodeNames`, below the entry. */
function readNodeNames(value: unknown): readonly string[] | Problem {
  const path = "NodeNames";
  const isList = Array.isArray(value);
  if (!isList && typeof value !== "string")
    return problemAt(path, value, "a list of node names, or a text such as htc-[1-3,7]");
  if (isList && value.length > BOUNDS.nodeNames)
    return problemAt(path, value, `at most ${BOUNDS.nodeNames} names`);
  const names = isList ? value : expandHostList(value, BOUNDS.nodeNames);
  if ("expected" in names) return problemShowing(path, names.found, names.expected);
  const isName = (name: unknown): name is string => typeof name === "string" && NODE_NAME.test(name);
  const wrong = names.findIndex((name) => !isName(name));
  if (wrong < 0) return [...new Set(names.filter(isName))];
  const found: unknown = names[wrong];
  return problemShowing(isList ? `${path}[${wrong}]` : path, found, NAME_EXPECTED);
}

/** What an entry says of its named nodes. Keys in alphabetical order: see digestOf. */
function namedNodesOf(entry: Nodearray, names: readonly string[]): NamedNodes {
  const { PlacementGroup, Since, Together } = entry;
  return {
    ...(PlacementGroup === undefined ? {} : { group: placementGroup(PlacementGroup) }),
    names,
    ...withoutAbsent({ since: Since }),
    ...(Together === true ? { together: true } : {}),
  };
}
