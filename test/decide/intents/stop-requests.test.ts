import { expect, test } from "vitest";
import { nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { NOW } from "../../support/build-node.ts";
import { buildState, OURS } from "../../support/build-record.ts";
import { commitEffects } from "../../../src/decide/intents/create-requests.ts";

test("1,201 nodes are stopped by three requests, each with an id of its own", () => {
  const { record } = buildState({});
  const terminates = Array.from({ length: 1201 }, (_, number) => nodeId(`n${number}`));
  const { intents, totals } = commitEffects(record, { terminates }, NOW, OURS, DEFAULT_POLICY);
  const nodes = intents.map(({ effect }) => (effect.kind === "terminate" ? effect.nodes : []));
  expect(nodes.map(({ length }) => length)).toEqual([500, 500, 201]);
  expect(nodes.flat()).toEqual(terminates);
  expect(new Set(intents.map(({ id }) => id)).size).toBe(3);
  expect(totals.terminated).toBe(1201);
});
