import { judgeStops } from "../decide/autostop.ts";
import { isAccepted, isStopOpen } from "../decide/intents/stops.ts";
import type { ArrayName, ClusterName, NodeId } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Intent } from "../domain/intent.ts";
import type { Instant, Seconds } from "../domain/units.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import type { Change } from "./commit.ts";
import { commitAfterPlan } from "./commit-after-plan.ts";
import { loadWhole } from "./commit.ts";
import type { Finding } from "./effects.ts";
import { applyIntents } from "./effects.ts";
import { measureCalls } from "./measure-calls.ts";
import type { Site } from "./ports/site.ts";
import { PortError } from "./ports/port-error.ts";
import { reconcileCluster, settleAll } from "./reconcile-cluster.ts";
import type { Settled } from "../decide/intents/evidence.ts";
import type { App } from "./app.ts";
import type { Run } from "./run.ts";
import { reviveLoop } from "./revive-loop.ts";
import type { FinalVerdict, StopCall, StopVerdict } from "../decide/stop-verdict.ts";
import { toldOf } from "../decide/spare-nodes.ts";
import type { Marked } from "../decide/confirm-stops.ts";
import { confirmStops } from "../decide/confirm-stops.ts";

export type { StopCall } from "../decide/stop-verdict.ts";

/**
 * The answer to "may I stop?" (docs/protocol.md, Questions of nodes). `stop`: CycleCloud has accepted the stop of the node. `undrain`: true
 * only if the record, as this answer has read or saved it, shows no mark of the node and no stop that may still take effect.
 */
export type StopAnswer =
  | { readonly kind: "stop" }
  /** `told` goes to the node. `why` goes to the log only: it may name jobs and sets that are no business of the node's. */
  | { readonly kind: "stay"; readonly why: string; readonly told: string; readonly undrain: boolean }
  | { readonly kind: "unknown-instance" }
  /** The stop URL is another array's. With `unbound`, the call lacks the token that this node's calls must carry. */
  | { readonly kind: "forbidden"; readonly undrain: boolean; readonly unbound?: true }
  | { readonly kind: "cannot-tell"; readonly why: string; readonly undrain: boolean };

/**
 * Answers callbacks. Those that wait for the same cluster are judged together and share their loads and saves. Later ones wait neither for
 * the stops of earlier ones to be sent nor for an observation.
 */
export interface StopDesk {
  /** Answers within 15 s of the call's arrival. Throws PortError if the record can be neither read nor saved. */
  ask(site: Site, call: StopCall): Promise<StopAnswer>;
  /**
   * The array of a stop URL. `verify` tries it on the node arrays of the last observation. Undefined if it matches none of them. "unknown":
   * there was no observation yet. Arrays read in the last 5 s are not read again, and simultaneous callers share the load, so wrong tokens
   * cost no storage. Within 15 s of `arrivedAt`; "late": storage has not answered by then.
   */
  arrayOf(
    site: Site,
    arrivedAt: Instant,
    verify: (arrays: readonly ArrayName[]) => ArrayName | undefined,
  ): Promise<{ readonly array: ArrayName } | "unknown" | "late" | undefined>;
  /** Resolves once the stops and observations that answers have begun so far have ended. */
  settled(): Promise<void>;
}

interface Waiting {
  readonly call: StopCall;
  readonly answer: PromiseWithResolvers<StopAnswer>;
}

/** Work in progress in this process. */
interface Desk {
  readonly app: App;
  readonly waiting: Map<ClusterName, Waiting[]>;
  readonly serving: Set<ClusterName>;
  /** When a question for an unknown instance last began an observation. */
  readonly lookedAt: Map<ClusterName, Instant>;
  /** Stops being sent, and observations. None of them rejects. */
  readonly underWay: Set<Promise<void>>;
}

