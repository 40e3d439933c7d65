/**
 * An exclusive, expiring lock on one table row, guarded by its ETag. It stands for the blob lease by which Azure runs a timer on one
 * instance only (platform.md section 3, "Timer semantics"). Its times are simulated: all hosts share the clock.
 */
import type { TableClient } from "@azure/data-tables";
import type { Clock } from "../scaled-clock.ts";
import { statusOf } from "./storage-error.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type Lease = {
  /** Aborts when the lease was lost: another owner took it, or it could not be renewed before it ran out. */
  readonly lost: AbortSignal;
  /** Stops renewing and gives it up, so that another instance need not wait for it to run out. Never throws. */
  release(): Promise<void>;
};

export type LeaseOptions = {
  readonly table: TableClient;
  readonly name: string;
  readonly owner: string;
  readonly clock: Clock;
  /** How long it holds without renewal, in simulated milliseconds. It is renewed at every third. */
  readonly durationMs: Milliseconds;
};

type Row = { readonly owner: string; readonly until: string };

const partitionKey = "lease";

/** Takes the lease if it is free or has run out; `undefined` if another owner holds it. Throws if storage fails. */
export async function acquireLease(options: LeaseOptions): Promise<Lease | undefined> {
  const etag = await takeRow(options);
  return etag === undefined ? undefined : holdLease(options, etag);
}

async function takeRow(options: LeaseOptions): Promise<string | undefined> {
  const { table, name, clock } = options;
  try {
    return (await table.createEntity(heldRow(options))).etag;
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
  }
  const row = await table.getEntity<Row>(partitionKey, name);
  if (row.owner !== "" && Date.parse(row.until) > clock.now()) return undefined;
  return replaceRow(table, heldRow(options), row.etag);
}

function holdLease(options: LeaseOptions, firstEtag: string | undefined): Lease {
  const { table, name, clock, durationMs } = options;
  const released = new AbortController();
  const lost = new AbortController();
  const renewals = (async () => {
    let etag = firstEtag;
    let until = clock.now() + durationMs;
    for (;;) {
      await clock.sleep(durationMs / 3, released.signal);
      if (released.signal.aborted) return etag;
      const row = heldRow(options);
      try {
        etag = await replaceRow(table, row, etag);
        until = Date.parse(row.until);
      } catch {
        // Storage did not answer: the lease is still ours until it runs out.
        if (clock.now() < until) continue;
        etag = undefined;
      }
      if (etag !== undefined) continue;
      lost.abort();
      return undefined;
    }
  })();
  return {
    lost: lost.signal,
    async release() {
      released.abort();
      const etag = await renewals;
      if (etag === undefined) return;
      const free = { partitionKey, rowKey: name, owner: "", until: new Date(0).toISOString() };
      await replaceRow(table, free, etag).catch(() => undefined); // else it runs out by itself
    },
  };
}

function heldRow({ name, owner, clock, durationMs }: LeaseOptions) {
  return { partitionKey, rowKey: name, owner, until: new Date(clock.now() + durationMs).toISOString() };
}

/** The row's new ETag; `undefined` if it is no longer the one we knew. */
async function replaceRow(
  table: TableClient,
  row: { readonly partitionKey: string; readonly rowKey: string } & Row,
  etag: string | undefined,
): Promise<string | undefined> {
  if (etag === undefined) return undefined;
  try {
    return (await table.updateEntity(row, "Replace", { etag })).etag;
  } catch (error) {
    if (statusOf(error) === 412 || statusOf(error) === 404) return undefined;
    throw error;
  }
}
