import type { Instant, Milliseconds, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { Mode, NameOutcome } from "./app-view.ts";
import type { Kept } from "./kept.ts";
import type { Place } from "./mapping.ts";
import { whyUnmapped } from "./mapping.ts";
import { markEnd, markReason, tellable, MARK } from "./marks.ts";
import type { CloudNode } from "./cloud-node.ts";
import { SLURMS_REASONS } from "./cloud-node.ts";
import { closeNodes, noteClosures } from "./closures.ts";
import type { Act, Known } from "./acts.ts";

/** What a job that waits for a node is told. */
export interface Notice {
  readonly job: string;
  readonly text: string;
}

/** What is to be done after one reading and one answer of the app. */
export interface Decision {
  readonly acts: readonly Act[];
  readonly notices: readonly Notice[];
  readonly troubles: readonly string[];
  readonly kept: Kept;
}

/** How long a name is DOWN that has no instance, or whose instance is not ours. */
const OWN_CAUSE_SECONDS: Seconds = 600;
/** So long the app may call a node ready that Slurm still shows as powering up. */
const READY_MS: Milliseconds = 180_000;
const MINUTE_MS: Milliseconds = 60_000;
const TEN_MINUTES_MS: Milliseconds = 600_000;

/** The table of states (docs/slurm.md, What the agent does): one act at most for each node. Pure. */
export function reconcile(all: readonly CloudNode[], known: Known): Decision {
  const acts: Act[] = [];
  const troubles: string[] = [];
  const gone = all.filter((cloudNode) => isGone(cloudNode, known));
  const allowed = allowedDowns(gone, all, known, troubles);
  for (const cloudNode of all) {
    const act = actOn(cloudNode, known, allowed);
    if (act !== undefined) acts.push(act);
  }
  const refused = new Map(
    acts.flatMap(({ kind, name, why }) => (kind === "power-down-force" ? [[name, why] as const] : [])),
  );
  const kept = { ...keepUp(all, known), closures: noteClosures(all, known, refused) };
  const marked = closeNodes(all, { ...known, kept }, new Set(acts.map(({ name }) => name)));
  return {
    acts: [...acts, ...marked],
    notices: noticesOf(all, known),
    troubles,
    kept,
  };
}

/** Whether the agent may change a node of this place. */
const mayAct = ({ view }: Known, place: Place): boolean => view.modes.get(place.nodearray) === "act";

function actOn(cloudNode: CloudNode, known: Known, allowed: ReadonlySet<string>): Act | undefined {
  const { name, place, node, phase } = cloudNode;
  if (place === undefined) return refuseUnmapped(cloudNode, known);
  // Our own marks are undone by `undoMarks`.
  if (!mayAct(known, place)) return undefined;
  if (node.flags.has("DRAIN")) return undefined;
  if (node.base === "DOWN") return openAgain(cloudNode, known);
  if (phase === "coming") return refuse(cloudNode, known);
  if (allowed.has(name)) {
    const until = plusSeconds(known.now, OWN_CAUSE_SECONDS);
    const why = known.view.names.get(name)?.reason ?? "no instance";
    return { kind: "down", name, reason: markReason(`no instance: ${why}`, until), until, why };
  }
  if ((phase === "off" || phase === "going") && known.kept.others.has(name)) return handOn(cloudNode, known);
  return undefined;
}

/** A node that is DOWN by Slurm's own reason is made usable, and one that has no instance is powered down. */
function openAgain(cloudNode: CloudNode, known: Known): Act | undefined {
  const { name, node, phase } = cloudNode;
  const end = markEnd(node.reason);
  if (end === undefined && !SLURMS_REASONS.includes(node.reason ?? "")) return undefined;
  const outcome = known.view.names.get(name);
  if (phase === "up" && outcome?.state === "failed" && isBelieved(name, outcome, known))
    return { kind: "power-down", name, why: "it has no instance" };
  if (end !== undefined) return undefined;
  return phase === "off" || phase === "going" ? undo(cloudNode, `Slurm: ${node.reason}`) : undefined;
}

/** Makes a node usable that is DOWN. Where Slurm believes in a machine, resume would leave it in a state in which no job starts. */
function undo({ name, phase }: CloudNode, why: string): Act {
  return { kind: phase === "off" || phase === "going" ? "resume" : "power-down", name, why };
}

/** Undoes our marks that have ended by their own text, and all of ours where the last mode heard is not act. It needs no app. */
export function undoMarks(
  all: readonly CloudNode[],
  modes: ReadonlyMap<string, Mode>,
  now: Instant,
): readonly Act[] {
  return all.flatMap((cloudNode) => {
    const { node, place } = cloudNode;
    const end = markEnd(node.reason);
    if (node.base !== "DOWN" || node.flags.has("DRAIN") || end === undefined) return [];
    if (end <= now) return [undo(cloudNode, "its mark has ended")];
    return place === undefined || modes.get(place.nodearray) === "act"
      ? []
      : [undo(cloudNode, `${place.nodearray} is only observed`)];
  });
}

/** A node that cannot be had, or whose machine Slurm does not take, is powered down by force: its job is requeued at once. */
function refuse(cloudNode: CloudNode, known: Known): Act | undefined {
  const { name, jobs } = cloudNode;
  const outcome = known.view.names.get(name);
  if (outcome === undefined || !jobs.every(({ id }) => known.requeues.get(id) === true)) return undefined;
  if (answersResume(name, outcome, known)) {
    const why = causeText(name, outcome);
    return { kind: "power-down-force", name, reason: tellable(`${MARK}${why}`), why };
  }
  const ready = known.readySince.get(name);
  if (ready === undefined || known.now - ready <= READY_MS) return undefined;
  const why = "it has been ready for three minutes, and Slurm does not take it";
  return { kind: "power-down-force", name, reason: tellable(`${MARK}${why}`), why };
}

/**
 * Whether it is final for the resume that Slurm waits for now. An agent that was started meanwhile may not know the moment: then an answer
 * without one is meant, and the app makes no node either.
 */
function answersResume(name: string, { state, since }: NameOutcome, { kept }: Known): boolean {
  return (state === "refused" || state === "failed") && since === kept.resumes.get(name);
}

const causeText = (name: string, { reason = "the app says no reason" }: NameOutcome): string =>
  `${name} cannot be had: ${reason}`;

/** A name that the file does not map, and that no other program starts, would wait for ResumeTimeout. */
function refuseUnmapped({ name, phase, node, jobs }: CloudNode, known: Known): Act | undefined {
  const acts = [...known.view.modes.values()].includes("act");
  if (!acts || known.mapping.previousResume !== undefined || phase !== "coming") return undefined;
  if (node.flags.has("DRAIN") || node.base === "DOWN") return undefined;
  if (!jobs.every(({ id }) => known.requeues.get(id) === true)) return undefined;
  const why = `${name} is ${whyUnmapped(known.mapping, name)}`;
  return { kind: "power-down-force", name, reason: tellable(`${MARK}${why}`), why };
}

/** A node that we did not make is ended by the program that made it. */
function handOn({ name }: CloudNode, { mapping, now }: Known): Act {
  const why = "the autoscaler did not make its node";
  if (mapping.previousSuspend !== undefined) return { kind: "hand-on", name, why };
  const until = plusSeconds(now, OWN_CAUSE_SECONDS);
  return { kind: "down", name, reason: markReason(why, until), until, why };
}

/** An up node without an instance: Slurm itself gets no answer, and the app calls it gone. */
function isGone(cloudNode: CloudNode, known: Known): boolean {
  const { name, place, phase, node, keep } = cloudNode;
  if (place === undefined || !mayAct(known, place) || phase !== "up" || keep !== undefined) return false;
  // A slurmd that answers is a stronger proof than a list that lacks it.
  if (node.base === "DOWN" || node.flags.has("DRAIN") || !node.flags.has("NOT_RESPONDING")) return false;
  const outcome = known.view.names.get(name);
  return outcome?.state === "failed" && isBelieved(name, outcome, known);
}

/** Whether "gone" is the app's own word, by an observation that began after the node was seen up, and in a record that is sure. */
function isBelieved(name: string, { from }: NameOutcome, { view, upSince, now }: Known): boolean {
  const up = upSince.get(name);
  if (view.rests || view.observationAge === undefined || up === undefined) return false;
  const age: Milliseconds = now - view.at + view.observationAge * 1000;
  return age <= MINUTE_MS && now - age > up && (from === undefined || from > up);
}

/** At most 10 % of an array, and three, in ten minutes. More is a trouble and no act. */
function allowedDowns(
  gone: readonly CloudNode[],
  all: readonly CloudNode[],
  { kept, now }: Known,
  troubles: string[],
): ReadonlySet<string> {
  const allowed = new Set<string>();
  for (const nodearray of new Set(gone.map(({ place }) => place?.nodearray))) {
    const ofArray = (one: CloudNode): boolean => one.place?.nodearray === nodearray;
    const recent = kept.downs.filter(
      (down) => down.nodearray === nodearray && now - down.at < TEN_MINUTES_MS,
    );
    const most = Math.max(3, Math.floor(all.filter(ofArray).length / 10)) - recent.length;
    const names = gone.filter(ofArray).map(({ name }) => name);
    for (const name of names.slice(0, Math.max(0, most))) allowed.add(name);
    if (names.length > most)
      troubles.push(
        `${names.length} nodes of ${nodearray} have no instance, by the app; at most 10 % of a node array, or 3, are set DOWN for this in ten minutes`,
      );
  }
  return allowed;
}

/** What is kept of marks that a person undid, and of nodes that are not ours. */
function keepUp(all: readonly CloudNode[], { kept, view, now }: Known): Kept {
  const [marks, opened] = [new Map(kept.marks), new Map(kept.opened)];
  for (const { name, node } of all) {
    const until = marks.get(name);
    if (until === undefined || until <= now || node.base === "DOWN") continue;
    opened.set(name, until);
    marks.delete(name);
  }
  for (const moments of [marks, opened])
    for (const [name, until] of moments) if (until <= now) moments.delete(name);
  const others = new Set(kept.others);
  for (const [name, { isOurs }] of view.names) {
    if (isOurs) others.delete(name);
    else others.add(name);
  }
  const there = new Set(all.map(({ name }) => name));
  return {
    ...kept,
    modes: view.modes,
    marks,
    opened,
    others: new Set([...others].filter((name) => there.has(name))),
    downs: kept.downs.filter(({ at }) => now - at < TEN_MINUTES_MS),
  };
}

/** What jobs are told whose nodes cannot be had, whether they may be requeued or not. */
function noticesOf(all: readonly CloudNode[], known: Known): readonly Notice[] {
  const notices = new Map<string, Notice>();
  for (const { name, place, phase, jobs } of all) {
    const outcome = known.view.names.get(name);
    if (place === undefined || phase !== "coming" || outcome === undefined) continue;
    if (!mayAct(known, place) || !answersResume(name, outcome, known)) continue;
    for (const { id } of jobs)
      if (!notices.has(id))
        notices.set(id, { job: id, text: tellable(`${MARK}${causeText(name, outcome)}`) });
  }
  return [...notices.values()];
}

/** What is kept once Slurm has taken these acts. */
export function noteActs(kept: Kept, acts: readonly Act[], all: readonly CloudNode[], now: Instant): Kept {
  const [marks, others, downs] = [new Map(kept.marks), new Set(kept.others), [...kept.downs]];
  const places = new Map(all.map(({ name, place, phase }) => [name, { place, phase }]));
  for (const { kind, name, until } of acts) {
    if (kind === "down" && until !== undefined) marks.set(name, until);
    else marks.delete(name);
    if (kind === "hand-on") others.delete(name);
    const at = places.get(name);
    if (kind === "down" && at?.phase === "up" && at.place !== undefined)
      downs.push({ nodearray: at.place.nodearray, at: now });
  }
  return { ...kept, marks, others, downs };
}
