import type { Edit } from "../support/product-copy.ts";

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

const mutant = (
  name: string,
  [file, find, put]: readonly [file: string, find: string, put: string],
  proof: string,
  test: string,
): Mutant => ({ name, edits: [{ file, find, put }], file: proof, test });

export const MUTANTS: readonly Mutant[] = [
  mutant(
    "a message counts from when it was taken",
    [
      "src/decide/pace/outage.ts",
      "entry.acceptedAt <= after || saidAt(entry) <= after",
      "entry.acceptedAt <= after",
    ],
    MESSAGES,
    "by queue, without a revision",
  ),
  mutant(
    "its revision is never a time",
    ["src/decide/pace/outage.ts", "if (!isTime || revised >= sentAt)", "if (!isTime || revised > 0)"],
    MESSAGES,
    "a lower demand lay in front of it by PUT",
  ),
  mutant(
    "its revision is always a time",
    ["src/decide/pace/outage.ts", "<= DAY_SECONDS;", "<= 1000 * DAY_SECONDS;"],
    MESSAGES,
    "a number that is no time",
  ),
  mutant(
    "a renewal counts at once",
    [
      "src/decide/record/accept.ts",
      "isApart ? held.sentAt : held.repeatedAt",
      "isApart ? sentAt : held.repeatedAt",
    ],
    MESSAGES,
    "a pure renewal lay there",
  ),
  mutant(
    "two renewals count that were taken together",
    [
      "src/decide/record/accept.ts",
      "const APART_SECONDS: Seconds = 30;",
      "const APART_SECONDS: Seconds = 0;",
    ],
    MESSAGES,
    "two lay there and are taken",
  ),
  mutant(
    "renewals never count",
    [
      "src/decide/pace/outage.ts",
      "repeatedAt > revised ? repeatedAt : revised",
      "repeatedAt < revised ? repeatedAt : revised",
    ],
    MESSAGES,
    "the time of its last change",
  ),
  mutant(
    "two observations are enough",
    ["src/decide/nodes/missing.ts", "const MISSING_OBSERVATIONS = 3;", "const MISSING_OBSERVATIONS = 2;"],
    PARTS,
    "lack five nodes",
  ),
  mutant(
    "three observations are enough, however close",
    [
      "src/decide/nodes/missing.ts",
      "const MISSING_SECONDS: Seconds = 60;",
      "const MISSING_SECONDS: Seconds = 0;",
    ],
    DOUBT,
    "demand brings an observation each 8 s",
  ),
  mutant(
    "a node array is gone after 60 s, however few the observations",
    [
      "src/decide/nodes/missing.ts",
      "if (isOver(lack, snapshot)) return [];",
      "if (isOver({ ...lack, observations: 3 }, snapshot)) return [];",
    ],
    PARTS,
    "lack a node array",
  ),
  mutant(
    "what is missing is looked for at the next tick only",
    ["src/app/reconcile/save-plan.ts", "waitsForStops !== true && !lacksAny(seen)", "waitsForStops !== true"],
    DOUBT,
    "a node of a quiet cluster is gone",
  ),
  mutant(
    "a stop is written however late",
    [
      "src/app/effects/effects.ts",
      "site.cyclecloud.terminate(site.cluster, intent.id, effect.nodes, isInTime)",
      "site.cyclecloud.terminate(site.cluster, intent.id, effect.nodes, () => isInTime() || true)",
    ],
    MESSAGES,
    "of a stop",
  ),
  mutant(
    "a create is written however late",
    [
      "src/app/effects/effects.ts",
      "site.cyclecloud.create(site.cluster, request, isInTime)",
      "site.cyclecloud.create(site.cluster, request, () => isInTime() || true)",
    ],
    MESSAGES,
    "of a create",
  ),
  {
    name: "the clock is looked at before there is a connection",
    edits: [
      {
        file: "src/adapters/cyclecloud/http-exchange.ts",
        find: "    const answer = await pool",
        put: "    look();\n    const answer = await pool",
      },
      {
        file: "src/adapters/cyclecloud/http-exchange.ts",
        find: "if (!controller.aborted) look();",
        put: "",
      },
    ],
    file: WRITTEN,
    test: "a host that stands still after the look has written it",
  },
  mutant(
    "what was not written may have been",
    ["src/app/effects/effects.ts", '  if (error.notSent) return { kind: "not-sent" };\n', ""],
    MESSAGES,
    "its node is told so at once",
  ),
  mutant(
    "a question's age counts from its arrival",
    [
      "src/decide/autostop/note-verdicts.ts",
      "const { knownMs = 0 } = clock ?? {};",
      "const { knownMs = behindMs } = clock ?? {};",
    ],
    MESSAGES,
    "for 220 s",
  ),
  mutant(
    "a question of a clock that is not known may be 120 s late",
    [
      "src/decide/autostop/note-verdicts.ts",
      "const { knownMs = 0 } = clock ?? {};",
      "const { knownMs = behindMs > 120_000 ? 0 : behindMs } = clock ?? {};",
    ],
    MESSAGES,
    "are not known and are",
  ),
  mutant(
    "questions that waited one after the other agree",
    ["src/decide/autostop/note-verdicts.ts", "1000 * apart >= clock.behindMs;", "1000 * apart < 0;"],
    MESSAGES,
    "for 300 s, twice",
  ),
  mutant(
    "a question that seems early is taken",
    [
      "src/decide/autostop/note-verdicts.ts",
      "Math.abs(behindMs - knownMs) > AGREE_MS;",
      "behindMs - knownMs > AGREE_MS;",
    ],
    MESSAGES,
    "were set by 300 s",
  ),
  mutant(
    "a node that is told to stay keeps the mark of its last question",
    [
      "src/decide/autostop/note-verdicts.ts",
      "} else if (isStay(verdict)) {",
      "} else if (isStay(verdict) && !isMarked) {",
    ],
    STOPS,
    "and another tells the node to stay",
  ),
];
