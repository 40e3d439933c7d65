import type { NodeId } from "../../domain/ids.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import type { BodyCodec } from "./codec.ts";

/** The members of an outcome about what it lacks. */
type Why = Pick<DemandOutcome, "reasons" | "moreReasons" | "binding">;

/** Outcomes one after the other that differ in their ids only. */
interface StoredRun extends Omit<DemandOutcome, "id" | "reasons" | "moreReasons" | "binding"> {
  readonly ids: readonly string[];
  /** The position of its reasons in `whys`. Absent: it lacks nothing. */
  readonly why?: number;
}

/** As a build before 0.1.0 wrote it: each outcome by itself, with its first reason. */
type StoredOutcome = Omit<DemandOutcome, "moreReasons" | "binding"> & { readonly why?: number };

type StoredPlan = Omit<Plan, "nodes" | "demands"> & {
  readonly nodes: readonly (readonly [NodeId, NodeVerdict])[];
  readonly runs?: readonly StoredRun[];
  readonly demands: readonly StoredOutcome[];
  readonly whys?: readonly Why[];
};

/** There may be 100,000 identical jobs, and each plan is stored. So what they share is written once, and their ids as one list. */
export const planCodec: BodyCodec<Plan> = {
  write(plan) {
    const whys = new Whys();
    const runs = runsOf(plan.demands).map((run) => storedRun(run, whys));
    const stored: StoredPlan = { ...plan, nodes: [...plan.nodes], demands: [], runs, whys: whys.all };
    return stored;
  },
  read(text) {
    const { whys = [], runs, ...stored }: StoredPlan = JSON.parse(text);
    const demands =
      runs?.flatMap((run) => readRun(run, whys)) ?? stored.demands.map((one) => readOne(one, whys));
    return { ...stored, nodes: new Map(stored.nodes), demands };
  },
};

interface Run {
  readonly first: DemandOutcome;
  readonly ids: string[];
}

function runsOf(outcomes: readonly DemandOutcome[]): readonly Run[] {
  const runs: Run[] = [];
  let last: Run | undefined;
  for (const outcome of outcomes) {
    if (last !== undefined && isAlike(last.first, outcome)) {
      last.ids.push(outcome.id);
      continue;
    }
    last = { first: outcome, ids: [outcome.id] };
    runs.push(last);
  }
  return runs;
}

/** Reasons and remedies are compared as objects: identical jobs share them. */
const isAlike = (a: DemandOutcome, b: DemandOutcome): boolean =>
  a.reasons === b.reasons &&
  a.set === b.set &&
  a.asked === b.asked &&
  a.placed === b.placed &&
  a.pending === b.pending &&
  a.kind === b.kind &&
  a.unit === b.unit &&
  a.moreReasons === b.moreReasons &&
  a.binding === b.binding;

function storedRun({ first, ids }: Run, whys: Whys): StoredRun {
  const { id: _first, reasons, moreReasons: _more, binding: _binding, ...rest } = first;
  return { ...rest, ids, ...(reasons.length === 0 ? {} : { why: whys.positionOf(first) }) };
}

function readRun({ ids, why, ...rest }: StoredRun, whys: readonly Why[]): readonly DemandOutcome[] {
  const reasons = (why === undefined ? undefined : whys[why]) ?? NO_REASONS;
  return ids.map((id) => ({ ...rest, id, ...reasons }));
}

const NO_REASONS: Why = { reasons: [] };

function readOne({ why, ...outcome }: StoredOutcome, whys: readonly Why[]): DemandOutcome {
  const known = why === undefined ? undefined : whys[why];
  return known === undefined ? outcome : { ...outcome, ...known };
}

/** Collects the reasons of outcomes, each once: by the list of reasons itself if it is shared, else by its text. */
class Whys {
  readonly all: Why[] = [];
  readonly #byText = new Map<string, number>();
  readonly #byReasons = new Map<
    DemandOutcome["reasons"],
    { readonly binding: Why["binding"]; readonly position: number }
  >();

  positionOf({ reasons, moreReasons, binding }: DemandOutcome): number {
    const known = this.#byReasons.get(reasons);
    if (known !== undefined && known.binding === binding) return known.position;
    const why: Why = {
      reasons,
      ...(moreReasons === undefined ? {} : { moreReasons }),
      ...(binding === undefined ? {} : { binding }),
    };
    const text = JSON.stringify(why);
    const position = this.#byText.get(text) ?? this.all.push(why) - 1;
    this.#byText.set(text, position);
    this.#byReasons.set(reasons, { binding, position });
    return position;
  }
}
