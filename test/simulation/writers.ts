import type {
  Demand,
  PartialUpdate,
  PlacedSlots,
  RequestSetUpdate,
  SchedulerNode,
} from "../../src/domain/demand.ts";
import { EXCLUSIVE, inArrays, needing } from "../support/build-constraints.ts";
import type { ClusterName } from "../../src/domain/ids.ts";
import { arrayName, digest, setName } from "../../src/domain/ids.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import type { Told } from "./judge.ts";
import type { Machine, Machines } from "./machines.ts";
import type { Schedule } from "./schedule.ts";

/** What a writer sends through. */
export interface Outlet {
  readonly schedule: Schedule;
  readonly cluster: ClusterName;
  /** Every other report comes without demand. */
  readonly reportsApart: boolean;
  /** Schedulers notice that a host is gone: its job waits again. */
  readonly noticesGone: boolean;
  readonly send: (update: RequestSetUpdate, told: Told) => void;
}

/** One writer of demand: it sends what it wants, renews it, and now and then falls silent until it has lapsed. */
export interface Writer {
  /** From now on it wants the same all the time, and says so. */
  calmDown(): void;
  /** Its last message. */
  readonly last: Told | undefined;
  /** A job begins now, on one of these nodes if it can, and is reported at once. */
  poke?(preferred: readonly string[]): void;
}

interface Statement {
  readonly asks: Told["asks"];
  readonly demands: readonly Demand[];
  readonly report?: readonly SchedulerNode[];
}

/** Numbers the messages of a set, and remembers the last. */
class Pen {
  last: Told | undefined;
  readonly #outlet: Outlet;
  readonly #set: string;
  readonly #array: string;
  readonly #intervalSeconds: number;
  #revision = 0;

  constructor(outlet: Outlet, set: string, array: string, intervalSeconds: number) {
    this.#outlet = outlet;
    this.#set = set;
    this.#array = array;
    this.#intervalSeconds = intervalSeconds;
  }

  write({ asks, demands, report }: Statement): void {
    const envelope = this.#seal();
    const told = this.#note(envelope, asks, report !== undefined);
    this.last = told;
    this.#outlet.send(
      {
        ...envelope,
        digest: digest(JSON.stringify(demands)),
        demand: { demands, pools: [], rejectedJobs: [] },
        ...(report === undefined ? {} : { schedulerNodes: report }),
      },
      told,
    );
  }

  /** What the set asks for stays what it was, and so does the time for which it does. */
  report(schedulerNodes: readonly SchedulerNode[]): void {
    const envelope = this.#seal();
    const told = this.#note(envelope, { kind: "slots", count: 0, hosts: [] }, true);
    this.#outlet.send({ ...envelope, schedulerNodes }, told);
  }

  #seal(): PartialUpdate {
    const sentAt = this.#outlet.schedule.now();
    this.#revision = Math.max(this.#revision + 1, sentAt);
    return {
      cluster: this.#outlet.cluster,
      set: setName(this.#set),
      revision: { value: this.#revision, tieBreak: "" },
      intervalSeconds: this.#intervalSeconds,
      sentAt,
      expiresAt: plusSeconds(sentAt, this.#intervalSeconds),
    };
  }

  #note({ revision, sentAt, expiresAt }: PartialUpdate, asks: Told["asks"], reports: boolean): Told {
    return {
      set: this.#set,
      revision: revision.value,
      array: this.#array,
      asks,
      sentAt,
      expiresAt,
      reports,
    };
  }
}

/** Wants so many nodes, and changes its mind. */
export function startTargetWriter(outlet: Outlet, set: string, array: string, most: number): Writer {
  const { dice } = outlet.schedule;
  const intervalSeconds = dice.pick([60, 120, 300]);
  const pen = new Pen(outlet, set, array, intervalSeconds);
  let target = dice.whole(0, most);
  let calm = false;
  const write = (): void => pen.write(targetStatement(array, target));
  const act = (): void => {
    const luck = calm ? 0 : dice.fraction();
    if (luck >= 0.45) target = luck < 0.9 ? dice.whole(0, most) : 0;
    if (luck < 0.97) write();
    const silence = luck > 0.92 ? intervalSeconds * dice.whole(1, 2) : 0;
    const pause = calm ? intervalSeconds / 3 : dice.whole(5, Math.min(80, intervalSeconds - 15)) + silence;
    outlet.schedule.after(pause * 1000, act);
  };
  outlet.schedule.after(dice.whole(0, 40_000), act);
  return {
    calmDown: () => {
      calm = true;
      write();
    },
    get last() {
      return pen.last;
    },
  };
}

