import type { Resources } from "../../domain/resources.ts";

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
