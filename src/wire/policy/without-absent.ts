import type { Named } from "../api/shown.ts";

/** A document without the members that are undefined. The compiler requires that every member of `T` is named. */
export function withoutAbsent<T extends object>(members: Named<T>): T;
export function withoutAbsent(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
