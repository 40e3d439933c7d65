/** The ways in that are tried. Table rows and CycleCloud's answers come from elsewhere, and are as little to be trusted. */
export const DOORS = [
  "message",
  "poison",
  "put",
  "constraint",
  "plan",
  "config",
  "request",
  "settings",
  "cyclecloud",
  "rows",
  "bound",
  "long",
] as const;

export type Door = (typeof DOORS)[number];

/**
 * One hostile input: plain data, so that it can be printed, sent to a worker and cut down. Only `document` is cut down; `how` says how
 * it is packed and where it goes.
 */
export interface Input {
  readonly door: Door;
  readonly how: string;
  readonly document: unknown;
}

/** What one seed of a door gives: a few inputs one after the other, on one app. */
export type Inputs = readonly Input[];

/** What is wrong with how the app met an input. `kind` is what stays while an input is cut down. */
export interface Fault {
  readonly kind: string;
  readonly what: string;
}

export function isDoor(text: unknown): text is Door {
  return DOORS.some((door) => door === text);
}
