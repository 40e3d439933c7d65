import type { Instant } from "../../domain/units.ts";
import { compareText } from "../../domain/text.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { PoolOwners, Aside } from "../../domain/request-sets.ts";
import { poolsOf, asideIn } from "../../domain/request-sets.ts";
import type { Digest, SetName } from "../../domain/ids.ts";
import { digestOf } from "../../domain/digest.ts";
import type { Pool } from "../../domain/demand.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { mayOwnPool } from "./sender-rule.ts";

/** The pools in force, and the record with the set that owns each. */
interface OwnedPools {
  readonly pools: readonly Pool[];
  readonly record: ClusterRecord;
}

/** The pools in force: see {@link ownedPools}. */
export function poolsInForce(record: ClusterRecord, bodies: Bodies, senders?: SenderRules): readonly Pool[] {
  return ownedPools(record, bodies, asideIn(record, bodies.aside), senders).pools;
}

/**
 * The pools that live sets name and may own. A pool belongs to the set that named it first, until that set lapses or omits it
 * (docs/decisions.md, "Pools and dynamic arrays belong to the set that named them first"). The amounts of other sets do not count. If
 * several sets name a new pool, it belongs to the set whose message came first.
 */
export function ownedPools(
  record: ClusterRecord,
  bodies: Bodies,
  aside: Aside,
  senders: SenderRules = NO_SENDER_RULES,
): OwnedPools {
  const before = new Map((record.poolOwners ?? []).map(({ set, pools }) => [set, new Set(pools)]));
  // What a set that is not read says of its pools is not known. They stay its own.
  const kept = (record.poolOwners ?? []).filter(({ set }) => aside.has(set));
  const keptKeys = new Set(kept.flatMap((owner) => owner.pools));
  const named = claimsOf(record, bodies, senders, (set) => before.has(set));
  const owned = new Map<SetName, Digest[]>(kept.map(({ set, pools }) => [set, [...pools]]));
  const pools: Pool[] = [];
  let noted = 0;
  for (const [name, claims] of named) {
    const [only] = claims;
    if (claims.length === 1 && noted >= MOST_OWNED && only !== undefined) {
      pools.push(only.pool);
      continue;
    }
    const key = digestOf(name);
    if (keptKeys.has(key)) continue;
    const { set, pool } = firstClaim(claims, ({ set: one }) => before.get(one)?.has(key) === true);
    pools.push(pool);
    noted += 1;
    if (noted > MOST_OWNED) continue;
    const ofSet = owned.get(set);
    if (ofSet === undefined) owned.set(set, [key]);
    else ofSet.push(key);
  }
  const { poolOwners: _before, ...rest } = record;
  return { pools, record: owned.size === 0 ? rest : { ...rest, poolOwners: inOrder(owned) } };
}

/** Maximum number of owned pools in the record. A cluster has a few. If there are more, those that are noted already stay. */
const MOST_OWNED = 5000;

/** By pool, the sets that name it. Pools that are owned already come first. */
function claimsOf(
  record: ClusterRecord,
  bodies: Bodies,
  senders: SenderRules,
  isKnown: (set: SetName) => boolean,
): ReadonlyMap<string, readonly Claim[]> {
  const named = new Map<string, Claim[]>();
  const entries = [...poolsOf(record)].filter(([, { live }]) => live);
  for (const [set, { digest, acceptedAt }] of [
    ...entries.filter(([set]) => isKnown(set)),
    ...entries.filter(([set]) => !isKnown(set)),
  ]) {
    for (const pool of bodies.demands.get(digest)?.pools ?? []) {
      if (!mayOwnPool(senders, set, pool.name)) continue;
      const claim = { set, pool, acceptedAt };
      const others = named.get(pool.name);
      if (others === undefined) named.set(pool.name, [claim]);
      else others.push(claim);
    }
  }
  return named;
}

/** The owners in an order that does not depend on the order of messages. */
function inOrder(owned: ReadonlyMap<SetName, readonly Digest[]>): PoolOwners {
  return [...owned]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([set, keys]) => ({ set, pools: keys.toSorted(compareText) }));
}

interface Claim {
  readonly set: SetName;
  readonly pool: Pool;
  readonly acceptedAt: Instant;
}

function firstClaim(claims: readonly Claim[], isOwner: (claim: Claim) => boolean): Claim {
  return claims.reduce((best, claim) => {
    const order =
      Number(isOwner(claim)) - Number(isOwner(best)) ||
      best.acceptedAt - claim.acceptedAt ||
      compareText(best.set, claim.set);
    return order > 0 ? claim : best;
  });
}
