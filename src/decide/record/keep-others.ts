import type { Demand, RequestSetUpdate, SetDemand } from "../../domain/demand.ts";
import { measure } from "../../domain/digest.ts";
import type { Digest } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { isInForce } from "../../domain/request-sets.ts";
import type { Instant } from "../../domain/units.ts";

/**
 * A message whose other demand stays, as the whole demand of its set: what it names, and what the set asks for beside that, each until its
 * own expiry (docs/demand.md, Parts of a set). Other messages are as they were. `bodies`: the demand that the set has now.
 */
export function keepOthers(
  update: RequestSetUpdate,
  record: Pick<ClusterRecord, "sets">,
  bodies: ReadonlyMap<Digest, SetDemand>,
  now: Instant,
): RequestSetUpdate {
  const held = record.sets.get(update.set);
  if (update.demand === undefined || update.others === undefined || !isInForce(held, now)) return update;
  const body = bodies.get(held.digest);
  const named = update.demand.demands;
  const staying = (body?.demands ?? [])
    .filter((demand) => !isNamed(demand, named))
    .map((demand) => ({ ...demand, until: demand.until ?? held.expiresAt }))
    .filter(({ until }) => until > now);
  if (staying.length === 0) return update;
  const expiresAt = staying.reduce((last, { until }) => (until > last ? until : last), update.expiresAt);
  const all = [...named.map((demand) => ({ ...demand, until: update.expiresAt })), ...staying];
  const demands = all.map(({ until, ...demand }, position) => ({
    ...demand,
    position,
    ...(until === expiresAt ? {} : { until }),
  }));
  const demand: SetDemand = { ...update.demand, demands, pools: body?.pools ?? [] };
  return { ...update, demand, ...measure(demand), expiresAt };
}

/** Whether the message speaks for this demand: it names its node array, or has its id. */
function isNamed(demand: Demand, named: readonly Demand[]): boolean {
  return named.some(
    (one) =>
      one.id === demand.id || (one.kind !== "job" && demand.kind !== "job" && one.array === demand.array),
  );
}
