import { isPlanFirst } from "../../decide/pace/observation-times.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Change, Committed } from "./commit.ts";
import { commitWhole } from "./commit.ts";
import type { App } from "../process/app.ts";
import type { CurrentInForce } from "./current.ts";
import { onlyObserves } from "../../domain/policy.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { loadCurrent } from "./load-record.ts";

/** How often the record is read while a plan goes first. */
const POLL_MS: Milliseconds = 250;

/**
 * A commit of marks or grants. It lets a plan go first that such commits have prevented from being saved (docs/protocol.md, Plans). That
 * takes at most as long as is reserved for the plan.
 */
export async function commitAfterPlan<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentInForce) => Change<T>,
): Promise<Committed<T>> {
  const { clock } = app.ports;
  for (;;) {
    const committed = await commitWhole(
      app,
      cluster,
      (current): Change<{ readonly result: T } | undefined> => {
        if (isPlanFirst(current.record, clock.now())) return { result: undefined };
        const { result, ...saving } = change(current);
        return { ...saving, result: { result } };
      },
    );
    if (committed.kind === "contended") return committed;
    if (committed.result !== undefined) return { ...committed, result: committed.result.result };
    await clock.sleep(POLL_MS);
  }
}

/** The longest wait: a plan has priority for 15 s at most. */
const LONGEST_WAIT_SECONDS: Seconds = 16;

/**
 * Waits before a change to this configuration while a plan goes first that changes of the configuration have kept from being saved
 * (docs/protocol.md, Configuration). A change that only turns arrays to observe never waits.
 */
export async function waitForPlan(app: App, cluster: ClusterName, next: Policy): Promise<void> {
  const { clock, policyOf } = app.ports;
  const began = clock.now();
  const isFirst = async () => isPlanFirst((await loadCurrent(app, cluster)).record, clock.now());
  if (!(await isFirst()) || onlyObserves(await policyOf(cluster, "now"), next)) return;
  do await clock.sleep(POLL_MS);
  while (secondsBetween(began, clock.now()) < LONGEST_WAIT_SECONDS && (await isFirst()));
}
