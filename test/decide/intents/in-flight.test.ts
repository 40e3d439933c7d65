import { describe, expect, test } from "vitest";
import { followInFlight, originsOf } from "../../../src/decide/intents/in-flight.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { arrayName, nodeId, placementGroup, requestId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { InFlight, Observation } from "../../../src/domain/record.ts";
import type { Ledger } from "../../../src/domain/ledger.ts";
import { stillInFlight } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import {
  at,
  buildNode,
  buildSnapshot,
  D4,
  D8,
  EXECUTE,
  NOW,
  buildLedger,
  notOurs,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { BUCKET, EMPTY_RECORD } from "../../support/build-record.ts";

const R1 = requestId("r-1");
const ids = (...names: string[]) => names.map(nodeId);

const flying = (more: Partial<InFlight> = {}): InFlight => ({
  requestId: R1,
  bucket: BUCKET,
  purpose: { kind: "array" },
  added: 3,
  seen: [],
  since: NOW,
  ...more,
});

interface Seen {
  /** In the list of the request's nodes; absent: the request could not be asked for. */
  readonly listed?: readonly Node[];
  /** In the status; absent: those that are listed. */
  readonly shown?: readonly Node[];
  readonly askedAt?: Instant;
}

function observation(now: Instant, { listed, shown = listed ?? [], askedAt = now }: Seen): Observation {
  const requestNodes = new Map(listed === undefined ? [] : [[R1, { askedAt, nodes: listed }]]);
  return { snapshot: buildSnapshot(shown, { at: now }), requestNodes };
}

function follow(
  inFlight: readonly InFlight[],
  now: Instant,
  seen: Seen,
  ledger: Ledger = new Map(),
): ReturnType<typeof followInFlight> {
  return followInFlight({ ...EMPTY_RECORD, inFlight }, observation(now, seen), ledger, DEFAULT_POLICY, now);
}

const nodes = (...names: string[]) => names.map((name) => buildNode(name, { phase: "coming" }));

describe("in flight: added, less what was ever seen", () => {
  test.each([
    { name: "nothing shown yet", before: flying(), shown: [], at: at(30), seen: [], left: 3 },
    {
      name: "two of three shown",
      before: flying(),
      shown: ["n1", "n2"],
      at: at(30),
      seen: ["n1", "n2"],
      left: 1,
    },
    { name: "all shown: closed", before: flying(), shown: ["n1", "n2", "n3"], at: at(30), seen: undefined },
    {
      name: "one that was seen has vanished since: not coming a second time",
      before: flying({ seen: ids("n1", "n2") }),
      shown: ["n2"],
      at: at(30),
      seen: ["n1", "n2"],
      left: 1,
    },
    {
      name: "the last one shows up when the others have gone already: closed",
      before: flying({ seen: ids("n1", "n2") }),
      shown: ["n3"],
      at: at(30),
      seen: undefined,
    },
    {
      name: "a moment before the grace ends",
      before: flying(),
      shown: ["n1"],
      at: at(899.999),
      seen: ["n1"],
      left: 2,
    },
    {
      name: "after the grace it does not count",
      before: flying(),
      shown: ["n1"],
      at: at(900),
      seen: undefined,
    },
  ])("$name", ({ before, shown, at: when, seen, left }) => {
    const [after] = follow([before], when, { listed: nodes(...shown) }).inFlight;
    expect(after?.seen).toEqual(seen);
    expect(after === undefined ? undefined : stillInFlight(after)).toBe(left);
  });

  test("a node that the request names and nothing has ever shown is still to come", () => {
    const { inFlight } = follow([flying()], at(30), { listed: nodes("n1"), shown: [] });
    expect(inFlight).toEqual([flying()]);
  });

  test("a node that was stopped before the list came is known to the ledger, and closes its place", () => {
    const ledger = rememberNodes(nodes("n1", "n2"), { goneAt: at(20) });
    const seen = { listed: nodes("n1", "n2", "n3"), shown: nodes("n3") };
    expect(follow([flying()], at(30), seen, ledger).inFlight).toEqual([]);
  });

  test.each([
    { name: "nothing of the bucket is Ready: it pauses", readyAt: undefined, size: D4, pauses: 1 },
    {
      name: "a node of the bucket became Ready before the create: it pauses",
      readyAt: at(-10),
      size: D4,
      pauses: 1,
    },
    { name: "one of another size became Ready since: it pauses", readyAt: at(800), size: D8, pauses: 1 },
    {
      name: "one of the bucket became Ready since: it boots, and does not pause",
      readyAt: at(800),
      size: D4,
      pauses: 0,
    },
  ])("never shown until the grace ends, $name", ({ readyAt, size, pauses }) => {
    const up = readyAt === undefined ? [] : [buildNode("up", { machineType: size })];
    const ledger = readyAt === undefined ? new Map() : rememberNodes(up, { firstReadyAt: readyAt });
    const after = follow([flying()], at(900), { listed: [], shown: up }, ledger);
    expect(after.inFlight).toEqual([]);
    expect(after.backoffs).toHaveLength(pauses);
  });

  test("a request that could not be asked for stays as it is", () => {
    expect(follow([flying()], at(30), { shown: nodes("n1", "n2", "n3") }).inFlight).toEqual([flying()]);
  });
});

describe("the answer to a create was lost", () => {
  const unsure = (listed: number, since: Instant, more: Partial<InFlight> = {}) =>
    flying({ added: 10, unconfirmed: { listed, since }, ...more });
  const four = nodes("n1", "n2", "n3", "n4");
  const seen = ids("n1", "n2", "n3", "n4");

  test("its list has grown: all that was asked for may still come", () => {
    const { inFlight } = follow([unsure(0, NOW)], at(30), { listed: four });
    expect(inFlight).toEqual([unsure(4, at(30), { seen })]);
  });

  test("its list has not grown for a minute: that is what was granted, and the bucket rests", () => {
    const after = follow([unsure(4, at(30), { seen })], at(90), { listed: four });
    expect(after.inFlight).toEqual([]);
    expect(after.backoffs).toEqual([
      {
        bucket: BUCKET,
        until: at(150),
        seconds: 60,
        cause: "fell-short",
        message: "10 asked, 4 added, as the list of the request's nodes says",
      },
    ]);
  });

  test.each([
    { name: "not for a minute yet", now: at(89.999), listed: four, askedAt: at(89.999) },
    {
      name: "the answer is an old one that a later observation was given",
      now: at(300),
      listed: four,
      askedAt: at(80),
    },
    { name: "the question failed", now: at(300), listed: undefined, askedAt: at(300) },
  ])("$name: still open", ({ now, listed, askedAt }) => {
    const before = unsure(4, at(30), { seen });
    const found = listed === undefined ? { shown: four } : { listed, shown: four, askedAt };
    expect(follow([before], now, found).inFlight).toEqual([before]);
  });

  test("a list that is empty proves nothing, however long it stays so", () => {
    expect(follow([unsure(0, NOW)], at(600), { listed: [] }).inFlight).toEqual([unsure(0, NOW)]);
  });

  test("listed nodes that no status has shown yet are still to come", () => {
    const { inFlight } = follow([unsure(4, NOW)], at(90), { listed: four, shown: four.slice(0, 1) });
    expect(inFlight).toEqual([flying({ added: 4, seen: ids("n1") })]);
  });

  test("all came: nothing rests", () => {
    const after = follow([unsure(0, NOW, { added: 4 })], at(30), { listed: four });
    expect([after.inFlight, after.backoffs]).toEqual([[], []]);
  });
});

describe("several sets in one request: each node closes a place of its own set", () => {
  const hpc = arrayName("hpc");
  const pg = placementGroup("pg-1");
  const lab = arrayName("lab");
  const sets = [
    flying({ added: 1 }),
    flying({ added: 1, bucket: { array: EXECUTE, machineType: D8 } }),
    flying({ added: 1, bucket: { array: hpc, machineType: D4, placementGroup: pg } }),
    flying({ added: 2, purpose: { kind: "dynamic", array: lab } }),
  ];
  const listed = [
    buildNode("a", { name: "execute-1" }),
    buildNode("b", { name: "execute-2", machineType: D8 }),
    buildNode("c", { name: "hpc-1", array: hpc, placementGroup: pg }),
    buildNode("d", { name: "lab-1" }),
  ];

  test("distinguished by array, size, group and name", () => {
    const origins = originsOf(observation(at(30), { listed }), sets);
    expect([...origins].map(([id, { purpose, askedAfter }]) => [id, purpose.kind, askedAfter])).toEqual([
      ["a", "array", 0],
      ["b", "array", 1],
      ["c", "array", 2],
      ["d", "dynamic", 3],
    ]);
    const { inFlight } = follow(sets, at(30), { listed });
    expect(inFlight.map((set) => [set.seen, stillInFlight(set)])).toEqual([
      [ids("a"), 0],
      [ids("b"), 0],
      [ids("c"), 0],
      [ids("d"), 1],
    ]);
  });

  test("a node of a set that is whole closes no place of another one in a later observation", () => {
    const two = [flying({ added: 1 }), flying({ added: 3, bucket: { array: hpc, machineType: D4 } })];
    const b = buildNode("b", { name: "hpc-1", array: hpc });
    const c = buildNode("c", { name: "hpc-2", array: hpc });
    const ofExecute = listed.slice(0, 1);
    const first = follow(two, at(30), { listed: [...ofExecute, b] });
    const second = follow(first.inFlight, at(60), { listed: [...ofExecute, b, c] });
    expect(second.inFlight.map((set) => [set.seen, stillInFlight(set)])).toEqual([
      [ids("a"), 0],
      [ids("b", "c"), 1],
    ]);
    const d = buildNode("d", { name: "hpc-3", array: hpc });
    const third = follow(second.inFlight, at(90), { listed: [...ofExecute, b, c, d] });
    expect(third.inFlight).toEqual([]);
  });

  test("a record without size and name belongs to a set of its array that has room", () => {
    const bare = { ...buildNode("b", { name: "b" }), machineType: buildNode("x").machineType };
    const [x, y] = [buildNode("x", { name: "execute-1" }), { ...bare, name: "unnamed" }];
    const two = [flying({ added: 1 }), flying({ added: 1, purpose: { kind: "dynamic", array: lab } })];
    const origins = originsOf(observation(at(30), { listed: [x, y] }), two);
    expect([...origins].map(([id, { purpose }]) => [id, purpose.kind])).toEqual([
      ["x", "array"],
      ["b", "dynamic"],
    ]);
  });

  test("a set that got less than it asked for rests alone", () => {
    const since = { listed: 2, since: NOW };
    const two = [
      flying({ added: 1, unconfirmed: since }),
      flying({ added: 2, unconfirmed: since, bucket: { array: EXECUTE, machineType: D8 } }),
    ];
    const after = follow(two, at(60), { listed: listed.slice(0, 2) });
    expect(after.inFlight).toEqual([]);
    expect(after.backoffs.map(({ bucket, message }) => [bucket.machineType, message])).toEqual([
      [D8, "2 asked, 1 added, as the list of the request's nodes says"],
    ]);
  });
});

describe("a node that was shown, and went before its request's list was made", () => {
  const [kept, gone] = nodes("n1", "n2");
  const known = (firstSeenAt: Instant) =>
    buildLedger(
      [gone].flatMap((node) =>
        node === undefined ? [] : [notOurs(rememberNode(node, { firstSeenAt, goneAt: at(50) }))],
      ),
    );
  const left = (seen: Seen, ledger: Ledger, more: readonly InFlight[] = []) =>
    follow([flying({ added: 2 }), ...more], at(60), seen, ledger).inFlight.map(stillInFlight);
  const listed = [kept].flatMap((node) => node ?? []);

  test("is no longer in flight", () => {
    expect(left({ listed }, known(at(20)))).toEqual([]);
  });

  test("does not while the list of its request is not known", () => {
    expect(left({ shown: listed }, known(at(20)))).toEqual([2]);
  });

  test("does not where it was there before the request", () => {
    expect(left({ listed }, known(at(-20)))).toEqual([1]);
  });

  test("waits where a request that is not listed yet can have made it", () => {
    const other = flying({ requestId: requestId("r-2"), added: 1 });
    expect(left({ listed }, known(at(20)), [other])).toEqual([1, 1]);
  });
});
