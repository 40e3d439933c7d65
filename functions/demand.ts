import type { StorageQueueHandler } from "@azure/functions";
import { PortError } from "../src/app/ports.ts";
import { putAside } from "../src/app/put-aside.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem, RequestSetUpdate } from "../src/domain/demand.ts";
import { tickByWake } from "../src/app/tick.ts";
import type { ClusterName, WakeId } from "../src/domain/ids.ts";
import { isTickWake, wakeId } from "../src/domain/ids.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import { plusSeconds } from "../src/domain/units.ts";
import type { MessageRead } from "../src/wire/demand-message.ts";
import { readDemandMessage } from "../src/wire/demand-message.ts";
import { compositionFor } from "./composition.ts";
import { describeDefect } from "./defect.ts";
import { sweepPoison } from "./poison.ts";
import { putBack } from "./put-back.ts";
import type { Delivery } from "./queue-message.ts";
import { insertedAt, messageIdOf, messageOf, textOf } from "./queue-message.ts";
import { reconcileDemand } from "./reconcile.ts";

/**
 * Queue `demand`. Returning acknowledges the message: the demand is in Table Storage, or the message is in `demand-rejected`, or it has no
 * effect (older, expired, covered). Throwing leaves the message to the host, which delivers it again and finally moves it to
 * `demand-poison`. Only unreachable storage does that. Any other failure would repeat, so the message is put aside with it at once.
 */
export async function handleDemand(
  composed: Composition,
  message: unknown,
  context: Delivery,
): Promise<void> {
  try {
    await takeIn(composed, message, context);
  } catch (error) {
    if (error instanceof PortError) throw error;
    await putAsideAs(composed, message, context, {}, [describeDefect(error)]);
  }
}

async function takeIn(composed: Composition, message: unknown, context: Delivery): Promise<void> {
  const { ports } = composed.app;
  const now = ports.clock.now();
  const read: MessageRead = readDemandMessage(messageOf(message), {
    messageId: messageIdOf(context),
    insertedAt: insertedAt(context, now),
    now,
    maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
    knownClusters: new Set(ports.sites.keys()),
    senderTime: composed.senderTime,
  });
  switch (read.kind) {
    case "update":
      return record(composed, message, context, read.update);
    case "wake":
      return wake(composed, read);
    case "stale":
      return ports.log("demand", {
        cluster: read.cluster,
        set: read.set,
        outcome: "stale",
        expiredAt: read.expiredAt,
      });
    case "rejected":
      return putAsideAs(composed, message, context, read, read.problems);
  }
}

async function record(
  composed: Composition,
  message: unknown,
  context: Delivery,
  update: RequestSetUpdate,
): Promise<void> {
  const { cluster, set } = update;
  const recorded = await composed.recorder.record(update);
  composed.app.ports.log("demand", { cluster, set, outcome: recorded.kind });
  switch (recorded.kind) {
    case "accepted":
      return reconcileDemand(composed, cluster, recorded.record);
    case "contended":
      throw new PortError("throttled", `record demand of ${cluster}`, "the record is contended");
    case "newer-state":
      return putBack(composed, message, update);
    case "refused":
      return putAsideAs(composed, message, context, update, recorded.problems);
    case "too-much":
      return putAsideAs(composed, message, context, update, [recorded.problem]);
    default:
      return;
  }
}

/**
 * Queue delays are whole seconds. The rest is waited for here, so that a wake message never comes too early. A message further ahead was
 * not sent by us in this form: it goes back into the queue until then, and does not occupy a place among the messages in work.
 */
async function wake(
  composed: Composition,
  { cluster, at, id }: Extract<MessageRead, { kind: "wake" }>,
): Promise<void> {
  const { clock, queue, triggers } = composed.app.ports;
  const early = at === undefined ? 0 : at - clock.now();
  if (at !== undefined && early > LONGEST_WAIT_MS * (clock.speed ?? 1)) return queue.wake(cluster, at, id);
  if (early > 0) await clock.sleep(early);
  if (id !== undefined && isTickWake(id)) return tickForTimer(composed, cluster, wakeId(id));
  // Before the observation of CycleCloud, which may take long: the note is about the queue alone.
  if (id !== undefined) await triggers.noteWake(cluster, { id, at: clock.now() });
  await reconcileDemand(composed, cluster);
}

/** The timer's work for this cluster, if the timer has not done it. A failed tick leaves its message: the timer may be silent. */
async function tickForTimer(composed: Composition, cluster: ClusterName, id: WakeId): Promise<void> {
  const { clock, queue, sites } = composed.app.ports;
  const site = sites.get(cluster);
  if (site === undefined) return;
  const { outcome } = await tickByWake(composed.app, site, id);
  if (outcome.kind === "superseded" || outcome.kind === "not-due") return;
  await sweepPoison(composed);
  if (outcome.kind === "failed") await queue.wake(cluster, plusSeconds(clock.now(), TRY_AGAIN_SECONDS), id);
}

const TRY_AGAIN_SECONDS = 60;

/** In real time: a delay that the queue can keep is at least a second. */
const LONGEST_WAIT_MS = 2000;

async function putAsideAs(
  { app: autoscaler }: Composition,
  message: unknown,
  context: Delivery,
  { cluster, set }: { readonly cluster?: string; readonly set?: string },
  problems: readonly Problem[],
): Promise<void> {
  await putAside(autoscaler, {
    messageId: messageIdOf(context),
    rejectedAt: autoscaler.ports.clock.now(),
    ...(cluster === undefined ? {} : { cluster }),
    ...(set === undefined ? {} : { set }),
    problems,
    text: textOf(message),
  });
}

export const onDemand: StorageQueueHandler = (message, context) =>
  handleDemand(compositionFor(context), message, context);