function targetStatement(array: string, count: number): Statement {
  const demand: Demand = {
    kind: "target",
    id: "target",
    priority: 0,
    position: 0,
    array: arrayName(array),
    amount: { unit: "nodes", count },
  };
  return { asks: { kind: "target", count }, demands: count === 0 ? [] : [demand] };
}

/** Wants a number of nodes that changes in steps: `next` gives each, and for how many seconds it stands. */
export function startStepWriter(
  outlet: Outlet,
  set: string,
  array: string,
  next: () => { readonly count: number; readonly seconds: number },
): Writer {
  const pen = new Pen(outlet, set, array, 300);
  let count = 0;
  let calm = false;
  const write = (): void => pen.write(targetStatement(array, count));
  const step = (): void => {
    if (calm) return;
    const stands = next();
    count = stands.count;
    write();
    outlet.schedule.after(stands.seconds * 1000, step);
  };
  const renew = (): void => {
    write();
    outlet.schedule.after(40_000, renew);
  };
  outlet.schedule.after(outlet.schedule.dice.whole(0, 10_000), step);
  outlet.schedule.after(40_000, renew);
  return {
    calmDown: () => {
      calm = true;
      write();
    },
    get last() {
      return pen.last;
    },
  };
}

/** Renews one and the same small target, many times a minute. */
export function startRenewer(
  outlet: Outlet,
  set: string,
  array: string,
  everyMs: number,
  isRandom = false,
): Writer {
  const pen = new Pen(outlet, set, array, 300);
  const act = (): void => {
    pen.write(targetStatement(array, 1));
    outlet.schedule.after(isRandom ? outlet.schedule.dice.whole(0, 2 * everyMs) : everyMs, act);
  };
  outlet.schedule.after(outlet.schedule.dice.whole(0, everyMs), act);
  return {
    calmDown: () => undefined,
    get last() {
      return pen.last;
    },
  };
}

interface Job {
  readonly name: string;
  waiting: number;
  readonly on: Machine[];
}

const SCHEDULER_MS = 5000;

