import { tickByWake } from "../src/app/tick.ts";
import type { Composition } from "../src/compose.ts";
import type { ClusterName, WakeId } from "../src/domain/ids.ts";
import { isTickWake, wakeId } from "../src/domain/ids.ts";
import { plusSeconds } from "../src/domain/units.ts";
import type { MessageRead } from "../src/wire/message-read.ts";
import { sweepPoison } from "./poison.ts";
import { reconcileDemand } from "./reconcile.ts";
import type { Milliseconds, Seconds } from "../src/domain/units.ts";

/**
 * Queue delays are whole seconds; the rest is waited for here, so that a wake message never comes too early. One that is further ahead was
 * not sent by us so: it goes back into the queue until then, and does not hold a place among the messages in hand.
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
  // Before the look at CycleCloud, which may take long: the note proves the queue alone.
  if (id !== undefined) await triggers.noteWake(cluster, { id, at: clock.now() });
  await reconcileDemand(composed, cluster);
}

/** What the timer does for this cluster, if it has not. A tick that failed leaves its message: the timer may be silent. */
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

/** In real time: a delay that the queue can keep is at least a second. */
const LONGEST_WAIT_MS: Milliseconds = 2000;
