import type { Constraint } from "../../domain/constraint.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { SharedState } from "../../domain/node-view.ts";
import type { Scalar } from "../../domain/resources.ts";
import { bytesOf, isSize } from "../../domain/size.ts";
import type { Budget } from "../constraints/budget.ts";
import { sizeOfConstraints } from "../constraints/constraint-size.ts";
import { Fit } from "./empty-node-fit.ts";
import type { Ground, Kind } from "./node-kinds.ts";
import type { Preference } from "../constraints/preference.ts";
import { countedPreference } from "../constraints/preference.ts";
import type { Amount, Requirements, TakenApart } from "../constraints/requirements.ts";
import { decidesOnSpot } from "../constraints/constraint-facts.ts";
import { takeApart } from "../constraints/requirements.ts";
import type { Screen } from "./screen.ts";
import { Screens } from "./screen.ts";
import { Shape } from "./shape.ts";
import type { Takes } from "./takes.ts";

type Spot = NonNullable<JobDemand["spot"]>;
type Choice = Extract<Constraint, { kind: "property-choice" | "resource-choice" }>;

/** Jobs that ask the same of nodes: they are judged once, and counted. */
export class JobClass {
  readonly index: number;
  readonly requirements: Requirements;
  readonly shape: Shape;
  /** Whether nodes that may be evicted will do. */
  readonly spot: Spot;
  /** Absent: what a slot takes depends on what is left of a node; each is judged by itself. */
  readonly takes: Takes | undefined;
  readonly #said: readonly Constraint[];
  readonly #classes: JobClasses;
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
    classes: JobClasses,
  ) {
    this.index = index;
    this.requirements = form.requirements;
    this.shape = form.shape;
    this.spot = form.spot;
    this.takes = takes;
    this.#said = said;
    this.#classes = classes;
  }

  /** All that is asked of nodes and pools, with what the job says of spot. */
  get constraints(): readonly Constraint[] {
    return this.spot === "allow" ? this.#said : [...this.#said, SPOT_MARKS[this.spot]];
  }

  /** What each slot takes, in the job's own words. */
  get amounts(): readonly Amount[] {
    return this.#takenApart().amounts;
  }

  /** The whole of the constraints, for single nodes and for reasons; most classes never need it. */
  get fit(): Fit {
    this.#fit ??= this.#classes.fitOf(this.#takenApart().rest);
    return this.#fit;
  }

  /** The same for tasks that run already, whatever is said of spot by now. */
  get fitOfBound(): Fit {
    if (this.spot === "allow") return this.fit;
    this.#fitOfBound ??= this.#classes.fitOf(takeApart(this.#said).rest);
    return this.#fitOfBound;
  }

  /** What can be told by numbers before a slot is tried out; only for classes without `takes`. */
  get screen(): Screen {
    this.#screen ??= this.#classes.screenOf(this.constraints);
    return this.#screen;
  }

  /** How good a choice nodes are by the job's own lists and alternatives; absent: all are equally good. */
  get preference(): Preference | undefined {
    const { preference, requirements } = this.shape;
    if (preference === undefined || !requirements.intricate) return preference;
    this.#preference ??= countedPreference(this.#takenApart().rest, this.#classes.budget);
    return this.#preference;
  }

  /** The same of an empty node of a kind. */
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

const SPOT_MARKS: Readonly<Record<"never" | "only", Constraint>> = {
  never: { kind: "not", of: { kind: "property-choice", property: "spot", choices: [true] } },
  only: { kind: "property-choice", property: "spot", choices: [true] },
};

/** What jobs ask apart from amounts: all that is said in words. */
interface Form {
  readonly requirements: Requirements;
  readonly shape: Shape;
  readonly spot: Spot;
  /** Amounts stand among the words too, or depend on what is left: such jobs are told apart by their text. */
  readonly isIntricate: boolean;
  /** Classes by the set of resources that they take: a bit for each position. */
  readonly tables: Map<number, Table>;
}

/** Classes of one form that take amounts of the same resources. */
interface Table {
  readonly resource: readonly number[];
  readonly pair: readonly [number, number] | undefined;
  /** The least that any of them takes of each, in the order of `resource`. */
  readonly least: number[];
  /** By a hash of the amounts; whose place is taken stands in the next. */
  readonly classes: Map<number, JobClass>;
}

/** To make a constraint ready costs about as much as so many looks at it. */
const STEPS_TO_COMPILE = 20;

/** Resources that a set of bits can tell apart; jobs that take others are told apart by their text. */
const MOST_BITS = 30;

/**
 * Sorts jobs into classes and classes into shapes: the cost of judging grows with these, not with jobs. Where no two jobs are alike, the
 * sorting is what costs: amounts are compared as numbers, words as text, and everything else waits until somebody asks for it.
 */
