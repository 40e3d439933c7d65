import { describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../src/config.ts";
import { insecurities } from "../src/config/public-url.ts";

/** App settings that would let secrets be guessed or read on the way are refused at the start. */

const SECRET = "f3a9c1d07b5e4826a1c49d0e7f6b3852";
const OTHER = "0b1d2c3e4f5a69788796a5b4c3d2e1f0";
const CLUSTER = {
  name: "prod",
  url: "https://cyclecloud.example.com",
  username: "autoscaler",
  passwordSetting: "CYCLECLOUD_PASSWORD_PROD",
};
const GOOD = {
  AzureWebJobsStorage: "UseDevelopmentStorage=true",
  AUTOSCALER_CLUSTERS: JSON.stringify([CLUSTER]),
  CYCLECLOUD_PASSWORD_PROD: "a password",
  AUTOSCALER_PUBLIC_URL: "https://app.example",
  AUTOSCALER_AUTOSTOP_KEYS: `one:${SECRET}`,
};

/** What is wrong, as texts; empty: nothing. */
function problemsOf(more: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig({ ...GOOD, ...more });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, found }) => `${path}: ${found}`);
  }
}

describe("autostop keys", () => {
  const KEYS = "AUTOSCALER_AUTOSTOP_KEYS";
  const PLACEHOLDER = "a text that stands for a secret, or repeats itself";
  test.each([
    { name: "one good key", keys: `one:${SECRET}`, found: [] },
    { name: "two good keys", keys: `two:${OTHER}, one:${SECRET}`, found: [] },
    {
      name: "31 characters",
      keys: `one:${SECRET.slice(1)}`,
      found: [`${KEYS}: a secret of 31 characters for "one"`],
    },
    {
      name: "the text of the sample",
      keys: "first:replace-by-what-openssl-rand-hex-24-prints",
      found: [`${KEYS}: for "first" ${PLACEHOLDER}`],
    },
    {
      name: "a text that says that it is to be replaced",
      keys: "first:CHANGEME-CHANGEME-1234567890-abcdef",
      found: [`${KEYS}: for "first" ${PLACEHOLDER}`],
    },
    { name: "one character", keys: `one:${"a".repeat(40)}`, found: [`${KEYS}: for "one" ${PLACEHOLDER}`] },
    {
      name: "a few digits again and again",
      keys: `one:${"0123456789abcdef".repeat(2)}`,
      found: [`${KEYS}: for "one" ${PLACEHOLDER}`],
    },
    {
      name: "one id twice",
      keys: `one:${SECRET},one:${OTHER}`,
      found: [`${KEYS}: two secrets of the id "one"`],
    },
    {
      name: "one secret under two ids",
      keys: `two:${SECRET},one:${SECRET}`,
      found: [`${KEYS}: the secret of "one" twice`],
    },
  ])("$name", ({ keys, found }) => {
    const problems = problemsOf({ [KEYS]: keys });
    expect(problems).toEqual(found);
    expect(problems.join()).not.toContain(SECRET.slice(1));
  });

  test("what openssl rand makes is accepted, a thousand times", () => {
    for (let tries = 0; tries < 1000; tries += 1) {
      const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString("hex");
      expect(problemsOf({ [KEYS]: `one:${secret}` })).toEqual([]);
    }
  });
});

test("the sample's password is none", () => {
  expect(problemsOf({ CYCLECLOUD_PASSWORD_PROD: "put the password here" })).toEqual([
    "CYCLECLOUD_PASSWORD_PROD: the text of the sample",
  ]);
});

test("a reference to Key Vault that the platform could not resolve is no secret", () => {
  const reference = "@Microsoft.KeyVault(SecretUri=https://kv.vault.azure.net/secrets/name)";
  expect(problemsOf({ CYCLECLOUD_PASSWORD_PROD: reference })).toEqual([
    "CYCLECLOUD_PASSWORD_PROD: a reference to Key Vault that was not resolved",
  ]);
  expect(problemsOf({ AUTOSCALER_AUTOSTOP_KEYS: reference })).toEqual([
    "AUTOSCALER_AUTOSTOP_KEYS: a reference to Key Vault that was not resolved",
  ]);
});

describe("plain http", () => {
  const clusters = (more: object) => ({ AUTOSCALER_CLUSTERS: JSON.stringify([{ ...CLUSTER, ...more }]) });
  test.each<{ name: string; more: Readonly<Record<string, string>>; found: readonly string[] }>([
    {
      name: "to CycleCloud",
      more: clusters({ url: "http://cc.example.com:8080" }),
      found: ["AUTOSCALER_CLUSTERS[0].url: plain http to cc.example.com:8080"],
    },
    {
      name: "to CycleCloud, by address",
      more: clusters({ url: "http://10.1.2.3" }),
      found: ["AUTOSCALER_CLUSTERS[0].url: plain http to 10.1.2.3"],
    },
    {
      name: "to CycleCloud that is called insecure",
      more: clusters({ url: "http://10.1.2.3", insecure: true }),
      found: [],
    },
    { name: "to CycleCloud on this machine", more: clusters({ url: "http://127.0.0.1:8080" }), found: [] },
    {
      name: "to the app",
      more: { AUTOSCALER_PUBLIC_URL: "http://app.example:7071" },
      found: ["AUTOSCALER_PUBLIC_URL: plain http to app.example:7071"],
    },
    {
      name: "to the app, allowed",
      more: { AUTOSCALER_PUBLIC_URL: "http://app.example", AUTOSCALER_INSECURE: "true" },
      found: [],
    },
    {
      name: "to the app, not allowed in so many words",
      more: { AUTOSCALER_PUBLIC_URL: "http://app.example", AUTOSCALER_INSECURE: "no" },
      found: ["AUTOSCALER_PUBLIC_URL: plain http to app.example"],
    },
    {
      name: "to the app on this machine",
      more: { AUTOSCALER_PUBLIC_URL: "http://localhost:7071" },
      found: [],
    },
  ])("$name", ({ more, found }) => {
    expect(problemsOf(more)).toEqual(found);
  });

  test("what is allowed is told, for the troubles", () => {
    const cluster = { url: "https://cc.example.com/cc", insecure: false };
    expect(insecurities(cluster, "https://app.example")).toEqual([]);
    expect(insecurities({ url: "http://127.0.0.1:1", insecure: false }, "http://localhost:7071")).toEqual([]);
    expect(insecurities({ ...cluster, insecure: true })).toEqual([
      'certificates of https://cc.example.com are not checked ("insecure"): another server in its place gets the password',
    ]);
    expect(insecurities({ url: "http://cc.example.com", insecure: true }, "http://app.example/x")).toEqual([
      "CycleCloud is called over plain http (http://cc.example.com): others on the network can read the password",
      "nodes call http://app.example over plain http: others on the network can read the stop URLs",
    ]);
  });
});

test.each(["..", ".", "a\ud800b"])("the cluster name %j is refused", (name) => {
  expect(problemsOf({ AUTOSCALER_CLUSTERS: JSON.stringify([{ ...CLUSTER, name }]) })).toHaveLength(1);
});
