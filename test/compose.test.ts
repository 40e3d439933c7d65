import { QueueServiceClient } from "@azure/storage-queue";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Composition } from "../src/compose.ts";
import { ConfigError, compose, composition, decoratePorts, verifyAutostopToken } from "../src/compose.ts";
import type { Config } from "../src/config.ts";
import { autostopPath } from "../src/decide/autostop/autostop-token.ts";
import { documentDigest } from "../src/domain/config-version.ts";
import { arrayName, clusterName } from "../src/domain/ids.ts";
import { DEFAULT_CALL_BOUNDS, DEFAULT_POLICY, observing } from "../src/domain/policy.ts";
import { describeTroubles } from "../src/app/describe/describe-troubles.ts";
import { azuriteForThisFile } from "./support/azurite.ts";
import { NOW } from "./support/build-node.ts";
import { buildState } from "./support/build-record.ts";
import { paced } from "./support/patience.ts";

const azurite = azuriteForThisFile();
const prod = clusterName("prod");
const execute = arrayName("execute");
const KEYS = { current: "k", byId: new Map([["k", "0123456789abcdef"]]) };

/** A composition on the emulator, on a clock of 60 of our seconds a real one; what it logs goes to `lines`. */
function composed(more: Partial<Config> = {}): Composition & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const account = azurite.account();
  if (account.kind !== "connection-string") throw new Error("the emulator has a connection string");
  const config: Config = {
    storage: account,
    clusters: [
      {
        name: prod,
        url: "https://cc.example",
        username: "u",
        credential: { kind: "password", setting: "CC_PASSWORD" },
        password: "hunter2",
        insecure: false,
        bounds: { callLimitSeconds: 90, lagSeconds: 20, parallelCreates: 2 },
      },
    ],
    localClock: { origin: Date.now(), speed: paced(60) },
    ...more,
  };
  return { ...compose(config, (line) => lines.push(line)), lines };
}

test("prepare makes the queues and the table, and may be repeated", async () => {
  const first = composed();
  await first.prepare();
  await first.prepare();
  await composed().prepare();
  const account = azurite.account();
  if (account.kind !== "connection-string") throw new Error("the emulator has a connection string");
  const names: string[] = [];
  for await (const { name } of QueueServiceClient.fromConnectionString(account.connectionString).listQueues())
    names.push(name);
  expect(names.toSorted()).toEqual(["demand", "demand-poison", "demand-rejected"]);
  expect(await first.app.ports.store.load(prod)).toBeUndefined();
});

describe("a cluster's configuration", () => {
  test("the defaults until there is a document; a new one is read within 15 s, and at once if asked for now", async () => {
    const { app, prepare } = composed();
    await prepare();
    const { clock, documents, policyOf } = app.ports;
    const cluster = clusterName("configured");
    const document = documentDigest(undefined);
    const none = { ...DEFAULT_POLICY, modeIsDefault: true, document };
    expect(await policyOf(cluster)).toEqual(none);
    const text = '{"idleTimeout":60}';
    await documents.write(cluster, text, undefined);
    expect(await policyOf(cluster)).toEqual(none);
    const written = { ...none, idleTimeoutSeconds: 60, document: documentDigest(text) };
    expect(await policyOf(cluster, "now")).toEqual(written);
    expect(await policyOf(cluster)).toEqual(written);
    await documents.write(cluster, "{}", (await documents.read(cluster))?.etag);
    await clock.sleep(16_000);
    expect(await policyOf(cluster)).toEqual({ ...none, document: documentDigest("{}") });
  });

  test("what the app settings say of the cluster's server counts with any document", async () => {
    const { app, prepare } = composed();
    await prepare();
    const said = { callLimitSeconds: 90, lagSeconds: 20, parallelCreates: 2 };
    expect(await app.ports.policyOf(prod)).toMatchObject({ ...DEFAULT_POLICY, modeIsDefault: true, ...said });
  });

  test("one that cannot be read is logged, and only observes, also where an older one is held", async () => {
    const { app, lines, prepare } = composed();
    await prepare();
    const { clock, documents, policyOf } = app.ports;
    const cluster = clusterName("unreadable");
    await documents.write(cluster, '{"idleTimeout":"soon"}', undefined);
    const document = documentDigest('{"idleTimeout":"soon"}');
    expect(await policyOf(cluster)).toEqual({ ...observing(DEFAULT_POLICY), document });
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { event: "configuration-unreadable", cluster: "unreadable", problems: [{ path: "idleTimeout" }] },
    ]);

    const write = async (text: string) =>
      documents.write(cluster, text, (await documents.read(cluster))?.etag);
    await write('{"idleTimeout":60}');
    await clock.sleep(16_000);
    await policyOf(cluster);
    await write('{"idleTimeout":"soon"}');
    expect(await policyOf(cluster, "now")).toEqual({
      ...observing(DEFAULT_POLICY),
      idleTimeoutSeconds: 60,
      document,
    });
  });

  test("one without a mode gets the setting's before the first plan, as a version of its own; one with a mode stays", async () => {
    const { app, prepare } = composed();
    await prepare();
    const { documents, policyOf } = app.ports;
    const cluster = clusterName("without-mode");
    await documents.write(cluster, '{"idleTimeout":60}', undefined);
    expect(await policyOf(cluster)).toMatchObject({ modeIsDefault: true });
    expect(await policyOf(cluster, "with-mode")).toMatchObject({ mode: "act", idleTimeoutSeconds: 60 });
    const versions = await documents.versions(cluster);
    expect(versions.map(({ number, who }) => [number, who])).toEqual([
      [2, "written at the beginning"],
      [1, undefined],
    ]);
    expect(await policyOf(cluster, "with-mode")).not.toHaveProperty("modeIsDefault");
    expect(await documents.versions(cluster)).toHaveLength(2);
  });
});

