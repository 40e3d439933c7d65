import type { Difference } from "./comparison.ts";
import { someOf } from "./some-of.ts";
import type { Instant } from "./units.ts";
import { isoTime, secondsBetween } from "./units.ts";

/** One sentence for people: what differed, for how long, and why. Times are in UTC. */
export function differenceText(difference: Difference): string {
  const { kind, nodes, since, until, nodeSeconds, sets = [] } = difference;
  const seconds = secondsBetween(since, until);
  const upTo = nodeSeconds < nodes * seconds ? "up to " : "";
  const count = `${upTo}${nodes} ${nodes === 1 ? "node" : "nodes"}`;
  const span = `for ${lengthText(seconds)} (${hoursText(nodeSeconds)} node-hours) from ${timeText(since, since)} on`;
  switch (kind) {
    case "idle":
      return `${count} idle ${span} that ${fateText(difference)}: nobody needed ${nodes === 1 ? "it" : "them"}`;
    case "more":
      return `${count} more ${span} than the autoscaler would have had, booting or at work: its plan did without`;
    case "fewer":
      return sets.length === 0
        ? `${count} fewer ${span} than the autoscaler would have had: it keeps idle nodes for the idle timeout`
        : `${count} fewer ${span} than the autoscaler would have had: needed by ${someOf(sets, 3)}`;
  }
}

function fateText({ stoppedAt, since }: Difference): string {
  return stoppedAt === undefined
    ? "would not have been created"
    : `would have been stopped at ${timeText(stoppedAt, since)}`;
}

/** "10:40", or with the date where the day is another one. */
function timeText(at: Instant, near: Instant): string {
  const [day = "", time = ""] = isoTime(at).split("T");
  const clock = time.slice(0, 5);
  return isoTime(near).startsWith(day) ? clock : `${day} ${clock}`;
}

/** "5 h", "1.5 h" or "25 min". */
function lengthText(seconds: number): string {
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${hoursText(seconds)} h`;
}

/** Hours with one decimal where they are not whole. */
export function hoursText(seconds: number): string {
  return String(Number((seconds / 3600).toFixed(1)));
}
