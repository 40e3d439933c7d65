import type { Edit } from "../support/mutate.ts";
import type { Mutant } from "./mutants.ts";
import type { DownMutant } from "./mutants-down.ts";

/** The rules for named nodes (docs/protocol.md), one left out each: those that a scene finds, and those that a scheduler in storms finds. */

const mutant = (name: string, edit: Edit, scene: string): DownMutant => ({
  name: `named: ${name}`,
  edits: [edit],
  file: "test/scenarios/named-nodes.test.ts",
  scene,
});

export const NAMED_MUTANTS: readonly DownMutant[] = [
  mutant(
    "a boot that was cancelled goes on",
    {
      in: "judgeBooting",
      from: 'isWithdrawn ? { kind: "mark", by: "idle" }',
      to: 'isWithdrawn ? { kind: "none" }',
    },
    "taken back before it was Ready is stopped at the second report",
  ),
  mutant(
    "a newer resume does not make a node an earlier one",
    {
      in: "begin",
      from: "node !== undefined && known?.firstReadyAt",
      to: "now < 0 && node !== undefined && known?.firstReadyAt",
    },
    "Ready before a newer resume",
  ),
  mutant(
    "a set under another rule for senders takes a name over",
    { in: "divideNames", from: "if (senders.length === 0 ||", to: "if (senders.length >= 0 ||" },
    "a set under another rule",
  ),
];

const inStorms = (mutation: Omit<Mutant, "kind" | "seeds">): Mutant => ({
  ...mutation,
  kind: "named",
  seeds: 100,
});

export const NAMED_STORM_MUTANTS: readonly Mutant[] = [
  inStorms({
    name: "a node is stopped though a set names it",
    edits: [
      {
        in: "circumstances",
        from: "spare: on.weighed.spare.has(node.nodeId)",
        to: 'spare: known.purpose.kind === "named" || on.weighed.spare.has(node.nodeId)',
      },
      { in: "staysAsItIs", from: "&& !spare.has(node.nodeId)", to: '&& known.purpose.kind !== "named"' },
    ],
    moves: "stoppedNeeded",
  }),
  inStorms({
    name: "a named node that was Ready and has gone is made again for the same resume",
    edits: [{ in: "followOne", from: "if (isIts && (", to: "if (now < 0 && isIts && (" }],
    moves: "overshoot",
  }),
  inStorms({
    name: "a node that its scheduler keeps is stopped",
    edits: [
      { in: "judgeNode", from: "(around.kept && !isStopping(standing))", to: "(around.plan < 0)" },
      { in: "isContradicted", from: "if (fact?.keep !== undefined) return true;", to: "" },
    ],
    moves: "stoppedNeeded",
  }),
  inStorms({
    name: "a report is as new as its message, whenever its sender read its scheduler",
    edits: [
      { in: "readEarlier", from: "readAt === undefined ||", to: "readAt === undefined || readAt > 0 ||" },
    ],
    moves: "stoppedNeeded",
  }),
  inStorms({
    name: "a boot that was cancelled is stopped at the first report",
    edits: [
      {
        in: "judgeBooting",
        from: 'isWithdrawn ? { kind: "mark", by: "idle" }',
        to: 'isWithdrawn ? { kind: "terminate", by: "idle" }',
      },
    ],
    moves: "stoppedNeeded",
  }),
  inStorms({
    name: "a node whose name was taken back stays",
    edits: [
      {
        in: "circumstances",
        from: "spare: on.weighed.spare.has(node.nodeId)",
        to: 'spare: known.purpose.kind !== "named" && on.weighed.spare.has(node.nodeId)',
      },
    ],
    moves: "leftBehind",
  }),
  inStorms({
    name: "other demand creates nodes in an array for named ones",
    edits: [{ in: "closedTo", from: "named === undefined", to: "moment.now < 0" }],
    moves: "overshoot",
  }),
];
