import type { MeasuredCall } from "../../decide/pace/calls.ts";
import { settle } from "../../decide/intents/settle.ts";
import type { Instant } from "../../domain/units.ts";
import type { Finding } from "./effects.ts";
import type { BodyChanges } from "../ports/record-store.ts";
import type { Settled } from "../../decide/intents/evidence.ts";
import type { CurrentWhole } from "../record/current.ts";
import type { Run } from "./run.ts";

/** The record after the findings about its intents. */
export function settleFindings(current: CurrentWhole, findings: readonly Finding[], now: Instant): Settled {
  const { ledger, questions } = current.bodies;
  const state: Settled = {
    record: current.record,
    ledger,
    ...(questions === undefined ? {} : { questions }),
  };
  return findings.reduce((settled, { id, evidence }) => settle(settled, id, evidence, now), state);
}

/** Findings about creates and starts are in the ledger, those about stops in the questions. Only changed parts are written. */
export function changesOf({ bodies }: CurrentWhole, { ledger, questions }: Settled): BodyChanges {
  return {
    ...(ledger === bodies.ledger ? {} : { ledger }),
    ...(questions === undefined || questions === bodies.questions ? {} : { questions }),
  };
}

/** The calls that ended since the record last received any. */
export function takeCalls({ app, site }: Run): readonly MeasuredCall[] {
  return app.lanes.memoryOf(site.cluster).calls.take();
}
