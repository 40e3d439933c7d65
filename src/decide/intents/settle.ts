import type { NodeId, RequestId } from "../../domain/ids.ts";
import type { Intent, StartEffect } from "../../domain/intent.ts";
import type { NodeStart } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { backOff } from "./back-off.ts";
import { settleCreate } from "./settle-create.ts";
import { settleStop } from "./stops.ts";
import type { Evidence, Settled } from "./evidence.ts";
import { failedStart } from "./node-starts.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Settles one intent by new evidence. Nothing changes if the intent is gone already. */
export function settle(state: Settled, id: RequestId, evidence: Evidence, now: Instant): Settled {
  const intent = state.record.intents.find((candidate) => candidate.id === id);
  if (intent === undefined) return state;
  switch (intent.effect.kind) {
    case "create":
      return { ...state, record: settleCreate(state.record, intent, intent.effect, evidence, now) };
    case "start":
      return settleStart(state, intent, intent.effect, evidence, now);
    case "terminate":
      return settleStop(state, intent, intent.effect, evidence, now);
  }
}

/** Settles a start. It is never sent again. The evidence is noted with its nodes, and an observation shows the outcome (node-starts.ts). */
function settleStart(
  state: Settled,
  intent: Intent,
  effect: StartEffect,
  evidence: Evidence,
  now: Instant,
): Settled {
  let record: ClusterRecord = {
    ...state.record,
    intents: state.record.intents.filter((other) => other !== intent),
  };
  const ledger = new Map(state.ledger);
  for (const id of effect.nodes) {
    const node = ledger.get(id);
    // An observation that shows the start may come before the answer. It is more exact, and the boot timeout counts from it.
    if (node === undefined || node.start?.state === "shown") continue;
    const start = afterStart(id, evidence, now);
    const { start: _before, ...rest } = node;
    ledger.set(
      id,
      start === undefined ? rest : { ...rest, start: { ...start, plannedAt: intent.committedAt } },
    );
    // A node that is refused by itself is replaced by another of its bucket. A request that is refused would be again.
    if (start?.state === "refused" && evidence.kind === "refused")
      record = backOff(record, effect.bucket, "refused", `${node.name}: ${start.message}`, now);
  }
  return { ...state, record, ledger };
}

/** The start of a node after evidence. Undefined if there was certainly no effect and no refusal: then it may be decided again at once. */
function afterStart(id: NodeId, evidence: Evidence, now: Instant): NodeStart | undefined {
  switch (evidence.kind) {
    case "started": {
      const answer = evidence.nodes.get(id);
      if (answer?.ok === true) return { state: "accepted", since: now };
      // CycleCloud did not match the node: it is gone, or cannot be started (cyclecloud-wire.md A.7).
      const message =
        answer === undefined ? "CycleCloud's answer to its start does not list it" : answer.error;
      return failedStart(message ?? "CycleCloud refused to start it", now);
    }
    case "refused":
      return failedStart(evidence.message, now);
    case "found":
      return { state: "accepted", since: now };
    case "not-sent":
      return undefined;
    case "absent": {
      if (evidence.afterSend === "none") return undefined;
      const { message } = evidence;
      return { state: "unsure", since: now, ...withoutAbsent({ message }) };
    }
    case "unclear":
    case "accepted":
    case "terminated":
    case "named":
    case "withdrawn":
      return { state: "unsure", since: now };
  }
}
