import type { Constraint } from "../../domain/constraint.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { SharedState } from "../../domain/node-view.ts";
import { bytesOf, isSize } from "../../domain/size.ts";
import type { Budget } from "../constraints/budget.ts";
import { sizeOfConstraints, decidesOnSpot } from "../constraints/constraint-facts.ts";
import type { Amount, Requirements } from "../constraints/requirements.ts";
import { takeApart } from "../constraints/requirements.ts";
import { ClassTable, MOST_BITS, pairIn } from "./class-table.ts";
import { Fit } from "./empty-node-fit.ts";
import type { ClassTools, Spot } from "./job-class.ts";
import { JobClass, SPOT_MARKS } from "./job-class.ts";
import type { Ground } from "./node-kinds.ts";
import type { Screen } from "./screen.ts";
import { Screens } from "./screen.ts";
import type { Takes } from "./takes.ts";
import { takesOf } from "./takes.ts";
import type { Scalar } from "../../domain/resources.ts";
import { Shape } from "./shape.ts";
import type { Size } from "../../domain/size.ts";

// Long: one sorter. The sums of the job at hand are shared by all ways to find its class.

/**
 * Sorts jobs into classes: jobs of one class ask the same of nodes, so testing and searching cost per class and not per job. A class is found
 * by its amounts, compared as numbers, and by its other constraints, compared as text. Everything else about a class is worked out on first
 * use, because the sorting itself is what costs most where no two jobs are alike.
 */
export class JobClasses implements ClassTools {
  readonly budget: Budget;
  readonly #ground: Ground;
  readonly #shared: SharedState;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #forms: JobForms;
  #screens: Screens | undefined;
  /** Classes of jobs whose amounts are not plain numbers. */
  readonly #byText = new Map<string, JobClass>();
  /** The amounts of the job at hand, by position of the resource. Only those in `#bits` are valid. */
  readonly #sums: number[];
  /** The positions of its resources. Undefined if a plain number means different amounts on different kinds of nodes, or if there are too many. */
  #bits: number | undefined = 0;
  #count = 0;
  #jobs = 0;
  /** The job that was sorted last. Jobs that ask the same often follow each other. Bench row: one-slot-jobs takes 1.15 times as long without it. */
  #latest: { readonly job: JobDemand; readonly jobClass: JobClass } | undefined;

  /** `spotIfUnsaid`: what applies to a job that says nothing of spot nodes and names no node array. */
  constructor(ground: Ground, shared: SharedState, spotIfUnsaid: Spot) {
    this.budget = ground.budget;
    this.#ground = ground;
    this.#shared = shared;
    this.#positions = new Map(ground.resources.map((name, position) => [name, position]));
    this.#forms = new JobForms(ground, shared, spotIfUnsaid);
    this.#sums = ground.resources.map(() => 0);
  }

  of(job: JobDemand): JobClass {
    this.#jobs += 1;
    const latest = this.#latest;
    if (
      latest !== undefined &&
      job.spot === latest.job.spot &&
      sameAmounts(job.constraints, latest.job.constraints)
    ) {
      if (latest.jobClass.takes !== undefined) latest.jobClass.takes.isCommon = true;
      return latest.jobClass;
    }
    const jobClass = this.#sort(job);
    this.#latest = { job, jobClass };
    return jobClass;
  }

