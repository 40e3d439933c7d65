import { NO_TEMPLATES } from "../support/no-templates.ts";
import { describe, expect, test } from "vitest";
import { requestId } from "../../src/domain/ids.ts";
import { describeCycleCloud } from "./cyclecloud-suite.ts";
import { serveSimulatedCycleCloud } from "./cyclecloud-simulator.ts";
import { together } from "./simulator-variants.ts";

describeCycleCloud("the simulator over HTTP, as the reference favours", () => serveSimulatedCycleCloud({}));

// test/deep/cyclecloud-variants.deep.ts has each variant alone.
for (const group of [1, 2, 3]) {
  const variant = together(group);
  describeCycleCloud(`the simulator over HTTP, ${JSON.stringify(variant)}`, () =>
    serveSimulatedCycleCloud(variant),
  );
}

test("terminated records that stay listed for a while are off, not going", async () => {
  const harness = await serveSimulatedCycleCloud({ quirks: { retainedTerminatedSeconds: 600 } });
  const { cyclecloud, cluster } = harness;
  await cyclecloud.create(cluster, {
    templates: NO_TEMPLATES,
    requestId: requestId("r1"),
    sets: [{ bucket: harness.roomy, count: 1 }],
  });
  const listed = await cyclecloud.nodesOfRequest(cluster, requestId("r1"));
  const nodes = (listed ?? []).map((node) => node.nodeId);
  await cyclecloud.terminate(cluster, requestId("r2"), nodes);
  harness.advance(61);
  const outcome = await cyclecloud.status(cluster, harness.now());
  await harness.close();
  expect(
    outcome.kind === "snapshot" && outcome.snapshot.nodes.find((node) => node.nodeId === nodes[0])?.phase,
  ).toBe("off");
});

describe("what only a server can show", () => {
  test("a wrong password is denied", async () => {
    const harness = await serveSimulatedCycleCloud({}, {}, "wrong");
    await expect(harness.cyclecloud.status(harness.cluster, harness.now())).rejects.toMatchObject({
      kind: "denied",
      status: 401,
    });
    await harness.close();
  });

  test("nodes carry the autostop URL in their configuration, and no snapshot does", async () => {
    const autostop = (): string => "https://scaler.example/api/autostop/x/k1.secret";
    const harness = await serveSimulatedCycleCloud({}, { autostop });
    const { cyclecloud, cluster } = harness;
    await cyclecloud.create(cluster, {
      templates: NO_TEMPLATES,
      requestId: requestId("r1"),
      sets: [{ bucket: harness.roomy, count: 1 }],
    });
    const raw = harness.simulator.request({
      method: "GET",
      path: `/clusters/${encodeURIComponent(cluster)}/nodes`,
      query: { request_id: "r1" },
      authorization: `Basic ${Buffer.from("cc_admin:a Password 1").toString("base64")}`,
    });
    expect(raw.body).toMatchObject({
      nodes: [
        {
          Configuration: {
            cyclecloud: { cluster: { autoscale: { stop_callback: autostop() } } },
            autoscale: { stop_callback: autostop() },
          },
        },
      ],
    });
    expect(JSON.stringify(await cyclecloud.status(cluster, harness.now()))).not.toContain("k1.secret");
    await harness.close();
  });

  test("a create whose answer is lost is unreachable, was sent once, and took effect", async () => {
    const harness = await serveSimulatedCycleCloud({});
    const { cyclecloud, cluster } = harness;
    harness.simulator.faults.failNext({ method: "POST" }, 1, { dropAnswer: true });
    const creating = cyclecloud.create(cluster, {
      templates: NO_TEMPLATES,
      requestId: requestId("r1"),
      sets: [{ bucket: harness.roomy, count: 2 }],
    });
    await expect(creating).rejects.toMatchObject({ kind: "unreachable" });
    expect(await cyclecloud.knowsRequest(cluster, requestId("r1"))).toBe(true);
    expect(await cyclecloud.nodesOfRequest(cluster, requestId("r1"))).toHaveLength(2);
    await harness.close();
  });

  test("a status that is lost twice is read at the third try", async () => {
    const harness = await serveSimulatedCycleCloud({});
    harness.simulator.faults.failNext({ method: "GET" }, 2, { dropRequest: true });
    expect((await harness.cyclecloud.status(harness.cluster, harness.now())).kind).toBe("snapshot");
    await harness.close();
  });
});
