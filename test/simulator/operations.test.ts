import { describe, expect, test } from "vitest";
import { Bench, createdBy, withNodes } from "./fixture.ts";

describe("operations", () => {
  test("an accepted create is found by request id, by its own id, and among the nodes", () => {
    const bench = new Bench();
    const { operationId } = createdBy(bench.create([{ nodearray: "htc", count: 2 }], "r1"));
    bench.create([{ nodearray: "htc", count: 1 }]);
    const operation = { action: "create", startTime: "2026-01-10T10:00:00.000Z" };
    expect(bench.get("/operations/", { request_id: "r1" })).toMatchObject({ status: 200, body: [operation] });
    expect(bench.get(`/operations/${operationId}`)).toMatchObject({ status: 200, body: operation });
    for (const query of [{ request_id: "r1" }, { operation: operationId }]) {
      const response = bench.get("/clusters/demo/nodes", query);
      expect(response.body).toMatchObject({ operation, nodes: [{ Name: "htc-1" }, { Name: "htc-2" }] });
      expect(response.body).toHaveProperty("nodes.length", 2);
    }
  });

  test("a terminate can be looked up like a create", () => {
    const bench = withNodes(2);
    bench.terminate({ names: ["htc-2"], requestId: "t1" });
    expect(bench.get("/operations/", { request_id: "t1" }).body).toMatchObject([{ action: "terminate" }]);
    expect(bench.get("/clusters/demo/nodes", { request_id: "t1" }).body).toMatchObject({
      nodes: [{ Name: "htc-2", Status: "Terminating" }],
    });
  });

  test.each([
    { name: "no operation of this id", path: "/operations/nope", query: {}, status: 404 },
    { name: "list without request id", path: "/operations/", query: {}, status: 400 },
    { name: "list without its slash", path: "/operations", query: { request_id: "c1" }, status: 404 },
    {
      name: "nodes of an unknown operation",
      path: "/clusters/demo/nodes",
      query: { operation: "x" },
      status: 404,
    },
    {
      name: "nodes by both",
      path: "/clusters/demo/nodes",
      query: { operation: "x", request_id: "c1" },
      status: 400,
    },
    { name: "unknown cluster", path: "/clusters/nope/status", query: {}, status: 404 },
    { name: "unknown path", path: "/clusters/demo/usage", query: {}, status: 404 },
    { name: "a path that cannot be decoded", path: "/clusters/%zz/status", query: {}, status: 404 },
  ])("$name", ({ path, query, status }) => {
    expect(withNodes(1).get(path, query).status).toBe(status);
  });

  test("a cluster's name is percent-encoded in the path", () => {
    const bench = new Bench({}, { name: "my cluster/2" });
    expect(bench.get("/clusters/my%20cluster%2F2/status").status).toBe(200);
  });
});
