import { describe, expect, test } from "vitest";
import {
  memoryCredentialBreaker,
  memoryDocuments,
  memoryTriggerLog,
  memoryHistory,
} from "../../src/adapters/memory/stores.ts";
import { tableCredentialBreaker } from "../../src/adapters/tables/credential-breaker.ts";
import { tableDocuments } from "../../src/adapters/tables/documents.ts";
import { tableTriggerLog } from "../../src/adapters/tables/trigger-log.ts";
import { tableHistory } from "../../src/adapters/tables/history.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import type { CredentialBreaker, TriggerLog } from "../../src/app/ports/ports.ts";
import type { Documents, History, HistoryRow } from "../../src/app/ports/record-store.ts";
import { clusterName } from "../../src/domain/ids.ts";
import type { Instant } from "../../src/domain/units.ts";
import { instant, plusSeconds } from "../../src/domain/units.ts";
import { azuriteForThisFile } from "../support/azurite.ts";
import { SAMPLE_TIME } from "../support/sample-record.ts";

/** What history, documents and breaker promise (app/ports), in memory and on Azurite. */
const azurite = azuriteForThisFile();

async function freshTable() {
  const table = openTable(azurite.account(), { name: azurite.freshName() });
  await table.ensure();
  return table;
}

interface SmallStores {
  readonly history: History;
  readonly documents: Documents;
  readonly breaker: CredentialBreaker;
  readonly triggers: TriggerLog;
}

const kinds: readonly { readonly name: string; make: () => Promise<SmallStores> }[] = [
  {
    name: "memory",
    make: async () => ({
      history: memoryHistory(),
      documents: memoryDocuments(),
      breaker: memoryCredentialBreaker(),
      triggers: memoryTriggerLog(),
    }),
  },
  {
    name: "Azurite",
    async make() {
      const table = await freshTable();
      return {
        history: tableHistory(table),
        documents: tableDocuments(table),
        breaker: tableCredentialBreaker(table, { now: () => SAMPLE_TIME }),
        triggers: tableTriggerLog(table),
      };
    },
  },
];

const demo = clusterName("demo/1");
const other = clusterName("demo");
const later = (seconds: number) => plusSeconds(SAMPLE_TIME, seconds);

const row = (seconds: number, plan: number): HistoryRow => ({
  at: later(seconds),
  plan,
  nodes: { ready: 3, coming: 1 },
  inFlight: 2,
  liveSets: 4,
  created: 1,
  terminated: 0,
  unmet: 5,
  trouble: "unreachable",
});

describe.each(kinds)("history: $name", ({ make }) => {
  test("rows come back whole, newest first, within both ends of the range, as many as asked for", async () => {
    const { history } = await make();
    for (const seconds of [60, 0, 180, 120]) await history.append(demo, row(seconds, seconds));
    await history.append(other, row(90, 1));
    expect(await history.read(demo, later(60), later(180), 10)).toStrictEqual([
      row(180, 180),
      row(120, 120),
      row(60, 60),
    ]);
    expect(await history.read(demo, later(61), later(179), 10)).toStrictEqual([row(120, 120)]);
    expect(await history.read(demo, instant(0), later(1e6), 2)).toStrictEqual([row(180, 180), row(120, 120)]);
  });

  test("the same moment again replaces the row", async () => {
    const { history } = await make();
    await history.append(demo, row(0, 1));
    await history.append(demo, row(60, 2));
    await history.append(demo, row(0, 3));
    expect(await history.read(demo, later(0), later(60), 10)).toStrictEqual([row(60, 2), row(0, 3)]);
  });

  test("prune removes what is older and nothing else", async () => {
    const { history } = await make();
    for (let minute = 0; minute < 130; minute++) await history.append(demo, row(minute * 60, minute));
    await history.append(other, row(0, 1));
    expect(await history.prune(demo, later(120 * 60))).toBe(120);
    expect(await history.prune(demo, later(120 * 60))).toBe(0);
    const left = await history.read(demo, instant(0), later(1e6), 1000);
    expect(left.map(({ plan }) => plan)).toStrictEqual([129, 128, 127, 126, 125, 124, 123, 122, 121, 120]);
    expect(await history.read(other, later(0), later(0), 10)).toHaveLength(1);
  });
});