/** Maximum time from a question to its answer, whatever is still in progress. The node gives up after 20 s. */
const ANSWER_SECONDS: Seconds = 15;
/** Questions for unknown instances begin at most one observation in this time. */
const UNKNOWN_OBSERVATION_APART_SECONDS: Seconds = 30;
/**
 * A stop URL is made for an array that an observation has shown, and its node takes longer than this to call. Older arrays are read again.
 */
const ARRAYS_AGE_SECONDS: Seconds = 5;
/** A stop is sent within its lease. This limits only the rest of the run. */
const SEND_SECONDS: Seconds = 60;

export function createStopDesk(app: App): StopDesk {
  const desk: Desk = {
    app,
    waiting: new Map(),
    serving: new Set(),
    lookedAt: new Map(),
    underWay: new Set(),
  };
  const { waiting, serving } = desk;
  const arraysOf = createArrayReader(app);
  return {
    async settled() {
      while (desk.underWay.size > 0) await Promise.all(desk.underWay);
    },
    async arrayOf({ cluster }, arrivedAt, verify) {
      const arrays = await inTime<readonly ArrayName[] | "late" | undefined>(
        app,
        arrivedAt,
        arraysOf(cluster),
        "late",
      );
      if (arrays === undefined) return "unknown";
      if (arrays === "late") return arrays;
      const array = verify(arrays);
      return array === undefined ? undefined : { array };
    },
    ask(site, call) {
      const answer = Promise.withResolvers<StopAnswer>();
      const others = waiting.get(site.cluster);
      if (others === undefined) waiting.set(site.cluster, [{ call, answer }]);
      else others.push({ call, answer });
      if (!serving.has(site.cluster)) {
        serving.add(site.cluster);
        void serveAll(desk, site);
      }
      return inTime(app, call.arrivedAt, answer.promise, unsettled("no answer in time; ask again"));
    },
  };
}

/** Lets work continue while the next questions are answered. */
function goOn({ underWay }: Desk, work: Promise<void>): void {
  underWay.add(work);
  void work.then(() => underWay.delete(work));
}

function unsettled(why: string): StopAnswer {
  return { kind: "cannot-tell", why, undrain: false };
}

async function inTime<T>(app: App, arrivedAt: Instant, work: Promise<T>, late: T): Promise<T> {
  const { clock } = app.ports;
  const ended = new AbortController();
  const left = Math.max(0, plusSeconds(arrivedAt, ANSWER_SECONDS) - clock.now());
  try {
    return await Promise.race([work, clock.sleep(left, ended.signal).then(() => late)]);
  } finally {
    ended.abort();
  }
}

/** Reads the arrays of a cluster. Arrays read a moment ago are reused, and simultaneous callers share the load. */
function createArrayReader(app: App): (cluster: ClusterName) => Promise<readonly ArrayName[] | undefined> {
  const { clock } = app.ports;
  const loading = new Map<ClusterName, Promise<readonly ArrayName[] | undefined>>();
  const read = new Map<ClusterName, { readonly arrays: readonly ArrayName[]; readonly at: Instant }>();
  const load = async (cluster: ClusterName): Promise<readonly ArrayName[] | undefined> => {
    try {
      const arrays = await loadArrays(app, cluster);
      if (arrays !== undefined) read.set(cluster, { arrays, at: clock.now() });
      return arrays;
    } finally {
      loading.delete(cluster);
    }
  };
  return (cluster) => {
    const last = read.get(cluster);
    const age = last === undefined ? undefined : secondsBetween(last.at, clock.now());
    if (last !== undefined && age !== undefined && age >= 0 && age < ARRAYS_AGE_SECONDS)
      return Promise.resolve(last.arrays);
    const shared = loading.get(cluster) ?? load(cluster);
    loading.set(cluster, shared);
    return shared;
  };
}

async function loadArrays(app: App, cluster: ClusterName): Promise<readonly ArrayName[] | undefined> {
  const { bodies } = await loadWhole(app, cluster);
  if (bodies.seen === undefined) return undefined;
  const arrays = new Set(bodies.seen.arrays.map(({ name }) => name));
  // The status lists every array, unless it is incomplete: the token of a known node is valid anyway.
  for (const { array, goneAt } of bodies.ledger.values()) if (goneAt === undefined) arrays.add(array);
  return [...arrays];
}

