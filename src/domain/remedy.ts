import type { AmountUnit } from "./amount-text.ts";
import { amountTexts } from "./amount-text.ts";
import type { BucketKey } from "./bucket.ts";
import { bucketText } from "./bucket.ts";
import type { LimitId } from "./limit.ts";
import type { Reason } from "./reason.ts";
import { limitText } from "./limit.ts";
import { renderReason } from "./reason-text.ts";
import type { Instant } from "./units.ts";
import { isoTime } from "./units.ts";
import { showText } from "./shown.ts";

/** An increase of one limit, in its own unit. */
export type Raise =
  | {
      readonly of: "limit";
      /** Of kind "placement-group" it is the bucket's largest group size. */
      readonly limit: LimitId;
      readonly more: number;
    }
  | {
      readonly of: "pool";
      readonly pool: string;
      readonly more: number;
      /** No message has reported the pool. */
      readonly unknown?: true;
    };

/** Raises, and what is known of them. Nothing of higher rank gets less by them, and no single one of them can be lower. */
type Raised = {
  readonly raises: readonly Raise[];
  /** Unmet demands of higher rank that get more by the same raises, because they come first. Absent: none. */
  readonly ahead?: { readonly count: number; readonly of: "jobs" | "demands" };
  /** Whether less would do was not tried. */
  readonly atMost?: true;
  /** No plan was tried with these raises. They are enough if the unmet demands of higher rank have their places by other raises. */
  readonly after?: true;
};

/** What prevents an unmet demand from being placed completely. */
export type Remedy =
  /** With exactly these raises a plan for all present demand places all of it. */
  | ({ readonly kind: "raise" } & Raised)
  /** Every suitable bucket is pausing. This one is tried again first. `raises`: limits that are also too low there. */
  | ({ readonly kind: "wait"; readonly bucket: BucketKey; readonly until: Instant } & Raised)
  /** No bucket can ever serve the demand: what the best offer lacks. */
  | {
      readonly kind: "too-large";
      readonly resource: string;
      readonly asked: number;
      readonly offered: number;
      readonly unit?: AmountUnit;
      readonly bucket: BucketKey;
      /** No bucket offers more of this resource. */
      readonly largest: boolean;
    }
  /** No raise helps: the reason of the first bucket. */
  | { readonly kind: "no-raise"; readonly reason: Reason };

/** One sentence for users, as {@link showText} shows it. */
export function renderRemedy(binding: Remedy): string {
  return showText(sentenceOf(binding));
}

function sentenceOf(binding: Remedy): string {
  switch (binding.kind) {
    case "raise":
      return `${raisedText(binding)} would place all of it`;
    case "wait": {
      const besides = binding.raises.length === 0 ? "" : `; ${raisedText(binding)} is needed besides`;
      return `${bucketText(binding.bucket)} is tried again at ${isoTime(binding.until)}${besides}`;
    }
    case "too-large": {
      const [asked, offered] = amountTexts(binding.asked, binding.offered, binding.unit);
      const all = `needs ${asked} ${binding.resource} on one node`;
      if (binding.largest && binding.offered === 0)
        return `no raise of a limit helps: ${all}; no node array has ${binding.asked === 1 ? "one" : "any"}`;
      const nearest = binding.largest
        ? `the largest offered is ${offered}`
        : `the nearest offer has ${offered}`;
      return `no raise of a limit helps: ${all}; ${nearest} (${bucketText(binding.bucket)})`;
    }
    case "no-raise":
      return `no raise of a limit helps: ${renderReason(binding.reason)}`;
  }
}

function raisedText({ raises, ahead, atMost, after }: Raised): string {
  const text = `${atMost === true ? "at most " : ""}${raises.map(raiseText).join(" and ")}`;
  if (after === true) return `after what is unmet before it: ${text}`;
  if (ahead === undefined) return text;
  const { count, of } = ahead;
  return `with the ${count === 1 ? `${of.slice(0, -1)} before it` : `${count} ${of} before it`}: ${text}`;
}

function raiseText(raise: Raise): string {
  if (raise.of === "pool")
    return raise.unknown === true
      ? `a pool ${raise.pool} with ${raise.more} free`
      : `${raise.more} more of pool ${raise.pool}`;
  const { limit, more } = raise;
  const unit = more === 1 ? limit.unit.slice(0, -1) : limit.unit;
  switch (limit.kind) {
    case "cluster":
      return `${more} more ${unit} of the cluster`;
    case "placement-group":
      return `${more} more ${unit} in one placement group of ${limit.name}`;
    case "probe":
      return `a node of ${limit.name} that stays Ready for half an hour`;
    case "request-set-cap":
    case "user-cap":
      return `${more} more ${unit} in the ${limitText(limit)}`;
    default:
      return `${more} more ${unit} of ${limitText(limit)}`;
  }
}
