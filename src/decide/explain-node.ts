import { isoTime } from "../domain/units.ts";
import type { TimeoutRules, Timeouts } from "../domain/timeouts.ts";
import { timeoutsOf } from "../domain/timeouts.ts";
import type { WrittenResources } from "../domain/resources.ts";
import { writeResources } from "../domain/resources.ts";
import type { Ledger, LedgerNode } from "../domain/ledger.ts";
import { type ExclusiveRules, isOurs, ownershipText } from "../domain/exclusive.ts";
import type { NodeVerdict } from "../domain/node-verdict.ts";
import type { Plan } from "../domain/plan.ts";
import { renderVerdict } from "../domain/node-verdict.ts";
import { modeShown, whyReleased } from "../domain/plan.ts";
import { nearestFew } from "../domain/nearest.ts";
import { observedArraysText, observedBy } from "../domain/mode.ts";
import type { NodeId, SetName } from "../domain/ids.ts";
import { hostKey } from "../domain/hosts.ts";
import { groupText } from "../domain/bucket.ts";
import type { ReportedHost } from "./world/reported-hosts.ts";
import { amountsText } from "./host-text.ts";
import type { Unknown } from "./explain.ts";
import { NAMED, NEAREST, count } from "./explain.ts";
import { firstResources } from "./constraints/first-resources.ts";

/** Why a node stays or goes, and what is on it. */
export interface NodeExplained {
  readonly kind: "node";
  readonly nodeId: NodeId;
  readonly name: string;
  readonly hostname?: string;
  readonly array: string;
  readonly purpose: string;
  /** Absent: no plan has judged it yet. */
  readonly verdict?: NodeVerdict;
  /** "set/demand"; the first few. */
  readonly neededBy: readonly string[];
  readonly load: readonly JobOnNode[];
  /** Jobs on it that are not listed. */
  readonly moreJobs: number;
  /** That count for it now. Absent: it is gone, or a past plan was asked for, whose configuration is not known. */
  readonly timeouts?: Timeouts;
  /** "ours: ..." or "not ours: ...", with the reason. Absent: as `timeouts`. */
  readonly ownership?: string;
  /** What its scheduler says of it now, which counts in place of what we compute; absent: nothing, or the node is not up. */
  readonly reported?: { readonly resources: WrittenResources; readonly available: WrittenResources };
  readonly text: string;
}

export interface JobOnNode {
  readonly set: SetName;
  readonly id: string;
  readonly slots: number;
  readonly bound: boolean;
}

export const MOST_JOBS = 200;

/** What the configuration says that counts for single nodes. */
export type NodeRules = TimeoutRules & ExclusiveRules;

/** What counts for a node now; of a past plan's time it is not known. */
export interface NodeContext {
  /** What schedulers say of nodes that are up. */
  readonly reported?: ReadonlyMap<NodeId, ReportedHost>;
  /** Of the configuration in force. */
  readonly rules?: NodeRules;
}

/**
 * Why a node stays or goes, by its NodeId, its name in CycleCloud, its hostname (with or without a domain) or its instance id.
 */
export function explainNode(
  plan: Plan,
  ledger: Ledger,
  name: string,
  { reported = new Map(), rules }: NodeContext = {},
): NodeExplained | Unknown {
  const node = findNode(ledger, name);
  if (node === undefined) return unknownNode(ledger, name);
  const { nodeId } = node;
  const jobs = jobsOn(plan, nodeId);
  const verdict = plan.nodes.get(nodeId);
  const report = reported.get(nodeId);
  const told = {
    kind: "node",
    nodeId,
    name: node.name,
    ...(node.hostname === undefined ? {} : { hostname: node.hostname }),
    array: node.array,
    purpose: node.purpose.kind === "group" ? groupText(node.purpose) : node.purpose.kind,
    ...(verdict === undefined ? {} : { verdict }),
    neededBy: verdict?.kind === "needed" ? verdict.by : [],
    load: jobs.slice(0, MOST_JOBS),
    moreJobs: Math.max(0, jobs.length - MOST_JOBS),
    ...(rules === undefined || node.goneAt !== undefined
      ? {}
      : { timeouts: timeoutsOf(rules, node), ownership: ownershipText(node, rules) }),
    ...(report === undefined
      ? {}
      : {
          reported: {
            resources: writeResources(firstResources(report.resources)),
            available: writeResources(firstResources(report.available)),
          },
        }),
  } as const;
  return { ...told, text: nodeLines(plan, node, told, report).join("\n") };
}

