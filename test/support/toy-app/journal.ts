/** What the toy app's functions saw, in order; tests read it and clear it. */
export type Entry = { readonly functionName: string; readonly saw: unknown };

export const journal: Entry[] = [];

/** What one function saw. */
export function seenBy(functionName: string): readonly unknown[] {
  return journal.filter((entry) => entry.functionName === functionName).map((entry) => entry.saw);
}

/** Runs of the function "orders" in progress, and the most that were in progress at once. */
export const concurrency = { now: 0, most: 0 };

const gates = new Map<string, PromiseWithResolvers<void>>();

/** A gate that is closed until {@link openGate} opens it. */
export function gate(name: string): PromiseWithResolvers<void> {
  const known = gates.get(name) ?? Promise.withResolvers<void>();
  gates.set(name, known);
  return known;
}

/** Lets every run go on that waits, or will wait, at this gate. */
export function openGate(name: string): void {
  gate(name).resolve();
}
