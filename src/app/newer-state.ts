import { PortError } from "./ports.ts";

/** The record was written by a newer release, while both run side by side. `message` says which versions met. */
export interface NewerState {
  readonly kind: "newer-state";
  readonly message: string;
}

/** Makes the one failure that is no accident a value: a record that a newer release has written (architecture.md, Storage). */
export async function unlessNewerState<T>(work: () => Promise<T>): Promise<T | NewerState> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PortError) || error.kind !== "newer-state") throw error;
    return { kind: "newer-state", message: error.message };
  }
}
