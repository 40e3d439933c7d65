import type { BucketOffer } from "../../domain/world.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Budget } from "../constraints/budget.ts";
import { sizeOfConstraints, dependsOnNode, namesGroups } from "../constraints/constraint-facts.ts";
import type { Subject } from "./empty-node-fit.ts";
import { viewOf } from "./empty-node-fit.ts";
import type { Ground, Kind } from "./node-kinds.ts";
import { inGroup } from "./new-node.ts";
import { compileAll } from "../constraints/match.ts";
import type { Preference } from "../constraints/preference.ts";
import { countedPreference, hasPreference } from "../constraints/preference.ts";
import type { Requirements } from "../constraints/requirements.ts";
import type { Matcher } from "../constraints/judge.ts";

/**
 * What jobs ask of nodes, without amounts: their marks. Jobs of one shape are tested once for each kind of node. Then only their amounts are
 * compared.
 */
export class Shape {
  readonly requirements: Requirements;
  /** The marks may give different answers for two nodes of one kind. */
  readonly judgesEachNode: boolean;
  /** The marks test the names of placement groups. */
  readonly namesGroups: boolean;
  readonly #matcher: Matcher;
  readonly #ground: Ground;
  readonly #budget: Budget;
  /** Cost of one test, in steps. */
  readonly #steps: number;
  /** Scores nodes. Undefined if all nodes are equally good. */
  readonly preference: Preference | undefined;
  /** What is left in pools before the plan, and the values of shared marks. */
  readonly shared: SharedState;
  /**
   * By index of the kind. Maps, because there may be thousands of shapes that each test a few of hundreds of kinds. Bench row: distinct-jobs 10,000
   * takes 1.15 times as long without the answers, and 1.3 times as long without the scores.
   */
  readonly #byKind = new Map<number, boolean>();
  #scores: Map<number, number> | undefined;

  constructor(requirements: Requirements, shared: SharedState, ground: Ground) {
    const { budget } = ground;
    this.requirements = requirements;
    this.#ground = ground;
    this.#budget = budget;
    this.#steps = sizeOfConstraints(requirements.marks);
    this.shared = shared;
    this.judgesEachNode = requirements.marks.some(dependsOnNode);
    this.namesGroups = requirements.marks.some(namesGroups);
    this.#matcher = compileAll(requirements.marks);
    this.preference = requirements.marks.some(hasPreference)
      ? countedPreference(requirements.marks, budget)
      : undefined;
  }

  /** Whether nodes of the kind meet the marks. Not for shapes that test each node, and not for intricate ones. */
  takesKind(kind: Kind): boolean {
    let answer = this.#byKind.get(kind.index);
    if (answer === undefined) {
      answer = this.#holds(kind.view());
      this.#byKind.set(kind.index, answer);
    }
    return answer;
  }

  /** Whether this node meets the marks. */
  takesNode(subject: Subject): boolean {
    return this.#holds(this.#ground.viewOf(subject));
  }

  /** Whether new nodes of the offer meet the marks, in this placement group or in none. */
  takesNew(offer: BucketOffer, kind: Kind, group: PlacementGroup | undefined): boolean {
    const { capacityFailureSeconds } = offer;
    if (capacityFailureSeconds !== undefined && capacityFailureSeconds < this.requirements.backoffSeconds)
      return false;
    if (group === undefined) return this.judgesEachNode ? this.takesNode(offer) : this.takesKind(kind);
    return this.#holds(viewOf(inGroup(offer, { ...offer.bucket, placementGroup: group })));
  }

  /** The score of the kind by the job's own lists and alternatives. Not for intricate shapes: there it depends on what else a slot takes. */
  score(kind: Kind): number {
    if (this.preference === undefined) return 0;
    this.#scores ??= new Map();
    let score = this.#scores.get(kind.index);
    if (score === undefined) {
      score = this.preference(kind.view(), this.shared);
      this.#scores.set(kind.index, score);
    }
    return score;
  }

  #holds(view: NodeView): boolean {
    // What an intricate job takes depends on what is free: it is tested on each node.
    if (this.requirements.intricate) return true;
    this.#budget.spend(this.#steps);
    return this.#matcher(view, this.shared).kind === "met";
  }
}
