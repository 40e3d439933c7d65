/**
 * An exclusive lock that expires, stored in a table row and protected by its ETag. It replaces the blob lease with which Azure runs a timer
 * on only one instance (platform.md section 3, "Timer semantics"). Its times are simulated: all hosts share the clock.
 */
import type { TableClient } from "@azure/data-tables";
import type { Clock } from "../scaled-clock.ts";
import { statusOf } from "./storage.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type Lease = {
  /** Aborts when the lease is lost: another owner took it, or it could not be renewed before it expired. */
  readonly lost: AbortSignal;
  /** Stops renewing and frees the lease, so that another instance need not wait until it expires. Never throws. */
  release(): Promise<void>;
};

type LeaseOptions = {
  readonly table: TableClient;
  readonly name: string;
  readonly owner: string;
  readonly clock: Clock;
  /** The time until it expires without a renewal, in simulated milliseconds. It is renewed after each third of it. */
  readonly durationMs: Milliseconds;
};

type Row = { readonly owner: string; readonly until: string };

const partitionKey = "lease";

/** Takes the lease if it is free or has expired. Undefined if another owner holds it. Throws if storage fails. */
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
        // Storage did not answer. The lease is still held until it expires.
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
      // If this fails, the lease expires.
      await replaceRow(table, free, etag).catch(() => undefined);
    },
  };
}

function heldRow({ name, owner, clock, durationMs }: LeaseOptions) {
  return { partitionKey, rowKey: name, owner, until: new Date(clock.now() + durationMs).toISOString() };
}

/** The row's new ETag. Undefined if the row was changed since. */
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
