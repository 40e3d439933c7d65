import type { Ceiling } from "../../domain/cap-rules.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ChoiceShown } from "../../wire/api/cluster-plan.ts";

/** Maximum number of caps shown of each kind. `config` shows all of them. */
const SHOWN_CAPS = 200;

/** How new nodes are chosen and which limits apply, in the current configuration. The last plan may be older. */
export function describeChoice({ preference, among, caps, prices }: Policy): ChoiceShown {
  return {
    preference,
    among,
    caps:
      caps === undefined
        ? undefined
        : { requestSets: firstCaps(caps.requestSets), users: firstCaps(caps.users) },
    prices:
      prices === undefined
        ? undefined
        : { currency: prices.currency, locations: [...prices.locations.keys()] },
  };
}

function firstCaps(caps: ReadonlyMap<string, Ceiling>): NonNullable<ChoiceShown["caps"]>["users"] {
  const first = [...caps].slice(0, SHOWN_CAPS);
  return Object.fromEntries(first.map(([name, { nodes, cores }]) => [name, { nodes, cores }]));
}
