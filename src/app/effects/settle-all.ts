import { noteCalls } from "../../decide/pace/calls.ts";
import { followUpAt, isWakePending } from "../../decide/record/whose-turn.ts";
import type { RequestId } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import { commitWhole } from "../record/commit.ts";
import type { Finding } from "./effects.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import type { Run } from "./run.ts";
import type { MeasuredCall } from "../../decide/pace/calls.ts";
import { settle } from "../../decide/intents/settle.ts";
import type { BodyChanges } from "../ports/record-store.ts";
import type { CurrentWhole } from "../record/load-record.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/**
 * Commits the findings. Everything still open (also of `open`), short of its count or without effect is followed up before the next tick.
 * Returns the record after that. Undefined if others committed first every time.
 */
export async function settleAll(
  run: Run,
  findings: readonly Finding[],
  open: readonly RequestId[] = [],
): Promise<Settled | undefined> {
  const { clock, queue } = run.app.ports;
  const ids = new Set([...findings.map((finding) => finding.id), ...open]);
  const calls = takeCalls(run);
  const committed = await commitWhole(run.app, run.site.cluster, (current): Change<SettledAll> => {
    const now = clock.now();
    const settled = settleFindings(current, findings, now);
    const noted = noteCalls(settled.record, calls, current.policy, now);
    const due = followUpAt(current.record, { ...settled, record: noted }, ids, now, run.policy);
    const wake = due !== undefined && !isWakePending(noted, now, due);
    const record: ClusterRecord = wake ? { ...noted, wakeAt: due, wakeFor: "follow-up" } : noted;
    const result = { settled: { ...settled, record }, ...(wake ? { due } : {}) };
    return { save: { record, changes: changesOf(current, settled) }, result };
  });
  if (committed.kind === "contended") return undefined;
  const { due, settled } = committed.result;
  if (due !== undefined) await queue.wake(run.site.cluster, due);
  return settled;
}

interface SettledAll {
  readonly settled: Settled;
  readonly due?: Instant;
}

/** The record after the findings about its intents. */
export function settleFindings(current: CurrentWhole, findings: readonly Finding[], now: Instant): Settled {
  const { ledger, questions } = current.bodies;
  const state: Settled = {
    record: current.record,
    ledger,
    ...withoutAbsent({ questions }),
  };
  return findings.reduce((settled, { id, evidence }) => settle(settled, id, evidence, now), state);
}

/** Findings about creates and starts are in the ledger, those about stops in the questions. Only changed parts are written. */
export function changesOf({ bodies }: CurrentWhole, { ledger, questions }: Settled): BodyChanges {
  return {
    ...(ledger === bodies.ledger ? {} : { ledger }),
    ...(questions === undefined || questions === bodies.questions ? {} : { questions }),
  };
}

/** The calls that ended since the record last received any. */
export function takeCalls({ app, site }: Run): readonly MeasuredCall[] {
  return app.lanes.memoryOf(site.cluster).calls.take();
}
