import type { Constraint } from "../domain/constraint.ts";
import type { JobDemand } from "../domain/demand.ts";
import type { SharedState } from "../domain/node-view.ts";
import { bytesOf, isSize } from "../domain/size.ts";
import { Fit } from "./fit.ts";
import type { Ground } from "./ground.ts";
import type { Sought } from "./line.ts";
import type { Requirements } from "./requirements.ts";
import { takeApart } from "./requirements.ts";
import { Shape } from "./shape.ts";

/** What a slot takes, by position of the resource, in base units. */
export interface Takes {
  readonly resource: readonly number[];
  readonly amount: readonly number[];
  /** What it takes of the ground's pair of resources, if it takes both. */
  readonly pair?: readonly [number, number];
}

/** Jobs that ask the same of nodes: they are judged once, and counted. */
export class JobClass {
  readonly index: number;
  readonly requirements: Requirements;
  readonly shape: Shape;
  /** Whether nodes that may be evicted will do. */
  readonly spot: "never" | "allow" | "only";
  /** All that is asked of nodes and pools, with what the job says of spot. */
  readonly constraints: readonly Constraint[];
  /** Absent: what a slot takes depends on what is left of a node; each is judged by itself. */
  readonly takes?: Takes;
  /** A place for one slot. */
  readonly sought?: Sought;
  readonly #makeFit: () => Fit;
  #fit: Fit | undefined;

  constructor(
    index: number,
    requirements: Requirements,
    shape: Shape,
    spot: JobClass["spot"],
    constraints: readonly Constraint[],
    takes: Takes | undefined,
    makeFit: () => Fit,
  ) {
    this.index = index;
    this.requirements = requirements;
    this.shape = shape;
    this.spot = spot;
    this.constraints = constraints;
    this.#makeFit = makeFit;
    if (takes === undefined) return;
    this.takes = takes;
    this.sought = { takes, times: 1, empty: requirements.alone !== undefined };
  }

  /** The whole of the constraints, for single nodes and for reasons; most classes never need it. */
  get fit(): Fit {
    this.#fit ??= this.#makeFit();
    return this.#fit;
  }
}

const SPOT_MARKS: Readonly<Record<"never" | "only", Constraint>> = {
  never: { kind: "not", of: { kind: "property-choice", property: "spot", choices: [true] } },
  only: { kind: "property-choice", property: "spot", choices: [true] },
};

/** Sorts jobs into classes and classes into shapes: the cost of judging grows with these, not with jobs. */
export class JobClasses {
  readonly #ground: Ground;
  readonly #shared: SharedState;
  /** Whether a job that says nothing of spot refuses it, unless it names its node arrays. */
  readonly #sparesSpot: boolean;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #classes = new Map<string, JobClass>();
  readonly #shapes = new Map<string, Shape>();

  constructor(ground: Ground, shared: SharedState, sparesSpot: boolean) {
    this.#ground = ground;
    this.#shared = shared;
    this.#sparesSpot = sparesSpot;
    this.#positions = new Map(ground.resources.map((name, position) => [name, position]));
  }

  of(job: JobDemand): JobClass {
    const key = `${job.spot ?? ""}${keyOf(job.constraints)}`;
    let known = this.#classes.get(key);
    if (known === undefined) {
      known = this.#make(job);
      this.#classes.set(key, known);
    }
    return known;
  }

  #make(job: JobDemand): JobClass {
    const said = takeApart(job.constraints);
    const spot = job.spot ?? (this.#sparesSpot && said.arrays === undefined ? "never" : "allow");
    const requirements = spot === "allow" ? said : withMark(said, SPOT_MARKS[spot]);
    const constraints = spot === "allow" ? job.constraints : [...job.constraints, SPOT_MARKS[spot]];
    const shapeKey = `${requirements.backoffSeconds} ${requirements.intricate} ${keyOf(requirements.marks)}`;
    const shape = this.#shapes.get(shapeKey) ?? new Shape(requirements, this.#shared);
    this.#shapes.set(shapeKey, shape);
    const takes = requirements.intricate ? undefined : this.#takesOf(requirements);
    const makeFit = (): Fit => new Fit(requirements.rest, this.#positions, this.#shared);
    return new JobClass(this.#classes.size, requirements, shape, spot, constraints, takes, makeFit);
  }

  /** Two amounts of one resource add up. Undefined: a plain number means different amounts on different kinds of nodes. */
  #takesOf({ amounts }: Requirements): Takes | undefined {
    const totals = new Map<number, number>();
    for (const { resource, amount } of amounts) {
      const position = this.#positions.get(resource) ?? 0;
      const unit = isSize(amount) ? 1 : this.#ground.unitOf(position);
      if (unit === "mixed") return undefined;
      const each = Math.max(0, isSize(amount) ? bytesOf(amount) : amount * unit);
      totals.set(position, (totals.get(position) ?? 0) + each);
    }
    const takes = { resource: [...totals.keys()], amount: [...totals.values()] };
    const [a, b] = this.#ground.pair;
    const [first, second] = [totals.get(a), totals.get(b)];
    if (a === b || first === undefined || second === undefined) return takes;
    return { ...takes, pair: [first, second] };
  }
}

function withMark(requirements: Requirements, mark: Constraint): Requirements {
  return {
    ...requirements,
    marks: [...requirements.marks, mark],
    rest: [...requirements.rest, mark],
  };
}

/** A text that says the same for the same constraints. The commonest by hand, as there may be a hundred thousand jobs. */
function keyOf(constraints: readonly Constraint[]): string {
  let key = "";
  for (const constraint of constraints) {
    if (constraint.kind === "amount") {
      const { resource, amount } = constraint;
      key += isSize(amount) ? `|${resource}\t${amount.amount}${amount.unit}` : `|${resource}\t${amount}`;
    } else key += `\n${JSON.stringify(constraint)}`;
  }
  return key;
}
