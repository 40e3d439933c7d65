import { beginEpochSetBack } from "../../decide/record/epoch.ts";
import type { ClusterName } from "../../domain/ids.ts";
import { instant, plusSeconds } from "../../domain/units.ts";
import type { KnownPlans } from "../process/known-plans.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/app.ts";
import type { Current } from "./current.ts";
import type { Seconds } from "../../domain/units.ts";

/** A record that was set back to an earlier state continues under a new epoch (docs/protocol.md, Recovery). */

/** Rows of the plan archive that are read at once. */
const PAGE = 1000;
/** A host whose clock is ahead may have written history. */
const AHEAD_SECONDS: Seconds = 86_400;

/**
 * Loads the record and detects that it was set back: plan numbers only rise, and this process, the history or the plan archive knows a
 * higher one. The returned record then has a new epoch, which the next save makes permanent.
 */
export async function loadInOrder<C extends Current>(
  app: App,
  cluster: ClusterName,
  load: () => Promise<C>,
): Promise<C> {
  const plans = app.lanes.memoryOf(cluster).plans;
  // Read before the record, and saved earlier: a lower number in the record means that it was set back.
  const known = plans.highest;
  const current = await load();
  const { plan } = current.record;
  if (!plans.isComplete && (await learnPlans(app, cluster, plans, plan)) > plan)
    return loadInOrder(app, cluster, load);
  if (plan >= known) {
    plans.note(plan);
    return current;
  }
  const { clock, entropy, log } = app.ports;
  log("record-set-back", { cluster, plan, known });
  const setBack = { epoch: entropy.epoch(), plan: known };
  return { ...current, record: beginEpochSetBack(current.record, setBack, clock.now()) };
}

/** The highest plan number of history and archive, read once per process. 0 if they cannot be read; the next load tries again. */
async function learnPlans(app: App, cluster: ClusterName, plans: KnownPlans, above: number): Promise<number> {
  const { clock, history, log } = app.ports;
  try {
    const until = plusSeconds(clock.now(), AHEAD_SECONDS);
    const [[newest], kept] = await Promise.all([
      history.read(cluster, instant(0), until, 1),
      lastKept(app, cluster, above),
    ]);
    const highest = Math.max(newest?.plan ?? 0, kept);
    plans.complete(highest);
    return highest;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    log("plans-not-read", { cluster, kind: error.kind, message: error.message });
    return 0;
  }
}

async function lastKept({ ports }: App, cluster: ClusterName, above: number): Promise<number> {
  let last = above;
  for (;;) {
    const rows = await ports.plans.list(cluster, last + 1, Number.MAX_SAFE_INTEGER - 1, PAGE);
    last = rows.at(-1)?.number ?? last;
    if (rows.length < PAGE) return last;
  }
}
