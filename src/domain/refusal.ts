import type { NodeProperty } from "./constraint.ts";
import type { ResourceValue, Scalar } from "./resources.ts";
import type { Size } from "./size.ts";
import { isSize, sizeText } from "./size.ts";
import type { Seconds } from "./units.ts";

/**
 * Why a node (or a new node of a bucket) does not meet a constraint, with the asked and the found value. Only {@link renderRefusal} turns
 * it into text.
 */
export type Refusal =
  /** `nearest`: the resource that was probably meant. */
  | { readonly code: "undefined-resource"; readonly resource: string; readonly nearest?: string }
  | {
      readonly code: "insufficient-resource";
      readonly resource: string;
      readonly asked: number | Size;
      readonly offered: number | Size;
    }
  /** The value is no amount, such as a text, so nothing can be taken of it. */
  | { readonly code: "not-an-amount"; readonly resource: string; readonly found: ResourceValue }
  | {
      readonly code: "invalid-option";
      /** A resource, or "node." and a property. */
      readonly what: string;
      readonly found: ResourceValue;
      readonly options: readonly Scalar[];
      /** Number of further options. */
      readonly more?: number;
    }
  /** A node that does not exist yet, whose property is not known, or is now this and will be another. */
  | { readonly code: "not-yet"; readonly property: NodeProperty; readonly now?: ResourceValue }
  | { readonly code: "not-exclusive"; readonly jobs: readonly string[]; readonly more?: number }
  | { readonly code: "not-in-a-placement-group" }
  | { readonly code: "in-a-placement-group"; readonly group: string }
  /** None of the alternatives holds. Their refusals in order; `more` is the number of others. */
  | { readonly code: "no-alternative"; readonly refusals: readonly Refusal[]; readonly more?: number }
  /** More than one alternative holds, but exactly one must. */
  | { readonly code: "several-alternatives"; readonly holding: number }
  /** The constraint under a "not" holds. */
  | { readonly code: "holds" }
  | { readonly code: "never"; readonly message: string }
  | {
      readonly code: "pool-short";
      readonly pool: string;
      readonly asked: number;
      readonly left: number;
    }
  /** `of`: what the job asks of the pool, if it is not an amount. */
  | { readonly code: "unknown-pool"; readonly pool: string; readonly of?: "value" }
  | {
      readonly code: "pool-value";
      readonly pool: string;
      readonly asked: Scalar;
      readonly found: Scalar;
    }
  | { readonly code: "capacity-failure-backoff"; readonly seconds: Seconds; readonly since: number };

/** Half a sentence for users. It follows the name of the node or bucket. */
export function renderRefusal(refusal: Refusal): string {
  switch (refusal.code) {
    case "undefined-resource":
      return `has no resource ${refusal.resource}${refusal.nearest === undefined ? "" : ` (nearest: ${refusal.nearest})`}`;
    case "insufficient-resource":
      return `${refusal.resource}: ${valueText(refusal.asked)} asked of one node, ${valueText(refusal.offered)} offered`;
    case "not-an-amount":
      return `${refusal.resource}: an amount is asked, but it is ${valueText(refusal.found)}`;
    case "invalid-option":
      return `${refusal.what} is ${valueText(refusal.found)}, asked is ${optionsText(refusal)}`;
    case "not-yet":
      return refusal.now === undefined
        ? `node.${refusal.property} is known only of a node that exists, so no new node is made for it`
        : `node.${refusal.property} is ${valueText(refusal.now)} only until a node is up, so no new node is made for it`;
    case "not-exclusive":
      return `must be free of other jobs, and has ${refusal.jobs.join(", ")}${moreText(" and ", refusal.more, "")}`;
    case "not-in-a-placement-group":
      return "is not in a placement group";
    case "in-a-placement-group":
      return `must not be in a placement group, and is in ${refusal.group}`;
    case "no-alternative":
      return alternativesText(refusal);
    case "several-alternatives":
      return `meets ${refusal.holding} alternatives where exactly one must hold`;
    case "holds":
      return "is what the job excludes with not";
    case "never":
      return refusal.message;
    case "pool-short":
      return `pool ${refusal.pool}: ${refusal.asked} asked, ${refusal.left} left`;
    case "unknown-pool":
      return `pool ${refusal.pool}: no request set names its ${refusal.of ?? "amount"}; send it with "pools"`;
    case "pool-value":
      return `pool ${refusal.pool} is ${valueText(refusal.found)}, asked is ${valueText(refusal.asked)}`;
    case "capacity-failure-backoff":
      return `lacked capacity ${refusal.since} s ago, and the job waits for ${refusal.seconds} s`;
  }
}

/** The accepted values: "a or b or 3 more". */
export function optionsText({
  options,
  more,
}: Extract<Refusal, { readonly code: "invalid-option" }>): string {
  return `${options.map(valueText).join(" or ")}${moreText(" or ", more, "")}` || "nothing at all";
}

function alternativesText({ refusals, more }: Extract<Refusal, { readonly code: "no-alternative" }>): string {
  if (refusals.length === 0 && more !== undefined) return `meets none of ${more} alternatives`;
  const told = refusals.map(renderRefusal).join("; ");
  return `meets none of the alternatives (${told}${moreText("; and ", more, " alternatives")})`;
}

const moreText = (before: string, more: number | undefined, what: string): string =>
  more === undefined ? "" : `${before}${more} more${what}`;

/** Texts that read as a value of another kind. */
const LIKE_OTHERS = /^(?:true|false|undefined|-?\d+(?:\.\d+)?)$/;

/** A value as shown to users. */
export function valueText(value: ResourceValue): string {
  if (isSize(value)) return sizeText(value);
  if (typeof value === "string" && LIKE_OTHERS.test(value)) return JSON.stringify(value);
  return value === null ? "undefined" : String(value);
}
