import type { ComparedArray, ComparedDay, Difference, FleetCounts } from "../../domain/comparison.ts";
import { differenceText } from "../../domain/comparison.ts";
import type { ClusterName } from "../../domain/ids.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import { loadWhole } from "../record/load-record.ts";
import { firstBytes } from "./pages.ts";
import type { App } from "../process/lanes.ts";
import type { Seconds } from "../../domain/units.ts";
import type {
  ComparedArrayShown,
  ComparedDayShown,
  ComparisonShown,
  DifferenceShown,
  FleetShown,
} from "../../wire/api/comparison-answer.ts";

/** The first and last requested day. Absent: all days that are kept. */
interface ComparedDays {
  readonly since?: string;
  readonly until?: string;
}

/** The comparison of the real and the virtual fleet, newest day first. `next`: older days did not fit; request the days up to this one. */
export async function describeComparison(
  app: App,
  cluster: ClusterName,
  { since = "", until }: ComparedDays,
): Promise<ComparisonShown> {
  const { bodies } = await loadWhole(app, cluster);
  const fleet = bodies.virtual;
  const asked = (fleet?.comparison.days ?? [])
    .filter(({ day }) => since <= day && (until === undefined || day <= until))
    .toReversed()
    .map(showDay);
  const days = firstBytes(asked);
  return {
    cluster,
    observing: (fleet?.arrays ?? []).map(({ name, since: from }): ComparisonShown["observing"][number] => ({
      nodearray: name,
      since: isoTime(from),
      virtualNodes: fleet?.nodes.filter(({ node }) => node.array === name).length ?? 0,
    })),
    days,
    next: asked[days.length]?.day,
  };
}

function showDay({ day, arrays, waiting, currency }: ComparedDay): ComparedDayShown {
  return {
    day,
    currency,
    waitingJobHours:
      waiting === undefined ? undefined : { real: hours(waiting.real), virtual: hours(waiting.virtual) },
    nodearrays: arrays.map(showArray),
  };
}

function showArray({ array, seconds, real, virtual, differences }: ComparedArray): ComparedArrayShown {
  return {
    nodearray: array,
    observedHours: hours(seconds),
    real: showCounts(real, seconds),
    virtual: showCounts(virtual, seconds),
    differences: differences.toSorted((a, b) => b.nodeSeconds - a.nodeSeconds).map(showDifference),
  };
}

function showCounts(counts: FleetCounts, seconds: Seconds): FleetShown {
  const { peak, nodeSeconds, idleSeconds, boots, cost, unpricedSeconds } = counts;
  return {
    peakNodes: peak,
    meanNodes: seconds === 0 ? 0 : Number((nodeSeconds / seconds).toFixed(2)),
    nodeHours: hours(nodeSeconds),
    idleNodeHours: hours(idleSeconds),
    boots,
    cost: cost === undefined ? undefined : Number(cost.toFixed(2)),
    unpricedNodeHours: unpricedSeconds === undefined ? undefined : hours(unpricedSeconds),
  };
}

function showDifference(difference: Difference): DifferenceShown {
  const { kind, since, until, nodes, nodeSeconds, stoppedAt, sets } = difference;
  return {
    kind,
    since: isoTime(since),
    until: isoTime(until),
    hours: hours(secondsBetween(since, until)),
    nodes,
    nodeHours: hours(nodeSeconds),
    stoppedAt: isoTime(stoppedAt),
    requestSets: sets,
    text: differenceText(difference),
  };
}

const hours = (seconds: Seconds): number => Number((seconds / 3600).toFixed(2));
