import type { World } from "../../domain/world.ts";
import { inMarketOf } from "../world/counterparts.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Shape } from "../bins/shape.ts";
import type { BucketIndex, Scope, Wanted } from "../bins/scope.ts";
import { indexBuckets, scopeOf } from "../bins/scope.ts";
import type { Ground } from "../bins/node-kinds.ts";
import type { Entry } from "../bins/entry.ts";

/** Cost in steps of finding one name. */
const STEPS_PER_NAME = 5;

/** The scopes of demands. Demands that name the same arrays and VM sizes share one. */
export class Scopes {
  readonly #world: World;
  readonly #budget: Budget;
  readonly #index: BucketIndex;
  readonly #ofShape = new Map<Shape, Scope>();
  readonly #byText = new Map<string, Scope>();

  constructor({ world, budget }: Ground) {
    this.#world = world;
    this.#budget = budget;
    this.#index = indexBuckets(world);
  }

  of(entry: Entry): Scope {
    if (entry.kind !== "job") {
      const { array, machineTypes, attributes } = entry.demand;
      const scope = this.#find(
        machineTypes === undefined ? { arrays: [array] } : { arrays: [array], machineTypes },
        "listed",
      );
      if (this.#world.counterparts === undefined) return scope;
      return { ...scope, offers: scope.offers.map((offer) => inMarketOf(this.#world, offer, attributes)) };
    }
    const { shape } = entry.jobClass;
    let scope = this.#ofShape.get(shape);
    if (scope === undefined) {
      scope = this.#find(shape.requirements, "cluster");
      this.#ofShape.set(shape, scope);
    }
    return scope;
  }

  #find(wanted: Wanted, preference: "listed" | "cluster"): Scope {
    const { arrays = [], machineTypes = [] } = wanted;
    this.#budget.spend(STEPS_PER_NAME * (arrays.length + machineTypes.length));
    const key = `${preference}\n${wanted.arrays?.join("\t") ?? "*"}\n${wanted.machineTypes?.join("\t") ?? "*"}`;
    let scope = this.#byText.get(key);
    if (scope === undefined) {
      scope = scopeOf(this.#world, this.#index, wanted, preference);
      // The reason for an unknown array lists all known arrays.
      const unknown = arrays.filter((array) => !this.#world.arrays.has(array)).length;
      this.#budget.spend(scope.offers.length + (1 + unknown) * this.#world.arrays.size);
      this.#byText.set(key, scope);
    }
    return scope;
  }
}
