import type { NodeId } from "../../domain/ids.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import type { Reason } from "../../domain/reason.ts";
import type { BodyCodec } from "./codec.ts";

/** The members of an outcome about what it lacks. */
type Why = Pick<DemandOutcome, "reasons" | "moreReasons" | "binding">;

/**
 * Identical jobs have the same reasons, and there may be 100,000 of them. So each list is stored once, and named by position. Each outcome
 * keeps its first reason, because a release that does not know `whys` reads that.
 */
type StoredOutcome = Omit<DemandOutcome, "moreReasons" | "binding"> & { readonly why?: number };

type StoredPlan = Omit<Plan, "nodes" | "demands"> & {
  readonly nodes: readonly (readonly [NodeId, NodeVerdict])[];
  readonly demands: readonly StoredOutcome[];
  readonly whys?: readonly Why[];
};

export const planCodec: BodyCodec<Plan> = {
  write(plan) {
    const whys = new Whys();
    const demands = plan.demands.map((outcome) => whys.store(outcome));
    const stored: StoredPlan = { ...plan, nodes: [...plan.nodes], demands, whys: whys.all };
    return stored;
  },
  read(text) {
    const { whys = [], ...stored }: StoredPlan = JSON.parse(text);
    const demands = stored.demands.map(({ why, ...outcome }): DemandOutcome => {
      const known = why === undefined ? undefined : whys[why];
      return known === undefined ? outcome : { ...outcome, ...known };
    });
    return { ...stored, nodes: new Map(stored.nodes), demands };
  },
};

/** The members of a reason that the release before this one knows. */
function withoutAcross(reason: Reason): Reason {
  const { across: _buckets, ...rest } = reason;
  return rest;
}

/** One of `whys`, as it is stored with an outcome. */
interface Kept {
  readonly at: number;
  readonly first: readonly Reason[];
}

/** Collects the reasons of outcomes, each once: by the list of reasons itself if it is shared, else by its text. */
class Whys {
  readonly all: Why[] = [];
  readonly #byText = new Map<string, Kept>();
  readonly #byReasons = new Map<
    DemandOutcome["reasons"],
    { readonly binding: Why["binding"]; readonly kept: Kept }
  >();

  store(whole: DemandOutcome): StoredOutcome {
    const { moreReasons: _more, binding: _binding, ...outcome } = whole;
    if (outcome.reasons.length === 0) return outcome;
    const { first, at } = this.#keep(whole);
    return { ...outcome, reasons: first, why: at };
  }

  #keep({ reasons, moreReasons, binding }: DemandOutcome): Kept {
    const known = this.#byReasons.get(reasons);
    if (known !== undefined && known.binding === binding) return known.kept;
    const why: Why = {
      reasons,
      ...(moreReasons === undefined ? {} : { moreReasons }),
      ...(binding === undefined ? {} : { binding }),
    };
    const text = JSON.stringify(why);
    const kept = this.#byText.get(text) ?? {
      at: this.all.push(why) - 1,
      first: reasons.slice(0, 1).map(withoutAcross),
    };
    this.#byText.set(text, kept);
    this.#byReasons.set(reasons, { binding, kept });
    return kept;
  }
}
