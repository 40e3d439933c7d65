import type { Misfortune } from "./misfortune.ts";
import type { NodeBook } from "./node-book.ts";
import type { Rest } from "./rest.ts";
import type { Rig } from "./rig.ts";
import type { Score } from "./score.ts";
import type { SetBook } from "./set-book.ts";
import type { ClusterShape } from "./shape.ts";
import type { UnhealthyBook } from "./unhealthy-book.ts";

/** The app in its rig, and all that the model knows beside it. */
export interface Books {
  readonly shape: ClusterShape;
  readonly rig: Rig;
  readonly sets: SetBook;
  readonly nodes: NodeBook;
  readonly rest: Rest;
  readonly unhealthy: UnhealthyBook;
  readonly misfortune: Misfortune;
  /** By the name of a placement group: what its nodes were created for, as "array0:4n". */
  readonly keyOfGroup: Map<string, string>;
  readonly score: Score;
}
