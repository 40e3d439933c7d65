import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { HealthShown } from "../../wire/api/parts.ts";
import { checkHealth } from "./describe-health.ts";
import { countQueues } from "./describe-queues.ts";
import type { App } from "../process/app.ts";

export interface HealthOfAll {
  readonly clusters: readonly HealthShown[];
  /** Undefined if the queues cannot be read. */
  readonly queues: Awaited<ReturnType<typeof countQueues>>;
}

/** The health of all clusters and of the queues, for callers without a key. */
export interface HealthDesk {
  /** At most 5 s old, also if it is a failure. Simultaneous callers share the work. */
  all(): Promise<HealthOfAll>;
}

/** Probes call about every ten seconds. */
const AGE_SECONDS: Seconds = 5;

export function createHealthDesk(app: App): HealthDesk {
  const { clock, sites } = app.ports;
  let last: { readonly at: Instant; readonly health: Promise<HealthOfAll> } | undefined;
  const checkAll = async (): Promise<HealthOfAll> => {
    const [queues, ...clusters] = await Promise.all([
      countQueues(app),
      ...[...sites.keys()].map((name) => checkHealth(app, name)),
    ]);
    return { clusters, queues };
  };
  return {
    all() {
      const now = clock.now();
      const age = last === undefined ? undefined : secondsBetween(last.at, now);
      if (last !== undefined && age !== undefined && age >= 0 && age < AGE_SECONDS) return last.health;
      last = { at: now, health: checkAll() };
      return last.health;
    },
  };
}
