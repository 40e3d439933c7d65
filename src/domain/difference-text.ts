import type { Difference } from "./comparison.ts";
import { someOf } from "./some-of.ts";
import type { Instant, Seconds } from "./units.ts";
import { isoTime, secondsBetween } from "./units.ts";

/** Two short sentences for people: what differed and for how long, and why. Times are in UTC. */
export function differenceText(difference: Difference): string {
  const { kind, nodes, since, until, nodeSeconds } = difference;
  const seconds = secondsBetween(since, until);
  const upTo = nodeSeconds < nodes * seconds ? "up to " : "";
  const count = `${upTo}${nodes} ${nodes === 1 ? "node" : "nodes"}`;
  const span = `for ${lengthText(seconds)} from ${timeText(since, since)} (${hoursText(nodeSeconds)} node-hours)`;
  switch (kind) {
    case "idle":
      return `${count} idle ${span}. ${fateText(difference)}: no job needed ${nodes === 1 ? "it" : "them"}`;
    case "more":
      return `${count} more ${span}, booting or at work. The autoscaler would have done without ${nodes === 1 ? "it" : "them"}`;
    case "fewer":
      return `${count} fewer ${span}. ${useText(difference)}`;
  }
}

function fateText({ nodes, stoppedAt, since }: Difference): string {
  const they = nodes === 1 ? "It" : "They";
  return stoppedAt === undefined
    ? `${they} would not have been created`
    : `${they} would have been stopped at ${timeText(stoppedAt, since)}`;
}

function useText({ nodes, sets = [] }: Difference): string {
  const them = nodes === 1 ? "it" : "them";
  return sets.length === 0
    ? `The autoscaler would have kept ${them} until the idle timeout`
    : `The autoscaler would have had ${them} for ${someOf(sets, 3)}`;
}

/** "10:40", or with the date if the day differs. */
function timeText(at: Instant, near: Instant): string {
  const [day = "", time = ""] = isoTime(at).split("T");
  const clock = time.slice(0, 5);
  return isoTime(near).startsWith(day) ? clock : `${day} ${clock}`;
}

/** "5 h", "1.5 h" or "25 min". */
function lengthText(seconds: Seconds): string {
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${hoursText(seconds)} h`;
}

/** Hours, with one decimal if they are not whole. */
function hoursText(seconds: Seconds): string {
  return String(Number((seconds / 3600).toFixed(1)));
}
