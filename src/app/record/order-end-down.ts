import { downNow } from "../../decide/stops/end-down.ts";
import type { ArrayName, ClusterName } from "../../domain/ids.ts";
import type { EndDown } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { App } from "../process/lanes.ts";
import type { Change } from "./commit.ts";
import { commitWhole } from "./commit.ts";
import type { CurrentWhole } from "./load-record.ts";

/** An order is in force for this time. */
const IN_FORCE_SECONDS: Seconds = 3600;

type Ordered =
  | { readonly kind: "ordered"; readonly nodes: readonly string[]; readonly until: Instant }
  /** The last observation shows no such node array, and it is no dynamic or grouped one. */
  | { readonly kind: "unknown" }
  /** Others saved first every time. */
  | { readonly kind: "contended" };

/**
 * An operator orders that the nodes of an array that are down in the last observation end. They end within the bounds, and plans look at
 * every exception again before each stop (docs/protocol.md, Nodes that are down). A newer order of the array replaces the older one
 * (docs/decisions.md, "An order to end nodes is a moment, not a list").
 */
export async function orderEndDown(app: App, cluster: ClusterName, array: ArrayName): Promise<Ordered> {
  const { clock, log } = app.ports;
  const committed = await commitWhole(app, cluster, (current) => orderIn(current, array, clock.now()));
  if (committed.kind === "contended") return committed;
  const { result } = committed;
  if (result.kind === "ordered" && result.nodes.length > 0)
    log("end-down", { cluster, array, nodes: result.nodes.length });
  return result;
}

function orderIn({ record, bodies }: CurrentWhole, array: ArrayName, at: Instant): Change<Ordered> {
  const { seen, ledger } = bodies;
  const known = [...(seen?.arrays ?? []), ...(record.dynamicArrays ?? []), ...(bodies.plan?.groups ?? [])];
  if (!known.some(({ name }) => name === array)) return { result: { kind: "unknown" } };
  const until = plusSeconds(at, IN_FORCE_SECONDS);
  const nodes = downNow(seen, ledger, array).map(({ name }) => name);
  const result: Ordered = { kind: "ordered", nodes, until };
  if (nodes.length === 0) return { result };
  const order: EndDown = { array, at, until };
  const others = (record.endDown ?? []).filter((other) => other.array !== array && at < other.until);
  return { save: { record: { ...record, endDown: [...others, order] }, changes: {} }, result };
}
