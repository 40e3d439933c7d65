/** The host's small readings of text: time spans, host.json, app settings, message texts, routes, cookies, storage's time. */
import { describe, expect, test } from "vitest";
import { connectionString, isDisabled, resolveSettings } from "../../../src/local/host/app-settings.ts";
import { readHostJson, parseTimeSpan } from "../../../src/local/host/host-json.ts";
import { decodeMessage, encodeMessage, splitOutput } from "../../../src/local/host/queue-message.ts";
import { parseRoute } from "../../../src/local/host/http-trigger.ts";
import { simulatedTime, storageSeconds } from "../../../src/local/host/storage.ts";

describe("time spans", () => {
  test.each([
    { text: "00:00:30", ms: 30_000 },
    { text: "00:00:00.100", ms: 100 },
    { text: "01:02:03", ms: 3_723_000 },
    { text: "1.12:00:00", ms: 129_600_000 },
    { text: "00:00:60", ms: undefined },
    { text: "24:00:00", ms: undefined },
    { text: "30", ms: undefined },
    { text: "", ms: undefined },
  ])('"$text" is $ms ms', ({ text, ms }) => {
    expect(parseTimeSpan(text)).toBe(ms);
  });
});

describe("host.json", () => {
  test("what it does not say has the platform's defaults", () => {
    const { queues, ...rest } = readHostJson({ version: "2.0" });
    expect(rest).toEqual({ functionTimeoutMs: 1_800_000, routePrefix: "api" });
    expect({ ...queues, newBatchThreshold: undefined }).toEqual({
      batchSize: 16,
      newBatchThreshold: undefined,
      maxDequeueCount: 5,
      visibilityTimeoutMs: 0,
      maxPollingIntervalMs: 2000,
      messageEncoding: "base64",
    });
    expect(queues.newBatchThreshold % 8).toBe(0); // half a batch for each processor
    expect(queues.newBatchThreshold).toBeGreaterThan(0);
  });

  test("what it says counts, and other keys are left alone", () => {
    const read = readHostJson({
      version: "2.0",
      functionTimeout: "00:05:00",
      logging: { logLevel: {} },
      extensions: {
        http: { routePrefix: "" },
        queues: {
          batchSize: 8,
          newBatchThreshold: 4,
          maxDequeueCount: 2,
          visibilityTimeout: "00:00:30",
          messageEncoding: "None",
        },
      },
    });
    expect(read).toEqual({
      functionTimeoutMs: 300_000,
      routePrefix: "",
      queues: {
        batchSize: 8,
        newBatchThreshold: 4,
        maxDequeueCount: 2,
        visibilityTimeoutMs: 30_000,
        maxPollingIntervalMs: 2000,
        messageEncoding: "none",
      },
    });
  });

  test.each([
    {
      name: "a batch larger than storage gives",
      document: { version: "2.0", extensions: { queues: { batchSize: 33 } } },
    },
    { name: "a duration that is no time span", document: { version: "2.0", functionTimeout: "5 minutes" } },
    {
      name: "polling faster than the platform does",
      document: { version: "2.0", extensions: { queues: { maxPollingInterval: "00:00:00.050" } } },
    },
    {
      name: "an unknown encoding",
      document: { version: "2.0", extensions: { queues: { messageEncoding: "gzip" } } },
    },
    { name: "another version", document: { version: "1.0" } },
  ])("refused: $name", ({ document }) => {
    expect(() => readHostJson(document)).toThrow();
  });

  test("a functionTimeout of -1 is none", () => {
    expect(readHostJson({ version: "2.0", functionTimeout: "-1" }).functionTimeoutMs).toBeUndefined();
  });
});

describe("app settings", () => {
  test("stand in for %NAME% anywhere in a text", () => {
    expect(resolveSettings("%A%-and-%B%", { A: "one", B: "two" })).toBe("one-and-two");
    expect(resolveSettings("plain", {})).toBe("plain");
  });

  test("that are missing are named", () => {
    expect(() => resolveSettings("%A%", {})).toThrow('app setting "A"');
    expect(() => connectionString("Other", {})).toThrow('"Other"');
  });

  test.each([
    { name: "named as they are", connection: "Other", settings: { Other: "x" }, found: "x" },
    {
      name: "named without their prefix",
      connection: "Other",
      settings: { AzureWebJobsOther: "y", Other: "x" },
      found: "y",
    },
    {
      name: "not named: the host's storage",
      connection: undefined,
      settings: { AzureWebJobsStorage: "z" },
      found: "z",
    },
  ])("connections are found when $name", ({ connection, settings, found }) => {
    expect(connectionString(connection, settings)).toBe(found);
  });

  test.each([
    { name: "with dots", settings: { "AzureWebJobs.f.Disabled": "true" }, disabled: true },
    { name: "with underscores, as on Linux", settings: { AzureWebJobs__f__Disabled: "1" }, disabled: true },
    { name: "set to false", settings: { "AzureWebJobs.f.Disabled": "false" }, disabled: false },
    { name: "for another function", settings: { "AzureWebJobs.g.Disabled": "true" }, disabled: false },
  ])("a function is disabled by a setting $name: $disabled", ({ settings, disabled }) => {
    expect(isDisabled("f", settings)).toBe(disabled);
  });
});

