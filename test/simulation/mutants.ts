import type { Verdict } from "./verdict.ts";
import type { Kind } from "./kinds.ts";
import { LASTING_MUTANTS } from "./mutants-lasting.ts";
import { KEPT_STORM_MUTANTS } from "./mutants-kept.ts";
import { NAMED_STORM_MUTANTS } from "./mutants-named.ts";
import type { Edit } from "../support/mutate.ts";
import type { Weather } from "./weather.ts";
import { SWITCHED_OFF } from "./weather.ts";

/** The product with one rule of docs/protocol.md left out, as replacements in its text. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The number of the verdict that shows it. */
  readonly moves: keyof Verdict;
  /** Seeds to try. A number: as many from 1 on, about ten times as many as it took when this was written. */
  readonly seeds: number | readonly number[];
  /** The kind of weather that lasts in which it shows. */
  readonly kind?: Kind;
  /** Weather in which it shows more often. */
  readonly weather?: Partial<Weather>;
}

const STORM_MUTANTS: readonly Mutant[] = [
  {
    name: "effects are applied before they are committed",
    edits: [
      {
        in: "concluder",
        from: "made = decideOn(run, current, settled, observation, now);",
        to: "made = decideOn(run, current, settled, observation, now);\n    void applyIntents(run, made.decision.record.intents.filter((one) => one.owner === run.owner && one.committedAt === now), seen.templates);",
        needs: 'import { applyIntents } from "../effects/effects.ts";',
      },
    ],
    moves: "overshoot",
    seeds: 800,
    weather: { sets: 3, loss: 0.06, crash: 0.02 },
  },
  {
    name: "an old observation is decided on after a later one, or after another plan's creates",
    edits: [
      {
        in: "isOvertaken",
        from: "return !hasSameEffects(record, begun.effects) || isOlder;",
        to: "return false;",
      },
    ],
    moves: "overshoot",
    seeds: 2000,
    weather: { instances: 3, slow: 0.2, freeze: 0.004, crowd: false },
  },
  {
    name: "the list of a request is not asked for once its nodes show",
    edits: [
      {
        in: "followInFlight",
        from: "stillInFlight(entry) > 0 || entry.presumedAt !== undefined;",
        to: "stillInFlight(entry) > 0;",
      },
    ],
    moves: "shortAfterResync",
    seeds: [32, 171],
    weather: SWITCHED_OFF,
  },
  {
    name: "accepted creates are not counted until they show",
    edits: [
      {
        in: "afterAccepted",
        from: "if (added > 0) next = withInFlight(",
        to: "if (added < 0) next = withInFlight(",
      },
    ],
    moves: "overshoot",
    seeds: 100,
  },
  {
    name: "after an unclear outcome a new request id is used",
    edits: [
      {
        in: "settleCreate",
        from: 'case "absent": {',
        to: 'case "absent": {\n      if (intent.id !== undefined) return without;',
      },
      {
        in: "settleCreate",
        from: 'case "unclear": {',
        to: 'case "unclear": {\n      if (intent.id !== undefined) return without;',
      },
    ],
    moves: "overshoot",
    seeds: 1500,
  },
  {
    name: "a terminate is replayed",
    edits: [
      { in: "takeOver", from: 'if (intent.effect.kind === "terminate") return intent;', to: "" },
      { in: "resendIntents", from: 'intent.effect.kind !== "create" ||', to: "" },
      {
        in: "resendIntents",
        from: "!isWorthResending(intent",
        to: 'intent.effect.kind !== "terminate" && !isWorthResending(intent',
      },
      {
        in: "resendIntents",
        from: "if (!intent.effect.sets.every(",
        to: 'if (intent.effect.kind === "create" && !intent.effect.sets.every(',
      },
    ],
    moves: "stoppedNeeded",
    seeds: 300,
    weather: { crash: 0.05, sets: 3 },
  },
  {
    name: "a false empty answer is believed",
    edits: [
      {
        in: "withMissing",
        from: "isOver(lack, snapshot) ? [] : [{ ...node, missing: lack }]",
        to: "lack.since < 0 ? [{ ...node, missing: lack }] : []",
      },
    ],
    moves: "overshoot",
    seeds: 200,
  },
  {
    name: "the observation is repeated whenever a message was accepted meanwhile",
    edits: [
      {
        in: "begin",
        from: "effects: effectsOf(record),",
        to: "effects: effectsOf(record), sets: record.sets,",
      },
      {
        in: "isOvertaken",
        from: "return !hasSameEffects(record, begun.effects) ||",
        to: "return record.sets !== begun.sets ||",
      },
      { in: "saveAgain", from: "made.basis === basisOf(record)", to: 'made.basis === "mutant"' },
    ],
    moves: "shortAfterResync",
    seeds: 60,
    weather: { crowd: true, slow: 0.2 },
  },
  {
    name: "a node that asked goes without a look after its mark",
    edits: [
      {
        in: "confirmStops",
        from: "unhealthy, ...[...askers].filter((id) => free.spare.has(id))",
        to: "ours",
      },
    ],
    moves: "stoppedNeeded",
    seeds: 1000,
  },
  {
    name: "an idle node is stopped without a mark",
    edits: [
      {
        in: "judgeReady",
        from: 'return { kind: "mark", by: "idle" };',
        to: 'return { kind: "terminate", by: "idle" };',
      },
    ],
    moves: "stoppedNeeded",
    seeds: 2000,
    weather: { reports: true },
  },
  {
    name: "an idle node is stopped without a report after its mark",
    edits: [
      { in: "isConfirmed", from: "around.reportedIdleAt > draining.since", to: "around.reportedIdleAt > 0" },
      {
        in: "isConfirmed",
        from: "secondsBetween(around.reportedIdleAt, around.now) <= FRESH_REPORT_SECONDS",
        to: "around.now > 0",
      },
    ],
    moves: "stoppedNeeded",
    seeds: 4000,
    weather: { reports: true },
  },
  {
    name: "an unfit node that goes counts as a substitute for one that asks with it",
    edits: [
      {
        in: "judgeStops",
        from: "const askers = without(new Set(marks), sick);",
        to: "const askers = new Set(marks);",
      },
      {
        in: "worldWithout",
        from: "new Set([...unfit, ...replaced])",
        to: "replaced",
      },
      {
        in: "confirmStops",
        from: "const askers = without(new Set(going), sick);",
        to: "const askers = new Set(going);",
      },
    ],
    moves: "stoppedNeeded",
    seeds: 600,
    weather: { unfit: 0.2 },
  },
  {
    name: "a lease that has ended still holds",
    edits: [
      {
        in: "takeOver",
        from: "if (intent.leaseUntil > now && intent.owner !== owner)",
        to: "if (intent.owner !== owner)",
      },
      {
        in: "notBefore",
        from: 'create" && intent.owner !== owner && intent.leaseUntil > now',
        to: 'create" && intent.owner !== owner',
      },
    ],
    moves: "shortAfterResync",
    seeds: 500,
  },
  {
    name: "a stop that may be under way is forgotten before its lease has ended",
    edits: [{ in: "fateByStatus", from: 'return isPast ? "lost" : "open";', to: 'return "lost";' }],
    moves: "stoppedNeeded",
    seeds: 4000,
    weather: { instances: 3, slow: 0.2, freeze: 0.004, sets: 3 },
  },
  {
    name: "an owner sends after its lease has ended",
    edits: [{ in: "inTime", from: "isInTime() ? call(isInTime) : undefined", to: "call(() => true)" }],
    moves: "stoppedNeeded",
    seeds: 10000,
    weather: { freeze: 0.01 },
  },
  {
    name: "a node is taken for shown because its request lists it, though the status does not",
    edits: [{ in: "followInFlight", from: "found.nodes.filter(isKnown)", to: "found.nodes" }],
    moves: "overshoot",
    seeds: 1000,
  },
  {
    name: "a plan does not note which generation it has observed",
    edits: [
      {
        in: "isCovered",
        from: "record.observedGeneration === record.generation &&",
        to: "record.plan < 0 &&",
      },
    ],
    moves: "statusReads",
    seeds: 40,
  },
];

/** All mutants: those that storms find, and those that need weather that lasts. */
export const MUTANTS: readonly Mutant[] = [
  ...STORM_MUTANTS,
  ...LASTING_MUTANTS,
  ...KEPT_STORM_MUTANTS,
  ...NAMED_STORM_MUTANTS,
];
