import type { Reason } from "../domain/reason.ts";
import type { Ask } from "./ask.ts";
import type { JobClass } from "./job-class.ts";
import type { Requirements } from "./requirements.ts";

/** For so many unmet jobs that differ the reasons are worked out: nobody reads more, and each takes as long as settling dozens of jobs. */
const MOST_TOLD = 1000;

/** Of a try that tells why: to which unmet jobs, by rank. The others name one of these that asks for the same nodes. */
export class Telling {
  #told = 0;
  readonly #classes = new Set<JobClass>();
  readonly #like = new Map<Requirements, string>();
  readonly #briefs = new Map<Requirements, readonly Reason[]>();

  /** Whether the reasons for a job are to be worked out, should it be unmet. Packed jobs of one class share theirs, and cost nothing more. */
  covers({ jobClass, together }: Ask): boolean {
    return this.#told < MOST_TOLD || (together === "anywhere" && this.#classes.has(jobClass));
  }

  /** Notes that they have been. */
  note({ jobClass, requirements, together, by }: Ask): void {
    if (together === "anywhere" && this.#classes.has(jobClass)) return;
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
}
