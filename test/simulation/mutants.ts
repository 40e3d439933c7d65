import type { Verdict } from "./verdict.ts";
import type { Kind } from "./kinds.ts";
import { LASTING_MUTANTS } from "./mutants-lasting.ts";
import type { Edit } from "../support/product-copy.ts";
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
        file: "src/app/reconcile/conclude-observation.ts",
        find: 'import type { Finding } from "../effects/effects.ts";\n',
        put: 'import type { Finding } from "../effects/effects.ts";\nimport { applyIntents } from "../effects/effects.ts";\n',
      },
      {
        file: "src/app/reconcile/conclude-observation.ts",
        find: "    made = decideOn(run, current, settled, observation, now);\n",
        put: "    made = decideOn(run, current, settled, observation, now);\n    void applyIntents(run, made.decision.record.intents.filter((one) => one.owner === run.owner && one.committedAt === now), seen.templates);\n",
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
        file: "src/app/reconcile/conclude-observation.ts",
        find: "return !hasSameEffects(record, begun.effects) || isOlder;",
        put: "return false;",
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
        file: "src/decide/intents/in-flight.ts",
        find: "stillInFlight(entry) > 0 || entry.presumedAt !== undefined;",
        put: "stillInFlight(entry) > 0;",
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
        file: "src/decide/intents/settle-create.ts",
        find: "    if (added > 0) next = withInFlight(",
        put: "    if (added < 0) next = withInFlight(",
      },
    ],
    moves: "overshoot",
    seeds: 100,
  },
  {
    name: "after an unclear outcome a new request id is used",
    edits: [
      {
        file: "src/decide/intents/settle-create.ts",
        find: '    case "absent": {\n',
        put: '    case "absent": {\n      if (intent.id !== undefined) return without;\n',
      },
      {
        file: "src/decide/intents/settle-create.ts",
        find: '    case "unclear": {\n',
        put: '    case "unclear": {\n      if (intent.id !== undefined) return without;\n',
      },
    ],
    moves: "overshoot",
    seeds: 1500,
  },
  {
    name: "a terminate is replayed",
    edits: [
      {
        file: "src/decide/record/whose-turn.ts",
        find: '    if (intent.effect.kind === "terminate") return intent;\n',
        put: "",
      },
      { file: "src/app/effects/effects.ts", find: '    intent.effect.kind !== "create" ||\n', put: "" },
    ],
    moves: "stoppedNeeded",
    seeds: 300,
    weather: { crash: 0.05, sets: 3 },
  },
  {
    name: "a false empty answer is believed",
    edits: [
      {
        file: "src/decide/nodes/missing.ts",
        find: "isOver(lack, snapshot) ? [] : [{ ...node, missing: lack }]",
        put: "lack.since < 0 ? [{ ...node, missing: lack }] : []",
      },
    ],
    moves: "overshoot",
    seeds: 200,
  },
  {
    name: "the observation is repeated whenever a message was accepted meanwhile",
    edits: [
      {
        file: "src/app/reconcile/reserve-observation.ts",
        find: "effects: effectsOf(record),",
        put: "effects: effectsOf(record), sets: record.sets,",
      },
      {
        file: "src/app/reconcile/conclude-observation.ts",
        find: "return !hasSameEffects(record, begun.effects) || ",
        put: "return record.sets !== begun.sets || ",
      },
      {
        file: "src/app/reconcile/conclude-observation.ts",
        find: "made.basis === basisOf(record)",
        put: 'made.basis === "mutant"',
      },
    ],
    moves: "shortAfterResync",
    seeds: 60,
    weather: { crowd: true, slow: 0.2 },
  },
  {
    name: "a node that asked goes without a look after its mark",
    edits: [
      {
        file: "src/decide/autostop/confirm-stops.ts",
        find: "[...unhealthy, ...[...askers].filter((id) => free.spare.has(id))]",
        put: "[...ours]",
      },
    ],
    moves: "stoppedNeeded",
    seeds: 1000,
  },
  {
    name: "an idle node is stopped without a mark",
    edits: [
      {
        file: "src/decide/stops/scale-down.ts",
        find: '  return { kind: "mark", by: "idle" };',
        put: '  return { kind: "terminate", by: "idle" };',
      },
    ],
    moves: "stoppedNeeded",
    seeds: 2000,
    weather: { reports: true },
  },
  {
    name: "an idle node is stopped without a report after its mark",
    edits: [
      {
        file: "src/decide/stops/scale-down.ts",
        find: "around.reportedIdleAt > draining.since",
        put: "around.reportedIdleAt > 0",
      },
      {
        file: "src/decide/stops/scale-down.ts",
        find: "secondsBetween(around.reportedIdleAt, around.now) <= FRESH_REPORT_SECONDS",
        put: "around.now > 0",
      },
    ],
    moves: "stoppedNeeded",
    seeds: 4000,
    weather: { reports: true },
  },
  {
    name: "a node that is told to stay keeps the mark of its last question",
    edits: [
      {
        file: "src/decide/autostop/note-verdicts.ts",
        find: "    } else if (isStay(verdict)) {",
        put: "    } else if (isStay(verdict) && !isMarked) {",
      },
    ],
    moves: "overshoot",
    seeds: 4000,
    weather: { reports: false, crash: 0.02, sets: 3, unfit: 0 },
  },
  {
    name: "an unfit node that goes counts as a substitute for one that asks with it",
    edits: [
      {
        file: "src/decide/autostop/judge-stops.ts",
        find: "const askers = without(new Set(marks), sick);",
        put: "const askers = new Set(marks);",
      },
      {
        file: "src/decide/autostop/spare-nodes.ts",
        find: "excluded: unfit,",
        put: "excluded: NO_NODES,",
      },
      {
        file: "src/decide/autostop/confirm-stops.ts",
        find: "const askers = without(new Set(going), sick);",
        put: "const askers = new Set(going);",
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
        file: "src/decide/record/whose-turn.ts",
        find: "if (intent.leaseUntil > now && intent.owner !== owner) return intent;",
        put: "if (intent.owner !== owner) return intent;",
      },
      {
        file: "src/decide/record/whose-turn.ts",
        find: 'intent.effect.kind === "create" && intent.owner !== owner && intent.leaseUntil > now',
        put: 'intent.effect.kind === "create" && intent.owner !== owner',
      },
    ],
    moves: "shortAfterResync",
    seeds: 500,
  },
  {
    name: "a stop that may be under way is forgotten before its lease has ended",
    edits: [
      {
        file: "src/decide/intents/stops.ts",
        find: 'return isPast ? "lost" : "open";',
        put: 'return "lost";',
      },
    ],
    moves: "stoppedNeeded",
    seeds: 4000,
    weather: { instances: 3, slow: 0.2, freeze: 0.004, sets: 3 },
  },
  {
    name: "an owner sends after its lease has ended",
    edits: [
      {
        file: "src/app/effects/effects.ts",
        find: "isInTime() ? call(isInTime) : undefined",
        put: "call(() => true)",
      },
    ],
    moves: "stoppedNeeded",
    seeds: 10000,
    weather: { freeze: 0.01 },
  },
  {
    name: "a node is taken for shown because its request lists it, though the status does not",
    edits: [
      {
        file: "src/decide/intents/in-flight.ts",
        find: "found.nodes.filter(isKnown)",
        put: "found.nodes",
      },
    ],
    moves: "overshoot",
    seeds: 1000,
  },
  {
    name: "a plan does not note which generation it has observed",
    edits: [
      {
        file: "src/decide/record/whose-turn.ts",
        find: "    record.observedGeneration === record.generation &&\n",
        put: "    record.plan < 0 &&\n",
      },
    ],
    moves: "statusReads",
    seeds: 40,
  },
];

/** All mutants: those that storms find, and those that need weather that lasts. */
export const MUTANTS: readonly Mutant[] = [...STORM_MUTANTS, ...LASTING_MUTANTS];
