import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import type { RecordStore } from "../../src/app/ports.ts";
import type { ClusterName } from "../../src/domain/ids.ts";
import { clusterPartition, RECORD_KEY } from "../../src/adapters/tables/keys.ts";
import type { Rows } from "./memory-table.ts";
import { memoryTable } from "./memory-table.ts";
import type { Schedule } from "./schedule.ts";
import type { Lasting } from "./weather.ts";

/** Bodies written that lately are likely to be named by the record. */
const LATELY = 8;

type Failure = NonNullable<Lasting["storage"]>["how"];

/** What all processes store in: records in memory as they are, or rows of a table, which can be lost or set back. */
export class Storage {
  readonly #schedule: Schedule;
  readonly #partition: string;
  readonly #table = memoryTable();
  readonly #shared: RecordStore | undefined;
  /** Packing takes real time: no step of the clock comes before it has ended. */
  readonly #underWay = new Set<Promise<unknown>>();
  #backup: Rows | undefined;

  constructor(schedule: Schedule, cluster: ClusterName, inRows: boolean) {
    this.#schedule = schedule;
    this.#partition = clusterPartition(cluster);
    this.#shared = inRows ? undefined : memoryRecordStore();
  }

  /** The store of one process. */
  open(): RecordStore {
    if (this.#shared !== undefined) return this.#shared;
    const store: RecordStore = tableRecordStore(this.#table, this.#schedule);
    return {
      load: (cluster) => this.#watch(store.load(cluster)),
      bodies: (loaded) => this.#watch(store.bodies(loaded)),
      save: (record, changes, previous) => this.#watch(store.save(record, changes, previous)),
      collect: (cluster, now) => this.#watch(store.collect(cluster, now)),
    };
  }

  #watch<T>(call: Promise<T>): Promise<T> {
    this.#underWay.add(call);
    const done = (): void => void this.#underWay.delete(call);
    call.then(done, done);
    return call;
  }

  async settle(): Promise<void> {
    while (this.#underWay.size > 0) {
      await Promise.allSettled(this.#underWay);
      await new Promise((done) => setImmediate(done));
    }
  }

  backUp(): void {
    this.#backup = this.#table.copy();
  }

  fail(how: Failure): void {
    if (how === "set-back") {
      if (this.#backup !== undefined) this.#table.restore(this.#backup);
      return;
    }
    const record = `${this.#partition}\n${RECORD_KEY}`;
    if (how === "record-lost") return this.#table.lose([record]);
    const bodies = this.#table.keys(`${this.#partition}\nb-`).slice(-LATELY);
    const lost = bodies[this.#schedule.dice.whole(0, bodies.length - 1)];
    if (lost !== undefined) this.#table.lose([lost]);
  }
}
