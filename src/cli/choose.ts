// Parts of an answer as it came, for --json.

/** The object with one member changed; anything else as it is. */
export function withMember(body: unknown, key: string, change: (value: unknown) => unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const members = Object.entries(body);
  return Object.fromEntries(members.map(([name, value]) => [name, name === key ? change(value) : value]));
}

/** The items of an answer for which this is true of what this release reads of them. All, if it cannot read them. */
export function itemsWhere<T>(all: unknown, read: readonly T[], isWanted: (one: T) => boolean): unknown {
  if (!Array.isArray(all) || all.length !== read.length) return all;
  const kept = new Set(read.flatMap((one, at) => (isWanted(one) ? [at] : [])));
  return all.filter((_, at) => kept.has(at));
}

/** Whether a value is an object of JSON, with members by name. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
