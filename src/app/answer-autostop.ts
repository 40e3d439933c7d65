import type { StopCall, StopVerdict } from "../decide/autostop.ts";
import { confirmStops, judgeStops } from "../decide/autostop.ts";
import type { Evidence } from "../decide/settle.ts";
import type { ArrayName, ClusterName, NodeId } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Intent } from "../domain/record.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import type { App, Change } from "./commit.ts";
import { commitWhole, loadWhole } from "./commit.ts";
import type { Run } from "./effects.ts";
import { applyIntents } from "./effects.ts";
import type { Site } from "./ports.ts";
import { reconcileCluster, settleAll } from "./reconcile-cluster.ts";

/** The answer to "may I stop?" (design.md section 4, Autostop). Everything but `stop` means stay. */
export type StopAnswer =
  | { readonly kind: "stop" }
  | { readonly kind: "stay"; readonly why: string }
  | { readonly kind: "unknown-instance" }
  | { readonly kind: "forbidden" }
  | { readonly kind: "cannot-tell"; readonly why: string };

/** Answers callbacks; those that wait for the same cluster are judged together and share their loads and saves. */
export interface StopDesk {
  ask(site: Site, call: StopCall): Promise<StopAnswer>;
  /** The node arrays of the last look, undefined before the first: what a token can be for. Callers of one moment share the load. */
  arraysOf(site: Site): Promise<readonly ArrayName[] | undefined>;
}

interface Waiting {
  readonly call: StopCall;
  readonly answer: PromiseWithResolvers<StopAnswer>;
}

/** A callback waits no longer than this for the record. */
const PATIENCE_SECONDS = 20;
/** One fresh look serves all unknown instances of so long. */
const UNKNOWN_LOOK_SECONDS = 30;

export function createStopDesk(app: App): StopDesk {
  const waiting = new Map<ClusterName, Waiting[]>();
  const serving = new Set<ClusterName>();
  const loading = new Map<ClusterName, Promise<readonly ArrayName[] | undefined>>();
  return {
    arraysOf({ cluster }) {
      const shared = loading.get(cluster) ?? loadArrays(app, cluster).finally(() => loading.delete(cluster));
      loading.set(cluster, shared);
      return shared;
    },
    ask(site, call) {
      const answer = Promise.withResolvers<StopAnswer>();
      const others = waiting.get(site.cluster);
      if (others === undefined) waiting.set(site.cluster, [{ call, answer }]);
      else others.push({ call, answer });
      if (!serving.has(site.cluster)) {
        serving.add(site.cluster);
        void serveAll(app, site, waiting, serving);
      }
      return answer.promise;
    },
  };
}

async function loadArrays(app: App, cluster: ClusterName): Promise<readonly ArrayName[] | undefined> {
  const { bodies } = await loadWhole(app, cluster);
  return bodies.seen?.arrays.map((array) => array.name);
}

async function serveAll(
  app: App,
  site: Site,
  waiting: Map<ClusterName, Waiting[]>,
  serving: Set<ClusterName>,
): Promise<void> {
  // Callers of one moment (one turn of the event loop) are judged together.
  await Promise.resolve();
  for (let batch = take(waiting, site.cluster); batch.length > 0; batch = take(waiting, site.cluster)) {
    try {
      const answers = await answerAll(
        app,
        site,
        batch.map(({ call }) => call),
      );
      batch.forEach(({ answer }, index) =>
        answer.resolve(answers[index] ?? { kind: "cannot-tell", why: "no answer was found" }),
      );
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
    }
  }
  // In the same breath as the last look into `waiting`: whoever asks next begins anew.
  serving.delete(site.cluster);
}

function take(waiting: Map<ClusterName, Waiting[]>, cluster: ClusterName): readonly Waiting[] {
  const batch = waiting.get(cluster) ?? [];
  waiting.delete(cluster);
  return batch;
}

async function answerAll(app: App, site: Site, calls: readonly StopCall[]): Promise<readonly StopAnswer[]> {
  const { clock } = app.ports;
  const deadline = plusSeconds(clock.now(), PATIENCE_SECONDS);
  const policy = await app.ports.policyOf(site.cluster);
  const run: Run = { app, site, policy, deadline };
  if (await mayLookForUnknown(run, calls)) await reconcileCluster(app, site, "tick");
  const marking = await markStops(run, calls, policy);
  if (marking === undefined) return calls.map(() => CONTENDED);
  const fates = marking.marked.length === 0 ? NO_FATES : await stopMarked(run, marking.marked, policy);
  return marking.verdicts.map((verdict) => answerOf(verdict, fates));
}

