import type { Ports } from "./ports.ts";
import type { Lanes } from "./lanes.ts";

/** What the use cases share: the ports, and the turn-taking of this process. */
export interface App {
  readonly ports: Ports;
  readonly lanes: Lanes;
}
