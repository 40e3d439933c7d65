import { accept } from "../../src/decide/record/accept.ts";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Snapshot } from "../../src/domain/cluster.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Instant } from "../../src/domain/units.ts";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import { NOW } from "./build-node.ts";
import { buildState, OURS } from "./build-record.ts";
import type { Decision } from "../../src/domain/decision.ts";

/** A cluster's stored state. */
export interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

/** A message as a scheduler writes it, without its envelope, and when it was sent. Default: {@link NOW}. */
export interface Pushed {
  readonly sentAt?: Instant;
  readonly [key: string]: unknown;
}

/** The state after these messages, each of which is read at the door and accepted when it was sent. By set. */
export function push(sets: Readonly<Record<string, Pushed>>, state: State = buildState({})): State {
  return Object.entries(sets).reduce((before, [requestSet, message]) => {
    const { sentAt = NOW, ...members } = message;
    const read = readDemandMessage(
      { version: 1, cluster: "prod", requestSet, ...members },
      {
        insertedAt: sentAt,
        now: sentAt,
        messageId: `message-${requestSet}`,
        maxExpirationSeconds: 86_400,
        knownClusters: new Set(["prod"]),
      },
    );
    if (read.kind !== "update") throw new Error(`refused: ${JSON.stringify(read)}`);
    const accepted = accept(before.record, read.update, sentAt);
    if (accepted.kind !== "accepted") throw new Error(accepted.kind);
    const { record, bodies } = before;
    return {
      record: { ...record, ...accepted.record },
      bodies: {
        ...bodies,
        demands: new Map([...bodies.demands, ...accepted.demands]),
        reports: new Map([...bodies.reports, ...accepted.reports]),
      },
    };
  }, state);
}

/** Decides on an observation at this moment. */
export function decideOn(
  { record, bodies }: State,
  snapshot: Snapshot,
  { policy = {}, now = NOW }: { readonly policy?: Partial<Policy>; readonly now?: Instant } = {},
): Decision {
  const observation = { snapshot: { ...snapshot, at: now }, requestNodes: new Map() };
  return decide(record, bodies, observation, { ...DEFAULT_POLICY, ...policy }, now, OURS);
}

/** The number of nodes that the plan creates. */
export function countCreated({ plan }: Decision): number {
  return plan.creates.reduce((total, { count }) => total + count, 0);
}
