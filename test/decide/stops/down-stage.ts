import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Node, NodeArray } from "../../../src/domain/cluster.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import type { NodeId } from "../../../src/domain/ids.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { NO_QUESTIONS } from "../../../src/domain/questions.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at, buildArray, buildNode, buildSnapshot, notOurs, rememberNode } from "../../support/build-node.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildState, OURS } from "../../support/build-record.ts";

/*
 * Observations and plans on a virtual clock: each minute, and 5 s after a plan that ends nodes. What a plan terminates is accepted at once and is
 * gone from the next status.
 */

/** A node of a run, by its number, starting with 0. */
export interface Shown {
  readonly index: number;
  readonly array: string;
}

export interface Run {
  /** Nodes of each array: all were Ready before. */
  readonly arrays: readonly number[];
  /** How a node is shown at this second. Undefined: Ready. */
  readonly shows: (node: Shown, seconds: number) => Partial<Node> | undefined;
  /** For how many seconds it is played. */
  readonly until: number;
  readonly policy?: Partial<Policy>;
  readonly scenario?: Pick<Scenario, "sets" | "record">;
  /** More of each node's ledger entry. */
  readonly known?: Partial<LedgerNode>;
  readonly of?: (array: NodeArray) => NodeArray;
  /** Changes what the next observation decides on. */
  readonly before?: (state: State, seconds: number) => State;
  /** Another tool made all nodes. */
  readonly foreign?: true;
  /** Whether the status at this second is slow. */
  readonly slow?: (seconds: number) => boolean;
}

export type State = ReturnType<typeof buildState>;

export interface Played {
  /** The seconds at which nodes were terminated, by their number. */
  readonly ended: ReadonlyMap<number, number>;
  readonly decisions: readonly { readonly seconds: number; readonly decision: Decision }[];
  readonly last: Decision;
}

export const OFF: Partial<Node> = { phase: "coming", status: "Off", unexpectedStatus: true };
export const TERMINATED: Partial<Node> = { ...OFF, status: "Terminated" };
export const UNAVAILABLE: Partial<Node> = { phase: "failed", status: "Unavailable" };

export function playDown(run: Run): Played {
  const { arrays, shows, until, scenario = {}, known = {}, of = (array) => array } = run;
  const policy: Policy = { ...DEFAULT_POLICY, ...run.policy };
  const nodes = arrays.flatMap((count, which) =>
    Array.from({ length: count }, () => ({ array: `a${which}` })),
  );
  const all = nodes.map(({ array }, index) => ({
    index,
    array,
    node: buildNode(`n${index}`, { array: arrayName(array) }),
  }));
  const homes = arrays.map((_, which) => of(buildArray(`a${which}`)));
  const entryOf = (node: Node): LedgerNode => {
    const entry = rememberNode(node, known);
    return run.foreign === true ? notOurs(entry) : entry;
  };
  const ledger = new Map(all.map(({ node }) => [node.nodeId, entryOf(node)]));
  let state: State = buildState({ ...scenario, ledger });
  const ended = new Map<number, number>();
  const decisions: { seconds: number; decision: Decision }[] = [];
  let seconds = 0;
  let last: Decision | undefined;
  while (seconds <= until) {
    const now = at(seconds);
    const seen = all
      .filter(({ index }) => !ended.has(index))
      .map(({ index, array, node }) => ({ ...node, ...shows({ index, array }, seconds) }));
    const snapshot = buildSnapshot(seen, { at: now, arrays: homes });
    const { record, bodies } = run.before?.(state, seconds) ?? state;
    const observation = {
      snapshot,
      requestNodes: new Map(),
      ...(run.slow?.(seconds) === true ? { slow: true as const } : {}),
    };
    const decision = decide(record, bodies, observation, policy, now, OURS);
    last = decision;
    decisions.push({ seconds, decision });
    const stopped = new Set(decision.plan.terminates);
    for (const { index, node } of all) if (stopped.has(node.nodeId)) ended.set(index, seconds);
    state = afterwards(state, decision, stopped, now);
    seconds += stopped.size > 0 ? 5 : 60;
  }
  if (last === undefined) throw new Error("nothing was played");
  return { ended, decisions, last };
}

/** The state once CycleCloud has accepted all stops. */
function afterwards(
  { bodies }: State,
  { record, ledger, plan, seen, questions }: Decision,
  stopped: ReadonlySet<NodeId>,
  now: Instant,
): State {
  const accepted = new Map(ledger);
  for (const id of stopped) {
    const known = ledger.get(id);
    if (known?.draining === undefined) continue;
    accepted.set(id, { ...known, draining: { ...known.draining, sentAt: now, attempts: 1 } });
  }
  const next: ClusterRecord = { ...record, intents: [] };
  return {
    record: next,
    bodies: { ...bodies, ledger: accepted, plan, seen, questions: questions ?? NO_QUESTIONS },
  };
}

/** How many nodes ended before this second. */
export const endedBefore = ({ ended }: Played, seconds: number): number =>
  [...ended.values()].filter((when) => when < seconds).length;
