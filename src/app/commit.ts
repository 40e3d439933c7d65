import { bornRecord } from "../decide/record/epoch.ts";
import { areLost, forgetLost, missingSince } from "../decide/record/lost-bodies.ts";
import { withQuestions } from "../decide/stops/questions.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { Questions } from "../domain/questions.ts";
import type { Ledger } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { sameData } from "../domain/same-data.ts";
import type { ClusterName } from "../domain/ids.ts";
import type { BodyChanges } from "./ports/record-store.ts";
import { PortError } from "./ports/port-error.ts";
import { secondsBetween } from "../domain/units.ts";
import { loadInOrder } from "./set-back.ts";
import type { App } from "./app.ts";
import type { Current, CurrentWhole } from "./current.ts";
import type { Milliseconds, Seconds } from "../domain/units.ts";

/** The result of a change to the record. If `save` is undefined, nothing is saved. */
export type Change<T> = {
  readonly save?: { readonly record: ClusterRecord; readonly changes: BodyChanges };
  readonly result: T;
};

export type Committed<T> =
  | { readonly kind: "committed"; readonly result: T; readonly record: ClusterRecord }
  /** Others committed first every time. */
  | { readonly kind: "contended" };

/** Maximum number of conflicts in a row. Each wait is a little longer, with jitter. */
const ATTEMPTS = 40;
const LONGEST_PAUSE_MS: Milliseconds = 400;

/**
 * Loads, changes and saves, and tries again after a conflict. `change` is pure and may run several times. `beforeSave` does work that must
 * precede the save, and runs before each try. If it throws, nothing is saved. Throws PortError of the store.
 */
export async function commitRecord<T>(
  app: App,
  cluster: ClusterName,
  change: (current: Current) => Change<T>,
  beforeSave?: (result: T) => Promise<void>,
): Promise<Committed<T>> {
  const load = () => loadCurrent(app, cluster);
  return app.lanes.run(cluster, () => commitLoop(app, cluster, load, change, beforeSave));
}

/**
 * The same with the bodies, which may be large. They are written before the commit takes its turn, so that accepts of demand wait only for
 * the manifest. If the record has changed meanwhile, `change` runs again in its turn, and unchanged bodies are not written again
 * (docs/protocol.md, Record and commits).
 */
export async function commitWhole<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentWhole) => Change<T>,
): Promise<Committed<T>> {
  return app.lanes.runWhole(cluster, () => commitStaged(app, cluster, change));
}

/** Bodies that became useless are written again outside the lane for this long. After that the commit keeps its turn while it writes. */
const STAGING_SECONDS: Seconds = 2;

/**
 * Bodies written ahead are useless if `change` gives others on the changed record. If writing took long, the next commit keeps its turn
 * from the beginning: demand that changes all the time can delay a plan but not prevent it.
 */
async function commitStaged<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentWhole) => Change<T>,
): Promise<Committed<T>> {
  const { clock, entropy } = app.ports;
  const { wasted } = app.lanes;
  const begun = clock.now();
  const whole = () => loadWhole(app, cluster);
  if (wasted.delete(cluster)) return app.lanes.run(cluster, () => commitLoop(app, cluster, whole, change));
  const load = () => loadInOrder(app, cluster, whole);
  let ahead = prepare(await load(), change);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (ahead.change.save === undefined) return committedAs(ahead);
    await stage(app, ahead);
    const how = secondsBetween(begun, clock.now()) < STAGING_SECONDS ? "if-staged" : "write";
    const tried = await app.lanes.run(cluster, async () => {
      // The record loaded before the turn is usually still current.
      const first = await trySave(app, ahead, how);
      if (first.kind !== "conflict") return first;
      const again = prepare(await load(), change);
      if (how === "write" && !savesSame(ahead, again)) wasted.add(cluster);
      return trySave(app, again, how);
    });
    if (tried.kind === "committed") return tried;
    if (tried.kind === "conflict") {
      await clock.sleep(entropy.fraction() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** attempt));
      ahead = prepare(await load(), change);
    } else ahead = tried.prepared;
  }
  return { kind: "contended" };
}

