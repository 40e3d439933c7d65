import type { Demand, PlacedSlots, SchedulerNode } from "../../src/domain/demand.ts";
import { EXCLUSIVE, inArrays, needing } from "../support/build-constraints.ts";
import type { Machine, Machines } from "./machines.ts";
import type { Outlet, Statement, Writer } from "./writers.ts";
import { CORES_PER_NODE, Pen } from "./writers.ts";

interface Job {
  readonly name: string;
  waiting: number;
  readonly on: Machine[];
}

const SCHEDULER_MS = 5000;

/** A scheduler. Jobs arrive, each slot of a job takes a whole node, jobs run for a while on nodes that are up and open, and they end. */
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
  /** A job that no demand names: only reports show it. */
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
    const [least, most] = outlet.renewSeconds.jobs;
    schedule.after(calm ? 30_000 : dice.whole(1000 * least, 1000 * most), renew);
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
    // Constraints for a whole node: by its number of cores, or without an amount.
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
