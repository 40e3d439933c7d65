import { isAccepted, isStopOpen } from "../../decide/intents/stops.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Finding } from "../effects/effects.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import type { FinalVerdict } from "../../decide/autostop/stop-verdict.ts";
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

export const CONTENDED = askAgain("too many at once; ask again");

/** Whether a stop is granted is decided under the configuration under which the node was marked, or not at all. */
export const CHANGED = askAgain("the configuration has changed; ask again");

export const UNDER_WAY: StopAnswer = STOP_UNDER_WAY;

/** The answer leaves before the question is decided. */
export const LATE: StopAnswer = {
  kind: "cannot-tell",
  why: "no answer in time; ask again",
  undrain: false,
  underWay: true,
};

/** The answer that follows from a verdict. A stop that was granted is still to be sent. */
export function answerOf(verdict: FinalVerdict): StopAnswer {
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
export function answerAfterSend(
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
export function isTaken(findings: readonly Finding[], node: NodeId): boolean {
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
