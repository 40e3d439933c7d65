import type { Constraint } from "../../domain/constraint.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { SharedState } from "../../domain/node-view.ts";
import type { Scalar } from "../../domain/resources.ts";
import { sizeOfConstraints } from "../constraints/constraint-size.ts";
import type { Requirements } from "../constraints/requirements.ts";
import { takeApart } from "../constraints/requirements.ts";
import { decidesOnSpot } from "../constraints/constraint-facts.ts";
import type { ClassTable } from "./class-table.ts";
import { keyOf } from "./constraint-key.ts";
import type { JobClass, Spot } from "./job-class.ts";
import { SPOT_MARKS } from "./job-class.ts";
import type { Ground } from "./node-kinds.ts";
import { Shape } from "./shape.ts";

/** To compile one member of a constraint costs about as much as this many tests of it. */
export const STEPS_TO_COMPILE = 20;

/** Everything that jobs ask for except plain amounts: their other constraints, and what they say of spot nodes. */
export interface JobForm {
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
export class JobForms {
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
