import type { FinalVerdict, StopDecision, StopCall } from "../../decide/autostop/stop-survey.ts";
import type { ClusterName, NodeId } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import { commitAfterPlan } from "../record/commit.ts";
import type { Site } from "../ports/ports.ts";
import type { App } from "../process/lanes.ts";
import type { CurrentInForce } from "../record/load-record.ts";
import type { Run } from "../effects/run.ts";
import type { Marked } from "../../decide/autostop/confirm-stops.ts";
import { confirmStops } from "../../decide/autostop/confirm-stops.ts";
import type { Finding } from "../effects/effects.ts";
import { applyIntents, measureCalls } from "../effects/effects.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import { leavesStop } from "../../decide/pace/calls.ts";
import { judgeStops } from "../../decide/autostop/judge-stops.ts";
import { PortError } from "../ports/port-error.ts";
import { reconcileCluster } from "../reconcile/reconcile-cluster.ts";
import { settleAll } from "../effects/settle-all.ts";
import { reviveLoop } from "../reconcile/reserve-observation.ts";
import { isAccepted, isStopOpen } from "../../decide/intents/stops.ts";
import { STOP_UNDER_WAY } from "../../decide/autostop/stop-objections.ts";
import { toldOf } from "../../decide/autostop/spare-nodes.ts";

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
  | Extract<FinalVerdict, { readonly kind: "cannot-tell" }>;

/** No answer yet: the node asks again. */
export function askAgain(why: string): StopAnswer {
  return { kind: "cannot-tell", why, undrain: false };
}

/** A question that waits for its answer. */
export interface Waiting {
  readonly call: StopCall;
  readonly answer: PromiseWithResolvers<StopAnswer>;
}

/** Work that answers have begun in this process. */
export interface StopWork {
  readonly app: App;
  /** When a question for an unknown instance last began an observation. */
  readonly observedAt: Map<ClusterName, Instant>;
  /** Stops being sent, and observations. None of them rejects. */
  readonly underWay: Set<Promise<void>>;
}

/** Questions for unknown instances begin at most one observation in this time. */
const UNKNOWN_OBSERVATION_APART_SECONDS: Seconds = 30;

/** A stop is sent within its lease. This limits only the rest of the run. */
const SEND_SECONDS: Seconds = 60;

/**
 * Answers questions about one cluster with two commits: the marks, and the stops. Does not wait until the stops are sent. Throws PortError of
 * the store.
 */
export async function answerAll(desk: StopWork, site: Site, batch: readonly Waiting[]): Promise<void> {
  const { app } = desk;
  const judged = await markStops(app, site, batch);
  if (judged === undefined) return resolveAll(batch, () => CONTENDED);
  const { verdicts, up, policy } = judged;
  if (verdicts.some(({ kind }) => kind === "not-seen-yet")) observeSoon(desk, site);
  const marked = batch.flatMap((one, index) => {
    const verdict = verdicts[index];
    if (verdict?.kind === "marked") return [{ ...one, node: verdict.node }];
    one.answer.resolve(verdict === undefined ? CONTENDED : answerOf(verdict));
    return [];
  });
  if (marked.length > 0) await grantStops(desk, site, marked, up, policy);
}

function resolveAll<W extends Waiting>(batch: readonly W[], answerTo: (one: W) => StopAnswer): void {
  for (const one of batch) one.answer.resolve(answerTo(one));
}

/** The decision on a batch, and the configuration under which it was made. */
type Judged = Pick<StopDecision, "verdicts" | "up"> & { readonly policy: Policy };

/** First commit: nodes that are marked, and nodes that must stay. */
async function markStops(app: App, site: Site, batch: readonly Waiting[]): Promise<Judged | undefined> {
  const committed = await commitAfterPlan(app, site.cluster, ({ record, bodies, policy }): Change<Judged> => {
    const now = app.ports.clock.now();
    const unsendable = isUnsendable(app, site, record, now) ? { unsendable: true as const } : {};
    const calls = batch.map(({ call }) => ({ ...call, ...unsendable }));
    const decision = judgeStops(record, bodies, calls, policy, now);
    const { questions, verdicts, up } = decision;
    const result = { verdicts, up, policy };
    if (questions === bodies.questions || (bodies.questions === undefined && questions.size === 0))
      return { result };
    return { save: { record: decision.record, changes: { questions } }, result };
  });
  if (committed.kind === "contended") return undefined;
  await reviveLoop(app, committed.record);
  return committed.result;
}

