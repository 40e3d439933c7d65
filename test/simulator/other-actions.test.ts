import { describe, expect, test } from "vitest";
import { readFilter } from "../../src/simulator/manage.ts";
import { Bench } from "./fixture.ts";

/** What other clients call: restart, reimage, retry, scale, and filters (cyclecloud-wire.md A.2, A.7, A.8, A.12). */

function withReadyNodes(count: number): Bench {
  const bench = new Bench();
  bench.create([{ nodearray: "htc", count }]);
  bench.pass(100);
  return bench;
}

const statusesOf = (bench: Bench) => bench.nodes().map(({ Status }) => Status);

describe.each([
  { action: "restart", status: "Restarting" },
  { action: "reimage", status: "Reimaging" },
])("$action", ({ action, status }) => {
  test("a Ready node is out for its time to prepare, and keeps its id and address", () => {
    const bench = withReadyNodes(1);
    const [before] = bench.nodes();
    const answer = bench.post(`/clusters/demo/nodes/${action}`, { names: ["htc-1"] });
    expect(answer).toMatchObject({ status: 202, body: { nodes: [{ name: "htc-1", status: "OK" }] } });
    expect(bench.nodes()).toMatchObject([{ Status: status, TargetState: "Started" }]);
    bench.pass(60);
    expect(bench.nodes()).toEqual([before]);
  });

  test("a node without a VM cannot be", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    expect(bench.post(`/clusters/demo/nodes/${action}`, { names: ["htc-1"] }).body).toMatchObject({
      nodes: [{ status: "Error", error: "The node is Allocation and has no VM to work on" }],
    });
  });

  test("a head node cannot be", () => {
    const headNodes = [{ name: "scheduler", machineType: "Standard_D4s_v3", region: "westeurope" }];
    const bench = new Bench({}, { headNodes });
    expect(bench.post(`/clusters/demo/nodes/${action}`, { names: ["scheduler"] }).body).toMatchObject({
      nodes: [{ status: "Error", error: "The node is not part of a scale set" }],
    });
  });
});

test("retry: a node that failed while it ran is prepared once more; others stay as they are", () => {
  const bench = withReadyNodes(2);
  bench.simulator.faults.failNode(String(bench.nodes()[0]?.["NodeId"]));
  expect(statusesOf(bench)).toEqual(["Failed", "Ready"]);
  expect(bench.post("/cloud/actions/retry/demo", undefined)).toMatchObject({ status: 200, body: {} });
  expect(statusesOf(bench)).toEqual(["Preparing", "Ready"]);
  bench.pass(60);
  expect(statusesOf(bench)).toEqual(["Ready", "Ready"]);
});

describe("scale", () => {
  const scale = (bench: Bench, query: Record<string, string>) =>
    bench.simulator.request({ method: "POST", path: "/clusters/demo/scale/htc", query });

  test.each([
    { name: "to a number of nodes", query: { totalNodeCount: "3" }, nodes: 3 },
    { name: "to a number of cores, in whole nodes of 2", query: { totalCoreCount: "5" }, nodes: 3 },
    { name: "nothing happens if there is more already", query: { totalNodeCount: "1" }, nodes: 2 },
  ])("$name", ({ query, nodes }) => {
    const bench = withReadyNodes(2);
    expect(scale(bench, query)).toMatchObject({ status: 202, body: { sets: [{ added: nodes - 2 }] } });
    expect(bench.nodes()).toHaveLength(nodes);
  });

  test.each([
    { query: {} },
    { query: { totalNodeCount: "1", totalCoreCount: "1" } },
    { query: { totalNodeCount: "x" } },
  ])("$query is refused", ({ query }) => {
    expect(scale(new Bench(), query).status).toBe(409);
  });
});

test("filter: selects what matches, in union with the other selectors", () => {
  const bench = withReadyNodes(2);
  bench.create([{ nodearray: "hpc", count: 2 }]);
  const body = { filter: 'Status === "Ready" && Name != "HTC-1"', names: ["hpc-2"] };
  const { body: answered } = bench.terminate(body);
  expect(answered).toMatchObject({ nodes: [{ name: "htc-2" }, { name: "hpc-2" }] });
});

test.each([
  { text: 'State === "Started"', record: { State: "Started" }, matches: true },
  { text: 'State === "started"', record: { State: "Started" }, matches: false },
  { text: 'State == "started"', record: { State: "Started" }, matches: true },
  { text: 'State != "x"', record: {}, matches: false },
  { text: 'State =!= "x"', record: {}, matches: true },
  { text: "CoreCount >= 4 || KeepAlive", record: { CoreCount: 2, KeepAlive: true }, matches: true },
  { text: "!KeepAlive", record: { KeepAlive: false }, matches: true },
  { text: "!(CoreCount < 4)", record: { CoreCount: 4 }, matches: true },
  { text: 'Configuration.x == "1"', record: { Configuration: { x: "1" } }, matches: true },
])("filter $text of $record", ({ text, record, matches }) => {
  const read = readFilter(text);
  expect(read.kind === "filter" && read.matches(record)).toBe(matches);
});

test.each(["", "(", "State ===", "a b", "&& a", "a == 1 )"])("no filter: %j", (text) => {
  expect(readFilter(text).kind).toBe("malformed");
});
