import { smallestHeap } from "../../decide/record/processes.ts";
import { budgetOf, SMALL_TEXT } from "../../domain/memory-budget.ts";
import { accept } from "../../decide/record/accept.ts";
import { keepOthers } from "../../decide/record/keep-others.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { HeldSizes } from "../../decide/record/cluster-bounds.ts";
import { holds, recallSets } from "../../decide/record/finished-sets.ts";
import type { Acceptance } from "../../decide/record/accept.ts";
import { refuseUpdate } from "../../decide/senders/refuse-update.ts";
import type { Problem, RequestSetUpdate, Revision, SchedulerNode, SetDemand } from "../../domain/demand.ts";
import type { FinishedSet, ClusterRecord } from "../../domain/record.ts";
import type { ClusterName, Digest, SetName } from "../../domain/ids.ts";
import type { Held } from "../../domain/request-sets.ts";
import { heldAlone, setNamesOf, withHeld } from "../../domain/request-sets.ts";
import { NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { minusSeconds } from "../../domain/units.ts";
import type { Change, Committed } from "../record/commit.ts";
import { commitLoaded } from "../record/commit.ts";
import { loadCurrent, unlessOtherState } from "../record/load-record.ts";
import type { LoadedRecord, RecordStore } from "../ports/record-store.ts";
import { PortError } from "../ports/port-error.ts";
import type { OtherState, Current } from "../record/load-record.ts";
import type { App } from "../process/lanes.ts";
import { limitExpiry } from "../../decide/record/lapse.ts";

/** The answer to the sender. `accepted` means that the demand is durable, not that capacity exists. */
export type Recorded =
  | ({
      readonly kind: "accepted";
      readonly record: ClusterRecord;
      /** As stored: valid no longer than the cluster's configuration allows. */
      readonly update: RequestSetUpdate;
      /** The previous record. Absent: there was none. */
      readonly before?: LoadedRecord;
    } & Pick<Extract<Acceptance, { kind: "accepted" }>, "changed" | "taken" | "older">)
  | { readonly kind: "older"; readonly held: Revision }
  | Extract<Acceptance, { kind: "stale" | "too-much" }>
  /** The configuration forbids this to its sender: the whole message is refused. */
  | { readonly kind: "refused"; readonly problems: readonly Problem[] }
  /** Too many conflicts on the record: deliver again. */
  | { readonly kind: "contended" }
  /** Another release wrote the record. Put the message back until an instance of that release takes it. */
  | OtherState;

/** Demand that is durable. */
export type RecordedDemand = Extract<Recorded, { kind: "accepted" }>;

/** Records demand; messages that wait for the same cluster share one load and one save. */
export interface DemandRecorder {
  record(update: RequestSetUpdate): Promise<Recorded>;
}

interface Waiting {
  readonly update: RequestSetUpdate;
  /** How long finished sets are remembered. */
  readonly keepSeconds: Seconds;
  readonly senders: SenderRules;
  readonly answer: PromiseWithResolvers<Recorded>;
}

/**
 * `senderTime` converts a moment of ours to the senders' clocks; revisions are moments of theirs (docs/decisions.md, "In the demo,
 * revisions are moments of the senders' clocks").
 */
export function createRecorder(app: App, senderTime: (at: Instant) => Instant = (at) => at): DemandRecorder {
  const waiting = new Map<ClusterName, Waiting[]>();
  return {
    async record(sent) {
      const { maxExpirationSeconds, senders = NO_SENDER_RULES } = await app.ports.policyOf(sent.cluster);
      const problems = refuseUpdate(sent, senders);
      if (problems.length > 0) return { kind: "refused", problems };
      // On one machine our clock may run thirty times as fast as the senders'.
      const speed = (app.ports.clock.speed ?? 1) === 1 ? {} : { untimed: true as const };
      const update = readEarlier({ ...limitExpiry(sent, maxExpirationSeconds), ...speed });
      const answer = Promise.withResolvers<Recorded>();
      const one = { update, answer, keepSeconds: maxExpirationSeconds, senders };
      return unlessOtherState(async () => {
        if ("bytes" in sent && sent.bytes > SMALL_TEXT) await writeAhead(app, one, senderTime);
        const line = waiting.get(update.cluster);
        if (line !== undefined) {
          line.push(one);
        } else {
          waiting.set(update.cluster, [one]);
          void serve(app, update.cluster, waiting, senderTime);
        }
        return answer.promise;
      });
    },
  };
}

/** The update as of the moment at which its sender began to read its scheduler, if that was before it was sent. */
function readEarlier(update: RequestSetUpdate): RequestSetUpdate {
  const { readAt, sentAt, untimed } = update;
  return readAt === undefined || readAt >= sentAt || untimed === true
    ? update
    : { ...update, sentAt: readAt };
}

/**
 * Writes the body of a large demand before the cluster's turn, in which others would wait for it (docs/protocol.md, Record and commits). The
 * turn may find another record, or refuse the message: then the body is garbage.
 */
async function writeAhead(app: App, one: Waiting, senderTime: (at: Instant) => Instant): Promise<void> {
  const current = await withFinished(app, await loadCurrent(app, one.update.cluster), [one]);
  const { save } = acceptAll(app, current, [one], senderTime);
  if (save !== undefined) await app.ports.store.stage(save.record, save.changes, current.stored);
}

/**
 * Accepts all messages that wait for the cluster, with one load and one save, and resolves their answers. Rejects them with the PortError of
 * the store.
 */
async function serve(
  app: App,
  cluster: ClusterName,
  waiting: Map<ClusterName, Waiting[]>,
  senderTime: (at: Instant) => Instant,
): Promise<void> {
  let batch: readonly Waiting[] = [];
  const load = async (): Promise<WithFinished> => {
    const current = await loadCurrent(app, cluster);
    // Taken when the lane is ours, so that messages that arrived meanwhile are served too. After a conflict again, with more.
    batch = [...batch, ...(waiting.get(cluster) ?? [])];
    waiting.delete(cluster);
    return withFinished(app, current, batch);
  };
  try {
    const committed = await commitLoaded(app, cluster, load, (current) =>
      acceptAll(app, current, batch, senderTime),
    );
    batch.forEach(({ answer, update }, index) => answer.resolve(recordedOf(committed, index, update)));
  } catch (error) {
    const left = [...batch, ...(batch.length === 0 ? (waiting.get(cluster) ?? []) : [])];
    if (batch.length === 0) waiting.delete(cluster);
    if (error instanceof PortError || left.length === 1) for (const { answer } of left) answer.reject(error);
    else await serveEach(app, cluster, left, senderTime);
  }
}

/** One of them made the batch fail. The others must not fail with it. */
async function serveEach(
  app: App,
  cluster: ClusterName,
  batch: readonly Waiting[],
  senderTime: (at: Instant) => Instant,
): Promise<void> {
  for (const one of batch) {
    await serve(app, cluster, new Map([[cluster, [one]]]), senderTime);
  }
}

function recordedOf(committed: Committed<Accepted>, index: number, update: RequestSetUpdate): Recorded {
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

/** The record, and the remembered parts of those sets of a batch that it does not contain. */
interface WithFinished extends Current {
  readonly finished: ReadonlyMap<SetName, FinishedSet>;
  /** The demand of the sets of which a message leaves a part as it is. */
  readonly bodies: Bodies["demands"];
}

async function withFinished(app: App, current: Current, batch: readonly Waiting[]): Promise<WithFinished> {
  const [finished, bodies] = [readFinished(app, current, batch), readStaying(app, current, batch)];
  return { ...current, finished: await finished, bodies: await bodies };
}

/** What is known of the cluster and of these sets alone: the demand of all sets may be large. Undefined if the record has changed meanwhile. */
export function readBodiesOf(
  store: RecordStore,
  stored: LoadedRecord,
  sets: ReadonlySet<SetName>,
): Promise<Bodies | undefined> {
  const others = setNamesOf(stored.record).filter((name) => !sets.has(name));
  return store.bodies(stored, new Map(others.map((name) => [name, "memory" as const])));
}

/** Nothing if the record has changed meanwhile: then the save meets a conflict, and all is loaded again. */
async function readStaying(
  { ports }: App,
  { stored }: Current,
  batch: readonly Waiting[],
): Promise<Bodies["demands"]> {
  const sets = new Set(batch.flatMap(({ update }) => (update.others === "stay" ? [update.set] : [])));
  if (stored === undefined || sets.size === 0) return new Map();
  return (await readBodiesOf(ports.store, stored, sets))?.demands ?? new Map();
}

/** Reads nothing for sets that the record contains: finished sets do not make a renewal slower. */
async function readFinished(
  app: App,
  { record, stored }: Current,
  batch: readonly Waiting[],
): Promise<WithFinished["finished"]> {
  const names = new Set(batch.map(({ update }) => update.set).filter((name) => !holds(record, name)));
  return stored === undefined || names.size === 0 ? new Map() : app.ports.store.finished(stored, [...names]);
}

function acceptAll(
  { ports, lanes }: App,
  current: WithFinished,
  batch: readonly Waiting[],
  senderTime: (at: Instant) => Instant,
): Change<Accepted> {
  const demands = new Map<Digest, SetDemand>();
  const reports = new Map<Digest, readonly SchedulerNode[]>();
  const held = current.record;
  const changed = new Map<SetName, Held>();
  let record = held;
  const now = ports.clock.now();
  const memory = budgetOf(smallestHeap(record, lanes.heap, now)).demand;
  let counted: { readonly rules: SenderRules; readonly sizes: HeldSizes } | undefined;
  const acceptances = batch.map(({ update, keepSeconds, senders }) => {
    // The rules may have changed while they waited.
    if (counted?.rules !== senders)
      counted = { rules: senders, sizes: new HeldSizes(now, senders, () => withHeld(held, changed)) };
    const { set } = update;
    const alone = { ...record, ...(changed.get(set) ?? heldAlone(held, set)) };
    const recalled = recallSets(alone, current.finished, [set]);
    const oldest = senderTime(minusSeconds(now, keepSeconds));
    const whole = keepOthers(update, recalled, new Map([...current.bodies, ...demands]), now);
    const acceptance = accept(recalled, whole, now, { oldest, senders, memory, sizes: counted.sizes });
    if (acceptance.kind === "accepted" && acceptance.record !== recalled) {
      ({ record } = acceptance);
      changed.set(set, heldAlone(record, set));
      for (const [digest, body] of acceptance.demands) demands.set(digest, body);
      for (const [digest, body] of acceptance.reports) reports.set(digest, body);
    }
    return acceptance;
  });
  const result = { acceptances, before: current.stored };
  if (changed.size === 0) return { result };
  return {
    save: { record: { ...record, ...withHeld(held, changed) }, changes: { demands, reports } },
    result,
  };
}
