import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import type { RecordStore } from "../../src/app/ports/record-store.ts";
import type { ClusterName } from "../../src/domain/ids.ts";
import { clusterPartition, RECORD_KEY } from "../../src/adapters/tables/keys.ts";
import type { Row } from "../../src/adapters/tables/table.ts";
import { memoryTable } from "../support/memory-table.ts";
import type { Schedule } from "./schedule.ts";
import type { Lasting } from "./weather.ts";

const LATELY = 3;
/** All row keys are between these two. */
const ALL_KEYS = ["", "~"] as const;

type Failure = NonNullable<Lasting["storage"]>["how"];

/** The storage that all processes share: records in memory, or rows of a table that can be lost or set back. */
export class Storage {
  readonly #schedule: Schedule;
  readonly #partition: string;
  readonly #table: ReturnType<typeof memoryTable>;
  readonly #shared: RecordStore | undefined;
  /** Keys of bodies in the order in which they were written. */
  readonly #written: string[] = [];
  /** Packing takes real time. No step of the clock runs before it has ended. */
  readonly #underWay = new Set<Promise<unknown>>();
  #backup: ReadonlyMap<string, Row> | undefined;

  constructor(schedule: Schedule, cluster: ClusterName, inRows: boolean) {
    this.#schedule = schedule;
    this.#partition = clusterPartition(cluster);
    const table = memoryTable({ sleep: () => Promise.resolve() });
    const put: typeof table.put = (partition, key, values) => {
      this.#written.push(key);
      return table.put(partition, key, values);
    };
    this.#table = { ...table, put };
    this.#shared = inRows ? undefined : memoryRecordStore();
  }

  /** Opens the store of one process. */
  open(): RecordStore {
    if (this.#shared !== undefined) return this.#shared;
    const store: RecordStore = tableRecordStore(this.#table, this.#schedule);
    return {
      load: (cluster) => this.#watch(store.load(cluster)),
      finished: (loaded, sets) => this.#watch(store.finished(loaded, sets)),
      missing: (loaded) => this.#watch(store.missing(loaded)),
      bodies: (loaded, aside) => this.#watch(store.bodies(loaded, aside)),
      stage: (record, changes, previous) => this.#watch(store.stage(record, changes, previous)),
      save: (record, changes, previous, how) => this.#watch(store.save(record, changes, previous, how)),
      collect: (cluster, now, how) => this.#watch(store.collect(cluster, now, how)),
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
    void this.#watch(this.#rows().then((rows) => (this.#backup = rows)));
  }

  fail(how: Failure): void {
    void this.#watch(this.#fail(how));
  }

  async #fail(how: Failure): Promise<void> {
    if (how === "record-lost") return this.#table.remove(this.#partition, RECORD_KEY);
    const rows = await this.#rows();
    if (how === "body-lost") {
      // Bodies that were written last are probably named by the record.
      const bodies = this.#written.filter((key) => rows.has(key)).slice(-LATELY);
      const lost = bodies[this.#schedule.dice.whole(0, bodies.length - 1)];
      return lost === undefined ? undefined : this.#table.remove(this.#partition, lost);
    }
    if (this.#backup === undefined) return;
    for (const key of rows.keys()) await this.#table.remove(this.#partition, key);
    for (const [key, values] of this.#backup) await this.#table.put(this.#partition, key, values);
  }

  async #rows(): Promise<ReadonlyMap<string, Row>> {
    const rows = new Map<string, Row>();
    for (const key of this.#table.keys(this.#partition, ...ALL_KEYS)) {
      const row = await this.#table.read(this.#partition, key);
      if (row !== undefined) rows.set(key, row.values);
    }
    return rows;
  }
}
