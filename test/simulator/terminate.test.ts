import { describe, expect, test } from "vitest";
import { pick, withNodes } from "./fixture.ts";

describe("terminate", () => {
  test("several selectors are a union, and a node matched twice is listed once", () => {
    const bench = withNodes(5);
    const [a, b, c, d] = bench.nodes();
    const response = bench.terminate({
      ids: [a?.["NodeId"]],
      names: ["htc-1", "htc-2"],
      hostnames: [c?.["Hostname"]],
      ip_addresses: [d?.["PrivateIp"]],
    });
    expect(response.status).toBe(202);
    expect(response.body).toEqual({
      operationId: expect.any(String),
      nodes: [
        { id: a?.["NodeId"], name: "htc-1", status: "OK" },
        { id: b?.["NodeId"], name: "htc-2", status: "OK" },
        { id: c?.["NodeId"], name: "htc-3", status: "OK" },
        { id: d?.["NodeId"], name: "htc-4", status: "OK" },
      ],
    });
  });

  test("a node that does not exist is not listed, and nothing matched is a success", () => {
    const bench = withNodes(1);
    expect(bench.terminate({ ids: ["no-such-id"] })).toMatchObject({ status: 202, body: { nodes: [] } });
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
  });

  test("again is harmless: the node goes when it was going to", () => {
    const bench = withNodes(1);
    const ids = pick(bench.nodes(), "NodeId");
    bench.terminate({ ids });
    bench.pass(15);
    expect(bench.terminate({ ids })).toMatchObject({ status: 202, body: { nodes: [{ status: "OK" }] } });
    bench.pass(5);
    expect(bench.nodes()).toEqual([]);
    expect(bench.eventsOf("terminate-accepted")).toHaveLength(1);
  });

  test.each([
    { name: "no body", body: undefined },
    { name: "no selector", body: {} },
    { name: "ids that are no list", body: { ids: "x" } },
    { name: "an id that is no text", body: { ids: [1] } },
    { name: "a filter that is no text", body: { filter: 1 } },
    { name: "a filter that breaks off", body: { filter: "State === " } },
  ])("$name is refused", ({ body }) => {
    expect(withNodes(1).terminate(body).status).toBe(409);
  });

  test.each(["terminate", "remove", "shutdown"])("%s stops a node", (action) => {
    const bench = withNodes(1);
    bench.post(`/clusters/demo/nodes/${action}`, { names: ["htc-1"] });
    bench.pass(20);
    expect(bench.nodes()).toEqual([]);
  });

  test("a node of another cluster is not matched", () => {
    const array = { name: "htc", region: "westeurope", machineTypes: ["Standard_F2s_v2"] };
    const clusters = ["demo", "other"].map((name) => ({ name, arrays: [array] }));
    const bench = withNodes(1, { clusters });
    const ids = pick(bench.nodes(), "NodeId");
    expect(bench.post("/clusters/other/nodes/terminate", { ids }).body).toMatchObject({ nodes: [] });
  });
});
