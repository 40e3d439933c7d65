import { describe, expect, test } from "vitest";
import { readRegistry } from "../../../src/wire/policy/registry.ts";
import { lineOf } from "../context.ts";

const prod = {
  name: "prod",
  url: "https://cc.example.org",
  username: "scaler",
  passwordSetting: "CC_PASSWORD",
};

const bounds = { callLimitSeconds: 60, lagSeconds: 30, parallelCreates: 1 };

function linesOf(setting: string): readonly string[] {
  const read = readRegistry(setting);
  if (read.kind === "registry") throw new Error("no problems");
  return read.problems.map(lineOf);
}

const AN_IDENTITY =
  "an object with scope, the scope of tokens for CycleCloud, as api://CLIENT-ID/.default, and clientId (optional)";

describe("the registry of clusters", () => {
  test("names each cluster, its server and where its credential comes from", () => {
    const setting = JSON.stringify([
      prod,
      {
        name: "my test",
        url: "http://10.1.1.1:8080/cyclecloud/",
        identity: { scope: "api://test/.default" },
        insecure: true,
      },
      {
        name: "gpu",
        url: "https://cc2.example.org/",
        identity: { clientId: "c-1", scope: "api://cc" },
        ca: "-----BEGIN CERTIFICATE-----",
      },
    ]);
    expect(readRegistry(setting)).toEqual({
      kind: "registry",
      clusters: [
        {
          name: "prod",
          url: "https://cc.example.org",
          username: "scaler",
          credential: { kind: "password", setting: "CC_PASSWORD" },
          insecure: false,
          bounds,
        },
        {
          name: "my test",
          url: "http://10.1.1.1:8080/cyclecloud",
          credential: { kind: "identity", scope: "api://test/.default" },
          insecure: true,
          bounds,
        },
        {
          name: "gpu",
          url: "https://cc2.example.org",
          credential: { kind: "identity", clientId: "c-1", scope: "api://cc" },
          ca: "-----BEGIN CERTIFICATE-----",
          insecure: false,
          bounds,
        },
      ],
    });
  });

  test("says how slow a server may be, and how many create requests it takes at a time", () => {
    const read = readRegistry(JSON.stringify([{ ...prod, callLimit: 90, lag: 0, parallelCreates: 4 }]));
    expect(read.kind === "registry" && read.clusters[0]?.bounds).toEqual({
      callLimitSeconds: 90,
      lagSeconds: 0,
      parallelCreates: 4,
    });
  });

  test.each([
    { key: "callLimit", value: 91, expected: "seconds from 1 to 90" },
    { key: "callLimit", value: 0, expected: "seconds from 1 to 90" },
    { key: "callLimit", value: "60", expected: "seconds from 1 to 90" },
    { key: "lag", value: -1, expected: "seconds from 0 to 300" },
    { key: "parallelCreates", value: 1.5, expected: "a whole number from 1 to 8" },
    { key: "parallelCreates", value: 9, expected: "a whole number from 1 to 8" },
  ])("$key: $value is a mistake", ({ key, value, expected }) => {
    expect(linesOf(JSON.stringify([{ ...prod, [key]: value }]))).toEqual([
      `[0].${key}: ${JSON.stringify(value)} -> ${expected}`,
    ]);
  });

  test("may be empty", () => {
    expect(readRegistry("[]")).toEqual({ kind: "registry", clusters: [] });
  });

  const URL_EXPECTED = "an http or https address, at most with a path";
  test.each([
    {
      name: "not JSON, of which nothing is shown",
      setting: "[{password: hunter2}]",
      lines: [": text of 21 characters -> JSON"],
    },
    { name: "no list", setting: "{}", lines: [": {} -> a list of clusters"] },
    {
      name: "an entry that is no object",
      setting: "[7]",
      lines: ["[0]: 7 -> an object with name, url, username and passwordSetting or identity"],
    },
    {
      name: "a password where only its setting's name belongs: the value is not repeated",
      setting: JSON.stringify([{ name: "prod", url: "https://cc", username: "u", password: "hunter2" }]),
      lines: [
        '[0]: "password" -> one of the keys name, url, username, passwordSetting, identity, ca, insecure, callLimit, lag, parallelCreates',
        '[0]: "neither" -> exactly one of passwordSetting and identity',
      ],
    },
    {
      name: "both credentials",
      setting: JSON.stringify([{ ...prod, identity: true }]),
      lines: ['[0]: "both" -> exactly one of passwordSetting and identity'],
    },
    {
      name: "a password for nobody",
      setting: JSON.stringify([{ ...prod, username: undefined }]),
      lines: ["[0].username: nothing -> text, because passwordSetting is set"],
    },
    {
      name: "an identity that is no object",
      setting: JSON.stringify([{ name: "a", url: "https://cc", identity: "system" }]),
      lines: [`[0].identity: text of 6 characters -> ${AN_IDENTITY}`],
    },
    {
      name: "an identity without the scope of its tokens, which no address tells",
      setting: JSON.stringify([{ name: "a", url: "https://cc", identity: true }]),
      lines: [`[0].identity: true -> ${AN_IDENTITY}`],
    },
    {
      name: "an identity with a client id only",
      setting: JSON.stringify([{ name: "a", url: "https://cc", identity: { clientId: "x" } }]),
      lines: [
        "[0].identity.scope: nothing -> the scope of tokens for CycleCloud, as api://CLIENT-ID/.default",
      ],
    },
    {
      name: "an identity with an empty scope",
      setting: JSON.stringify([{ name: "a", url: "https://cc", identity: { scope: "" } }]),
      lines: ['[0].identity.scope: "" -> the scope of tokens for CycleCloud, as api://CLIENT-ID/.default'],
    },
    {
      name: "an unknown key of an identity",
      setting: JSON.stringify([{ name: "a", url: "https://cc", identity: { clientID: "x", scope: "s" } }]),
      lines: ['[0].identity: "clientID" -> one of the keys clientId, scope (clientId?)'],
    },
    {
      name: "a password in the address, which is not shown",
      setting: JSON.stringify([{ ...prod, url: "https://u:hunter2@cc/" }]),
      lines: ['[0].url: "https://...@cc" -> an address without user and password'],
    },
    {
      name: "another protocol",
      setting: JSON.stringify([{ ...prod, url: "ftp://cc" }]),
      lines: [`[0].url: "ftp://cc" -> ${URL_EXPECTED}`],
    },
    {
      name: "a query",
      setting: JSON.stringify([{ ...prod, url: "https://cc/?a=1" }]),
      lines: [`[0].url: "https://cc/?a=1" -> ${URL_EXPECTED}`],
    },
    {
      name: "two of one name, and another mistake elsewhere",
      setting: JSON.stringify([prod, { ...prod, insecure: "no" }]),
      lines: [
        "[1].insecure: text of 2 characters -> true or false",
        '[1].name: "prod" -> a name that no other cluster of the list has',
      ],
    },
  ])("is refused: $name", ({ setting, lines }) => {
    expect(linesOf(setting)).toEqual(lines);
  });
});
