import type { Demand, PartialUpdate, RequestSetUpdate, SchedulerNode } from "../../src/domain/demand.ts";
import type { ClusterName } from "../../src/domain/ids.ts";
import { arrayName, digest, setName } from "../../src/domain/ids.ts";
import type { Instant } from "../../src/domain/units.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import type { Told } from "./needs.ts";
import type { Schedule } from "./schedule.ts";
import type { Named } from "./weather.ts";

/** The way of a writer's messages, and how its scheduler behaves. */
export interface Outlet {
  readonly schedule: Schedule;
  readonly cluster: ClusterName;
  /** Every other report comes without demand. */
  readonly reportsApart: boolean;
  /** Schedulers notice that a host is gone. Its job then waits again. */
  readonly noticesGone: boolean;
  /** Demand in steps is renewed at this interval, and that of jobs between these two, in seconds. */
  readonly renewSeconds: { readonly steps: number; readonly jobs: readonly [number, number] };
  readonly send: (update: RequestSetUpdate, told: Told) => void;
}

/** One writer of demand. It sends its demand, renews it, and is sometimes silent until it has lapsed. */
export interface Writer {
  /** From now on it asks for the same all the time, and renews it. */
  calmDown(): void;
  /** Its last message. */
  readonly last: Told | undefined;
  /** A job begins now, if possible on one of these nodes, and is reported at once. */
  poke?(preferred: readonly string[]): void;
}

export interface Statement {
  readonly asks: Told["asks"];
  readonly demands: readonly Demand[];
  readonly report?: readonly SchedulerNode[];
}

/** Numbers the messages of a set, and keeps the last one. */
export class Pen {
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

  /** `readAt`: when its sender read its scheduler for it. */
  write({ asks, demands, report }: Statement, readAt?: Instant): void {
    const envelope = this.#seal(readAt);
    const told = this.#note(envelope, asks, report);
    this.last = told;
    const text = JSON.stringify(demands);
    this.#outlet.send(
      {
        ...envelope,
        digest: digest(text),
        demand: { demands, pools: [], rejectedJobs: [] },
        bytes: text.length,
        ...(report === undefined ? {} : { schedulerNodes: report }),
      },
      told,
    );
  }

  /** Sends a report without demand: the demand of the set and its expiry stay the same. */
  report(schedulerNodes: readonly SchedulerNode[]): void {
    const envelope = this.#seal();
    const told = this.#note(envelope, { kind: "slots", count: 0, hosts: [] }, schedulerNodes);
    this.#outlet.send({ ...envelope, schedulerNodes }, told);
  }

  #seal(readAt?: Instant): PartialUpdate {
    const sentAt = this.#outlet.schedule.now();
    this.#revision = Math.max(this.#revision + 1, readAt ?? sentAt);
    return {
      cluster: this.#outlet.cluster,
      set: setName(this.#set),
      revision: { value: this.#revision, tieBreak: "" },
      intervalSeconds: this.#intervalSeconds,
      sentAt,
      ...(readAt === undefined ? {} : { readAt }),
      expiresAt: plusSeconds(sentAt, this.#intervalSeconds),
    };
  }

  #note(
    { revision, sentAt, readAt = sentAt, expiresAt }: PartialUpdate,
    asks: Told["asks"],
    hosts: readonly SchedulerNode[] | undefined,
  ): Told {
    return {
      set: this.#set,
      revision: revision.value,
      array: this.#array,
      asks,
      sentAt: readAt,
      expiresAt,
      reports: hosts !== undefined,
      ...(hosts === undefined || asks.kind !== "names" ? {} : { hosts }),
    };
  }
}

/** Starts a writer of targets that change at random. */
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

/** Starts a writer of targets that change in steps. `next` gives the number of nodes of each step, and its duration in seconds. */
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
    outlet.schedule.after(1000 * outlet.renewSeconds.steps, renew);
  };
  outlet.schedule.after(outlet.schedule.dice.whole(0, 10_000), step);
  outlet.schedule.after(1000 * outlet.renewSeconds.steps, renew);
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

/** Starts a writer of numbered targets in an array for named nodes. They create nothing, and end when it is calm. */
export function startForeign(outlet: Outlet, { array, names }: Named): Writer {
  const { dice } = outlet.schedule;
  const pen = new Pen(outlet, "foreign", array, 60);
  let calm = false;
  const act = (): void => {
    if (calm) return;
    const { demands } = targetStatement(array, dice.whole(0, 2 * names));
    pen.write({ asks: { kind: "target", count: 0 }, demands });
    outlet.schedule.after(dice.whole(30_000, 200_000), act);
  };
  outlet.schedule.after(dice.whole(0, 100_000), act);
  return {
    calmDown: () => {
      calm = true;
      pen.write(targetStatement(array, 0));
    },
    get last() {
      return pen.last;
    },
  };
}

/** Starts a writer that renews the same small target many times a minute. */
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

export const CORES_PER_NODE = 4;
