import "../scenarios/install-core.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { handleAutostop } from "../../functions/autostop.ts";
import { createStopDesk } from "../../src/app/autostop/answer-autostop.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { Composition } from "../../src/compose.ts";
import { composeInMemory } from "../../src/compose.ts";
import { createHealthDesk } from "../../src/app/describe/describe-health.ts";
import { autostopPath } from "../../src/decide/autostop/autostop-token.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { buildNode, buildSnapshot, EXECUTE, NOW, PROD, rememberNodes } from "../support/build-node.ts";
import { buildState } from "../support/build-record.ts";

/** How often many calls at once read the record. */

const KEYS = { current: "k1", byId: new Map([["k1", "a secret of these tests"]]) };
/** Well-formed, of a known key, with a wrong signature. */
const FORGED = "k1.AAAAAAAAAAAAAAAAAAAAAA";
const VALID = autostopPath("", PROD, EXECUTE, KEYS).split("/").at(-1) ?? "";

let clock: VirtualClock;
let composed: Composition;
let reads = 0;
const logged: string[] = [];

beforeEach(async () => {
  clock = new VirtualClock(NOW);
  const base = composeInMemory({
    cluster: PROD,
    clock,
    transport: { send: () => Promise.reject(new Error("nothing is asked of CycleCloud")) },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: KEYS,
    policy: DEFAULT_POLICY,
    log: (event, fields) => {
      if (event === "tokens-refused") logged.push(JSON.stringify(fields));
    },
  });
  logged.length = 0;
  const nodes = [buildNode("n1")];
  const { record, bodies } = buildState({ ledger: rememberNodes(nodes), seen: buildSnapshot(nodes) });
  const { store } = base.app.ports;
  await store.save(record, bodies, undefined);
  reads = 0;
  const counting: typeof store = {
    ...store,
    load: (cluster) => {
      reads += 1;
      return store.load(cluster);
    },
  };
  const app = { ports: { ...base.app.ports, store: counting }, lanes: createLanes() };
  composed = { ...base, app, stopDesk: createStopDesk(app), healthDesk: createHealthDesk(app) };
});

async function ask(token: string, instance: string, cluster: string = PROD): Promise<number> {
  const query = new URLSearchParams({ instance, begin: "no" });
  return (await handleAutostop(composed, { params: { cluster, token }, query })).status ?? 200;
}

describe("50 calls in a row", () => {
  test.each([
    { name: "tokens of no form", tokenAt: (at: number) => `garbage-${at}` },
    { name: "tokens of unknown keys", tokenAt: (at: number) => `k${at + 2}.AAAAAAAAAAAAAAAAAAAAAA` },
    { name: "tokens that are cut short", tokenAt: (at: number) => VALID.slice(0, at % 20) },
  ])("$name: no read", async ({ tokenAt }) => {
    for (let at = 0; at < 50; at += 1) expect(await ask(tokenAt(at), "vm-n1")).toBe(403);
    expect(reads).toBe(0);
  });

  test("forged tokens of the right form: one read in five seconds", async () => {
    for (let at = 0; at < 50; at += 1) expect(await ask(FORGED, "vm-n1")).toBe(403);
    expect(reads).toBe(1);
    clock.moveTo(NOW + 4999);
    await ask(FORGED, "vm-n1");
    expect(reads).toBe(1);
    clock.moveTo(NOW + 5000);
    await ask(FORGED, "vm-n1");
    expect(reads).toBe(2);
  });

  test("an instance of no form, with a valid token: no read", async () => {
    for (let at = 0; at < 50; at += 1) expect(await ask(VALID, "")).toBe(400);
    expect(reads).toBe(0);
  });

  test("clusters that nobody knows: no read", async () => {
    for (let at = 0; at < 50; at += 1) expect(await ask(VALID, "vm-n1", `prod-${at}`)).toBe(403);
    expect(reads).toBe(0);
  });
});

test("a valid question reads the record once for itself; the arrays are read with the first", async () => {
  expect(await ask(VALID, "vm-n1")).toBe(503);
  expect(reads).toBe(2);
  expect(await ask(VALID, "vm-n1")).toBe(503);
  expect(reads).toBe(3);
});

describe("health for anyone", () => {
  test("100 calls at once and one 4.999 s later: one read; the next one reads again", async () => {
    await Promise.all(Array.from({ length: 100 }, () => composed.healthDesk.all()));
    clock.moveTo(NOW + 4999);
    await composed.healthDesk.all();
    expect(reads).toBe(1);
    clock.moveTo(NOW + 5000);
    await composed.healthDesk.all();
    expect(reads).toBe(2);
  });
});

test("refused tokens are logged once a minute for a cluster, with their number, and a right one is not", async () => {
  const prod = (number: number) => `{"cluster":"prod","number":${number}}`;
  await ask(VALID, "vm-n1");
  expect(logged).toEqual([]);
  for (let at = 0; at < 30; at += 1) await ask(at % 2 === 0 ? FORGED : `garbage-${at}`, "vm-n1");
  // Names that callers invent are not logged, and share one count.
  for (let at = 0; at < 30; at += 1) await ask(FORGED, "vm-n1", `invented-${at}`);
  expect(logged).toEqual([prod(1), '{"number":1}']);
  clock.moveTo(NOW + 59_999);
  await ask(FORGED, "vm-n1");
  expect(logged).toHaveLength(2);
  clock.moveTo(NOW + 60_000);
  await ask(FORGED, "vm-n1");
  await ask(FORGED, "vm-n1");
  expect(logged.slice(2)).toEqual([prod(31)]);
  clock.moveTo(NOW + 600_000);
  await ask(FORGED, "vm-n1");
  expect(logged.slice(3)).toEqual([prod(2)]);
});
