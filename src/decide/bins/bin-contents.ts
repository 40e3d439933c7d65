import type { NodeLoad } from "../../domain/allocation.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Bin } from "./bin-columns.ts";

/** A demand that needs nodes, by "set/demand". */
export interface Claimant {
  readonly by: string;
}

/** One thing that was put on a bin. The things on a bin form a list, newest first. */
interface Content {
  readonly claimant: Claimant;
  /** On each node. 0: a target counts the nodes and has no slots. */
  readonly slots: number;
  readonly tasks: Tasks;
  readonly before: Content | undefined;
}

/** New tasks, or tasks that are bound to the node because they run there. */
export type Tasks = "new" | "bound";

/** Maximum number of demands listed for a node. */
const MOST_NAMES = 5;
/** To look up a job among thousands costs about as much as this many other steps. */
const STEPS_OF_FREE_SLOT = 4;
/** What is put on a bin takes memory, of which a plan has no more than its steps allow: about half a million of these. */
const STEPS_OF_CONTENT = 25;
/** Of a task that runs there already, the door has counted the memory: this is the time that it takes. */
const STEPS_OF_BOUND = 5;
/** To list one job of a node costs about as much as this many other steps. */
const STEPS_OF_NAME = 5;

const NO_JOBS: NodeLoad["jobs"] = [];

/** The demands that need each bin, and their slots on it. */
export class BinContents {
  readonly #budget: Budget;
  readonly #latest: (Content | undefined)[];
  /** By bin: the jobs that have a slot there which takes nothing. */
  readonly #freeSlots = new Map<Bin, Set<JobDemand>>();

  /** `bins`: how many there are. */
  constructor(budget: Budget, bins: number) {
    this.#budget = budget;
    this.#latest = Array.from({ length: bins });
  }

  /** There is a new bin, with the next number. */
  addBin(): void {
    this.#latest.push(undefined);
  }

  /** There is a new bin, with the next number: some of the identical nodes of another bin, with all that is on them. */
  addCopy(bin: Bin): void {
    const freeSlots = this.#freeSlots.get(bin);
    if (freeSlots !== undefined) this.#freeSlots.set(this.#latest.length, new Set(freeSlots));
    this.#latest.push(this.#latest[bin]);
  }

  /** Puts slots on each node of the bin, or 0 slots for a target that counts the nodes. */
  put(bin: Bin, claimant: Claimant, slots: number, tasks: Tasks): void {
    this.#budget.spend(tasks === "bound" ? STEPS_OF_BOUND : STEPS_OF_CONTENT);
    this.#latest[bin] = { claimant, slots, tasks, before: this.#latest[bin] };
  }

  /** Whether the job has a slot there that takes nothing of the node. It gets no second one. */
  hasFreeSlot(bin: Bin, job: JobDemand): boolean {
    this.#budget.spend(STEPS_OF_FREE_SLOT);
    return this.#freeSlots.get(bin)?.has(job) === true;
  }

  addFreeSlot(bin: Bin, job: JobDemand): void {
    this.#budget.spend(STEPS_OF_FREE_SLOT);
    const jobs = this.#freeSlots.get(bin);
    if (jobs === undefined) this.#freeSlots.set(bin, new Set([job]));
    else jobs.add(job);
  }

  /** Whether a job ("set/demand") has slots on each node of the bin. */
  hasSlotsOf(bin: Bin, by: string): boolean {
    for (let one = this.#latest[bin]; one !== undefined; one = one.before) {
      this.#budget.spend(1);
      if (one.slots > 0 && one.claimant.by === by) return true;
    }
    return false;
  }

  /** Whether there are slots on the bin, all of one job. */
  hasOnlySlotsOf(bin: Bin, by: string): boolean {
    const jobs = this.slotsOn(bin);
    this.#budget.spend(STEPS_OF_NAME * jobs.length);
    return jobs.length > 0 && jobs.every((one) => one.by === by);
  }

  /** The jobs that have slots on the bin, oldest first. */
  jobsOn(bin: Bin): readonly string[] {
    const jobs = this.slotsOn(bin);
    this.#budget.spend(STEPS_OF_NAME * jobs.length);
    return jobs.map(({ by }) => by);
  }

  /** The slots on each node of the bin, oldest first. */
  slotsOn(bin: Bin): NodeLoad["jobs"] {
    const latest = this.#latest[bin];
    if (latest === undefined) return NO_JOBS;
    const jobs: NodeLoad["jobs"][number][] = [];
    for (let one: Content | undefined = latest; one !== undefined; one = one.before)
      if (one.slots > 0) jobs.push({ by: one.claimant.by, slots: one.slots, bound: one.tasks === "bound" });
    return jobs.length < 2 ? jobs : jobs.toReversed();
  }

  /** The first few demands that needed the bin. Undefined if none does. */
  claimantsOf(bin: Bin): readonly string[] | undefined {
    const latest = this.#latest[bin];
    if (latest === undefined) return undefined;
    if (latest.before === undefined) return [latest.claimant.by];
    const all: Claimant[] = [];
    for (let one: Content | undefined = latest; one !== undefined; one = one.before) all.push(one.claimant);
    const names: string[] = [];
    for (const { by } of all.toReversed()) {
      if (!names.includes(by)) names.push(by);
      if (names.length === MOST_NAMES) break;
    }
    return names;
  }
}
