import { expect, test } from "vitest";
import { foldHostList } from "../../src/domain/host-list.ts";
import { readNodes } from "../../src/agent/slurm/read-nodes.ts";
import { readJobs } from "../../src/agent/slurm/read-jobs.ts";
import { readControllers, readSettings } from "../../src/agent/slurm/read-settings.ts";
import { cloudNodes } from "../../src/agent/slurm/cloud-node.ts";
import { CONFIGS, MAPPING_TEXT, mappingOf, readScene, SCENES } from "./stage.ts";

const MAPPING = mappingOf(MAPPING_TEXT);
const ALL_OFF = { off: "gpu-[1-2],hpc-[1-4],htc-[1-4]" };
const FIRST_JOBS = "1 14 2_1 2_2 2_3 32 5 6";
const MIXED_JOBS = "1 15 20+0 20+1 2_1 2_2 2_3 3 4 5 7";

/** By scene, worked out by hand from what Slurm printed: the nodes in each phase, those that are kept, and the jobs that have nodes. */
const EXPECTED: Readonly<Record<string, object>> = {
  "22.05/01-empty": ALL_OFF,
  "22.05/02-submitted": { chosen: "gpu-[1-2],hpc-[1-4],htc-[1-3]", off: "htc-4", configuring: FIRST_JOBS },
  "22.05/03-configuring": { coming: "gpu-[1-2],hpc-[1-4],htc-[1-3]", off: "htc-4", configuring: FIRST_JOBS },
  "22.05/04-up-still-configuring": {
    up: "gpu-[1-2],hpc-[1-4],htc-[1-3]",
    off: "htc-4",
    configuring: FIRST_JOBS,
  },
  "22.05/05-running": { up: "gpu-[1-2],hpc-[1-4],htc-[1-3]", off: "htc-4", others: FIRST_JOBS },
  "22.05/06-completing": {
    up: "gpu-[1-2],hpc-[1-4],htc-[1-3]",
    off: "htc-4",
    others: "1 2_1 2_2 2_3 33 4 45 7",
  },
  "22.05/07-later": {
    up: "gpu-[1-2],hpc-[1-4],htc-[1-3]",
    off: "htc-4",
    others: "1 2_1 2_2 2_3 33 4 45 7",
  },
  "22.05/08-drain": {
    up: "gpu-1,htc-[1-3]",
    going: "gpu-2,hpc-[1-4]",
    off: "htc-4",
    kept: "htc-[1,3]",
    others: "46 47 49",
  },
  "22.05/09-power-down": {
    up: "gpu-1,htc-[1-2]",
    going: "gpu-2,hpc-[1-4],htc-3",
    off: "htc-4",
    kept: "gpu-1,htc-[1-2]",
    others: "46 49",
  },
  "22.05/10-resumed": {
    up: "gpu-1,htc-[1-2]",
    coming: "hpc-[3-4]",
    going: "htc-3",
    off: "gpu-2,hpc-[1-2],htc-4",
    kept: "gpu-1",
    configuring: "51",
    others: "46 49",
  },
  "22.05/11-all-down": ALL_OFF,
  "22.05/12-dynamic": { ...ALL_OFF, others: "52" },
  "22.05/13-dynamic-left": { ...ALL_OFF, others: "52" },
  "22.05/15-nothing-comes": {
    coming: "hpc-[1-2],htc-1",
    off: "gpu-[1-2],hpc-[3-4],htc-[2-4]",
    configuring: "1 2",
  },
  "22.05/16-resume-failed": ALL_OFF,
  "22.05/17-limits": {
    up: "htc-[1-4]",
    off: "gpu-[1-2],hpc-[1-4]",
    configuring: "1 10 13_1 13_2 13_3 4 9",
  },
  "22.05/18-accounting": {
    up: "htc-2",
    coming: "hpc-1",
    off: "gpu-[1-2],hpc-[2-4],htc-[1,3-4]",
    configuring: "5",
  },
  ...Object.fromEntries(
    ["24.11.7", "25.11.7", "26.05.3"].flatMap((version) => [
      [
        `${version}/02-configuring`,
        { coming: "gpu-[1-2],hpc-[1-4],htc-[1-3]", off: "htc-4", configuring: MIXED_JOBS },
      ],
      [`${version}/03-running`, { up: "gpu-[1-2],hpc-[1-4],htc-[1-3]", off: "htc-4", others: MIXED_JOBS }],
    ]),
  ),
  ...Object.fromEntries(
    ["25.11.7", "26.05.3"].flatMap((version) => [
      [
        `${version}/05-refused`,
        {
          going: "gpu-[1-2],hpc-1,htc-1",
          coming: "hpc-2,htc-2",
          off: "hpc-[3-4],htc-[3-4]",
          kept: "htc-4",
          configuring: "5",
        },
      ],
      [
        `${version}/06-resume-timeout`,
        { coming: "gpu-2", off: "gpu-1,hpc-[1-4],htc-[1-4]", kept: "htc-4", configuring: "4" },
      ],
    ]),
  ),
  "26.05.3/01-empty": { ...ALL_OFF, kept: "hpc-4,htc-4" },
  "26.05.3/04-nodes": {
    up: "gpu-[1-2],hpc-[2,4],htc-[1-3]",
    going: "hpc-[1,3]",
    off: "htc-4",
    kept: "gpu-1,hpc-4,htc-[1,4]",
    others: "1 22 26 4 5 7",
  },
};

const WITH_TEXT = [...SCENES].filter(([, { nodes }]) => nodes !== undefined).map(([name]) => name);

test("each captured scene with a text has its expectation", () => {
  expect(Object.keys(EXPECTED).toSorted()).toEqual(WITH_TEXT.toSorted());
});

