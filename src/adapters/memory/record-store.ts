import type { BodyChanges, LoadedRecord, RecordStore, RecordVersion } from "../../app/ports/record-store.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { Aside } from "../../domain/request-sets.ts";
import type { SchedulerNode, SetDemand } from "../../domain/demand.ts";
import type { FinishedSet, ClusterRecord } from "../../domain/record.ts";
import type { ClusterName, Digest, SetName } from "../../domain/ids.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { entriesOf, holdSame, entriesRead, NONE_ASIDE } from "../../domain/request-sets.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A version of a record in memory: its number, and its bodies as they were. */
interface MemoryVersion extends RecordVersion {
  readonly bodies: Bodies;
  readonly finished: ReadonlyMap<SetName, FinishedSet>;
}

type Loaded = LoadedRecord<MemoryVersion>;

/** A store that also lets a change of the configuration into the version of a record. */
export interface MemoryRecordStore extends RecordStore<MemoryVersion> {
  /** Names the configuration in force in a cluster's record, if there is one, whatever its version is. */
  nameConfiguration(cluster: ClusterName, configuration: Digest): void;
}

/** Records in memory, for virtual runs and tests. Objects are passed without copying, serialising or digesting. */
export function memoryRecordStore(): MemoryRecordStore {
  const records = new Map<ClusterName, Loaded>();
  let saves = 0;
  return {
    load: (cluster) => Promise.resolve(records.get(cluster)),
    async finished({ version }, sets) {
      const known = sets.flatMap((name) => {
        const finished = version.finished.get(name);
        return finished === undefined ? [] : [[name, finished] as const];
      });
      return new Map(known);
    },
    bodies: ({ record, version }, aside = NONE_ASIDE) =>
      Promise.resolve(without(record, version.bodies, aside)),
    // Nothing is ever lost here, and nothing takes time.
    missing: () => Promise.resolve(undefined),
    stage: () => Promise.resolve(),
    async save(record, changes, previous) {
      if (records.get(record.cluster)?.version.etag !== previous?.version.etag) return { kind: "conflict" };
      const bodies = nextBodies(record, changes, previous);
      const finished = nextFinished(previous?.version.finished, changes.finished);
      const configuration = changes.configuration ?? previous?.version.configuration;
      const named = configuration === undefined ? {} : { configuration };
      const loaded: Loaded = { record, version: { etag: String(++saves), bodies, finished, ...named } };
      records.set(record.cluster, loaded);
      return { kind: "saved", loaded };
    },
    // Bodies that no record names are dropped at once.
    collect: () => Promise.resolve(0),
    nameConfiguration(cluster, configuration) {
      const held = records.get(cluster);
      if (held === undefined) return;
      const version = { ...held.version, etag: String(++saves), configuration };
      records.set(cluster, { ...held, version });
    },
  };
}

function without(record: ClusterRecord, bodies: Bodies, aside: Aside): Bodies {
  if (aside.size === 0) return bodies;
  const read = entriesRead(record, aside);
  const demands = new Set(read.map(({ digest }) => digest));
  const reports = new Set(read.map(({ report }) => report));
  return {
    ...bodies,
    aside,
    demands: new Map([...bodies.demands].filter(([digest]) => demands.has(digest))),
    reports: new Map([...bodies.reports].filter(([digest]) => reports.has(digest))),
  };
}

function nextFinished(
  was: MemoryVersion["finished"] = new Map(),
  change: BodyChanges["finished"],
): MemoryVersion["finished"] {
  if (change === undefined) return was;
  return new Map([...[...was].filter(([, set]) => change.isKept(set)), ...change.sets]);
}

function nextBodies(record: ClusterRecord, changes: BodyChanges, previous: Loaded | undefined): Bodies {
  const was: Bodies = previous?.version.bodies ?? {
    demands: new Map(),
    reports: new Map(),
    ledger: new Map(),
  };
  const { forget } = changes;
  const seen = changes.seen ?? (forget?.seen === true ? undefined : was.seen);
  const plan = changes.plan ?? (forget?.plan === true ? undefined : was.plan);
  const virtual = changes.virtual ?? was.virtual;
  const questions = changes.questions ?? (forget?.questions === true ? undefined : was.questions);
  return {
    ...(previous !== undefined && holdSame(record, previous.record)
      ? setBodies(was)
      : namedBodies(record, changes, was)),
    ledger: changes.ledger ?? (forget?.ledger === true ? new Map() : was.ledger),
    ...withoutAbsent({ questions, seen, plan, virtual }),
  };
}

type SetBodies = Pick<Bodies, "demands" | "reports">;

const setBodies = ({ demands, reports }: Bodies): SetBodies => ({ demands, reports });

/** The bodies that the record's live sets name: new ones from the changes, others from the previous record. */
function namedBodies(record: ClusterRecord, changes: BodyChanges, was: Bodies): SetBodies {
  const demands = new Map<Digest, SetDemand>();
  const reports = new Map<Digest, readonly SchedulerNode[]>();
  for (const entry of entriesOf(record)) {
    if (!entry.live) continue;
    const { digest, report } = entry;
    demands.set(digest, pick(digest, was.demands, changes.demands) ?? missing(record.cluster, digest));
    if (report === undefined) continue;
    reports.set(report, pick(report, was.reports, changes.reports) ?? missing(record.cluster, report));
  }
  return { demands, reports };
}

function pick<T>(
  digest: Digest,
  was: ReadonlyMap<Digest, T>,
  changed: ReadonlyMap<Digest, T> | undefined,
): T | undefined {
  return was.get(digest) ?? changed?.get(digest);
}

function missing(cluster: string, digest: string): never {
  throw new PortError(
    "unexpected",
    `save record of ${cluster}`,
    `no body was given for ${digest} that a set names`,
  );
}
