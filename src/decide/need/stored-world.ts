import type { World } from "../../domain/world.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { standingsOf } from "../nodes/standing.ts";
import { demandsInForce } from "../senders/demands-in-force.ts";
import { reportedHosts } from "../world/reported-hosts.ts";
import type { JudgedHosts } from "../world/scheduler-only.ts";
import { judgeHosts } from "../world/scheduler-only.ts";
import { buildWorld, orderOf } from "../world/build-world.ts";
import { pendingCreates } from "../intents/create-requests.ts";
import { stoppingNodes } from "../intents/stops.ts";

/** The part of a record that affects the supply. */
export type UnderWay = Pick<ClusterRecord, "intents" | "inFlight" | "backoffs">;

/** The allocator's input now, from the last believed observation and the record. Undefined if there is no observation yet. */
export function storedWorld(
  record: UnderWay,
  { seen, ledger }: Pick<Bodies, "seen" | "ledger">,
  policy: Policy,
  now: Instant,
): World | undefined {
  if (seen === undefined) return undefined;
  return buildWorld({
    snapshot: seen,
    ledger,
    inFlight: record.inFlight,
    pendingCreates: pendingCreates(record.intents),
    backoffs: record.backoffs,
    policy,
    standings: standingsOf({ snapshot: seen, ledger, open: stoppingNodes(record.intents) }, policy, now),
    excluded: new Set(),
    order: orderOf,
    now,
  });
}

/** The hosts in the reports in force, compared with the last believed observation. */
export function storedHosts(
  record: ClusterRecord,
  bodies: Bodies,
  { senders }: Pick<Policy, "senders">,
  now: Instant,
): JudgedHosts {
  const { seen, ledger } = bodies;
  if (seen === undefined) return { nodes: new Map(), others: [] };
  const dynamics = (record.dynamicArrays ?? []).map(({ name }) => name);
  const { read: demands } = demandsInForce(record, bodies, { now });
  return judgeHosts(
    reportedHosts(record, bodies, now, senders),
    { snapshot: seen, ledger, dynamics },
    demands,
  );
}
