import { accept, limitExpiry } from "../decide/accept.ts";
import type { Acceptance } from "../decide/accept.ts";
import type { RequestSetUpdate, Revision, SchedulerNode, SetDemand } from "../domain/demand.ts";
import type { ClusterName, Digest } from "../domain/ids.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import type { App, Change, Current } from "./commit.ts";
import { commitRecord } from "./commit.ts";
import type { LoadedRecord } from "./ports.ts";
import type { NewerState } from "./newer-state.ts";
import { unlessNewerState } from "./newer-state.ts";

/** What the sender is told: `accepted` means that the demand is durable, not that capacity exists. */
export type Recorded =
  | ({
      readonly kind: "accepted";
      readonly record: ClusterRecord;
      /** As it is stored: valid no longer than the cluster's configuration allows. */
      readonly update: RequestSetUpdate;
      /** The record that it changed; absent: there was none. */
      readonly before?: LoadedRecord;
    } & Pick<Extract<Acceptance, { kind: "accepted" }>, "changed" | "taken" | "older">)
  | { readonly kind: "older"; readonly held: Revision }
  | { readonly kind: "stale"; readonly expiredAt: Instant }
  /** The record was fought over too long: deliver again. */
  | { readonly kind: "contended" }
  /** A newer release has written the record: to be put back until an instance of that release takes it. */
  | NewerState;

/** Records demand; messages that wait for the same cluster share one load and one save. */
export interface DemandRecorder {
  record(update: RequestSetUpdate): Promise<Recorded>;
}

interface Waiting {
  readonly update: RequestSetUpdate;
  readonly answer: PromiseWithResolvers<Recorded>;
}

export function createRecorder(app: App): DemandRecorder {
  const waiting = new Map<ClusterName, Waiting[]>();
  return {
    async record(sent) {
      const { maxExpirationSeconds } = await app.ports.policyOf(sent.cluster);
      const update = limitExpiry(sent, maxExpirationSeconds);
      const answer = Promise.withResolvers<Recorded>();
      const line = waiting.get(update.cluster);
      if (line !== undefined) {
        line.push({ update, answer });
      } else {
        waiting.set(update.cluster, [{ update, answer }]);
        void serve(app, update.cluster, waiting);
      }
      return unlessNewerState(() => answer.promise);
    },
  };
}

async function serve(app: App, cluster: ClusterName, waiting: Map<ClusterName, Waiting[]>): Promise<void> {
  let batch: readonly Waiting[] = [];
  try {
    const committed = await commitRecord(app, cluster, (current) => {
      // Taken when the lane is ours, so that whoever came meanwhile is served too; again, with more, after a conflict.
      batch = [...batch, ...(waiting.get(cluster) ?? [])];
      waiting.delete(cluster);
      return acceptAll(
        current,
        batch.map(({ update }) => update),
        app.ports.clock.now(),
      );
    });
    batch.forEach(({ answer, update }, index) => answer.resolve(recordedOf(committed, index, update)));
  } catch (error) {
    const left = [...batch, ...(batch.length === 0 ? (waiting.get(cluster) ?? []) : [])];
    if (batch.length === 0) waiting.delete(cluster);
    for (const { answer } of left) answer.reject(error);
  }
}

function recordedOf(
  committed: Awaited<ReturnType<typeof commitRecord<Accepted>>>,
  index: number,
  update: RequestSetUpdate,
): Recorded {
  if (committed.kind === "contended") return committed;
  const { acceptances, before } = committed.result;
  const acceptance = acceptances[index];
  if (acceptance === undefined) return { kind: "contended" };
  if (acceptance.kind !== "accepted") return acceptance;
  const { changed, taken, older } = acceptance;
  const accepted = { kind: "accepted" as const, record: committed.record, update, changed, taken, older };
  return before === undefined ? accepted : { ...accepted, before };
}

interface Accepted {
  readonly acceptances: readonly Acceptance[];
  readonly before: LoadedRecord | undefined;
}

function acceptAll(current: Current, updates: readonly RequestSetUpdate[], now: Instant): Change<Accepted> {
  const demands = new Map<Digest, SetDemand>();
  const reports = new Map<Digest, readonly SchedulerNode[]>();
  let record = current.record;
  const acceptances = updates.map((update) => {
    const acceptance = accept(record, update, now);
    if (acceptance.kind === "accepted") {
      record = acceptance.record;
      for (const [digest, body] of acceptance.demands) demands.set(digest, body);
      for (const [digest, body] of acceptance.reports) reports.set(digest, body);
    }
    return acceptance;
  });
  const result = { acceptances, before: current.stored };
  return record === current.record ? { result } : { save: { record, changes: { demands, reports } }, result };
}
