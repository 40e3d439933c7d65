import { judgeStops } from "../../decide/autostop/judge-stops.ts";
import type { ClusterName } from "../../domain/ids.ts";
import { leavesStop } from "../../decide/pace/cut-off.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import { commitAfterPlan } from "../record/commit-after-plan.ts";
import { applyIntents } from "../effects/effects.ts";
import { measureCalls } from "../effects/measure-calls.ts";
import type { Site } from "../ports/site.ts";
import { PortError } from "../ports/port-error.ts";
import { reconcileCluster } from "../reconcile/reconcile-cluster.ts";
import { settleAll } from "../effects/settle-all.ts";
import type { App } from "../process/app.ts";
import type { CurrentInForce } from "../record/current.ts";
import type { Run } from "../effects/run.ts";
import { reviveLoop } from "../reconcile/revive-loop.ts";
import type { StopCall, StopDecision } from "../../decide/autostop/stop-verdict.ts";
import type { Marked } from "../../decide/autostop/confirm-stops.ts";
import { confirmStops } from "../../decide/autostop/confirm-stops.ts";
import { CHANGED, CONTENDED, UNDER_WAY, answerOf, answerAfterSend, isTaken } from "./stop-answer.ts";
import type { StopAnswer } from "./stop-answer.ts";

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
  const recall = app.lanes.recallOf(site.cluster);
  const committed = await commitAfterPlan(app, site.cluster, ({ record, bodies, policy }): Change<Judged> => {
    const now = app.ports.clock.now();
    const unsendable = isUnsendable(app, site, record, now) ? { unsendable: true as const } : {};
    const calls = batch.map(({ call }) => ({ ...call, ...unsendable }));
    const decision = judgeStops(record, bodies, calls, policy, now, recall);
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
  const recall = app.lanes.recallOf(site.cluster);
  const change = (current: CurrentInForce): Change<Confirmed | undefined> => {
    if (current.policy.document !== policy.document) return { result: undefined };
    const { record, bodies } = current;
    const now = app.ports.clock.now();
    const { verdicts, ...decided } = confirmStops(record, bodies, marked, policy, now, owner, recall, up);
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
