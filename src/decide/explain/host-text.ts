import { valueText } from "../../domain/refusal.ts";
import type { Resources } from "../../domain/resources.ts";
import { firstResources } from "../constraints/first-resources.ts";
import type { HostAmounts } from "../world/host-view.ts";

/** The amounts that a scheduler reports of a host, in a sentence. */
export function amountsText({ resources, available }: HostAmounts): string {
  const has = listOf(firstResources(resources));
  const left = listOf(firstResources(available));
  if (left === "") return `its scheduler says that it has ${has}`;
  return has === ""
    ? `its scheduler says that it has left ${left}`
    : `its scheduler says that it has ${has}, and left ${left}`;
}

function listOf(resources: Resources): string {
  return Object.entries(resources)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(", ");
}
