/** The name that stands for all that are not named. */
export const EACH_OTHER = "*";

/** A maximum number of nodes, of cores, or both. At least one is present. */
export interface Ceiling {
  readonly nodes?: number;
  readonly cores?: number;
}

/**
 * Caps on request sets and users, by name. {@link EACH_OTHER} caps each other user separately, but all other request sets together, because
 * a sender may invent names of sets.
 */
export interface CapRules {
  readonly requestSets: ReadonlyMap<string, Ceiling>;
  readonly users: ReadonlyMap<string, Ceiling>;
}
