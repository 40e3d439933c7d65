export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `over` merged into `under`. Objects are merged key by key to any depth, other values are replaced (cyclecloud-wire.md C.2). */
export function mergeDeep(under: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? mergeDeep(before, value) : value;
  }
  return merged;
}

/** The value of a record's attribute, whose keys the server reads in any letter case (cyclecloud-wire.md A.1). */
export function readAttribute(record: JsonObject, name: string): unknown {
  if (name in record) return record[name];
  const found = Object.keys(record).find((key) => key.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : record[found];
}

/** A text that is equal for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalText(item)}`).join()}}`;
}
