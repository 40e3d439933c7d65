import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Simulator } from "../../src/simulator/engine.ts";
import { defaultOptions } from "../../src/simulator/default-options.ts";
import { serveSimulator } from "../../src/simulator/server.ts";
import { scaledClock } from "../../src/local/scaled-clock.ts";
import { hasOpenssl, issueCertificate } from "../support/certificate.ts";
import { stagedServer } from "../support/staged-server.ts";
import type { Files } from "./run-command.ts";
import { runCommand } from "./run-command.ts";

type RunningSimulator = Awaited<ReturnType<typeof serveSimulator>>;

/** `check`: a first try against CycleCloud itself, with no storage and no app behind it. */

const PASSWORD = "correct horse";
let server: RunningSimulator;
let simulator: Simulator;

beforeAll(async () => {
  simulator = new Simulator(defaultOptions, scaledClock({ origin: Date.now(), speed: 1 }));
  server = await serveSimulator(simulator, { credentials: { username: "autoscaler", password: PASSWORD } });
});
afterAll(() => server.close());

const cluster = (name: string, more: object = {}) => ({
  name,
  url: server.url,
  username: "autoscaler",
  passwordSetting: "CYCLECLOUD_PASSWORD",
  ...more,
});

/** Settings as local.settings.json has them. */
const settings = (clusters: readonly object[], password = PASSWORD) => ({
  Values: { AUTOSCALER_CLUSTERS: JSON.stringify(clusters), CYCLECLOUD_PASSWORD: password },
});

function check(
  clusters: readonly object[],
  words: readonly string[] = [],
  more: Files = {},
  password = PASSWORD,
) {
  const files = { "settings.json": settings(clusters, password), ...more };
  return runCommand(["check", "--settings", "settings.json", ...words], files);
}

test("reaches, signs in, reads, and shows arrays, buckets and limits", async () => {
  const { code, out, err } = await check([cluster("demo")]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.split("\n")).toEqual([
    "demo: reached, signed in and read; Started (target Started); nodes: none",
    "  note: 4 cores of regional quota westeurope are in use without any node here: the head node, or others who share the limit",
    "",
    "NODEARRAY  OURS  PRIORITY  REGION      SPOT",
    "htc        yes          1  westeurope  -",
    "hpc        yes          1  westeurope  -",
    "lowprio    yes          1  westeurope  spot",
    "",
    "NODEARRAY  SIZE                 VCPUS  GIB  SPOT  NODES  ROOM  BOUND BY",
    // 800 cores of family quota are 400 nodes of 2 and 100 of 8; the array has 200 nodes and 1,000 cores.
    "htc        Standard_F2s_v2          2    4  -         0   200  node array htc",
    "htc        Standard_F8s_v2          8   16  -         0   100  family quota standardFSv2Family",
    // 3,600 cores of family quota are 30 nodes of 120.
    "hpc        Standard_HB120rs_v3    120  448  -         0    30  family quota standardHBv3Family",
    "lowprio    Standard_F2s_v2          2    4  spot      0   100  node array lowprio",
    "",
    "LIMIT                            USED     OF   LEFT  IN",
    "family quota standardFSv2Family     0    800    800  cores",
    "regional quota westeurope           4  10000   9996  cores",
    "node array htc                      0    200    200  nodes",
    "node array htc                      0   1000   1000  cores",
    "cluster                             0    500    500  nodes",
    "cluster                             0  20000  20000  cores",
    "bucket htc/Standard_F2s_v2          0    200    200  nodes",
    "bucket htc/Standard_F8s_v2          0    100    100  nodes",
    "family quota standardHBv3Family     0   3600   3600  cores",
    "node array hpc                      0     40     40  nodes",
    "node array hpc                      0   4800   4800  cores",
    "bucket hpc/Standard_HB120rs_v3      0     30     30  nodes",
    "regional spot quota westeurope      0    300    300  cores",
    "node array lowprio                  0    100    100  nodes",
    "node array lowprio                  0    400    400  cores",
    "bucket lowprio/Standard_F2s_v2      0    100    100  nodes",
  ]);
});

