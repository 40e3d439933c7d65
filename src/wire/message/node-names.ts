import type { NamedNodes, Problem } from "../../domain/demand.ts";
import { expandHostList } from "../../domain/host-list.ts";
import { placementGroup } from "../../domain/ids.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { BOUNDS } from "../json/bounds.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Nodearray } from "./nodearray-schema.ts";

/** CycleCloud makes the host's name of a node's name. A percent sign would make a pattern of it (cyclecloud-wire.md A.6). */
const NODE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

const NAME_EXPECTED = "a node name of 1 to 63 letters, digits, dots, dashes and underscores";

/** The names that an entry of `nodearrays` asks for, each once. A problem: at `NodeNames`, below the entry. */
export function readNodeNames(value: unknown): readonly string[] | Problem {
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
export function namedNodesOf(entry: Nodearray, names: readonly string[]): NamedNodes {
  const { PlacementGroup, Since, Together } = entry;
  return {
    ...(PlacementGroup === undefined ? {} : { group: placementGroup(PlacementGroup) }),
    names,
    ...withoutAbsent({ since: Since }),
    ...(Together === true ? { together: true } : {}),
  };
}
