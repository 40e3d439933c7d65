import { describe, expect, test } from "vitest";
import { createCycleCloud } from "../../../src/adapters/cyclecloud/cyclecloud.ts";
import type { CreateRequest } from "../../../src/app/ports/cyclecloud.ts";
import { arrayName, clusterName, machineType, placementGroup, requestId } from "../../../src/domain/ids.ts";
import { NO_TEMPLATES } from "../../support/no-templates.ts";
import { answering } from "./scripted-transport.ts";

const demo = clusterName("demo");
const id = requestId("4f3c2b1a-0000-4000-8000-000000000001");
const hpc = { array: arrayName("hpc"), machineType: machineType("Standard_HB120rs_v3") };
const htc = { array: arrayName("htc"), machineType: machineType("Standard_F2s_v2") };
const request: CreateRequest = {
  requestId: id,
  sets: [
    { bucket: { ...hpc, placementGroup: placementGroup("pg3") }, count: 2 },
    { bucket: htc, count: 5, nameFormat: "lab-%d" },
  ],
  templates: NO_TEMPLATES,
};
const create = (status: number, body: unknown) =>
  createCycleCloud({ transport: answering(status, body) }).create(demo, request);

describe("a create request of several sets", () => {
  test("sends each with what is its own, and each array's autostop URL", async () => {
    const transport = answering(202, { sets: [{ added: 2 }, { added: 5 }] });
    const autostop = (of: string, array: string): string => `https://scaler.example/${of}/${array}`;
    await createCycleCloud({ transport, autostop }).create(demo, request);
    const callingBack = (array: string) => {
      const stop_callback = `https://scaler.example/demo/${array}`;
      return {
        Configuration: {
          cyclecloud: { cluster: { autoscale: { stop_callback } } },
          autoscale: { stop_callback },
        },
      };
    };
    expect(transport.requests.map(({ body }) => body)).toEqual([
      {
        requestId: id,
        sets: [
          {
            count: 2,
            nodearray: "hpc",
            definition: { machineType: "Standard_HB120rs_v3" },
            placementGroupId: "pg3",
            nodeAttributes: callingBack("hpc"),
          },
          {
            count: 5,
            nodearray: "htc",
            definition: { machineType: "Standard_F2s_v2" },
            nameFormat: "lab-%d",
            nodeAttributes: callingBack("htc"),
          },
        ],
      },
    ]);
  });

  test("is granted set by set, in the order of the request", async () => {
    expect(await create(202, { sets: [{ added: 2 }, { added: 0, message: "no quota" }] })).toEqual({
      kind: "accepted",
      sets: [{ added: 2 }, { added: 0, message: "no quota" }],
    });
  });

  test("an answer that lacks a set is no answer", async () => {
    await expect(create(202, { sets: [{ added: 2 }] })).rejects.toMatchObject({
      kind: "unexpected",
      message: expect.stringContaining("sets[1].added: found nothing, expected a number"),
    });
  });
});
