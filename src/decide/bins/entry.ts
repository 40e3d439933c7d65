import type { GroupDemand, RankedDemand, TargetDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import { Ask } from "./job-ask.ts";
import type { JobClasses } from "./job-classes.ts";

/** A demand that is ready to be placed. `by` is "set/demand". */
export type Entry =
  | {
      readonly kind: "target";
      readonly rank: number;
      readonly set: SetName;
      readonly by: string;
      readonly demand: TargetDemand;
    }
  | {
      readonly kind: "groups";
      readonly rank: number;
      readonly set: SetName;
      readonly by: string;
      readonly demand: GroupDemand;
    }
  | Ask;

/** Makes a demand ready to be placed. A job is sorted into its class. */
export function readEntry({ set, demand }: RankedDemand, rank: number, classes: JobClasses): Entry {
  switch (demand.kind) {
    case "target":
      return { kind: "target", rank, set, by: `${set}/${demand.id}`, demand };
    case "groups":
      return { kind: "groups", rank, set, by: `${set}/${demand.id}`, demand };
    case "job": {
      const jobClass = classes.of(demand);
      return new Ask(rank, set, demand, jobClass);
    }
  }
}
