import type { Constraint } from "../../domain/constraint.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { SharedState } from "../../domain/node-view.ts";
import { bytesOf, isSize } from "../../domain/size.ts";
import type { Budget } from "../constraints/budget.ts";
import { sizeOfConstraints, decidesOnSpot } from "../constraints/constraint-facts.ts";
import type { Amount, Requirements } from "../constraints/requirements.ts";
import { takeApart } from "../constraints/requirements.ts";
import { Fit } from "./empty-node-fit.ts";
import type { ClassTools, Spot } from "./job-class.ts";
import { JobClass, SPOT_MARKS } from "./job-class.ts";
import type { Ground } from "./node-kinds.ts";
import type { Screen } from "./screen.ts";
import { Screens } from "./screen.ts";
import { Shape } from "./shape.ts";
import type { Takes } from "./takes.ts";
import { takesOf } from "./takes.ts";

/** To compile one member of a constraint costs about as much as this many tests of it. */
const STEPS_TO_COMPILE = 20;

/** Everything that jobs ask for except plain amounts: their other constraints, and what they say of spot nodes. */
interface JobForm {
  readonly requirements: Requirements;
  readonly shape: Shape;
  readonly spot: Spot;
  /** Amounts that stand inside of other constraints. */
  readonly nested: readonly Amount[];
}

/**
 * Sorts jobs into classes: jobs of one class ask the same of nodes, so testing and searching cost per class and not per job. A class is found
 * by one text: its other constraints, and then the amounts that it takes.
 */
export class JobClasses implements ClassTools {
  readonly budget: Budget;
  readonly #ground: Ground;
  readonly #shared: SharedState;
  readonly #spotIfUnsaid: Spot;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #classes = new Map<string, JobClass>();
  /** Constraints of many classes are the same but for amounts, and are compiled once. */
  readonly #forms = new Map<string, JobForm>();
  readonly #shapes = new Map<string, Shape>();
  #screens: Screens | undefined;
  #jobs = 0;
  /** The job that was sorted last. Equal jobs of a set share the list of their constraints, and often follow each other. */
  #latest: JobDemand | undefined;
  #classOfLatest: JobClass | undefined;

  /** `spotIfUnsaid`: what applies to a job that says nothing of spot nodes and names no node array. */
  constructor(ground: Ground, shared: SharedState, spotIfUnsaid: Spot) {
    this.budget = ground.budget;
    this.#ground = ground;
    this.#shared = shared;
    this.#spotIfUnsaid = spotIfUnsaid;
    this.#positions = new Map(ground.resources.map((name, position) => [name, position]));
  }

  of(job: JobDemand): JobClass {
    this.#jobs += 1;
    const isSame = this.#latest?.constraints === job.constraints && this.#latest.spot === job.spot;
    const jobClass = isSame && this.#classOfLatest !== undefined ? this.#classOfLatest : this.#find(job);
    this.#latest = job;
    this.#classOfLatest = jobClass;
    return jobClass;
  }

  /** Number of classes. */
  get count(): number {
    return this.#classes.size;
  }

  /** Number of jobs that were sorted. */
  get jobs(): number {
    return this.#jobs;
  }

  /** The least of each resource that a slot of every class takes. */
  least(): readonly number[] {
    const least = this.#ground.resources.map(() => Number.POSITIVE_INFINITY);
    for (const one of this.#classes.values()) {
      const { resource, amount } = one.takes ?? one.screen.least;
      const taken = least.map(() => 0);
      resource.forEach((position, i) => (taken[position] = amount[i] ?? 0));
      taken.forEach((each, position) => (least[position] = Math.min(least[position] ?? 0, each)));
    }
    return least.map((each) => Math.max(0, each));
  }

  screenOf(constraints: readonly Constraint[]): Screen {
    this.#screens ??= new Screens(this.#ground, this.#shared);
    return this.#screens.of(constraints);
  }

  fitOf(rest: readonly Constraint[]): Fit {
    return new Fit(rest, this.#positions, this.#shared, this.#ground);
  }

  #find({ spot, constraints }: JobDemand): JobClass {
    const words = constraints.filter(({ kind }) => kind !== "amount");
    const said = `${spot ?? "unsaid"}${words.length === 0 ? "" : JSON.stringify(words)}`;
    let key = said;
    for (const one of constraints) {
      if (one.kind !== "amount") continue;
      const { amount } = one;
      key += ` ${this.#positionOf(one)} ${isSize(amount) ? `${amount.amount}${amount.unit}` : amount}`;
    }
    const known = this.#classes.get(key);
    if (known !== undefined) return known;
    const form = this.#forms.get(said) ?? this.#makeForm(spot, words);
    this.#forms.set(said, form);
    const made = new JobClass(this.#classes.size, form, this.#takesOf(form, constraints), constraints, this);
    this.#classes.set(key, made);
    return made;
  }

  #positionOf({ resource }: Amount): number {
    return this.#positions.get(resource) ?? this.#ground.nowhere ?? 0;
  }

  /** Undefined if the job is intricate, or if a plain number means different amounts on different kinds of nodes. */
  #takesOf({ requirements, nested }: JobForm, constraints: readonly Constraint[]): Takes | undefined {
    if (requirements.intricate) this.budget.spend(STEPS_TO_COMPILE * sizeOfConstraints(constraints));
    if (requirements.intricate) return undefined;
    const amounts: Amount[] = [...nested];
    for (const one of constraints) if (one.kind === "amount") amounts.push(one);
    // A resource may stand twice.
    const totals = new Map<number, number>();
    for (const one of amounts) {
      const position = this.#positionOf(one);
      const unit = isSize(one.amount) ? 1 : this.#ground.unitOf(position);
      if (unit === "mixed") return undefined;
      const each = Math.max(0, isSize(one.amount) ? bytesOf(one.amount) : one.amount * unit);
      totals.set(position, (totals.get(position) ?? 0) + each);
    }
    const resource = [...totals.keys()].sort((a, b) => a - b);
    const amount = resource.map((position) => totals.get(position) ?? 0);
    return takesOf(requirements, resource, amount);
  }

  #makeForm(saidOfSpot: JobDemand["spot"], words: readonly Constraint[]): JobForm {
    this.budget.spend(STEPS_TO_COMPILE * sizeOfConstraints(words));
    const { requirements: said, amounts: nested } = takeApart(words);
    const spot = saidOfSpot ?? (words.some(decidesOnSpot) ? "allow" : this.#spotIfUnsaid);
    const requirements = spot === "allow" ? said : { ...said, marks: [...said.marks, SPOT_MARKS[spot]] };
    const { backoffSeconds, intricate, marks } = requirements;
    const key = `${backoffSeconds} ${intricate} ${JSON.stringify(marks)}`;
    const shape = this.#shapes.get(key) ?? new Shape(requirements, this.#shared, this.#ground);
    this.#shapes.set(key, shape);
    return { requirements, shape, spot, nested };
  }
}
