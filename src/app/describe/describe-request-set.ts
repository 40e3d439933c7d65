import { holds, recallSets } from "../../decide/record/finished-sets.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { instant, isoTime, plusSeconds } from "../../domain/units.ts";
import type { OneRequestSetShown } from "../../wire/api/request-set-answers.ts";
import type { App } from "../process/app.ts";
import { loadToShow } from "../record/load-record.ts";
import type { Current } from "../record/current.ts";
import { verdictOn } from "./describe-nodes.ts";
import { describeProposal, describeWhy } from "./describe-plan.ts";
import { describeSet } from "./describe-sets.ts";
import { expectReady } from "./expect-ready.ts";
import { metadataOf } from "./explain-cluster.ts";
import type { PageStart } from "./pages.ts";
import { Pages } from "./pages.ts";

/**
 * One request set for its sender: its times, and the outcome of each demand in the last plan. Undefined if nothing of it is known. Throws
 * PortError of the store.
 */
export async function describeRequestSet(
  app: App,
  cluster: ClusterName,
  set: SetName,
  start?: PageStart,
): Promise<OneRequestSetShown | undefined> {
  const current = await loadToShow(app, cluster);
  const { bodies } = current;
  const now = app.ports.clock.now();
  const record = await recall(app, current, set);
  const described = describeSet(record, set, bodies, now);
  if (described === undefined) return undefined;
  const outcomes = (bodies.plan?.demands ?? []).filter((outcome) => outcome.set === set);
  const notedOf = metadataOf(record, bodies, set);
  const waits = outcomes.some(({ pending }) => pending > 0);
  const withheld = waits ? bodies.plan?.withheld : undefined;
  // It is unknown when nodes come that are not requested yet.
  const comes = withheld === undefined || withheld.creates.length + withheld.starts.length === 0;
  const isWatched = bodies.plan?.mode === "observe";
  const expected = waits && comes && !isWatched ? readyFor(set, bodies, now) : undefined;
  const pages = new Pages(start);
  const whole = {
    ...described,
    expectedReadyAt: expected === undefined ? undefined : isoTime(expected),
    withheld: withheld === undefined ? undefined : describeProposal(withheld, bodies, "withheld", pages),
    observed: record.observedGeneration === record.generation,
    outcomes: pages.cut("outcomes", outcomes, (outcome): OneRequestSetShown["outcomes"][number] => {
      const { id, kind, unit, asked, placed, pending } = outcome;
      const ends = { ...describeWhy(outcome), metadata: notedOf(id) };
      return { set, id, kind, unit, asked, placed, pending, ...ends };
    }),
  };
  return { ...whole, ...pages.end() };
}

/** The record including the set, even if it is over and has left the record. */
async function recall({ ports }: App, { record, stored }: Current, set: SetName): Promise<ClusterRecord> {
  if (stored === undefined || holds(record, set)) return record;
  return recallSets(record, await ports.store.finished(stored, [set]), [set]);
}

/** When the last node that a set waits for can be expected. A node that no observation has shown yet takes as long as others did. */
function readyFor(set: SetName, bodies: Bodies, now: Instant): Instant | undefined {
  const ready = expectReady(bodies);
  const waitedFor = (bodies.seen?.nodes ?? [])
    .filter(({ nodeId }) => isNeededBy(verdictOn(bodies, nodeId), set))
    .map((node) => ready.of(node))
    .filter((at) => at !== undefined);
  const last = Math.max(...waitedFor);
  return waitedFor.length === 0 ? plusSeconds(now, ready.usualSeconds) : instant(last);
}

function isNeededBy(verdict: NodeVerdict | undefined, set: SetName): boolean {
  return verdict?.kind === "needed" && verdict.by.some((demand) => demand.startsWith(`${set}/`));
}