describe.each(kinds)("documents: $name", ({ make }) => {
  test("what was never written is undefined", async () => {
    expect(await (await make()).documents.read(demo)).toBeUndefined();
  });

  test("a document is written once, then only by who has read its last version", async () => {
    const { documents } = await make();
    const text = `{"name":"\u0000\r\n ümlaut \u{1F600}","long":"${"x".repeat(200_000)}"}`;
    expect(await documents.write(demo, text, undefined)).toBe("saved");
    expect(await documents.write(demo, "{}", undefined)).toBe("conflict");
    const first = await documents.read(demo);
    expect(first?.text).toBe(text);
    expect(await documents.write(demo, "{}", first?.etag)).toBe("saved");
    expect(await documents.write(demo, "[]", first?.etag)).toBe("conflict");
    expect((await documents.read(demo))?.text).toBe("{}");
    expect(await documents.read(other)).toBeUndefined();
  });
});

describe.each(kinds)("trigger log: $name", ({ make }) => {
  test("the last run of the timer, and the last wake message of each cluster", async () => {
    const { triggers } = await make();
    expect(await triggers.timerAt()).toBeUndefined();
    expect(await triggers.lastWake(demo)).toBeUndefined();
    await triggers.noteTimer(later(0));
    await triggers.noteTimer(later(60));
    await triggers.noteWake(demo, { id: "a#1", at: later(1) });
    await triggers.noteWake(demo, { id: "b/2", at: later(2) });
    expect(await triggers.timerAt()).toBe(later(60));
    expect(await triggers.lastWake(demo)).toEqual({ id: "b/2", at: later(2) });
    expect(await triggers.lastWake(other)).toBeUndefined();
  });
});

describe.each(kinds)("states of a document: $name", ({ make }) => {
  test("each change is recorded with the document, and one that changes nothing is none", async () => {
    const { documents } = await make();
    const write = async (text: string, change: { readonly at: Instant; readonly rollbackTo?: number }) =>
      documents.write(demo, text, (await documents.read(demo))?.etag, change);
    expect(await documents.versions(demo)).toStrictEqual([]);
    expect(await write('{"a":1}', { at: later(0) })).toBe("saved");
    expect(await write('{"a":2}', { at: later(60) })).toBe("saved");
    expect(await write('{"a":2}', { at: later(90) })).toBe("saved");
    expect(await write('{"a":1}', { at: later(120), rollbackTo: 1 })).toBe("saved");
    expect(await documents.write(demo, "{}", undefined, { at: later(150) })).toBe("conflict");
    expect(await documents.versions(demo)).toStrictEqual([
      { at: later(120), rollbackTo: 1, number: 3, text: '{"a":1}' },
      { at: later(60), number: 2, text: '{"a":2}' },
      { at: later(0), number: 1, text: '{"a":1}' },
    ]);
    expect(await documents.versions(other)).toStrictEqual([]);
  });
});

describe.each(kinds)("credential breaker: $name", ({ make }) => {
  test("a refusal is known until it is cleared, and to its credential only", async () => {
    const { breaker } = await make();
    const credential = "https://cc.example.com/ as ops#1";
    expect(await breaker.refusedAt(credential)).toBeUndefined();
    await breaker.note(credential, later(0));
    await breaker.note(credential, later(7));
    expect(await breaker.refusedAt(credential)).toBe(later(7));
    expect(await breaker.refusedAt("somebody else")).toBeUndefined();
    await breaker.clear(credential);
    await breaker.clear(credential);
    expect(await breaker.refusedAt(credential)).toBeUndefined();
  });
});

test("another instance learns of a refusal within five seconds of its clock", async () => {
  const table = await freshTable();
  let now = later(0);
  const one = tableCredentialBreaker(table, { now: () => now });
  const two = tableCredentialBreaker(table, { now: () => now });
  expect(await two.refusedAt("ops")).toBeUndefined();
  await one.note("ops", later(0));
  now = later(4.999);
  expect(await two.refusedAt("ops")).toBeUndefined();
  now = later(5);
  expect(await two.refusedAt("ops")).toBe(later(0));
});
