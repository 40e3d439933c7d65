import { endedOn } from "../../decide/senders/foreign-claims.ts";
import { endedClaims } from "../../decide/senders/host-facts.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Question, UnhealthyHold } from "../../domain/questions.ts";
import { isRecent, unhealthyNow } from "../../domain/questions.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { someOf } from "../../domain/some-of.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { TroubleShown } from "../../wire/api/cluster-answer.ts";

/** Troubles that nodes report about themselves, and that calls in their name and jobs on them cause. */

/** Maximum number of names in a sentence. */
const NAMED = 5;

interface Said {
  readonly node: LedgerNode;
  readonly question: Question;
}

/** Nodes that report themselves unhealthy and are not stopped, with the reasons. */
export function nodesUnhealthy(bodies: Bodies, now: Instant): readonly TroubleShown[] {
  const texts: Readonly<Record<UnhealthyHold, (names: string) => string>> = {
    job: (names) =>
      `${names}: reported unhealthy by the node itself, and a job is on it. It stays closed, and is stopped when no job is reported or placed there`,
    limit: (names) =>
      `${names}: reported unhealthy by the node itself. Enough other nodes of its node array were stopped this way within the hour (10 %, at least 3), and no scheduler reports its host closed or without jobs. Check it: the stop URL of its node array may have leaked`,
  };
  return (["job", "limit"] as const).flatMap((held) => {
    const nodes = saidBy(bodies).filter(({ question }) => unhealthyNow(question, now)?.held === held);
    if (nodes.length === 0) return [];
    return [{ kind: "nodes-unhealthy", text: texts[held](namesOf(nodes)), count: nodes.length }];
  });
}

/** Nodes for which a call lacked the token of the node's own calls. */
export function callsRefused(bodies: Bodies, now: Instant): readonly TroubleShown[] {
  const refused = saidBy(bodies).filter(({ question: { refusedAt } }) => isRecent(refusedAt, now));
  if (refused.length === 0) return [];
  const last = refused.flatMap(({ question }) => question.refusedAt ?? []).reduce((a, b) => (a < b ? b : a));
  const text = `${namesOf(refused)}: calls were refused because they did not carry the node's own token, the last at ${isoTime(last)}. Either the stop URL has leaked, or the node has lost its token. In the second case a scheduler's report or a stop in CycleCloud ends it`;
  return [{ kind: "node-token", text, count: refused.length }];
}

/** Sets whose claims of jobs on nodes of other senders have ended. */
export function claimsEnded(
  record: ClusterRecord,
  bodies: Bodies,
  { senders }: Pick<Policy, "senders">,
  now: Instant,
): readonly TroubleShown[] {
  const ended = endedClaims(record, bodies, now, senders);
  if (ended.size === 0) return [];
  const claims = [...bodies.ledger.values()].flatMap((node) =>
    endedOn(node, ended, senders).map((set) => ({ set, name: node.name })),
  );
  return [...Map.groupBy(claims, ({ set }) => set)].map(([set, nodes]) => {
    const names = someOf(
      nodes.map(({ name }) => name),
      NAMED,
    );
    const text = `request set ${set}: says that its jobs run on ${names}. Another sender asked for these nodes and calls them idle, so the jobs no longer count there after an hour. If they do run, let the set of a rule that has these jobs report the hosts, too`;
    return { kind: "claims-ended", text, count: nodes.length };
  });
}

function saidBy({ questions, ledger }: Bodies): readonly Said[] {
  return [...(questions ?? [])].flatMap(([id, question]): readonly Said[] => {
    const node = ledger.get(id);
    return node === undefined || node.goneAt !== undefined ? [] : [{ node, question }];
  });
}

function namesOf(nodes: readonly Said[]): string {
  return someOf(
    nodes.map(({ node }) => node.name),
    NAMED,
  );
}