/** Whether another instance reaches CycleCloud, and this one got no answer to its last status or stop. */
function isUnsendable({ lanes }: App, { cluster }: Site, record: ClusterRecord, now: Instant): boolean {
  const { calls } = lanes.memoryOf(cluster);
  return (["status", "terminate"] as const).some((endpoint) =>
    leavesStop(record, calls.silentCall(endpoint), now),
  );
}

/** A node may be newer than the last observation. The answer does not wait for a new one: the node asks again. */
function observeSoon(desk: StopWork, site: Site): void {
  const { app, observedAt } = desk;
  const { clock } = app.ports;
  const last = observedAt.get(site.cluster);
  if (last !== undefined && secondsBetween(last, clock.now()) < UNKNOWN_OBSERVATION_APART_SECONDS) return;
  observedAt.set(site.cluster, clock.now());
  const observe = async (): Promise<void> => {
    try {
      await reconcileCluster(app, site, "tick");
    } catch (error) {
      logFailure(app, site, "observation-for-unknown-failed", error);
    }
  };
  goOn(desk, observe());
}

type MarkedOne = Waiting & Marked;

type Confirmed = ReturnType<typeof confirmStops>["verdicts"];

/** Second commit: the stops, after checking the record as it is now. `policy`: the configuration under which the nodes were marked. */
async function grantStops(
  desk: StopWork,
  site: Site,
  marked: readonly MarkedOne[],
  up: Judged["up"],
  policy: Policy,
): Promise<void> {
  const { app } = desk;
  const owner = app.ports.entropy.owner();
  const change = (current: CurrentInForce): Change<Confirmed | undefined> => {
    if (current.policy.document !== policy.document) return { result: undefined };
    const { record, bodies } = current;
    const now = app.ports.clock.now();
    const { verdicts, ...decided } = confirmStops(record, bodies, marked, policy, now, owner, up);
    return {
      save: { record: decided.record, changes: { questions: decided.questions } },
      result: verdicts,
    };
  };
  const committed = await commitAfterPlan(app, site.cluster, change);
  if (committed.kind === "contended") return resolveAll(marked, () => CONTENDED);
  const verdicts = committed.result;
  if (verdicts === undefined) return resolveAll(marked, () => CHANGED);
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

/** Lets work continue while the next questions are answered. */
function goOn({ underWay }: StopWork, work: Promise<void>): void {
  underWay.add(work);
  void work.then(() => underWay.delete(work));
}

export function logFailure(app: App, site: Site, event: string, error: unknown): void {
  const kind = error instanceof PortError ? error.kind : "defect";
  app.ports.log(event, { cluster: site.cluster, kind, message: String(error) });
}

const CONTENDED = askAgain("too many at once; ask again");

/** Whether a stop is granted is decided under the configuration under which the node was marked, or not at all. */
const CHANGED = askAgain("the configuration has changed; ask again");

const UNDER_WAY: StopAnswer = STOP_UNDER_WAY;

/** The answer leaves before the question is decided. */
export const LATE: StopAnswer = {
  kind: "cannot-tell",
  why: "no answer in time; ask again",
  undrain: false,
  underWay: true,
};

/** The answer that follows from a verdict. A stop that was granted is still to be sent. */
function answerOf(verdict: FinalVerdict): StopAnswer {
  switch (verdict.kind) {
    case "stopping":
      return { kind: "stop" };
    case "needed":
      return { kind: "stay", why: verdict.why, told: toldOf(verdict.why), undrain: verdict.undrain };
    case "not-seen-yet":
      return askAgain(verdict.why);
    case "granted":
      return UNDER_WAY;
    default:
      return verdict;
  }
}

/** The answer once the send has ended, by the state of the node's stop in the record. */
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

/** CycleCloud itself has confirmed the stop of the node. */
function isTaken(findings: readonly Finding[], node: NodeId): boolean {
  return findings.some(
    ({ evidence }) => evidence.kind === "terminated" && evidence.nodes.get(node)?.ok === true,
  );
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
