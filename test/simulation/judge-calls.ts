import type { TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { RecordStore } from "../../src/app/ports/record-store.ts";
import type { Judge } from "./judge.ts";
import { readCreate, readRequestId } from "./read-wire.ts";
import { endpointOf } from "./trip.ts";

/*
 * What the judge learns from the calls of the processes.
 */

/** The store, whose saves the judge hears of. */
export function judgedStore(store: RecordStore, judge: Judge): RecordStore {
  return {
    ...store,
    save: async (record, changes, previous) => {
      const saved = await store.save(record, changes, previous);
      if (saved.kind === "saved") judge.saved(record, changes);
      return saved;
    },
  };
}

/** A process has sent this request to CycleCloud. `readAt`: when it last read the record. */
export function judgeRequest(request: TransportRequest, readAt: number, judge: Judge): void {
  const endpoint = endpointOf(request);
  if (endpoint === "status") judge.pace.statusSent();
  if (endpoint === "terminate") judge.stopSent(readRequestId(request.body), readAt);
  if (endpoint !== "create") return;
  const create = readCreate(request.body);
  if (create !== undefined) judge.createSent(create.requestId, create.arrays);
}
