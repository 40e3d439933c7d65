import type { ExclusiveRules } from "../../domain/exclusive.ts";
import { isOurs, ownershipText } from "../../domain/exclusive.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import { renderVerdict } from "../../domain/node-verdict.ts";
import type { Plan } from "../../domain/plan.ts";
import { modeShown, whyReleased } from "../../domain/plan.ts";
import type { WrittenResources } from "../../domain/resources.ts";
import { writeResources } from "../../domain/resources.ts";
import type { TimeoutRules, Timeouts } from "../../domain/timeouts.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Unknown } from "./explain-job.ts";
import { endText, originText } from "./node-text.ts";
import { NEAREST } from "./explain-job.ts";
import type { LoadOfNode } from "./explained-demand.ts";
import { MOST_JOBS, jobsOn, loadText } from "./explained-demand.ts";
import type { ReportedHost } from "../world/reported-hosts.ts";
import { groupText } from "../../domain/bucket.ts";
import { hostKey } from "../../domain/hosts.ts";
import { observedArraysText, observedBy } from "../../domain/mode.ts";
import { nearestFew } from "../../domain/nearest.ts";
import { isoTime } from "../../domain/units.ts";
import { firstResources, amountsText } from "./explain-host.ts";
import { showText } from "../../domain/shown.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import { costOf, hoursOf } from "../../domain/node-life.ts";
import type { Instant } from "../../domain/units.ts";

/** Why a node stays or is stopped, and which jobs are on it. */
export interface NodeExplained extends LoadOfNode {
  readonly kind: "node";
  readonly nodeId: NodeId;
  readonly name: string;
  readonly hostname: string | undefined;
  readonly array: string;
  readonly purpose: string;
  /** Undefined: no plan has judged it yet. */
  readonly verdict: NodeVerdict | undefined;
  /** The first few demands that need it, as "set/demand". */
  readonly neededBy: readonly string[];
  /** "ours: ..." or "not ours: ...", with the reason. Undefined for the same reasons as `timeouts`. */
  readonly ownership: string | undefined;
  /** Its timeouts now. Undefined: it is gone, or a past plan is explained, whose configuration is not known. */
  readonly timeouts: Timeouts | undefined;
  /** The amounts that its scheduler reports now. They replace computed ones. Undefined: none are reported, or the node is not up. */
  readonly reported:
    | { readonly resources: WrittenResources; readonly available: WrittenResources }
    | undefined;
  readonly text: string;
}

/** The configuration that applies to single nodes. */
type NodeRules = TimeoutRules & ExclusiveRules;

/** What is known of the present. Absent for a past plan. */
interface NodeContext {
  /** The hosts that schedulers report, of nodes that are up. */
  readonly reported?: ReadonlyMap<NodeId, ReportedHost> | undefined;
  /** From the configuration in force. */
  readonly rules?: NodeRules | undefined;
  /** The request sets that name the node with this name. */
  readonly namedBy?: (name: string) => readonly SetName[];
}

/** Explains a node. `name`: its NodeId, its name in CycleCloud, its hostname with or without a domain, or its instance id. */
export function explainNode(
  plan: Plan,
  ledger: Ledger,
  name: string,
  { reported = new Map(), rules, namedBy = () => [] }: NodeContext = {},
): NodeExplained | Unknown {
  const node = findNode(ledger, name);
  if (node === undefined) return unknownNode(ledger, name);
  const { nodeId } = node;
  const jobs = jobsOn(plan, nodeId);
  const verdict = plan.nodes.get(nodeId);
  const report = reported.get(nodeId);
  const inForce = node.goneAt === undefined ? rules : undefined;
  const told = {
    kind: "node",
    nodeId,
    name: node.name,
    hostname: node.hostname,
    array: node.array,
    purpose: node.purpose.kind === "group" ? groupText(node.purpose) : node.purpose.kind,
    verdict,
    neededBy: verdict?.kind === "needed" ? verdict.by : [],
    load: jobs.slice(0, MOST_JOBS),
    moreJobs: Math.max(0, jobs.length - MOST_JOBS),
    ownership: inForce && ownershipText(node, inForce),
    timeouts: inForce && timeoutsOf(inForce, node),
    reported: report && {
      resources: writeResources(firstResources(report.resources)),
      available: writeResources(firstResources(report.available)),
    },
  } as const;
  return {
    ...told,
    text: nodeLines(plan, node, told, { report, sets: namedBy(node.name) })
      .map(showText)
      .join("\n"),
  };
}

