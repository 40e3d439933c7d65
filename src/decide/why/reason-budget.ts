import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Requirements } from "../constraints/requirements.ts";

/** For so many unmet jobs that differ the reasons are worked out: nobody reads more, and each takes as long as settling dozens of jobs. */
const MOST_TOLD = 1000;

/** Of a try that tells why: to which unmet jobs, by rank. The others name one of these that asks for the same nodes. */
export class Telling {
  /** Whether packed jobs of one class share their reasons, so that another one costs nothing more. */
  readonly #sharesReasons: boolean;
  #told = 0;
  readonly #classes = new Set<JobClass>();
  readonly #like = new Map<Requirements, string>();
  readonly #briefs = new Map<Requirements, readonly Reason[]>();

  constructor(sharesReasons: boolean) {
    this.#sharesReasons = sharesReasons;
  }

  /** Whether the reasons for a job are to be worked out, should it be unmet. */
  covers(ask: Ask): boolean {
    return this.#told < MOST_TOLD || this.#isShared(ask);
  }

  /** Notes that they have been. */
  note(ask: Ask): void {
    const { jobClass, requirements, by } = ask;
    if (this.#isShared(ask)) return;
    this.#told += 1;
    this.#classes.add(jobClass);
    if (!this.#like.has(requirements)) this.#like.set(requirements, by);
  }

  /** What a job is told beyond that; those that ask for the same nodes share the list. */
  brief({ requirements }: Ask): readonly Reason[] {
    let brief = this.#briefs.get(requirements);
    if (brief === undefined) {
      const like = this.#like.get(requirements);
      brief = [{ code: "too-many-unmet", told: this.#told, ...(like === undefined ? {} : { like }) }];
      this.#briefs.set(requirements, brief);
    }
    return brief;
  }
  #isShared({ jobClass, together }: Ask): boolean {
    return this.#sharesReasons && together === "anywhere" && this.#classes.has(jobClass);
  }
}

/** Why something is unmet, on the account of reasons; where that costs too much, only that it does. */
export function explain<T extends { readonly reasons: readonly Reason[] }>(
  { bins }: Draft,
  make: () => T,
): T | typeof NOT_EXPLAINED {
  return bins.budget.on("explaining", make) ?? NOT_EXPLAINED;
}

const NOT_EXPLAINED = { reasons: [{ code: "not-explained" }] } as const;
