import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import type { ClusterName, NodeId } from "../../domain/ids.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import { costOf, hoursOf, lifeKey } from "../../domain/node-life.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import { endText } from "../../decide/explain/node-text.ts";
import { unneededSince } from "../../decide/need/unneeded.ts";
import { livesOf } from "../../decide/nodes/node-life.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { NodeHistoryShown, NodeLifeShown } from "../../wire/api/node-history-answer.ts";
import type { LivesAsked } from "../ports/record-store.ts";
import type { App } from "../process/lanes.ts";
import { loadWhole } from "../record/load-record.ts";
import { arrayShown } from "../../domain/bucket.ts";
import { phaseShown } from "./describe-nodearrays.ts";
import { verdictOn } from "./describe-nodes.ts";
import { firstBytes } from "./pages.ts";

/** Nodes that were there at some moment between `from` and `to`. */
interface LivesRange extends LivesAsked {
  readonly to: Instant;
}

/**
 * The nodes of a time: those that are there, and those that have gone, the last first. Nodes that are there, or went in the last hour, stand in the
 * ledger; the others are kept (docs/protocol.md, History of nodes).
 */
export async function describeNodeHistory(
  app: App,
  cluster: ClusterName,
  range: LivesRange,
): Promise<NodeHistoryShown> {
  const { clock, policyOf } = app.ports;
  const [{ bodies }, policy] = await Promise.all([loadWhole(app, cluster), policyOf(cluster)]);
  const { ledger, seen } = bodies;
  const now = clock.now();
  const known = livesOf([...ledger.values()], seen, policy);
  const { after = "" } = range;
  const keyed = known.filter((life) => isIn(life, range)).map((life) => ({ key: lifeKey(life), life }));
  const following = keyed.filter(({ key }) => key > after).toSorted((a, b) => compareText(a.key, b.key));
  const isThere = following.findLastIndex(({ life }) => life.goneAt === undefined) + 1;
  const kept = isThere > range.limit ? [] : await readKept(app, cluster, range, (id) => ledger.has(id));
  const all = [...following, ...kept].toSorted((a, b) => compareText(a.key, b.key));
  const describe = lifeDescriber(bodies, now);
  const described = all.slice(0, range.limit).map(({ life }) => describe(life));
  const rows = firstBytes(described);
  return { cluster, rows, next: rows.length < all.length ? all[rows.length - 1]?.key : undefined };
}

interface Keyed {
  readonly key: string;
  readonly life: NodeLife;
}

/** Nodes read from storage at a time. */
const READ_TOGETHER = 1000;

/** Kept nodes of the time, one more than the limit if there are more. */
async function readKept(
  { ports: { nodeHistory } }: App,
  cluster: ClusterName,
  range: LivesRange,
  isKnown: (id: NodeId) => boolean,
): Promise<readonly Keyed[]> {
  const { from, limit } = range;
  const found: Keyed[] = [];
  for (let after = range.after; ;) {
    const read = await nodeHistory.read(cluster, {
      from,
      limit: READ_TOGETHER,
      ...withoutAbsent({ after }),
    });
    for (const life of read)
      if (isIn(life, range) && !isKnown(life.nodeId)) found.push({ key: lifeKey(life), life });
    const last = read.at(-1);
    if (last === undefined || read.length < READ_TOGETHER || found.length > limit)
      return found.slice(0, limit + 1);
    after = lifeKey(last);
  }
}

function isIn({ asked, firstSeenAt, goneAt }: NodeLife, { from, to }: LivesRange): boolean {
  return (asked?.at ?? firstSeenAt) <= to && (goneAt === undefined || goneAt >= from);
}

/** Describes lives of nodes. `bodies`: for the nodes that are there. */
export function lifeDescriber(bodies: Bodies, now: Instant): (life: NodeLife) => NodeLifeShown {
  const nodes = new Map((bodies.seen?.nodes ?? []).map((node) => [node.nodeId, node]));
  return (life) => describeLife(life, nodes.get(life.nodeId), bodies, now);
}

function describeLife(life: NodeLife, node: Node | undefined, bodies: Bodies, now: Instant): NodeLifeShown {
  const { asked, draining, firstNeeded, goneAt, price } = life;
  const { all, off } = hoursOf(life, now);
  const cost = costOf(life, now);
  return {
    nodeId: life.nodeId,
    name: life.name,
    hostname: life.hostname,
    instanceId: life.instanceId,
    array: life.array,
    countsFor: arrayShown(life.purpose, life.array),
    machineType: life.machineType,
    placementGroup: life.placementGroup,
    spot: life.spot,
    madeBy: life.notOurs === true ? "another tool" : "us",
    phase: goneAt !== undefined ? "gone" : node === undefined ? "missing" : phaseShown(node, bodies.plan),
    askedAt: isoTime(asked?.at),
    askedByPlan: asked?.plan,
    firstSeenAt: isoTime(life.firstSeenAt),
    firstReadyAt: isoTime(life.firstReadyAt),
    firstNeededAt: isoTime(firstNeeded?.at),
    requestSets: firstNeeded?.sets ?? [],
    lastNeededAt: isoTime(life.lastNeededAt),
    notNeededSince: isoTime(isNeeded(life, bodies) ? undefined : unneededSince(life)),
    draining: draining?.by,
    drainingSince: isoTime(draining?.since),
    drainingByPlan: draining?.plan,
    stopAcceptedAt: isoTime(draining?.sentAt),
    goneAt: isoTime(goneAt),
    why: goneAt === undefined ? undefined : endText(life),
    hours: Number(all.toFixed(3)),
    hoursDeallocated: off === 0 ? undefined : Number(off.toFixed(3)),
    pricePerHour: price?.perHour,
    pricePerHourDeallocated: price?.offPerHour,
    cost: cost === undefined ? undefined : Number(cost.toFixed(4)),
    currency: price?.currency,
  };
}

/** Whether the last plan needed the node, or a job is on it, or that is not known. A node that never was Ready is not idle. */
function isNeeded({ firstReadyAt, draining, goneAt, nodeId }: NodeLife, bodies: Bodies): boolean {
  if (firstReadyAt === undefined) return true;
  if (goneAt !== undefined || draining !== undefined) return false;
  const verdict = verdictOn(bodies, nodeId)?.kind;
  return verdict === undefined || verdict === "needed" || verdict === "busy" || verdict === "perhaps-needed";
}
