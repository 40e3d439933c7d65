import type { Instant, Milliseconds, Seconds } from "../../domain/units.ts";
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
/** Slurm holds the job of a refused node for two minutes. Then it has chosen other nodes. */
const CHOSEN_AGAIN_SECONDS: Seconds = 180;

/**
 * The closures before, with those that the app's answer adds, and without those that are over. `refused`: names that no range has, with the reason
 * that Slurm is told.
 */
export function noteClosures(
  all: readonly CloudNode[],
  { kept, view, now }: Pick<Known, "kept" | "view" | "now">,
  refused: ReadonlyMap<string, string>,
): Kept["closures"] {
  const closures = new Map(kept.closures);
  const until = plusSeconds(now, OWN_CAUSE_SECONDS);
  for (const { name, place } of all) {
    const unmapped = refused.get(name);
    if (place === undefined && unmapped !== undefined) closures.set(name, { name, why: unmapped, until });
    const outcome = view.names.get(name);
    if (place === undefined || outcome?.state !== "refused") continue;
    const why = outcome.reason ?? "no room";
    if (outcome.holdsFor === "name") closures.set(name, { place, name, why, until });
    if (outcome.holdsFor === "everyone") closures.set(JSON.stringify(place), { place, why, refusedAt: now });
  }
  for (const [key, closure] of closures) if (isOver(closure, all, view, now)) closures.delete(key);
  return closures;
}

function isOver(closure: Closure, all: readonly CloudNode[], view: AppView, now: Instant): boolean {
  const { name, place, until } = closure;
  if (place !== undefined && view.modes.get(place.nodearray) !== "act") return true;
  if (name !== undefined || place === undefined) return (until ?? now) <= now;
  const [room, nodes] = [roomOf(place, all, view), nodesOf(place, all)];
  return room === undefined || (isWide(room, nodes, closure, now) && nodes.closed.length === 0);
}

/**
 * Whether there is room for all nodes of the place, or for some, and Slurm uses none, also for the jobs that were refused: then the next refusal
 * closes it again.
 */
function isWide(
  room: Room,
  { free, closed, used }: ReturnType<typeof nodesOf>,
  { refusedAt }: Closure,
  now: Instant,
): boolean {
  if (room.nodes <= 0) return false;
  const isLongAgo = refusedAt === undefined || now >= plusSeconds(refusedAt, CHOSEN_AGAIN_SECONDS);
  return (used.length === 0 && isLongAgo) || room.nodes >= free.length + closed.length;
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
    const { place } = closure;
    const nodes = nodesOf(place, all);
    const closable = nodes.free.filter(({ name }) => !taken.has(name));
    if (closure.name !== undefined || place === undefined) {
      for (const node of closable) if (node.name === closure.name) close(node, closure);
      continue;
    }
    const room = roomOf(place, all, view);
    if (room === undefined) continue;
    const told = room.until === undefined ? closure : { ...closure, until: room.until };
    // Those that are closed for a cause of their own stay.
    const ours = nodes.closed.filter(
      ({ name }) => kept.marks.has(name) && !kept.closures.has(name) && !kept.others.has(name),
    );
    const opensAll = isWide(room, nodes, closure, now);
    const opening = opensAll ? ours.length : Math.max(0, room.nodes - nodes.free.length);
    for (const { name } of ours.slice(0, opening))
      acts.push({ kind: "resume", name, why: "there is room again" });
    if (opensAll) continue;
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
  const ofArray = places.filter(({ nodearray }) => nodearray === place.nodearray);
  if (ofArray.length === 0) return undefined;
  const ofSize = ofArray.filter(
    ({ size }) => place.size === undefined || size.toLowerCase() === place.size.toLowerCase(),
  );
  // A group without nodes has no row of its own. An array that does not list the size has room for none.
  const ofGroup = ofSize.filter(({ group }) => group === place.group);
  const rows = ofGroup.length > 0 ? ofGroup : ofSize.filter(({ group }) => group === undefined);
  const sum = rows.reduce((nodes, row) => nodes + row.nodes, 0);
  const nodes = Math.min(sum, ...rows.map(({ shared }) => shared));
  const [until] = rows.flatMap((row) => row.until ?? []).toSorted((a, b) => a - b);
  return { nodes, ...(nodes > 0 || until === undefined ? {} : { until }) };
}

/** Nodes of a place: those that Slurm counts on, those that it could choose for the next job, and those that are closed by our mark. */
function nodesOf(place: Place | undefined, all: readonly CloudNode[]) {
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
