import { describe, expect, test } from "vitest";
import { Bench, createdBy, pick, withNodes } from "./fixture.ts";

describe("what the reference calls unknown is an option", () => {
  test.each([
    { option: 404 as const, status: 404, body: { Message: "No operation found for request id nope" } },
    { option: "empty" as const, status: 200, body: { nodes: [] } },
  ])("nodes of an unknown request id: $option", ({ option, status, body }) => {
    const bench = new Bench({ quirks: { unknownRequestNodes: option } });
    expect(bench.get("/clusters/demo/nodes", { request_id: "nope" })).toMatchObject({ status, body });
  });

  test.each([
    { option: 404 as const, status: 404, body: { Message: "No operation found for request id nope" } },
    { option: "empty" as const, status: 200, body: [] },
  ])("operations of an unknown request id: $option", ({ option, status, body }) => {
    const bench = new Bench({ quirks: { unknownRequestOperations: option } });
    expect(bench.get("/operations/", { request_id: "nope" })).toMatchObject({ status, body });
  });

  test("an operation that lags is not found at first, but its id is taken", () => {
    const bench = new Bench({ quirks: { operationsLagSeconds: 10 } });
    const { operationId } = createdBy(bench.create([{ nodearray: "htc", count: 1 }], "r1"));
    bench.pass(9);
    expect(bench.get("/operations/", { request_id: "r1" }).body).toEqual([]);
    expect(bench.get(`/operations/${operationId}`).status).toBe(404);
    expect(bench.get("/clusters/demo/nodes", { request_id: "r1" }).status).toBe(404);
    expect(bench.create([{ nodearray: "htc", count: 1 }], "r1").status).toBe(409);
    bench.pass(1);
    expect(bench.get("/operations/", { request_id: "r1" }).body).toHaveLength(1);
    expect(bench.get(`/operations/${operationId}`).status).toBe(200);
  });

  test.each([
    {
      option: "object" as const,
      body: { Code: 409, Exception: "", Message: "At least one set is required", Detail: "" },
    },
    { option: "empty" as const, body: undefined },
    { option: "html" as const, body: "<html><body><h1>409</h1>At least one set is required</body></html>" },
  ])("body of a 409: $option", ({ option, body }) => {
    expect(new Bench({ quirks: { conflictBody: option } }).create([])).toMatchObject({ status: 409, body });
  });

  test.each([
    { option: "object" as const, body: { Code: 404, Message: "Cluster nope does not exist" } },
    { option: "empty" as const, body: undefined },
    { option: "html" as const, body: "<html><body><h1>404</h1>Cluster nope does not exist</body></html>" },
  ])("body of another error: $option", ({ option, body }) => {
    const bench = new Bench({ quirks: { errorBody: option } });
    expect(bench.get("/clusters/nope/status")).toMatchObject({ status: 404, body });
  });

  test.each([
    {
      option: "error" as const,
      results: [{ status: "Error", error: "This node has KeepAlive set" }, { status: "OK" }],
    },
    { option: "silently-omitted" as const, results: [{ status: "OK" }] },
  ])("terminating a node with KeepAlive: $option", ({ option, results }) => {
    const bench = withNodes(2, { quirks: { keepAliveTerminate: option } });
    const ids = pick(bench.nodes(), "NodeId");
    bench.simulator.faults.keepAlive(String(ids[0]), true);
    const response = bench.terminate({ ids });
    expect(response.body).toMatchObject({ nodes: results });
    expect(response.body).toHaveProperty("nodes.length", results.length);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready", "Terminating"]);
    bench.simulator.faults.keepAlive(String(ids[0]), false);
    bench.terminate({ ids });
    expect(pick(bench.nodes(), "Status")).toEqual(["Terminating", "Terminating"]);
  });

  test.each([
    { option: true, requestId: "c1" },
    { option: false, requestId: undefined },
  ])("request id in a node's record: $option", ({ option, requestId }) => {
    const bench = withNodes(1, { quirks: { requestIdInStatus: option } });
    expect(pick(bench.nodes(), "RequestId")).toEqual([requestId]);
  });

  test.each([
    { option: true, status: 409 },
    { option: false, status: 202 },
  ])("create and terminate share their ids: $option", ({ option, status }) => {
    const bench = withNodes(1, { quirks: { managementIdsShareNamespace: option } });
    expect(bench.terminate({ names: ["htc-1"], requestId: "c1" }).status).toBe(status);
    expect(bench.get("/operations/", { request_id: "c1" }).body).toMatchObject([{ action: "create" }]);
  });

  test.each([
    { action: "terminate", other: "terminate" },
    { action: "shutdown", other: "terminate" },
    { action: "start", other: "terminate" },
  ])("a repeated management id is refused: $other, then $action", ({ action, other }) => {
    const bench = withNodes(2, { quirks: { managementIdsShareNamespace: false } });
    bench.post(`/clusters/demo/nodes/${other}`, { names: ["htc-1"], requestId: "t1" });
    const again = bench.post(`/clusters/demo/nodes/${action}`, { names: ["htc-2"], requestId: "t1" });
    expect(again.status).toBe(409);
    expect(pick(bench.nodes(), "Status")).toEqual(["Terminating", "Ready"]);
  });

  test("keys of records in lower case, API keys as they are", () => {
    const bench = withNodes(1, { quirks: { keyCase: "lower" } });
    expect(bench.nodes()[0]).toMatchObject({ name: "htc-1", status: "Ready", targetstate: "Started" });
    expect(bench.nodes()[0]).not.toHaveProperty("Name");
    expect(bench.get("/clusters/demo/status").body).toHaveProperty("maxCoreCount");
    expect(bench.get("/clusters/demo/status").body).toMatchObject({
      nodearrays: [{ nodearray: { name: "htc", azure: { maxscalesetsize: 100 } } }, {}],
    });
  });

  test("fields that no client knows", () => {
    const bench = withNodes(1, { quirks: { newFields: true } });
    expect(bench.nodes()[0]).toHaveProperty("FutureAttribute");
    expect(bench.bucket("htc")).toHaveProperty("futureField");
    expect(bench.get("/clusters/demo/status").body).toHaveProperty("futureField");
  });

  test("fields that an older server does not have", () => {
    const quirks = {
      omitBucketFields: ["lastCapacityFailure", "familyQuotaCount"],
      omitNodeFields: ["CoreCount"],
    };
    const bench = withNodes(1, { quirks });
    expect(bench.bucket("htc")).not.toHaveProperty("lastCapacityFailure");
    expect(bench.bucket("htc")).not.toHaveProperty("familyQuotaCount");
    expect(bench.bucket("htc")).toHaveProperty("quotaCount");
    expect(bench.nodes()[0]).not.toHaveProperty("CoreCount");
  });

  test.each([
    {
      option: "deep" as const,
      node: { a: { template: 1, both: "request", request: 2 }, b: { template: 3 }, c: 4 },
    },
    { option: "one-level" as const, node: { a: { both: "request", request: 2 }, b: { template: 3 }, c: 4 } },
  ])("a request's Configuration meets the array's: $option", ({ option, node }) => {
    const configuration = { a: { template: 1, both: "template" }, b: { template: 3 } };
    const arrays = [{ name: "htc", region: "westeurope", machineTypes: ["Standard_F2s_v2"], configuration }];
    const bench = new Bench({ quirks: { configurationMerge: option } }, { arrays });
    const nodeAttributes = { configuration: { a: { both: "request", request: 2 }, c: 4 } };
    bench.create([{ nodearray: "htc", count: 1, nodeAttributes }]);
    expect(pick(bench.nodes(), "Configuration")).toEqual([node]);
  });

  test("placement groups whose nodes may differ", () => {
    const bench = new Bench({ quirks: { scaleSetAttributesMustMatch: false } });
    const set = (value: number): object => ({
      nodearray: "hpc",
      count: 1,
      placementGroupId: "pg0",
      nodeAttributes: { Configuration: { value } },
    });
    bench.create([set(1), set(2)]);
    bench.pass(500);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready", "Ready"]);
  });
});
