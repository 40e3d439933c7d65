import type { Instant } from "../../domain/units.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Site } from "../ports/site.ts";
import type { App } from "../process/app.ts";

/** One run of a use case. It starts no effects after `deadline`. */
export interface Run {
  readonly app: App;
  readonly site: Site;
  readonly policy: Policy;
  readonly deadline: Instant;
}
