import type { ClusterRecord } from "../../domain/record.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { BodyChanges } from "../ports/record-store.ts";
import { secondsBetween, instant, plusSeconds } from "../../domain/units.ts";
import type { App, KnownPlans } from "../process/lanes.ts";
import type { Current, CurrentInForce } from "./load-record.ts";
import type { Bytes, Seconds, Milliseconds } from "../../domain/units.ts";
import { SMALL_PART } from "../process/lanes.ts";
import { ATTEMPTS, LONGEST_PAUSE_MS, loadCurrent, loadInForce } from "./load-record.ts";
import { isPlanFirst } from "../../decide/pace/observation-times.ts";
import { onlyObserves } from "../../domain/policy.ts";
import { beginEpochSetBack } from "../../decide/record/epoch.ts";
import { PortError } from "../ports/port-error.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";

/** The result of a change to the record. If `save` is undefined, nothing is saved. */
export type Change<T> = {
  readonly save?: { readonly record: ClusterRecord; readonly changes: BodyChanges };
  readonly result: T;
};

export type Committed<T> =
  | { readonly kind: "committed"; readonly result: T; readonly record: ClusterRecord }
  /** Others committed first every time. */
  | { readonly kind: "contended" };

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
 * The same with the bodies, which may be large, and under the configuration in force: the way to commit a decision. Bodies are written
 * before the commit takes its turn, so that accepts of demand wait only for the manifest. If the record has changed meanwhile, `change` runs
 * again in its turn, and unchanged bodies are not written again (docs/protocol.md, Record and commits). The record names the configuration
 * afterwards (docs/protocol.md, Configuration).
 */
export async function commitWhole<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentInForce) => Change<T>,
): Promise<Committed<T>> {
  const decide = (current: CurrentInForce) => underPolicy(change(current), current.policy);
  return app.lanes.runWhole(cluster, () => withRoom(app, cluster, () => commitStaged(app, cluster, decide)));
}

/**
 * Demand of several clusters together may take more memory than there is, so their plans take turns. What is small does not wait for what is
 * large. `more`: what the plan needs beside the demand of the cluster.
 */
export async function withRoom<T>(
  { lanes, ports }: App,
  cluster: ClusterName,
  work: () => Promise<T>,
  more: Bytes = 0,
): Promise<T> {
  const bytes = Math.min(lanes.memoryOf(cluster).demandBytes + more, lanes.budget.demand);
  const lane = bytes <= SMALL_PART * lanes.budget.demand ? "small" : "large";
  const leave = await lanes.planning.enter(lane, bytes, ports.clock);
  try {
    return await work();
  } finally {
    leave?.();
  }
}

function underPolicy<T>(change: Change<T>, { document: configuration }: Policy): Change<T> {
  const { save, result } = change;
  if (save === undefined || configuration === undefined) return change;
  return { save: { ...save, changes: { ...save.changes, configuration } }, result };
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
  change: (current: CurrentInForce) => Change<T>,
): Promise<Committed<T>> {
  const { clock, entropy } = app.ports;
  const { wasted } = app.lanes;
  const begun = clock.now();
  const whole = () => loadInForce(app, cluster);
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

function prepare<T>(current: CurrentInForce, change: (current: CurrentInForce) => Change<T>): Prepared<T> {
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
  readonly current: CurrentInForce;
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

/** How often the record is read while a plan goes first. */
const POLL_MS: Milliseconds = 250;

/**
 * A commit of marks or grants. It lets a plan go first that such commits have prevented from being saved (docs/protocol.md, Plans). That
 * takes at most as long as is reserved for the plan.
 */
export async function commitAfterPlan<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentInForce) => Change<T>,
): Promise<Committed<T>> {
  const { clock } = app.ports;
  for (;;) {
    const committed = await commitWhole(
      app,
      cluster,
      (current): Change<{ readonly result: T } | undefined> => {
        if (isPlanFirst(current.record, clock.now())) return { result: undefined };
        const { result, ...saving } = change(current);
        return { ...saving, result: { result } };
      },
    );
    if (committed.kind === "contended") return committed;
    if (committed.result !== undefined) return { ...committed, result: committed.result.result };
    await clock.sleep(POLL_MS);
  }
}

/** The longest wait: a plan has priority for 15 s at most. */
const LONGEST_WAIT_SECONDS: Seconds = 16;