test("what the settings let go unprotected is a trouble of the cluster, by its policy, whatever is configured", async () => {
  const insecure = {
    name: prod,
    url: "https://cc.example",
    credential: { kind: "identity", scope: "api://cc/.default" },
    insecure: true,
    bounds: DEFAULT_CALL_BOUNDS,
  } as const;
  const { app } = composed({ clusters: [insecure] });
  const policy = await app.ports.policyOf(prod);
  const text =
    'certificates of https://cc.example are not checked ("insecure"): another server in its place gets the password';
  expect(policy.insecure).toEqual([text]);
  const { record, bodies } = buildState({});
  expect(describeTroubles(record, bodies, [], NOW, NOW, undefined, policy)).toContainEqual({
    kind: "insecure",
    text,
    count: 1,
  });
  expect((await composed().app.ports.policyOf(prod)).insecure).toBeUndefined();
});

test("a cluster whose certificates are not checked is named in the log", () => {
  const [cluster] = [...composed().app.ports.sites.values()];
  expect(cluster).toMatchObject({
    cluster: "prod",
    credential: expect.stringMatching(/^https:\/\/cc\.example u [0-9a-f]{4}$/),
  });
  const { lines } = composed({
    clusters: [
      {
        name: prod,
        url: "https://cc.example",
        credential: { kind: "identity", scope: "api://cc/.default" },
        insecure: true,
        bounds: DEFAULT_CALL_BOUNDS,
      },
    ],
  });
  expect(lines).toEqual(['{"event":"certificates-not-checked","cluster":"prod","url":"https://cc.example"}']);
});

test("a token opens its own array of its own cluster, and nothing without keys", () => {
  const token = autostopPath("https://a.example", prod, execute, KEYS).split("/").at(-1) ?? "";
  const keyed = composed({ autostopKeys: KEYS });
  const arrays = [arrayName("other"), execute];
  expect(verifyAutostopToken(keyed, token, prod, arrays)).toBe("execute");
  expect(verifyAutostopToken(keyed, token, clusterName("test"), arrays)).toBeUndefined();
  expect(verifyAutostopToken(keyed, token, prod, [arrayName("other")])).toBeUndefined();
  expect(verifyAutostopToken(composed(), token, prod, arrays)).toBeUndefined();
});

test("the process's own composition: wrong settings are thrown each time, right ones composed once", () => {
  const dropComposition = () => decoratePorts((ports) => ports);
  onTestFinished(dropComposition);
  onTestFinished(() => void vi.unstubAllEnvs());
  // Of a test before this one.
  dropComposition();
  vi.stubEnv("AzureWebJobsStorage", "UseDevelopmentStorage=true");
  vi.stubEnv("AUTOSCALER_CLUSTERS", "{}");
  expect(() => composition()).toThrow(ConfigError);
  expect(() => composition()).toThrow("AUTOSCALER_CLUSTERS: found {}, expected a list of clusters");
  vi.stubEnv("AUTOSCALER_CLUSTERS", "[]");
  const once = composition();
  expect(composition()).toBe(once);
});
