import { expect, test } from "vitest";
import { messageOf } from "../../src/agent/slurm/demand.ts";
import { noteResumes, readShimCall } from "../../src/agent/slurm/resumes.ts";
import { cloudNodes } from "../../src/agent/slurm/cloud-node.ts";
import { readingInWords } from "../../src/agent/slurm/words.ts";
import { instant } from "../../src/domain/units.ts";
import { MAPPING_TEXT, mappingOf, NOTHING_KEPT, readScene } from "./stage.ts";

const MAPPING = mappingOf(MAPPING_TEXT);
const READ_AT = instant(1_763_636_400_000);
const NO_FACTS = { readAt: READ_AT, resumes: new Map(), earlier: new Set<string>() };

test("nodes that boot are asked for by name, those of one job together, and are not reported", () => {
  const all = cloudNodes(readScene("22.05/03-configuring"), MAPPING);
  const resumed = instant(READ_AT - 3000);
  const resumes = new Map(all.map(({ name }) => [name, resumed]));
  expect(messageOf(all, MAPPING, { ...NO_FACTS, resumes })).toEqual({
    version: 1,
    cluster: "prod",
    requestSet: "slurm",
    revision: READ_AT,
    readAt: READ_AT,
    expirationInterval: 300,
    nodearrays: [
      { Name: "gpu", Since: resumed, NodeNames: "gpu-[1-2]" },
      {
        Name: "hpc",
        MachineType: "Standard_HB120rs_v3",
        PlacementGroup: "hpc-1",
        Since: resumed,
        Together: true,
        NodeNames: "hpc-[1-4]",
      },
      { Name: "htc", Since: resumed, NodeNames: "htc-[1-3]" },
    ],
    schedulerNodes: [{ hostname: "htc-4", state: "closed" }],
  });
});

test("up, drained and down nodes stay in the set; what powers down without a job leaves it", () => {
  const all = cloudNodes(readScene("22.05/09-power-down"), MAPPING);
  const message = messageOf(all, MAPPING, NO_FACTS);
  expect(message.nodearrays).toEqual([
    { Name: "gpu", NodeNames: "gpu-1" },
    { Name: "htc", NodeNames: "htc-[1-2]" },
  ]);
  expect(message.schedulerNodes).toEqual([
    { hostname: "gpu-1", jobs: ["49"], state: "closed", keep: "drained in Slurm: POWER_DOWN_ASAP" },
    { hostname: "gpu-2", state: "closed" },
    ...[1, 2, 3, 4].map((number) => ({ hostname: `hpc-${number}`, state: "closed" })),
    { hostname: "htc-1", jobs: ["46"], state: "closed", keep: "drained in Slurm: autoscaler: stopping" },
    { hostname: "htc-2", jobs: [], state: "closed", keep: "set DOWN in Slurm: evicted" },
    { hostname: "htc-3", state: "closed" },
    { hostname: "htc-4", state: "closed" },
  ]);
});

test("a node that does not answer is not called idle, one that completes is not idle", () => {
  const resumed = messageOf(cloudNodes(readScene("22.05/10-resumed"), MAPPING), MAPPING, NO_FACTS);
  expect(resumed.schedulerNodes?.map(({ hostname }) => hostname)).not.toContain("htc-2");
  const completing = messageOf(cloudNodes(readScene("22.05/06-completing"), MAPPING), MAPPING, NO_FACTS);
  expect(completing.schedulerNodes?.slice(0, 2)).toEqual([
    { hostname: "gpu-1", jobs: ["45"], state: "open" },
    { hostname: "gpu-2", jobs: [], state: "open" },
  ]);
});

test("a job is told by the id that users see", () => {
  const message = messageOf(cloudNodes(readScene("24.11.7/03-running"), MAPPING), MAPPING, NO_FACTS);
  expect(message.schedulerNodes?.find(({ hostname }) => hostname === "htc-2")?.jobs).toEqual(["2_1", "2_2"]);
});

test("the machine of an earlier life is reported closed while no job has started there", () => {
  const all = cloudNodes(readScene("22.05/15-nothing-comes"), MAPPING);
  const message = messageOf(all, MAPPING, { ...NO_FACTS, earlier: new Set(["htc-1"]) });
  expect(message.nodearrays).toContainEqual({ Name: "htc", NodeNames: "htc-1" });
  expect(message.schedulerNodes).toContainEqual({ hostname: "htc-1", state: "closed" });
  expect(message.schedulerNodes?.map(({ hostname }) => hostname)).not.toContain("hpc-1");
});

