import type { Edit } from "../support/mutate.ts";

/** The product without one half of a rule about what waited, and the test that must fail then. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly file: string;
  /** Part of the name of at least one test that must fail. */
  readonly test: string;
}

const MESSAGES = "test/scenarios/messages.test.ts";
const DOUBT = "test/scenarios/doubt.test.ts";
const PARTS = "test/scenarios/missing-parts.test.ts";
const STOPS = "test/scenarios/lost-stops.test.ts";
const WRITTEN = "test/adapters/cyclecloud/written-in-time.test.ts";

const mutant = (name: string, edit: Edit, proof: string, test: string): Mutant => ({
  name,
  edits: [edit],
  file: proof,
  test,
});

export const MUTANTS: readonly Mutant[] = [
  mutant(
    "a message counts from when it was taken",
    {
      in: "stillAwaited",
      from: "entry.acceptedAt <= after || saidAt(entry) <= after",
      to: "entry.acceptedAt <= after",
    },
    MESSAGES,
    "by queue, without a revision",
  ),
  mutant(
    "its revision is never a time",
    { in: "saidAt", from: "if (!isTime || revised >= sentAt)", to: "if (!isTime || revised > 0)" },
    MESSAGES,
    "a lower demand lay in front of it by PUT",
  ),
  mutant(
    "its revision is always a time",
    { in: "saidAt", from: "<= DAY_SECONDS;", to: "<= 1000 * DAY_SECONDS;" },
    MESSAGES,
    "a number that is no time",
  ),
  mutant(
    "a renewal counts at once",
    {
      in: "repeatOf",
      from: "isApart ? held.sentAt : held.repeatedAt",
      to: "isApart ? sentAt : held.repeatedAt",
    },
    MESSAGES,
    "a pure renewal lay there",
  ),
  mutant(
    "two renewals count that were taken together",
    {
      in: "APART_SECONDS",
      from: "const APART_SECONDS: Seconds = 30;",
      to: "const APART_SECONDS: Seconds = 0;",
      file: "src/decide/record/accept.ts",
    },
    MESSAGES,
    "two lay there and are taken",
  ),
  mutant(
    "renewals never count",
    {
      in: "saidAt",
      from: "repeatedAt > revised ? repeatedAt : revised",
      to: "repeatedAt < revised ? repeatedAt : revised",
    },
    MESSAGES,
    "the time of its last change",
  ),
  mutant(
    "two observations are enough",
    {
      in: "MISSING_OBSERVATIONS",
      from: "const MISSING_OBSERVATIONS = 3;",
      to: "const MISSING_OBSERVATIONS = 2;",
    },
    PARTS,
    "lack five nodes",
  ),
  mutant(
    "three observations are enough, however close",
    {
      in: "MISSING_SECONDS",
      from: "const MISSING_SECONDS: Seconds = 60;",
      to: "const MISSING_SECONDS: Seconds = 0;",
    },
    DOUBT,
    "demand brings an observation each 8 s",
  ),
  mutant(
    "a node array is gone after 60 s, however few the observations",
    {
      in: "withMissingArrays",
      from: "if (isOver(lack, snapshot)) return [];",
      to: "if (isOver({ ...lack, observations: 3 }, snapshot)) return [];",
    },
    PARTS,
    "lack a node array",
  ),
  mutant(
    "what is missing is looked for at the next tick only",
    { in: "followUpOf", from: "waitsForStops !== true && !lacksAny(seen)", to: "waitsForStops !== true" },
    DOUBT,
    "a node of a quiet cluster is gone",
  ),
  mutant(
    "a stop is written however late",
    {
      in: "sendTerminate",
      from: "(site.cluster, intent.id, effect.nodes, isInTime",
      to: "(site.cluster, intent.id, effect.nodes, () => isInTime() || true",
    },
    MESSAGES,
    "of a stop",
  ),
  mutant(
    "a create is written however late",
    {
      in: "sendCreate",
      from: "site.cyclecloud.create(site.cluster, request, isInTime)",
      to: "site.cyclecloud.create(site.cluster, request, () => isInTime() || true)",
    },
    MESSAGES,
    "of a create",
  ),
  {
    name: "the clock is looked at before there is a connection",
    edits: [
      { in: "exchange", from: "const answer = await pool", to: "look();\n    const answer = await pool" },
      { in: "checkBeforeWrite", from: "if (!controller.aborted) look();", to: "" },
    ],
    file: WRITTEN,
    test: "a host that stands still after the look has written it",
  },
  mutant(
    "what was not written may have been",
    { in: "afterError", from: 'if (error.notSent) return { kind: "not-sent" };', to: "" },
    MESSAGES,
    "its node is told so at once",
  ),
  mutant(
    "a question's age counts from its arrival",
    {
      in: "isHeldUp",
      from: "const { knownMs = 0 } = clock ?? {};",
      to: "const { knownMs = behindMs } = clock ?? {};",
    },
    MESSAGES,
    "for 220 s",
  ),
  mutant(
    "a question of a clock that is not known may be 120 s late",
    {
      in: "isHeldUp",
      from: "const { knownMs = 0 } = clock ?? {};",
      to: "const { knownMs = behindMs > 120_000 ? 0 : behindMs } = clock ?? {};",
    },
    MESSAGES,
    "are not known and are",
  ),
  mutant(
    "two questions prove that a clock is behind",
    { in: "clockAfter", from: "Math.min(0, clock.behindMs)", to: "clock.behindMs" },
    MESSAGES,
    "for 300 s, twice",
  ),
  mutant(
    "two questions agree on more than the smallest difference allows",
    { in: "clockAfter", from: "? behindMs : before;", to: "? behindMs : behindMs;" },
    "test/decide/autostop/node-clock.test.ts",
    "two that waited as long in front",
  ),
  mutant(
    "a question that seems early is taken",
    {
      in: "isHeldUp",
      from: "Math.abs(behindMs - knownMs) > AGREE_MS;",
      to: "behindMs - knownMs > AGREE_MS;",
    },
    MESSAGES,
    "were set by 300 s",
  ),
  mutant(
    "a node that is told to stay keeps the mark of its last question",
    {
      in: "noteVerdicts",
      from: "} else if (isStay(verdict)) {",
      to: "} else if (isStay(verdict) && !isMarked) {",
    },
    STOPS,
    "and another tells the node to stay",
  ),
];
