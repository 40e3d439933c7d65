import { bornRecord } from "../../decide/record/epoch.ts";
import { demandBytesOf, setAside } from "../../decide/record/processes.ts";
import { areLost, forgetLost, missingSince } from "../../decide/record/lost-bodies.ts";
import { withUnread } from "../../decide/need/left-out.ts";
import { withQuestions } from "../../decide/stops/questions.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { sameData } from "../../domain/same-data.ts";
import type { ClusterName } from "../../domain/ids.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/lanes.ts";
import type { Milliseconds } from "../../domain/units.ts";
import type { Policy } from "../../domain/policy.ts";
import type { LoadedRecord } from "../ports/record-store.ts";

/** The manifest as loaded. `stored` is undefined for a record that does not exist yet. */
export interface Current {
  readonly record: ClusterRecord;
  readonly stored: LoadedRecord | undefined;
}

export interface CurrentWhole extends Current {
  readonly bodies: Bodies;
}

/** The same with the configuration under which it is decided. */
export interface CurrentInForce extends CurrentWhole {
  readonly policy: Policy;
}

/** The manifest, or a new one. */
export async function loadCurrent(app: App, cluster: ClusterName): Promise<Current> {
  const { clock, entropy, store } = app.ports;
  const stored = await store.load(cluster);
  if (stored !== undefined) app.lanes.memoryOf(cluster).demandBytes = demandBytesOf(stored.record);
  return { record: stored?.record ?? bornRecord(cluster, entropy.epoch(), clock.now()), stored };
}

/** A body that is missing after this many loads does not exist. Before that, another save may have replaced it during the load. */
const LOAD_ATTEMPTS = 5;

/**
 * The manifest with its bodies. A load that misses one is repeated, because the record may have changed during it. Throws PortError
 * "unexpected" while a missing body is not given up yet; after a minute the record goes on without it. Throws PortError of the store.
 */
export async function loadWhole(app: App, cluster: ClusterName): Promise<CurrentWhole> {
  const { store, clock, entropy } = app.ports;
  const { demand } = app.lanes.budget;
  for (let attempt = 1; attempt <= 3 * LOAD_ATTEMPTS; attempt += 1) {
    const current = await loadCurrent(app, cluster);
    if (current.stored === undefined) return { ...current, bodies: NO_BODIES };
    const aside = setAside(current.record, demand, clock.now());
    const bodies = await store.bodies(current.stored, aside);
    if (bodies !== undefined)
      return { ...current, record: withoutMissing(current.record), bodies: withStops(bodies) };
    if (attempt % LOAD_ATTEMPTS !== 0) await clock.sleep(entropy.fraction() * LONGEST_PAUSE_MS);
    else if ((await noteMissing(app, cluster)) === "waiting") break;
  }
  throw new PortError(
    "unexpected",
    `load ${cluster}`,
    "a body that the record names is missing from storage; what it held is given up after a minute",
  );
}

/** The same for readers: its plan has an outcome for each job, also those that it did not read. */
export async function loadToShow(app: App, cluster: ClusterName): Promise<CurrentWhole> {
  const current = await loadWhole(app, cluster);
  const { record, bodies } = current;
  const { plan } = bodies;
  return plan === undefined
    ? current
    : { ...current, bodies: { ...bodies, plan: withUnread(plan, record, bodies) } };
}

/**
 * The same with the configuration that counts for decisions on this record (docs/protocol.md, Configuration; docs/decisions.md, "The
 * configuration in force is a property of the record's row"). If this process holds another one than the record names, or the record names
 * none, the document is read after the load, and it counts. Throws PortError of the store.
 */
export async function loadInForce(app: App, cluster: ClusterName): Promise<CurrentInForce> {
  const { policyOf } = app.ports;
  const current = await loadWhole(app, cluster);
  const held = await policyOf(cluster);
  const named = current.stored?.version.configuration;
  const isSame = named !== undefined && named === held.document;
  return { ...current, policy: isSame ? held : await policyOf(cluster, "now") };
}

/** Removes the note of missing bodies, because all were found. */
function withoutMissing(record: ClusterRecord): ClusterRecord {
  if (record.missing === undefined) return record;
  const { missing: _found, ...rest } = record;
  return rest;
}

/**
 * Notes in the record since when bodies are missing, and gives them up when it is time. Takes no turn in a lane, because its caller may
 * hold it.
 */
async function noteMissing(app: App, cluster: ClusterName): Promise<"waiting" | "changed"> {
  const { store, clock, entropy, log } = app.ports;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const stored = await store.load(cluster);
    const missing = stored && (await store.missing(stored));
    if (stored === undefined || missing === undefined) return "changed";
    const { record } = stored;
    const now = clock.now();
    const since = missingSince(record, missing.ids, now);
    const isLost = areLost(since, now);
    if (!isLost && sameData(since, record.missing)) return "waiting";
    const next = isLost ? forgetLost(record, missing, entropy.epoch(), now) : { ...record, missing: since };
    const saved = await store.save(next, isLost ? { forget: missing } : {}, stored);
    if (saved.kind === "conflict") continue;
    const { lost } = next;
    if (isLost) log("bodies-lost", { cluster, bodies: missing.ids, sets: lost?.sets, nodes: lost?.nodes });
    else log("bodies-missing", { cluster, bodies: missing.ids });
    return isLost ? "changed" : "waiting";
  }
  return "waiting";
}

/** The ledger with the changes that questions made since the last plan. */
function withStops(bodies: Bodies): Bodies {
  const { ledger, questions } = bodies;
  if (questions === undefined || questions.size === 0) return bodies;
  return { ...bodies, ledger: withQuestions(ledger, questions) };
}

const NO_BODIES: Bodies = { demands: new Map(), reports: new Map(), ledger: new Map() };

/** Maximum number of conflicts in a row. Each wait is a little longer, with jitter. */
export const ATTEMPTS = 40;

export const LONGEST_PAUSE_MS: Milliseconds = 400;

/** Another release wrote the record: a newer one that runs beside this one, or a build before 0.1.0. `message` names the versions. */
export interface OtherState {
  readonly kind: "other-state";
  readonly message: string;
}

/** Turns the one expected failure into a value: a record that another release wrote (architecture.md, Storage). */
export async function unlessOtherState<T>(work: () => Promise<T>): Promise<T | OtherState> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PortError) || error.kind !== "other-state") throw error;
    return { kind: "other-state", message: error.message };
  }
}
