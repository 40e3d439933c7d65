import { describe, expect, test } from "vitest";
import { entryOfNode } from "../../../src/domain/hosts.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at, NOW } from "../../support/build-node.ts";
import type { SetScenario } from "../../support/build-record.ts";
import { buildJob, buildState } from "../../support/build-record.ts";
import { hostFacts } from "../../../src/decide/senders/host-facts.ts";

describe("what schedulers say of hosts", () => {
  const factsOf = (sets: Record<string, SetScenario>, now: Instant = NOW) => {
    const { record, bodies } = buildState({ sets });
    return Object.fromEntries(hostFacts(record, bodies, now));
  };
  const idleReport = [{ hostname: "ip-a", jobs: [] }];
  const long = { expiresAt: at(5000) };

  test.each([
    {
      name: "a report without a job",
      sets: { a: { report: idleReport, sentAt: at(-10) } },
      facts: { "ip-a": { jobs: [], by: ["a"], reportedAt: at(-10) } },
    },
    {
      name: "a report with jobs",
      sets: { a: { report: [{ hostname: "ip-a", jobs: ["7", "8"] }] } },
      facts: { "ip-a": { jobs: ["7", "8"], by: ["a"], reportedAt: NOW } },
    },
    {
      name: "a placed job, without any report",
      sets: { a: { demands: [buildJob("sim", 4, { placed: [{ hostname: "ip-a", iterations: 2 }] })] } },
      facts: { "ip-a": { jobs: ["sim"] } },
    },
    {
      name: "one set reports it idle, another has placed a job there: busy",
      sets: {
        a: { report: idleReport, sentAt: at(-10) },
        b: { demands: [buildJob("sim", 4, { placed: [{ hostname: "ip-a", iterations: 2 }] })] },
      },
      facts: { "ip-a": { jobs: ["sim"], by: ["a"], reportedAt: at(-10) } },
    },
    {
      name: "two idle reports: each must say so, and the older one proves it",
      sets: { a: { report: idleReport, sentAt: at(-10) }, b: { report: idleReport, sentAt: at(-50) } },
      facts: { "ip-a": { jobs: [], by: ["a", "b"], reportedAt: at(-10), idleAt: at(-50) } },
    },
    {
      name: "spelled in other ways, with a domain and in capitals: the same host",
      sets: {
        a: { report: [{ hostname: "IP-A.internal.example", jobs: ["7"] }], sentAt: at(-10) },
        b: { report: idleReport },
      },
      facts: { "ip-a": { jobs: ["7"], by: ["a", "b"], reportedAt: NOW, idleAt: at(-10) } },
    },
    {
      name: "a report almost two intervals old still counts",
      sets: { a: { report: idleReport, sentAt: at(-599.999), ...long } },
      facts: { "ip-a": { jobs: [], by: ["a"], reportedAt: at(-599.999) } },
    },
    {
      name: "a report of two intervals does not",
      sets: { a: { report: idleReport, sentAt: at(-600), ...long } },
      facts: {},
    },
    {
      name: "a report of a lapsed set does not",
      sets: { a: { report: idleReport, live: false } },
      facts: {},
    },
    {
      name: "nor one of a set that has run out",
      sets: { a: { report: idleReport, sentAt: at(-300) } },
      facts: {},
    },
    {
      name: "addresses are compared whole",
      sets: {
        a: {
          report: [
            { hostname: "10.0.0.1", jobs: [] },
            { hostname: "10.0.0.2", jobs: ["7"] },
          ],
        },
      },
      facts: {
        "10.0.0.1": { jobs: [], by: ["a"], reportedAt: NOW },
        "10.0.0.2": { jobs: ["7"], by: ["a"], reportedAt: NOW },
      },
    },
  ])("$name", ({ sets, facts }) => {
    expect(factsOf(sets)).toEqual(facts);
  });

  describe("asked again of the same sets", () => {
    const scenario = { sets: { a: { report: idleReport, sentAt: at(-10), expiresAt: at(700) } } };
    const idle = { "ip-a": { jobs: [], by: ["a"], reportedAt: at(-10) } };

    test.each([
      { name: "a moment before the report is two intervals old", later: 589.999, facts: idle },
      { name: "when it is", later: 590, facts: {} },
      { name: "when the set has run out", later: 700, facts: {} },
      { name: "earlier than before", later: -1, facts: idle },
    ])("$name", ({ later, facts }) => {
      const { record, bodies } = buildState(scenario);
      expect(Object.fromEntries(hostFacts(record, bodies, NOW))).toEqual(idle);
      expect(Object.fromEntries(hostFacts(record, bodies, at(later)))).toEqual(facts);
    });

    test("forward and back again, past the end of the report", () => {
      const { record, bodies } = buildState(scenario);
      expect(hostFacts(record, bodies, at(600)).size).toBe(0);
      expect(Object.fromEntries(hostFacts(record, bodies, NOW))).toEqual(idle);
    });

    test("with other bodies", () => {
      const { record, bodies } = buildState(scenario);
      const others = buildState({ sets: { a: { ...scenario.sets.a, report: [] } } }).bodies;
      expect(hostFacts(record, bodies, NOW).size).toBe(1);
      expect(hostFacts(record, others, NOW).size).toBe(0);
    });
  });

  test.each([
    { name: "by its hostname", node: { hostname: "IP-A.example", name: "execute-1" }, found: true },
    {
      name: "by its name, where the hostname is another",
      node: { hostname: "ip-b", name: "ip-a" },
      found: true,
    },
    { name: "by its name, where it has no hostname yet", node: { name: "ip-a" }, found: true },
    { name: "not at all", node: { hostname: "ip-ab", name: "execute-1" }, found: false },
  ])("a node is found $name", ({ node, found }) => {
    const { record, bodies } = buildState({ sets: { a: { report: idleReport } } });
    expect(entryOfNode(hostFacts(record, bodies, NOW), node) !== undefined).toBe(found);
  });
});