test("what an administrator keeps up is reported so", () => {
  const settings = { ...NOTHING_KEPT, keptPartitions: new Set(["htc"]), keptNodes: new Set(["gpu-2"]) };
  const all = cloudNodes(readScene("22.05/05-running", settings), MAPPING);
  const kept = messageOf(all, MAPPING, NO_FACTS).schedulerNodes?.filter(({ keep }) => keep !== undefined);
  expect(kept?.map(({ hostname, keep }) => [hostname, keep])).toEqual([
    ["gpu-2", "in SuspendExcNodes of slurm.conf"],
    ["htc-1", "in partition htc, which is in SuspendExcParts of slurm.conf"],
    ["htc-2", "in partition htc, which is in SuspendExcParts of slurm.conf"],
    ["htc-3", "in partition htc, which is in SuspendExcParts of slurm.conf"],
  ]);
});

test("a name that the file does not map is left alone, and the dry run says so", () => {
  const narrow = mappingOf(MAPPING_TEXT.replace("htc-[1-4]", "htc-[1-2]").replace(/nodes=gpu.*\n/, ""));
  const reading = readScene("22.05/03-configuring");
  const all = cloudNodes(reading, narrow);
  const message = messageOf(all, narrow, NO_FACTS);
  expect(message.nodearrays).not.toContainEqual(expect.objectContaining({ Name: "gpu" }));
  expect(message.schedulerNodes).toEqual([]);
  expect(readingInWords(all, reading.jobs.slice(0, 3), narrow, NO_FACTS)).toEqual([
    "node gpu-[1-2]: MIXED+CLOUD+NOT_RESPONDING+POWERING_UP; powering up; left alone, in no host range of the agent's file; the nearest is htc-[1-2]",
    "node hpc-[1-4]: ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP; powering up; wanted; hpc/Standard_HB120rs_v3/hpc-1",
    "node htc-1: ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP; powering up; wanted; htc",
    "node htc-2: MIXED+CLOUD+NOT_RESPONDING+POWERING_UP; powering up; wanted; htc",
    "node htc-3: ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP; powering up; left alone, in no host range of the agent's file; the nearest is htc-[1-2]",
    "node htc-4: IDLE+CLOUD+POWERED_DOWN+PLANNED; powered down; left alone, in no host range of the agent's file; the nearest is htc-[1-2]",
    "job 5: waits until gpu-1 has booted",
    "job 6: waits until gpu-2 has booted",
    "job 32: waits until hpc-[1-4] has booted",
  ]);
});

const MOMENT = "1763636400000";

test.each([
  { name: "a resume", text: `resume ${MOMENT} htc-[1-2]\n{"jobs":[]}\n`, hosts: ["htc-1", "htc-2"] },
  { name: "without the file of Slurm", text: `suspend ${MOMENT} htc-1\n`, hosts: ["htc-1"] },
  { name: "half a line", text: "resume 17636", hosts: undefined },
  { name: "another verb", text: `reboot ${MOMENT} htc-1\n`, hosts: undefined },
  { name: "words after the list", text: `resume ${MOMENT} htc-1 htc-2\n`, hosts: undefined },
])("a file of the spool: $name", ({ text, hosts }) => {
  expect(readShimCall(text)?.hosts).toEqual(hosts);
});

const SINCE = instant(READ_AT - 500_000);

test.each([
  { name: "the call of a shim", known: SINCE, calls: [-2000], before: "coming", expected: -2000 },
  {
    name: "no call, and powering up before already",
    known: SINCE,
    calls: [],
    before: "coming",
    expected: -500_000,
  },
  {
    name: "no call, and powering up since this reading",
    known: SINCE,
    calls: [],
    before: "off",
    expected: 0,
  },
  { name: "at the start of the agent", known: SINCE, calls: [], before: undefined, expected: -500_000 },
  {
    name: "at the first start of the agent",
    known: undefined,
    calls: [],
    before: undefined,
    expected: undefined,
  },
  {
    name: "a call that was seen late",
    known: instant(READ_AT - 2000),
    calls: [-3000],
    before: "off",
    expected: -2000,
  },
] as const)("the moment of a resume: $name", ({ known, calls, before, expected }) => {
  const all = cloudNodes(readScene("22.05/18-accounting"), MAPPING);
  const resumes = noteResumes(
    new Map(known === undefined ? [] : [["hpc-1", known]]),
    calls.map((after) => ({ verb: "resume" as const, at: instant(READ_AT + after), hosts: ["hpc-1"] })),
    new Map(before === undefined ? [] : [["hpc-1", before]]),
    all,
    READ_AT,
  );
  expect(resumes.get("hpc-1")).toBe(expected === undefined ? undefined : READ_AT + expected);
});

test("what is known of a name is forgotten once it is powered down", () => {
  const all = cloudNodes(readScene("22.05/01-empty"), MAPPING);
  const known = new Map([
    ["htc-1", SINCE],
    ["htc-2", instant(READ_AT - 1000)],
  ]);
  expect([...noteResumes(known, [], new Map(), all, READ_AT).keys()]).toEqual(["htc-2"]);
});
