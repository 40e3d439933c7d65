import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createCycleCloud } from "../../../src/adapters/cyclecloud/cyclecloud.ts";
import { readTemplates } from "../../../src/adapters/cyclecloud/read-nodearray.ts";
import type { TransportRequest } from "../../../src/adapters/cyclecloud/transport.ts";
import { arrayName, clusterName, machineType, requestId } from "../../../src/domain/ids.ts";
import type { NodeAttributes } from "../../../src/domain/demand.ts";
import { instant } from "../../../src/domain/units.ts";

const demo = clusterName("demo");
const SECRET = "canary-5f1d7c";

/** A status of one array whose record has this Configuration, under this name. */
const statusWith = (configuration: unknown, key = "Configuration") => ({
  state: "Started",
  targetState: "Started",
  maxCount: 10,
  nodearrays: [
    { name: "hpc", nodearray: { Name: "hpc", [key]: configuration }, buckets: [] },
    { name: "plain", nodearray: { Name: "plain" }, buckets: [] },
    { name: "bare", buckets: [] },
  ],
  nodes: [],
});

describe("what the templates of a status say", () => {
  test.each(["Configuration", "configuration"])("the array's %s as it stands there", (key) => {
    const templates = readTemplates(statusWith({ cyclecloud: { a: [1, null, "x"] } }, key));
    expect(templates.configurationOf(arrayName("hpc"))).toEqual({ cyclecloud: { a: [1, null, "x"] } });
  });

  test.each(["plain", "bare", "unknown"])("nothing of the array %s", (name) => {
    expect(readTemplates(statusWith({})).configurationOf(arrayName(name))).toBeUndefined();
  });

  test.each([null, "text", ["list"], 7])("nothing of a Configuration that is %j", (configuration) => {
    expect(readTemplates(statusWith(configuration)).configurationOf(arrayName("hpc"))).toBeUndefined();
  });

  test("cannot be written down by mistake", () => {
    const templates = readTemplates(statusWith({ cyclecloud: { password: SECRET } }));
    expect(JSON.stringify(templates)).toBe("{}");
    expect(JSON.stringify({ ...templates })).toBe("{}");
    expect(inspect(templates, { depth: null, showHidden: true })).not.toContain(SECRET);
  });
});

