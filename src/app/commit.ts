import { bornRecord } from "../decide/epoch.ts";
import type { Bodies } from "../domain/bodies.ts";
import { withQuestions } from "../decide/questions.ts";
import type { Questions } from "../domain/questions.ts";
import type { ClusterRecord, Ledger } from "../domain/record.ts";
import type { ClusterName } from "../domain/ids.ts";
import type { Lanes } from "./lanes.ts";
import type { BodyChanges, LoadedRecord, Ports } from "./ports.ts";
import { PortError } from "./ports.ts";
import { secondsBetween } from "../domain/units.ts";

/** What the use cases share: the ports, and the turn-taking of this process. */
export interface App {
  readonly ports: Ports;
  readonly lanes: Lanes;
}

/** The manifest as loaded; `stored` is absent for a record that is about to be born. */
export interface Current {
  readonly record: ClusterRecord;
  readonly stored: LoadedRecord | undefined;
}

export interface CurrentWhole extends Current {
  readonly bodies: Bodies;
}

/** What a change makes of the record; `undefined` saves nothing. */
export type Change<T> = {
  readonly save?: { readonly record: ClusterRecord; readonly changes: BodyChanges };
  readonly result: T;
};

export type Committed<T> =
  | { readonly kind: "committed"; readonly result: T; readonly record: ClusterRecord }
  /** Others were quicker every time. */
  | { readonly kind: "contended" };

/** Conflicts in a row before a commit gives up; each waits a little longer, with jitter. */
const ATTEMPTS = 40;
const LONGEST_PAUSE_MS = 400;

/** Load, change, save if nobody saved in between, and again on a conflict. `change` is pure and may run several times. */
export async function commitRecord<T>(
  app: App,
  cluster: ClusterName,
  change: (current: Current) => Change<T>,
): Promise<Committed<T>> {
  return app.lanes.run(cluster, () => commitLoop(app, () => loadCurrent(app, cluster), change));
}

/**
 * The same with the bodies at hand, which may be large: they are written before the commit takes its turn, so that accepts of demand wait
 * for the manifest alone. Where the record has moved meanwhile, `change` runs again when the turn has come; bodies that are the same then are
 * not written again (docs/protocol.md, Record and commits).
 */
export async function commitWhole<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentWhole) => Change<T>,
): Promise<Committed<T>> {
  return app.lanes.runWhole(cluster, () => commitStaged(app, cluster, change));
}

/** Bodies that were of no use are written anew outside the lane for so long; then the commit keeps its turn while it writes. */
const STAGING_SECONDS = 2;

/**
 * Bodies written ahead are of no use where the record has moved so that `change` gives others. If that happens, the next commit keeps its
 * turn from the beginning: demand that changes all the time can make a plan late, but not keep plans from being saved.
 */
