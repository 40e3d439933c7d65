import type { NodeView } from "../../src/domain/node-view.ts";
import { applyDefaults, compileDefaults } from "../../src/decide/constraints/default-resources.ts";
import { LIBRARY_DEFAULTS } from "../support/library-defaults.ts";
import { isSize, sizeJson } from "../../src/domain/size.ts";
import type { Json } from "./compare.ts";
import { isObject } from "./compare.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";
import { readCluster, readRules } from "./vector-cluster.ts";

/** The resources of every bucket and node of the case's cluster. The library's own are shown where the case asks for any of them. */
export function answerDefaultResources(one: VectorCase, surroundings: Surroundings): Json {
  const read = readRules(one.input, surroundings);
  if (read.kind === "refused") return { raises: read.problem };
  const { buckets, nodes } = readCluster(one.input, read.rules);
  const defaults = compileDefaults(read.rules.configured, read.rules.own);
  const faults = [...buckets.values(), ...nodes.values()].flatMap(
    (view) => applyDefaults(defaults, view).faults,
  );
  const [fault] = faults;
  if (fault !== undefined) return { raises: `${fault.resource}: ${fault.why}` };
  const hidden = expectsOwn(one.expected)
    ? new Set<string>()
    : new Set(LIBRARY_DEFAULTS.map(({ name }) => name));
  return { buckets: show(buckets, hidden), nodes: show(nodes, hidden) };
}

/** The vectors leave the ten out of most cases. */
function expectsOwn(expected: Json): boolean {
  const buckets =
    isObject(expected) && isObject(expected["buckets"]) ? Object.values(expected["buckets"]) : [];
  return buckets.some(
    (resources) => isObject(resources) && LIBRARY_DEFAULTS.some(({ name }) => name in resources),
  );
}

function show(views: ReadonlyMap<string, NodeView>, hidden: ReadonlySet<string>): Json {
  return Object.fromEntries(
    [...views].map(([id, { available }]) => {
      const shown = Object.entries(available).filter(([name]) => !hidden.has(name));
      return [
        id,
        Object.fromEntries(shown.map(([name, value]) => [name, isSize(value) ? sizeJson(value) : value])),
      ];
    }),
  );
}