test.each(WITH_TEXT)("scene %s is read as worked out by hand", (name) => {
  const reading = readScene(name);
  const found: Record<string, string> = {};
  const note = (key: string, names: readonly string[]): void => {
    if (names.length > 0) found[key] = names.join(" ");
  };
  const all = cloudNodes(reading, MAPPING).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const phase of new Set(all.map(({ phase }) => phase)))
    note(phase, [foldHostList(all.filter((one) => one.phase === phase).map((one) => one.name))]);
  const kept = all.filter(({ keep }) => keep !== undefined).map((one) => one.name);
  if (kept.length > 0) note("kept", [foldHostList(kept)]);
  const jobs = (isWaiting: boolean) =>
    reading.jobs
      .filter(({ isConfiguring }) => isConfiguring === isWaiting)
      .map(({ shown }) => shown)
      .toSorted();
  note("configuring", jobs(true));
  note("others", jobs(false));
  expect(found).toEqual(EXPECTED[name]);
});

const JSON_CASES = [...SCENES].flatMap(([name, { json = {} }]) =>
  Object.entries(json)
    .filter(([parser]) => parser.startsWith("v"))
    .map(([parser, said]) => ({ name, parser, said })),
);

test("11 pairs of release and data parser were captured", () => {
  expect(new Set(JSON_CASES.map(({ name, parser }) => `${name.split("/", 1).join("")} ${parser}`)).size).toBe(
    11,
  );
});

// The text is what the agent reads, in every release. The JSON of the same moment is a second witness.
test.each(JSON_CASES)("the text of $name says what the JSON of $parser says", ({ name, said }) => {
  const { nodes, jobs } = readScene(name);
  const states = Object.fromEntries(
    nodes.map(({ name, base, flags }) => [name, [base, ...flags].toSorted()]),
  );
  expect(states).toEqual(
    Object.fromEntries(Object.entries(said.nodes).map(([node, state]) => [node, state.toSorted()])),
  );
  const withNodes = Object.entries(said.jobs ?? {}).filter(
    ([, { state, nodes }]) =>
      nodes !== "" && state.some((one) => ["RUNNING", "CONFIGURING", "COMPLETING"].includes(one)),
  );
  expect(Object.fromEntries(jobs.map(({ id, isConfiguring }) => [id, isConfiguring]))).toEqual(
    Object.fromEntries(withNodes.map(([id, { state }]) => [id, state.includes("CONFIGURING")])),
  );
});

test.each(Object.entries(CONFIGS))("the configuration of Slurm %s keeps nothing", (_version, text) => {
  const read = readSettings(text);
  expect([read?.keptNodes.size, read?.keptPartitions.size, read?.keptStates.size]).toEqual([0, 0, 0]);
});

test("what an administrator keeps from being suspended is read, without counts", () => {
  const text = `ResumeTimeout           = 300 sec
SuspendExcNodes         = htc-[1-2]:1,gpu-1
SuspendExcParts         = hpc:2,slow
SuspendExcStates        = MAINT,DRAIN
`;
  const read = readSettings(text);
  expect([...(read?.keptNodes ?? [])]).toEqual(["htc-1", "htc-2", "gpu-1"]);
  expect([...(read?.keptPartitions ?? [])]).toEqual(["hpc", "slow"]);
  expect([...(read?.keptStates ?? [])]).toEqual(["MAINTENANCE", "DRAIN"]);
});

test.each([
  { name: "nothing at all", text: "" },
  { name: "an error", text: "slurm_load_node error: Unable to contact slurm controller (connect failure)\n" },
  { name: "a node without a state", text: "NodeName=htc-1 Arch=x86_64\n   Partitions=htc\n" },
  { name: "a name that is no name", text: "NodeName=$(reboot) Arch=x86_64\n   State=IDLE+CLOUD\n" },
])("$name is unknown, not a cluster without nodes", ({ text }) => {
  expect(readNodes(text)).toBeUndefined();
});

test("a reason that looks like a state is a reason", () => {
  const text = `NodeName=htc-1 Arch=x86_64
   State=DOWN+CLOUD ThreadsPerCore=1
   Partitions=htc,all
   Reason=see State=IDLE and [x@y] [root@2026-11-22T09:18:34]
   Comment=State=IDLE
`;
  expect(readNodes(text)).toEqual([
    {
      name: "htc-1",
      base: "DOWN",
      flags: new Set(["CLOUD"]),
      reason: "see State=IDLE and [x@y]",
      partitions: ["htc", "all"],
    },
  ]);
});

test.each([
  { name: "an error in the place of jobs", text: "slurm_load_jobs error: Socket timed out\n" },
  { name: "a column too many", text: "1|1|R|htc-1|x|\n" },
  { name: "a list that is cut", text: "1|1|R|htc-[1-|\n" },
  { name: "an id that is no number", text: "a|a|R|htc-1|\n" },
])("$name is unknown, not an empty queue", ({ text }) => {
  expect(readJobs(text)).toBeUndefined();
});

test("an empty queue is empty", () => {
  expect(readJobs("")).toEqual([]);
});

test.each([
  { name: "one", text: "Slurmctld(primary) at scheduler is UP\n", expected: ["scheduler"] },
  {
    name: "the second of two",
    text: "Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is UP\n",
    expected: ["b"],
  },
  {
    name: "none",
    text: "Slurmctld(primary) at a is DOWN\n*****\n** RESTORE SLURMCTLD DAEMON TO SERVICE **\n",
    expected: [],
  },
  { name: "unknown", text: "scontrol: error: no configuration\n", expected: undefined },
])("controllers that answer: $name", ({ text, expected }) => {
  expect(readControllers(text)).toEqual(expected);
});
