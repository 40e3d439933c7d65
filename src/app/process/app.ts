import type { Ports } from "../ports/ports.ts";
import type { Lanes } from "./lanes.ts";

/** The shared parts of all use cases: the ports, and the lanes of this process. */
export interface App {
  readonly ports: Ports;
  readonly lanes: Lanes;
}
