import { noteCalls } from "../../decide/pace/calls.ts";
import { followUpAt, isWakePending } from "../../decide/record/whose-turn.ts";
import type { RequestId } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import { commitWhole } from "../record/commit.ts";
import { changesOf, settleFindings, takeCalls } from "./settle-findings.ts";
import type { Finding } from "./effects.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import type { Run } from "./run.ts";

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
    const due = followUpAt(current.record, noted, ids, now, run.policy);
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
