import type { CredentialBreaker, TriggerLog, WakeSeen } from "../../app/ports/ports.ts";
import type { Instant } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import { goneBy, isNamed, lifeKey, namesOf } from "../../domain/node-life.ts";
import { compareText } from "../../domain/text.ts";
import type {
  History,
  HistoryRow,
  NodeHistory,
  PlanArchive,
  Documents,
} from "../../app/ports/record-store.ts";
import type { KeptPlan } from "../../domain/kept-plan.ts";
import type { ConfigVersion } from "../../domain/config-version.ts";
import { documentDigest, withHeld, withVersion } from "../../domain/config-version.ts";
import type { MemoryRecordStore } from "./record-store.ts";

/** The breaker of a single process. */
export function memoryCredentialBreaker(): CredentialBreaker {
  const refusals = new Map<string, Instant>();
  return {
    refusedAt: (credential) => Promise.resolve(refusals.get(credential)),
    async note(credential, at) {
      refusals.set(credential, at);
    },
    async clear(credential) {
      refusals.delete(credential);
    },
  };
}

/** When the triggers last ran, in memory. */
export function memoryTriggerLog(): TriggerLog {
  const wakes = new Map<ClusterName, WakeSeen>();
  let timer: Instant | undefined;
  return {
    async noteTimer(at) {
      timer = at;
    },
    async noteWake(cluster, wake) {
      wakes.set(cluster, wake);
    },
    timerAt: () => Promise.resolve(timer),
    lastWake: (cluster) => Promise.resolve(wakes.get(cluster)),
  };
}

/** History in memory. Appending in order of time is cheap; anything else sorts. */
export function memoryHistory(): History {
  const clusters = new Map<ClusterName, HistoryRow[]>();
  const rowsOf = (cluster: ClusterName): HistoryRow[] => {
    const rows = clusters.get(cluster) ?? [];
    clusters.set(cluster, rows);
    return rows;
  };
  return {
    async append(cluster, row) {
      const rows = rowsOf(cluster);
      const last = rows.at(-1);
      if (last === undefined || last.at < row.at) {
        rows.push(row);
        return;
      }
      const others = rows.filter(({ at }) => at !== row.at);
      clusters.set(
        cluster,
        [...others, row].toSorted((a, b) => a.at - b.at),
      );
    },
    async read(cluster, from, to, limit) {
      const inRange = rowsOf(cluster).filter(({ at }) => from <= at && at <= to);
      return inRange.toReversed().slice(0, limit);
    },
    async prune(cluster, before) {
      const rows = rowsOf(cluster);
      // Rows are in order of time, and usually none is old: a virtual run calls this at every tick.
      const kept = rows.findIndex(({ at }) => at >= before);
      return rows.splice(0, kept < 0 ? rows.length : kept).length;
    },
  };
}

/** Nodes that have gone, in memory. */
export function memoryNodeHistory(): NodeHistory {
  const clusters = new Map<ClusterName, ReadonlyMap<string, NodeLife>>();
  const livesOf = (cluster: ClusterName) => clusters.get(cluster) ?? new Map<string, NodeLife>();
  return {
    async keep(cluster, gone) {
      const all = new Map([...livesOf(cluster), ...gone.map((life) => [lifeKey(life), life] as const)]);
      clusters.set(cluster, new Map([...all].toSorted(([a], [b]) => compareText(a, b))));
    },
    async read(cluster, { after = "", from, limit }) {
      const end = goneBy(instant(from - 1));
      const found = [...livesOf(cluster)].filter(([key]) => key > after && key < end);
      return found.slice(0, limit).map(([, life]) => life);
    },
    async find(cluster, name) {
      const all = [...livesOf(cluster).values()];
      return all.find(({ nodeId }) => nodeId === name) ?? all.find((life) => isNamed(namesOf(life), name));
    },
    async prune(cluster, before, most = Number.POSITIVE_INFINITY) {
      const all = [...livesOf(cluster)];
      const kept = all.filter(([key], place) => place < most && key < goneBy(instant(before - 1)));
      clusters.set(cluster, new Map(kept));
      return all.length - kept.length;
    },
  };
}

/** History that keeps nothing, for runs of months that nobody looks into. */
export function forgetfulHistory(): { readonly history: History; readonly nodeHistory: NodeHistory } {
  const nothing = { read: () => Promise.resolve([]), prune: () => Promise.resolve(0) };
  return {
    history: { ...nothing, append: () => Promise.resolve() },
    nodeHistory: { ...nothing, keep: () => Promise.resolve(), find: () => Promise.resolve(undefined) },
  };
}

/** Plans in memory. */
export function memoryPlanArchive(): PlanArchive {
  const clusters = new Map<ClusterName, Map<number, KeptPlan>>();
  const plansOf = (cluster: ClusterName): Map<number, KeptPlan> => {
    const plans = clusters.get(cluster) ?? new Map<number, KeptPlan>();
    clusters.set(cluster, plans);
    return plans;
  };
  return {
    async keep(cluster, kept) {
      plansOf(cluster).set(kept.plan.number, kept);
    },
    read: async (cluster, number) => plansOf(cluster).get(number),
    async list(cluster, from, to, limit) {
      return [...plansOf(cluster).values()]
        .map(({ plan, counts }) => ({ number: plan.number, at: plan.at, counts }))
        .filter(({ number }) => from <= number && number <= to)
        .toSorted((a, b) => a.number - b.number)
        .slice(0, limit);
    },
    async prune(cluster, before) {
      const plans = plansOf(cluster);
      let pruned = 0;
      for (const { plan } of plans.values()) {
        if (plan.at >= before) continue;
        plans.delete(plan.number);
        pruned += 1;
      }
      return pruned;
    },
  };
}

/** Configuration documents in memory, compare-and-set like the stored ones. `records`: whose records name them. */
export function memoryDocuments(records?: Pick<MemoryRecordStore, "nameConfiguration">): Documents {
  const documents = new Map<ClusterName, { readonly text: string; readonly etag: string }>();
  const history = new Map<ClusterName, readonly ConfigVersion[]>();
  let writes = 0;
  return {
    read: (cluster) => Promise.resolve(documents.get(cluster)),
    versions: (cluster) =>
      Promise.resolve(withHeld(history.get(cluster) ?? [], documents.get(cluster)?.text)),
    async write(cluster, text, etag, change = {}) {
      const held = documents.get(cluster);
      if (held?.etag !== etag) return "conflict";
      history.set(cluster, withVersion(history.get(cluster) ?? [], held?.text, text, change));
      documents.set(cluster, { text, etag: String(++writes) });
      records?.nameConfiguration(cluster, documentDigest(text));
      return "saved";
    },
  };
}
