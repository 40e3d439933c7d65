import { describe, expect, test } from "vitest";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { readRegistry } from "../../src/wire/policy/registry.ts";
import { kindOf, problemAt, problemShowing } from "../../src/wire/json/problem.ts";
import { CONTEXT } from "./context.ts";

/** What `found` repeats of an input goes to logs and to others than its sender: no value that may be a secret. */

const CANARY = "CANARY-4d1c-password=swordfish";

test.each<{ value: unknown; kind: string }>([
  { value: undefined, kind: "nothing" },
  { value: null, kind: "null" },
  { value: 4.5, kind: "4.5" },
  { value: false, kind: "false" },
  { value: "", kind: '""' },
  { value: "x", kind: "text of 1 character" },
  { value: "twenty-three characters", kind: "text of 23 characters" },
  { value: "600", kind: '"600"' },
  { value: "-0.5", kind: '"-0.5"' },
  { value: "123456789012", kind: "text of 12 characters" },
  { value: [], kind: "[]" },
  { value: {}, kind: "{}" },
  { value: [CANARY], kind: "list of 1 item" },
  { value: { [CANARY]: 1 }, kind: "object with 1 member" },
  { value: { a: 1, b: 2, c: 3 }, kind: "object with 3 members" },
])("a value is named by kind and length: $kind", ({ value, kind }) => {
  expect(kindOf(value)).toBe(kind);
  expect(problemAt("at", value, "something else").found).toBe(kind);
});

test("where a name belongs, a text is shown, and nothing else", () => {
  expect(problemShowing("name", "team/a", "a name").found).toBe('"team/a"');
  expect(problemShowing("name", [CANARY], "a name").found).toBe("list of 1 item");
});

const array = { Name: "execute", TargetCount: 1 };
const job = { name: "j" };
const secret = { password: CANARY };

/** Places in a message in which a secret may stand by mistake, or because it is a node attribute. */
const MESSAGES: Readonly<Record<string, unknown>> = {
  "no JSON": `{"version":1, ${CANARY}`,
  "base64 of no JSON": Buffer.from(`{${CANARY}`).toString("base64"),
  "a text": JSON.stringify(CANARY),
  "a list": [CANARY],
  "jobs as a text": { jobs: CANARY },
  "nodearrays as a text": { nodearrays: CANARY },
  "a node array as a text": { nodearrays: [CANARY] },
  "Configuration as a text": { nodearrays: [{ ...array, Configuration: CANARY }] },
  "Configuration as a list": { nodearrays: [{ ...array, Configuration: [secret] }] },
  "__proto__ in an attribute": JSON.parse(
    `{"nodearrays":[{"Name":"execute","TargetCount":1,"CloudInit":{"__proto__":"${CANARY}"}}]}`,
  ),
  "a target as a text": { nodearrays: [{ Name: "execute", TargetCount: CANARY }] },
  "two targets, one a text": { nodearrays: [{ ...array, TargetCoreCount: CANARY }] },
  "no target": { nodearrays: [{ Name: "execute", CloudInit: CANARY }] },
  "a dynamic array told twice": {
    nodearrays: [
      { ...array, Dynamic: true, Extends: "htc", CloudInit: CANARY },
      { ...array, Dynamic: true, Extends: "htc", CloudInit: "other", MachineType: secret },
    ],
  },
  "Name as an object": { nodearrays: [{ ...array, Name: secret }] },
  "a job as a text": { jobs: [CANARY] },
  "a job's name as an object": { jobs: [{ name: secret }] },
  "iterations as a text": { jobs: [{ ...job, iterations: CANARY }] },
  "priority as a text": { jobs: [{ ...job, priority: CANARY }] },
  "constraints as a text": { jobs: [{ ...job, constraints: CANARY }] },
  "a constraint as a text": { jobs: [{ ...job, constraints: [CANARY] }] },
  "a constraint's value as an object": { jobs: [{ ...job, constraints: [{ ncpus: secret }] }] },
  "metadata as a text": { jobs: [{ ...job, metadata: CANARY }] },
  "metadata with __proto__": { jobs: [JSON.parse(`{"name":"j","metadata":{"__proto__":"${CANARY}"}}`)] },
  "placed as a text": { jobs: [{ ...job, placed: CANARY }] },
  "an unknown key": { jobs: [{ ...job, pasword: CANARY }] },
  "an unknown key at the top": { jobs: [], pasword: CANARY },
  "a host as a text": { schedulerNodes: [CANARY] },
  "a host's resources as a text": { schedulerNodes: [{ hostname: "h", resources: CANARY }] },
  "pools as a text": { pools: CANARY },
  "a pool's total as a text": { pools: [{ name: "p", total: CANARY }] },
  "version as a text": { version: CANARY, jobs: [] },
  "revision as a text": { revision: CANARY, jobs: [] },
  "expirationInterval as a text": { expirationInterval: CANARY, jobs: [] },
  "requestSet as an object": { requestSet: secret, jobs: [] },
};

describe("problems of a demand message hold nothing of", () => {
  test.each(Object.entries(MESSAGES))("%s", (_name, sent) => {
    const isPart = typeof sent === "object" && !Array.isArray(sent);
    const message = isPart ? JSON.stringify({ version: 1, cluster: "prod", ...sent }) : sent;
    const read = readDemandMessage(typeof message === "string" ? message : JSON.stringify(message), CONTEXT);
    const problems =
      read.kind === "rejected"
        ? read.problems
        : read.kind === "update"
          ? (read.update.demand?.rejectedJobs ?? []).flatMap((rejected) => rejected.problems)
          : [];
    expect(problems).not.toEqual([]);
    expect(JSON.stringify(problems)).not.toContain("CANARY");
    expect(JSON.stringify(problems)).not.toContain("swordfish");
  });
});

test.each<{ name: string; document: unknown }>([
  { name: "a timeout", document: { idleTimeout: CANARY } },
  { name: "caps", document: { caps: { users: { anna: CANARY } } } },
  { name: "a switch", document: { enabled: CANARY } },
  { name: "groups", document: { placementGroups: { default: CANARY } } },
  { name: "prices", document: { prices: { currency: "EUR", locations: CANARY } } },
])("problems of a configuration hold nothing of $name", ({ document }) => {
  const read = readPolicy(JSON.stringify(document));
  expect(read.kind).toBe("problems");
  expect(JSON.stringify(read)).not.toContain("CANARY");
});

test("problems of AUTOSCALER_CLUSTERS hold no value of a wrong kind", () => {
  const prod = { name: "prod", url: "https://cc", username: "a", passwordSetting: "P" };
  for (const wrong of [
    { insecure: CANARY },
    { callLimit: CANARY },
    { identity: CANARY },
    { username: secret },
  ])
    expect(JSON.stringify(readRegistry(JSON.stringify([{ ...prod, ...wrong }])))).not.toContain("CANARY");
});
