import { foldHostList } from "../domain/host-list.ts";
import type { DemandMessage } from "../client/index.ts";
import type { Instant, Milliseconds } from "../domain/units.ts";
import { instant } from "../domain/units.ts";
import type { App } from "./ask-app.ts";
import { carryOut, NOTIFIED_MS, readRequeues, tellJob } from "./carry-out.ts";
import type { Hands } from "./carry-out.ts";
import { findControllers, readSlurm } from "./read-slurm.ts";
import type { AppView } from "./slurm/app-view.ts";
import { isWanted, messageOf } from "./slurm/demand.ts";
import { expandHosts } from "./slurm/hosts.ts";
import type { Kept } from "./slurm/kept.ts";
import { NOTHING_KEPT } from "./slurm/kept.ts";
import type { Mapping } from "./slurm/mapping.ts";
import type { Decision } from "./slurm/reconcile.ts";
import { noteActs, reconcile, undoMarks } from "./slurm/reconcile.ts";
import { noteResumes } from "./slurm/resumes.ts";
import type { Phase, Reading, CloudNode } from "./slurm/cloud-node.ts";
import { cloudNodes } from "./slurm/cloud-node.ts";
import type { SpooledCall, StateFolder } from "./state-folder.ts";

/** What the agent works with. */
export interface AgentParts {
  readonly mapping: Mapping;
  readonly app: App;
  readonly folder: StateFolder;
  readonly hands: Hands;
  /** The name of this host, as `scontrol ping` shows it. */
  readonly host: string;
  readonly now: () => Instant;
}

/** What one process knows beside what is kept on disk. */
interface Memory {
  kept: Kept | undefined;
  phases: ReadonlyMap<string, Phase>;
  upSince: Map<string, Instant>;
  readySince: Map<string, Instant>;
  /** When a name was taken back last. */
  takenBackAt: Instant | undefined;
  /** What was pushed last, and when. */
  pushed: { readonly message: DemandMessage; readonly content: string; readonly at: Instant } | undefined;
  view: AppView | undefined;
  /** Since when Slurm cannot be read. */
  unknownSince: Instant | undefined;
  /** What was logged last of a state that lasts, and when. */
  readonly logged: Map<string, Instant>;
}

/** Without a change the message is pushed again after this time. */
const RENEW_MS: Milliseconds = 60_000;
/** A node that was taken back is stopped at a report after the first: for so long each reading is one. */
const SECOND_REPORT_MS: Milliseconds = 60_000;
/** A push that takes longer is given up, and its reading thrown away. */
const LONGEST_PUSH_MS: Milliseconds = 20_000;
/** An answer of the app that is older proves nothing. */
const FRESH_MS: Milliseconds = 15_000;
/** So long demand is renewed while Slurm cannot be read. */
const BLIND_MS: Milliseconds = 900_000;
const MINUTE_MS: Milliseconds = 60_000;
const MOST_TOLD_MS: Milliseconds = 86_400_000;

/** One turn of the agent: reads, pushes, asks, and acts. Resolves with whether all of it could be done. */
export type Turn = () => Promise<boolean>;

/** The agent of one process. Its turns must not overlap. */
export function openAgent(parts: AgentParts): Turn {
  const memory: Memory = {
    kept: undefined,
    phases: new Map(),
    upSince: new Map(),
    readySince: new Map(),
    takenBackAt: undefined,
    pushed: undefined,
    view: undefined,
    unknownSince: undefined,
    logged: new Map(),
  };
  return () => turn(parts, memory);
}

async function turn(parts: AgentParts, memory: Memory): Promise<boolean> {
  const { folder, hands, mapping, now } = parts;
  memory.kept ??= await folder.kept();
  if (!(await isActing(parts))) {
    logEachMinute(parts, memory, "the agent of another controller acts: this one waits");
    return true;
  }
  await attempt(parts, memory, "heartbeat", () => folder.beat(parts.host, now()));
  const calls = await folder.calls();
  const readAt = now();
  const read = await readSlurm(hands.run);
  if (read.kind === "unknown") return renewBlind(parts, memory, read.why);
  memory.unknownSince = undefined;
  const all = cloudNodes(read.reading, mapping);
  note(memory, all, calls, readAt);
  const done = await carryOut(undoMarks(all, memory.kept?.modes ?? NOTHING_KEPT.modes, now()), all, hands);
  memory.kept = noteActs(memory.kept ?? NOTHING_KEPT, done, all, now());
  const isPushed = await push(parts, memory, all, calls, readAt);
  const isAsked = isPushed && (await ask(parts, memory, all));
  if (isAsked && done.length === 0) await act(parts, memory, read.reading, all);
  await attempt(parts, memory, "what is kept", () => folder.keep(memory.kept ?? NOTHING_KEPT));
  return isPushed && isAsked;
}

