import type { Edit } from "../support/mutate.ts";
import type { Mutant } from "./mutants.ts";
import type { DownMutant } from "./mutants-down.ts";
import { DEALLOCATING } from "./weather.ts";

/** The rules for deallocated nodes (docs/protocol.md), one left out each: those that a scene finds, and those that storms find. */

const SCENES = "test/scenarios/stopped-not-gone.test.ts";

const mutant = (name: string, edit: Edit, scene: string, file = SCENES): DownMutant => ({
  name: `deallocated: ${name}`,
  edits: [edit],
  file,
  scene,
});

export const KEPT_MUTANTS: readonly DownMutant[] = [
  mutant(
    "the node array's ShutdownPolicy counts for nothing",
    { in: "nodesToDeallocate", from: "if (arrays.size === 0) return new Set();", to: "return new Set();" },
    "ShutdownPolicy Deallocate",
  ),
  mutant(
    "a broken node is deallocated, too",
    { in: "KEEPS", from: '"callback", "idle"', to: '"callback", "unhealthy", "idle"' },
    "one that calls itself unhealthy",
  ),
  mutant(
    "an end is accepted because the node is deallocated",
    { in: "fateByStatus", from: 'if (!isPast) return "open";', to: 'return "accepted";' },
    "what should end it may still arrive",
    "test/decide/intents/stops.test.ts",
  ),
  mutant(
    "a deallocation is accepted at once",
    {
      in: "fateByStatus",
      from: 'if (!isPast) return "open";',
      to: 'if (act !== undefined) return "accepted";',
    },
    "another tool starts it at once",
  ),
  mutant(
    "an open end does not keep the node from being started",
    { in: "clearKind", from: "notOurs === true || open === true", to: "notOurs === true" },
    "it is not started while the end may arrive",
  ),
  mutant(
    "a question without a time counts after a start",
    { in: "judgeRestart", from: "if (isTimed ||", to: "if (now > 0 || isTimed ||" },
    "begins no stop",
  ),
  mutant(
    "a node that shut itself down is started",
    { in: "mayBeStarted", from: 'known?.kept?.by !== "down"', to: "true" },
    "demand does not start it",
  ),
  mutant(
    "a refused start pauses its bucket",
    { in: "settleStart", from: '&& evidence.kind === "refused")', to: ")" },
    "refused for all of three",
    "test/scenarios/deallocated-refused.test.ts",
  ),
  mutant(
    "nodes that a person deallocated are ended",
    {
      in: "surveyKept",
      from: "if (known.kept.by === undefined && !deallocating.has(node.array)) return;",
      to: "",
    },
    "where a person deallocated it",
  ),
  mutant(
    "nodes end for quota that serves nothing",
    { in: "holdersOf", from: "return isBetter && !trials.isOver ? chosen : [];", to: "return all;" },
    "as many as are needed",
  ),
  mutant(
    "deallocated nodes hold quota whatever CycleCloud counts",
    { in: "withQuota", from: "Math.max(0, Math.min(amount, held))", to: "amount" },
    "its quota was given away meanwhile",
    "test/scenarios/deallocated-refused.test.ts",
  ),
];

const weather = { ...DEALLOCATING, stormSeconds: 3600 };

export const KEPT_STORM_MUTANTS: readonly Mutant[] = [
  {
    name: "a node whose start is under way counts twice against its quota",
    edits: [{ in: "goingIn", from: 'if (standing.kind === "starting") return [nodeId];', to: "" }],
    moves: "endedInVain",
    seeds: [81],
    weather,
  },
  {
    name: "deallocated nodes never end",
    edits: [{ in: "overdue", from: "at !== undefined && at <= now", to: "at === undefined" }],
    moves: "keptTooLong",
    seeds: 20,
    weather,
  },
  {
    name: "new nodes are created before deallocated ones are started",
    edits: [{ in: "mayBeStarted", from: 'node.phase === "deallocated" &&', to: 'node.phase === "off" &&' }],
    moves: "besideStopped",
    seeds: 20,
    weather,
  },
];
