import { valueText } from "../../domain/refusal.ts";
import type { Resources } from "../../domain/resources.ts";
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

/** Maximum number of characters of the resources of one host in an explanation. A report may list 10,000 resources and long texts. */
const MOST_CHARACTERS = 20_000;

/** The first resources of a host, up to a readable length. */
export function firstResources(all: Resources): Resources {
  let characters = 0;
  const first = Object.entries(all).filter(([name, value]) => {
    characters += name.length + (typeof value === "string" ? value.length : 10);
    return characters <= MOST_CHARACTERS;
  });
  return first.length === Object.keys(all).length ? all : Object.fromEntries(first);
}
