import type { Problem } from "../../domain/demand.ts";
import type { Fields } from "../json/fields.ts";
import { isName } from "../json/name.ts";
import { nearest, problemShowing } from "../json/problem.ts";
import { someOf } from "../../domain/some-of.ts";

const MOST_NAMES_SHOWN = 20;

/** The problem of a cluster that is not configured. An invalid name is a problem of the envelope. */
export function clusterProblems(message: Fields, known: ReadonlySet<string> | undefined): readonly Problem[] {
  const { cluster } = message;
  if (known === undefined || !isName(cluster) || known.has(cluster)) return [];
  const names = [...known];
  const shown = someOf(names, MOST_NAMES_SHOWN) || "none configured";
  return [problemShowing("cluster", cluster, `a known cluster: ${shown}`, nearest(cluster, names))];
}