const CONTENDED = { kind: "cannot-tell", why: "too many at once; ask again" } as const;

interface Marking {
  readonly verdicts: readonly StopVerdict[];
  readonly marked: readonly NodeId[];
}

/** First commit: draining. */
async function markStops(run: Run, calls: readonly StopCall[], policy: Policy): Promise<Marking | undefined> {
  const { app, site } = run;
  const recall = app.lanes.recallOf(site.cluster);
  const committed = await commitWhole(app, site.cluster, ({ record, bodies }): Change<Marking> => {
    const now = app.ports.clock.now();
    const decision = judgeStops(record, bodies, calls, policy, now, recall);
    const result = { verdicts: decision.verdicts, marked: decision.marked };
    if (decision.ledger === bodies.ledger) return { result };
    return { save: { record: decision.record, changes: { ledger: decision.ledger } }, result };
  });
  return committed.kind === "contended" ? undefined : committed.result;
}

/** A node may be newer than the last look: one fresh look per cluster and half a minute serves all unknown ones. */
async function mayLookForUnknown(run: Run, calls: readonly StopCall[]): Promise<boolean> {
  const { record, bodies } = await loadWhole(run.app, run.site.cluster);
  const unknown = new Set(calls.map(({ instance }) => instance));
  for (const { instanceId } of bodies.ledger.values())
    if (instanceId !== undefined) unknown.delete(instanceId);
  if (unknown.size === 0) return false;
  const { lookedAt } = record;
  return (
    lookedAt === undefined || secondsBetween(lookedAt, run.app.ports.clock.now()) >= UNKNOWN_LOOK_SECONDS
  );
}

interface Fates {
  readonly stopping: ReadonlySet<NodeId>;
  readonly why: (node: NodeId) => string;
  /** CycleCloud could not be asked, or refused. */
  readonly failed: ReadonlyMap<NodeId, string>;
}

const NO_FATES: Fates = { stopping: new Set(), why: () => "needed", failed: new Map() };

/** Second commit: the terminate, after a look at the record as it is now; then the effect, and what came of it. */
async function stopMarked(run: Run, marked: readonly NodeId[], policy: Policy): Promise<Fates> {
  const { app, site } = run;
  const owner = app.ports.entropy.owner();
  const recall = app.lanes.recallOf(site.cluster);
  const committed = await commitWhole(app, site.cluster, ({ record, bodies }) => {
    const confirmed = confirmStops(record, bodies, marked, policy, app.ports.clock.now(), owner, recall);
    return { save: { record: confirmed.record, changes: { ledger: confirmed.ledger } }, result: confirmed };
  });
  if (committed.kind === "contended") {
    return { ...NO_FATES, failed: new Map(marked.map((id) => [id, CONTENDED.why])) };
  }
  const { going, why } = committed.result;
  const intents = committed.record.intents.filter((intent) => intent.owner === owner);
  const failed = await stopAll(run, intents);
  return { stopping: going, why, failed };
}

async function stopAll(run: Run, intents: readonly Intent[]): Promise<ReadonlyMap<NodeId, string>> {
  if (intents.length === 0) return new Map();
  const findings = await applyIntents(run, intents);
  await settleAll(run, findings);
  const failed = new Map<NodeId, string>();
  for (const { id, effect } of intents) {
    if (effect.kind !== "terminate") continue;
    const evidence = findings.find((finding) => finding.id === id)?.evidence;
    for (const node of effect.nodes) {
      const why = evidence === undefined ? NOT_ASKED : failureOf(evidence, node);
      if (why !== undefined) failed.set(node, why);
    }
  }
  return failed;
}

const NOT_ASKED = "CycleCloud could not be asked to stop the node";

function failureOf(evidence: Evidence, node: NodeId): string | undefined {
  switch (evidence.kind) {
    case "terminated": {
      const outcome = evidence.nodes.get(node);
      return outcome?.ok === false ? (outcome.error ?? "CycleCloud refused") : undefined;
    }
    case "refused":
      return evidence.message;
    default:
      return NOT_ASKED;
  }
}

function answerOf(verdict: StopVerdict, fates: Fates): StopAnswer {
  switch (verdict.kind) {
    case "stopping":
      return { kind: "stop" };
    case "needed":
      return { kind: "stay", why: verdict.why };
    case "marked": {
      const failure = fates.failed.get(verdict.node);
      if (failure !== undefined) return { kind: "cannot-tell", why: failure };
      return fates.stopping.has(verdict.node)
        ? { kind: "stop" }
        : { kind: "stay", why: fates.why(verdict.node) };
    }
    default:
      return verdict;
  }
}