async function serveAll(desk: Desk, site: Site): Promise<void> {
  // Callers in one turn of the event loop are judged together.
  await Promise.resolve();
  for (let batch = take(desk, site.cluster); batch.length > 0; batch = take(desk, site.cluster)) {
    try {
      await answerAll(desk, site, batch);
    } catch (error) {
      if (!(error instanceof PortError)) logFailure(desk.app, site, "autostop-failed", error);
      for (const { answer } of batch)
        if (error instanceof PortError) answer.reject(error);
        else answer.resolve(unsettled("the demand could not be weighed; ask again"));
    }
  }
  // In the same turn of the event loop as the last check of `waiting`: the next caller starts a new round.
  desk.serving.delete(site.cluster);
}

function take({ waiting }: Desk, cluster: ClusterName): readonly Waiting[] {
  const batch = waiting.get(cluster) ?? [];
  waiting.delete(cluster);
  return batch;
}

/** Two commits: the marks, and the stops. Does not wait until the stops are sent. */
async function answerAll(desk: Desk, site: Site, batch: readonly Waiting[]): Promise<void> {
  const { app } = desk;
  const policy = await app.ports.policyOf(site.cluster);
  const verdicts = await markStops(app, site, batch, policy);
  if (verdicts === undefined) return resolveAll(batch, () => CONTENDED);
  if (verdicts.some(({ kind }) => kind === "not-seen-yet")) observeSoon(desk, site);
  const marked = batch.flatMap((one, index) => {
    const verdict = verdicts[index];
    if (verdict?.kind === "marked") return [{ ...one, node: verdict.node }];
    one.answer.resolve(verdict === undefined ? CONTENDED : answerOf(verdict));
    return [];
  });
  if (marked.length > 0) await grantStops(desk, site, marked, policy);
}

const CONTENDED = unsettled("too many at once; ask again");

function resolveAll<W extends Waiting>(batch: readonly W[], answerTo: (one: W) => StopAnswer): void {
  for (const one of batch) one.answer.resolve(answerTo(one));
}

/** First commit: nodes that are marked, and nodes that must stay. */
async function markStops(
  app: App,
  site: Site,
  batch: readonly Waiting[],
  policy: Policy,
): Promise<readonly StopVerdict[] | undefined> {
  const recall = app.lanes.recallOf(site.cluster);
  const calls = batch.map(({ call }) => call);
  const committed = await commitAfterPlan(
    app,
    site.cluster,
    ({ record, bodies }): Change<readonly StopVerdict[]> => {
      const decision = judgeStops(record, bodies, calls, policy, app.ports.clock.now(), recall);
      const { questions, verdicts: result } = decision;
      if (questions === bodies.questions || (bodies.questions === undefined && questions.size === 0))
        return { result };
      return { save: { record: decision.record, changes: { questions } }, result };
    },
  );
  if (committed.kind === "contended") return undefined;
  await reviveLoop(app, committed.record);
  return committed.result;
}

/** A node may be newer than the last observation. The answer does not wait for a new one: the node asks again. */
function observeSoon(desk: Desk, site: Site): void {
  const { app, lookedAt } = desk;
  const { clock } = app.ports;
  const last = lookedAt.get(site.cluster);
  if (last !== undefined && secondsBetween(last, clock.now()) < UNKNOWN_OBSERVATION_APART_SECONDS) return;
  lookedAt.set(site.cluster, clock.now());
  const look = async (): Promise<void> => {
    try {
      await reconcileCluster(app, site, "tick");
    } catch (error) {
      logFailure(app, site, "look-for-unknown-failed", error);
    }
  };
  goOn(desk, look());
}

function logFailure(app: App, site: Site, event: string, error: unknown): void {
  const kind = error instanceof PortError ? error.kind : "defect";
  app.ports.log(event, { cluster: site.cluster, kind, message: String(error) });
}

