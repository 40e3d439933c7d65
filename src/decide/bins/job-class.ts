import type { Constraint } from "../../domain/constraint.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Preference } from "../constraints/preference.ts";
import { countedPreference } from "../constraints/preference.ts";
import type { Amount, Requirements, TakenApart } from "../constraints/requirements.ts";
import { takeApart } from "../constraints/requirements.ts";
import type { Fit } from "./empty-node-fit.ts";
import type { Kind } from "./node-kinds.ts";
import type { Screen } from "./screen.ts";
import type { Shape } from "./shape.ts";
import type { Takes } from "./takes.ts";

/** What a job says of nodes that may be evicted. */
export type Spot = NonNullable<JobDemand["spot"]>;

/** What "never" and "only" mean as constraints. */
export const SPOT_MARKS: Readonly<Record<"never" | "only", Constraint>> = {
  never: { kind: "not", of: { kind: "property-choice", property: "spot", choices: [true] } },
  only: { kind: "property-choice", property: "spot", choices: [true] },
};

/** What a class uses to work out its parts. */
export interface ClassTools {
  readonly budget: Budget;
  fitOf(rest: readonly Constraint[]): Fit;
  screenOf(constraints: readonly Constraint[]): Screen;
}

/** Jobs that ask the same of nodes. They are tested once, and counted. What is expensive is worked out on first use. */
export class JobClass {
  readonly index: number;
  readonly requirements: Requirements;
  readonly shape: Shape;
  /** Whether the jobs use nodes that may be evicted. */
  readonly spot: Spot;
  /** Undefined for intricate jobs: what a slot takes depends on its node (see slot-by-slot.ts). */
  readonly takes: Takes | undefined;
  readonly #said: readonly Constraint[];
  readonly #tools: ClassTools;
  #parts: TakenApart | undefined;
  #fit: Fit | undefined;
  #fitOfBound: Fit | undefined;
  #screen: Screen | undefined;
  #preference: Preference | undefined;

  constructor(
    index: number,
    form: Pick<JobClass, "requirements" | "shape" | "spot">,
    takes: Takes | undefined,
    said: readonly Constraint[],
    tools: ClassTools,
  ) {
    this.index = index;
    this.requirements = form.requirements;
    this.shape = form.shape;
    this.spot = form.spot;
    this.takes = takes;
    this.#said = said;
    this.#tools = tools;
  }

  /** All constraints on nodes and pools, with the one for spot nodes. */
  get constraints(): readonly Constraint[] {
    return this.spot === "allow" ? this.#said : [...this.#said, SPOT_MARKS[this.spot]];
  }

  /** The amounts that each slot takes, as the job gives them. */
  get amounts(): readonly Amount[] {
    return this.#takenApart().amounts;
  }

  /** All constraints on nodes, for tests of single nodes and for reasons. Most classes never need them. */
  get fit(): Fit {
    this.#fit ??= this.#tools.fitOf(this.#takenApart().rest);
    return this.#fit;
  }

  /** All constraints on nodes, one by one. */
  get onNodes(): readonly Constraint[] {
    return this.#takenApart().rest;
  }

  /** Some of the constraints, for tests of single nodes. */
  fitOf(some: readonly Constraint[]): Fit {
    return this.#tools.fitOf(some);
  }

  /** The same for tasks that run already. What the job says of spot nodes does not concern them. */
  get fitOfBound(): Fit {
    if (this.spot === "allow") return this.fit;
    this.#fitOfBound ??= this.#tools.fitOf(takeApart(this.#said).rest);
    return this.#fitOfBound;
  }

  /** Rules nodes out before a slot is tried out on them. Only for classes without `takes`. */
  get screen(): Screen {
    this.#screen ??= this.#tools.screenOf(this.constraints);
    return this.#screen;
  }

  /** Scores nodes by the job's own lists and alternatives. Undefined if all nodes are equally good. */
  get preference(): Preference | undefined {
    const { preference, requirements } = this.shape;
    if (preference === undefined || !requirements.intricate) return preference;
    this.#preference ??= countedPreference(this.#takenApart().rest, this.#tools.budget);
    return this.#preference;
  }

  /** The score of an empty node of a kind. Higher is better. */
  score(kind: Kind): number {
    const { shape, preference } = this;
    if (preference === undefined || !this.requirements.intricate) return shape.score(kind);
    return preference(kind.view(), shape.shared);
  }

  #takenApart(): TakenApart {
    this.#parts ??= takeApart(this.constraints);
    return this.#parts;
  }
}