describe("what is sent as nodeAttributes", () => {
  const URL = "https://scaler.example/stop";
  const ours = {
    cyclecloud: { cluster: { autoscale: { stop_callback: URL } } },
    autoscale: { stop_callback: URL },
  };
  const template = {
    cyclecloud: { mounts: { a: 1 }, cluster: { autoscale: { stop_callback: "http://old", idle: 300 } } },
    autoscale: { resources: { x: 2 } },
    site: { rack: 7 },
  };
  const cyclecloud = { mounts: { a: 1 }, cluster: { autoscale: { stop_callback: URL, idle: 300 } } };
  const autoscale = { resources: { x: 2 }, stop_callback: URL };

  /** What a create sends for an array with this Configuration. */
  async function sentFor(
    attributes: NodeAttributes | undefined,
    template: NodeAttributes | undefined,
    url: string | undefined,
  ): Promise<unknown> {
    const bodies: unknown[] = [];
    const cyclecloud = createCycleCloud({
      transport: {
        send: ({ body }) => {
          bodies.push(body);
          return Promise.resolve({ status: 202, headers: {}, body: { sets: [{ added: 1 }] } });
        },
      },
      ...(url === undefined ? {} : { autostop: () => url }),
    });
    const bucket = { array: arrayName("hpc"), machineType: machineType("Standard_HB120rs_v3") };
    const sets = [{ bucket, count: 1, ...(attributes && { attributes }) }];
    const templates = readTemplates(statusWith(template));
    await cyclecloud.create(demo, { requestId: requestId("r"), sets, templates });
    return z
      .object({ sets: z.tuple([z.object({ nodeAttributes: z.unknown().optional() })]) })
      .parse(bodies[0]).sets[0].nodeAttributes;
  }

  test.each([
    {
      name: "nothing known of the template: ours alone",
      demanded: undefined,
      template: undefined,
      url: URL,
      sent: { Configuration: ours },
    },
    {
      name: "the template's members that ours touch, whole",
      demanded: undefined,
      template,
      url: URL,
      sent: { Configuration: { cyclecloud, autoscale } },
    },
    {
      name: "a member that the demand touches, whole too",
      demanded: { Configuration: { site: { row: 3 } } },
      template,
      url: URL,
      sent: { Configuration: { cyclecloud, autoscale, site: { rack: 7, row: 3 } } },
    },
    {
      name: "no stop URL: the demanded members only, each whole",
      demanded: { Configuration: { autoscale: { queue: "q" } } },
      template,
      url: undefined,
      sent: { Configuration: { autoscale: { resources: { x: 2 }, queue: "q" } } },
    },
    {
      name: "no stop URL and no Configuration: as demanded",
      demanded: { KeepAlive: true },
      template,
      url: undefined,
      sent: { KeepAlive: true },
    },
    { name: "nothing at all", demanded: undefined, template, url: undefined, sent: undefined },
    {
      name: "the demand's spelling of Configuration stays, beside its other attributes",
      demanded: { KeepAlive: true, configuration: { own: 1 } },
      template,
      url: URL,
      sent: { KeepAlive: true, configuration: { cyclecloud, autoscale, own: 1 } },
    },
    {
      name: "what the demand says wins, also where it is no object",
      demanded: { Configuration: { cyclecloud: { mounts: null }, site: "none" } },
      template,
      url: URL,
      sent: { Configuration: { cyclecloud: { ...cyclecloud, mounts: null }, autoscale, site: "none" } },
    },
    {
      name: "a member of the template that is no object gives way",
      demanded: undefined,
      template: { cyclecloud: "text", autoscale: null },
      url: URL,
      sent: { Configuration: ours },
    },
  ])("$name", async ({ demanded, template: under, url, sent }) => {
    expect(await sentFor(demanded, under, url)).toEqual(sent);
  });

  test("neither the template nor the demand is changed by it", async () => {
    const [before, demanded] = [structuredClone(template), { Configuration: { site: { row: 3 } } }];
    await sentFor(demanded, template, URL);
    expect([template, demanded]).toEqual([before, { Configuration: { site: { row: 3 } } }]);
  });
});

describe("an answer to a create that quotes what was sent", () => {
  const bucket = { array: arrayName("hpc"), machineType: machineType("Standard_HB120rs_v3") };
  const quoted = `Configuration.cyclecloud.password: "${SECRET}" is not valid, nor is ${SECRET}-longer`;

  test.each([
    { status: 409, body: { Message: quoted } },
    { status: 400, body: `<html><body>${quoted}</body></html>` },
    { status: 202, body: { sets: [{ added: 0, message: quoted }] } },
    { status: 500, body: { Exception: "Internal", Detail: quoted } },
  ])("$status: the template's texts are hidden, the rest is told", async ({ status, body }) => {
    const requests: TransportRequest[] = [];
    const cyclecloud = createCycleCloud({
      autostop: () => "https://scaler.example/stop",
      transport: {
        send: (request) => {
          requests.push(request);
          const isCreate = request.method === "POST";
          const password = { password: SECRET, other: `${SECRET}-longer`, short: "is" };
          const answer = isCreate ? body : statusWith({ cyclecloud: password });
          return Promise.resolve({ status: isCreate ? status : 200, headers: {}, body: answer });
        },
      },
    });
    const looked = await cyclecloud.status(demo, instant(0));
    if (looked.kind !== "snapshot") throw new Error("no snapshot");
    const { templates } = looked;
    const told = await cyclecloud
      .create(demo, { requestId: requestId("r"), sets: [{ bucket, count: 1 }], templates })
      .then(
        (outcome) => JSON.stringify(outcome),
        (error: unknown) => String(error),
      );
    expect(JSON.stringify(requests[1]?.body)).toContain(SECRET);
    expect(told).toContain("is not valid, nor is ***");
    expect(told).not.toContain("canary");
    expect(told).not.toContain("-longer");
  });
});
