import type { Allocation } from "../../domain/allocation.ts";
import type { Bins } from "../bins/bins.ts";
import { createsOf } from "../draft/creates.ts";
import { reportGroups } from "../place/group-report.ts";
import type { Attempt } from "./better.ts";

/**
 * Parts of an allocation that are computed on first use: a plan that is only tried never needs them. This is a class because getters
 * written into each object would give each object its own hidden class, which keeps the whole plan in memory until a full collection
 * (docs/decisions.md, "No getter in an object that each plan makes again").
 */
export class Answer implements Allocation {
  readonly creates: Allocation["creates"];
  readonly starts: Allocation["starts"];
  readonly outcomes: Allocation["outcomes"];
  readonly groups: Allocation["groups"];
  readonly placedBy: Allocation["placedBy"];
  readonly leftOut: Allocation["leftOut"];
  readonly steps: number;
  readonly orders?: NonNullable<Allocation["orders"]>;
  readonly #bins: Bins;
  #needed: Allocation["needed"] | undefined;

  constructor({ draft, outcomes, order, leftOut }: Attempt) {
    const { bins } = draft;
    this.leftOut = leftOut;
    this.steps = bins.budget.spent;
    this.creates = createsOf(bins);
    this.starts = [...bins.toStart].flatMap((bin) => bins.node(bin)?.nodeId ?? []);
    this.outcomes = outcomes;
    this.groups = reportGroups(draft);
    this.placedBy = draft.way.order;
    if (order !== undefined) this.orders = order.orders;
    this.#bins = bins;
  }

  get needed(): Allocation["needed"] {
    return (this.#needed ??= this.#bins.needed());
  }

  get stepsBySet(): Allocation["stepsBySet"] {
    return this.#bins.budget.spentBySet();
  }

  get loads(): Allocation["loads"] {
    return this.#bins.loads();
  }
}