  #sort(job: JobDemand): JobClass {
    const words = this.#addUp(job.constraints);
    const form = this.#forms.of(job.spot, words);
    const bits = this.#bits;
    return bits === undefined || form.isIntricate ? this.#byWords(job, form) : this.#find(job, form, bits);
  }

  /** Number of classes. */
  get count(): number {
    return this.#count;
  }

  /** Number of jobs that were sorted. */
  get jobs(): number {
    return this.#jobs;
  }

  /** The least of each resource that a slot of any class takes. 0 if a class does not take it, or if that is not known. */
  least(): readonly number[] {
    const least = this.#sums.map(() => Number.POSITIVE_INFINITY);
    const takers = this.#sums.map(() => 0);
    let all = 0;
    const note = (resource: readonly number[], amount: readonly number[]): void => {
      all += 1;
      resource.forEach((position, i) => {
        takers[position] = (takers[position] ?? 0) + 1;
        least[position] = Math.min(least[position] ?? 0, amount[i] ?? 0);
      });
    };
    for (const form of this.#forms.all())
      for (const table of form.tables.values()) note(table.resource, table.least);
    for (const { takes, screen } of this.#byText.values()) {
      const { resource, amount } = takes ?? screen.least;
      note(resource, amount);
    }
    return least.map((amount, position) => (takers[position] === all ? amount : 0));
  }

  screenOf(constraints: readonly Constraint[]): Screen {
    this.#screens ??= new Screens(this.#ground, this.#shared);
    return this.#screens.of(constraints);
  }

  fitOf(rest: readonly Constraint[]): Fit {
    return new Fit(rest, this.#positions, this.#shared, this.#ground);
  }

  /** Adds up the amounts in `#sums` and `#bits`. One resource may stand twice. Returns all other constraints; undefined if there are none. */
  #addUp(constraints: readonly Constraint[]): readonly Constraint[] | undefined {
    let bits: number | undefined = 0;
    let words: Constraint[] | undefined;
    for (const constraint of constraints) {
      if (constraint.kind !== "amount") {
        if (words === undefined) words = [constraint];
        else words.push(constraint);
        continue;
      }
      const { resource, amount } = constraint;
      const position = this.#positions.get(resource) ?? MOST_BITS;
      const each = position < MOST_BITS ? this.#baseAmount(position, amount) : undefined;
      if (bits === undefined || each === undefined) {
        bits = undefined;
        continue;
      }
      const bit = 1 << position;
      this.#sums[position] = (bits & bit) === 0 ? each : (this.#sums[position] ?? 0) + each;
      bits |= bit;
    }
    this.#bits = bits;
    return words;
  }

  /** In base units. Undefined if a plain number means different amounts on different kinds of nodes. */
  #baseAmount(position: number, amount: Amount["amount"]): number | undefined {
    if (isSize(amount)) return Math.max(0, bytesOf(amount));
    const unit = this.#ground.unitOf(position);
    return unit === "mixed" ? undefined : Math.max(0, amount * unit);
  }

  #find(job: JobDemand, form: JobForm, bits: number): JobClass {
    let table = form.tables.get(bits);
    if (table === undefined) {
      table = new ClassTable(bits, this.#ground.pair, this.budget);
      form.tables.set(bits, table);
    }
    const known = table.find(this.#sums);
    if (known?.takes !== undefined) {
      known.takes.isCommon = true;
      return known;
    }
    const { resource, pair } = table;
    const amount = resource.map((position) => this.#sums[position] ?? 0);
    const made = this.#make(job, form, takesOf(form.requirements, resource, amount, pair));
    table.add(made);
    return made;
  }

  /** The class of a job that is found by its text. */
  #byWords(job: JobDemand, form: JobForm): JobClass {
    const key = `${job.spot ?? "unsaid"}${keyOf(job.constraints)}`;
    let known = this.#byText.get(key);
    if (known === undefined) {
      this.budget.spend(STEPS_TO_COMPILE * sizeOfConstraints(job.constraints));
      const takes = form.requirements.intricate ? undefined : this.#takesByName(job, form);
      known = this.#make(job, form, takes);
      this.#byText.set(key, known);
    }
    return known;
  }

  #make(job: JobDemand, form: JobForm, takes: Takes | undefined): JobClass {
    const made = new JobClass(this.#count, form, takes, job.constraints, this);
    this.#count += 1;
    return made;
  }

  /** Undefined if a plain number means different amounts on different kinds of nodes. */
  #takesByName(job: JobDemand, form: JobForm): Takes | undefined {
    const totals = new Map<number, number>();
    for (const { resource, amount } of takeApart(job.constraints).amounts) {
      const position = this.#positions.get(resource) ?? this.#ground.nowhere ?? 0;
      const each = this.#baseAmount(position, amount);
      if (each === undefined) return undefined;
      totals.set(position, (totals.get(position) ?? 0) + each);
    }
    const resource = [...totals.keys()];
    const takes = takesOf(
      form.requirements,
      resource,
      [...totals.values()],
      pairIn(resource, this.#ground.pair),
    );
    // Whether another job has the same text is not counted here.
    takes.isCommon = true;
    return takes;
  }
}

/** To compile one member of a constraint costs about as much as this many tests of it. */
const STEPS_TO_COMPILE = 20;

/** Everything that jobs ask for except plain amounts: their other constraints, and what they say of spot nodes. */
interface JobForm {
  readonly requirements: Requirements;
  readonly shape: Shape;
  readonly spot: Spot;
  /** Amounts are nested in other constraints, or depend on what is free. Jobs of such a form are told apart by their text. */
  readonly isIntricate: boolean;
  /** The classes of this form, by the resources that they take: one bit for each position. */
  readonly tables: Map<number, ClassTable<JobClass>>;
}

type Choice = Extract<Constraint, { kind: "property-choice" | "resource-choice" }>;

