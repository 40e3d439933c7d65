import { createStopDesk } from "../../src/app/autostop/answer-autostop.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { BodyChanges, RecordStore } from "../../src/app/ports/record-store.ts";
import type { CycleCloud } from "../../src/app/ports/cyclecloud.ts";
import type { Ports } from "../../src/app/ports/ports.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import type { Composition } from "../../src/compose.ts";
import type { App } from "../../src/app/process/lanes.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";

/** What a test puts around the calls of one host. Each function returns a promise that may never resolve. */
export interface Interference {
  /** Around each call to CycleCloud. */
  readonly call?: <T>(host: Host, send: () => Promise<T>) => Promise<T>;
  /** Around a terminate. */
  readonly terminate?: (
    host: Host,
    send: () => ReturnType<CycleCloud["terminate"]>,
  ) => ReturnType<CycleCloud["terminate"]>;
  /** Around a create. */
  readonly create?: (
    host: Host,
    send: () => ReturnType<CycleCloud["create"]>,
  ) => ReturnType<CycleCloud["create"]>;
  /** In place of a load of the record. */
  readonly load?: (host: Host) => ReturnType<RecordStore["load"]> | undefined;
  /** Around a save of the record. */
  readonly save?: (
    host: Host,
    changes: BodyChanges,
    save: () => ReturnType<RecordStore["save"]>,
    record: ClusterRecord,
  ) => ReturnType<RecordStore["save"]>;
}

/**
 * One host process: its own lanes and desks over the shared store, queue and CycleCloud. After its death none of its calls ends. While it stands
 * still, what it called goes on, and it learns of it afterwards.
 */
export class Host {
  readonly composed: Composition;
  readonly #clock: Ports["clock"];
  #alive = true;
  #standsUntil = 0;

  constructor(shared: Ports, base: Composition, interference: () => Interference) {
    const guard = <T>(call: () => Promise<T>): Promise<T> =>
      this.#alive ? this.#whileAlive(call()) : new Promise<T>(() => undefined);
    const { store, clock } = shared;
    this.#clock = clock;
    const ports: Ports = {
      ...shared,
      clock: { now: () => clock.now(), sleep: (ms, signal) => guard(() => clock.sleep(ms, signal)) },
      store: {
        load: (cluster) => guard(() => interference().load?.(this) ?? store.load(cluster)),
        bodies: (loaded, aside) => guard(() => store.bodies(loaded, aside)),
        stage: (record, changes, previous) => guard(() => store.stage(record, changes, previous)),
        save: (record, changes, previous, how) =>
          guard(() => {
            const save = () => store.save(record, changes, previous, how);
            return interference().save?.(this, changes, save, record) ?? save();
          }),
        finished: (loaded, sets) => guard(() => store.finished(loaded, sets)),
        missing: (loaded) => guard(() => store.missing(loaded)),
        collect: (cluster, now, how) => guard(() => store.collect(cluster, now, how)),
      },
      sites: new Map(
        [...shared.sites].map(([name, site]) => {
          const { cyclecloud: real } = site;
          const call = <T>(send: () => Promise<T>): Promise<T> =>
            guard(() => interference().call?.(this, send) ?? send());
          const cyclecloud: CycleCloud = {
            status: (...args) => call(() => real.status(...args)),
            nodesOfRequest: (...args) => call(() => real.nodesOfRequest(...args)),
            knowsRequest: (...args) => call(() => real.knowsRequest(...args)),
            create: (...args) =>
              call(() => {
                const send = () => real.create(...args);
                return interference().create?.(this, send) ?? send();
              }),
            start: (...args) => call(() => real.start(...args)),
            deallocate: (...args) => call(() => real.deallocate(...args)),
            terminate: (...args) =>
              call(() => {
                const send = () => real.terminate(...args);
                return interference().terminate?.(this, send) ?? send();
              }),
          };
          return [name, { ...site, cyclecloud }];
        }),
      ),
    };
    const app: App = { ports, lanes: createLanes() };
    this.composed = { ...base, app, recorder: createRecorder(app), stopDesk: createStopDesk(app) };
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  die(): void {
    this.#alive = false;
  }

  /** Stands still from now on for this many seconds. */
  standStill(seconds: number): void {
    this.#standsUntil = this.#clock.now() + 1000 * seconds;
  }

  get standsStill(): boolean {
    return this.#clock.now() < this.#standsUntil;
  }

  /** Resolves when it goes on. */
  async goesOn(): Promise<void> {
    while (this.standsStill) await this.#clock.sleep(this.#standsUntil - this.#clock.now());
  }

  #whileAlive<T>(call: Promise<T>): Promise<T> {
    const end = (tell: () => void): void => {
      if (!this.standsStill) tell();
      else void this.goesOn().then(() => this.#alive && tell());
    };
    return new Promise((resolve, reject) => {
      call.then(
        (value) => this.#alive && end(() => resolve(value)),
        (error: unknown) => this.#alive && end(() => reject(error)),
      );
    });
  }
}
