/** The limits on new nodes that buckets share (cyclecloud-wire.md A.3, semantics 1), and our own caps on one set or user. */
export type LimitKind =
  | "cluster"
  | "nodearray"
  | "family-quota"
  | "regional-quota"
  | "regional-spot-quota"
  | "bucket"
  | "probe"
  | "placement-group"
  | "request-set-cap"
  | "user-cap";

export interface LimitId {
  readonly kind: LimitKind;
  /** The name of the array, family, region, set or user, or the bucket's text. Empty for the cluster, and for a cap whose holder is not told. */
  readonly name: string;
  readonly unit: "nodes" | "cores";
  /** For a request set's cap: several sets share it, and `name` lists them. */
  readonly shared?: true;
  /** For a family quota: no table has the VM size, so the family is guessed from its name. */
  readonly guessed?: true;
}

/** The name of a limit in a sentence. */
export function limitText({ kind, name, guessed, shared }: LimitId): string {
  switch (kind) {
    case "cluster":
      return "cluster";
    case "nodearray":
      return `node array ${name}`;
    case "probe":
      return `probe of ${name}, whose nodes went down soon after they were Ready`;
    case "request-set-cap":
      if (name === "") return "cap of the request set";
      return shared === true ? `cap that the request sets ${name} share` : `cap of request set ${name}`;
    case "user-cap":
      return `cap of user ${name}`;
    default:
      return `${kind.replaceAll("-", " ")} ${name}${guessed === true ? GUESSED : ""}`;
  }
}

const GUESSED = " (family guessed from the VM size's name)";
