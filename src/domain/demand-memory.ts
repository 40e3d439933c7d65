import type { Constraint } from "./constraint.ts";
import type { Demand, Pool, RejectedJob, SchedulerNode, SetDemand } from "./demand.ts";

/**
 * Bytes of heap that a plan needs for what a set asks for: to hold it, to compile its constraints, and for its outcomes. Measured
 * for sets of one kind each, as the smallest heap that plans them without an end, and rounded up. Equal constraints of a set are held and compiled once
 * (shared-constraints.ts).
 */
const BYTES = {
  demand: 950,
  /** A list of constraints that no other job of the set has. */
  list: 300,
  amount: 250,
  /** A resource of which the set takes something. */
  resource: 1500,
  /** Constraints that are no amounts, together: a plan keeps what it finds out about each combination of them. */
  form: 10_000,
  /** Any other constraint: it is compiled in up to four ways. */
  constraint: 2000,
  choice: 400,
  placed: 250,
  pool: 400,
  /** A node that a target names: its own bin, create and request in flight. */
  named: 1500,
  host: 1200,
  job: 150,
  problem: 500,
  /** A value of attributes, notes and resources, which are kept as they came. */
  value: 120,
  character: 2,
} as const;

/** The bytes of heap that a plan needs for the demand and the pools of a set. */
export function memoryOf({ demands, pools, rejectedJobs }: SetDemand): number {
  const count = new Count();
  for (const demand of demands) count.addDemand(demand);
  for (const pool of pools) count.addPool(pool);
  for (const job of rejectedJobs) count.addRejected(job);
  return count.bytes;
}

/** The same for a scheduler's report. */
export function memoryOfReport(hosts: readonly SchedulerNode[]): number {
  const count = new Count();
  for (const host of hosts) count.addHost(host);
  return count.bytes;
}

class Count {
  bytes = 0;
  readonly #resources = new Set<string>();
  readonly #lists = new Set<readonly Constraint[]>();
  /** Each constraint has a number. */
  readonly #constraints = new Map<Constraint, number>();
  /** The numbers of those that are no amounts, of each job. */
  readonly #forms = new Set<string>();

  addDemand(demand: Demand): void {
    this.bytes += BYTES.demand;
    this.#addText(demand.id);
    if (demand.kind !== "job") {
      for (const size of demand.machineTypes ?? []) this.#addText(size);
      this.#addValue(demand.attributes);
      if (demand.kind === "target")
        for (const name of demand.named?.names ?? []) {
          this.bytes += BYTES.named;
          this.#addText(name);
        }
      return;
    }
    this.#addValue(demand.metadata);
    for (const { hostname } of demand.placed) {
      this.bytes += BYTES.placed;
      this.#addText(hostname);
    }
    if (this.#lists.has(demand.constraints)) return;
    this.#lists.add(demand.constraints);
    this.bytes += BYTES.list;
    for (const constraint of demand.constraints) {
      if (this.#constraints.has(constraint)) continue;
      this.#constraints.set(constraint, this.#constraints.size);
      if (constraint.kind === "amount") this.#addAmount(constraint.resource);
      else this.#addConstraint(constraint);
    }
    const words = demand.constraints.filter(({ kind }) => kind !== "amount");
    const form = words.map((word) => this.#constraints.get(word)).join();
    if (form === "" || this.#forms.has(form)) return;
    this.#forms.add(form);
    this.bytes += BYTES.form;
  }

  addPool({ name, value }: Pool): void {
    this.bytes += BYTES.pool;
    this.#addText(name);
    this.#addValue(value);
  }

  addRejected({ name, problems }: RejectedJob): void {
    this.bytes += BYTES.problem;
    this.#addText(name);
    for (const { path, found, expected } of problems) {
      this.bytes += BYTES.problem;
      for (const text of [path, found, expected]) this.#addText(text);
    }
  }

  addHost({ hostname, jobs, resources, available }: SchedulerNode): void {
    this.bytes += BYTES.host;
    this.#addText(hostname);
    for (const job of jobs) {
      this.bytes += BYTES.job;
      this.#addText(job);
    }
    this.#addValue(resources);
    this.#addValue(available);
  }

  #addAmount(resource: string): void {
    this.bytes += BYTES.amount;
    if (this.#resources.has(resource)) return;
    this.#resources.add(resource);
    this.bytes += BYTES.resource;
    this.#addText(resource);
  }

  /** Also an amount inside another constraint: it is compiled with that. */
  #addConstraint(constraint: Constraint): void {
    this.bytes += BYTES.constraint;
    switch (constraint.kind) {
      case "resource-choice":
      case "property-choice":
        for (const choice of constraint.choices) this.#addChoice(choice);
        return;
      case "and":
      case "or":
      case "xor":
        for (const one of constraint.of) this.#addConstraint(one);
        return;
      case "not":
        return this.#addConstraint(constraint.of);
      case "amount":
        return this.#addText(constraint.resource);
      case "never":
        return this.#addText(constraint.message);
      case "shared-consumable":
        for (const { source } of constraint.pools) this.#addChoice(source);
        return;
      case "pool":
      case "pool-value":
        return this.#addText(constraint.pool);
      default:
        return;
    }
  }

  #addChoice(choice: unknown): void {
    this.bytes += BYTES.choice;
    if (typeof choice === "string") this.#addText(choice);
  }

  #addValue(value: unknown): void {
    if (value === undefined) return;
    this.bytes += BYTES.value;
    if (typeof value === "string") this.#addText(value);
    else if (typeof value === "object" && value !== null)
      for (const [key, member] of Object.entries(value)) {
        this.#addText(key);
        this.#addValue(member);
      }
  }

  #addText(text: string): void {
    this.bytes += BYTES.character * text.length;
  }
}
