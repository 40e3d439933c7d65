import { isActing } from "./shown.ts";

const LONGEST = 200;
const CONTROL_CHARACTER = /\p{Cc}/u;
/** Includes `%2F`: Azure's web server passes an encoded slash on as these three characters, so that readers cannot distinguish the two. */
const NOT_IN_A_PATH = /[/\\]|%2f/i;

/** The form of a label: the name of a pool, a VM size or a placement group. Labels are never part of an address. */
export const LABEL_EXPECTED = `text of 1 to ${LONGEST} characters, none of them a control or direction character`;

/**
 * The form of the name of a cluster, a request set or a node array. Clusters and sets are parts of addresses
 * (/api/clusters/{cluster}/request-sets/{set}), and "set/demand" names a demand. Every accepted name must be reachable there.
 */
export const NAME_EXPECTED = `text of 1 to ${LONGEST} characters, without "/", "\\", "%2F", control and direction characters, and not "." or ".."`;

/** Whether the value is a label: see {@link LABEL_EXPECTED}. */
export function isLabel(value: unknown): value is string {
  return isKeptLabel(value) && !isActing(value);
}

/** Whether the value is a name: see {@link NAME_EXPECTED}. */
export function isName(value: unknown): value is string {
  return isKeptName(value) && !isActing(value);
}

/** Whether a label may stand in what is stored: a label of before may have characters of direction. It stays in force until it is replaced. */
export function isKeptLabel(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length >= 1 &&
    value.length <= LONGEST &&
    !CONTROL_CHARACTER.test(value) &&
    value.isWellFormed()
  );
}

/** The same for a name. */
export function isKeptName(value: unknown): value is string {
  return isKeptLabel(value) && !NOT_IN_A_PATH.test(value) && value !== "." && value !== "..";
}