/** Names are used again, so existing nodes come before those that are gone. */
function findNode(ledger: Ledger, name: string): LedgerNode | undefined {
  const key = hostKey(name);
  const all = [...ledger.values()].toSorted(
    (a, b) => Number(a.goneAt !== undefined) - Number(b.goneAt !== undefined),
  );
  return (
    all.find((node) => node.nodeId === name) ??
    all.find((node) => node.name === name || node.hostname === name || node.instanceId === name) ??
    all.find((node) => node.hostname !== undefined && hostKey(node.hostname) === key) ??
    all.find((node) => node.name.toLowerCase() === key)
  );
}

function unknownNode(ledger: Ledger, name: string): Unknown {
  const names = new Set<string>();
  for (const node of ledger.values()) {
    if (node.goneAt !== undefined) continue;
    names.add(node.name);
    if (node.hostname !== undefined) names.add(node.hostname);
  }
  return { kind: "unknown", name, nearest: nearestFew(name, names, NEAREST) };
}

function nodeLines(
  plan: Plan,
  node: LedgerNode,
  told: Omit<NodeExplained, "text">,
  { report, sets }: { readonly report: ReportedHost | undefined; readonly sets: readonly SetName[] },
): readonly string[] {
  const host = told.hostname === undefined || told.hostname === told.name ? "" : `, host ${told.hostname}`;
  const lines = [
    `node ${told.name} of ${told.array}${host} (${told.nodeId}), ${originText(node, { isOurs: isOurs(node, {}) })}`,
  ];
  if (node.goneAt !== undefined)
    return [...lines, `has been gone since ${isoTime(node.goneAt)}: ${endText(node)}`];
  lines.push(told.verdict === undefined ? "no plan has judged it yet" : renderVerdict(told.verdict));
  if (node.leftReadyAt !== undefined && told.verdict?.kind !== "down")
    lines.push(`it was Ready, and has been on its way up again since ${isoTime(node.leftReadyAt)}`);
  const released = whyReleased(plan, node.purpose);
  if (released !== undefined) lines.push(released);
  if (plan.terminates.includes(told.nodeId))
    lines.push(
      `this plan ${plan.deallocates?.includes(told.nodeId) === true ? "deallocates" : "terminates"} it`,
    );
  if (plan.withheld?.terminates.includes(told.nodeId) === true)
    lines.push("this plan would stop it, but the mode is observe");
  lines.push(...observedLines(plan, node));
  if (told.load.length > 0) lines.push(`on it: ${loadText(told)}`);
  else if (told.verdict?.kind === "needed" && (plan.loads?.cut ?? 0) === 0)
    lines.push(`no job has a slot on it: ${targetText(sets)}`);
  if (told.ownership !== undefined) lines.push(told.ownership);
  if (told.timeouts !== undefined) {
    const { idleSeconds, bootSeconds } = told.timeouts;
    lines.push(`its timeouts: idle ${idleSeconds} s, boot ${bootSeconds} s`);
  }
  if (report !== undefined) lines.push(amountsText(report));
  return lines;
}

function targetText(sets: readonly SetName[]): string {
  if (sets.length === 0) return "it counts towards a target";
  return `its name is asked for by request set${sets.length === 1 ? "" : "s"} ${sets.join(", ")}`;
}

/** The mode of its array if that is observed, and whether its copy in the virtual fleet was stopped. */
function observedLines(plan: Plan, { nodeId, array }: LedgerNode): readonly string[] {
  const observed = observedBy(modeShown(plan), [array]);
  if (observed.length === 0) return [];
  const isStopped = plan.virtual?.terminates.includes(nodeId) === true;
  return [
    observedArraysText(observed),
    ...(isStopped ? ["this plan stopped its copy in the virtual fleet (only in the record)"] : []),
  ];
}

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
