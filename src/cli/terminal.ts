import type { Environment } from "./environment.ts";
import type { Milliseconds } from "../domain/units.ts";

/** Replaces the text that a later run of the same work finds. Undefined: it finds none. */
export type Keep = (text: string | undefined) => Promise<void>;

/**
 * Runs `work` with the text that the last run kept. Returns "busy" if another process runs work with this name. Rejects with the system's
 * error.
 */
export type Alone = <T>(
  name: string,
  work: (kept: string | undefined, keep: Keep) => Promise<T>,
) => Promise<T | "busy">;

/** The parts of the machine that the command line needs. */
export interface Terminal {
  /** To standard output, with a line's end. */
  readonly say: (text: string) => void;
  /** To standard error, with a line's end. */
  readonly complain: (text: string) => void;
  /** Moves the cursor to the top and clears the rest, if standard output is a terminal. */
  readonly clear: () => void;
  /** The text of a file; "-" is standard input. Rejects with the system's error. */
  readonly read: (file: string) => Promise<string>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after this many milliseconds with true, or with false as soon as the user wants to stop: by Ctrl-C, or by this key. */
  readonly sleep: (milliseconds: Milliseconds, endKey?: string) => Promise<boolean>;
  /** Opens an address in the user's browser. Rejects with an error that says why there is none. */
  readonly open: (address: string) => Promise<void>;
  /** Runs work that no other process of this machine runs at the same time. */
  readonly alone: Alone;
  /** A token of the signed-in identity on this machine, for a scope. Rejects with the identity library's error. */
  readonly signIn: (scope: string) => Promise<string>;
  /** Width of the terminal in characters. Undefined if standard output is not a terminal. */
  readonly columns: number | undefined;
  /** Its height in lines. Undefined if standard output is not a terminal. */
  readonly rows: number | undefined;
  /** The process's environment. */
  readonly environment: Environment;
  /** The release of this command. */
  readonly release: string;
}
