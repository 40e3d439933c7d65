import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clusterName, setName } from "../../src/domain/ids.ts";
import { readDemandMessage, readRequestSet } from "../../src/wire/message/demand-message.ts";
import { type MessageRead } from "../../src/wire/message/message-read.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { readRegistry } from "../../src/wire/policy/registry.ts";
import { IS_DEEP } from "../property/runs.ts";
import { CONTEXT, NOW } from "./context.ts";

/** Any JSON in the places where a message has something: far more telling than any JSON at the top. */
const anyMessage = fc.record(
  {
    version: fc.constantFrom<unknown>(1, 1, 1, 2),
    cluster: fc.oneof(fc.constant("prod"), fc.jsonValue()),
    requestSet: fc.oneof(fc.string(), fc.jsonValue()),
    revision: fc.oneof(fc.integer(), fc.jsonValue()),
    expirationInterval: fc.oneof(fc.integer(), fc.double()),
    nodearrays: fc.oneof(
      fc.array(
        fc.record(
          {
            Name: fc.string(),
            TargetCount: fc.oneof(fc.nat(), fc.jsonValue()),
            Configuration: fc.jsonValue(),
            MachineType: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      ),
      fc.jsonValue(),
    ),
    jobs: fc.oneof(
      fc.array(
        fc.record(
          {
            name: fc.oneof(fc.string(), fc.jsonValue()),
            iterations: fc.oneof(fc.nat(), fc.jsonValue()),
            constraints: fc.oneof(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), fc.jsonValue()),
            placed: fc.jsonValue(),
            spot: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      ),
      fc.jsonValue(),
    ),
    schedulerNodes: fc.oneof(
      fc.array(fc.record({ hostname: fc.string(), jobs: fc.oneof(fc.array(fc.string()), fc.jsonValue()) })),
      fc.jsonValue(),
    ),
    pools: fc.jsonValue(),
  },
  { requiredKeys: ["version", "cluster"] },
);

/** What a reading must be, whatever was read: rejected with short problems, or sound. */
function expectSound(read: MessageRead): void {
  if (read.kind === "rejected") {
    expect(read.problems.length).toBeGreaterThan(0);
    for (const problem of read.problems) {
      expect(problem.found.length).toBeLessThanOrEqual(80);
      expect(problem.path.length).toBeLessThanOrEqual(230);
    }
  }
  if (read.kind !== "update") return;
  const { demands, rejectedJobs } = read.update.demand ?? { demands: [], rejectedJobs: [] };
  expect(new Set(demands.map((demand) => demand.id)).size).toBe(demands.length);
  for (const job of rejectedJobs) expect(job.problems.length).toBeGreaterThan(0);
  expect(read.update.expiresAt).toBeGreaterThan(CONTEXT.now);
}

describe("no reader ever throws", () => {
  test("the demand message, on any JSON value, as an object and as text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anyMessage), (value) => {
        expectSound(readDemandMessage(JSON.stringify(value), CONTEXT));
        if (typeof value === "object" && value !== null) expectSound(readDemandMessage(value, CONTEXT));
      }),
      { numRuns: IS_DEEP ? 10_000 : 400 },
    );
  });

  test("the demand message, on any text and any bytes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.uint8Array()), (input) =>
        expectSound(readDemandMessage(input, CONTEXT)),
      ),
    );
  });

  test("the request set, the policy and the registry, on any JSON value", () => {
    const context = {
      cluster: clusterName("prod"),
      set: setName("s"),
      now: NOW,
      maxExpirationSeconds: 86_400,
    };
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(["update", "rejected"]).toContain(readRequestSet(text, context).kind);
        expect(["policy", "problems"]).toContain(readPolicy(text).kind);
        expect(["registry", "problems"]).toContain(readRegistry(text).kind);
      }),
    );
  });

  test("a text nested a hundred thousand levels deep is refused", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    for (const text of [
      deep,
      `{"version":1,"cluster":"prod","jobs":${deep}}`,
      `{"version":1,"cluster":"prod","nodearrays":[{"Name":"x","TargetCount":1,"a":${deep}}]}`,
    ]) {
      const read = readDemandMessage(text, CONTEXT);
      expect(read.kind === "update" ? read.update.demand?.rejectedJobs : read.kind).not.toEqual([]);
    }
  });

  test.each([
    { name: "the message", message: (keys: object) => ({ version: 1, cluster: "prod", ...keys }) },
    {
      name: "a host",
      message: (keys: object) => ({
        version: 1,
        cluster: "prod",
        schedulerNodes: [{ hostname: "h", ...keys }],
      }),
    },
    {
      name: "a pool",
      message: (keys: object) => ({ version: 1, cluster: "prod", pools: [{ name: "p", ...keys }] }),
    },
  ])("ten thousand unknown keys in $name are a hundred problems and a count", ({ message }) => {
    const keys = Object.fromEntries(Array.from({ length: 9_990 }, (_, index) => [`k${index}`, index]));
    const read = readDemandMessage(message(keys), CONTEXT);
    expect(read.kind === "rejected" ? read.problems.length : read.kind).toBe(101);
  });

  test("an equal message gives an equal update, whatever the order of its keys", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, member]) => [key, reversed(member)]),
      );
    };
    const attributes = fc.dictionary(
      fc.string().filter((key) => key !== "__proto__"),
      fc.jsonValue({ noUnicodeString: true }),
    );
    fc.assert(
      fc.property(
        attributes,
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.nat()),
        (Configuration, needs) => {
          const message = {
            version: 1,
            cluster: "prod",
            nodearrays: [{ Name: "x", TargetCount: 1, Configuration }],
            jobs: [{ name: "a", constraints: [needs] }],
          };
          const other = reversed(message);
          const first = readDemandMessage(message, CONTEXT);
          const second =
            typeof other === "object" && other !== null ? readDemandMessage(other, CONTEXT) : undefined;
          // A message that is refused (one with a key "__proto__") is shown as it was written.
          if (first.kind === "rejected") {
            expect(second?.kind).toBe("rejected");
            return;
          }
          expect(second).toEqual(first);
        },
      ),
    );
  });
});
