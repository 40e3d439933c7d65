import type { NodeArray, Snapshot } from "./cluster.ts";
import type { DefaultResource } from "./default-resource.ts";
import { configurationKeys } from "./default-resource.ts";
import type { Policy } from "./policy.ts";

/**
 * Keeps only those values of a template's `Configuration` that the configuration in force names. Others may be secrets under any name
 * (`db_pw`, `sas`), and kept values are stored and can be shown by a plan (docs/decisions.md, "Only named keys of a template's
 * Configuration are kept"). A key that a new configuration names is available from the next observation.
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
 * The default resources of a dry run. They may read only the keys of a node's Configuration that the configuration in force names: a reader
 * may ask for a dry run, but only an operator decides what is read. Other keys read as missing: empty text. This also covers the
 * Configuration of a dynamic array, which a sender wrote.
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
