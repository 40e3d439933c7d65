import type { Edit } from "../support/mutate.ts";

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

const mutant = (name: string, edit: Edit, scene: string, file = SCENES): DownMutant => ({
  name: `down: ${name}`,
  edits: [edit],
  file,
  scene,
});

export const DOWN_MUTANTS: readonly DownMutant[] = [
  mutant(
    "another status does not begin the clock again",
    {
      in: "nextDown",
      from: "if (how === undefined) return undefined;",
      to: "if (how === undefined) return old;",
    },
    "any other status begins its clock again",
  ),
  mutant(
    "a slow status counts",
    { in: "nextDown", from: "if (isSlow || old.observations", to: "if (old.observations" },
    "a status that took long",
  ),
  mutant(
    "one observation is enough",
    { in: "Judgement.timeOf", from: "down.observations < OBSERVATIONS_DOWN", to: "down.observations < 1" },
    "three observations are needed",
  ),
  mutant(
    "an outage does not begin the clock again",
    { in: "followDown", from: "isRestart ? undefined : known.down", to: "known.down" },
    "an outage of the app",
  ),
  mutant(
    "Unavailable is Off",
    {
      in: "howDown",
      from: 'if (phase === "failed") return "failed";',
      to: 'if (phase === "failed") return "off";',
    },
    "60 nodes that become Unavailable",
  ),
  mutant(
    "the bound counts only this plan",
    {
      in: "DownRoom.constructor",
      from: "secondsBetween(endedAt, now) < WINDOW_SECONDS",
      to: "secondsBetween(endedAt, now) < 0",
    },
    "of 100 nodes",
  ),
  mutant(
    "no bound for all arrays together",
    { in: "DownRoom.take", from: "?? this.#fullUntil(undefined, FEWEST_TOGETHER)", to: "" },
    "of twenty arrays of two",
  ),
  mutant(
    "a wave is more than half",
    { in: "SHARE_WAVE", from: "const SHARE_WAVE = 0.3;", to: "const SHARE_WAVE = 0.5;" },
    "half of 8",
  ),
  mutant(
    "no wave of all arrays together",
    {
      in: "countDown",
      from: "for (const scope of [undefined, known.array]) {",
      to: "for (const scope of [known.array]) {",
    },
    "one of each of 3 arrays",
  ),
  mutant(
    "many nodes of one array are no wave",
    { in: "MOST_OF_ARRAY", from: "const MOST_OF_ARRAY = 20;", to: "const MOST_OF_ARRAY = 2000;" },
    "25 of 100",
  ),
  mutant(
    "a wave does not wait an hour",
    { in: "Judgement.timeOf", from: "Math.max(WAVE_SECONDS, timeout)", to: "timeout" },
    "60 of 60",
  ),
  mutant(
    "the clocks go on after a wave",
    {
      in: "surveyDown",
      from: "restartAfterWaves(around.ledger, record.waves ?? [], waves, now)",
      to: "around.ledger",
    },
    "when it is over",
  ),
  {
    name: "down: deallocated nodes are in the denominator",
    edits: [
      {
        in: "isWanted",
        from: 'missing === undefined && (phase === "ready"',
        to: 'missing === undefined && (phase === "deallocated" || phase === "ready"',
      },
      {
        in: "membersOf",
        from: "if (known?.firstReadyAt === undefined || standing.notOurs",
        to: "if (known === undefined || standing.notOurs",
      },
    ],
    file: SCENES,
    scene: "4 of 10 that run beside a hundred",
  },
  mutant(
    "a job on it does not keep it",
    { in: "whyHeld", from: 'if (isBusy({ node, known }, on)) return "busy";', to: "" },
    "a report that names a job",
  ),
  mutant(
    "its own question does not keep it",
    {
      in: "whyHeld",
      from: 'if (!isOld && hasAskedRecently(question, now)) return "asked";',
      to: "",
    },
    "a question of its own",
  ),
  mutant(
    "a start by another tool is not waited for",
    { in: "Judgement.whyKept", from: 'if (isStarted(known, policy, now)) return "starting";', to: "" },
    "another tool starts it again",
  ),
  mutant(
    "the rest of its placement group does not count",
    { in: "Judgement.whyKept", from: "this.#groupsWithJobs().has(group) ?", to: "group.length < 0 ?" },
    "a member of a placement group",
  ),
  mutant(
    "a node that is to be deallocated is terminated",
    { in: "KEEPS", from: '"idle", "down"', to: '"idle"' },
    "a ShutdownPolicy of Deallocate",
  ),
  mutant(
    "an order ends what goes down later",
    { in: "Judgement.timeOf", from: "&& down.since <= at,", to: "&& at > 0," },
    "nothing that goes down later",
  ),
  mutant(
    "nothing brakes creates",
    { in: "pauseShortLived", from: "if (count < IN_A_ROW) continue;", to: "continue;" },
    "the third of a bucket in a row",
    SHORT_LIVES,
  ),
  mutant(
    "the pause is forgotten after half an hour",
    {
      in: "forgetOldBackoffs",
      from: '(cause === "went-down" ? PROBED_SECONDS : LONGEST_BACKOFF_SECONDS)',
      to: "1800",
    },
    "the pause is kept",
    SHORT_LIVES,
  ),
  mutant(
    "a refusal replaces the pause",
    { in: "pauseKey", from: '[cause === "went-down" ? cause : "", dynamic', to: '["", dynamic' },
    "a refusal of CycleCloud",
    SHORT_LIVES,
  ),
  mutant(
    "the pause stops growing after half an hour",
    { in: "backOff", from: 'cause === "went-down" ? LONGEST_PROBED_SECONDS :', to: "" },
    "two hours at most",
    SHORT_LIVES,
  ),
  mutant(
    "each placement group has a row of its own",
    {
      in: "wholeBucket",
      from: "{ array, machineType }: Node): BucketKey => ({ array, machineType })",
      to: "node: Node): BucketKey => node",
    },
    "in three placement groups",
    SHORT_LIVES,
  ),
  mutant(
    "the whole demand is tried after the pause",
    { in: "probeCharges", from: "let most = 1;", to: "let most = 1000;" },
    "one node is tried",
    PROBE,
  ),
  mutant(
    "another is tried while one boots",
    { in: "countTried", from: "return lastedAt(node, known, now) === undefined;", to: "return false;" },
    "no other while it boots",
    PROBE,
  ),
  mutant(
    "nodes that are down are tries",
    {
      in: "countTried",
      from: "known.down !== undefined || !serves",
      to: "node.name.length === 0",
    },
    "nor is one that is down",
    PROBE,
  ),
  mutant(
    "jobs of several nodes are never tried",
    { in: "nodesTogether", from: "demand.nodeCount ?? (demand.colocated ? demand.iterations : 1)", to: "1" },
    "a job that needs four nodes together",
    PROBE,
  ),
  mutant(
    "a job that comes before the stop is sent does not withdraw it",
    { in: "isContradicted", from: "return (fact?.jobs.length ?? 0) > 0 ||", to: "return" },
    "a job that is reported meanwhile",
    SHORT_LIVES,
  ),
];
