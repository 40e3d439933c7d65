import type { Constraint } from "../../src/domain/constraint.ts";
import { isSize, sizeJson } from "../../src/domain/size.ts";
import { writeConstraint } from "../../src/wire/constraint/constraint-json.ts";
import { readConstraints } from "../../src/wire/constraint/constraint.ts";
import { newNotes } from "../../src/wire/json/problems.ts";
import type { Json } from "./compare.ts";
import type { VectorCase } from "./vector-case.ts";

/** Reads constraints and shows what they were taken for. Doubts are the job door's business and do not count here. */
export function answerConstraintParse({ input }: VectorCase): Json {
  const notes = newNotes();
  const constraints = readConstraints(input["constraints"], "constraints", notes);
  const [problem] = notes.problems.all();
  if (problem !== undefined) return { accepted: false, raises: `${problem.path}: ${problem.expected}` };
  return { accepted: true, tree: constraints.map(treeOf), json: constraints.map(jsonOf) };
}

function jsonOf(constraint: Constraint): Json {
  return writeConstraint(constraint);
}

function treeOf(constraint: Constraint): Json {
  switch (constraint.kind) {
    case "amount": {
      const { amount, resource } = constraint;
      return { kind: "min_resource", attr: resource, value: isSize(amount) ? sizeJson(amount) : amount };
    }
    case "resource-choice":
      return { kind: "resource", attr: constraint.resource, values: constraint.choices };
    case "property-choice":
      return { kind: "property", attr: constraint.property, values: constraint.choices };
    case "exclusive":
      return { kind: "exclusive", exclusive: constraint.wanted, whole_job: constraint.scope === "job" };
    case "in-a-placement-group":
      return constraint.wanted
        ? { kind: "in_a_placement_group" }
        : { kind: "in_a_placement_group", wanted: false };
    case "and":
    case "or":
    case "xor":
      return constraint.of.length === 0
        ? { kind: constraint.kind }
        : { kind: constraint.kind, children: constraint.of.map(treeOf) };
    case "not":
      return { kind: "not", children: [treeOf(constraint.of)] };
    case "never":
      return { kind: "never", message: constraint.message };
    case "pool":
      return { kind: "pool", pool: constraint.pool, amount: constraint.amount };
    case "pool-value":
      return { kind: "pool_value", pool: constraint.pool, value: constraint.value };
    case "shared-consumable":
      return {
        kind: "shared_consumable",
        resources: constraint.pools.map(({ source, initial, current }) => ({
          name: constraint.resource,
          source,
          initial,
          current,
        })),
        amount: constraint.amount,
      };
    case "capacity-failure-backoff":
      return { kind: "capacity_failure_backoff", seconds: constraint.written };
  }
}
