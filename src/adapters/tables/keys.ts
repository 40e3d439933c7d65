import { createHash } from "node:crypto";

/** A key has at most 512 characters. The longest prefix below has 8. */
const LONGEST_TEXT = 504;
/** What is left of a longer text, before its hash: enough to recognise it. */
const SHOWN = 400;

/**
 * Names as table keys. `/ \ # ?` and control characters are forbidden in keys, and a bare `%` is decoded twice on some paths. So every byte
 * except letters, digits and `. _ -` becomes `=XX`. Different names give different keys.
 * A name of 200 characters may be longer than a key: then the key ends with `~`, which no other key has, and the hash of the name.
 */
export function keyText(name: string): string {
  let text = "";
  for (const byte of Buffer.from(name, "utf8")) {
    const character = String.fromCharCode(byte);
    text += /[A-Za-z0-9._-]/.test(character)
      ? character
      : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, SHOWN)}~${createHash("sha256").update(name).digest("hex")}`;
}

/** Everything of one cluster that must change together. */
export const clusterPartition = (cluster: string): string => `cluster-${keyText(cluster)}`;
/** Separate from the record: it grows, and it need not be atomic with anything. */
export const historyPartition = (cluster: string): string => `history-${keyText(cluster)}`;
export const CREDENTIALS_PARTITION = "credentials";
export const TRIGGERS_PARTITION = "triggers";

/** The manifest; its ETag is the linearisation point of the protocol (architecture.md, Storage). */
export const RECORD_KEY = "record";
export const CONFIGURATION_KEY = "configuration";
export const CONFIGURATION_HISTORY_KEY = "configuration-history";

/** Bodies are the rows with keys in this range. */
export const BODY_KEYS = { from: "b-", to: "b." } as const;
export const bodyKey = (id: string, part: number): string => `b-${id}-${part}`;

/** The body that a row key belongs to. */
export function bodyIdOf(rowKey: string): string {
  return rowKey.slice(2, rowKey.lastIndexOf("-"));
}

/** Kept plans lie behind the rows of history, whose keys begin with a digit. */
export const planKey = (number: number): string => `plan-${String(number).padStart(16, "0")}`;
export const planNumberOf = (rowKey: string): number => Number(rowKey.slice("plan-".length));
