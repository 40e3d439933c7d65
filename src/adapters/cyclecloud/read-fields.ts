import type { AutoscaleSettings } from "../../domain/attributes.ts";
import { autoscaleSettingsOf } from "../../domain/attributes.ts";
import type { Fields } from "../../domain/fields.ts";

/** Reading single fields of JSON that may be older, newer or sloppier than its documentation (cyclecloud-wire.md A.1). */

/** A list unchanged. Anything else becomes an empty list. */
export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * An attribute of a record of CycleCloud's data store, ignoring the case of its key (cyclecloud-wire.md A.1). The exact spelling wins.
 * Fields of API objects are case-sensitive and are not read with this.
 */
export function readAttribute(record: Fields, name: string): unknown {
  if (Object.hasOwn(record, name)) return record[name];
  const lower = name.toLowerCase();
  for (const key in record) {
    if (key.length === name.length && key.toLowerCase() === lower) return record[key];
  }
  return undefined;
}

/** A text that is not empty. Anything else is absent. */
export function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A finite number, or a text with one. */
export function readNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** A count, rounded down. Below zero becomes zero ("consumed above quota" happens, cyclecloud-wire.md A.3 semantics 4). */
export function readCount(value: unknown): number | undefined {
  const number = readNumber(value);
  return number === undefined ? undefined : Math.max(0, Math.floor(number));
}

/** true or "true" in any case. Anything else is false. */
export function readFlag(value: unknown): boolean {
  return value === true || (typeof value === "string" && value.toLowerCase() === "true");
}

/** The first VM size of a text or a list: one on a node, maybe several on an array (cyclecloud-wire.md A.3, A.4). */
export function readMachineType(value: unknown, position = 0): string | undefined {
  return Array.isArray(value) ? readText(value[position]) : position === 0 ? readText(value) : undefined;
}

const gibPerUnit: Readonly<Record<string, number>> = {
  "": 1,
  k: 1 / 1024 / 1024,
  m: 1 / 1024,
  g: 1,
  t: 1024,
};

/** Characters of an amount of memory. Templates write it themselves, so it may have any length. */
const LONGEST_MEMORY = 64;

/** Memory in GiB: a number, or text like "4.0", "448 GB", "512m". CycleCloud's GB are GiB (cyclecloud-wire.md A.3, A.4). */
export function readMemoryGib(value: unknown): number | undefined {
  if (typeof value === "string" && value.length > LONGEST_MEMORY) return undefined;
  const plain = readNumber(value);
  if (plain !== undefined) return plain;
  const match =
    typeof value === "string" ? /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(value.trim()) : null;
  if (match === null) return undefined;
  return Number(match[1]) * (gibPerUnit[(match[2] ?? "").toLowerCase()] ?? 1);
}

/** The kind of a value, for messages. Never the value itself, which may hold anything. */
export function describeKind(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return /^\s*<(!doctype|html)/i.test(value) ? "an HTML page" : "a text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The settings in a record's `Configuration`. */
export function readAutoscale(record: Fields): AutoscaleSettings {
  return autoscaleSettingsOf(readAttribute(record, "Configuration"));
}