/** An agent acts if its controller is the first that answers, or if no agent of another host shows signs of life. */
async function isActing({ hands, folder, host, now }: AgentParts): Promise<boolean> {
  const [first] = (await findControllers(hands.run)) ?? [];
  if (first !== undefined && shortName(first) === shortName(host)) return true;
  const beat = await folder.lastBeatOfOthers(host);
  return beat === undefined || now() - beat > MINUTE_MS;
}

const shortName = (host: string): string => host.split(".", 1).join("").toLowerCase();

/** Remembers what this reading shows beside its message. */
function note(
  memory: Memory,
  all: readonly CloudNode[],
  calls: readonly SpooledCall[],
  readAt: Instant,
): void {
  const kept = memory.kept ?? NOTHING_KEPT;
  memory.kept = { ...kept, resumes: noteResumes(kept.resumes, calls, memory.phases, all, readAt) };
  memory.phases = new Map(all.map(({ name, phase }) => [name, phase]));
  for (const { name, phase } of all) {
    if (phase !== "up") memory.upSince.delete(name);
    else if (!memory.upSince.has(name)) memory.upSince.set(name, readAt);
    const isReady = phase === "coming" && memory.view?.names.get(name)?.state === "ready";
    if (!isReady) memory.readySince.delete(name);
    else if (!memory.readySince.has(name)) memory.readySince.set(name, readAt);
  }
}

/** Pushes the message if something changed, a shim called, or it is time to renew. False: it is not accepted. */
async function push(
  parts: AgentParts,
  memory: Memory,
  all: readonly CloudNode[],
  calls: readonly SpooledCall[],
  readAt: Instant,
): Promise<boolean> {
  const { app, folder, hands, mapping, now } = parts;
  const earlier = [...(memory.view?.names ?? [])]
    .filter(([, { isEarlier }]) => isEarlier)
    .map(([name]) => name);
  const resumes = memory.kept?.resumes ?? new Map<string, Instant>();
  const message = messageOf(all, mapping, { readAt, resumes, earlier: new Set(earlier) });
  const content = JSON.stringify([message.nodearrays, message.schedulerNodes]);
  if (isTakenBack(memory.pushed?.message, message)) memory.takenBackAt = now();
  const why = whyPush(memory, content, calls, now());
  if (why === undefined) return true;
  if (now() - readAt > LONGEST_PUSH_MS) {
    hands.log("not pushed: the reading of Slurm took longer than 20 s");
    return false;
  }
  const refused = await app.push(message, now());
  if (refused !== undefined) {
    logEachMinute(parts, memory, `not pushed: ${refused}`);
    return false;
  }
  memory.pushed = { message, content, at: now() };
  hands.log(`pushed ${countText(all)}: ${why}`);
  await folder.remove(calls.map(({ file }) => file));
  await folder.sweep();
  for (const { set, file } of await folder.sentSets())
    if ((await app.empty(mapping.cluster, set)) === undefined) await folder.remove([file]);
  return true;
}

function whyPush(
  { pushed, takenBackAt }: Memory,
  content: string,
  calls: readonly SpooledCall[],
  now: Instant,
): string | undefined {
  const [first] = calls;
  if (first !== undefined) return `Slurm called ${first.verb} of ${foldHostList(first.hosts)}`;
  if (pushed === undefined) return "the agent has begun";
  if (pushed.content !== content) return "Slurm shows a change";
  if (takenBackAt !== undefined && now - takenBackAt < SECOND_REPORT_MS)
    return "second report of what was taken back";
  return now - pushed.at >= RENEW_MS ? "renewal" : undefined;
}

/** Whether a name was in the message before, and is in this one no more. */
function isTakenBack(before: DemandMessage | undefined, message: DemandMessage): boolean {
  const namesOf = ({ nodearrays = [] }: Pick<DemandMessage, "nodearrays">): readonly string[] =>
    [nodearrays]
      .flat()
      .flatMap(({ NodeNames = [] }) =>
        typeof NodeNames === "string" ? (expandHosts(NodeNames) ?? []) : NodeNames,
      );
  const names = new Set(namesOf(message));
  return before !== undefined && namesOf(before).some((name) => !names.has(name));
}

function countText(all: readonly CloudNode[]): string {
  const wanted = all.filter(isWanted);
  const coming = wanted.filter(({ phase }) => phase === "coming").length;
  const kept = all.filter(({ keep, phase }) => keep !== undefined && phase !== "off").length;
  return `${wanted.length} wanted names, ${coming} of them powering up, ${kept} kept`;
}

