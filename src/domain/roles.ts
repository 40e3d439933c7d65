/** What a function key is for. A role is known by the functions that its keys open. */
export type Role = "sender" | "reader" | "operator";

/**
 * Each function that needs a key, by the role that it is made for: no function is in two roles, and no function of a reader changes
 * anything. Azure's keys are for one function each, so reading and writing of one route are two functions.
 */
export const FUNCTIONS: Readonly<Record<Role, readonly string[]>> = {
  sender: ["write-request-set"],
  reader: [
    "clusters",
    "cluster",
    "request-set",
    "explain",
    "history",
    "comparison",
    "config",
    "config-history",
    "plan",
    "openapi",
  ],
  operator: ["write-config", "rollback-config", "tick", "wake", "restored", "rejected-messages"],
};

/** Functions that no function key opens or closes: the timer, the queue, and what answers anyone. */
const WITHOUT_KEY: readonly string[] = ["autostop", "demand", "health", "snapshot"];

export const ROLES: readonly Role[] = ["sender", "reader", "operator"];

/** The functions that a key of this role is set on: an operator may do what the others may. */
export function functionsOf(role: Role): readonly string[] {
  return role === "operator" ? ROLES.flatMap((each) => FUNCTIONS[each]) : FUNCTIONS[role];
}

/** The name of every function that the app registers. */
export const ALL_FUNCTIONS: readonly string[] = [...functionsOf("operator"), ...WITHOUT_KEY].toSorted();
