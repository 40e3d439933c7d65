import { describe, expect, test } from "vitest";
import { clusterName, setName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { readRequestSet } from "../../src/wire/message/demand-message.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { readRegistry } from "../../src/wire/policy/registry.ts";
import { readWhatIf } from "../../src/wire/what-if.ts";
import { lineOf, NOW, problemLines, readMembers, updateOf } from "./context.ts";

const EXPECTED =
  'text of 1 to 200 characters, without "/", "\\", "%2F", control and direction characters, and not "." or ".."';

/** What is expected in a configuration, where what is stored stays in force. */
const ACTING = "a name without control and direction characters";

/** Names that no address can hold, as they are shown in a problem. */
const BAD_NAMES = [
  { name: "team/a", shown: '"team/a"' },
  { name: "team\\a", shown: '"team\\\\a"' },
  { name: "team%2Fa", shown: '"team%2Fa"' },
  { name: "team%2fa", shown: '"team%2fa"' },
  { name: ".", shown: '"."' },
  { name: "..", shown: '".."' },
  { name: "team\na", shown: '"team\\na"' },
  { name: "team\u007fa", shown: '"team\u007fa"' },
  { name: "team\u0085a", shown: '"team\u0085a"' },
  { name: "team\u202ea", shown: '"team\u202ea"', configured: ACTING },
  { name: "\u200fteam", shown: '"\u200fteam"', configured: ACTING },
  { name: "team\u2028a", shown: '"team\u2028a"', configured: ACTING },
];

describe.each(BAD_NAMES)("the name $shown", ({ name, shown, configured = EXPECTED }) => {
  test("of a set is refused in the queue", () => {
    expect(problemLines(readMembers({ requestSet: name, jobs: [] }))).toEqual([
      `requestSet: ${shown} -> ${EXPECTED}`,
    ]);
  });

  test("of a set is refused over HTTP, in address and body", () => {
    const read = readRequestSet(
      { version: 1, jobs: [] },
      { cluster: clusterName("prod"), set: setName(name), now: NOW, maxExpirationSeconds: 86_400 },
    );
    expect(problemLines(read)).toEqual([`requestSet: ${shown} -> ${EXPECTED}`]);
  });

  test("of a set is refused in a dry run, also if it is to be emptied", () => {
    const body = Buffer.from(JSON.stringify({ requestSets: { [name]: null, good: null } }));
    const read = readWhatIf(body, { cluster: clusterName("prod"), policy: DEFAULT_POLICY, now: NOW });
    expect(read.kind === "problems" ? read.problems.map(lineOf) : read).toEqual([
      `requestSets: ${shown} -> ${EXPECTED}`,
    ]);
  });

  test("of a set is refused once in a dry run that gives it demand", () => {
    const body = Buffer.from(JSON.stringify({ requestSets: { [name]: { jobs: [{ name: "j" }] } } }));
    const read = readWhatIf(body, { cluster: clusterName("prod"), policy: DEFAULT_POLICY, now: NOW });
    expect(read.kind === "problems" ? read.problems.map(lineOf) : read).toEqual([
      `requestSets: ${shown} -> ${EXPECTED}`,
    ]);
  });

  test("of a cluster is refused in the app setting", () => {
    const setting = JSON.stringify([{ name, url: "https://cc", username: "u", passwordSetting: "P" }]);
    const read = readRegistry(setting);
    expect(read.kind === "problems" ? read.problems.map(lineOf) : read).toEqual([
      `[0].name: ${shown} -> ${EXPECTED}`,
    ]);
  });

  test("of a node array is refused, and of a dynamic one", () => {
    const nodearrays = [
      { Name: name, TargetCount: 1 },
      { Name: name, Dynamic: true, Extends: "execute", TargetCount: 1 },
      { Name: "good", Dynamic: true, Extends: name, TargetCount: 1 },
    ];
    expect(problemLines(readMembers({ nodearrays }))).toEqual([
      `nodearrays[0].Name: ${shown} -> ${EXPECTED}`,
      `nodearrays[1].Name: ${shown} -> ${EXPECTED}`,
      `nodearrays[2].Extends: ${shown} -> ${EXPECTED}`,
    ]);
  });

  test("of a node array is refused in the configuration", () => {
    const read = readPolicy({ nodearrays: [name] });
    expect(read.kind === "problems" ? read.problems.map(lineOf) : read).toEqual([
      `nodearrays[0]: ${shown} -> ${configured}`,
    ]);
  });
});

/** Characters that act on a terminal: one that colours it, one that turns the order of what follows, and one that ends a line. */
describe.each(["a\u001b[31m", "a\u202eb", "\u061ca", "a\u2029"])(
  "in %j what acts is refused, with its place",
  (name) => {
    const problemsOf = (members: object) => {
      const { rejectedJobs } = updateOf(readMembers({ ...members })).demand;
      return rejectedJobs.flatMap(({ problems }) => problems.map(lineOf));
    };
    const shown = JSON.stringify(name);
    const CHARACTERS = "without control and direction characters";

    test("of a pool", () => {
      const label = "text of 1 to 200 characters, none of them a control or direction character";
      expect(problemLines(readMembers({ pools: [{ name, total: 1, used: 0 }] }))).toEqual([
        `pools[0].name: ${shown} -> ${label}`,
      ]);
      expect(problemsOf({ jobs: [{ name: "j", constraints: { pool: { [name]: 1 } } }] })).toEqual([
        `jobs[0].constraints: ${shown} -> names of resources and pools ${CHARACTERS}`,
      ]);
    });

    test("of a resource", () => {
      expect(problemsOf({ jobs: [{ name: "j", constraints: { ncpus: 1, [name]: 1 } }] })).toEqual([
        `jobs[0].constraints: ${shown} -> names of resources and pools ${CHARACTERS}`,
      ]);
      expect(
        problemLines(readMembers({ schedulerNodes: [{ hostname: "h", resources: { [name]: 1 } }] })),
      ).toEqual([
        `schedulerNodes[0].resources.${name}: ${shown} -> the name of a resource: 1 to 200 characters, ${CHARACTERS}`,
      ]);
    });

    test("of a resource or a pool at any depth", () => {
      const shared = {
        "resource-name": "a",
        source: [name],
        "initial-value": [1],
        "current-value": [1],
        requested: 1,
      };
      const all = [
        { or: [{ ncpus: 1 }, { and: [{ not: { [name]: 1 } }, { ncpus: 2 }] }] },
        { [name]: ["a", "b"] },
        { pool: { [name]: "a" } },
        { "shared-consumable-constraint": shared },
        { "shared-consumable-constraint": { ...shared, "resource-name": name, source: ["a"] } },
      ];
      for (const constraints of all)
        expect(problemsOf({ jobs: [{ name: "j", constraints }] })).toEqual([
          `jobs[0].constraints: ${shown} -> names of resources and pools ${CHARACTERS}`,
        ]);
    });

    test("of a host", () => {
      const expected = `${shown} -> the name of a host, ${CHARACTERS}`;
      expect(problemLines(readMembers({ schedulerNodes: [{ hostname: name }] }))).toEqual([
        `schedulerNodes[0].hostname: ${expected}`,
      ]);
      expect(problemsOf({ jobs: [{ name: "j", placed: [{ hostname: name, iterations: 1 }] }] })).toEqual([
        `jobs[0].placed[0].hostname: ${expected}`,
      ]);
      expect(
        problemsOf({ jobs: [{ name: "j", iterations: 2, "executing-hostnames": ["h", name] }] }),
      ).toEqual([`jobs[0].executing-hostnames: ${shown} -> names of hosts, ${CHARACTERS}`]);
    });

    test("of a job, a user or a job on a host it is taken: people paste them", () => {
      const members = {
        jobs: [{ name, user: name, constraints: { ncpus: 1 } }],
        schedulerNodes: [{ hostname: "h", jobs: [name] }],
      };
      expect(updateOf(readMembers(members)).demand).toMatchObject({
        demands: [{ name, user: name }],
        rejectedJobs: [],
      });
    });
  },
);

describe("what is still a name", () => {
  test.each(["...", ".hidden", "a.b", "50%", "a%20b", "a:b", "licences für Tests", "~", "%2e%2e"])(
    "%s",
    (name) => {
      expect(updateOf(readMembers({ requestSet: name, jobs: [] })).set).toBe(name);
    },
  );

  test("users, pools, VM sizes and placement groups are no part of an address", () => {
    const members = {
      pools: [{ name: "ansys/hpc", total: 3, used: 0 }],
      jobs: [{ name: "array[1]/7", user: "DOM\\eva" }],
    };
    expect(updateOf(readMembers(members)).demand).toMatchObject({
      pools: [{ name: "ansys/hpc" }],
      demands: [{ name: "array[1]/7", user: "DOM\\eva" }],
      rejectedJobs: [],
    });
    expect(readPolicy({ caps: { users: { "DOM\\eva": { nodes: 3 } } } })).toMatchObject({
      kind: "policy",
      doubts: [],
    });
  });

  test("a cap of such a set stays readable, as a configuration that cannot be read stops the cluster: it is a doubt", () => {
    const read = readPolicy({ caps: { requestSets: { "team/a": { nodes: 3 }, "*": { nodes: 5 } } } });
    expect(read.kind === "policy" ? read.doubts.map(lineOf) : read).toEqual([
      `caps.requestSets: "team/a" -> ${EXPECTED}: no set of this name can be sent any more`,
    ]);
  });
});
