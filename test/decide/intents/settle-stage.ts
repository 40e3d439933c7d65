import { requestId } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Intent } from "../../../src/domain/intent.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at } from "../../support/build-node.ts";
import { buildCreate, buildState, OURS } from "../../support/build-record.ts";
import type { Evidence, Settled } from "../../../src/decide/intents/evidence.ts";

/*
 * A record with intents, and evidence of what became of them.
 */

export const R1 = requestId("r-1");

export function stateOf(intents: readonly Intent[], more: Partial<ClusterRecord> = {}): Settled {
  const { record, bodies } = buildState({ record: { intents, ...more } });
  return { record, ledger: bodies.ledger };
}

export const never = buildCreate("r-1", 4);

/** Asked too early to be certain. */
export const absent = (
  afterSend: "conflict" | "no-answer" | "none",
  message?: string,
  askedAt: Instant = at(5),
  by = OURS,
): Evidence => ({
  kind: "absent",
  afterSend,
  askedAt,
  held: { by, certainFrom: at(210) },
  ...(message === undefined ? {} : { message }),
});
