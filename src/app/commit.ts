import type { Bodies } from "../domain/bodies.ts";
import { withQuestions } from "../decide/questions.ts";
import type { Questions } from "../domain/questions.ts";
import type { ClusterRecord, Ledger } from "../domain/record.ts";
import type { ClusterName } from "../domain/ids.ts";
import type { Lanes } from "./lanes.ts";
import type { BodyChanges, LoadedRecord, Ports } from "./ports.ts";
import { PortError } from "./ports.ts";

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

/** The same with the bodies at hand. */
export async function commitWhole<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentWhole) => Change<T>,
): Promise<Committed<T>> {
  return app.lanes.run(cluster, () => commitLoop(app, () => loadWhole(app, cluster), change));
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
  const stored = await app.ports.store.load(cluster);
  return { record: stored?.record ?? bornRecord(app, cluster), stored };
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

function bornRecord(app: App, cluster: ClusterName): ClusterRecord {
  return {
    separateReports: new Map(),
    separatePools: new Map(),
    cluster,
    epoch: app.ports.entropy.epoch(),
    epochAt: app.ports.clock.now(),
    plan: 0,
    generation: 0,
    observedGeneration: 0,
    sets: new Map(),
    intents: [],
    inFlight: [],
    backoffs: [],
    rejections: [],
    totals: { created: 0, terminated: 0 },
  };
}
