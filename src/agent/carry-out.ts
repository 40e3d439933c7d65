import { foldHostList } from "../domain/host-list.ts";
import type { Milliseconds } from "../domain/units.ts";
import type { RunCommand } from "./commands.ts";
import { readNodes } from "./slurm/read-nodes.ts";
import type { Act } from "./slurm/acts.ts";
import type { Notice } from "./slurm/reconcile.ts";
import type { CloudNode } from "./slurm/cloud-node.ts";

/** What acts need of the machine. */
export interface Hands {
  readonly run: RunCommand;
  /** Starts a program that goes on by itself. */
  readonly start: (program: string, words: readonly string[]) => void;
  readonly log: (line: string) => void;
  readonly previousSuspend?: string;
}

/** `scontrol update` with that many names at a time. */
const MOST_NAMES = 500;

/** Carries out acts, those that say the same together. Returns those that Slurm took. */
export async function carryOut(
  acts: readonly Act[],
  all: readonly CloudNode[],
  hands: Hands,
): Promise<readonly Act[]> {
  const done: Act[] = [];
  const groups = Map.groupBy(acts, ({ kind, reason, why }) => JSON.stringify([kind, reason, why]));
  for (const group of groups.values())
    for (let at = 0; at < group.length; at += MOST_NAMES)
      done.push(...(await carryOutAlike(group.slice(at, at + MOST_NAMES), all, hands)));
  return done;
}

async function carryOutAlike(
  group: readonly Act[],
  all: readonly CloudNode[],
  hands: Hands,
): Promise<readonly Act[]> {
  const [first] = group;
  if (first === undefined) return [];
  const same = await unchanged(group, all, hands.run);
  if (same.length === 0) return [];
  const list = foldHostList(same.map(({ name }) => name));
  if (first.kind === "hand-on") {
    if (hands.previousSuspend === undefined) return [];
    hands.start(hands.previousSuspend, [list]);
    hands.log(`${list}: suspend is handed on to ${hands.previousSuspend}: ${first.why}`);
    return same;
  }
  const words = ["update", `nodename=${list}`, `state=${STATES[first.kind]}`];
  const end = await hands.run(
    "scontrol",
    first.reason === undefined ? words : [...words, `reason=${first.reason}`],
  );
  if (end.kind === "failed") {
    hands.log(`${list}: ${STATES[first.kind]} failed: ${end.why}`);
    return [];
  }
  hands.log(`${list}: ${STATES[first.kind]}: ${first.why}`);
  return same;
}

const STATES = {
  "power-down-force": "power_down_force",
  "power-down": "power_down",
  down: "down",
  resume: "resume",
} as const;

/** Flags that change of themselves and mean nothing here. */
const PASSING = new Set(["PLANNED", "RESERVED", "COMPLETING"]);

/** The acts whose node is still as it was when they were decided. */
async function unchanged(
  group: readonly Act[],
  all: readonly CloudNode[],
  run: RunCommand,
): Promise<readonly Act[]> {
  const was = new Map(all.map(({ name, node }) => [name, stateText(node)]));
  const shown = await run("scontrol", ["show", "nodes", foldHostList(group.map(({ name }) => name))]);
  const nodes = shown.kind === "said" ? readNodes(shown.text) : undefined;
  const is = new Map((nodes ?? []).map((node) => [node.name, stateText(node)]));
  return group.filter(({ name }) => is.has(name) && is.get(name) === was.get(name));
}

function stateText({ base, flags, reason }: CloudNode["node"]): string {
  return JSON.stringify([base, [...flags].filter((flag) => !PASSING.has(flag)).toSorted(), reason]);
}

/** A job is notified once for each cause and hour. */
export const NOTIFIED_MS: Milliseconds = 3_600_000;

/** Tells a job why it waits: in its AdminComment, and if `notify` on its user's terminal. */
export async function tellJob({ job, text }: Notice, notify: boolean, { run, log }: Hands): Promise<void> {
  const end = await run("scontrol", ["update", `jobid=${job}`, `admincomment=${text}`]);
  log(end.kind === "said" ? `job ${job} is told: ${text}` : `job ${job} is not told: ${end.why}`);
  // A batch job that does not run has no terminal: Slurm refuses, and that is no failure.
  if (notify) await run("scontrol", ["notify", job, text]);
}

/** Whether each job may be requeued. A job of which nothing is known is left out. */
export async function readRequeues(
  jobs: Iterable<string>,
  run: RunCommand,
): Promise<ReadonlyMap<string, boolean>> {
  const requeues = new Map<string, boolean>();
  for (const id of new Set(jobs)) {
    const shown = await run("scontrol", ["show", "job", id]);
    // An array shows all its tasks, which are alike in this.
    const requeue = shown.kind === "said" ? /^ +Requeue=([01]) /m.exec(shown.text)?.[1] : undefined;
    if (requeue !== undefined) requeues.set(id, requeue === "1");
  }
  return requeues;
}
