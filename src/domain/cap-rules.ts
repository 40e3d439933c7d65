/** The name that stands for those that are not named. */
export const EACH_OTHER = "*";

/** At most so many nodes and so many cores for one; at least one of them is there. */
export interface Ceiling {
  readonly nodes?: number;
  readonly cores?: number;
}

/**
 * What request sets and users may hold, by name. {@link EACH_OTHER}: each of the other users, by itself; and all other request sets
 * together, as a sender may invent names of sets.
 */
export interface CapRules {
  readonly requestSets: ReadonlyMap<string, Ceiling>;
  readonly users: ReadonlyMap<string, Ceiling>;
}
