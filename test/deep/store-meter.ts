import type { Table } from "../../src/adapters/tables/table.ts";
import type { RecordStore } from "../../src/app/ports/record-store.ts";

/** What a piece of work asked of the storage service, and what that cost. */
export interface Cost {
  /** Calls of the table service. */
  readonly operations: number;
  readonly kibibytes: number;
  /** While a call of the record store was under way: time, and processor time of this process. */
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
}

const NOTHING = { operations: 0, bytes: 0, milliseconds: 0, cpuMilliseconds: 0 };

/** Counts what goes through a table, and times what a record store makes of it. One call at a time. */
export class StoreMeter {
  #sum = { ...NOTHING };

  async costOf(work: () => Promise<unknown>): Promise<Cost> {
    this.#sum = { ...NOTHING };
    await work();
    const { operations, bytes, milliseconds, cpuMilliseconds } = this.#sum;
    return {
      operations,
      kibibytes: Math.round(bytes / 1024),
      milliseconds: Math.round(milliseconds),
      cpuMilliseconds: Math.round(cpuMilliseconds),
    };
  }

  counted(table: Table): Table {
    const count = (values: unknown): void => {
      this.#sum.operations += 1;
      this.#sum.bytes += sizeOf(values);
    };
    return {
      ...table,
      async read(partition, key, select) {
        const row = await table.read(partition, key, select);
        count(row?.values);
        return row;
      },
      insert(partition, key, values) {
        count(values);
        return table.insert(partition, key, values);
      },
      replace(partition, key, values, etag) {
        count(values);
        return table.replace(partition, key, values, etag);
      },
      put(partition, key, values) {
        count(values);
        return table.put(partition, key, values);
      },
    };
  }

  timed(store: RecordStore): RecordStore {
    const timed = async <T>(call: () => Promise<T>): Promise<T> => {
      const begun = performance.now();
      const before = process.cpuUsage();
      try {
        return await call();
      } finally {
        const { user, system } = process.cpuUsage(before);
        this.#sum.milliseconds += performance.now() - begun;
        this.#sum.cpuMilliseconds += (user + system) / 1000;
      }
    };
    return {
      ...store,
      load: (cluster) => timed(() => store.load(cluster)),
      bodies: (loaded, aside) => timed(() => store.bodies(loaded, aside)),
      save: (record, changes, previous) => timed(() => store.save(record, changes, previous)),
    };
  }
}

/** Bytes of a row's binary properties. */
function sizeOf(values: unknown): number {
  if (typeof values !== "object" || values === null) return 0;
  return Object.values(values).reduce(
    (sum: number, value) => sum + (value instanceof Uint8Array ? value.length : 0),
    0,
  );
}
