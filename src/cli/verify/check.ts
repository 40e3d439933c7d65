import type { Seconds } from "../../domain/units.ts";

/** The result of one check. */
export type Verdict =
  | { readonly kind: "holds"; readonly found: string }
  /** The check may still succeed: repeated until the time is over. */
  | { readonly kind: "not-yet"; readonly found: string; readonly whatToDo: string }
  /** Only a person can solve it. */
  | { readonly kind: "fails"; readonly found: string; readonly whatToDo: string }
  | { readonly kind: "not-applicable"; readonly found: string };

/** One property of a deployed app that can be checked from outside. */
export interface Check {
  readonly name: CheckName;
  /** Completes "waits for ...". */
  readonly waitsFor: string;
  /** Maximum wait for it. */
  readonly seconds: Seconds;
  /** Pause between two tries. */
  readonly everySeconds: Seconds;
  /** Checks that must succeed first. */
  readonly needs: readonly CheckName[];
  /** Tries once. Never throws because of the network. */
  readonly run: () => Promise<Verdict>;
}

export type CheckName =
  | "address"
  | "functions"
  | "no key"
  | "host key"
  | "key"
  | "storage"
  | "version"
  | "clock"
  | "timer"
  | "queue"
  | "cyclecloud";

/** A completed check. */
export interface Checked {
  readonly check: CheckName;
  readonly state: "ok" | "failed" | "not-applicable" | "not-tried";
  readonly found: string;
  readonly whatToDo?: string;
  readonly waitsFor: string;
  readonly waitedSeconds: Seconds;
  /** --wait ended the check before its own time was over, so it may succeed later. */
  readonly cutShort?: true;
}

export const holds = (found: string): Verdict => ({ kind: "holds", found });
export const notYet = (found: string, whatToDo: string): Verdict => ({ kind: "not-yet", found, whatToDo });
export const fails = (found: string, whatToDo: string): Verdict => ({ kind: "fails", found, whatToDo });
export const notApplicable = (found: string): Verdict => ({ kind: "not-applicable", found });
