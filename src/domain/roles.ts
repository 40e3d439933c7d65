/** The purpose of a function key. The functions that a key opens determine its role. */
export type Role = "sender" | "reader" | "operator";

/**
 * The functions that need a key, by role. No function has two roles, and no function of a reader changes anything. An Azure key opens one
 * function, so reading and writing of one route are two functions.
 */
const FUNCTIONS: Readonly<Record<Role, readonly string[]>> = {
  sender: ["write-request-set"],
  reader: [
    "clusters",
    "cluster",
    "request-set",
    "explain",
    "history",
    "node-history",
    "comparison",
    "config",
    "config-history",
    "plan",
    "openapi",
  ],
  operator: ["write-config", "rollback-config", "tick", "wake", "restored", "end-down", "rejected-messages"],
};

/** Functions without a function key: the timer, the queue, and those that answer every caller. */
const WITHOUT_KEY: readonly string[] = ["autostop", "demand", "health", "page", "page-file", "snapshot"];

export const ROLES: readonly Role[] = ["sender", "reader", "operator"];

/** The functions for which a key of this role is set. An operator may do everything that the other roles may. */
export function functionsOf(role: Role): readonly string[] {
  return role === "operator" ? ROLES.flatMap((each) => FUNCTIONS[each]) : FUNCTIONS[role];
}

/** The name of every function that the app registers. */
export const ALL_FUNCTIONS: readonly string[] = [...functionsOf("operator"), ...WITHOUT_KEY].toSorted();
