import type { Constraint } from "./constraint.ts";
import type { Demand, PlacedSlots, SetDemand } from "./demand.ts";

/** No slots of a job run yet. */
export const NOT_PLACED: readonly PlacedSlots[] = [];

/**
 * Gives equal constraints of one demand one object, so that a set takes memory by its distinct constraints and not by its jobs
 * (docs/protocol.md, The budget of a plan). For each demand that is read, a new one.
 */
export class SharedConstraints {
  readonly #known = new Map<string, Constraint>();
  readonly #lists = new Map<string, readonly Constraint[]>();

  /** The list that was first seen with these constraints. */
  of(constraints: readonly Constraint[]): readonly Constraint[] {
    const texts = constraints.map((one) => JSON.stringify(one));
    const key = texts.join();
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = constraints.map((one, at) => this.#one(texts[at] ?? "", one));
      this.#lists.set(key, list);
    }
    return list;
  }

  #one(text: string, constraint: Constraint): Constraint {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#known.set(text, constraint);
    return constraint;
  }
}

/** The same demand with shared constraints, as it is after it was read from storage. */
export function shareConstraints(demand: SetDemand): SetDemand {
  const shared = new SharedConstraints();
  return { ...demand, demands: demand.demands.map((one) => lean(one, shared)) };
}

function lean(one: Demand, shared: SharedConstraints): Demand {
  if (one.kind !== "job") return one;
  const { id, name, placed } = one;
  return {
    ...one,
    constraints: shared.of(one.constraints),
    id: id === name ? name : id,
    placed: placed.length === 0 ? NOT_PLACED : placed,
  };
}