/** A scheduler: jobs come, whose slots each take a whole node, run for a while on nodes that are up and open, and end. */
export function startJobWriter(
  outlet: Outlet,
  set: string,
  array: string,
  most: number,
  machines: Machines,
  reports: boolean,
): Writer {
  const { schedule } = outlet;
  const { dice } = schedule;
  const pen = new Pen(outlet, set, array, dice.pick([120, 300]));
  const jobs = new Map<string, Job>();
  let submitted = 0;
  let calm = false;
  let silentUntil = 0;

  const asked = (): number => {
    let count = 0;
    for (const job of jobs.values()) count += job.waiting + job.on.length;
    return count;
  };
  const say = (): void => {
    if (outlet.noticesGone) jobs.forEach((job) => requeueGone(job, machines));
    pen.write(jobStatement(array, [...jobs.values()], reports ? machines : undefined));
  };
  const write = (): void => {
    if (schedule.now() < silentUntil) return;
    if (outlet.reportsApart && reports && !calm && dice.chance(0.5)) pen.report(reportOf(machines));
    else say();
  };
  const end = (job: Job, machine: Machine): void => {
    if (calm) return;
    const at = job.on.indexOf(machine);
    if (at < 0) return;
    const gone = !machines.end(machine);
    job.on.splice(at, 1);
    if (gone) job.waiting += 1;
    if (job.waiting + job.on.length === 0) jobs.delete(job.name);
    schedule.after(dice.whole(0, 2000), write);
  };
  const inOrder = (preferred: readonly string[]): Iterable<Machine> =>
    preferred.length === 0
      ? machines.up
      : [...machines.up].toSorted((a, b) => rank(a, preferred) - rank(b, preferred));
  /** A job that no demand names: only the report does. */
  const startForeign = (preferred: readonly string[]): void => {
    const free = [...inOrder(preferred)].find(
      (machine) => machine.array === array && !machine.closed && machine.job === undefined,
    );
    if (free === undefined) return;
    machines.begin(free, `foreign-${(submitted += 1)}`);
    schedule.after(dice.whole(5000, 90_000), () => machines.end(free));
  };
  const fill = (preferred: readonly string[] = []): void => {
    for (const machine of inOrder(preferred)) {
      if (machine.array !== array || machine.closed || machine.job !== undefined) continue;
      const job = [...jobs.values()].find(({ waiting }) => waiting > 0);
      if (job === undefined) break;
      job.waiting -= 1;
      job.on.push(machine);
      machines.begin(machine, job.name);
      schedule.after(dice.whole(15_000, 200_000), () => end(job, machine));
      schedule.after(dice.whole(0, 2000), write);
    }
  };
  const place = (): void => {
    fill();
    schedule.after(SCHEDULER_MS, place);
  };
  const submit = (): void => {
    if (calm) return;
    const slots = Math.min(dice.whole(1, 4), most + 2 - asked());
    if (slots > 0) {
      const name = `${set}-${(submitted += 1)}`;
      jobs.set(name, { name, waiting: slots, on: [] });
    }
    if (dice.chance(0.05)) silentUntil = schedule.now() + dice.whole(100_000, 400_000);
    write();
    schedule.after(dice.whole(20_000, 150_000), submit);
  };
  const renew = (): void => {
    write();
    schedule.after(calm ? 30_000 : dice.whole(20_000, 60_000), renew);
  };
  schedule.after(dice.whole(0, 40_000), submit);
  schedule.after(dice.whole(0, 40_000), renew);
  schedule.after(dice.whole(0, SCHEDULER_MS), place);
  return {
    calmDown: () => {
      calm = true;
      silentUntil = 0;
      write();
    },
    get last() {
      return pen.last;
    },
    poke: (preferred) => {
      if (calm) return;
      if (dice.chance(0.7)) {
        startForeign(preferred);
      } else if (asked() < most + 2) {
        const name = `${set}-${(submitted += 1)}`;
        jobs.set(name, { name, waiting: 1, on: [] });
        fill(preferred);
      }
      say();
    },
  };
}

function requeueGone(job: Job, machines: Machines): void {
  for (const machine of job.on.filter((one) => !machines.isUp(one))) {
    job.on.splice(job.on.indexOf(machine), 1);
    job.waiting += 1;
  }
}

const rank = ({ nodeId }: Machine, preferred: readonly string[]): number =>
  preferred.includes(nodeId) ? 0 : 1;

function jobStatement(array: string, jobs: readonly Job[], machines: Machines | undefined): Statement {
  const demands = jobs.map((job, position): Demand => ({
    kind: "job",
    id: job.name,
    name: job.name,
    priority: 0,
    position,
    // A whole node, said by its cores or without an amount.
    constraints: [...(isEven(job.name) ? [EXCLUSIVE] : needing({ ncpus: CORES_PER_NODE })), inArrays(array)],
    ...(isEven(job.name.slice(0, -1)) ? { user: "ann" } : {}),
    iterations: job.waiting + job.on.length,
    colocated: false,
    placed: job.on.map(({ hostname }): PlacedSlots => ({ hostname, iterations: 1 })),
  }));
  const count = jobs.reduce((sum, job) => sum + job.waiting + job.on.length, 0);
  const hosts = jobs.flatMap((job) => job.on.map(({ hostname }) => hostname));
  const statement: Statement = { asks: { kind: "slots", count, hosts }, demands };
  return machines === undefined ? statement : { ...statement, report: reportOf(machines) };
}

const isEven = (text: string): boolean => text.charCodeAt(text.length - 1) % 2 === 0;

function reportOf(machines: Machines): readonly SchedulerNode[] {
  return [...machines.up].map(({ hostname, job, closed }) => ({
    hostname,
    jobs: job === undefined ? [] : [job],
    ...(machines.saysStates ? { state: closed ? ("closed" as const) : ("open" as const) } : {}),
  }));
}

export const CORES_PER_NODE = 4;
