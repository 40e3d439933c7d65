import type { Demand, SchedulerNode } from "../../src/domain/demand.ts";
import { arrayName } from "../../src/domain/ids.ts";
import type { Machine, Machines } from "./machines.ts";
import type { NameAsked } from "./needs.ts";
import type { Named } from "./weather.ts";
import type { Outlet, Statement, Writer } from "./writers.ts";
import { Pen } from "./writers.ts";

/** A node of the scheduler's configuration. */
interface Known {
  readonly name: string;
  /** `coming`: resumed, and waited for. `leaving`: suspended, and not resumed again before that is over. */
  state: "off" | "coming" | "up" | "leaving";
  /** When it came into this state. */
  at: number;
  /** The moment of its last resume. */
  since: number;
  /** The machine that runs its jobs. Undefined: none does. */
  machine: Machine | undefined;
  /** When its scheduler finds out that its machine has gone. */
  missedAt: number | undefined;
  /** A person drains it until then. What keeps its node meanwhile: its name in the set, its report (`keep`), or both. */
  drained: { readonly until: number; readonly by: "set" | "report" | "both" } | undefined;
}

const LOOK_MS = 5000;
/** The agent says what it has read at this interval. */
const PUSH_MS = 15_000;
const RESUME_TIMEOUT_MS = 400_000;
const SUSPEND_TIMEOUT_MS = [10_000, 90_000] as const;
const SUSPEND_TIME_MS = [20_000, 90_000] as const;
/** Time until the scheduler finds out that a machine has gone. */
const MISSED_MS = [30_000, 300_000] as const;
const DRAINED_MS = [100_000, 400_000] as const;
const JOB_MS = [15_000, 200_000] as const;
/** How long the agent stands still between reading and sending, and how long it says nothing at all. */
const FROZEN_MS = [20_000, 150_000] as const;
const SILENT_MS = [100_000, 500_000] as const;
const INTERVAL_SECONDS = 300;
/** What asks for one resume only lasts this long. */
const SHIM_SECONDS = 60;

/**
 * A scheduler that names its nodes, with the agent beside it (docs/demand.md, Nodes by name): the agent's set has every name that the
 * scheduler counts on, with the moment of its resume until it is up, and its report says of each machine whether it is open. A machine that
 * came up before the resume is not waited for: the report calls it closed, until it has gone.
 */
class Slurm implements Writer {
  readonly #outlet: Outlet;
  readonly #named: Named;
  readonly #machines: Machines;
  readonly #pen: Pen;
  readonly #nodes: readonly Known[];
  readonly #suspendMs: number;
  #waiting = 0;
  #submitted = 0;
  #quietUntil = 0;
  #calm = false;