/** Nodes that are there come before those that are gone, as names are used again. */
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

/** What the plan has on a node, in the order of rank. */
export function jobsOn(plan: Plan, node: NodeId): readonly JobOnNode[] {
  const load = plan.loads?.loads.find(({ nodeId }) => nodeId === node);
  return (load?.jobs ?? []).flatMap(([first, last, slots, bound]) =>
    plan.demands.slice(first, last + 1).map(({ set, id }) => ({ set, id, slots, bound: bound === 1 })),
  );
}

function nodeLines(
  plan: Plan,
  node: LedgerNode,
  told: Omit<NodeExplained, "text">,
  report: ReportedHost | undefined,
): readonly string[] {
  const host = told.hostname === undefined || told.hostname === told.name ? "" : `, host ${told.hostname}`;
  const lines = [`node ${told.name} of ${told.array}${host} (${told.nodeId}), ${originText(node)}`];
  if (node.goneAt !== undefined) return [...lines, `has been gone since ${isoTime(node.goneAt)}`];
  lines.push(told.verdict === undefined ? "no plan has judged it yet" : renderVerdict(told.verdict));
  if (node.leftReadyAt !== undefined && told.verdict?.kind !== "down")
    lines.push(`it was Ready, and has been on its way up again since ${isoTime(node.leftReadyAt)}`);
  const released = whyReleased(plan, node.purpose);
  if (released !== undefined) lines.push(released);
  if (plan.terminates.includes(told.nodeId)) lines.push("this plan terminates it");
  if (plan.withheld?.terminates.includes(told.nodeId) === true)
    lines.push("this plan would stop it, but the mode is observe");
  lines.push(...observedLines(plan, node));
  if (told.load.length > 0) lines.push(`on it: ${loadText(told)}`);
  else if (told.verdict?.kind === "needed" && (plan.loads?.cut ?? 0) === 0)
    lines.push("no job has a slot on it: it counts towards a target");
  if (told.ownership !== undefined) lines.push(told.ownership);
  if (told.timeouts !== undefined) {
    const { idleSeconds, bootSeconds } = told.timeouts;
    lines.push(`its timeouts: idle ${idleSeconds} s, boot ${bootSeconds} s`);
  }
  if (report !== undefined) lines.push(amountsText(report));
  return lines;
}

/** In which mode the plan has its array, and what became of its copy in the virtual fleet. */
function observedLines(plan: Plan, { nodeId, array }: LedgerNode): readonly string[] {
  const observed = observedBy(modeShown(plan), [array]);
  if (observed.length === 0) return [];
  const isStopped = plan.virtual?.terminates.includes(nodeId) === true;
  return [
    observedArraysText(observed),
    ...(isStopped ? ["this plan stopped its copy in the virtual fleet (only in the record)"] : []),
  ];
}

function originText(node: LedgerNode): string {
  const purpose = purposeText(node);
  return isOurs(node, {}) ? `made for ${purpose}` : `made by another tool; counts for ${purpose}`;
}

function purposeText({ array, purpose }: LedgerNode): string {
  if (purpose.kind === "group") return groupText(purpose);
  return purpose.kind === "dynamic" ? `dynamic array ${purpose.array}` : `array ${array}`;
}

/** The first few jobs on a node, in words. */
export function loadText({ load, moreJobs }: Pick<NodeExplained, "load" | "moreJobs">): string {
  const named = load
    .slice(0, NAMED)
    .map(
      ({ set, id, slots, bound }) => `${count(slots, "slots")} of ${set}/${id}${bound ? " (running)" : ""}`,
    );
  const more = Math.max(0, load.length - NAMED) + moreJobs;
  return more === 0 ? named.join(", ") : `${named.join(", ")} and ${more} more jobs`;
}
