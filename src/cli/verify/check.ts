/** What one look found. */
export type Verdict =
  | { readonly kind: "holds"; readonly found: string }
  /** It may still come true by itself: looked at again until the time is over. */
  | { readonly kind: "not-yet"; readonly found: string; readonly whatToDo: string }
  /** Only a person can mend it. */
  | { readonly kind: "fails"; readonly found: string; readonly whatToDo: string }
  | { readonly kind: "not-applicable"; readonly found: string };

/** One thing that a deployed app must do, as it can be seen from outside. */
export interface Check {
  readonly name: CheckName;
  /** Completes "waits for ...". */
  readonly waitsFor: string;
  /** It is waited for at most so long. */
  readonly seconds: number;
  /** Between two looks. */
  readonly everySeconds: number;
  /** Without these it cannot be told. */
  readonly needs: readonly CheckName[];
  /** Looks once. Never throws for the network's sake. */
  readonly look: () => Promise<Verdict>;
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

/** A check that has ended. */
export interface Checked {
  readonly check: CheckName;
  readonly state: "ok" | "failed" | "not-applicable" | "not-tried";
  readonly found: string;
  readonly whatToDo?: string;
  readonly waitsFor: string;
  readonly waitedSeconds: number;
  /** --wait ended it before its own time was over: it may hold later. */
  readonly cutShort?: true;
}

export const holds = (found: string): Verdict => ({ kind: "holds", found });
export const notYet = (found: string, whatToDo: string): Verdict => ({ kind: "not-yet", found, whatToDo });
export const fails = (found: string, whatToDo: string): Verdict => ({ kind: "fails", found, whatToDo });
export const notApplicable = (found: string): Verdict => ({ kind: "not-applicable", found });
