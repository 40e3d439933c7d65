import { isPlanFirst } from "../../decide/pace/observation-times.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Change, Committed } from "./commit.ts";
import { commitWhole } from "./commit.ts";
import type { App } from "../process/app.ts";
import type { CurrentWhole } from "./current.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** How often the record is read while a plan goes first. */
const POLL_MS: Milliseconds = 250;

/**
 * A commit of marks or grants. It lets a plan go first that such commits have prevented from being saved (docs/protocol.md, Plans). That
 * takes at most the 5 s that are reserved for the plan.
 */
export async function commitAfterPlan<T>(
  app: App,
  cluster: ClusterName,
  change: (current: CurrentWhole) => Change<T>,
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
