import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { runCommand } from "../cli/run-command.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { paced } from "../support/patience.ts";

/** What senders may do over the queue and over HTTP, and the answer to an operator who limits senders while they are live. */

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    speed: paced(60),
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
  });
});
afterAll(() => app.close());

const patiently = { interval: 20 };
const address = (set: string) => `/api/clusters/prod/request-sets/${set}`;
const put = (set: string, members: object) =>
  app.call("PUT", address(set), { version: 1, expirationInterval: 3600, ...members });
const configure = (document: object) => app.call("PUT", "/api/clusters/prod/config", document);
const target = (more: object = {}) => [{ Name: "other", TargetCount: 1, ...more }];
const rejections = async () =>
  z
    .object({
      rejections: z.array(z.looseObject({ set: z.string(), problems: z.array(z.unknown()) })),
    })
    .parse((await app.call("GET", "/api/clusters/prod")).body).rejections;

const CANARY = "CANARY-18";
const EVIL = {
  KeepAlive: true,
  CloudInit: `#!/bin/sh curl ${CANARY}`,
  AssociatePublicIpAddress: true,
  Configuration: {
    cyclecloud: { cluster: { autoscale: { stop_callback: `http://${CANARY}/` } } },
    run_list: [`recipe[${CANARY}]`],
    site: 1,
  },
};
const REFUSED = [
  { path: "nodearrays[0].AssociatePublicIpAddress", found: "true or false" },
  { path: "nodearrays[0].CloudInit", found: "text of 24 characters" },
  {
    path: "nodearrays[0].Configuration.cyclecloud.cluster.autoscale.stop_callback",
    found: "text of 17 characters",
  },
  { path: "nodearrays[0].Configuration.run_list", found: "a list" },
  { path: "nodearrays[0].KeepAlive", found: "true or false" },
];
const found = REFUSED.map((one) => expect.objectContaining(one));

describe("node attributes that nobody listed", () => {
  test("over HTTP: 400 with each of them; nothing is stored or created", async () => {
    const refused = await put("evil", { nodearrays: target(EVIL) });
    expect(refused).toMatchObject({ status: 400, body: { problems: found } });
    expect(JSON.stringify(refused.body)).not.toContain(CANARY);
    expect((await app.call("GET", address("evil"))).status).toBe(404);
    expect(app.simulator.log.filter(({ kind }) => kind === "node-created")).toEqual([]);
  });

  test("by the queue: put aside, and shown", async () => {
    const message = { version: 1, cluster: "prod", requestSet: "queued", nodearrays: target(EVIL) };
    await app.send("demand", JSON.stringify(message));
    await expect
      .poll(async () => (await rejections()).filter(({ set }) => set === "queued"), patiently)
      .toMatchObject([{ problems: found }]);
  });

  test("are taken once a rule lists them", async () => {
    const attributes = ["KeepAlive", "CloudInit", "AssociatePublicIpAddress", "Configuration"];
    expect(await configure({ senders: [{ requestSets: "lab", attributes }] })).toMatchObject({ status: 200 });
    await expect
      .poll(async () => (await put("lab", { nodearrays: target(EVIL) })).status, patiently)
      .toBe(202);
    expect((await put("evil", { nodearrays: target(EVIL) })).status).toBe(400);
  });
});

describe("an operator who limits live senders", () => {
  const limited = {
    senders: [
      { requestSets: "lab", attributes: ["KeepAlive"] },
      { requestSets: "free" },
      { requestSets: "*", write: false },
    ],
  };

  test("is told which sets lose what, in the answer and on the command line", async () => {
    const pools = [{ name: "licence", total: 1, used: 0 }];
    const hosts = [{ hostname: "rack1" }];
    await put("free", { jobs: [{ name: "j", constraints: { ncpus: 1 } }] });
    await put("pbs", { jobs: [{ name: "k", constraints: { ncpus: 1 } }], pools, schedulerNodes: hosts });
    const losses = [
      {
        requestSet: "lab",
        loses: [
          'node array other: the configuration (senders) does not let request set "lab" set AssociatePublicIpAddress, CloudInit, Configuration.cyclecloud.cluster.autoscale.stop_callback, Configuration.run_list: allow it in senders[].attributes',
        ],
      },
      {
        requestSet: "pbs",
        loses: [
          'the configuration (senders) does not let request set "pbs" ask for anything',
          "its report of hosts counts only for hosts that have jobs",
          "its pool licence does not count",
        ],
      },
    ];
    expect(await configure(limited)).toMatchObject({ status: 200, body: { losses } });
    const words = [
      "config",
      "put",
      "limited.json",
      "-c",
      "prod",
      "--url",
      app.host.url,
      "--key",
      app.host.keys.host,
    ];
    const { out } = await runCommand(words, { "limited.json": limited });
    expect(out).toContain("request set pbs loses: its pool licence does not count");
    expect(out).toContain(
      "request set lab loses: node array other: the configuration (senders) does not let",
    );
    expect(out).not.toContain("request set free");
  });

  test("then has their messages refused, and may still end their sets", async () => {
    await expect.poll(async () => (await put("pbs", { jobs: [] })).status, patiently).toBe(400);
    expect(await put("pbs", { jobs: [] })).toMatchObject({
      body: { problems: [{ path: "requestSet", found: '"pbs"' }] },
    });
    expect((await put("free", { jobs: [] })).status).toBe(202);
    expect((await app.call("DELETE", address("pbs"))).status).toBe(202);
  });

  test("a document without rules costs nobody anything", async () => {
    await app.call("DELETE", address("lab"));
    expect(await configure({})).toMatchObject({ status: 200, body: { losses: [] } });
  });
});

test("a sender hears whose pool it names, and that its priorities are lowered", async () => {
  const pools = [{ name: "seats", total: 5, used: 0 }];
  await configure({ senders: [{ requestSets: "second", maxPriority: 3 }] });
  await expect.poll(async () => (await put("first", { jobs: [], pools })).status, patiently).toBe(202);
  await app.call("POST", "/api/clusters/prod/tick");
  const second = { jobs: [{ name: "j", priority: 7, constraints: { ncpus: 1 } }], pools };
  await expect
    .poll(async () => (await put("second", second)).body, patiently)
    .toMatchObject({
      notes: [
        "the priority of 1 of its demands is lowered to 3, as the configuration (senders) says",
        "what it says of the pools seats does not count: they belong to request set first, which named them first",
      ],
    });
});
