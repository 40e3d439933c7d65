import type { Snapshot } from "../../src/domain/cluster.ts";
import type {
  Demand,
  JobDemand,
  PartialUpdate,
  SchedulerNode,
  SetDemand,
  TargetDemand,
  WholeUpdate,
} from "../../src/domain/demand.ts";
import type { Digest } from "../../src/domain/ids.ts";
import { digest, epoch, owner, requestId, setName } from "../../src/domain/ids.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { CreateEffect, Intent } from "../../src/domain/intent.ts";
import type { Ledger } from "../../src/domain/ledger.ts";
import { DEFAULT_CALL_BOUNDS } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SetEntry } from "../../src/domain/request-sets.ts";
import type { Instant } from "../../src/domain/units.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { at, D4, EXECUTE, NOW, PROD } from "./build-node.ts";
import { needing } from "./build-constraints.ts";

export const BUCKET: BucketKey = { array: EXECUTE, machineType: D4 };
export const OURS = owner("ours");

/** A target: the array "execute" shall have this many nodes. */
export function buildTarget(count: number, more: Partial<TargetDemand> = {}): TargetDemand {
  return {
    kind: "target",
    id: "execute",
    priority: 0,
    position: 0,
    array: EXECUTE,
    amount: { unit: "nodes", count },
    ...more,
  };
}

/** A job of one-core slots. */
export function buildJob(name: string, iterations: number, more: Partial<JobDemand> = {}): JobDemand {
  return {
    kind: "job",
    id: name,
    name,
    priority: 0,
    position: 0,
    constraints: needing({ ncpus: 1 }),
    iterations,
    colocated: false,
    placed: [],
    ...more,
  };
}

/** A request set of a scenario. */
export interface SetScenario {
  readonly demands?: readonly Demand[];
  readonly report?: readonly SchedulerNode[];
  /** Default: {@link NOW}. */
  readonly sentAt?: Instant;
  readonly intervalSeconds?: number;
  /** Default: one interval after it was sent. */
  readonly expiresAt?: Instant;
  readonly live?: boolean;
  /** The digest of the demand. Default: "demand-SET", whatever the demand is. */
  readonly digest?: string;
}

/** A cluster's record and its bodies. All parts that a scenario leaves out are empty. */
export interface Scenario {
  readonly sets?: Readonly<Record<string, SetScenario>>;
  readonly record?: Partial<ClusterRecord>;
  readonly ledger?: Ledger;
  readonly seen?: Snapshot;
}

/** Demand digests are "demand-SET" unless given, report digests "report-SET". The last believed observation was 30 s ago, so there was no outage. */
export function buildState({ sets = {}, record, ledger, seen }: Scenario): {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
} {
  const demands = new Map<Digest, SetDemand>();
  const reports = new Map<Digest, readonly SchedulerNode[]>();
  const entries = new Map(
    Object.entries(sets).map(([name, set]) => {
      demands.set(digestOfSet(name, set), { demands: set.demands ?? [], pools: [], rejectedJobs: [] });
      if (set.report !== undefined) reports.set(digest(`report-${name}`), set.report);
      return [setName(name), entryOf(name, set)];
    }),
  );
  return {
    record: { ...EMPTY_RECORD, lastGoodLookAt: at(-30), sets: entries, ...record },
    bodies: { demands, reports, ledger: ledger ?? new Map(), ...(seen === undefined ? {} : { seen }) },
  };
}

const digestOfSet = (name: string, set: SetScenario): Digest => digest(set.digest ?? `demand-${name}`);

function entryOf(name: string, set: SetScenario): SetEntry {
  const { sentAt = NOW, intervalSeconds = 300 } = set;
  return {
    revision: { value: sentAt, tieBreak: "" },
    intervalSeconds,
    sentAt,
    acceptedAt: sentAt,
    expiresAt: set.expiresAt ?? plusSeconds(sentAt, intervalSeconds),
    digest: digestOfSet(name, set),
    live: set.live ?? true,
    ...(set.report === undefined ? {} : { report: digest(`report-${name}`) }),
  };
}

export const EMPTY_RECORD: ClusterRecord = {
  separateReports: new Map(),
  separatePools: new Map(),
  cluster: PROD,
  epoch: epoch("epoch-1"),
  epochAt: at(-86_400),
  plan: 6,
  generation: 0,
  observedGeneration: 0,
  sets: new Map(),
  intents: [],
  inFlight: [],
  backoffs: [],
  rejections: [],
  totals: { created: 0, terminated: 0 },
};

/** A message for the set "standard", sent now and valid for 300 s, whose demand is a target of this many nodes. */
export function buildUpdate(
  targetCount: number,
  more: Partial<WholeUpdate> & { readonly revisionValue?: number; readonly tieBreak?: string } = {},
): WholeUpdate {
  const { revisionValue = NOW, tieBreak = "", ...rest } = more;
  return {
    cluster: PROD,
    set: setName("standard"),
    revision: { value: revisionValue, tieBreak },
    intervalSeconds: 300,
    sentAt: NOW,
    expiresAt: at(300),
    digest: digest(`target-${targetCount}`),
    demand: { demands: [buildTarget(targetCount)], pools: [], rejectedJobs: [] },
    bytes: 100,
    ...rest,
  };
}

/** A message for the set "standard" without demand, sent now and valid for 300 s. */
export function buildPartial(
  parts: Partial<PartialUpdate>,
  {
    revisionValue = NOW,
    tieBreak = "",
  }: { readonly revisionValue?: number; readonly tieBreak?: string } = {},
): PartialUpdate {
  return {
    cluster: PROD,
    set: setName("standard"),
    revision: { value: revisionValue, tieBreak },
    intervalSeconds: 300,
    sentAt: NOW,
    expiresAt: at(300),
    ...parts,
  };
}

/** A create of `count` nodes that was committed now and has not been sent. */
export function buildCreate(id: string, count: number, more: Partial<Intent> = {}): Intent {
  const sets = [{ bucket: BUCKET, count, purpose: { kind: "array" } as const }];
  const effect: CreateEffect = { kind: "create", sets };
  return buildIntent(id, { effect, certainFrom: at(210), ...more });
}

const { callLimitSeconds, lagSeconds } = DEFAULT_CALL_BOUNDS;

export function buildIntent(id: string, more: Partial<Intent> & Pick<Intent, "effect">): Intent {
  return {
    id: requestId(id),
    owner: OURS,
    committedAt: NOW,
    leaseUntil: at(60),
    notAfter: at(180),
    certainFrom: plusSeconds(more.leaseUntil ?? at(60), callLimitSeconds + lagSeconds),
    sent: "never",
    ...more,
  };
}

/** The same state after its schedulers have pushed again; sets that are not named stay as they were. */
export function pushSets(
  { record, bodies }: ReturnType<typeof buildState>,
  sets: NonNullable<Scenario["sets"]>,
): ReturnType<typeof buildState> {
  const pushed = buildState({ sets });
  return {
    record: {
      ...record,
      generation: record.generation + 1,
      sets: new Map([...record.sets, ...pushed.record.sets]),
    },
    bodies: {
      ...bodies,
      demands: new Map([...bodies.demands, ...pushed.bodies.demands]),
      reports: new Map([...bodies.reports, ...pushed.bodies.reports]),
    },
  };
}