test("what the configuration makes of it: whose arrays, unknown names, missing prices", async () => {
  const config = {
    nodearrays: ["htc", "hcp"],
    among: "cheapest",
    enabled: false,
    prices: { currency: "USD", locations: { westeurope: { Standard_F2s_v2: 0.1 } } },
  };
  const words = ["--config", "config.json"];
  const { code, out } = await check([cluster("demo")], words, { "config.json": config });
  expect(code).toBe(0);
  expect(out).toContain(
    [
      "  note: observing only: nothing is created or stopped",
      "  note: the configuration names node array hcp, which the cluster does not have",
      "  note: among is cheapest, and there is no price for htc/Standard_F8s_v2: those come last",
    ].join("\n"),
  );
  expect(out).toMatch(/^hpc +no +1 +westeurope +- +not named in the configuration's nodearrays$/m);
  expect(out).toMatch(/^htc +Standard_F2s_v2 +2 +4 +0.1 +0 +200 +node array htc$/m);
});

test("--json has everything, with every limit of every bucket", async () => {
  const { code, out } = await check([cluster("demo")], ["--json", "-c", "demo"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    clusters: [
      {
        kind: "read",
        cluster: "demo",
        state: "Started",
        nodes: {},
        nodearrays: [{ nodearray: "htc", managed: true }, {}, {}],
        buckets: [{ nodearray: "htc", available: 200, limits: expect.any(Array) }, {}, {}, {}],
        notes: [expect.stringMatching(/^4 cores of regional quota westeurope /)],
      },
    ],
  });
});

/** The array htc with one size of 4 vCPUs, as a status tells it. */
const told = (bucket: object) => ({
  state: "Started",
  targetState: "Started",
  nodearrays: [
    {
      name: "htc",
      nodearray: { Name: "htc", Region: "westeurope" },
      buckets: [
        {
          definition: { machineType: "Standard_F4" },
          valid: true,
          virtualMachine: { vcpuCount: 4, memory: 8 },
          ...bucket,
        },
      ],
    },
  ],
  nodes: [],
});

test("counts of cores are read where there are none of nodes, and a contradiction is a doubt", async () => {
  const checked = async (bucket: object) => {
    const { url } = await stagedServer(() => ({ body: told(bucket) }));
    return (await check([cluster("demo", { url })], ["--json"])).out;
  };
  const inCores = JSON.parse(await checked({ availableCoreCount: 43, activeCoreCount: 0 })).clusters[0];
  expect(inCores).toMatchObject({ notes: [], buckets: [{ active: 0, available: 10 }] });
  // Two nodes by their cores, and the status lists none: such an answer is not believed.
  expect(await checked({ availableCoreCount: 40, activeCoreCount: 8 })).toContain(
    "expected the 2 active nodes",
  );
  const agreeing = { availableCount: 10, availableCoreCount: 40, activeCount: 0, activeCoreCount: 0 };
  expect(JSON.parse(await checked(agreeing)).clusters[0]).toMatchObject({ notes: [] });
  const differing = {
    ...agreeing,
    availableCoreCount: 20,
    maxPlacementGroupSize: 100,
    maxPlacementGroupCoreSize: 80,
  };
  expect(JSON.parse(await checked(differing)).clusters[0]).toMatchObject({
    notes: [
      "doubtful: htc/Standard_F4 has 4 vCPUs, and CycleCloud says availableCount 10 and availableCoreCount 20, which differ; the nodes count",
      "doubtful: htc/Standard_F4 has 4 vCPUs, and CycleCloud says maxPlacementGroupSize 100 and maxPlacementGroupCoreSize 80, which differ; the nodes count",
    ],
    buckets: [{ available: 10 }],
  });
});

test("writes nothing: CycleCloud is asked for one status of each cluster, and for nothing else", async () => {
  const methods: string[] = [];
  const spy = createServer((request, response) => {
    methods.push(`${request.method ?? ""} ${request.url ?? ""}`);
    const { authorization = "" } = request.headers;
    fetch(`${server.url}${request.url ?? ""}`, { headers: { authorization } }).then(
      async (answer) => {
        const type = answer.headers.get("content-type") ?? "";
        response.writeHead(answer.status, { "content-type": type }).end(await answer.text());
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => spy.listen(0, "127.0.0.1", resolve));
  const address = spy.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  const { code } = await check([cluster("demo", { url })]);
  spy.closeAllConnections();
  spy.close();
  expect(code).toBe(0);
  expect(methods).toEqual(["GET /clusters/demo/status?nodes=true"]);
});

describe("what goes wrong", () => {
  test("a wrong password: said, and nobody asks again with it, as five failures lock the account", async () => {
    const { code, out } = await check([cluster("demo"), cluster("next")], [], {}, "wrong");
    expect(code).toBe(1);
    expect(out).toBe(
      [
        "demo: reached, but CycleCloud refuses the credentials: GET /clusters/demo/status: HTTP 401: Unauthorized",
        "",
        "next: not tried: the same credentials were just refused",
      ].join("\n"),
    );
  });

  test("a cluster that CycleCloud does not have: the others are read all the same", async () => {
    const { code, out } = await check([cluster("other"), cluster("demo")]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^other: reached and signed in, but there is no such cluster: .*\n\ndemo: reached, signed in and read/,
    );
  });

  test.each([
    { name: "nothing", body: "" },
    { name: "a page", body: "<html>Not Found</html>" },
    { name: "JSON of its own", body: '{"message":"Not Found"}' },
  ])("a server that answers 404 with $name is not called signed in", async ({ body }) => {
    const other = createServer((_request, response) => response.writeHead(404).end(body));
    await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const address = other.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { code, out } = await check([cluster("demo", { url: `http://127.0.0.1:${port}` })]);
    expect(code).toBe(1);
    expect(out).toMatch(/^demo: HTTP 404 that does not name the cluster: is this CycleCloud's address\?/);
  });

  test("no server: 3, as it may answer later", async () => {
    const { code, out } = await check([cluster("demo", { url: "http://127.0.0.1:2" })]);
    expect(code).toBe(3);
    expect(out).toMatch(/^demo: not reached: .*ECONNREFUSED/);
  });

  test.each([
    {
      name: "settings without Values",
      files: { "settings.json": {} },
      err: "settings.json: Values: found nothing, expected an object with the app settings, as in local.settings.json",
    },
    {
      name: "a password setting that is not there",
      files: {
        "settings.json": {
          Values: {
            AUTOSCALER_CLUSTERS:
              '[{"name":"a","url":"https://cc","username":"u","passwordSetting":"CC_PASSWORD"}]',
          },
        },
      },
      err: 'settings.json: AUTOSCALER_CLUSTERS[0].passwordSetting: found CC_PASSWORD, which is not set, expected the name of an app setting that holds the password of u for cluster "a"',
    },
    {
      name: "a password setting that is not there, and whose name may be the password",
      files: {
        "settings.json": {
          Values: {
            AUTOSCALER_CLUSTERS: '[{"name":"a","url":"https://cc","username":"u","passwordSetting":"PW"}]',
          },
        },
      },
      err: 'settings.json: AUTOSCALER_CLUSTERS[0].passwordSetting: found a name that no app setting has (not shown: it may be the password itself), expected the name of an app setting that holds the password of u for cluster "a"',
    },
    {
      name: "no such settings file",
      files: {},
      err: "settings.json: found no such file, expected a readable file",
    },
    {
      name: "no clusters at all",
      files: { "settings.json": settings([]) },
      err: "AUTOSCALER_CLUSTERS names no cluster",
    },
    {
      name: "a configuration with problems",
      files: { "settings.json": settings([]), "config.json": { among: "cheap" } },
      config: "config.json",
      err: 'config.json: among: found "cheap", expected one of priority, cheapest',
    },
  ])("$name: 2", async ({ files, err, ...more }) => {
    const config = "config" in more ? ["--config", more.config] : [];
    expect(await runCommand(["check", "--settings", "settings.json", ...config], files)).toEqual({
      code: 2,
      out: "",
      err,
    });
  });
});

test.skipIf(!hasOpenssl())("says whether ca is PEM text or a file, also when nobody answers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "check-ca-"));
  const { cert, path } = issueCertificate(folder, "own", "IP:127.0.0.1");
  const { out } = await check([cluster("demo", { ca: cert })]);
  expect(out).toContain("  note: ca: PEM text, 1 certificate\n");
  const away = await check([cluster("demo", { ca: path, url: "https://127.0.0.1:9" })]);
  expect(away.out).toMatch(/^demo: not reached: .* \(ca: the file .*own\.pem, 1 certificate\)$/);
  rmSync(folder, { recursive: true });
});
