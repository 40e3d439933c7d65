import type { Cap } from "../../domain/world.ts";
import type { CapRules, Ceiling } from "../../domain/sender-rules.ts";
import { EACH_OTHER, NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { compareText } from "../../domain/text.ts";
import { ruleOf } from "./sender-rule.ts";

/**
 * The caps that apply to these demands. A request set has the cap of its name. It shares the cap of its rule in `senders` with the other sets
 * of the rule. Sets with neither share the cap "*": the sets of one rule among themselves, and all sets without a rule. A job without a user
 * has the cap of its request set only.
 */
export function capsInForce(
  { caps = NO_CAPS, senders = NO_SENDER_RULES }: Pick<Policy, "caps" | "senders">,
  demands: readonly RankedDemand[],
): readonly Cap[] {
  const sets = [...new Set(demands.map(({ set }) => set))].toSorted(compareText);
  const users = new Set<string>();
  for (const { demand } of demands)
    if (demand.kind === "job" && demand.user !== undefined) users.add(demand.user);
  return [
    ...sets.flatMap((name) => capsOf({ kind: "request-set", name }, caps.requestSets.get(name))),
    ...sharedCaps(caps, senders, sets),
    ...[...users]
      .toSorted()
      .flatMap((name) => capsOf({ kind: "user", name }, caps.users.get(name) ?? caps.users.get(EACH_OTHER))),
  ];
}

const NO_CAPS: CapRules = { requestSets: new Map(), users: new Map() };

function sharedCaps(caps: CapRules, senders: SenderRules, sets: readonly SetName[]): readonly Cap[] {
  const others = caps.requestSets.get(EACH_OTHER);
  return [...Map.groupBy(sets, (set) => ruleOf(senders, set))].flatMap(([rule, ofRule]) => {
    const ceiling = rule?.caps ?? others;
    const sharing = rule?.caps === undefined ? ofRule.filter((set) => !caps.requestSets.has(set)) : ofRule;
    if (ceiling === undefined || sharing.length === 0) return [];
    const name = rule === undefined ? EACH_OTHER : rule.requestSets.join(", ");
    return capsOf({ kind: "request-set", name, sets: sharing }, ceiling);
  });
}

function capsOf(of: Pick<Cap, "kind" | "name" | "sets">, ceiling: Ceiling = {}): readonly Cap[] {
  const { nodes, cores } = ceiling;
  return [
    ...(nodes === undefined ? [] : [{ ...of, unit: "nodes" as const, max: nodes }]),
    ...(cores === undefined ? [] : [{ ...of, unit: "cores" as const, max: cores }]),
  ];
}
