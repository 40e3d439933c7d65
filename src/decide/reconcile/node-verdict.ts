import type { Instant } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Draining, LedgerNode } from "../../domain/ledger.ts";
import type { Policy } from "../../domain/policy.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import type { Node } from "../../domain/cluster.ts";
import { awaitedBy, idleSeconds } from "../stops/scale-down.ts";
import { doubtVerdict } from "./doubt-verdict.ts";
import { idleProofAt } from "../senders/host-facts.ts";
import { awaitedUntil } from "../nodes/down.ts";
import { bootingSince, isStarting, restsUntil } from "../intents/node-starts.ts";
import type { Conclusion } from "./conclusion.ts";
import { circumstances } from "./conclusion.ts";

/** The verdict of the plan on one node. `needed`: the demands that need it. */
export function verdictOf(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
  on: Conclusion,
): NodeVerdict {
  if (known.draining?.sentAt !== undefined) return { kind: "stopping", attempts: known.draining.attempts };
  if (known.draining !== undefined) return drainingVerdict(node, known, known.draining, on);
  const end = on.down.ends.get(node.nodeId);
  const doubt = doubtVerdict(node, known, on.weighed.kept, end, on.policy, on.now);
  if (doubt !== undefined) return doubt;
  switch (node.phase) {
    case "going":
      return { kind: "going" };
    case "failed":
      return {
        kind: "failed",
        status: node.statusMessage ?? node.status,
        ...(known.firstReadyAt === undefined ? {} : { wasReady: true }),
        ...(on.weighed.kept.has(node.nodeId) ? { kept: true } : {}),
        ...(end === undefined ? {} : { end }),
      };
    case "off":
      return { kind: "off", status: node.status };
    case "deallocated":
      return deallocatedVerdict(node, known, needed);
    case "coming":
    case "unknown":
      if (needed !== undefined) return { kind: "needed", by: needed };
      return { kind: "coming", bootSecondsLeft: bootSecondsLeft(node, known, on.policy, on.now) };
    case "ready":
      return readyVerdict(node, known, needed, on);
  }
}

function drainingVerdict(node: Node, known: LedgerNode, draining: Draining, on: Conclusion): NodeVerdict {
  const fact = entryOfNode(on.facts, node);
  const lastReportAt = fact === undefined ? undefined : idleProofAt(fact);
  const awaited = awaitedBy(draining, circumstances(on, node, known));
  const last = awaited.reportAfter === undefined || lastReportAt === undefined ? {} : { lastReportAt };
  return { kind: "draining", by: draining.by, ...awaited, ...last };
}

function bootSecondsLeft(node: Node, known: LedgerNode, policy: Policy, now: Instant): number {
  const until =
    awaitedUntil(node, known, policy) ??
    plusSeconds(bootingSince(known), timeoutsOf(policy, known).bootSeconds);
  return secondsBetween(now, until);
}

function deallocatedVerdict(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
): NodeVerdict {
  if (isStarting(known)) return { kind: "starting", by: needed ?? [] };
  if (node.keepAlive) return { kind: "keep-alive" };
  const rests = restsUntil(known);
  const message = known.start?.message;
  return {
    kind: "deallocated",
    ...(rests === undefined ? {} : { restsUntil: rests }),
    ...(message === undefined ? {} : { message }),
  };
}

function unknownVerdict({ plannedBeside = [] }: LedgerNode): NodeVerdict {
  const beside = [...new Set(plannedBeside.map(({ set }) => set))];
  return beside.length === 0 ? { kind: "busyness-unknown" } : { kind: "busyness-unknown", beside };
}

function readyVerdict(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
  on: Conclusion,
): NodeVerdict {
  if (needed !== undefined) return { kind: "needed", by: needed };
  if (node.keepAlive) return { kind: "keep-alive" };
  if (known.busyness.state === "busy") return { kind: "busy" };
  const set = on.weighed.leftOut.setFor(known);
  if (set !== undefined) return { kind: "perhaps-needed", by: set };
  if (node.stopDisabled === true) return { kind: "stop-disabled" };
  if (on.outage !== undefined) return { kind: "resting", until: on.outage.until };
  if (known.busyness.state === "unknown") return unknownVerdict(known);
  return {
    kind: "idle",
    idleSeconds: idleSeconds(known, on.now),
    idleTimeoutSeconds: timeoutsOf(on.policy, known).idleSeconds,
  };
}
