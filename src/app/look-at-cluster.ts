import type { RequestNodes } from "../decide/in-flight.ts";
import type { Look } from "../decide/observe.ts";
import { LOOK_APART_SECONDS } from "../decide/turn.ts";
import type { RequestId } from "../domain/ids.ts";
import type { Trouble } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds } from "../domain/units.ts";
import { withCredentials } from "./credentials.ts";
import type { Run } from "./effects.ts";
import type { ArrayTemplates } from "./ports.ts";
import { PortError } from "./ports.ts";

/** A look, and when its status had arrived: it is believed for 5 s from then. */
export interface Seen {
  readonly kind: "look";
  readonly look: Look;
  /** For the creates that the plan on this look asks for. */
  readonly templates: ArrayTemplates;
  readonly arrivedAt: Instant;
}

export type Looked = Seen | { readonly kind: "trouble"; readonly trouble: Trouble };

/** One status with nodes, and the nodes of each request that is still open. */
export async function lookAtCluster(run: Run, open: readonly RequestId[]): Promise<Looked> {
  const { app, site } = run;
  const at = app.ports.clock.now();
  try {
    const status = await withCredentials(app, site, () => site.cyclecloud.status(site.cluster, at));
    if (status.kind === "not-found") {
      return { kind: "trouble", trouble: { at, kind: "not-found", message: notFoundText(status) } };
    }
    const arrivedAt = app.ports.clock.now();
    const requestNodes = await nodesOfOpen(run, open);
    const { snapshot, templates } = status;
    return { kind: "look", look: { snapshot, requestNodes }, templates, arrivedAt };
  } catch (error) {
    if (!(error instanceof PortError) || error.kind === "newer-state") throw error;
    return { kind: "trouble", trouble: { at, kind: error.kind, message: error.message } };
  }
}

function notFoundText(outcome: { readonly fromCycleCloud: boolean; readonly message: string }): string {
  const whose = outcome.fromCycleCloud
    ? "CycleCloud knows no such cluster"
    : "404, and not in CycleCloud's words";
  return `${whose}: ${outcome.message}`;
}

/** So many requests are asked for side by side. */
const ASKED_TOGETHER = 6;

/** A request that cannot be asked for, or not in time, stays in flight whole: too little is created then, never too much. */
async function nodesOfOpen(
  run: Run,
  open: readonly RequestId[],
): Promise<ReadonlyMap<RequestId, RequestNodes>> {
  const found = new Map<RequestId, RequestNodes>();
  const until = plusSeconds(run.app.ports.clock.now(), LOOK_APART_SECONDS / 2);
  const left = [...open];
  const askOn = async () => {
    for (let id = left.shift(); id !== undefined && run.app.ports.clock.now() < until; id = left.shift()) {
      const nodes = await nodesOfOne(run, id);
      if (nodes !== undefined) found.set(id, nodes);
    }
  };
  await Promise.all(Array.from({ length: Math.min(ASKED_TOGETHER, open.length) }, askOn));
  return found;
}

async function nodesOfOne(run: Run, id: RequestId): Promise<RequestNodes | undefined> {
  const { app, site } = run;
  const askedAt = app.ports.clock.now();
  try {
    const nodes = await withCredentials(app, site, () => site.cyclecloud.nodesOfRequest(site.cluster, id));
    return { askedAt, nodes };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { kind, message } = error;
    app.ports.log("nodes-of-request-failed", { cluster: site.cluster, id, kind, message });
    return undefined;
  }
}
