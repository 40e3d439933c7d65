import type { Resources } from "../../domain/resources.ts";

/** Characters of the resources of one host in an explanation: a report may give a host ten thousand of them, and long texts. */
const MOST_CHARACTERS = 20_000;

/** The first resources of a host, as many as people read. */
export function firstResources(all: Resources): Resources {
  let characters = 0;
  const first = Object.entries(all).filter(([name, value]) => {
    characters += name.length + (typeof value === "string" ? value.length : 10);
    return characters <= MOST_CHARACTERS;
  });
  return first.length === Object.keys(all).length ? all : Object.fromEntries(first);
}
