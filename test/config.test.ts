import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../src/config.ts";

const GOOD = {
  AzureWebJobsStorage: "UseDevelopmentStorage=true",
  AUTOSCALER_CLUSTERS:
    '[{"name":"prod","url":"https://cc.example/","username":"u","passwordSetting":"CC_PASSWORD"}]',
  CC_PASSWORD: "hunter2-password",
  AUTOSCALER_PUBLIC_URL: "https://autoscaler.example",
  AUTOSCALER_AUTOSTOP_KEYS: "new:5d7e0c9ab3f14286e1d0b4c7a9f83625, old:c04a8e6f2b9d1357fe3ab60d94c7258e",
};

function problemsOf(settings: Readonly<Record<string, string | undefined>>) {
  try {
    readConfig(settings);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("these settings were accepted");
}

const pathsOf = (settings: Readonly<Record<string, string | undefined>>) =>
  problemsOf(settings).problems.map(({ path }) => path);

describe("settings that make sense", () => {
  test("are read whole; the first key signs, all are accepted", () => {
    expect(readConfig(GOOD)).toEqual({
      storage: { kind: "connection-string", connectionString: "UseDevelopmentStorage=true" },
      clusters: [
        {
          name: "prod",
          url: "https://cc.example",
          username: "u",
          credential: { kind: "password", setting: "CC_PASSWORD" },
          password: "hunter2-password",
          insecure: false,
          bounds: { callLimitSeconds: 60, lagSeconds: 30, parallelCreates: 1 },
        },
      ],
      publicUrl: "https://autoscaler.example",
      autostopKeys: {
        current: "new",
        byId: new Map([
          ["new", "5d7e0c9ab3f14286e1d0b4c7a9f83625"],
          ["old", "c04a8e6f2b9d1357fe3ab60d94c7258e"],
        ]),
      },
    });
  });

  test.each([
    { name: "no cluster", more: { AUTOSCALER_CLUSTERS: "[]" }, has: { clusters: [] } },
    {
      name: "a managed identity for CycleCloud needs no password",
      more: {
        AUTOSCALER_CLUSTERS:
          '[{"name":"a","url":"https://b.example","identity":{"scope":"api://cc/.default"}}]',
      },
      has: { clusters: [{ name: "a", credential: { kind: "identity", scope: "api://cc/.default" } }] },
    },
    {
      name: "storage by identity, with a client id",
      more: {
        AzureWebJobsStorage: undefined,
        AzureWebJobsStorage__tableServiceUri: "https://a.table.core.windows.net",
        AzureWebJobsStorage__queueServiceUri: "https://a.queue.core.windows.net",
        AzureWebJobsStorage__clientId: "id",
      },
      has: {
        storage: {
          kind: "identity",
          tableUri: "https://a.table.core.windows.net",
          queueUri: "https://a.queue.core.windows.net",
          clientId: "id",
        },
      },
    },
    {
      name: "the local clock",
      more: { AUTOSCALER_LOCAL_CLOCK: "1763636400000@60" },
      has: { localClock: { origin: 1_763_636_400_000, speed: 60 } },
    },
  ])("$name", ({ more, has }) => {
    expect(readConfig({ ...GOOD, ...more })).toMatchObject(has);
  });

  test("without a public URL and keys, created nodes carry no stop URL", () => {
    const { AUTOSCALER_PUBLIC_URL: _url, AUTOSCALER_AUTOSTOP_KEYS: _keys, ...rest } = GOOD;
    expect(Object.keys(readConfig(rest))).toEqual(["storage", "clusters"]);
  });

  test("the sample of local settings is accepted once its secrets are replaced", () => {
    const file = readFileSync(new URL("../infra/local.settings.sample.json", import.meta.url), "utf8");
    const { Values: values }: { Values: Record<string, string> } = JSON.parse(file);
    expect(pathsOf(values)).toEqual([
      "CYCLECLOUD_PASSWORD_PROD",
      "CYCLECLOUD_PASSWORD_TEST",
      "AUTOSCALER_AUTOSTOP_KEYS",
    ]);
    const config = readConfig({
      ...values,
      CYCLECLOUD_PASSWORD_PROD: "one",
      CYCLECLOUD_PASSWORD_TEST: "two",
      AUTOSCALER_AUTOSTOP_KEYS: GOOD.AUTOSCALER_AUTOSTOP_KEYS,
    });
    expect(config.clusters.map(({ name, password }) => ({ name, password }))).toEqual([
      { name: "prod", password: "one" },
      { name: "test", password: "two" },
    ]);
    expect(config).toMatchObject({ publicUrl: "http://localhost:7071", autostopKeys: { current: "new" } });
  });
});

describe("settings that do not", () => {
  test("nothing at all: what is required, all at once", () => {
    expect(problemsOf({}).problems).toEqual([
      {
        path: "AzureWebJobsStorage",
        found: "nothing",
        expected:
          "a connection string, or AzureWebJobsStorage__tableServiceUri and AzureWebJobsStorage__queueServiceUri",
      },
      {
        path: "AUTOSCALER_CLUSTERS",
        found: "nothing",
        expected: "a JSON list of clusters; [] for none",
      },
    ]);
  });

  test("every setting wrong: all named in one error, whose message is one line", () => {
    const error = problemsOf({
      AzureWebJobsStorage: "not a connection string",
      AUTOSCALER_CLUSTERS: '[{"name":"","url":"ftp://x"}]',
      AUTOSCALER_PUBLIC_URL: "somewhere",
      AUTOSCALER_AUTOSTOP_KEYS: "short:key",
      AUTOSCALER_LOCAL_CLOCK: "now",
    });
    expect(error.problems.map(({ path }) => path)).toEqual([
      "AzureWebJobsStorage",
      "AUTOSCALER_CLUSTERS[0].name",
      "AUTOSCALER_CLUSTERS[0].url",
      "AUTOSCALER_CLUSTERS[0]",
      "AUTOSCALER_AUTOSTOP_KEYS",
      "AUTOSCALER_LOCAL_CLOCK",
      "AUTOSCALER_PUBLIC_URL",
    ]);
    expect(error.message).not.toContain("\n");
    expect(error.message).toContain("AUTOSCALER_LOCAL_CLOCK: found text of 3 characters, expected ");
  });

  test.each([
    { name: "an empty storage setting", more: { AzureWebJobsStorage: "" }, path: "AzureWebJobsStorage" },
    {
      name: "only one of the storage addresses",
      more: {
        AzureWebJobsStorage: undefined,
        AzureWebJobsStorage__tableServiceUri: "https://a.table.core.windows.net",
      },
      path: "AzureWebJobsStorage",
    },
    { name: "clusters that are no list", more: { AUTOSCALER_CLUSTERS: "{}" }, path: "AUTOSCALER_CLUSTERS" },
    {
      name: "a password that is not set",
      more: { CC_PASSWORD: undefined },
      path: "AUTOSCALER_CLUSTERS[0].passwordSetting",
    },
    {
      name: "an empty password",
      more: { CC_PASSWORD: "" },
      path: "AUTOSCALER_CLUSTERS[0].passwordSetting",
    },
    {
      name: "a public URL that is no web address",
      more: { AUTOSCALER_PUBLIC_URL: "ftp://a.example" },
      path: "AUTOSCALER_PUBLIC_URL",
    },
    {
      name: "a public URL without keys to sign with",
      more: { AUTOSCALER_AUTOSTOP_KEYS: undefined },
      path: "AUTOSCALER_AUTOSTOP_KEYS",
    },
    {
      name: "a key id that cannot stand in a URL",
      more: { AUTOSCALER_AUTOSTOP_KEYS: "a/b:5d7e0c9ab3f14286e1d0b4c7a9f83625" },
      path: "AUTOSCALER_AUTOSTOP_KEYS",
    },
    {
      name: "a clock that stands still",
      more: { AUTOSCALER_LOCAL_CLOCK: "1763636400000@0" },
      path: "AUTOSCALER_LOCAL_CLOCK",
    },
  ])("$name", ({ more, path }) => {
    expect(pathsOf({ ...GOOD, ...more })).toEqual([path]);
  });
});

describe("secrets are never shown", () => {
  const SECRET = "hunter2-secret";
  test.each([
    { name: "a connection string", more: { AzureWebJobsStorage: `AccountKy=${SECRET}` } },
    {
      name: "a list of clusters that is not JSON",
      more: { AUTOSCALER_CLUSTERS: `[{"password":"${SECRET}",]` },
    },
    {
      name: "a password beside its cluster",
      more: {
        AUTOSCALER_CLUSTERS: `[{"name":"a","url":"https://b.example","username":"u","passwordSetting":"CC_PASSWORD","password":"${SECRET}"}]`,
      },
    },
    {
      name: "a password in place of its setting's name",
      more: {
        AUTOSCALER_CLUSTERS: `[{"name":"a","url":"https://b.example","username":"u","passwordSetting":"${SECRET}"}]`,
      },
    },
    {
      name: "a password in an address",
      more: {
        AUTOSCALER_CLUSTERS: `[{"name":"a","url":"https://u:${SECRET}@b.example","username":"u","passwordSetting":"CC_PASSWORD"}]`,
      },
    },
    {
      name: "a password in an address that is none",
      more: {
        AUTOSCALER_CLUSTERS: `[{"name":"a","url":"https://u:${SECRET} x@b.example","username":"u","passwordSetting":"CC_PASSWORD"}]`,
      },
    },
    {
      name: "a password in the public URL",
      more: { AUTOSCALER_PUBLIC_URL: `https://u:${SECRET}@b.example` },
    },
    { name: "a code in the public URL", more: { AUTOSCALER_PUBLIC_URL: `https://b.example?code=${SECRET}` } },
    { name: "an autostop key", more: { AUTOSCALER_AUTOSTOP_KEYS: SECRET } },
  ])("$name", ({ more }) => {
    const error = problemsOf({ ...GOOD, ...more });
    expect(error.problems.length).toBeGreaterThan(0);
    expect(JSON.stringify([error.problems, error.message])).not.toContain(SECRET);
  });
});

describe("settings of any size and name", () => {
  const cluster = (name: string, passwordSetting: string) => ({
    name,
    url: "https://cc.example/",
    username: "u",
    passwordSetting,
  });

  test.each(["__proto__", "constructor", "toString"])(
    "a password setting %s is one that is not set",
    (name) => {
      const AUTOSCALER_CLUSTERS = JSON.stringify([cluster("prod", name)]);
      expect(pathsOf({ ...GOOD, AUTOSCALER_CLUSTERS })).toEqual(["AUTOSCALER_CLUSTERS[0].passwordSetting"]);
    },
  );

  test("of 150 clusters without a password a hundred are named, the rest is counted", () => {
    const clusters = Array.from({ length: 150 }, (_, at) => cluster(`c${at}`, "ABSENT_PASSWORD"));
    const { problems, message } = problemsOf({ ...GOOD, AUTOSCALER_CLUSTERS: JSON.stringify(clusters) });
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toMatchObject({ path: "", found: "50 more problems" });
    expect(message.split("; ")).toHaveLength(101);
  });

  test("the problems of a long list of clusters and of another setting are counted together", () => {
    const AUTOSCALER_CLUSTERS = JSON.stringify(Array.from({ length: 890 }, (_, at) => `c${at}`));
    const { problems } = problemsOf({ ...GOOD, AUTOSCALER_CLUSTERS, AUTOSCALER_PUBLIC_URL: "x" });
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)?.found).toBe("791 more problems");
  });
});
