import { showText } from "../../domain/shown.ts";
import type { Instant } from "../../domain/units.ts";
import { instant, isoTime } from "../../domain/units.ts";

/** What each reason begins with that this product sets in Slurm. The shims know the same words. */
export const MARK = "autoscaler: ";

/** Characters of a text that is told to Slurm or to a user. */
const MOST_TOLD = 200;

/** A text for Slurm: one line of at most 200 characters. Quotes would end the argument's value in some releases. */
export function tellable(text: string): string {
  const plain = showText(text.replaceAll(/\s+/g, " ").trim()).replaceAll(/["'`\\]/g, "");
  return plain.length > MOST_TOLD ? `${plain.slice(0, MOST_TOLD - 3)}...` : plain;
}

/** The reason of a node that is set DOWN until a moment. The moment is the end of the text, so a long cause is cut before it. */
export function markReason(cause: string, until: Instant): string {
  const end = `; until ${isoTime(until).slice(0, 19)}Z`;
  const told = tellable(`${MARK}${cause}`);
  return `${told.slice(0, MOST_TOLD - end.length)}${end}`;
}

/** Until when a node with this reason is marked. Undefined: the mark is not ours, or the reason is only told. */
export function markEnd(reason: string | undefined): Instant | undefined {
  if (reason?.startsWith(MARK) !== true) return undefined;
  const end = /; until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(reason)?.[1];
  const at = end === undefined ? Number.NaN : Date.parse(end);
  return Number.isNaN(at) ? undefined : instant(at);
}
