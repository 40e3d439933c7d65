import { PortError } from "../ports/port-error.ts";

/** A newer release wrote the record while both releases run side by side. `message` names the versions. */
export interface NewerState {
  readonly kind: "newer-state";
  readonly message: string;
}

/** Turns the one expected failure into a value: a record that a newer release wrote (architecture.md, Storage). */
export async function unlessNewerState<T>(work: () => Promise<T>): Promise<T | NewerState> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PortError) || error.kind !== "newer-state") throw error;
    return { kind: "newer-state", message: error.message };
  }
}
