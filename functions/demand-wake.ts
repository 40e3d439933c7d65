import { tickByWake } from "../src/app/tick.ts";
import type { Composition } from "../src/compose.ts";
import type { ClusterName, WakeId } from "../src/domain/ids.ts";
import { isTickWake, wakeId } from "../src/domain/ids.ts";
import { plusSeconds } from "../src/domain/units.ts";
import type { MessageRead } from "../src/wire/message/message-read.ts";
import { sweepPoison } from "./poison.ts";
import { reconcileDemand } from "./reconcile.ts";
import type { Milliseconds, Seconds } from "../src/domain/units.ts";

/**
 * Handles a wake message. Queue delays are whole seconds, so the rest of the time is waited for here: no wake message is handled too early.
 * A message that is further ahead is not ours. It goes back into the queue until then. Throws PortError of the queue and the store.
 */
export async function handleWake(
  composed: Composition,
  { cluster, at, id }: Extract<MessageRead, { kind: "wake" }>,
): Promise<void> {
  const { clock, queue, triggers } = composed.app.ports;
  const early = at === undefined ? 0 : at - clock.now();
  if (at !== undefined && early > LONGEST_WAIT_MS * (clock.speed ?? 1)) return queue.wake(cluster, at, id);
  if (early > 0) await clock.sleep(early);
  if (id !== undefined && isTickWake(id)) return tickForTimer(composed, cluster, wakeId(id));
  // Before the observation, which may take long: the note only proves that the queue works.
  if (id !== undefined) await triggers.noteWake(cluster, { id, at: clock.now() });
  await reconcileDemand(composed, cluster);
}

/** Makes the timer's tick of this cluster if it is due. After a failed tick it sends the message again, because the timer may be silent. */
async function tickForTimer(composed: Composition, cluster: ClusterName, id: WakeId): Promise<void> {
  const { clock, queue, sites } = composed.app.ports;
  const site = sites.get(cluster);
  if (site === undefined) return;
  const { outcome } = await tickByWake(composed.app, site, id);
  if (outcome.kind === "superseded" || outcome.kind === "not-due") return;
  await sweepPoison(composed);
  if (outcome.kind === "failed") await queue.wake(cluster, plusSeconds(clock.now(), TRY_AGAIN_SECONDS), id);
}

const TRY_AGAIN_SECONDS: Seconds = 60;

/** Longer delays are left to the queue. In real time. */
const LONGEST_WAIT_MS: Milliseconds = 2000;
