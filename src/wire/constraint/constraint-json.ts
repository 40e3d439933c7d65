import type { Constraint } from "../../domain/constraint.ts";
import type { Scalar } from "../../domain/resources.ts";
import { looksLikeSize, sizeJson } from "../../domain/size.ts";

type Json = Scalar | readonly Json[] | { readonly [key: string]: Json };
type Members = Readonly<Record<string, Json>>;

/** A constraint as JSON from which the same constraint is read. Used to show a job's requirements. */
export function writeConstraint(constraint: Constraint): Members {
  switch (constraint.kind) {
    case "amount": {
      const { resource, amount } = constraint;
      return { [resource]: typeof amount === "number" ? amount : sizeJson(amount) };
    }
    case "resource-choice": {
      const { resource, choices } = constraint;
      const [only] = choices;
      return { [resource]: choices.length === 1 && only !== undefined && !isAmount(only) ? only : choices };
    }
    case "property-choice":
      return { [`node.${constraint.property}`]: constraint.choices };
    case "exclusive":
      return { [constraint.scope === "job" ? "exclusive" : "exclusive_task"]: constraint.wanted };
    case "in-a-placement-group":
      return { "in-a-placement-group": constraint.wanted };
    case "and":
      return writeAll(constraint.of);
    case "or":
    case "xor":
      return { [constraint.kind]: constraint.of.map(writeConstraint) };
    case "not":
      return { not: writeConstraint(constraint.of) };
    case "never":
      return { never: constraint.message };
    case "pool":
      return { pool: { [constraint.pool]: constraint.amount } };
    case "pool-value":
      return { pool: { [constraint.pool]: constraint.value } };
    case "shared-consumable":
      return {
        "shared-consumable-constraint": {
          "resource-name": constraint.resource,
          sources: constraint.pools.map(({ source }) => source),
          "initial-values": constraint.pools.map(({ initial }) => initial),
          "current-value": constraint.pools.map(({ current }) => current),
          requested: constraint.amount,
        },
      };
    case "capacity-failure-backoff":
      return { "capacity-failure-backoff": constraint.written };
  }
}

/** Outside a list it would be an amount. */
const isAmount = (choice: Scalar): boolean =>
  typeof choice === "number" || (typeof choice === "string" && looksLikeSize(choice));

/** One object if no key repeats, otherwise a list. */
function writeAll(of: readonly Constraint[]): Members {
  if (of.length === 0) return { and: [] };
  const members = of.map(writeConstraint);
  const keys = members.flatMap((member) => Object.keys(member));
  if (new Set(keys).size < keys.length) return { and: members };
  return Object.fromEntries(members.flatMap((member) => Object.entries(member)));
}