type MarkedOne = Waiting & Marked;

/** Second commit: the stops, after checking the record as it is now. */
async function grantStops(
  desk: Desk,
  site: Site,
  marked: readonly MarkedOne[],
  policy: Policy,
): Promise<void> {
  const { app } = desk;
  const owner = app.ports.entropy.owner();
  const recall = app.lanes.recallOf(site.cluster);
  const committed = await commitAfterPlan(app, site.cluster, ({ record, bodies }) => {
    const now = app.ports.clock.now();
    const { verdicts, ...decided } = confirmStops(record, bodies, marked, policy, now, owner, recall);
    return {
      save: { record: decided.record, changes: { questions: decided.questions } },
      result: verdicts,
    };
  });
  if (committed.kind === "contended") return resolveAll(marked, () => CONTENDED);
  const verdicts = committed.result;
  const granted = marked.filter(({ node, answer }) => {
    const verdict = verdicts.get(node);
    if (verdict?.kind === "granted") return true;
    answer.resolve(verdict === undefined ? CONTENDED : answerOf(verdict));
    return false;
  });
  if (granted.length === 0) return;
  const stops = committed.record.intents.filter((intent) => intent.owner === owner);
  goOn(desk, sendGranted(app, site, policy, stops, granted));
}

/** Sends the stops and answers their nodes. If this fails, the stop stays open and an observation settles it. */
async function sendGranted(
  app: App,
  site: Site,
  policy: Policy,
  stops: readonly Intent[],
  granted: readonly MarkedOne[],
): Promise<void> {
  const { clock } = app.ports;
  const deadline = plusSeconds(clock.now(), SEND_SECONDS);
  const run: Run = { app, site: measureCalls(app, site), policy, deadline };
  try {
    const findings = await applyIntents(run, stops);
    // The answer "yes" does not wait for its own commit: CycleCloud has accepted the stop in any case.
    for (const { node, answer } of granted) if (isTaken(findings, node)) answer.resolve({ kind: "stop" });
    const settled = await settleAll(run, findings);
    resolveAll(granted, ({ node }) => answerAfterSend(node, findings, settled));
  } catch (error) {
    logFailure(app, site, "stop-not-settled", error);
    resolveAll(granted, () => UNDER_WAY);
  }
}

/** CycleCloud itself has confirmed it. */
function isTaken(findings: readonly Finding[], node: NodeId): boolean {
  return findings.some(
    ({ evidence }) => evidence.kind === "terminated" && evidence.nodes.get(node)?.ok === true,
  );
}

const UNDER_WAY = unsettled("its stop is under way; ask again");

/** The state of the node's stop in the record once the send has ended. */
function answerAfterSend(
  node: NodeId,
  findings: readonly Finding[],
  settled: Settled | undefined,
): StopAnswer {
  if (settled === undefined) return UNDER_WAY;
  if (isAccepted(settled, node)) return { kind: "stop" };
  if (isStopOpen(settled, node)) return UNDER_WAY;
  return { kind: "cannot-tell", why: failureOf(findings, node), undrain: true };
}

/** Why CycleCloud did not accept a stop that certainly has no effect. */
function failureOf(findings: readonly Finding[], node: NodeId): string {
  for (const { evidence } of findings) {
    if (evidence.kind === "refused") return evidence.message;
    if (evidence.kind !== "terminated") continue;
    const outcome = evidence.nodes.get(node);
    if (outcome?.ok === false) return outcome.error ?? "CycleCloud refused";
  }
  return "CycleCloud was not asked to stop the node";
}

function answerOf(verdict: FinalVerdict): StopAnswer {
  switch (verdict.kind) {
    case "stopping":
      return { kind: "stop" };
    case "needed":
      return { kind: "stay", why: verdict.why, told: toldOf(verdict.why), undrain: verdict.undrain };
    case "not-seen-yet":
      return unsettled(verdict.why);
    case "granted":
      return UNDER_WAY;
    default:
      return verdict;
  }
}