describe("message texts", () => {
  test.each([
    { name: "none takes text as it is", text: "aGk=", encoding: "none" as const, decoded: "aGk=" },
    { name: "base64 is unpacked", text: "aGk=", encoding: "base64" as const, decoded: "hi" },
    { name: "whitespace in base64 is ignored", text: "aG\n k=", encoding: "base64" as const, decoded: "hi" },
    { name: "base64 of umlauts", text: "w7w=", encoding: "base64" as const, decoded: "ü" },
    { name: "base64 without padding is none", text: "aGk", encoding: "base64" as const, decoded: undefined },
    { name: "JSON is not base64", text: '{"a":1}', encoding: "base64" as const, decoded: undefined },
  ])("$name", ({ text, encoding, decoded }) => {
    expect(decodeMessage(text, encoding)).toBe(decoded);
  });

  test.each([
    { name: "plain", encoding: "none" as const, text: "ü" },
    { name: "packed", encoding: "base64" as const, text: "w7w=" },
  ])("are sent $name", ({ encoding, text }) => {
    expect(encodeMessage(Buffer.from("ü"), encoding)).toBe(text);
  });

  test.each([
    {
      name: "an array is one message per element",
      value: { json: '[{"a":1},"two",3]' },
      bodies: ['{"a":1}', "two", "3"],
    },
    { name: "also as text", value: { string: '["x", null, "y"]' }, bodies: ["x", "y"] },
    { name: "an object is one", value: { json: '{"a":[1,2]}' }, bodies: ['{"a":[1,2]}'] },
    {
      name: "text that only looks like an array is one",
      value: { string: "[not json" },
      bodies: ["[not json"],
    },
    { name: "a number is one", value: { int: 7 }, bodies: ["7"] },
    { name: "bytes are one", value: { bytes: Buffer.from("[1]") }, bodies: ["[1]"] },
    { name: "an empty array is none", value: { json: "[]" }, bodies: [] },
  ])("of outputs: $name", ({ value, bodies }) => {
    expect(splitOutput(value).map((body) => Buffer.from(body).toString())).toEqual(bodies);
  });
});

describe("routes", () => {
  test.each([
    { template: "api/clusters/{c}", path: "/api/clusters/prod", params: { c: "prod" } },
    { template: "api/clusters/{c}", path: "/API/Clusters/Prod/", params: { c: "Prod" } },
    { template: "api/clusters/{c}", path: "/api/clusters/a%20b%C3%BC", params: { c: "a bü" } },
    { template: "api/clusters/{c}", path: "/api/clusters/a%2Fb", params: { c: "a%2Fb" } },
    { template: "api/clusters/{c}", path: "/api/clusters/100%", params: { c: "100%" } },
    { template: "api/clusters/{c}", path: "/api/clusters", params: undefined },
    { template: "api/clusters/{c}", path: "/api/clusters/a/b", params: undefined },
    { template: "api/n/{n:int}", path: "/api/n/-12", params: { n: "-12" } },
    { template: "api/n/{n:int}", path: "/api/n/twelve", params: undefined },
    { template: "api/n/{n:int?}", path: "/api/n", params: {} },
    { template: "api/m/{p?}", path: "/api/m", params: {} },
    { template: "api/m/{p?}", path: "/api/m/x", params: { p: "x" } },
    { template: "api/f/{*rest}", path: "/api/f/a/b", params: { rest: "a/b" } },
    { template: "api/f/{*rest}", path: "/api/f", params: { rest: "" } },
    { template: "/api//x/", path: "/api/x", params: {} },
  ])("$template matches $path: $params", ({ template, path, params }) => {
    expect(parseRoute(template).match(path)).toEqual(params);
  });

  test("are tried with literals before constrained, plain and catch-all parameters", () => {
    const templates = ["a/{*rest}", "a/{p}", "a/{n:int}", "a/b", "a/{p}/c", "a/b/{p}"];
    const precedence = (template: string) => parseRoute(template).precedence;
    expect([...templates].sort((a, b) => (precedence(a) < precedence(b) ? -1 : 1))).toEqual([
      "a/b",
      "a/b/{p}",
      "a/{n:int}",
      "a/{p}",
      "a/{p}/c",
      "a/{*rest}",
    ]);
  });

  test.each([
    { template: "a/{p?}/b", says: "only the last" },
    { template: "a/{*rest}/b", says: "only the last" },
    { template: "a/{p:regex}", says: 'constraint "regex"' },
    { template: "a/v{p}", says: '"v{p}"' },
  ])("$template is refused", ({ template, says }) => {
    expect(() => parseRoute(template)).toThrow(says);
  });
});

describe("storage's time", () => {
  const clock = { now: () => 1_000_000_000_000, sleep: () => Promise.resolve() };

  test("a moment 2 s ago was 2 simulated minutes ago at speed 60", () => {
    const seen = simulatedTime(new Date(Date.now() - 2000), clock, 60);
    expect(Math.abs(seen - (1_000_000_000_000 - 120_000))).toBeLessThan(60 * 50);
  });

  test("what never expires expires in the year 9999", () => {
    expect(simulatedTime(new Date("9999-12-31T23:59:59Z"), clock, 60)).toBe(
      Date.parse("9999-12-31T23:59:59Z"),
    );
  });

  test.each([
    { simulatedMs: 600_000, speed: 60, seconds: 10 },
    { simulatedMs: 600_000, speed: 6000, seconds: 1 },
    { simulatedMs: 30_000, speed: 60, seconds: 1 },
    { simulatedMs: 61_000, speed: 60, seconds: 2 },
    { simulatedMs: 0, speed: 60, seconds: 0 },
    { simulatedMs: 30_000, speed: 1, seconds: 30 },
  ])(
    "$simulatedMs simulated ms at speed $speed are asked for as $seconds s",
    ({ simulatedMs, speed, seconds }) => {
      expect(storageSeconds(simulatedMs, speed)).toBe(seconds);
    },
  );
});
