import type { Edit } from "../support/product-copy.ts";

/** The rule for nodes that are down (docs/protocol.md) with one half left out, and the scene that finds it. */
export interface DownMutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly file: string;
  /** Part of the name of at least one test that must fail. */
  readonly scene: string;
}

const SCENES = "test/decide/stops/end-down.test.ts";
const SHORT_LIVES = "test/decide/stops/short-lives.test.ts";
const PROBE = "test/decide/world/probe.test.ts";

const mutant = (
  name: string,
  [path, find, put]: readonly [path: string, find: string, put: string],
  scene: string,
  file = SCENES,
): DownMutant => ({
  name: `down: ${name}`,
  edits: [{ file: `src/decide/${path}`, find, put }],
  file,
  scene,
});

export const DOWN_MUTANTS: readonly DownMutant[] = [
  mutant(
    "another status does not begin the clock again",
    ["nodes/down-clock.ts", "if (how === undefined) return undefined;", "if (how === undefined) return old;"],
    "any other status begins its clock again",
  ),
  mutant(
    "a slow status counts",
    ["nodes/down-clock.ts", "if (isSlow || old.observations", "if (old.observations"],
    "a status that took long",
  ),
  mutant(
    "one observation is enough",
    ["stops/end-down.ts", "down.observations < OBSERVATIONS_DOWN", "down.observations < 1"],
    "three observations are needed",
  ),
  mutant(
    "an outage does not begin the clock again",
    ["nodes/down-clock.ts", "isRestart ? undefined : known.down", "known.down"],
    "an outage of the app",
  ),
  mutant(
    "Unavailable is Off",
    [
      "nodes/down-clock.ts",
      'if (phase === "failed") return "failed";',
      'if (phase === "failed") return "off";',
    ],
    "60 nodes that become Unavailable",
  ),
  mutant(
    "the bound counts only this plan",
    [
      "stops/end-down.ts",
      "secondsBetween(endedAt, now) < WINDOW_SECONDS",
      "secondsBetween(endedAt, now) < 0",
    ],
    "of 100 nodes",
  ),
  mutant(
    "no bound for all arrays together",
    ["stops/end-down.ts", " ?? this.#fullUntil(undefined, FEWEST_TOGETHER)", ""],
    "of twenty arrays of two",
  ),
  mutant(
    "a wave is more than half",
    ["stops/end-down.ts", "const SHARE_WAVE = 0.3;", "const SHARE_WAVE = 0.5;"],
    "half of 8",
  ),
  mutant(
    "no wave of all arrays together",
    [
      "stops/end-down.ts",
      "for (const scope of [undefined, known.array]) {",
      "for (const scope of [known.array]) {",
    ],
    "one of each of 3 arrays",
  ),
  mutant(
    "many nodes of one array are no wave",
    ["stops/end-down.ts", "const MOST_OF_ARRAY = 20;", "const MOST_OF_ARRAY = 2000;"],
    "25 of 100",
  ),
  mutant(
    "a wave does not wait an hour",
    ["stops/end-down.ts", "Math.max(WAVE_SECONDS, timeout)", "timeout"],
    "60 of 60",
  ),
  mutant(
    "the clocks go on after a wave",
    [
      "stops/end-down.ts",
      "const ledger = restartAfterWaves(around.ledger, record.waves ?? [], waves, now);",
      "const ledger = around.ledger;",
    ],
    "when it is over",
  ),
  {
    name: "down: deallocated nodes are in the denominator",
    edits: [
      {
        file: "src/decide/stops/end-down.ts",
        find: 'missing === undefined && (phase === "ready"',
        put: 'missing === undefined && (phase === "deallocated" || phase === "ready"',
      },
      {
        file: "src/decide/stops/end-down.ts",
        find: "if (known?.firstReadyAt === undefined || !isOurs",
        put: "if (known === undefined || !isOurs",
      },
    ],
    file: SCENES,
    scene: "4 of 10 that run beside a hundred",
  },
  mutant(
    "a job on it does not keep it",
    ["stops/end-down.ts", 'if (this.#isBusy({ node, known })) return "busy";', ""],
    "a report that names a job",
  ),
  mutant(
    "its own question does not keep it",
    ["stops/end-down.ts", 'if (hasAskedRecently(questions.get(node.nodeId), now)) return "asked";', ""],
    "a question of its own",
  ),
  mutant(
    "a start by another tool is not waited for",
    ["stops/end-down.ts", 'if (isStarted(known, policy, now)) return "starting";', ""],
    "another tool starts it again",
  ),
  mutant(
    "the rest of its placement group does not count",
    ["stops/end-down.ts", "this.#groupsWithJobs().has(group) ?", "group.length < 0 ?"],
    "a member of a placement group",
  ),
  mutant(
    "a node that is to be deallocated is terminated",
    ["stops/end-down.ts", 'if (this.#deallocates.has(node.array)) return "deallocates";', ""],
    "a ShutdownPolicy of Deallocate",
  ),
  mutant(
    "an order ends what goes down later",
    ["stops/end-down.ts", "&& down.since <= at,", "&& at > 0,"],
    "nothing that goes down later",
  ),
  mutant(
    "nothing brakes creates",
    ["stops/pause-buckets.ts", "if (count < IN_A_ROW) continue;", "continue;"],
    "the third of a bucket in a row",
    SHORT_LIVES,
  ),
  mutant(
    "the pause is forgotten after half an hour",
    ["intents/back-off.ts", '(cause === "went-down" ? PROBED_SECONDS : LONGEST_BACKOFF_SECONDS)', "1800"],
    "the pause is kept",
    SHORT_LIVES,
  ),
  mutant(
    "a refusal replaces the pause",
    ["intents/back-off.ts", '[cause === "went-down" ? cause : "", dynamic', '["", dynamic'],
    "a refusal of CycleCloud",
    SHORT_LIVES,
  ),
  mutant(
    "the pause stops growing after half an hour",
    ["intents/back-off.ts", 'cause === "went-down" ? LONGEST_PROBED_SECONDS : ', ""],
    "two hours at most",
    SHORT_LIVES,
  ),
  mutant(
    "each placement group has a row of its own",
    [
      "stops/pause-buckets.ts",
      "({ array, machineType }: Node): BucketKey => ({ array, machineType });",
      "(node: Node): BucketKey => node;",
    ],
    "in three placement groups",
    SHORT_LIVES,
  ),
  mutant(
    "the whole demand is tried after the pause",
    ["world/open-bucket.ts", "let most = 1;", "let most = 1000;"],
    "one node is tried",
    PROBE,
  ),
  mutant(
    "another is tried while one boots",
    ["world/open-bucket.ts", "return lastedAt(node, known, now) === undefined;", "return false;"],
    "no other while it boots",
    PROBE,
  ),
  mutant(
    "nodes that are down are tries",
    [
      "world/open-bucket.ts",
      "known.down !== undefined || excluded.has(node.nodeId)",
      "node.name.length === 0",
    ],
    "nor is one that is down",
    PROBE,
  ),
  mutant(
    "jobs of several nodes are never tried",
    [
      "world/open-bucket.ts",
      "return demand.nodeCount ?? (demand.colocated ? demand.iterations : 1);",
      "return 1;",
    ],
    "a job that needs four nodes together",
    PROBE,
  ),
  mutant(
    "a job that comes before the stop is sent does not withdraw it",
    ["stops/still-idle.ts", "return (fact?.jobs.length ?? 0) > 0 ||", "return"],
    "a job that is reported meanwhile",
    SHORT_LIVES,
  ),
];