/**
 * Waits before a change to this configuration while a plan goes first that changes of the configuration have kept from being saved
 * (docs/protocol.md, Configuration). A change that only turns arrays to observe never waits.
 */
export async function waitForPlan(app: App, cluster: ClusterName, next: Policy): Promise<void> {
  const { clock, policyOf } = app.ports;
  const began = clock.now();
  const isFirst = async () => isPlanFirst((await loadCurrent(app, cluster)).record, clock.now());
  if (!(await isFirst()) || onlyObserves(await policyOf(cluster, "now"), next)) return;
  do await clock.sleep(POLL_MS);
  while (secondsBetween(began, clock.now()) < LONGEST_WAIT_SECONDS && (await isFirst()));
}

// A record that was set back to an earlier state continues under a new epoch (docs/protocol.md, Recovery).

/** Rows of the plan archive that are read at once. */
const PAGE = 1000;
/** A host whose clock is ahead may have written history. */
const AHEAD_SECONDS: Seconds = 86_400;

/**
 * Loads the record and detects that it was set back: plan numbers only rise, and this process, the history or the plan archive knows a
 * higher one. The returned record then has a new epoch, which the next save makes permanent.
 */
async function loadInOrder<C extends Current>(
  app: App,
  cluster: ClusterName,
  load: () => Promise<C>,
): Promise<C> {
  const plans = app.lanes.memoryOf(cluster).plans;
  // Read before the record, and saved earlier: a lower number in the record means that it was set back.
  const known = plans.highest;
  const current = await load();
  const { plan } = current.record;
  if (!plans.isComplete && (await learnPlans(app, cluster, plans, plan)) > plan)
    return loadInOrder(app, cluster, load);
  if (plan >= known) {
    plans.note(plan);
    return current;
  }
  const { clock, entropy, log } = app.ports;
  log("record-set-back", { cluster, plan, known });
  const setBack = { epoch: entropy.epoch(), plan: known };
  return { ...current, record: beginEpochSetBack(current.record, setBack, clock.now()) };
}

/** The highest plan number of history and archive, read once per process. 0 if they cannot be read; the next load tries again. */
async function learnPlans(app: App, cluster: ClusterName, plans: KnownPlans, above: number): Promise<number> {
  const { clock, history, log } = app.ports;
  try {
    const until = plusSeconds(clock.now(), AHEAD_SECONDS);
    const [[newest], kept] = await Promise.all([
      history.read(cluster, instant(0), until, 1),
      lastKept(app, cluster, above),
    ]);
    const highest = Math.max(newest?.plan ?? 0, kept);
    plans.complete(highest);
    return highest;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    log("plans-not-read", { cluster, kind: error.kind, message: error.message });
    return 0;
  }
}

async function lastKept({ ports }: App, cluster: ClusterName, above: number): Promise<number> {
  let last = above;
  for (;;) {
    const rows = await ports.plans.list(cluster, last + 1, Number.MAX_SAFE_INTEGER - 1, PAGE);
    last = rows.at(-1)?.number ?? last;
    if (rows.length < PAGE) return last;
  }
}

const LONGEST_MESSAGE = 300;

/**
 * Reports failed work for a cluster: in the log as `event`. If storage or network is not the cause, also as a trouble of the cluster until
 * an observation leads to a plan again. Never throws: the next tick tries the failed work again, whether this is written or not.
 */
export async function noteFailure(
  app: App,
  cluster: ClusterName,
  event: "reconcile-failed" | "tick-failed",
  error: unknown,
): Promise<void> {
  const { clock, log } = app.ports;
  const kind = error instanceof PortError ? error.kind : "defect";
  log(event, { cluster, kind, message: error instanceof Error ? error.message : String(error) });
  if (kind !== "defect") return;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = text.slice(0, LONGEST_MESSAGE);
  try {
    await commitRecord(app, cluster, ({ record }): Change<undefined> => {
      const isKnown = record.trouble?.kind === "failed" && record.trouble.message === message;
      if (isKnown) return { result: undefined };
      const failure: ReconcileFailure = { at: clock.now(), kind: "failed", message };
      return { save: { record: { ...record, trouble: failure }, changes: {} }, result: undefined };
    });
  } catch (second) {
    log("failure-not-noted", { cluster, message: String(second) });
  }
}
