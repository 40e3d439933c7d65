import type { Cap } from "./allocation.ts";
import type { RankedDemand } from "./demand.ts";

/** The name that stands for each one that is not named itself. */
export const EACH_OTHER = "*";

/** At most so many nodes and so many cores for one; at least one of them is there. */
export interface Ceiling {
  readonly nodes?: number;
  readonly cores?: number;
}

/** What request sets and users may hold, by name; {@link EACH_OTHER}: each of the others, by itself. */
export interface CapRules {
  readonly requestSets: ReadonlyMap<string, Ceiling>;
  readonly users: ReadonlyMap<string, Ceiling>;
}

/** The caps of those who ask for something: rules for others bind nobody. A job without a user is capped by its request set alone. */
export function capsFor(rules: CapRules, demands: readonly RankedDemand[]): readonly Cap[] {
  const sets = new Set<string>(demands.map(({ set }) => set));
  const users = new Set<string>();
  for (const { demand } of demands)
    if (demand.kind === "job" && demand.user !== undefined) users.add(demand.user);
  return [
    ...[...sets].toSorted().flatMap((name) => capsOf("request-set", name, rules.requestSets)),
    ...[...users].toSorted().flatMap((name) => capsOf("user", name, rules.users)),
  ];
}

function capsOf(kind: Cap["kind"], name: string, rules: ReadonlyMap<string, Ceiling>): readonly Cap[] {
  const { nodes, cores } = rules.get(name) ?? rules.get(EACH_OTHER) ?? {};
  return [
    ...(nodes === undefined ? [] : [{ kind, name, unit: "nodes" as const, max: nodes }]),
    ...(cores === undefined ? [] : [{ kind, name, unit: "cores" as const, max: cores }]),
  ];
}