export class JobClasses {
  readonly budget: Budget;
  readonly #ground: Ground;
  readonly #shared: SharedState;
  /** Whether a job refuses spot that says nothing of it and does not name its node arrays. */
  readonly #sparesSpot: boolean;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #forms = new Map<string, Form>();
  readonly #byProperty = new Map<string, Map<Scalar, Form>>();
  readonly #byResource = new Map<string, Map<Scalar, Form>>();
  readonly #bare = new Map<JobDemand["spot"], Form>();
  readonly #byText = new Map<string, JobClass>();
  readonly #shapes = new Map<string, Shape>();
  readonly #screens: Screens;
  /** What the job at hand takes, by position of the resource. */
  readonly #sums: number[];
  /** Which resources those are. Undefined: a plain number means different amounts on different kinds of nodes, or there are too many. */
  #bits: number | undefined = 0;
  #count = 0;
  #jobs = 0;

  constructor(ground: Ground, shared: SharedState, sparesSpot: boolean) {
    this.budget = ground.budget;
    this.#ground = ground;
    this.#shared = shared;
    this.#sparesSpot = sparesSpot;
    this.#positions = new Map(ground.resources.map((name, position) => [name, position]));
    this.#sums = ground.resources.map(() => 0);
    this.#screens = new Screens(ground, shared);
  }

  of(job: JobDemand): JobClass {
    this.#jobs += 1;
    const words = this.#addUp(job.constraints);
    const form = words === undefined ? this.#bareForm(job.spot) : this.#formOf(job.spot, words);
    const bits = this.#bits;
    return bits === undefined || form.isIntricate ? this.#byWords(job, form) : this.#find(job, form, bits);
  }

  /** How many classes there are. */
  get count(): number {
    return this.#count;
  }

  /** How many jobs they have been asked for. */
  get jobs(): number {
    return this.#jobs;
  }

  /** Of each resource the least that a slot of any class takes; 0 where that is not known. */
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
    for (const form of [...this.#bare.values(), ...this.#forms.values()])
      for (const table of form.tables.values()) note(table.resource, table.least);
    for (const { takes, screen } of this.#byText.values()) {
      const { resource, amount } = takes ?? screen.least;
      note(resource, amount);
    }
    return least.map((amount, position) => (takers[position] === all ? amount : 0));
  }

  screenOf(constraints: readonly Constraint[]): Screen {
    return this.#screens.of(constraints);
  }

  fitOf(rest: readonly Constraint[]): Fit {
    return new Fit(rest, this.#positions, this.#shared, this.#ground);
  }

  /** Adds the amounts up in `#sums` and `#bits`; two of one resource add up. Answers all else that is said. */
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

  #baseAmount(position: number, amount: Amount["amount"]): number | undefined {
    if (isSize(amount)) return Math.max(0, bytesOf(amount));
    const unit = this.#ground.unitOf(position);
    return unit === "mixed" ? undefined : Math.max(0, amount * unit);
  }

  #find(job: JobDemand, form: Form, bits: number): JobClass {
    let table = form.tables.get(bits);
    if (table === undefined) {
      table = this.#openTable(bits);
      form.tables.set(bits, table);
    }
    let hash = hashOf(table.resource, this.#sums);
    for (;;) {
      const known = table.classes.get(hash);
      if (known?.takes === undefined) break;
      if (this.#isTaken(known.takes)) {
        known.takes.isCommon = true;
        return known;
      }
      hash += 1;
      // Amounts can be chosen so that many have one hash.
      this.budget.spend(1);
    }
    const made = new JobClass(this.#count, form, this.#takesIn(table, form), job.constraints, this);
    this.#count += 1;
    table.classes.set(hash, made);
    return made;
  }

  #takesIn({ resource, pair, least }: Table, form: Form): Takes {
    const amount = resource.map((position) => this.#sums[position] ?? 0);
    let nothing = true;
    for (let i = 0; i < amount.length; i += 1) {
      const each = amount[i] ?? 0;
      least[i] = Math.min(least[i] ?? Number.POSITIVE_INFINITY, each);
      if (each > 0) nothing = false;
    }
    return { resource, amount, pair, alone: form.requirements.alone !== undefined, nothing, isCommon: false };
  }

  #isTaken({ resource, amount }: Takes): boolean {
    for (let i = 0; i < resource.length; i += 1) if (amount[i] !== this.#sums[resource[i] ?? 0]) return false;
    return true;
  }

  #openTable(bits: number): Table {
    const resource: number[] = [];
    for (let position = 0; position < MOST_BITS; position += 1)
      if ((bits & (1 << position)) !== 0) resource.push(position);
    const { pair } = this.#ground;
    const at = [resource.indexOf(pair[0]), resource.indexOf(pair[1])] as const;
    const hasPair = pair[0] !== pair[1] && at[0] >= 0 && at[1] >= 0;
    return { resource, pair: hasPair ? at : undefined, least: [], classes: new Map() };
  }

  /** The class of a job whose amounts are no plain numbers. */
  #byWords(job: JobDemand, form: Form): JobClass {
    const key = `${job.spot ?? ""}${keyOf(job.constraints)}`;
    let known = this.#byText.get(key);
    if (known === undefined) {
      this.budget.spend(STEPS_TO_COMPILE * sizeOfConstraints(job.constraints));
      const parts = takeApart(job.constraints);
      const takes = form.requirements.intricate ? undefined : this.#takesOf(parts.amounts, form);
      known = new JobClass(this.#count, form, takes, job.constraints, this);
      this.#count += 1;
      this.#byText.set(key, known);
    }
    return known;
  }

  /** Undefined: a plain number means different amounts on different kinds of nodes. */
  #takesOf(amounts: readonly Amount[], form: Form): Takes | undefined {
    const totals = new Map<number, number>();
    for (const { resource, amount } of amounts) {
      const position = this.#positions.get(resource) ?? this.#ground.nowhere ?? 0;
      const each = this.#baseAmount(position, amount);
      if (each === undefined) return undefined;
      totals.set(position, (totals.get(position) ?? 0) + each);
    }
    const resource = [...totals.keys()];
    const amount = [...totals.values()];
    const [a, b] = this.#ground.pair;
    const at = [resource.indexOf(a), resource.indexOf(b)] as const;
    const hasPair = a !== b && at[0] >= 0 && at[1] >= 0;
    return {
      resource,
      amount,
      pair: hasPair ? at : undefined,
      alone: form.requirements.alone !== undefined,
      nothing: amount.every((each) => each <= 0),
      isCommon: true,
    };
  }

