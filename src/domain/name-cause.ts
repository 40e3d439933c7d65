import type { SetName } from "./ids.ts";
import type { LimitKind } from "./limit.ts";
import type { Reason } from "./reason.ts";
import { renderReason } from "./reason-text.ts";

/** What kind of thing keeps a name from its node, for programs (docs/demand.md, Nodes by name). */
export const NAME_CAUSES = [
  "limit",
  "quota",
  "cap",
  "pause",
  "array",
  "request",
  "cluster",
  "refused",
  "failed",
  "old-node",
  "earlier",
  "elsewhere",
  "plan",
] as const;

/** Why a name has no node, or not the right one. */
export interface NameCause {
  readonly kind: (typeof NAME_CAUSES)[number];
  /** The request set whose cap it is. */
  readonly set?: SetName;
}

/** The cause of a reason. `set`: the request set whose target it is. */
export function causeOf(reason: Reason, set: SetName): NameCause {
  switch (reason.code) {
    case "limit-reached":
      return isCap(reason.limit.kind) ? { kind: "cap", set } : { kind: LIMITS[reason.limit.kind] ?? "limit" };
    case "backing-off":
      return { kind: "pause" };
    case "cluster-not-started":
      return { kind: "cluster" };
    case "unknown-array":
    case "array-not-managed":
    case "no-bucket":
    case "no-such-machine-type":
    case "bucket-invalid":
      return { kind: "array" };
    case "name-waits":
      return { kind: "old-node" };
    case "name-earlier":
      return { kind: "earlier" };
    case "name-elsewhere":
      return { kind: "elsewhere" };
    case "left-out":
    case "not-explained":
      return { kind: "plan" };
    default:
      return { kind: "request" };
  }
}

const isCap = (kind: LimitKind): boolean => kind === "request-set-cap" || kind === "user-cap";

/** Limits that are not called so. */
const LIMITS: Readonly<Partial<Record<LimitKind, NameCause["kind"]>>> = {
  "family-quota": "quota",
  "regional-quota": "quota",
  "regional-spot-quota": "quota",
  probe: "pause",
};

/** For whom a cause holds: this name alone, or everyone who could use its node array and size. Undefined: neither is known. */
export function holdsFor({ kind, set }: NameCause, asking: SetName): "everyone" | "name" | undefined {
  switch (kind) {
    case "limit":
    case "quota":
    case "pause":
    case "array":
    case "cluster":
      return "everyone";
    case "cap":
      return set === asking ? "everyone" : undefined;
    case "refused":
    case "failed":
    case "old-node":
    case "earlier":
    case "elsewhere":
      return "name";
    case "request":
    case "plan":
      return undefined;
  }
}

/** The sentence for a name. It goes to whoever has a job on the node, so it names no request set. */
export function nameSentence(reason: Reason): string {
  if (reason.code === "dynamic-disputed")
    return `dynamic node array "${reason.array}" is defined differently by several request sets`;
  if (reason.code !== "limit-reached" || !isCap(reason.limit.kind)) return renderReason(reason);
  const { shared: _shared, ...limit } = reason.limit;
  return renderReason({ ...reason, limit: { ...limit, name: "" } });
}
