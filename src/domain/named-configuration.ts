import type { NodeArray, Snapshot } from "./cluster.ts";
import type { DefaultResource } from "./default-resource.ts";
import { configurationKeys } from "./default-resource.ts";
import type { Policy } from "./policy.ts";

/**
 * Of a template's `Configuration` a look keeps only the values that the configuration in force names. Others may be secrets under any name
 * (`db_pw`, `sas`), and what is kept is stored and can be shown by a plan. A key that a new configuration names comes with the next look.
 */
export function keepNamedConfiguration(
  snapshot: Snapshot,
  policy: Pick<Policy, "defaultResources">,
): Snapshot {
  const keys = configurationKeys(policy.defaultResources);
  return {
    ...snapshot,
    arrays: snapshot.arrays.map(({ configuration, ...array }) => ({
      ...array,
      ...namedOf(configuration, keys),
    })),
    nodes: snapshot.nodes.map((node) => {
      if (node.configuration === undefined) return node;
      const { configuration, ...rest } = node;
      return { ...rest, ...namedOf(configuration, keys) };
    }),
  };
}

function namedOf(
  configuration: NodeArray["configuration"] = {},
  keys: ReadonlySet<string>,
): Pick<NodeArray, "configuration"> {
  const named = Object.entries(configuration).filter(([key]) => keys.has(key));
  return named.length === 0 ? {} : { configuration: Object.fromEntries(named) };
}

/**
 * The default resources of a dry run. Of a node's Configuration it may read what the configuration in force names: a reader may ask for a
 * dry run, and only an operator says what is read. Another key reads as one that is missing: empty text. This holds for what a record of
 * an older release has, and for the Configuration of a dynamic array, which is a sender's.
 */
export function readingOnlyNamed(
  asked: readonly DefaultResource[],
  inForce: readonly DefaultResource[] | undefined,
): readonly DefaultResource[] {
  const keys = configurationKeys(inForce);
  return asked.map((line) =>
    line.value.kind === "configuration" && !keys.has(line.value.key)
      ? { ...line, value: { kind: "literal", value: "" } }
      : line,
  );
}