  #bareForm(spot: JobDemand["spot"]): Form {
    let form = this.#bare.get(spot);
    if (form === undefined) {
      form = this.#makeForm(spot, []);
      this.#bare.set(spot, form);
    }
    return form;
  }

  #formOf(spot: JobDemand["spot"], words: readonly Constraint[]): Form {
    const [word] = words;
    if (spot === undefined && words.length === 1 && word !== undefined && "choices" in word) {
      const [choice] = word.choices;
      if (choice !== undefined && word.choices.length === 1) return this.#formOfChoice(word, choice, words);
    }
    return this.#formOfText(spot, words);
  }

  /** Most jobs that say anything but amounts name one node array, VM size or value: that is found without writing a text. */
  #formOfChoice(word: Choice, choice: Scalar, words: readonly Constraint[]): Form {
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

  #formOfText(spot: JobDemand["spot"], words: readonly Constraint[]): Form {
    const key = `${spot ?? ""}${keyOf(words)}`;
    let form = this.#forms.get(key);
    if (form === undefined) {
      form = this.#makeForm(spot, words);
      this.#forms.set(key, form);
    }
    return form;
  }

  #makeForm(saidOfSpot: JobDemand["spot"], words: readonly Constraint[]): Form {
    this.budget.spend(STEPS_TO_COMPILE * sizeOfConstraints(words));
    const { requirements: said, amounts } = takeApart(words);
    const spot = saidOfSpot ?? (this.#sparesSpot && !words.some(decidesOnSpot) ? "never" : "allow");
    const requirements = spot === "allow" ? said : { ...said, marks: [...said.marks, SPOT_MARKS[spot]] };
    const shapeKey = `${requirements.backoffSeconds} ${requirements.intricate} ${keyOf(requirements.marks)}`;
    const shape = this.#shapes.get(shapeKey) ?? new Shape(requirements, this.#shared, this.#ground);
    this.#shapes.set(shapeKey, shape);
    const isIntricate = requirements.intricate || amounts.length > 0;
    return { requirements, shape, spot, isIntricate, tables: new Map() };
  }
}

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

/** A number that differs, as a rule, where the amounts differ: all bits count, as amounts may differ only far behind the point. */
function hashOf(resource: readonly number[], sums: readonly number[]): number {
  let hash = 0;
  for (const position of resource) {
    DOUBLE[0] = sums[position] ?? 0;
    hash = Math.imul(hash ^ (WORDS[0] ?? 0), 0x9e3779b1) ^ Math.imul(WORDS[1] ?? 0, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  }
  return (hash ^ (hash >>> 13)) & 0x3fffffff;
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
