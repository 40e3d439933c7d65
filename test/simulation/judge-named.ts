import type { SchedulerNode } from "../../src/domain/demand.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Evidence } from "./evidence.ts";
import { GIVEN_UP_MS, hadTimeToBoot, stoodTooLong } from "./evidence.ts";
import type { Told } from "./needs.ts";
import type { Watched } from "./watched.ts";
import { isActive, isLive } from "./watched.ts";

type NodeCreated = Extract<SimulatorEvent, { readonly kind: "node-created" }>;

/** A report proves this long that a host is idle. */
const PROVES_MS = 30_000;
/** A plan has seen by then that a name is wanted again. */
const SEEN_BY_THEN_MS = 90_000;

/** Judges nodes that targets name (docs/protocol.md, Named nodes). */
export class NamedJudge {
  readonly #evidence: Evidence;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  /** Whether the nodes of this array have names. */
  judges(array: string): boolean {
    return this.#evidence.limits.lasting?.named?.array === array;
  }

  /** A node was created: does a set name it, has no other node its name, and is it no second one for the same resume? Call it before the node is known. */
  created({ name, array, requestId, at }: NodeCreated): void {
    const { nodes, demand, commits, violate } = this.#evidence;
    const committedAt = commits.get(requestId ?? "") ?? at;
    const most = (from: number, of: (told: readonly Told[]) => number): number =>
      Math.max(...demand.needs(from, at, of));
    if (most(demand.basisOf(committedAt), (told) => (isAsked(name, told) ? 1 : 0)) === 0)
      violate("overshoot", 1, `${name} was created though no set names it`);
    const alike = nodes.all.filter((node) => node.array === array && node.name === name);
    if (alike.some(({ gone }) => !gone)) violate("overshoot", 1, `${name} was created twice`);
    const before = alike.findLast(({ shownReady, lostAt }) => shownReady && lostAt !== undefined);
    if (before?.lostAt === undefined) return;
    const since = newestSince(name)(demand.inForce(before.committedAt));
    if (most(before.committedAt, newestSince(name)) > since) return;
    if (this.#isAskedAllTheTime(name, before.lostAt - SEEN_BY_THEN_MS, committedAt))
      violate("overshoot", 1, `${name} was created again for the same resume`);
  }

  /** CycleCloud has accepted a stop of ours. */
  stopped(nodeId: string, requestId: string, at: number): void {
    const { nodes, commits, counts, violate } = this.#evidence;
    const node = nodes.get(nodeId);
    if (node === undefined || node.stopped) return;
    const committedAt = commits.get(requestId) ?? at;
    node.stopped = true;
    if (at - committedAt > GIVEN_UP_MS && stoodTooLong(this.#evidence, committedAt, at)) {
      counts.heldTooLong += 1;
      node.lostAt = at;
      return;
    }
    if (node.ready && !node.failed) counts.readyNodesStopped += 1;
    if (this.#isGivenUp(node, at)) return;
    const { name } = node;
    if (this.#isAskedAllTheTime(name, committedAt, at) && !this.#isEarlier(node, committedAt))
      violate("stoppedNeeded", 1, `${name} was stopped though a set names it`);
    const fault = node.ready
      ? this.#faultOfReady(node, committedAt)
      : this.#faultOfBooting(nodeId, committedAt);
    if (fault !== undefined) violate("stoppedNeeded", 1, `${name} was stopped, and ${fault}`);
  }

  /** Names of the last messages that have no Ready node, and live nodes that no such message names. */
  unsettled(last: readonly Told[]): { readonly missing: number; readonly left: number } {
    const nodes = this.#evidence.nodes.all.filter((node) => this.judges(node.array) && isLive(node));
    const asked = new Set(
      last.flatMap(({ asks }) => (asks.kind === "names" ? asks.names : [])).map(({ name }) => name),
    );
    const ready = new Set(nodes.filter((node) => node.ready).map(({ name }) => name));
    return {
      missing: [...asked].filter((name) => !ready.has(name)).length,
      left: nodes.filter((node) => isActive(node) && !asked.has(node.name)).length,
    };
  }

  /** It failed, or did not come up in time. */
  #isGivenUp(node: Watched, at: number): boolean {
    if (node.failed) return true;
    return !node.shownReady && hadTimeToBoot(this.#evidence, node.createdAt, at);
  }

  #isAskedAllTheTime(name: string, from: number, until: number): boolean {
    const { demand } = this.#evidence;
    return Math.min(...demand.needs(from, until, (told) => (isAsked(name, told) ? 1 : 0))) === 1;
  }

  /** It was Ready before the resume that its name waits for. */
  #isEarlier({ name, readyAt, createdAt }: Watched, committedAt: number): boolean {
    const { demand } = this.#evidence;
    const since = Math.max(...demand.needs(createdAt, committedAt, newestSince(name)));
    return readyAt !== undefined && since > createdAt;
  }

  /** A Ready node goes by a fresh report that calls it closed without a job, and does not keep it. */
  #faultOfReady({ host, busySince }: Watched, committedAt: number): string | undefined {
    const { demand } = this.#evidence;
    const told = demand.inForce(committedAt).filter((one) => hostIn(one, host) !== undefined);
    const newest = told.toSorted((a, b) => b.sentAt - a.sentAt)[0];
    const shown = newest === undefined ? undefined : hostIn(newest, host);
    if (newest === undefined || shown === undefined) return "no report in force names it";
    if (shown.keep !== undefined) return "its report keeps it";
    if (shown.jobs.length > 0 || shown.state === "open") return "its report calls it open or busy";
    const age = committedAt - newest.sentAt;
    if (age <= PROVES_MS) return undefined;
    return `its report was ${age} ms old${busySince === undefined ? "" : " and a job ran there"}`;
  }

  /** A node that was taken back before it was Ready goes by the second report that calls it closed. */
  #faultOfBooting(nodeId: string, committedAt: number): string | undefined {
    const { nodes, demand } = this.#evidence;
    const node = nodes.get(nodeId);
    const reports = new Set<number>();
    for (const told of demand.cameBetween(node?.createdAt ?? 0, committedAt))
      if (hostIn(told, node?.host)?.state === "closed") reports.add(told.revision);
    return reports.size > 1 ? undefined : `only ${reports.size} reports called it closed while it booted`;
  }
}

function isAsked(name: string, told: readonly Told[]): boolean {
  return told.some(({ asks }) => asks.kind === "names" && asks.names.some((one) => one.name === name));
}

/** The newest resume of a name that messages say. 0 if none does. */
const newestSince =
  (name: string) =>
  (told: readonly Told[]): number =>
    Math.max(
      0,
      ...told.flatMap(({ asks }) =>
        asks.kind === "names" ? asks.names.map((one) => (one.name === name ? (one.since ?? 0) : 0)) : [],
      ),
    );

function hostIn({ hosts }: Told, host: string | undefined): SchedulerNode | undefined {
  return hosts?.find(({ hostname }) => hostname === host);
}