/** Asks what became of the names: each turn while something waits, else each minute. */
async function ask(parts: AgentParts, memory: Memory, all: readonly CloudNode[]): Promise<boolean> {
  const { app, mapping, now } = parts;
  const waits = all.some(
    ({ phase, node }) => phase === "coming" || node.base === "DOWN" || node.flags.has("NOT_RESPONDING"),
  );
  if (!waits && memory.view !== undefined && now() - memory.view.at < MINUTE_MS) return true;
  const view = await app.ask(mapping.cluster, mapping.requestSet, now);
  if (typeof view === "string") {
    logEachMinute(parts, memory, `the app says nothing of the names: ${view}`);
    return false;
  }
  memory.view = view;
  return true;
}

/** Reconciles by the table of states, and carries it out while the app's answer is fresh. */
async function act(
  parts: AgentParts,
  memory: Memory,
  reading: Reading,
  all: readonly CloudNode[],
): Promise<void> {
  const { hands, mapping, now } = parts;
  const { view, kept = NOTHING_KEPT, upSince, readySince } = memory;
  if (view === undefined) return;
  const waiting = all
    .filter(({ phase }) => phase === "coming")
    .flatMap(({ name, jobs, place }) => {
      const state = view.names.get(name)?.state;
      const mayEnd = place === undefined || (state !== undefined && state !== "coming");
      return mayEnd ? jobs.map(({ id }) => id) : [];
    });
  const requeues = await readRequeues(waiting.slice(0, MOST_JOBS), hands.run);
  const decision = reconcile(all, { mapping, view, kept, now: now(), upSince, readySince, requeues });
  memory.kept = decision.kept;
  for (const trouble of decision.troubles) logEachMinute(parts, memory, trouble);
  await tellJobs(parts, memory, decision);
  if (now() - view.at > FRESH_MS) return;
  const done = await carryOut(decision.acts, all, hands);
  memory.kept = noteActs(memory.kept, done, all, now());
  const jobs = new Set(reading.jobs.map(({ id }) => id));
  memory.kept = { ...memory.kept, told: stillTold(memory.kept, jobs, now()) };
}

/** Jobs whose flags are read in one turn. The others wait for the next. */
const MOST_JOBS = 100;

async function tellJobs(
  { hands, now }: AgentParts,
  memory: Memory,
  { notices, kept }: Decision,
): Promise<void> {
  const told = new Map(kept.told);
  for (const notice of notices) {
    const last = told.get(notice.job);
    const isNew = last?.text !== notice.text;
    if (!isNew && now() - last.at < NOTIFIED_MS) continue;
    await tellJob(notice, true, hands);
    told.set(notice.job, { text: notice.text, at: now() });
  }
  memory.kept = { ...kept, told };
}

/** A job that was requeued has no nodes for two minutes, and is not told the same again. */
function stillTold({ told }: Kept, jobs: ReadonlySet<string>, now: Instant): Kept["told"] {
  return new Map([...told].filter(([job, { at }]) => jobs.has(job) || now - at < MOST_TOLD_MS));
}

/** Slurm does not answer: its last demand is renewed without a report, for 15 minutes. Nothing is reported that was not read. */
async function renewBlind(parts: AgentParts, memory: Memory, why: string): Promise<boolean> {
  const { app, now } = parts;
  memory.unknownSince ??= now();
  const blind: Milliseconds = now() - memory.unknownSince;
  const { pushed } = memory;
  logEachMinute(
    parts,
    memory,
    `Slurm cannot be read: ${why}${blind > BLIND_MS ? "; its demand is renewed no more" : ""}`,
  );
  if (pushed === undefined || blind > BLIND_MS || now() - pushed.at < RENEW_MS) return false;
  const { schedulerNodes: _report, readAt: _readAt, ...demand } = pushed.message;
  const refused = await app.push({ ...demand, revision: now() }, now());
  if (refused === undefined) memory.pushed = { ...pushed, at: now() };
  return false;
}

/** What cannot be written is kept in memory, and said once a minute. */
async function attempt(
  parts: AgentParts,
  memory: Memory,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    logEachMinute(parts, memory, `${what} cannot be written: ${why}`);
  }
}

function logEachMinute({ hands, now }: AgentParts, { logged }: Memory, line: string): void {
  const last = logged.get(line);
  if (last !== undefined && now() - last < MINUTE_MS) return;
  // A text with figures in it is a new one each time: what is old is forgotten.
  for (const [text, at] of logged) if (now() - at >= MINUTE_MS) logged.delete(text);
  logged.set(line, instant(now()));
  hands.log(line);
}
