import { BODY_KEYS, clusterPartition } from "../../../src/adapters/tables/keys.ts";
import { tableRecordStore } from "../../../src/adapters/tables/record-store.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { drainMicrotasks, VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { memoryTable } from "../../support/memory-table.ts";
import { emptyRecord, SAMPLE_TIME } from "../../support/sample-record.ts";

/** A virtual clock that knows how many sleep. */
export class CountingClock extends VirtualClock {
  #asleep = 0;

  asleep(): number {
    return this.#asleep;
  }

  override async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    this.#asleep += 1;
    await super.sleep(milliseconds, signal);
    this.#asleep -= 1;
  }
}

/**
 * Moves the clock from sleeper to sleeper until the work has ended, but only while at least this many sleep. Work that does not sleep packs
 * or unpacks, which takes no time of this clock.
 */
export async function runUntil<T>(clock: CountingClock, work: Promise<T>, sleepers = 1): Promise<T> {
  let ended = false;
  const end = () => (ended = true);
  work.then(end, end);
  for (;;) {
    await drainMicrotasks();
    if (ended) return work;
    const at = clock.nextWakeAt();
    if (at !== undefined && clock.asleep() >= sleepers) clock.moveTo(at);
  }
}

export interface Steady {
  readonly rowsAnHour: number;
  readonly hours: number;
  /** A new process, which remembers nothing, ticks from each such minute on; absent: one process all the time. */
  readonly restartMinutes?: number;
  /** The share of transactions that a save of another process comes before; absent: none. */
  readonly lost?: number;
}

/**
 * Writes body rows that no record names at a steady rate. A tick each minute collects them as the timer does. Returns the most rows at the
 * end of any minute of the second half, and those at the end.
 */
export async function steadyGarbage({ rowsAnHour, hours, restartMinutes, lost = 0 }: Steady): Promise<{
  readonly most: number;
  readonly last: number;
}> {
  const demo = clusterName("demo");
  const partition = clusterPartition(demo);
  const clock = new VirtualClock(SAMPLE_TIME);
  const plain = memoryTable(clock);
  const other = tableRecordStore(plain, clock);
  const next = dice(1);
  const table: MemoryTable = {
    ...plain,
    async removeTogether(...call) {
      const loaded = next() < lost ? await other.load(demo) : undefined;
      if (loaded !== undefined) await other.save(loaded.record, {}, loaded);
      return plain.removeTogether(...call);
    },
  };
  let store = tableRecordStore(table, clock);
  await store.save(emptyRecord(demo), {}, undefined);
  const ids = idsOfBodies();
  let rows = 0;
  let most = 0;
  for (let minute = 1; minute <= hours * 60; minute += 1) {
    clock.moveTo(SAMPLE_TIME + minute * 60_000);
    const writtenAt = BigInt(clock.now());
    for (let number = 0; number < rowsAnHour / 60; number += 1)
      void table.put(partition, `b-${ids()}-0`, { writtenAt });
    rows += rowsAnHour / 60;
    if (restartMinutes !== undefined && minute % restartMinutes === 0) store = tableRecordStore(table, clock);
    rows -= await store.collect(demo, clock.now(), minute % 10 === 0 ? "begin" : "go-on");
    if (minute > hours * 30) most = Math.max(most, rows);
  }
  return { most, last: table.keys(partition, BODY_KEYS.from, BODY_KEYS.to).length };
}

/** A fixed sequence of numbers in [0, 1), the same in every run. */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Names that are spread as digests are, the same in every run. */
function idsOfBodies(): () => string {
  let count = 0;
  const hex = (value: number) => (value >>> 0).toString(16).padStart(8, "0");
  return () => {
    count += 1;
    return hex(Math.imul(count, 0x9e3779b1)) + hex(count).repeat(7);
  };
}