/** Finds the form of a job. Constraints of many jobs are the same, and are compiled once. */
class JobForms {
  readonly #ground: Ground;
  readonly #shared: SharedState;
  readonly #spotIfUnsaid: Spot;
  readonly #byText = new Map<string, JobForm>();
  readonly #byProperty = new Map<string, Map<Scalar, JobForm>>();
  readonly #byResource = new Map<string, Map<Scalar, JobForm>>();
  /** Forms of jobs that have no constraints except amounts. */
  readonly #bare = new Map<JobDemand["spot"], JobForm>();
  readonly #shapes = new Map<string, Shape>();

  /** `spotIfUnsaid`: what applies to a job that says nothing of spot nodes and names no node array. */
  constructor(ground: Ground, shared: SharedState, spotIfUnsaid: Spot) {
    this.#ground = ground;
    this.#shared = shared;
    this.#spotIfUnsaid = spotIfUnsaid;
  }

  /** `words`: the constraints of the job that are no amounts. Undefined if there are none. */
  of(spot: JobDemand["spot"], words: readonly Constraint[] | undefined): JobForm {
    if (words === undefined) return this.#bareForm(spot);
    const [word] = words;
    if (spot === undefined && words.length === 1 && word !== undefined && "choices" in word) {
      const [choice] = word.choices;
      if (choice !== undefined && word.choices.length === 1) return this.#formOfChoice(word, choice, words);
    }
    return this.#formOfText(spot, words);
  }

  /** All forms that were found. */
  *all(): Iterable<JobForm> {
    yield* this.#bare.values();
    yield* this.#byText.values();
  }

  #bareForm(spot: JobDemand["spot"]): JobForm {
    let form = this.#bare.get(spot);
    if (form === undefined) {
      form = this.#makeForm(spot, []);
      this.#bare.set(spot, form);
    }
    return form;
  }

  /**
   * The common case, found without writing a text: besides amounts, the job names one node array, one VM size or one value. Bench row:
   * distinct-jobs 10,000 takes 1.1 times as long without it.
   */
  #formOfChoice(word: Choice, choice: Scalar, words: readonly Constraint[]): JobForm {
    const [byName, name] =
      word.kind === "property-choice" ? [this.#byProperty, word.property] : [this.#byResource, word.resource];
    let byChoice = byName.get(name);
    if (byChoice === undefined) {
      byChoice = new Map();
      byName.set(name, byChoice);
    }
    let form = byChoice.get(choice);
    if (form === undefined) {
      form = this.#formOfText(undefined, words);
      byChoice.set(choice, form);
    }
    return form;
  }

  #formOfText(spot: JobDemand["spot"], words: readonly Constraint[]): JobForm {
    const key = `${spot ?? "unsaid"}${keyOf(words)}`;
    let form = this.#byText.get(key);
    if (form === undefined) {
      form = this.#makeForm(spot, words);
      this.#byText.set(key, form);
    }
    return form;
  }

  #makeForm(saidOfSpot: JobDemand["spot"], words: readonly Constraint[]): JobForm {
    this.#ground.budget.spend(STEPS_TO_COMPILE * sizeOfConstraints(words));
    const { requirements: said, amounts } = takeApart(words);
    const spot = saidOfSpot ?? (words.some(decidesOnSpot) ? "allow" : this.#spotIfUnsaid);
    const requirements = spot === "allow" ? said : { ...said, marks: [...said.marks, SPOT_MARKS[spot]] };
    const shapeKey = `${requirements.backoffSeconds} ${requirements.intricate} ${keyOf(requirements.marks)}`;
    const shape = this.#shapes.get(shapeKey) ?? new Shape(requirements, this.#shared, this.#ground);
    this.#shapes.set(shapeKey, shape);
    const isIntricate = requirements.intricate || amounts.length > 0;
    return { requirements, shape, spot, isIntricate, tables: new Map() };
  }
}

/** A text that is the same for the same constraints. Amounts are written by hand, because there may be a hundred thousand jobs. */
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

/** Whether both lists consist of the same amounts in the same order, and of nothing else. */
function sameAmounts(a: readonly Constraint[], b: readonly Constraint[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) {
    const [one, other] = [a[i], b[i]];
    if (one?.kind !== "amount" || other?.kind !== "amount" || one.resource !== other.resource) return false;
    if (one.amount !== other.amount && !sameSize(one.amount, other.amount)) return false;
  }
  return true;
}

const sameSize = (a: number | Size, b: number | Size): boolean =>
  isSize(a) && isSize(b) && a.amount === b.amount && a.unit === b.unit;
