/** The host's small readings: host.json, app settings, routes, storage's time. */
import { describe, expect, test } from "vitest";
import { connectionString, isDisabled } from "../../../src/local/host/app-settings.ts";
import { readHostJson } from "../../../src/local/host/host-json.ts";
import { parseRoute } from "../../../src/local/host/http-trigger.ts";
import { hostJson } from "../../support/toy-app/start.ts";
import { simulatedTime, storageSeconds } from "../../../src/local/host/storage.ts";

describe("host.json", () => {
  test("what it says counts, and other keys are left alone", () => {
    const queues = {
      newBatchThreshold: 4,
      visibilityTimeout: "01:02:03",
      maxPollingInterval: "00:00:00.100",
    };
    expect(readHostJson({ ...hostJson(queues, "00:05:00"), logging: { logLevel: {} } })).toEqual({
      functionTimeoutMs: 300_000,
      routePrefix: "api",
      queues: {
        batchSize: 16,
        newBatchThreshold: 4,
        maxDequeueCount: 5,
        visibilityTimeoutMs: 3_723_000,
        maxPollingIntervalMs: 100,
        messageEncoding: "none",
      },
    });
  });

  test.each([
    { name: "a batch larger than storage gives", document: hostJson({ batchSize: 33 }) },
    { name: "a duration that is no time span", document: hostJson({}, "5 minutes") },
    { name: "60 seconds", document: hostJson({}, "00:00:60") },
    { name: "24 hours", document: hostJson({}, "24:00:00") },
    {
      name: "polling faster than the platform does",
      document: hostJson({ maxPollingInterval: "00:00:00.050" }),
    },
    { name: "base64", document: hostJson({ messageEncoding: "base64" }) },
    { name: "a setting that is missing", document: hostJson({ maxDequeueCount: undefined }) },
    { name: "another version", document: { ...hostJson(), version: "1.0" } },
  ])("refused: $name", ({ document }) => {
    expect(() => readHostJson(document)).toThrow();
  });
});

describe("app settings", () => {
  test("that are missing are named", () => {
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

describe("routes", () => {
  test.each([
    { template: "api/clusters/{c}", path: "/api/clusters/prod", params: { c: "prod" } },
    { template: "api/clusters/{c}", path: "/API/Clusters/Prod/", params: { c: "Prod" } },
    { template: "api/clusters/{c}", path: "/api/clusters/a%20b%C3%BC", params: { c: "a bü" } },
    { template: "api/clusters/{c}", path: "/api/clusters/a%2Fb", params: { c: "a%2Fb" } },
    { template: "api/clusters/{c}", path: "/api/clusters/100%", params: { c: "100%" } },
    { template: "api/clusters/{c}", path: "/api/clusters", params: undefined },
    { template: "api/clusters/{c}", path: "/api/clusters/a/b", params: undefined },
    { template: "/api//x/", path: "/api/x", params: {} },
  ])("$template matches $path: $params", ({ template, path, params }) => {
    expect(parseRoute(template)(path)).toEqual(params);
  });

  test.each([
    { template: "a/{p?}", says: '"{p?}"' },
    { template: "a/{*rest}", says: '"{*rest}"' },
    { template: "a/{p:int}", says: '"{p:int}"' },
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
