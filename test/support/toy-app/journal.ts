/** What the toy app's functions saw, in order; tests read it and clear it. */
export type Entry = { readonly functionName: string; readonly saw: unknown };

export const journal: Entry[] = [];

/** What one function saw. */
export function seenBy(functionName: string): readonly unknown[] {
  return journal.filter((entry) => entry.functionName === functionName).map((entry) => entry.saw);
}

/** How many runs of the function "orders" were under way at once, at most. */
export const concurrency = { most: 0 };