async function commitStaged<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentWhole) => Change<T>,
): Promise<Committed<T>> {
  const { clock, entropy } = app.ports;
  const { wasted } = app.lanes;
  const begun = clock.now();
  const load = () => loadWhole(app, cluster);
  if (wasted.delete(cluster)) return app.lanes.run(cluster, () => commitLoop(app, load, change));
  let ahead = prepare(await load(), change);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (ahead.change.save === undefined) return committedAs(ahead);
    const how = secondsBetween(begun, clock.now()) < STAGING_SECONDS ? "if-staged" : "write";
    if (attempt === 0 || how === "if-staged") await stage(app, ahead);
    const tried = await app.lanes.run(cluster, async () => {
      // What was loaded before the turn came is mostly still what is stored.
      const first = await trySave(app, ahead, "if-staged");
      if (first.kind !== "conflict") return first;
      const again = prepare(await load(), change);
      if (!savesSame(ahead, again)) wasted.add(cluster);
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

/** Whether the second saves the very bodies that were written for the first. */
function savesSame<T>({ change: first }: Prepared<T>, { change: second }: Prepared<T>): boolean {
  const [a, b] = [first.save?.changes, second.save?.changes];
  return (["seen", "ledger", "questions", "plan"] as const).every((body) => a?.[body] === b?.[body]);
}

interface Prepared<T> {
  readonly current: CurrentWhole;
  readonly change: Change<T>;
}

type Tried<T> =
  | Extract<Committed<T>, { kind: "committed" }>
  | { readonly kind: "conflict" }
  /** Its bodies are to be written first. */
  | { readonly kind: "unstaged"; readonly prepared: Prepared<T> };

async function trySave<T>(app: App, prepared: Prepared<T>, how: "write" | "if-staged"): Promise<Tried<T>> {
  const { current, change } = prepared;
  const { save, result } = change;
  if (save === undefined) return committedAs(prepared);
  const saved = await app.ports.store.save(save.record, save.changes, current.stored, how);
  if (saved.kind === "saved") return { kind: "committed", result, record: saved.loaded.record };
  return saved.unstaged === true ? { kind: "unstaged", prepared } : { kind: "conflict" };
}

/** The same with whatever `load` reads besides: it runs again after each conflict. */
export async function commitLoaded<C extends Current, T>(
  app: App,
  cluster: ClusterName,
  load: () => Promise<C>,
  change: (current: C) => Change<T>,
): Promise<Committed<T>> {
  return app.lanes.run(cluster, () => commitLoop(app, load, change));
}

async function commitLoop<C extends Current, T>(
  app: App,
  load: () => Promise<C>,
  change: (current: C) => Change<T>,
): Promise<Committed<T>> {
  const { store, clock, entropy } = app.ports;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await load();
    const { save, result } = change(current);
    if (save === undefined) return { kind: "committed", result, record: current.record };
    const saved = await store.save(save.record, save.changes, current.stored);
    if (saved.kind === "saved") return { kind: "committed", result, record: saved.loaded.record };
    await clock.sleep(entropy.fraction() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** attempt));
  }
  return { kind: "contended" };
}

/** The manifest, or a newborn one. */
export async function loadCurrent(app: App, cluster: ClusterName): Promise<Current> {
  const { clock, entropy, store } = app.ports;
  const stored = await store.load(cluster);
  return { record: stored?.record ?? bornRecord(cluster, entropy.epoch(), clock.now()), stored };
}

/** A body that is still missing after so many loads is lost, not overtaken. */
const LOAD_ATTEMPTS = 5;

/** The manifest with its bodies; a load that misses one has been overtaken and starts over. */
export async function loadWhole(app: App, cluster: ClusterName): Promise<CurrentWhole> {
  const { store, clock, entropy } = app.ports;
  for (let attempt = 0; attempt < LOAD_ATTEMPTS; attempt += 1) {
    const current = await loadCurrent(app, cluster);
    if (current.stored === undefined) return { ...current, bodies: NO_BODIES };
    const bodies = await store.bodies(current.stored);
    if (bodies !== undefined) return { ...current, bodies: withStops(bodies) };
    await clock.sleep(entropy.fraction() * LONGEST_PAUSE_MS);
  }
  throw new PortError(
    "unexpected",
    `load ${cluster}`,
    "a body that the record names is missing from storage",
  );
}

/** The ledger says of each node what its questions have changed since the last plan. */
function withStops(bodies: Bodies): Bodies {
  const { ledger, questions } = bodies;
  if (questions === undefined || questions.size === 0) return bodies;
  const known = joined.get(questions);
  if (known?.from === ledger) return { ...bodies, ledger: known.ledger };
  const next = withQuestions(ledger, questions);
  joined.set(questions, { from: ledger, ledger: next });
  return { ...bodies, ledger: next };
}

/** Of one record the same ledger is returned each time: what was worked out for it is known by it. */
const joined = new WeakMap<Questions, { readonly from: Ledger; readonly ledger: Ledger }>();

const NO_BODIES: Bodies = { demands: new Map(), reports: new Map(), ledger: new Map() };
