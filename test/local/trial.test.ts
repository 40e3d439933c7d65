import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { scaledClock } from "../../src/local/scaled-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { serveSimulator } from "../../src/simulator/server.ts";
import type { Issued } from "../support/certificate.ts";
import { hasOpenssl, issueCertificate } from "../support/certificate.ts";
import type { Running } from "../support/run-main.ts";
import { runMain, startMain } from "../support/run-main.ts";

/** `npm start -- --serve --settings FILE`: the app on a laptop, against a CycleCloud that runs elsewhere. */
const patiently = { interval: 200 };
const PASSWORD = "correct horse";

/** Nodes boot for an hour: none of them is ever Ready here. */
const OPTIONS: SimulatorOptions = {
  clusters: [
    {
      name: "prod",
      arrays: [{ name: "execute", region: "westeurope", maxCount: 10, machineTypes: ["Standard_F4"] }],
    },
  ],
  machineTypes: { Standard_F4: { vcpuCount: 4, memory: 8, family: "standardFFamily" } },
  timings: { secondsToAllocate: 1, secondsToAcquire: 1, secondsToPrepare: 3600, secondsToTerminate: 1 },
};

let run: Running | undefined;
afterEach(() => {
  if (run?.anyLeft() === true) run.signal("SIGKILL");
});

/** A CycleCloud, and nodes that are created there by hand. */
async function startCycleCloud() {
  const simulator = new Simulator(OPTIONS, scaledClock({ origin: Date.now(), speed: 1 }));
  const server = await serveSimulator(simulator, {
    credentials: { username: "autoscaler", password: PASSWORD },
  });
  onTestFinished(() => server.close());
  const authorization = `Basic ${Buffer.from(`autoscaler:${PASSWORD}`).toString("base64")}`;
  const call = async (path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(`${server.url}${path}`, { headers: { authorization }, ...init })).json();
  };
  const sets = [{ nodearray: "execute", count: 1, definition: { machineType: "Standard_F4" } }];
  const makeNode = () =>
    call("/clusters/prod/nodes/create", { requestId: "4f0c2a7e-0000-4000-8000-000000000001", sets });
  const nodes = async () =>
    z
      .object({ nodes: z.array(z.object({ Name: z.string(), TargetState: z.string() })) })
      .parse(await call("/clusters/prod/nodes"))
      .nodes.map(({ Name, TargetState }) => `${Name} ${TargetState}`);
  return { url: server.url, makeNode, nodes };
}

