import type { Bin } from "./bin.ts";
import type { Place } from "./node-kinds.ts";

/** The bins of each placement group. */
export class BinsInGroups {
  readonly #byPlace = new Map<Place, Bin[]>();

  /** Adds a bin. A place without a placement group is left out. */
  add(place: Place, bin: Bin): void {
    if (place.bucket.placementGroup === undefined) return;
    const others = this.#byPlace.get(place);
    if (others === undefined) this.#byPlace.set(place, [bin]);
    else others.push(bin);
  }

  /** The bins of a place, oldest first. */
  in(place: Place): readonly Bin[] {
    return this.#byPlace.get(place) ?? NO_BINS;
  }

  /** Places in placement groups that have a bin. */
  places(): Iterable<Place> {
    return this.#byPlace.keys();
  }
}

const NO_BINS: readonly Bin[] = [];