  constructor(outlet: Outlet, named: Named, machines: Machines) {
    const { schedule } = outlet;
    this.#outlet = outlet;
    this.#named = named;
    this.#machines = machines;
    this.#pen = new Pen(outlet, "slurm", named.array, INTERVAL_SECONDS);
    this.#suspendMs = schedule.dice.whole(...SUSPEND_TIME_MS);
    this.#nodes = Array.from({ length: named.names }, (_, index) => ({
      name: `${named.array}-${index + 1}`,
      state: "off",
      at: 0,
      since: 0,
      machine: undefined,
      missedAt: undefined,
      drained: undefined,
    }));
    this.#often(LOOK_MS, () => this.#look());
    this.#often(PUSH_MS, () => this.#push());
    schedule.after(schedule.dice.whole(0, 20_000), () => this.#submit());
  }

  get last() {
    return this.#pen.last;
  }

  calmDown(): void {
    this.#calm = true;
    this.#quietUntil = 0;
    this.#waiting = 0;
    for (const node of this.#nodes) node.drained = undefined;
    this.#push();
  }

  #often(milliseconds: number, run: () => void): void {
    this.#outlet.schedule.after(milliseconds, () => {
      run();
      this.#often(milliseconds, run);
    });
  }

  // ------------------------------------------------------------ the scheduler

  #submit(): void {
    const { schedule } = this.#outlet;
    if (this.#calm) return;
    this.#waiting = Math.min(this.#waiting + schedule.dice.whole(1, 3), this.#named.names);
    this.#look();
    schedule.after(schedule.dice.whole(20_000, 200_000), () => this.#submit());
  }

  #look(): void {
    for (const node of this.#nodes) {
      if (node.state === "coming") this.#await(node);
      else if (node.state === "up") this.#watch(node);
      else if (node.state === "leaving" && this.#isOver(node)) this.#turn(node, "off");
    }
    this.#place();
  }

  #await(node: Known): void {
    const { dice } = this.#outlet.schedule;
    const machine = this.#machineOf(node);
    const isNew = machine !== undefined && machine.upSince > node.since;
    if (isNew || (machine !== undefined && this.#stormy(this.#named.restarts))) {
      this.#turn(node, "up");
      node.machine = machine;
      return;
    }
    const isCancelled = this.#stormy(this.#named.cancelled);
    if (!isCancelled && this.#now() - node.since < RESUME_TIMEOUT_MS) return;
    this.#turn(node, "leaving");
    if (isCancelled) this.#waiting = Math.max(0, this.#waiting - 1);
    // Another node is tried for the job, or this one again.
    else if (!this.#calm || dice.chance(0.5)) this.#resume(node.name);
  }

  #watch(node: Known): void {
    const { dice } = this.#outlet.schedule;
    const { machine } = node;
    const now = this.#now();
    if (machine === undefined || !this.#machines.isUp(machine)) {
      node.missedAt ??= now + dice.whole(...MISSED_MS);
      if (now < node.missedAt) return;
      if (machine?.job !== undefined) this.#waiting += 1;
      return this.#turn(node, "leaving");
    }
    if (node.drained !== undefined && node.drained.until > now) return;
    node.drained = undefined;
    if (machine.job !== undefined) return;
    if (this.#stormy(this.#named.drained))
      node.drained = { until: now + dice.whole(...DRAINED_MS), by: dice.pick(["set", "report", "both"]) };
    else if (now - Math.max(machine.idleSince, node.at) > this.#suspendMs) this.#turn(node, "leaving");
  }

  #turn(node: Known, state: Known["state"]): void {
    const { dice } = this.#outlet.schedule;
    node.state = state;
    node.at = this.#now() + (state === "leaving" ? dice.whole(...SUSPEND_TIMEOUT_MS) : 0);
    node.machine = undefined;
    node.missedAt = undefined;
    node.drained = undefined;
  }

  #isOver({ at }: Known): boolean {
    return at <= this.#now();
  }

  /** Begins waiting jobs on nodes that are up, and resumes nodes for the others. */
  #place(): void {
    for (const node of this.#nodes) {
      const { state, machine, drained } = node;
      if (this.#waiting === 0) return;
      const isFree = machine?.job === undefined && machine?.closed === false && this.#machines.isUp(machine);
      if (state === "up" && isFree && drained === undefined) this.#begin(machine);
    }
    let coming = this.#nodes.filter(({ state }) => state === "coming").length;
    for (; coming < this.#waiting; coming += 1) if (!this.#resume()) return;
  }

  #begin(machine: Machine): void {
    const { schedule } = this.#outlet;
    this.#waiting -= 1;
    this.#machines.begin(machine, `job-${(this.#submitted += 1)}`);
    schedule.after(schedule.dice.whole(...JOB_MS), () => {
      if (!this.#calm && this.#machines.isUp(machine)) this.#machines.end(machine);
    });
  }

  /** Resumes a node, not that one. False if there is none to resume. */
  #resume(but?: string): boolean {
    const { dice } = this.#outlet.schedule;
    const off = this.#nodes.filter(({ state, name }) => state === "off" && name !== but);
    const node = off[dice.whole(0, off.length - 1)];
    if (node === undefined) return false;
    this.#turn(node, "coming");
    node.since = this.#now();
    if (this.#stormy(this.#named.shims)) this.#shim(node);
    return true;
  }

  /** A machine with this name that is up. */
  #machineOf({ name }: Known): Machine | undefined {
    return [...this.#machines.up].find((one) => one.array === this.#named.array && one.name === name);
  }

  #stormy(chance: number): boolean {
    return !this.#calm && this.#outlet.schedule.dice.chance(chance);
  }

  #now(): number {
    return this.#outlet.schedule.now();
  }

  // ------------------------------------------------------------ the agent

  #push(): void {
    const { schedule } = this.#outlet;
    const { dice } = schedule;
    const readAt = schedule.now();
    if (readAt < this.#quietUntil) return;
    if (this.#stormy(0.01)) {
      this.#quietUntil = readAt + dice.whole(...SILENT_MS);
      return;
    }
    const read = this.#read();
    if (!this.#stormy(this.#named.frozen)) return this.#pen.write(read, readAt);
    const wait = dice.whole(...FROZEN_MS);
    this.#quietUntil = readAt + wait;
    schedule.after(wait, () => !this.#calm && this.#pen.write(read, readAt));
  }

  #read(): Statement {
    const wanted = this.#nodes.filter(
      ({ state, drained }) => state === "coming" || (state === "up" && drained?.by !== "report"),
    );
    const asked = wanted.map(({ name, state, since }): NameAsked =>
      state === "coming" ? { name, since } : { name },
    );
    return { ...namesStatement(this.#named.array, asked), report: this.#report() };
  }

  /** What asks for one resume only, before the agent's own set does. */
  #shim({ name, since }: Known): void {
    const pen = new Pen(this.#outlet, `shim-${name}-${since}`, this.#named.array, SHIM_SECONDS);
    pen.write(namesStatement(this.#named.array, [{ name, since }]));
  }

  #report(): readonly SchedulerNode[] {
    const byName = new Map(this.#nodes.map((node) => [node.name, node]));
    const up = [...this.#machines.up].filter(({ array }) => array === this.#named.array);
    const booting = this.#machines.booting.filter(
      ({ array, name }) => array === this.#named.array && byName.get(name)?.state !== "coming",
    );
    return [...up, ...booting].map((machine): SchedulerNode => {
      const { hostname, name } = machine;
      const node = byName.get(name);
      if (node?.machine === undefined || node.machine !== machine)
        return { hostname, jobs: [], state: "closed" };
      const { job } = node.machine;
      const jobs = job === undefined ? [] : [job];
      if (node.drained === undefined) return { hostname, jobs, state: "open" };
      const keep = node.drained.by === "set" ? {} : { keep: "drained by a person" };
      return { hostname, jobs, state: "closed", ...keep };
    });
  }
}

/** One entry for each resume. */
function namesStatement(array: string, asked: readonly NameAsked[]): Statement {
  const bySince = Map.groupBy(asked, ({ since }) => since);
  const demands = [...bySince].map(([since, list], position): Demand => {
    const names = list.map(({ name }) => name);
    return {
      kind: "target",
      id: `names-${position}`,
      priority: 0,
      position,
      array: arrayName(array),
      amount: { unit: "nodes", count: names.length },
      named: since === undefined ? { names } : { names, since },
    };
  });
  return { asks: { kind: "names", names: asked }, demands };
}

/** Starts a scheduler that names its nodes. */
export function startSlurm(outlet: Outlet, named: Named, machines: Machines): Writer {
  return new Slurm(outlet, named, machines);
}