function prepare<T>(current: CurrentWhole, change: (current: CurrentWhole) => Change<T>): Prepared<T> {
  return { current, change: change(current) };
}

const committedAs = <T>({ current, change }: Prepared<T>): Extract<Committed<T>, { kind: "committed" }> => ({
  kind: "committed",
  result: change.result,
  record: current.record,
});

async function stage<T>({ ports }: App, { current, change: { save } }: Prepared<T>): Promise<void> {
  if (save !== undefined) await ports.store.stage(save.record, save.changes, current.stored);
}

/** Whether both save identical bodies (by reference). */
function savesSame<T>({ change: first }: Prepared<T>, { change: second }: Prepared<T>): boolean {
  const [a, b] = [first.save?.changes, second.save?.changes];
  return (["seen", "ledger", "questions", "plan", "virtual"] as const).every(
    (body) => a?.[body] === b?.[body],
  );
}

interface Prepared<T> {
  readonly current: CurrentWhole;
  readonly change: Change<T>;
}

type Tried<T> =
  | Extract<Committed<T>, { kind: "committed" }>
  | { readonly kind: "conflict" }
  /** Its bodies must be written first. */
  | { readonly kind: "unstaged"; readonly prepared: Prepared<T> };

async function trySave<T>(app: App, prepared: Prepared<T>, how: "write" | "if-staged"): Promise<Tried<T>> {
  const { current, change } = prepared;
  const { save, result } = change;
  if (save === undefined) return committedAs(prepared);
  const saved = await app.ports.store.save(save.record, save.changes, current.stored, how);
  if (saved.kind === "saved") {
    const { record } = saved.loaded;
    app.lanes.memoryOf(record.cluster).plans.note(record.plan);
    return { kind: "committed", result, record };
  }
  return saved.unstaged === true ? { kind: "unstaged", prepared } : { kind: "conflict" };
}

/** The same with everything else that `load` reads. It runs again after each conflict. */
export async function commitLoaded<C extends Current, T>(
  app: App,
  cluster: ClusterName,
  load: () => Promise<C>,
  change: (current: C) => Change<T>,
): Promise<Committed<T>> {
  return app.lanes.run(cluster, () => commitLoop(app, cluster, load, change));
}

async function commitLoop<C extends Current, T>(
  app: App,
  cluster: ClusterName,
  load: () => Promise<C>,
  change: (current: C) => Change<T>,
  beforeSave?: (result: T) => Promise<void>,
): Promise<Committed<T>> {
  const { store, clock, entropy } = app.ports;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await loadInOrder(app, cluster, load);
    const { save, result } = change(current);
    if (save === undefined) return { kind: "committed", result, record: current.record };
    await beforeSave?.(result);
    const saved = await store.save(save.record, save.changes, current.stored);
    if (saved.kind === "saved") {
      app.lanes.memoryOf(cluster).plans.note(saved.loaded.record.plan);
      return { kind: "committed", result, record: saved.loaded.record };
    }
    await clock.sleep(entropy.fraction() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** attempt));
  }
  return { kind: "contended" };
}

/** The manifest, or a new one. */
export async function loadCurrent(app: App, cluster: ClusterName): Promise<Current> {
  const { clock, entropy, store } = app.ports;
  const stored = await store.load(cluster);
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
  for (let attempt = 1; attempt <= 3 * LOAD_ATTEMPTS; attempt += 1) {
    const current = await loadCurrent(app, cluster);
    if (current.stored === undefined) return { ...current, bodies: NO_BODIES };
    const bodies = await store.bodies(current.stored);
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
  const known = joined.get(questions);
  if (known?.from === ledger) return { ...bodies, ledger: known.ledger };
  const next = withQuestions(ledger, questions);
  joined.set(questions, { from: ledger, ledger: next });
  return { ...bodies, ledger: next };
}

/** Returns the same ledger object for the same record each time: results derived from it are stored under it. */
const joined = new WeakMap<Questions, { readonly from: Ledger; readonly ledger: Ledger }>();

const NO_BODIES: Bodies = { demands: new Map(), reports: new Map(), ledger: new Map() };
