import { groupText } from "../../domain/bucket.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import { costOf, hoursOf } from "../../domain/node-life.ts";
import { showText } from "../../domain/shown.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { NodeExplained } from "./explain-node.ts";
import { endText, originText } from "./node-text.ts";

/** Explains a node that has gone, by what is kept of it. `now`: the present, for one that has only just gone. */
export function explainGone(life: NodeLife, now: Instant): NodeExplained {
  const { nodeId, name, hostname, array, purpose } = life;
  return {
    kind: "node",
    nodeId,
    name,
    hostname,
    array,
    purpose: purpose.kind === "group" ? groupText(purpose) : purpose.kind,
    verdict: undefined,
    neededBy: [],
    load: [],
    moreJobs: 0,
    ownership: undefined,
    timeouts: undefined,
    reported: undefined,
    text: goneLines(life, now).map(showText).join("\n"),
  };
}

function goneLines(life: NodeLife, now: Instant): readonly string[] {
  const { nodeId, name, array, hostname, goneAt, machineType } = life;
  const host = hostname === undefined || hostname === name ? "" : `, host ${hostname}`;
  const size =
    machineType === undefined ? "" : `; it was a ${machineType}${life.spot === true ? " (spot)" : ""}`;
  return [
    `node ${name} of ${array}${host} (${nodeId}), ${originText(life, { isOurs: life.notOurs !== true })}${size}`,
    `has been gone since ${isoTime(goneAt ?? now)}: ${endText(life)}`,
    phasesText(life),
    costText(life, now),
  ];
}

/** The moments of its life in their order. */
function phasesText(life: NodeLife): string {
  const { asked, firstSeenAt, firstReadyAt, firstNeeded, lastNeededAt, draining } = life;
  const by = asked?.plan === undefined ? "" : ` by plan ${asked.plan}`;
  const sets =
    firstNeeded === undefined || firstNeeded.sets.length === 0 ? "" : ` by ${firstNeeded.sets.join(", ")}`;
  const never = lastNeededAt === undefined ? ["never needed"] : [`last needed ${isoTime(lastNeededAt)}`];
  return [
    ...(asked === undefined ? [] : [`asked for ${isoTime(asked.at)}${by}`]),
    `first seen ${isoTime(firstSeenAt)}`,
    firstReadyAt === undefined ? "never Ready" : `Ready ${isoTime(firstReadyAt)}`,
    ...(firstNeeded === undefined ? [] : [`first needed ${isoTime(firstNeeded.at)}${sets}`]),
    ...never,
    ...(draining === undefined ? [] : [`told to stop ${isoTime(draining.since)}`]),
  ].join(", ");
}

function costText(life: NodeLife, now: Instant): string {
  const { all, off } = hoursOf(life, now);
  const [cost, { price }] = [costOf(life, now), life];
  const kept = off === 0 ? "" : `, ${off.toFixed(2)} of them deallocated,`;
  const there = `it was there for ${all.toFixed(2)} hours${kept}`;
  if (cost === undefined || price === undefined) return `${there}; what that cost is not known`;
  const disks = off > 0 && price.offPerHour === undefined ? ", without its disks in that time" : "";
  return `${there} and cost ${cost.toFixed(2)} ${price.currency}${disks}`;
}
