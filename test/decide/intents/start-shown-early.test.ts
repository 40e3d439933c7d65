import { expect, test } from "vitest";
import { nextStart } from "../../../src/decide/intents/node-starts.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { nodeId, requestId } from "../../../src/domain/ids.ts";
import { at, buildLedger, buildNode, rememberNode } from "../../support/build-node.ts";
import { BUCKET, buildIntent, EMPTY_RECORD } from "../../support/build-record.ts";
import type { Evidence } from "../../../src/decide/intents/evidence.ts";

const ID = nodeId("n-1");
const R1 = requestId("r-1");

test.each<{ name: string; evidence: Evidence }>([
  { name: "accepted", evidence: { kind: "started", nodes: new Map([[ID, { ok: true }]]) } },
  { name: "not listed", evidence: { kind: "started", nodes: new Map() } },
  { name: "refused", evidence: { kind: "refused", message: "it is starting already" } },
  { name: "not known", evidence: { kind: "unclear" } },
])(
  "an observation shows the node on its way up before the answer to its start is known: $name",
  ({ evidence }) => {
    const off = rememberNode(buildNode("n-1", { phase: "deallocated" }), {
      deallocated: true,
      firstSeenAt: at(-1000),
    });
    const start = nextStart(off, buildNode("n-1", { phase: "coming" }), at(3));
    expect(start).toEqual({ state: "shown", since: at(3), shownAt: at(3) });
    const seen = rememberNode(buildNode("n-1", { phase: "coming" }), {
      firstSeenAt: at(-1000),
      ...(start === undefined ? {} : { start }),
    });
    const intent = buildIntent("r-1", { effect: { kind: "start", bucket: BUCKET, nodes: [ID] } });
    const state = { record: { ...EMPTY_RECORD, intents: [intent] }, ledger: buildLedger([seen]) };
    const settled = settle(state, R1, evidence, at(5));
    // Else its boot timeout would count from the day on which it was first seen.
    expect(settled.ledger.get(ID)?.start).toEqual({ state: "shown", since: at(3), shownAt: at(3) });
    expect(settled.record.intents).toEqual([]);
    expect(settled.record.backoffs).toEqual([]);
  },
);
