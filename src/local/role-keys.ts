import { randomBytes } from "node:crypto";
import type { Role } from "../domain/roles.ts";
import { functionsOf, ROLES } from "../domain/roles.ts";
import type { HostKeys } from "./host/host-keys.ts";
import { createKeys } from "./host/host-keys.ts";

/** One key for each role, as `cyclecloud-autoscaler keys` makes them in Azure. */
export type RoleKeys = Readonly<Record<Role, string>>;

/** Keys of a host, made at random, with a key for each role set on that role's functions. */
export function createRoleKeys(): { readonly keys: HostKeys; readonly roleKeys: RoleKeys } {
  const key = () => randomBytes(32).toString("hex");
  const roleKeys: RoleKeys = { sender: key(), reader: key(), operator: key() };
  const functions: Record<string, readonly string[]> = {};
  for (const role of ROLES)
    for (const name of functionsOf(role)) functions[name] = [...(functions[name] ?? []), roleKeys[role]];
  return { keys: { ...createKeys(), functions }, roleKeys };
}