/** A settings file for that CycleCloud: the cluster "prod", and others that are given. */
function settingsFor(
  url: string,
  cluster: object = {},
  values: object = {},
  others: readonly object[] = [],
): string {
  const folder = mkdtempSync(join(tmpdir(), "trial-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const entry = { name: "prod", url, username: "autoscaler", passwordSetting: "CC_PASSWORD" };
  const clusters = [cluster, ...others].map((own) => ({ ...entry, ...own }));
  const path = join(folder, "local.settings.json");
  const all = {
    AzureWebJobsStorage: "DefaultEndpointsProtocol=https;AccountName=production;AccountKey=not+used==",
    AUTOSCALER_CLUSTERS: JSON.stringify(clusters),
    CC_PASSWORD: PASSWORD,
    ...values,
  };
  writeFileSync(path, JSON.stringify({ IsEncrypted: false, Values: all }));
  return path;
}

/** The app on trial, and requests to it. */
async function startTrial(...args: readonly string[]) {
  const running = startMain(["--serve", "--settings", ...args]);
  run = running;
  await expect.poll(() => running.said(), patiently).toContain("Ctrl-C stops everything.");
  const said = running.said();
  const [, url = "", key = ""] = /AUTOSCALER_URL=(\S+) AUTOSCALER_KEY=(\S+)/.exec(said) ?? [];
  const call = async (method: string, path: string, body?: object, cluster = "prod") => {
    const response = await fetch(`${url}/api/clusters/${cluster}${path}`, {
      method,
      headers: { "x-functions-key": key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
  };
  return { said, call };
}

const DEMAND = { version: 1, nodearrays: [{ Name: "execute", TargetCount: 3 }] };

describe("with an address of TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "trial-tls-"));
  const issued = hasOpenssl() ? issueCertificate(folder, "own", "IP:127.0.0.1") : undefined;

  /** TLS in front of a simulator; the address. */
  async function startTls(to: string, { key, cert }: Issued): Promise<string> {
    const server = createServer({ key, cert }, (incoming, outgoing) => {
      const { authorization = "" } = incoming.headers;
      void fetch(`${to}${incoming.url ?? ""}`, { headers: { authorization } }).then(async (response) =>
        outgoing.writeHead(response.status, { connection: "close" }).end(await response.text()),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    return `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  test.skipIf(issued === undefined)(
    "without --act nothing is changed, whatever configuration is put; what it knows and tells nodes is said; a certificate that is not trusted names ca and insecure",
    async () => {
      if (issued === undefined) return;
      const cyclecloud = await startCycleCloud();
      await cyclecloud.makeNode();
      const url = await startTls(cyclecloud.url, issued);
      const { said, call } = await startTrial(
        settingsFor(
          url,
          { ca: issued.path },
          {
            AUTOSCALER_PUBLIC_URL: "https://app.example.org/",
            AUTOSCALER_AUTOSTOP_KEYS: "one:5d7e0c9ab3f14286e1d0b4c7a9f83625",
          },
          [{ name: "doubtful" }],
        ),
      );
      expect(said).toContain(
        `cluster prod: ${url} as autoscaler; ca: the file ${issued.path}, 1 certificate\n`,
      );
      expect(said).toContain("nodes would get https://app.example.org/api/autostop/");
      expect(said).toMatch(/^changes +none: the mode is observe, whatever the stored configuration says/m);

      expect((await call("PUT", "/config", { enabled: true })).status).toBe(200);
      expect((await call("PUT", "/request-sets/standard", DEMAND)).status).toBe(202);
      // The demand is planned for, and still nothing has been sent.
      await expect
        .poll(async () => (await call("GET", "/explain?job=nodearray:execute")).status, patiently)
        .toBe(200);
      expect(JSON.stringify((await call("GET", "")).body["health"])).toContain("observing only");
      expect(await cyclecloud.nodes()).toEqual(["execute-1 Started"]);

      await call("PUT", "/request-sets/standard", DEMAND, "doubtful");
      const told = async () =>
        JSON.stringify((await call("GET", "", undefined, "doubtful")).body["troubles"]);
      await expect
        .poll(told, patiently)
        .toContain(String.raw`is not trusted: put it, or its CA's, into \"ca\"`);
      expect(await told()).toContain(String.raw`or use \"insecure\": true (DEPTH_ZERO_SELF_SIGNED_CERT)`);
      rmSync(folder, { recursive: true });
    },
  );
});

test("with --act nodes are created, and at their boot timeout only those go that this run has asked for", async () => {
  const cyclecloud = await startCycleCloud();
  const { said, call } = await startTrial(settingsFor(cyclecloud.url), "--act");
  expect(said).toContain("stop URL             none: without AUTOSCALER_PUBLIC_URL, nodes get no stop URL");
  await call("PUT", "/config", { bootTimeout: 8 });
  // Over an empty cluster a new record creates at once.
  await call("PUT", "/request-sets/standard", DEMAND);
  const ours = ["execute-1 Started", "execute-2 Started", "execute-3 Started"];
  await expect.poll(cyclecloud.nodes, patiently).toEqual(ours);
  await cyclecloud.makeNode();
  // One observation shows all four first, so that all are past their boot timeout at once.
  await call("POST", "/tick");
  await expect
    .poll(async () => {
      await call("POST", "/tick");
      return (await cyclecloud.nodes()).filter((node) => !node.endsWith("Terminated"));
    }, patiently)
    .toEqual(["execute-4 Started"]);
});

test("settings that make no sense end it with 2, each problem with the file's name", async () => {
  const { code, stderr } = await runMain("--serve", "--settings", settingsFor("somewhere"));
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /local\.settings\.json: Values\.AUTOSCALER_CLUSTERS\[0\]\.url: found "somewhere", expected an http or https address, at most with a path\n$/,
  );
});
