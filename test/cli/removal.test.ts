import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** Before the app is removed: what it would leave behind. */

const NOTHING = { nodes: { list: [] }, inFlight: [], demand: [] };

/** This many nodes in that phase. */
const nodes = (count: number, phase: string, ownership = "ours: our request made it") =>
  Array.from({ length: count }, () => ({ phase, ownership }));
const ANOTHER = "not ours: another tool made it, and exclusiveNodearrays does not cover hpc";

async function run(states: Readonly<Record<string, object>>, words: readonly string[] = []) {
  const { url, seen } = await stagedServer((request) => {
    const name = request.split("/").at(-1) ?? "";
    if (request !== "GET /api/clusters")
      return states[name] === undefined ? { status: 503, body: {} } : { body: states[name] };
    return { body: { clusters: Object.keys({ prod: 0, test: 0 }).map((cluster) => ({ cluster })) } };
  });
  return { ...(await runCommand(["removal", "--url", url, "--key", "k", ...words])), seen };
}

test("nodes that run, nodes that come and live request sets keep the app from being removed", async () => {
  const { code, out, seen } = await run({
    prod: {
      nodes: { list: [...nodes(2, "ready"), ...nodes(1, "going"), ...nodes(5, "deallocated")] },
      inFlight: [{ bucket: "hpc", stillToShow: 3 }],
      demand: [
        { requestSet: "slurm", state: "live" },
        { requestSet: "old", state: "empty" },
      ],
    },
    test: NOTHING,
  });
  expect(code).toBe(1);
  expect(out.split("\n")).toEqual([
    "CLUSTER  NODES  COMING  REQUEST SETS",
    "prod         3       3             1",
    "",
    "Not yet: without the app these nodes are not stopped. End the demand, and wait until no node is left.",
  ]);
  expect(seen.every((request) => request.startsWith("GET "))).toBe(true);
});

test("nodes that are deallocated, and no demand: it may go", async () => {
  const { code, out } = await run({
    prod: { ...NOTHING, nodes: { list: nodes(5, "deallocated") } },
    test: NOTHING,
  });
  expect({ code, out }).toEqual({ code: 0, out: "nothing is left: no cluster has nodes of ours or demand" });
});

test("nodes of another tool do not keep it: the app never stops them", async () => {
  const prod = { ...NOTHING, nodes: { list: nodes(12, "ready", ANOTHER) } };
  expect(await run({ prod, test: NOTHING })).toMatchObject({ code: 0 });
  const { out } = await run({ prod, test: NOTHING }, ["--json"]);
  expect(JSON.parse(out).clusters[0]).toMatchObject({ nodes: 0, otherNodes: 12 });
});

test("nodes that do not go by waiting are named, with what ends them", async () => {
  const unknown = { array: "htc", machineType: "F2", busyness: "unknown" };
  const idle = { ...unknown, busyness: "idle" };
  const list = [...nodes(2, "ready").map((one) => ({ ...one, ...unknown })), { ...idle, phase: "ready" }];
  const { out } = await run({ prod: { ...NOTHING, nodes: { list } }, test: NOTHING });
  expect(out.split("\n").at(-1)).toBe(
    "prod: waiting does not end all: 2 x htc/F2 stay until their autostop callback asks, a report names them idle, or they are terminated in CycleCloud: no report and no callback yet",
  );
  const one = await run({ prod: { ...NOTHING, nodes: { list: list.slice(1) } }, test: NOTHING });
  expect(one.out).toContain(
    "1 x htc/F2 stays until its autostop callback asks, a report names it idle, or it is",
  );
});

test("a node whose ownership the app does not say keeps it", async () => {
  const prod = { ...NOTHING, nodes: { list: [{ phase: "ready" }] } };
  expect(await run({ prod, test: NOTHING })).toMatchObject({ code: 1 });
});

test("as data", async () => {
  const { code, out } = await run({ prod: NOTHING, test: NOTHING }, ["--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    free: true,
    clusters: [
      { cluster: "prod", nodes: 0, staying: 0, otherNodes: 0, coming: 0, liveSets: 0 },
      { cluster: "test", nodes: 0, staying: 0, otherNodes: 0, coming: 0, liveSets: 0 },
    ],
  });
});

test("a cluster that cannot be read: it is not known, and it may not go", async () => {
  const { code, err } = await run({ prod: NOTHING });
  expect(code).toBe(3);
  expect(err.split("\n")[0]).toBe("test: unknown what would be left");
});
