import { settle } from "../../decide/intents/settle.ts";
import { contradictedNodes } from "../../decide/stops/still-idle.ts";
import type { Intent } from "../../domain/intent.ts";
import { maySteer } from "../../domain/mode.ts";
import type { Instant } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import { commitWhole } from "../record/commit.ts";
import { changesOf, settleFindings } from "../effects/settle-findings.ts";
import { applyIntents } from "../effects/effects.ts";
import type { ArrayTemplates } from "../ports/cyclecloud.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import type { CurrentInForce } from "../record/current.ts";
import type { Reconcile } from "./reconcile-run.ts";
import { settleAll } from "../effects/settle-all.ts";

/** Stops go first, and creates do not wait for their answers: a create that is late is not sent by any instance for a while. */
export async function applyOurs(
  run: Reconcile,
  ours: readonly Intent[],
  templates: ArrayTemplates,
): Promise<void> {
  const stops = ours.filter(({ effect }) => effect.kind === "terminate");
  const others = ours.filter(({ effect }) => effect.kind !== "terminate");
  const apply = async (intents: readonly Intent[]) => {
    if (intents.length > 0) await settleAll(run, await applyIntents(run, intents, templates));
  };
  const ended = await Promise.allSettled([sendStillIdle(run, stops), apply(others)]);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

/**
 * Sends the stops of a plan after reading the record again. Leaves out hosts that have a job, about which a newer report or answer
 * disagrees, or whose array the configuration in force only observes.
 */
async function sendStillIdle(run: Reconcile, stops: readonly Intent[]): Promise<void> {
  const ids = new Set(stops.map(({ id }) => id));
  if (ids.size === 0) return;
  const { clock } = run.app.ports;
  const committed = await commitWhole(run.app, run.site.cluster, (current): Change<undefined> => {
    const now = clock.now();
    const settled = current.record.intents
      .filter(({ id }) => ids.has(id))
      .reduce(
        (state, intent) => withdrawContradicted(state, intent, current, now),
        settleFindings(current, [], now),
      );
    if (settled.record === current.record) return { result: undefined };
    return { save: { record: settled.record, changes: changesOf(current, settled) }, result: undefined };
  });
  if (committed.kind === "contended") return;
  const left = committed.record.intents.filter(({ id }) => ids.has(id));
  if (left.length > 0) await settleAll(run, await applyIntents(run, left));
}

/** Withdraws the nodes of a stop about which the record has changed since it was committed, or whose array does not act any more. */
function withdrawContradicted(
  state: Settled,
  { id, effect, committedAt }: Intent,
  { record, bodies, policy }: CurrentInForce,
  now: Instant,
): Settled {
  if (effect.kind !== "terminate") return state;
  const observed = effect.nodes.filter((node) => {
    const array = bodies.ledger.get(node)?.array;
    return array !== undefined && !maySteer(policy, array);
  });
  const contradicted = contradictedNodes(effect.nodes, committedAt, record, bodies, policy, now);
  const nodes = new Set([...observed, ...contradicted]);
  return nodes.size === 0 ? state : settle(state, id, { kind: "withdrawn", nodes }, now);
}
