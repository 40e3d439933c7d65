import type { Api } from "./api.ts";
import type { Place } from "./place.ts";

/** One of the five views. Its element stays while it is shown. */
export interface View {
  readonly element: HTMLElement;
  /** Reads what it shows, and shows it. Rejects with NoAnswer, and then shows what it showed before. */
  refresh(api: Api, place: Place): Promise<void>;
}
