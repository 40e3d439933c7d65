import type { Milliseconds, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { AppView, Room } from "./app-view.ts";
import type { CloudNode } from "./cloud-node.ts";
import type { Closure, Kept } from "./kept.ts";
import type { Place } from "./mapping.ts";
import { isWanted } from "./demand.ts";
import { markEnd, markReason } from "./marks.ts";
import type { Act, Known } from "./acts.ts";

/**
 * Powered-down nodes that are set DOWN because they could not be had, so that Slurm picks others. The names of a refusal leave their set at once, and
 * their jobs come back after Slurm's hold: so the refusal is remembered until the app says that there is room.
 */

/** How long a name that CycleCloud refuses is DOWN. Without an end, nobody would try it again. */
const OWN_CAUSE_SECONDS: Seconds = 600;
/** A limit has no end that is known: its marks end after this time, and are renewed while there is no room. */
const LIMIT_SECONDS: Seconds = 60;
const RENEW_MS: Milliseconds = 30_000;

/** The closures before, with those that the app's answer adds, and without those that are over. */
export function noteClosures(
  all: readonly CloudNode[],
  { kept, view, now }: Pick<Known, "kept" | "view" | "now">,
): Kept["closures"] {
  const closures = new Map(kept.closures);
  for (const { name, place } of all) {
    const outcome = view.names.get(name);
    if (place === undefined || outcome?.state !== "refused") continue;
    const why = outcome.reason ?? "no room";
    if (outcome.holdsFor === "name")
      closures.set(name, { place, name, why, until: plusSeconds(now, OWN_CAUSE_SECONDS) });
    if (outcome.holdsFor === "everyone") closures.set(JSON.stringify(place), { place, why });
  }
  for (const [key, closure] of closures) {
    const room = roomOf(closure.place, all, view);
    const nodes = nodesOf(closure.place, all);
    const isEmpty = room === undefined || (isWide(room, nodes) && nodes.closed.length === 0);
    const isOver = closure.name === undefined ? isEmpty : (closure.until ?? now) <= now;
    if (isOver || view.modes.get(closure.place.nodearray) !== "act") closures.delete(key);
  }
  return closures;
}

/** Whether there is room for all nodes of the place, or for some, and Slurm uses none: then the next refusal closes it again. */
function isWide(room: Room, { free, closed, used }: ReturnType<typeof nodesOf>): boolean {
  return room.nodes >= free.length + closed.length || (room.nodes > 0 && used.length === 0);
}

/** Closes as many nodes as there is no room for, keeps those closed, and opens as many as there is room for again. */
export function closeNodes(
  all: readonly CloudNode[],
  { kept, view, now }: Known,
  taken: ReadonlySet<string>,
): readonly Act[] {
  const acts: Act[] = [];
  const close = ({ name }: CloudNode, { why, until = plusSeconds(now, LIMIT_SECONDS) }: Closure): void => {
    // A person has opened it.
    if (kept.opened.has(name)) return;
    acts.push({ kind: "down", name, reason: markReason(why, until), until, why });
  };
  for (const closure of kept.closures.values()) {
    const nodes = nodesOf(closure.place, all);
    const closable = nodes.free.filter(({ name }) => !taken.has(name));
    if (closure.name !== undefined) {
      for (const node of closable) if (node.name === closure.name) close(node, closure);
      continue;
    }
    const room = roomOf(closure.place, all, view);
    if (room === undefined) continue;
    const told = room.until === undefined ? closure : { ...closure, until: room.until };
    // Those that are closed for a cause of their own stay.
    const ours = nodes.closed.filter(
      ({ name }) => kept.marks.has(name) && !kept.closures.has(name) && !kept.others.has(name),
    );
    const isOver = isWide(room, nodes);
    const opening = isOver ? ours.length : Math.max(0, room.nodes - nodes.free.length);
    for (const { name } of ours.slice(0, opening))
      acts.push({ kind: "resume", name, why: "there is room again" });
    if (isOver) continue;
    for (const node of closable.slice(room.nodes)) close(node, told);
    for (const node of ours.slice(opening))
      if ((markEnd(node.node.reason) ?? now) - now < RENEW_MS && room.until === undefined) close(node, told);
  }
  return acts;
}

/** What the app says of a place: of a name that is refused there, else of its sizes. Undefined: it says nothing. */
function roomOf(place: Place, all: readonly CloudNode[], { names, places }: AppView): Room | undefined {
  const key = JSON.stringify(place);
  for (const node of all) {
    const { room, until, state, holdsFor } = names.get(node.name) ?? {};
    if (state !== "refused" || holdsFor !== "everyone" || room === undefined) continue;
    if (JSON.stringify(node.place) === key) return { nodes: room, ...(until === undefined ? {} : { until }) };
  }
  const rows = places.filter(
    ({ nodearray, size, group }) =>
      nodearray === place.nodearray &&
      (place.size === undefined || size.toLowerCase() === place.size.toLowerCase()) &&
      group === place.group,
  );
  if (rows.length === 0) return undefined;
  const sum = rows.reduce((nodes, row) => nodes + row.nodes, 0);
  const nodes = Math.min(sum, ...rows.map(({ shared }) => shared));
  const [until] = rows.flatMap((row) => row.until ?? []).toSorted((a, b) => a - b);
  return { nodes, ...(nodes > 0 || until === undefined ? {} : { until }) };
}

/** Nodes of a place: those that Slurm counts on, those that it could choose for the next job, and those that are closed by our mark. */
function nodesOf(place: Place, all: readonly CloudNode[]) {
  const key = JSON.stringify(place);
  const there = all.filter((one) => JSON.stringify(one.place) === key);
  const off = there.filter(
    ({ phase, jobs, node }) => phase === "off" && jobs.length === 0 && !node.flags.has("DRAIN"),
  );
  return {
    used: there.filter(isWanted),
    free: off.filter(({ node }) => node.base === "IDLE"),
    closed: off.filter(({ node }) => node.base === "DOWN" && markEnd(node.reason) !== undefined),
  };
}
