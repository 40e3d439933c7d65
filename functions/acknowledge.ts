import type { HttpResponseInit } from "@azure/functions";
import { noteAccepted } from "../src/app/demand/note-accepted.ts";
import { countAsked } from "../src/app/demand/note-demand.ts";
import type { Site } from "../src/app/ports/site.ts";
import type { RecordedDemand } from "../src/app/demand/record-demand.ts";
import { rejectedShown } from "../src/app/describe/rejected-shown.ts";
import { wakeLater } from "../src/app/demand/wake-later.ts";
import type { Composition } from "../src/compose.ts";
import type { RequestSetUpdate } from "../src/domain/demand.ts";
import { isoTime } from "../src/domain/units.ts";
import type { AcknowledgementShown } from "../src/wire/api/request-set-answers.ts";
import { notAccepted } from "./not-accepted.ts";
import { reconcileDemand } from "./reconcile.ts";

/**
 * Answers once the demand is stored. Begins a plan, and does not wait for it. If this process ends before the plan is made, the wake message
 * makes another instance plan, and the timer does if that message is lost. Throws PortError of the store and the queue.
 */
export async function acknowledge(
  composed: Composition,
  site: Site,
  update: RequestSetUpdate,
): Promise<HttpResponseInit> {
  const { clock } = composed.app.ports;
  const recorded = await composed.recorder.record(update);
  if (recorded.kind !== "accepted") {
    return notAccepted(recorded, update, composed.senderTime(clock.now()));
  }
  const { changed, record } = recorded;
  if (changed || record.awaitsReport === true)
    composed.background.start(site.cluster, () => reconcileDemand(composed, site.cluster, record));
  if (changed) await wakeLater(composed.app.ports, site.cluster);
  return { status: 202, jsonBody: await acknowledgement(composed, recorded) };
}

/** Maximum size of the problems of rejected jobs in an answer. */
const REJECTED_BYTES = 1_000_000;

async function acknowledgement(
  { app: { ports } }: Composition,
  recorded: RecordedDemand,
): Promise<AcknowledgementShown> {
  const { changed, update, taken, older } = recorded;
  return {
    cluster: update.cluster,
    requestSet: update.set,
    revision: update.revision.value,
    expiresAt: isoTime(update.expiresAt),
    changed,
    taken,
    older,
    asks: update.demand === undefined ? undefined : countAsked(update.demand),
    ...rejectedShown(update.demand, REJECTED_BYTES),
    notes: await noteAccepted(ports, recorded),
  };
}
