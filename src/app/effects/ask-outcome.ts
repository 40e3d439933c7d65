import { certainAfterSend, certainBefore } from "../../decide/intents/send-times.ts";
import type { RequestId } from "../../domain/ids.ts";
import type { Intent } from "../../domain/intent.ts";
import { knowsRequest } from "./ask-request.ts";
import { withCredentials } from "./credentials.ts";
import { PortError } from "../ports/port-error.ts";
import type { Evidence } from "../../decide/intents/evidence.ts";
import type { Run } from "./run.ts";

/** CycleCloud's state of a stop whose answer is missing. Operations are documented for creates only (cyclecloud-wire.md A.9). */
export async function askStop(run: Run, id: RequestId): Promise<Evidence> {
  const { app, site } = run;
  const { cluster, cyclecloud } = site;
  try {
    if (await withCredentials(app, site, () => cyclecloud.knowsRequest(cluster, id)))
      return { kind: "found" };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
  }
  try {
    const nodes = (await withCredentials(app, site, () => cyclecloud.nodesOfRequest(cluster, id))) ?? [];
    const named = new Set(nodes.map(({ nodeId }) => nodeId));
    return named.size === 0 ? { kind: "unclear" } : { kind: "named", nodes: named };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { kind: "unclear" };
  }
}

/** The outcome of an intent that we have just sent, and others maybe before. */
export function askAfterSend(
  run: Run,
  intent: Intent,
  afterSend: "conflict" | "no-answer",
  message?: string,
): Promise<Evidence> {
  const own = certainAfterSend(
    intent,
    { answered: afterSend === "conflict" },
    run.app.ports.clock.now(),
    run.policy,
  );
  const before = intent.sent === "never" ? own : certainBefore(intent, run.policy);
  const held = { by: intent.owner, certainFrom: before > own ? before : own };
  return askFor(run, intent.id, { afterSend, held, ...(message === undefined ? {} : { message }) });
}

type AfterSend = Pick<Extract<Evidence, { kind: "absent" }>, "afterSend" | "held" | "message">;

/** The state of a create or a start. "unclear" if CycleCloud does not answer. `sent`: what is known of the last send. */
export async function askFor(run: Run, id: RequestId, sent: AfterSend): Promise<Evidence> {
  const askedAt = run.app.ports.clock.now();
  try {
    return (await knowsRequest(run, id)) ? { kind: "found" } : { kind: "absent", askedAt, ...sent };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { kind: "unclear", held: sent.held };
  }
}
